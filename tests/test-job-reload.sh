# SPDX-License-Identifier: Apache-2.0
# SIGHUP: changed jobs take effect, the same ones go on, those that are gone
# end; and a file that cannot be read changes nothing.
. ./functions.sh || exit 99
. "$top_srcdir/tests/job-functions.sh"

genlog stats 500 > stats.log
: > app.log
chmod 644 stats.log app.log
query='from STATS select host,count($line) group by host'
flow()
{
    echo '"Continuous": [{"Name": "flow", "Enable": true,
      "AllowFrom": ["127.0.0.1"], "Files": "'"$T"'/app.log",
      "Query": "'"$query"' interval '"$1"'", "Outfile": "'"$T"'/out/flow.csv"}]'
}
night() # NUMBER
{
    echo '"Schedule": [{"Name": "night", "Enable": true, "TimeRange": [0, 24],
      "AllowFrom": ["127.0.0.1"], "Files": "'"$T"'/stats.log",
      "Query": "'"$query limit $1"'", "Outfile": "'"$T/out/night-$1"'.csv"}]'
}

use_jobs "$(flow 1), $(night 3)"
start_server
wait_until log_has 'job night\|done\|3 rows'
wait_until log_has 'job flow\|started'
before=$(pgrep -P "$SERVER_PID" -f 'dtail-job' | sort | head -n 1)

# Another scheduled job: it runs; the continuous one is not touched.
use_jobs "$(flow 1), $(night 5)"
reload_server
wait_until log_has 'job night\|done\|5 rows'
assert_eq 'the same process' "$before" "$(pgrep -P "$SERVER_PID" -f dtail-job | grep -x "$before")"
assert_lacks server.log 'job flow\|stopped'

# Broken settings change nothing.
echo '{"Server": {"Continuous": 7}}' > dtail.json
kill -HUP "$SERVER_PID"
wait_until log_has 'reload failed, the old settings stay'
kill -0 "$before" || fail 'the continuous job is gone'

# A changed continuous job starts anew, a removed one ends.
use_jobs "$(flow 2), $(night 5)"
reload_server
wait_until log_has 'job flow\|stopped\|the settings have changed'
wait_until log_count 2 'job flow\|started'
use_jobs '"MaxQueries": 7'
reload_server
wait_until log_count 2 'job flow\|stopped\|the settings have changed'
wait_until eval '! pgrep -P "$SERVER_PID" -f dtail-job > /dev/null'
stop_server
assert_lacks server.log 'job (flow|night)\|failed'

# SPDX-License-Identifier: Apache-2.0
# A continuous job: each interval that brought something replaces the file, an
# idle one leaves it, `append` adds to it. What has come in by the end of the
# server is written then; the next server goes on.
. ./functions.sh || exit 99
. "$top_srcdir/tests/job-functions.sh"

stats() # HOST: a line of a log in the Go format
{
    echo "INFO|1002-071143|1|stats.go:56|8|13|7|0.21|471h0m21s|MAPREDUCE:STATS|host=$1"
}
job() # TURBO-DISABLE
{
    local query='select host,count($line) from STATS group by host order by count($line) interval 1'
    echo '"TurboBoostDisable": '"$1"', "Continuous": [
      {"Name": "flow", "Enable": true, "Password": "hush", "RestartOnDayChange": true,
       "AllowFrom": ["127.0.0.1"], "Files": "'"$T"'/app.log",
       "Query": "'"$query"'", "Outfile": "'"$T"'/out/flow.csv"},
      {"Name": "history", "Enable": true, "AllowFrom": ["127.0.0.1"],
       "Files": "'"$T"'/app.log", "Query": "'"$query"'",
       "Outfile": "append '"$T"'/out/history.csv"},
      {"Name": "rest", "Enable": true, "AllowFrom": ["127.0.0.1"],
       "Files": "'"$T"'/app.log", "Query": "'"$query"'00000",
       "Outfile": "'"$T"'/out/rest.csv"}]'
}
# The followers have no mark of their own for "at the end of the file now":
# lines are added until one has come through.
feed() # HOST FILE
{
    stats "$1" >> app.log
    has_line_of "$1" "$2"
}
has_line_of() # HOST FILE
{
    [ -e "$2" ] && grep -q "^$1," "$2"
}

# One whose interval never ends writes at the end of the server. Whether it had
# read anything by then cannot be seen, so this is tried until it had.
writes_at_end()
{
    start_server
    wait_until feed six out/flow.csv
    stop_server
    has_line_of six out/rest.csv
}

# More than one interval passes while the query of another client with the same
# one gives results. Lines may still have been on their way at first.
stays_as_it_is()
{
    local inode
    cp out/flow.csv before
    inode=$(stat -c %i out/flow.csv)
    run_client dtail --timeout 2 --query \
        'select count($line) from STATS interval 1' "$T/before" > /dev/null
    cmp -s before out/flow.csv && [ "$inode" = "$(stat -c %i out/flow.csv)" ]
}

for turbo_off in false true; do
    : > app.log
    chmod 644 app.log
    use_jobs "$(job $turbo_off)"
    start_server
    wait_until feed one out/flow.csv
    wait_until has_line_of one out/history.csv
    wait_until feed two out/flow.csv
    wait_until has_line_of two out/history.csv
    # An interval alone, not all since the start.
    wait_until feed three out/flow.csv
    assert_lacks out/flow.csv '^one,'
    wait_until has_line_of three out/history.csv
    assert_eq 'lines of header in history' 1 \
        "$(grep -c '^host,count' out/history.csv)"
    assert_contains out/history.csv '^one,'
    # Idle intervals leave the file.
    wait_until stays_as_it_is
    assert_contains out/flow.csv '^three,'
    stop_server
    assert_contains server.log 'job flow\|stopped\|the server ends'
    assert_lacks server.log 'job (flow|history)\|failed'
    start_server
    wait_until feed five out/flow.csv
    stop_server
    wait_until writes_at_end
    rm -f out/* server.log
done

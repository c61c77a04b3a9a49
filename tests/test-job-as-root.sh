# SPDX-License-Identifier: Apache-2.0
# Jobs of a server that was started as root: the run and the reading have the
# rights of JobUser, and no more.
SERVER_AS_ROOT=yes
. ./functions.sh || exit 99
requires_root nobody daemon
. "$top_srcdir/tests/job-functions.sh"

genlog stats 500 > stats.log
cp stats.log secret.log
chown daemon: stats.log
chmod 600 stats.log secret.log
chown daemon: out
chmod 700 out
mkdir rootonly
chmod 700 rootonly
query='from STATS select host,count($line) group by host'
entry() # NAME FILE OUTFILE
{
    echo '{"Name": "'"$1"'", "Enable": true, "TimeRange": [0, 24],
      "AllowFrom": ["127.0.0.1"], "Files": "'"$T/$2"'",
      "Query": "'"$query"'", "Outfile": "'"$T/$3"'"}'
}
use_jobs '"JobUser": "daemon", "Schedule": [
  '"$(entry good stats.log out/good.csv)"',
  '"$(entry secret secret.log out/secret.csv)"',
  '"$(entry place stats.log rootonly/x.csv)"']'
start_server
wait_until log_has 'job good\|done\|50 rows'
assert_eq 'owner' daemon "$(stat -c %U out/good.csv)"
wait_until log_has 'job secret\|nothing found.*Unable to read file'
wait_until log_has 'job place\|failed\|Outfile: .*rootonly/x.csv: Permission'
[ ! -e rootonly/x.csv ] || fail 'written with the rights of root'
stop_server
[ ! -e out/secret.csv ] || fail 'read with the rights of root'

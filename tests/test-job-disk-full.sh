# SPDX-License-Identifier: Apache-2.0
# No room for the outfile: a message, nothing half-written under a final name,
# the old file stays, the server goes on; with room again the job does.
. ./functions.sh || exit 99
. "$top_srcdir/tests/job-functions.sh"
requires_root
requires mount umount

mkdir disk
mount -t tmpfs -o size=64k none disk 2>/dev/null || skip 'needs to mount a tmpfs'
cleanup_fn eval "mountpoint -q $T/disk && umount $T/disk"
chmod 777 disk
# 20,000 groups do not fit; one does.
seq 1 20000 | sed 's/.*/INFO|1002-071143|1|s.go:1|8|13|7|0.2|4h|MAPREDUCE:STATS|host=h&/' > many.log
echo 'INFO|1002-071143|1|s.go:1|8|13|7|0.2|4h|MAPREDUCE:STATS|host=one' > app.log
chmod 644 many.log app.log
query='from STATS select host,count($line) group by host'
rest='"Enable": true, "AllowFrom": ["127.0.0.1"], "TimeRange": [0, 24]'
printf 'old\n' > disk/history.csv
chmod 666 disk/history.csv
use_jobs '"Schedule": [
  {"Name": "night", "Files": "'"$T"'/many.log", "Query": "'"$query"'",
   "Outfile": "'"$T"'/disk/night.csv", '"$rest"'},
  {"Name": "history", "Files": "'"$T"'/many.log", "Query": "'"$query"'",
   "Outfile": "append '"$T"'/disk/history.csv", '"$rest"'}],
 "Continuous": [
  {"Name": "flow", "Files": "'"$T"'/app.log", "Enable": true,
   "AllowFrom": ["127.0.0.1"], "Query": "'"$query"' interval 1",
   "Outfile": "'"$T"'/disk/flow.csv"}]'
start_server
wait_until log_has 'job night\|failed\|.*night.csv.*No space left'
wait_until log_has 'job history\|failed\|.*history.csv.*No space left'
[ ! -e disk/night.csv ] || fail 'half a result has the final name'
assert_eq 'appended' old "$(cat disk/history.csv)"

# The continuous one as well: while the disk is full nothing replaces its file.
feeds() # NAME: a line comes through
{
    sed "s/one/$1/" app.log.line >> app.log
    [ -e disk/flow.csv ] && grep -q "^$1," disk/flow.csv
}
cp app.log app.log.line
wait_until feeds first
fill()
{
    head -c 70000 /dev/zero >> disk/fill 2>/dev/null || true
    cat app.log.line >> app.log
    log_has 'job flow\|.*(flow.csv|flow.csv.query).*No space left'
}
wait_until fill
assert_contains disk/flow.csv '^host,'
rm disk/fill
wait_until feeds second
stop_server
[ ! -e disk/night.csv ] || fail 'half a result has the final name'
[ ! -e disk/night.csv.tmp ] || fail 'a temporary file is left'

# With room all is well.
umount disk
mkdir -p disk
chown "$TEST_USER:" disk
start_server
wait_until log_has 'job night\|done\|20000 rows'
wait_until log_has 'job history\|done\|20000 rows'
stop_server

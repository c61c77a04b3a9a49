# SPDX-License-Identifier: Apache-2.0
# A scheduled job: asked of this server by the special user, its dates filled
# in, its result put in place as a whole; not again while the file is there,
# again when it is gone. Turbo and normal give the same file.
. ./functions.sh || exit 99
. "$top_srcdir/tests/job-functions.sh"

today=$(date +%Y%m%d)
genlog stats 2000 > "stats-$today.log"
chmod 644 "stats-$today.log"
query='from STATS select host,count($line),sum(took) group by host'
job()
{
    echo '"TurboBoostDisable": '"$1"', "Schedule": [{"Name": "night",
      "Enable": true, "TimeRange": [0, 24], "AllowFrom": ["127.0.0.1"],
      "Files": "'"$T"'/stats-$today.log", "Query": "'"$query"'",
      "Outfile": "'"$T"'/out/night-$today.csv"}]'
}

run_client dmap --query "$query outfile $T/expected" "stats-$today.log"
for turbo_off in false true; do
    use_jobs "$(job $turbo_off)"
    start_server
    wait_until log_has 'job night\|done\|50 rows'
    sed 1d "out/night-$today.csv" > rows
    sed 1d expected > expected.rows
    assert_same expected.rows rows
    assert_contains "out/night-$today.csv.query" "outfile \"$T/out/night-"
    [ ! -e "out/night-$today.csv.tmp" ] || fail 'a temporary file is left'
    # Not again: a server that is started anew finds the file.
    inode=$(stat -c %i "out/night-$today.csv")
    stop_server
    start_server --logLevel debug
    wait_until log_count 3 'job night\|the outfile exists'
    assert_eq inode "$inode" "$(stat -c %i "out/night-$today.csv")"
    # Who takes it away gets a new one.
    rm "out/night-$today.csv"
    wait_until log_count 2 'job night\|done\|50 rows'
    assert_contains "out/night-$today.csv" '^host,'
    stop_server
    # the end may come while a run looks for its outfile
    grep -v 'job night|stopped|the server ends' server.log > rest.log
    assert_lacks rest.log 'job night\|(failed|stopped)'
    rm -f out/* server.log
done

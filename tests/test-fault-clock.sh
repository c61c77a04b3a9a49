# SPDX-License-Identifier: Apache-2.0
# A wall clock that jumps by days, ahead and behind, at each look: nothing is
# given up early, nothing waits longer, and results are the same.
. ./functions.sh || exit 99
. "$top_srcdir/tests/fault-functions.sh"
requires_plugin cat grep tail mapr

genlog log 20000 > log
genlog stats 3000 > stats
chmod 644 log stats
query='from STATS select host,count($line) group by host'

commands()
{
    run_client dcat --plain --files "$T/log" > "$1-cat"
    run_client dgrep --plain --regex ERROR --files "$T/log" > "$1-grep"
    run_client dmap --output csv --files "$T/stats" --query "$query" > "$1-map"
}
check()
{
    local name
    commands got
    for name in want-*; do
        assert_same "$name" "got-${name#want-}"
    done
    # followed until it is told to end, with results at intervals on the way
    head -n 1000 stats > growing
    start_client dtail --plain --lines 1000 "$T/growing"
    wait_until has_lines 1000
    tail -n 2000 stats >> growing
    wait_until has_lines 3000
    kill -TERM "$CLIENT_PID"
    wait_client
    assert_same stats client.out
}
has_lines()
{
    [ "$(wc -l < client.out)" -eq "$1" ]
}

set_way serverless-turbo
commands want
for name in want-*; do
    [ -s "$name" ] || fail "nothing to compare: $name"
done
with_faults FAULT_CLOCK=300000
run_both_ways check
some_hit

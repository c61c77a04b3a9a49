# SPDX-License-Identifier: Apache-2.0
# Reads and writes that take any smaller number of bytes, and calls that are
# interrupted: all commands give what they give without them.
. ./functions.sh || exit 99
. "$top_srcdir/tests/fault-functions.sh"
requires_plugin cat grep tail mapr

genlog log 20000 > log
genlog stats 3000 > stats
gzip -c log > log.gz
printf 'no newline at the end' >> log
chmod 644 log stats log.gz
seeds=${FAULT_SEEDS:-1}
query='from STATS select host,count($line),sum(took),avg(took) group by host'

# The same commands each time; their output is what is compared.
commands()
{
    run_client dcat --plain --files "$T/log" > "$1-cat"
    run_client dcat --files "$T/log.gz" | cut -d '|' -f 4- > "$1-gzip"
    run_client dgrep --plain --regex 'ERROR|user9' --files "$T/log" > "$1-grep"
    run_client dgrep --plain --regex 'user99' --before 2 --after 3 \
        --files "$T/log,$T/log.gz" > "$1-context"
    run_client dmap --output csv --files "$T/stats" --query "$query" > "$1-map"
    case $WAY in
    serverless-*) run_client dcat --plain < log > "$1-stdin" ;;
    ssh-*) cp want-stdin "$1-stdin" ;; # servers have no standard input
    esac
}
check()
{
    local i name
    for ((i = 1; i <= seeds; i++)); do
        commands got
        for name in want-*; do
            assert_same "$name" "got-${name#want-}"
        done
    done
}
# A file that grows, followed to a line that ends it.
follow()
{
    head -n 1000 stats > growing
    start_client dtail --plain --lines 1000 "$T/growing"
    wait_until same_start 1000
    tail -n 2000 stats >> growing
    wait_until same_start 3000
    kill -TERM "$CLIENT_PID"
    wait_client
    assert_same stats client.out
}
same_start()
{
    [ "$(wc -l < client.out)" -eq "$1" ]
}

set_way serverless-turbo
commands want
for name in cat gzip grep context map stdin; do
    [ -s "want-$name" ] || fail "nothing to compare: $name"
done
seed=${FAULT_SEED:-$RANDOM}
echo "FAULT_SEED=$seed"
with_faults "FAULT_SPLIT=$seed"
both()
{
    check
    follow
}
run_both_ways both
some_hit

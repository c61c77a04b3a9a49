# SPDX-License-Identifier: Apache-2.0
# Files that appear while dtail runs, and where it begins: --lines,
# --since-start.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"

# New files that match are followed from their first byte; a file that is not
# there is waited for, and said once.
appearing()
{
    rm -rf logs one
    mkdir logs
    chmod 755 logs
    echo begin > logs/a.log
    chmod 644 logs/a.log
    follow --lines 1 "$T/logs/*.log" "$T/one"
    wait_until has_line begin
    wait_until grep -q "Unable to read file.*$T/one" client.err
    count 1 100 > logs/new
    chmod 644 logs/new
    mv logs/new logs/b.log
    wait_until has_line "$(count 100 100)"
    echo other > logs/c.txt
    count 101 102 > one
    chmod 644 one logs/c.txt
    wait_until has_line "$(count 102 102)"
    echo last >> logs/a.log
    (echo begin; count 1 102; echo last) > want
    ends_with last
    assert_eq 'how often it was said' 1 \
        "$(grep -c "Unable to read file.*$T/one" client.err)"
}

beginning()
{
    local lines
    count 1 1000 > log
    chmod 644 log
    for lines in 1 7 999 1000 5000; do
        follow --lines $lines "$T/log"
        tail -n $lines log > want
        ends_with "$(count 1000 1000)"
    done
    printf rest >> log
    follow --lines 2 "$T/log"
    wait_until has_lines 1
    echo >> log
    (count 999 1000; echo rest) > want
    tail -n 2 want > want.two
    wait_until has_line rest
    unfollow
    cmp -s want client.out || assert_same want.two client.out
    follow --since-start "$T/log"
    cp log want
    ends_with rest
    # heads have the numbers of the file then
    : > client.out
    start_client dtail --since-start --grep 'rest|^77 ' "$T/log"
    wait_until has_lines 2
    assert_contains client.out '^REMOTE\|[^|]*\|[0-9]+\|77\|log\|77 of'
    assert_contains client.out '^REMOTE\|[^|]*\|[0-9]+\|1001\|log\|rest'
    unfollow
    assert_status 2 run_client dtail --lines -1 "$T/log" 2> client.err
}

check()
{
    appearing
    beginning
}
run_both_ways check

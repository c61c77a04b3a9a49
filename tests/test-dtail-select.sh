# SPDX-License-Identifier: Apache-2.0
# What dtail selects: patterns, context, --max, while the file grows.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"

# selected WANTED-LAST-LINE ARGUMENTS...: with $T/want
selected()
{
    local last=$1
    shift
    : > log
    chmod 644 log
    follow "$@" "$T/log" "$T/ready"
    # "ready" selects itself through every pattern below
    wait_until has_line 'ready 15 1 x'
    count 1 40 >> log
    count 41 200 >> log
    wait_until has_line "$(count "$last" "$last")"
    unfollow
    grep -v ready client.out > out
    assert_same want out
}

ready_line()
{
    until [ -e stop ]; do
        echo 'ready 15 1 x' >> ready
        read -r -t 0.05 <> .never || true
    done
}

patterns()
{
    count 1 200 | grep 15 > want
    selected 159 --grep 15
    selected 159 --regex 15
    count 1 200 | grep 1 | grep 5 | grep -v 12 > want
    selected 195 --grep 1 --and 5 --not 12
    count 1 200 | grep -v '[2-9] of' > want
    selected 200 --grep '[2-9] of' --invert
}

# Context over the seams of what was read at a time.
context()
{
    count 1 200 | grep -B 2 -A 1 '[05] of' | grep -v '^--' > want
    selected 200 --grep '[05] of|ready' --before 2 --after 1
    count 1 200 | grep -A 3 '15[0-9] of' > want
    selected 162 --grep '15[0-9] of|ready' --after 3
}

# --max ends the following of a file; when all have ended, so has dtail.
max()
{
    : > log
    echo begin > other
    chmod 644 log other
    follow --grep '5 of|begin' --max 3 --lines 1 "$T/log" "$T/other"
    wait_until has_line begin
    count 1 20 >> log
    wait_until has_line "$(count 15 15)"
    count 21 100 >> log
    wait_until has_line "$(count 25 25)"
    count 200 300 >> other
    wait_client || fail "status $? after --max"
    nothing_at_server
    (echo begin; count 5 5; count 15 15; count 25 25; count 205 205
        count 215 215) > want
    assert_same want client.out
    # with context behind the last one
    : > log
    follow --grep 'a counter' --max 2 --after 2 "$T/log"
    until has_lines 1; do
        echo 'a counter' >> log
        read -r -t 0.05 <> .never || true
    done
    printf '%s\n' 'a counter' one two three >> log
    wait_client || fail "status $? after --max with --after"
    nothing_at_server
    assert_eq 'lines with --max 2 --after 2' 2 \
        "$(grep -c 'a counter' client.out)"
}

check()
{
    patterns
    context
    max
}
: > ready
chmod 644 ready
ready_line &
cleanup_fn wait $!
cleanup_fn touch "$T/stop"
run_both_ways check

# SPDX-License-Identifier: Apache-2.0
# Patterns that backtrack without end, and patterns of a megabyte: an error
# that says where, within two seconds, while others are served.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_plugin grep
requires awk

genlog log 2000 > small
grep ERROR small > want
{
    printf 'one\ntwo\n'
    head -c 100000 /dev/zero | tr '\0' a
    printf 'b\nfour\n'
} > as
# each start position goes through the whole line: no limit is reached
{ head -c 900000 /dev/zero | tr '\0' a; echo '-yx'; } > slow
chmod 644 small as slow

# What this shell's programs used of the processor, which does not depend on
# what else the machine has to do: at most two seconds since `times > before`;
# more under valgrind and sanitizers, as with limits of time.
within_two_seconds()
{
    times > after
    awk -v limit="$LIMIT" '
        function seconds(text, part) {
            split(text, part, /[ms]/)
            return 60 * part[1] + part[2]
        }
        FNR == 2 { sum += (NR == FNR ? -1 : 1) * (seconds($1) + seconds($2)) }
        END { exit sum > 2 * (limit > 60 ? limit / 60 : 1) }' before after
}

others_are_served()
{
    run_client dgrep --plain --regex ERROR "$T/small" > other.out 2> other.err
    assert_same want other.out
}

check()
{
    local status=0
    times > before
    run_client dgrep --plain --regex '(a+)+$' "$T/as" > out 2> err || status=$?
    within_two_seconds || fail "$WAY: the error took its time"
    [ $status -ne 0 ] || fail "$WAY: status 0"
    assert_contains err 'pattern too expensive on as line 3$'
    # with numbers, context, counts it is the same error
    run_client dgrep --regex '(a+)+$' --before 1 "$T/as" > out 2> err || true
    assert_contains err 'pattern too expensive on as line 3$'
    run_client dgrep --count --regex '(a+)+$' "$T/as" > out 2> err || true
    assert_contains err 'pattern too expensive on as line 3$'
    others_are_served
    # one that does its work for long keeps nobody waiting, and ends with its
    # client
    start_client dgrep --plain --regex '[a-z]+[=-]x' "$T/slow"
    others_are_served
    kill -KILL "$CLIENT_PID"
    wait_client || true
    [ -z "$SERVER_PID" ] || wait_until has_children worker 0
}
run_both_ways check

# A megabyte comes neither through an argument nor into the parser.
start_server
key=$HOME/.ssh/id_ed25519
long_frame() # BYTES-OF-PATTERN
{
    local head='{"id":1,"plugin":"grep","last":true,"files":["'$T/small'"],"args":[{"name":"regex","value":"' n
    n=$((${#head} + $1 + 4 + 1))
    printf "\\0\\x$(printf %02x $((n >> 16)))\\x$(printf %02x $((n >> 8 & 255)))\\x$(printf %02x $((n & 255)))\\x02"
    printf %s "$head"
    head -c "$1" /dev/zero | tr '\0' x
    printf '"}]}'
}
refused() # BYTES-OF-PATTERN EXTENDED-REGEX
{
    { hello && long_frame "$1"; } | ssh_dtail "$TEST_USER" "$key" > out || true
    assert_contains out "$2"
}
refused 1000000 '1000000 bytes, at most 262144 are allowed'
refused 1048000 '1048000 bytes, at most 262144 are allowed'
refused 1048576 'longer than'
refused 200000 'offset 65536: the pattern has 200000 bytes; at most 65536'
set_way ssh-turbo
others_are_served
stop_server

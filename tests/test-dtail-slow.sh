# SPDX-License-Identifier: Apache-2.0
# A reader that takes 1 KB a second while many MB are appended gets every line;
# the server's memory stays where it is. What is rotated away meanwhile is held
# up to Server.FollowHeldMiB; beyond that it is given up, and said to the byte.
#
# DTAIL_TEST_SLOW_SECONDS (2) and DTAIL_TEST_SLOW_MB (30) for longer ones.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"

seconds=${DTAIL_TEST_SLOW_SECONDS:-2}
megabytes=${DTAIL_TEST_SLOW_MB:-30}
most=0

# Only root may look at the worker, which has rights that it keeps for itself.
can_look()
{
    [ "$(id -u)" -eq 0 ]
}

# What the worker uses; the largest is kept.
look_at_memory()
{
    local now
    can_measure_memory || return 0
    now=$(memory_kib "$(children worker)")
    [ "$now" -le $most ] || most=$now
}

# has_opened FILE: the worker has.
has_opened()
{
    stat -L -c %i "/proc/$(children worker)"/fd/* 2> /dev/null |
        grep -qx "$(stat -c %i "$1")"
}

# slow_client ARGUMENTS...: descriptor 8 is its output.
slow_client()
{
    rm -f pipe
    mkfifo pipe
    "${wrapper[@]}" "$(program_path dtail)" --cfg none "${WAY_ARGS[@]}" \
        --plain --shutdownAfter $((LIMIT + seconds)) --since-start "$@" \
        > pipe 2> client.err &
    CLIENT_PID=$!
    cleanup_fn kill_quietly "$CLIENT_PID"
    exec 8< pipe
    IFS= read -r -t "$LIMIT" -u 8 line
    assert_eq 'the first line' begin "$line"
}

every_line()
{
    local i
    rm -f log log.* got
    echo begin > log
    chmod 644 log
    most=0
    slow_client "$T/log"
    for ((i = 0; i < seconds; i++)); do
        genlog log $((megabytes * 1000000 / 85 / seconds)) $i >> log
        timeout "$LIMIT" head -c 1024 <&8 >> got
        look_at_memory
        read -r -t 1 <> .never || true
    done
    look_at_memory
    echo end >> log
    sed -n '/^end$/q; p' <&8 >> got
    sed '1d; $d' log > want
    assert_same want got
    [ -n "${DTAIL_TEST_WRAPPER:-}" ] || [ "$most" -lt 16384 ] ||
        fail "the worker used $most KiB"
    exec 8<&-
    wait_client || fail "status $? after its output was closed"
    nothing_at_server
}

# Of several rotated files of 4 MB only one MiB may wait.
given_up()
{
    local i written given received
    rm -f log log.*
    echo begin > log
    chmod 644 log
    slow_client "$T/log"
    for i in 1 2 3 4 5 6 7 8; do
        genlog log 50000 $i >> log
        mv log log.$i
        : > log
        chmod 644 log
        wait_until has_opened log
    done
    echo end >> log
    sed '/^end$/q' <&8 > got
    exec 8<&-
    wait_client || fail "status $? after its output was closed"
    nothing_at_server
    grep -q "[0-9]* bytes in $T/log given up" client.err ||
        fail "nothing was given up"
    written=$(cat log log.* | wc -c)
    received=$(($(wc -c < got) + 6)) # "begin" was read before
    given=$(sed -n 's/.*[^0-9]\([0-9]*\) bytes in .* given up.*/\1/p' \
        client.err | awk '{ n += $1 } END { print n }')
    assert_eq "bytes received and given up ($given)" "$written" \
        $((received + given))
    # whole lines of the log, in their order
    cat log.? log > all
    diff all <(echo begin; cat got) | grep '^>' > wrong || true
    [ ! -s wrong ] || fail "lines that are not in the log"
}

check()
{
    case $WAY in ssh-*)
        every_line
        ! can_look || given_up
        ;;
    esac
}
ADD_SERVER='"FollowHeldMiB": 1' start_server
run_both_ways check

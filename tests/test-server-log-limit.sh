# SPDX-License-Identifier: Apache-2.0
# Strangers do not fill the log: of 300 broken handshakes of one address not
# all have a line, and those that have none are counted exactly, at SIGHUP or
# at the end.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver

trap '' PIPE
start_server

break_handshakes() # NUMBER
{
    local i
    for ((i = 0; i < $1; i++)); do
        open_connection 9
        printf 'SSH-2.0-x\r\nthis is no packet of a key exchange\r\n' >&9 2> /dev/null || true
        read_to_end 9 > end 2> /dev/null || true
        exec 9>&-
    done
}

# Lines that were written, and with those that the log says are missing.
written()
{
    grep -ac 'connection ended|before the session began' server.log || true
}
accounted()
{
    sed -n 's/.*127\.0\.0\.1|\([0-9]*\) similar messages suppressed$/\1/p' \
        server.log | awk -v n="$(written)" '{ n += $1 } END { print n }'
}
accounts_for()
{
    [ "$(accounted)" -eq "$1" ]
}

began=$SECONDS
break_handshakes 200
wait_until has_children session 0
kill -HUP "$SERVER_PID"
wait_until accounts_for 200
break_handshakes 100
wait_until has_children session 0
stop_server
assert_eq "lines and suppressed ones" 300 "$(accounted)"
[ "$(written)" -ge 100 ] || fail "only $(written) lines"
# a hundred at once, then two a second
most=$((100 + 2 * (SECONDS - began + 1)))
[ "$(written)" -le $most ] || fail "$(written) lines, at most $most are allowed"

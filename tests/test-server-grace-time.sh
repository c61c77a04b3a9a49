# SPDX-License-Identifier: Apache-2.0
# LoginGraceMs ends who does not log in in time: a silent peer, one that drips
# bytes, one that authenticates and then asks for nothing.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver

ADD_SERVER='"LoginGraceMs": 500'
start_server
open_connection 4
read_to_end 4 > silent
assert_contains silent '^SSH-2.0-dserver_'
wait_until log_has 'no key exchange in time'

open_connection 5
drip()
{
    printf 'S' >&5 || return 0
    ! read -r -t 0.05 -n 1000 line <&5
    has_children session 0
}
trap '' PIPE
wait_until drip 2> /dev/null
exec 4>&- 5>&-

# -N: no request at all after the log-in
assert_status 255 timeout "$LIMIT" ssh "${SSH_OPTIONS[@]}" -N \
    -i "$HOME/.ssh/id_ed25519" -p "$PORT" -l "$TEST_USER" 127.0.0.1 \
    < /dev/null > out 2> err
wait_until log_has 'no subsystem request in time'
wait_until has_children session 0
wait_until has_children worker 0
stop_server

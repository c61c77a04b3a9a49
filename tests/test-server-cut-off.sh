# SPDX-License-Identifier: Apache-2.0
# A client whose machine is not reachable any more (its network is taken away,
# so that neither FIN nor RST comes): the server ends its session, the one that
# is idle and the one that has output under way. KeepaliveSeconds is 1.
if [ -z "${CUT_OFF_NETWORK:-}" ]; then
    # A network of the test's own, with nothing but a loopback.
    if ! unshare --net ip link set lo up 2> /dev/null; then
        echo "skipped: needs root, unshare, ip and network namespaces"
        exit 77
    fi
    export CUT_OFF_NETWORK=1
    exec unshare --net bash "$0" "$@"
fi
ip link set lo up
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dtail

ADD_SERVER='"KeepaliveSeconds": 1'
start_server
key=$HOME/.ssh/id_ed25519
echo begin > log
chmod 644 log
mkfifo requests
exec 7<> requests

has_lines() # FILE
{
    [ -s "$1" ]
}

# Idle: a session without a query.
ssh "${SSH_OPTIONS[@]}" -i "$key" -p "$PORT" -l "$TEST_USER" 127.0.0.1 \
    -s dtail < requests > idle 2> idle.err 7>&- &
cleanup_fn kill_quietly $!
hello >&7
wait_until has_lines idle
# Following: a line will come when nobody can be reached.
frame 2 "{\"id\":1,\"plugin\":\"tail\",\"files\":[\"$PWD/log\"],\"follow\":true,\"last\":true}" > follow
mkfifo more
exec 8<> more
ssh "${SSH_OPTIONS[@]}" -i "$key" -p "$PORT" -l "$TEST_USER" 127.0.0.1 \
    -s dtail < more > following 2> following.err 7>&- 8>&- &
cleanup_fn kill_quietly $!
hello >&8
cat follow >&8
wait_until has_lines following
wait_until has_children worker 2

wait_until has_children session 2

ip link set lo down
echo "nobody gets this" >> log
wait_until has_children session 0
wait_until has_children worker 0
ip link set lo up
assert_eq "sessions that ended" 2 "$(grep -c '|disconnected|' server.log)"
stop_server

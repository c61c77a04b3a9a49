# SPDX-License-Identifier: Apache-2.0
# MaxConnections: one more user is told so after the log-in, by our client as
# by OpenSSH's; a health check still gets in; when one of the others ends,
# there is room again. Connections that have not logged in do not count.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dcat
requires_plugin cat

ADD_SERVER='"MaxConnections": 2, "LoginGraceMs": 3600000'
start_server
key=$HOME/.ssh/id_ed25519
for i in 1 2; do
    mkfifo requests$i
    ssh_dtail "$TEST_USER" "$key" < requests$i > out$i 7>&- &
    pids[i]=$!
    eval "exec $((6 + i))> requests$i"
    wait_until grep -aq '"protocol":1' out$i
done
for fd in 4 5 6; do
    open_connection $fd
    read -r -t "$LIMIT" banner <&$fd
done
assert_status 75 ssh_dtail "$TEST_USER" "$key" < /dev/null > out 2> err
assert_contains err 'too many connections \(MaxConnections is 2\)'
echo text > f
assert_status 1 run_client dcat "${SSH_ARGS[@]}" "$T/f" > out 2> err
assert_contains err 'too many connections \(MaxConnections is 2\)'
assert_lacks out text
wait_until log_has "$TEST_USER@.*no worker\|too many connections"
hello | by_password DTAIL-HEALTH DTAIL-HEALTH > out
assert_contains out '"protocol":1'

exec 7>&-
wait "${pids[1]}"
wait_until has_children worker 1
ssh_dtail "$TEST_USER" "$key" < /dev/null > out
assert_contains out '"protocol":1'
exec 8>&- 4>&- 5>&- 6>&-
wait "${pids[2]}"
wait_until has_children session 0
stop_server

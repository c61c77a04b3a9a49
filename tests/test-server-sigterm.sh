# SPDX-License-Identifier: Apache-2.0
# SIGTERM with sessions of each kind: before the log-in, idle, and stuck in the
# middle of a file because its client does not read. All end, the clients learn
# why, the status is 0, and nothing is left (stop_server looks).
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires_plugin cat

ADD_SERVER='"ShutdownGraceMs": 300'
start_server
key=$HOME/.ssh/id_ed25519
open_connection 4
read -r -t "$LIMIT" banner <&4
mkfifo idle stuck
ssh_dtail "$TEST_USER" "$key" < idle > idle.out 2> idle.err &
idle=$!
exec 7> idle
hello >&7
wait_until has_children worker 1

head -c 100000000 /dev/zero | tr '\0\n' 'x\n' | fold -w 99 > big
chmod 644 big
(hello && cat_request 1 "$T/big" '"last":true') > request
ssh_dtail "$TEST_USER" "$key" < request 2> stuck.err > stuck &
stuck=$!
exec 8< stuck
read -r -t "$LIMIT" -n 100 line <&8
wait_until has_children worker 2

kill -TERM "$SERVER_PID"
wait_until log_has 'stopping\|SIGTERM\|3 connections'
read_to_end 4 > banner.out
status=0
wait "$idle" || status=$?
assert_eq 'status of the idle session' 0 "$status"
assert_contains idle.err 'the server is shutting down'
# It reads on only now: its worker has been ended by then or not, but either
# way it is told.
cat <&8 > /dev/null || true
status=0
wait "$stuck" || status=$?
[ "$status" -ne 0 ] || assert_contains stuck.err 'shutting down|shut down'
exec 4>&- 7>&- 8<&-
stop_server

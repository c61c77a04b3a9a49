# SPDX-License-Identifier: Apache-2.0
# After the log-in, bytes that are no frames end that session with a message
# that names the fault.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver

start_server
key=$HOME/.ssh/id_ed25519
printf '\xff\xff\xff\xff garbage' | ssh_dtail "$TEST_USER" "$key" > out || true
assert_contains out 'longer than'
printf '\0\0\0\0' | ssh_dtail "$TEST_USER" "$key" > out || true
assert_contains out 'frame'
(hello && frame 2 '{"id":') | ssh_dtail "$TEST_USER" "$key" > out || true
assert_contains out 'bad QUERY request'
wait_until has_children worker 0
wait_until has_children session 0
stop_server

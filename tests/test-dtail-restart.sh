# SPDX-License-Identifier: Apache-2.0
# A server that stops sends its followers home, who come back; what was written
# meanwhile comes first. What is gone for good is said.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"

start_server
set_way ssh-turbo
followed "$T/log"
count 1 3 >> log
wait_until has_line "$(count 3 3)"
stop_server
assert_contains client.err 'shutting down'
count 4 6 >> log
mv log log.1
count 7 9 > log
chmod 644 log
start_server --port "$PORT"
wait_until has_line "$(count 9 9)"
assert_lacks client.err ' lost'

# the place is gone: both files, and what stood in them
old=$SERVER_PID
kill -STOP "$old"
# shellcheck disable=SC2046
kill -KILL $(children session)
rm log log.1
count 20 22 > log
chmod 644 log
kill -CONT "$old"
(echo begin; count 1 9; count 20 22) > want
wait_until has_line "$(count 22 22)"
assert_contains client.err "$T/log was (replaced|truncated).* is lost"
ends_with "$(count 22 22)"
stop_server

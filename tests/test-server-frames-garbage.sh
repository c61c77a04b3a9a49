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
# the order of frames: HELLO first and once, nothing to be done behind BYE
genlog log 10 > log
chmod 644 log
(hello && hello) | ssh_dtail "$TEST_USER" "$key" > out || true
assert_contains out 'bad HELLO request: a session has one HELLO only'
cat_request 1 "$T/log" | ssh_dtail "$TEST_USER" "$key" > out || true
assert_contains out 'bad QUERY request: HELLO is to come first'
frame 6 '' | ssh_dtail "$TEST_USER" "$key" > out || true
assert_contains out 'bad BYE request: HELLO is to come first'
# a query that does not end by itself, so that the session is still there
follow_request()
{
    frame 2 "{\"id\":1,\"plugin\":\"tail\",\"files\":[\"$T/log\"],\"follow\":true,\"last\":$1}"
}
(hello && follow_request false && frame 6 '' && cat_request 2 "$T/log") |
    ssh_dtail "$TEST_USER" "$key" > out || true
assert_contains out 'bad QUERY request: no query may come behind BYE'
(hello && follow_request true && cat_request 2 "$T/log") |
    ssh_dtail "$TEST_USER" "$key" > out || true
assert_contains out 'bad QUERY request: no query may come behind BYE'
# types that are unknown are skipped, wherever they stand
(frame 99 'of another day' && hello && cat_request 1 "$T/log" '"last":true') |
    ssh_dtail "$TEST_USER" "$key" > out
while read -r line; do
    grep -qaF -- "$line" out || fail "$line is not in the answer"
done < log
wait_until has_children worker 0
wait_until has_children session 0
stop_server

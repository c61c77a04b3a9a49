# SPDX-License-Identifier: Apache-2.0
# kill -9 of a worker: its client gets a message and status 70, its read slot
# falls back, other sessions do not notice.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires_plugin cat

ADD_SERVER='"MaxConcurrentCats": 1'
start_server
key=$HOME/.ssh/id_ed25519
head -c 100000000 /dev/zero | tr '\0' x | fold -w 99 > big
echo content > small

# A session in flight that does nothing yet.
mkfifo other holder
ssh_dtail "$TEST_USER" "$key" < other > other.out &
other=$!
exec 7> other
hello >&7
wait_until has_children worker 1
bystander=$(children worker)

# The holder of the only slot: its client does not read.
(hello && cat_request 1 "$T/big" '"last":true') > request
ssh_dtail "$TEST_USER" "$key" < request > holder 2> holder.err &
holder=$!
exec 8< holder
read -r -t "$LIMIT" -n 200 line <&8
wait_until has_children worker 2
victim=$(children worker | grep -vx "$bystander")

# The bystander waits for the slot.
cat_request 1 "$T/small" '"last":true' >&7
exec 7>&-
kill -KILL "$victim"
cat <&8 > /dev/null
status=0
wait "$holder" || status=$?
assert_eq 'status of the killed session' 70 "$status"
assert_contains holder.err 'worker of this session died of SIGKILL'
wait "$other" || fail "the other session: status $?"
assert_contains other.out 'content'
wait_until has_children worker 0
stop_server

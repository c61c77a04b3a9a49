# SPDX-License-Identifier: Apache-2.0
# SIGHUP: a broken file keeps the old settings and says so; a good one counts
# for new sessions, plugins included, while a running session keeps its own.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires_plugin cat

start_server
key=$HOME/.ssh/id_ed25519
mkfifo requests
ssh_dtail "$TEST_USER" "$key" < requests > old.out &
old=$!
exec 7> requests
wait_until has_children worker 1

cp dtail.json good.json
echo '{"Server": {"MaxConnections": "many"}}' > dtail.json
kill -HUP "$SERVER_PID"
wait_until log_has 'reload failed, the old settings stay\|.*MaxConnections'
ssh_dtail "$TEST_USER" "$key" < /dev/null > out
assert_contains out '"name":"cat"'

sed 's/"Server": {/"Server": {"Plugins": {"cat": {"Enable": false}},/' \
    good.json > dtail.json
kill -HUP "$SERVER_PID"
wait_until log_has '\|reloaded\|'
ssh_dtail "$TEST_USER" "$key" < /dev/null > out
assert_contains out '"protocol":1'
assert_lacks out '"name":"cat"'

# the old session still has it
echo content > file
{ hello; cat_request 1 "$T/file" '"last":true'; } >&7
exec 7>&-
wait "$old"
assert_contains old.out 'content'
stop_server

# SPDX-License-Identifier: Apache-2.0
# A key that is not in authorized_keys does not log in; the log says why.
. ./functions.sh || exit 99
requires_program dcat dserver
requires_plugin cat

echo secret > a.log
start_server
# The key that may log in is not to be found in this home.
mkdir -p "$T/stranger/.ssh"
HOME=$T/stranger make_key id_ed25519
HOME=$T/stranger assert_status 1 run_client dcat \
    --servers "127.0.0.1:$PORT" --user "$TEST_USER" --trustAllHosts \
    --plain --files "$T/a.log" > out 2> client.err < /dev/null
[ ! -s out ] || fail "read without a key: $(cat out)"
assert_contains server.log 'key refused.*not listed'
assert_lacks server.log 'logged in'
stop_server

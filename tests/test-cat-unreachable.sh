# SPDX-License-Identifier: Apache-2.0
# Status 1 when no server can be reached, 3 when some cannot; they are named.
. ./functions.sh || exit 99
requires_program dcat dserver
requires_plugin cat

echo line > a.log
start_server
stop_server
dead=$PORT
start_server
args=(--user "$TEST_USER" --auth-key-path "$HOME/.ssh/id_ed25519"
    --trustAllHosts --plain --files "$T/a.log")
assert_status 1 run_client dcat --servers "127.0.0.1:$dead" "${args[@]}" \
    > out 2> client.err
[ ! -s out ] || fail "output from nowhere"
assert_contains client.err "127.0.0.1:$dead"
assert_status 3 run_client dcat \
    --servers "127.0.0.1:$dead,127.0.0.1:$PORT" "${args[@]}" > out 2> client.err
assert_same a.log out
assert_contains client.err "127.0.0.1:$dead"
stop_server

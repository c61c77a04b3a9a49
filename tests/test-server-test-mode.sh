# SPDX-License-Identifier: Apache-2.0
# DTAIL_INTEGRATION_TEST_RUN_MODE=yes: host key and the one key of every user in
# the current folder, short lines, a fixed host name, the client's files there,
# too; only with this very value, and never as root.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dcat
requires_plugin cat

export DTAIL_INTEGRATION_TEST_RUN_MODE=yes
mkdir -p "$T/server"
make_key pair -t rsa -b 2048
cp "$HOME/.ssh/pair.pub" "$T/server/id_rsa.pub"
cp "$HOME/.ssh/pair" id_rsa
NO_KEYS=yes
start_server
wait_until log_has 'WARN.*the key in ./id_rsa.pub lets every user in'
[ -f "$T/server/ssh_host_key" ] || fail "no ./ssh_host_key"

(printf 'x%.0s' {1..1500}; echo) > long
chmod 644 long
rm "$HOME/.ssh/id_ed25519"
run_client dcat --servers "127.0.0.1:$PORT" --user "$TEST_USER" --noColor \
    --trustAllHosts --auth-key-path "$T/made" "$T/long" > out 2> err
assert_contains out '^REMOTE\|integrationtest\|.*x'
assert_eq 'lines of at most 1024 bytes' 2 "$(grep -c 'x' out)"
[ -f known_hosts ] || fail "no ./known_hosts"
grep -q 'PRIVATE KEY' made || fail 'no key was made'
assert_eq 'mode of the new key' 600 "$(stat -c %a made)"
assert_contains <(ssh-keygen -l -f made.pub) '^4096 '
# ./id_rsa let it in; the new one was registered, and does from now on.
rm id_rsa
run_client dcat --servers "127.0.0.1:$PORT" --user "$TEST_USER" --noColor \
    --trustAllHosts --auth-key-path "$T/made" "$T/long" > again 2> err
assert_same out again
stop_server

DTAIL_INTEGRATION_TEST_RUN_MODE=no
cp "$HOME/.ssh/pair" id_rsa
start_server
assert_status 255 ssh_dtail "$TEST_USER" "$HOME/.ssh/pair" < /dev/null > out 2> err
stop_server

if [ "$(id -u)" -eq 0 ]; then
    status=0
    DTAIL_INTEGRATION_TEST_RUN_MODE=yes "$SERVER" --cfg "$T/dtail.json" \
        --port 0 --logger stderr > out 2>&1 || status=$?
    assert_eq 'status as root' 2 "$status"
    assert_contains out 'not for a server that is started as root'
fi

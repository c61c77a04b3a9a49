# SPDX-License-Identifier: Apache-2.0
# Host keys are made at the first start, for their owner only, in a folder that
# is made as well, and stay; the RSA key is PEM, so that Go programs read it.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires ssh-keyscan

umask 000
start_server
for file in "$T"/server/cache/ssh_host_key "$T"/server/cache/ssh_host_key_ed25519; do
    assert_eq "mode of $file" 600 "$(stat -c %a "$file")"
done
assert_contains "$T/server/cache/ssh_host_key" '^-----BEGIN (RSA )?PRIVATE KEY'
scan()
{
    ssh-keyscan -T 10 -p "$PORT" -t "$1" 127.0.0.1 2> /dev/null |
        cut -d ' ' -f 2-
}
scan rsa > rsa.1
scan ed25519 > ed25519.1
assert_contains rsa.1 '^ssh-rsa AAAA'
assert_contains ed25519.1 '^ssh-ed25519 AAAA'
assert_eq 'no ECDSA key' '' "$(scan ecdsa)"
stop_server
start_server
scan rsa > rsa.2
scan ed25519 > ed25519.2
assert_same rsa.1 rsa.2
assert_same ed25519.1 ed25519.2
stop_server

# OpenSSH's own format is taken, with a warning about speed; what is no key is
# a start-up error.
rm "$T"/server/cache/ssh_host_key*
ssh-keygen -q -N '' -t rsa -b 2048 -f "$T/server/cache/ssh_host_key"
chmod 644 "$T/server/cache/ssh_host_key"
: > server.log
start_server
assert_contains server.log "RSA in OpenSSH's own format"
assert_contains server.log 'mode 0644 lets others'
stop_server
echo nonsense > "$T/server/cache/ssh_host_key"
status=0
"${wrapper[@]}" "$(program_path dserver)" --cfg "$T/dtail.json" --port 0 \
    --logger none > bad.out 2>&1 || status=$?
assert_eq 'status with a bad host key' 2 "$status"
assert_contains bad.out 'host key .*/ssh_host_key: not a readable private key'

# SPDX-License-Identifier: Apache-2.0
# The lists of algorithms: what is listed is used and nothing else, what libssh
# does not have is found by --check-config.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver

ADD_SERVER='"KeyExchanges": ["mlkem768x25519-sha256", "ecdh-sha2-nistp256"],
  "Ciphers": ["aes256-ctr"], "MACs": ["hmac-sha2-512-etm@openssh.com"],
  "HostKeyAlgorithms": ["rsa-sha2-512"],
  "PublicKeyAlgorithms": ["ssh-ed25519"]'
start_server
key=$HOME/.ssh/id_ed25519
wait_until log_has 'WARN.*KeyExchanges\|mlkem768x25519-sha256 is not known to libssh'

ssh_with() # KEY OPTIONS...
{
    local with=$1
    shift
    timeout -k 10 "$LIMIT" ssh "$@" "${SSH_OPTIONS[@]}" -i "$with" -p "$PORT" \
        -l "$TEST_USER" 127.0.0.1 -s dtail < /dev/null
}
ssh_with "$key" -v -o LogLevel=DEBUG1 > out 2> err
assert_contains out '"protocol":1'
assert_contains err 'kex: algorithm: ecdh-sha2-nistp256'
assert_contains err 'kex: host key algorithm: rsa-sha2-512'
assert_contains err 'kex: server->client cipher: aes256-ctr MAC: hmac-sha2-512-etm@openssh.com'
assert_status 255 ssh_with "$key" -o KexAlgorithms=curve25519-sha256 2> err
assert_status 255 ssh_with "$key" -o Ciphers=aes128-ctr 2> err
assert_status 255 ssh_with "$key" -o MACs=hmac-sha2-256 2> err
assert_status 255 ssh_with "$key" -o HostKeyAlgorithms=ssh-ed25519 2> err
make_key ecdsa -t ecdsa
allow_key "$HOME/.ssh/ecdsa.pub"
assert_status 255 ssh_with "$HOME/.ssh/ecdsa" 2> err
stop_server

check() # MEMBER NAME REGEX
{
    echo "{\"Server\": {\"$1\": [\"$2\"]}}" > c.json
    assert_status 2 "$SERVER" --cfg c.json --check-config > out 2> err
    assert_contains err "c.json:1:[0-9]*.*Server.$1.*$3"
}
check KeyExchanges curve25519-sha2 'not a key exchange method that libssh'
check Ciphers rot13 'not a cipher'
check Ciphers aes256-ctr,aes128-ctr 'not a cipher'
check MACs hmac-md4 'not a MAC'
check HostKeyAlgorithms ssh-rsa 'SHA-1'
check PublicKeyAlgorithms ssh-dss 'SHA-1'
check PublicKeyAlgorithms '' 'not a public key algorithm'
check FailurePenaltyExempt 'example.net' 'neither an address nor'

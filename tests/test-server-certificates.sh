# SPDX-License-Identifier: Apache-2.0
# User certificates of a trusted authority let in whom they name, while they
# are valid, from where they say; all others do not: of all kinds of keys and
# authorities, by OpenSSH's client.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dcat
requires_plugin cat

ca=$T/server/ca.pub
ADD_SERVER='"TrustedUserCAKeys": "'$ca'"'
NO_KEYS=yes
make_key ca
make_key other-ca
mkdir -p "$T/server"
cp "$HOME/.ssh/ca.pub" "$ca"
start_server
make_key user
key=$HOME/.ssh/user

certify() # CA [ssh-keygen-ARGUMENTS]: a new certificate beside user
{
    local authority=$1
    shift
    rm -f "$key-cert.pub"
    ssh-keygen -q -s "$HOME/.ssh/$authority" -I 'id of user' -z 42 "$@" \
        "$key.pub"
}
accepted() # WHAT
{
    ssh_dtail "$TEST_USER" "$key" < /dev/null > out 2> err ||
        fail "$1 refused: $(tail -n 3 "$T/server.log")"
    assert_contains out '"protocol":1'
}
refused() # LOG-REGEX [USER]
{
    : > "$T/server.log"
    assert_status 255 ssh_dtail "${2:-$TEST_USER}" "$key" < /dev/null \
        > out 2> err
    wait_until log_has "$1"
    assert_lacks "$T/server.log" 'logged in'
}

refused 'key refused' # the bare key is listed nowhere
certify ca -n "somebody,$TEST_USER"
accepted 'a good certificate'
wait_until log_has 'logged in.*certificate "id of user" serial 42 of .*ca.pub line 1'
accepted 'the same again'
certify ca -n "$TEST_USER" -V -5m:+5m -O source-address=10.0.0.0/8,127.0.0.1/32
accepted 'with validity and source-address'

# Our clients take the certificate that lies beside a key.
echo text > f
chmod 644 f
dcat()
{
    run_client dcat --servers "127.0.0.1:$PORT" --user "$TEST_USER" --plain \
        --trustAllHosts --no-auth-key --auth-key-path "$key" "$T/f" \
        > out 2> err
}
dcat || fail "dcat: $(cat err)"
assert_eq 'dcat with a certificate' text "$(cat out)"
# One of another key beside it is left out.
make_key stray
cp "$key-cert.pub" "$HOME/.ssh/stray-cert.pub"
allow_key "$HOME/.ssh/stray.pub"
key=$HOME/.ssh/stray dcat || fail "dcat: $(cat err)"
assert_eq 'dcat beside a strange certificate' text "$(cat out)"
rm "$T/server/cache/$TEST_USER.authorized_keys"
certify ca -n somebody
assert_status 1 dcat
assert_contains err 'tried: [^ ]*user-cert.pub, [^ ]*user'
refused "certificate \"id of user\": $TEST_USER is not among the principals"
certify ca
refused 'without principals'
certify ca -n "$TEST_USER" -V -2h:-1h
refused 'expired'
certify ca -n "$TEST_USER" -V +1h:+2h
refused 'not valid yet'
certify ca -n "$TEST_USER" -O source-address=10.0.0.0/8
refused 'source-address does not allow 127.0.0.1'
certify ca -n "$TEST_USER" -O force-command=/bin/true
refused 'critical option "force-command" is not supported'
certify ca -n "$TEST_USER" -O critical:x@example.com=y
refused 'critical option "x@example.com" is not supported'
certify other-ca -n "$TEST_USER"
refused 'ca.pub: the authority: the key is not listed'
certify ca -n "ghost-$$"
refused 'there is no account' "ghost-$$"
certify ca -n DTAIL-HEALTH
assert_status 255 ssh_dtail DTAIL-HEALTH "$key" < /dev/null > out 2> err

# Key types and authorities.
for type in 'ed25519' 'ecdsa -b 256' 'ecdsa -b 384' 'ecdsa -b 521' 'rsa -b 2048'; do
    read -r -a words <<< "$type"
    rm -f "$HOME/.ssh/ca2" "$HOME/.ssh/ca2.pub" "$key" "$key.pub"
    make_key ca2 -t "${words[@]}"
    make_key user -t "${words[@]}"
    cp "$HOME/.ssh/ca2.pub" "$ca"
    certify ca2 -n "$TEST_USER"
    accepted "$type"
    dcat || fail "dcat with $type: $(cat err)"
done
certify ca2 -t rsa-sha2-256 -n "$TEST_USER"
accepted 'RSA with SHA-256'
certify ca2 -t ssh-rsa -n "$TEST_USER"
refused 'signed with "ssh-rsa" or a key that is not supported'
make_key weak -t rsa -b 1024
cp "$HOME/.ssh/weak.pub" "$ca"
certify weak -n "$TEST_USER"
refused 'a key that is not supported'

# The file of the authorities is looked after, too; and is read each time.
cp "$HOME/.ssh/ca2.pub" "$ca"
certify ca2 -n "$TEST_USER"
chmod 666 "$ca"
refused 'TrustedUserCAKeys.*mode 0666 lets others write it'
chmod 644 "$ca"
accepted 'once more'
cp "$HOME/.ssh/ca.pub" "$ca"
refused 'the authority: the key is not listed'
stop_server

ADD_SERVER='"MaxConnections": 2'
start_server
refused 'certificates need Server.TrustedUserCAKeys|before the session began'
stop_server

# SPDX-License-Identifier: Apache-2.0
# Who may not log in does not: wrong key, no key, names that are parts of
# paths, options that are not honoured, files that others may write. The log
# says why, the client does not learn it.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver

start_server
make_key other
good=$HOME/.ssh/id_ed25519
keys=$T/server/cache/$TEST_USER.authorized_keys
cp "$keys" keys.saved

refused() # LOG-REGEX USER KEY
{
    local regex=$1 status=0
    shift
    : > "$T/server.log"
    ssh_dtail "$@" < /dev/null > out 2> err || status=$?
    [ "$status" -eq 255 ] || fail "$1 with $2: status $status"
    wait_until log_has "$regex"
    assert_lacks err 'authorized_keys|account|option'
    assert_lacks "$T/server.log" 'logged in'
}

with_options() # OPTIONS
{
    rm "$keys"
    allow_key "$good.pub" "$TEST_USER" "$1"
}

accepted()
{
    ssh_dtail "$TEST_USER" "$good" < /dev/null > out 2> err ||
        fail "refused with $1"
    assert_contains out '"protocol":1'
}

accepted 'the right key'
refused 'the key is not listed' "$TEST_USER" "$HOME/.ssh/other"
refused 'before the session began' "$TEST_USER" /nonexistent
refused 'there is no account' ghost-$$ "$good"
refused 'user name holds the byte 0x2f' "x/$TEST_USER" "$good"
refused 'user name holds "\.\."' "..$TEST_USER" "$good"
refused 'user name of 300 bytes' "$(printf 'u%.0s' {1..300})" "$good"

with_options 'command="/bin/true"'
refused 'line 1: option "command" is not supported' "$TEST_USER" "$good"
with_options 'cert-authority'
refused 'option "cert-authority" is not supported' "$TEST_USER" "$good"
with_options 'from="10.0.0.0/8"'
refused 'from= does not allow 127.0.0.1' "$TEST_USER" "$good"
with_options 'from="127.0.0.0/8",restrict,expiry-time="20990101"'
accepted 'options that are honoured'
with_options 'expiry-time="20010101"'
refused 'expired at 20010101' "$TEST_USER" "$good"

cp keys.saved "$keys"
chmod 666 "$keys"
refused 'mode 0666 lets others write it' "$TEST_USER" "$good"
chmod 600 "$keys"
chmod 777 "$T/server/cache"
refused 'mode 0777 lets others write it' "$TEST_USER" "$good"
chmod 700 "$T/server/cache"
mv "$keys" "$keys.real"
ln -s "$keys.real" "$keys"
refused 'is a symbolic link' "$TEST_USER" "$good"
rm "$keys"
mv "$keys.real" "$keys"
accepted 'the right key again'
stop_server

# SPDX-License-Identifier: Apache-2.0
# AUTHKEY: a client registers a key, which then does for that user and no
# other, until it expires, others push it out, the listed key behind it is
# withdrawn, or the server is started anew.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dcat
requires_plugin cat

echo text > f
chmod 644 f
ADD_SERVER='"AuthKeyMaxPerUser": 2'
start_server
listed=$HOME/.ssh/id_ed25519
keys=$T/server/cache/$TEST_USER.authorized_keys
for name in local second third; do
    make_key $name
done

# cat_with KEY ARGUMENTS...: by OpenSSH's way of offering one key alone.
cat_with()
{
    local key=$1
    shift
    run_client dcat --servers "127.0.0.1:$PORT" --user "$TEST_USER" --plain \
        --trustAllHosts --auth-key-path "$key" "$@" "$T/f" > out 2> err
}
only() # KEY: as the one key that there is
{
    ssh_dtail "$TEST_USER" "$HOME/.ssh/$1" < /dev/null > out 2> err
}
refused()
{
    assert_status 255 only "$1"
}
# register KEY: logs in with the listed key, as an agent's would be.
register()
{
    (hello && frame 5 "{\"key\":\"$(cut -d' ' -f2 "$HOME/.ssh/$1.pub")\"}") |
        ssh_dtail "$TEST_USER" "${2:-$listed}" > out
    assert_contains out 'AUTHKEY OK'
}

# The client does it by itself: the named key is offered, refused, and
# registered after the listed one let it in.
refused local
cat_with "$HOME/.ssh/local" --no-auth-key
refused local
DTAIL_AUTH_KEY_PATH=$HOME/.ssh/none cat_with ''
refused local
cat_with "$HOME/.ssh/local"
assert_eq output text "$(cat out)"
assert_lacks err 'AUTHKEY'
wait_until log_has "$TEST_USER@127.0.0.1:[0-9]*\|key registered"
only local
assert_contains out '"protocol":1'
wait_until log_has 'logged in.*\|registered key behind '

# For nobody else; and a session registers for itself alone.
if [ "$TEST_USER" != daemon ] && id daemon > /dev/null 2>&1; then
    assert_status 255 ssh_dtail daemon "$HOME/.ssh/local" < /dev/null > out 2>&1
fi

# Two a user: the oldest goes; registering again makes one the youngest.
register second
register local "$HOME/.ssh/local"
register third
refused second
only local
only third

# What is no key is answered, and the session goes on.
(
    hello
    for key in '' 'no base64' AAAA "$(printf 'QUJD%.0s' {1..5000})"; do
        frame 5 "{\"key\":\"$key\"}"
    done
    frame 5 '{}'
    frame 5 "{\"key\":\"AAAAB3NzaC1kc3MAAAAA\"}"
    cat_request 1 "$T/f" '"last":true'
) | ssh_dtail "$TEST_USER" "$listed" > out
assert_contains out '^text|text$'
answers()
{
    grep -ao "AUTHKEY ERR $1" out | wc -l
}
assert_eq 'missing' 2 "$(answers 'missing public key')"
assert_eq 'no base64' 1 "$(answers 'invalid base64')"
assert_eq 'no key' 3 "$(answers 'invalid public key')"
assert_lacks out 'AUTHKEY OK'

# One that floods is answered with a refusal, no more than ten are taken.
(
    hello
    for i in {1..12}; do
        frame 5 "{\"key\":\"$(cut -d' ' -f2 "$HOME/.ssh/third.pub")\"}"
    done
) | ssh_dtail "$TEST_USER" "$listed" > out
assert_eq 'keys taken' 10 "$(grep -ao 'AUTHKEY OK' out | wc -l)"
assert_contains out 'AUTHKEY ERR more than 10 keys in one session'

# Withdrawing the listed key withdraws what came through it.
cp "$keys" keys.saved
grep -v "$(cut -d' ' -f2 "$listed.pub")" keys.saved > "$keys" || true
refused local
cp keys.saved "$keys"
only local

# What it is for: a key behind the agent lets in once, the local one from then
# on, here one with a passphrase, in its usual place; and anew after a restart.
if command -v ssh-agent > /dev/null; then
    eval "$(ssh-agent -s -a "$T/agent")" > /dev/null
    cleanup_fn kill_quietly "$SSH_AGENT_PID"
    ssh-add -q "$listed"
    mv "$listed" "$listed.pub" "$T"
    ssh-keygen -q -t rsa -b 2048 -N 'open sesame' -f "$HOME/.ssh/id_rsa"
    usual()
    {
        DTAIL_KEY_PASSPHRASE='open sesame' run_client dcat --plain \
            --servers "127.0.0.1:$PORT" --user "$TEST_USER" --trustAllHosts \
            "$T/f" > out 2> err < /dev/null
    }
    for start in first second; do
        usual || fail "with the agent: $(cat err)"
        SSH_AUTH_SOCK='' usual || fail "$start start: $(cat err)"
        assert_eq "$start start, without the agent" text "$(cat out)"
        stop_server
        start_server
        allow_key "$T/id_ed25519.pub"
        SSH_AUTH_SOCK='' assert_status 1 usual
    done
    mv "$T/id_ed25519" "$T/id_ed25519.pub" "$HOME/.ssh"
    rm "$HOME/.ssh/id_rsa" "$HOME/.ssh/id_rsa.pub"
    unset SSH_AUTH_SOCK
fi

# Gone at the restart; a server may have it turned off; time passes.
stop_server
ADD_SERVER='"AuthKeyEnabled": false'
start_server
refused local
cat_with "$HOME/.ssh/local"
assert_contains err 'AUTHKEY registration failed\|feature disabled'
refused local
stop_server
ADD_SERVER='"AuthKeyTTLSeconds": 1'
start_server
register local
gone()
{
    ! only local
}
wait_until gone
stop_server

# SPDX-License-Identifier: Apache-2.0
# Keys of all kinds: ed25519, ECDSA, RSA in both formats, encrypted with
# DTAIL_KEY_PASSPHRASE, the agent's; who is refused reads what was tried.
. ./functions.sh || exit 99
requires ssh-keygen
echo text > f
chmod 644 f
start_server
args=(--servers "127.0.0.1:$PORT" --user "$TEST_USER" --plain --trustAllHosts
    --no-auth-key)

dcat()
{
    run_client dcat "${args[@]}" "$@" "$T/f" > out 2> err < /dev/null
}

works() # WHAT ARGUMENTS...
{
    local what=$1
    shift
    dcat "$@" || fail "$what: $(cat err)"
    assert_eq "$what" text "$(cat out)"
}

works "the usual place"
mv "$HOME/.ssh/id_ed25519" first
rm "$HOME/.ssh/id_ed25519.pub"

assert_status 2 dcat
assert_contains err 'Unable to find private SSH key information'

make_key ecdsa -t ecdsa -b 384
make_key rsa -t rsa -b 2048
make_key pem -t rsa -b 2048 -m PEM
ssh-keygen -q -t ed25519 -N 'open sesame' -f "$HOME/.ssh/locked"
for key in ecdsa rsa pem locked; do
    assert_status 2 dcat --auth-key-path "$HOME/.ssh/none"
    allow_key "$HOME/.ssh/$key.pub"
done
for key in ecdsa rsa pem; do
    works "$key" --auth-key-path "$HOME/.ssh/$key"
    works "$key by -key" -key "$HOME/.ssh/$key"
    DTAIL_AUTH_KEY_PATH=$HOME/.ssh/$key works "$key by environment"
done
DTAIL_KEY_PASSPHRASE='open sesame' \
    works "encrypted" --auth-key-path "$HOME/.ssh/locked"
assert_status 2 dcat --auth-key-path "$HOME/.ssh/locked"
assert_contains err 'locked.*DTAIL_KEY_PASSPHRASE'

# Refused: the keys are named. A good one behind it is still tried.
make_key stranger
assert_status 1 dcat --auth-key-path "$HOME/.ssh/stranger"
assert_contains err 'authentication failed for user.*tried: .*stranger'
mv "$HOME/.ssh/ecdsa" "$HOME/.ssh/id_ecdsa"
works "a second key" --auth-key-path "$HOME/.ssh/stranger"
rm "$HOME/.ssh/id_ecdsa"

if command -v ssh-agent >/dev/null; then
    eval "$(ssh-agent -s -a "$T/agent")" > /dev/null
    cleanup_fn kill_quietly "$SSH_AGENT_PID"
    ssh-add -q "$HOME/.ssh/stranger" "$HOME/.ssh/rsa"
    works "agent"
    works "the agent's second key" --agentKeyIndex 1
    assert_status 1 dcat --agentKeyIndex 0
    assert_contains err 'tried: key 0 of the agent'
    assert_status 1 dcat --agentKeyIndex 9
    ssh-add -q -D
    assert_status 1 dcat
    assert_contains err 'tried: keys of the agent'
fi
assert_status 1 run_client dcat "${args[@]}" --user root \
    --auth-key-path "$HOME/.ssh/rsa" "$T/f" 2> err
stop_server

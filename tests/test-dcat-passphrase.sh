# SPDX-License-Identifier: Apache-2.0
# An encrypted key: its passphrase is asked for on the terminal without echo,
# once for all servers, again when it was wrong, and not when the agent has the
# key; without a terminal that is an error at once; an interrupt ends it.
. ./functions.sh || exit 99
requires script ssh-keygen setsid
echo text > f
chmod 644 f
start_server
one=$PORT
rm "$HOME/.ssh/id_ed25519" "$HOME/.ssh/id_ed25519.pub"
ssh-keygen -q -t ed25519 -N 'open sesame' -f "$HOME/.ssh/locked"
allow_key "$HOME/.ssh/locked.pub"
dcat=$(program_path dcat)
args="--cfg none --user $TEST_USER --plain --trustAllHosts --no-auth-key --servers 127.0.0.1:$one,127.1:$one"

# ask FLAGS ANSWERS...: dcat on a terminal of its own, what stands there is in
# `tty`. Each answer waits for its question.
ask()
{
    local n=0 answer flags=$1
    shift
    rm -f tty out err answers
    mkfifo answers
    timeout --foreground "$LIMIT" script -qefc \
        "'$dcat' $args $flags '$T/f' > '$T/out' 2> '$T/err'" tty \
        < answers > /dev/null &
    pid=$!
    exec 5> answers
    for answer; do
        n=$((n + 1))
        wait_until asked $n
        echo "$answer" >&5
    done
    status=0
    wait $pid || status=$?
    exec 5>&-
}

asked()
{
    [ -f tty ] && [ "$(grep -ao "for key '" tty | wc -l)" -ge "$1" ]
}

locked="--auth-key-path $HOME/.ssh/locked"
ask "$locked" 'open sesame'
assert_eq "status" 0 $status
assert_eq "data" $'text\ntext' "$(cat out)"
assert_contains tty "Enter passphrase for key '$HOME/.ssh/locked': "
assert_lacks tty 'open sesame'
assert_eq "questions for two servers" 1 "$(grep -ao "for key '" tty | wc -l)"

ask "$locked" wrong 'open sesame'
assert_eq "status after a wrong one" 0 $status
ask "$locked" 1 2 3
assert_eq "status after three wrong ones" 2 $status
assert_contains err "locked is encrypted, and that was not its passphrase"
assert_eq "data" '' "$(cat out)"
ask "$locked" $'\003'
assert_eq "status when interrupted" 130 $status

# Without a terminal nothing waits.
no_terminal()
{
    # shellcheck disable=SC2086 # words
    timeout "$LIMIT" setsid -w "$dcat" $args "$@" "$T/f" > out 2> err < /dev/null
}
# shellcheck disable=SC2086 # words
assert_status 2 no_terminal $locked
assert_contains err 'locked is encrypted, and there is no terminal.*ssh-add'
DTAIL_KEY_PASSPHRASE=wrong assert_status 2 no_terminal $locked
assert_contains err 'locked cannot be opened with DTAIL_KEY_PASSPHRASE'
# shellcheck disable=SC2086 # words
DTAIL_KEY_PASSPHRASE='open sesame' no_terminal $locked
assert_eq "by environment" $'text\ntext' "$(cat out)"

# A file that cannot be used is no reason to take another one.
ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/id_ed25519"
allow_key "$HOME/.ssh/id_ed25519.pub"
for key in "$T/none" "$T/f"; do
    assert_status 2 no_terminal --auth-key-path "$key"
    assert_contains err "auth-key-path: $key (does not exist|is no private key)"
done
no_terminal # the usual file is still there for those who name none

# The only key, in its usual place.
cp "$HOME/.ssh/locked" "$HOME/.ssh/id_ed25519"
rm "$HOME/.ssh/id_ed25519.pub"
ask "" 'open sesame'
assert_eq "the only key" 0 $status
assert_status 2 no_terminal
assert_contains err 'id_ed25519 is encrypted, and there is no terminal'

if command -v ssh-agent > /dev/null; then
    eval "$(ssh-agent -s -a "$T/agent")" > /dev/null
    cleanup_fn kill_quietly "$SSH_AGENT_PID"
    printf '#!/bin/sh\necho "open sesame"\n' > askpass
    chmod 700 askpass
    SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force \
        ssh-add -q "$HOME/.ssh/locked" 2> /dev/null
    # shellcheck disable=SC2086 # words
    no_terminal $locked
    assert_eq "the agent has it" $'text\ntext' "$(cat out)"
    # Of many keys the agent offers only the one that ssh_config names.
    for n in 1 2 3 4 5 6 7; do
        ssh-keygen -q -t ed25519 -N '' -f "$T/key$n"
    done
    ssh-add -q -D
    ssh-add -q "$T"/key[1-7]
    SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force \
        ssh-add -q "$HOME/.ssh/locked" 2> /dev/null
    assert_status 1 no_terminal
    printf 'IdentityFile ~/.ssh/locked\nIdentitiesOnly yes\n' \
        > "$HOME/.ssh/config"
    no_terminal
    assert_eq "IdentitiesOnly" $'text\ntext' "$(cat out)"
fi
stop_server

# SPDX-License-Identifier: Apache-2.0
# The question about unknown hosts: on the terminal, one for all, and not in the
# data; y stores, n refuses, d shows, anything else asks again.
. ./functions.sh || exit 99
requires script
echo text > f
chmod 644 f
start_server
known=$HOME/.ssh/known_hosts
dcat=$(program_path dcat)

# ask ANSWERS: dcat on a terminal of its own; what stands there is in `tty`,
# the data in `out`. Each answer waits for its question.
ask()
{
    local n=0 answer
    rm -f tty out err answers
    mkfifo answers
    timeout --foreground "$LIMIT" script -qefc "'$dcat' --cfg none --servers 127.0.0.1:$PORT,127.1:$PORT \
        --user '$TEST_USER' --plain '$T/f' > '$T/out' 2> '$T/err'" tty \
        < answers > /dev/null &
    pid=$!
    exec 5> answers
    for answer in $1; do
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
    [ -f tty ] && [ "$(grep -ao 'd=details): ' tty | wc -l)" -ge "$1" ]
}

ask "no"
assert_eq "status" 1 $status
assert_contains err 'was not accepted'
[ ! -e "$known" ] || fail "stored in spite of no"
assert_contains tty 'Encountered 2 unknown hosts: .*127\.0\.0\.1:'

ask "what d y"
assert_eq "status" 0 $status
assert_eq "data" $'text\ntext' "$(cat out)"
assert_contains tty 'SHA256:'
assert_eq "stored lines" 2 "$(wc -l < "$known")"

ask ""
assert_eq "status" 0 $status
assert_eq "data" $'text\ntext' "$(cat out)"
stop_server

# SPDX-License-Identifier: Apache-2.0
# Progress on a terminal: of work longer than a second, one line on standard
# error that is gone at the end; data on the same terminal are whole lines; no
# terminal, --quiet: none.
. ./functions.sh || exit 99
requires script mkfifo head
export TERM=xterm
genlog log 400000 > piece
cat piece piece > big
rm piece
chmod 644 big
size=$(stat -c %s big)
[ "$size" -gt 40000000 ] || fail "the file fits into the buffers: $size bytes"
mkfifo slow
chmod 644 slow

# pty TTY-FILE COMMAND: on a terminal of its own, in the background.
pty()
{
    rm -f "$1"
    timeout --foreground "$LIMIT" script -qefc "$2" "$1" < /dev/null \
        > /dev/null &
    pid=$!
}

words()
{
    printf '%q ' "$(program_path "$1")" --cfg none --logLevel warn \
        "${WAY_ARGS[@]}" "${@:2}"
}

# What a terminal would show at the end: the line erases itself.
final() # TTY-FILE
{
    sed '1{/^Script started/d};${/^Script done/d}' "$1" | tr -d '\r' |
        sed 's/.*\x1b\[J//'
}

saw()
{
    grep -saqE -e "$1" tty
}

# A slow reader of the data: it takes a piece a token, so that the file lasts as
# long as the test looks, and the rest at last.
reader='while read -r token <&3 && [ "$token" != all ]; do head -c 100000; done > out; cat >> out'

feed_until_seen() # FILE REGEX
{
    echo piece >&6
    grep -saqE -e "$2" "$1"
}

slowly()
{
    rm -f gate out
    mkfifo gate
    exec 6<> gate
    pty tty "$(words dcat --plain "$T/big") | { $reader; } 3< gate"
    wait_until feed_until_seen tty \
        '[0-9] MB of [0-9.]+ MB \([0-9]+ %\), [0-9.]+ [kM]?B/s'
    case $WAY in
    ssh-*) saw ', 0 of 1 server done' || fail "no servers: $(cat -v tty)" ;;
    *) ! saw 'servers' || fail "servers: $(cat -v tty)" ;;
    esac
    echo all >&6
    wait $pid || fail "status $?"
    exec 6>&-
    assert_same big out
    assert_eq "what is left on the terminal" "" "$(final tty)"
}
run_both_ways slowly

# Data and the line on one terminal, from a source without size.
WAY_ARGS=()
pty tty "$(words dgrep --grep yes --plain "$T/slow")"
exec 7> slow
printf 'yes 1\nno\n' >&7
wait_until saw '[0-9] B, [0-9.]+ B/s'
printf 'yes 2\nyes' >&7
wait_until saw 'yes 2'
printf ' 3\n' >&7
exec 7>&-
wait $pid || fail "status $?"
assert_eq "what is left on the terminal" $'yes 1\nyes 2\nyes 3' "$(final tty)"

# Nobody to show it to, or nobody who wants it: what one client shows by now,
# the other, which began before it, does not.
silent() # TERM FLAGS...
{
    local term=$1 first
    shift
    rm -f gate
    mkfifo gate
    exec 6<> gate
    TERM=$term pty tty "$(words dcat --plain "$@" "$T/slow")"
    first=$pid
    pty other "$(words dcat --plain "$T/slow2")"
    exec 7> slow 8> slow2
    wait_until grep -saqE "[0-9] B/s" other
    exec 7>&- 8>&-
    wait $pid && wait $first || fail "status $?"
    ! saw 'B/s' || fail "shown with TERM=$term $*: $(cat -v tty)"
}
mkfifo slow2
silent xterm --quiet
silent dumb

# SPDX-License-Identifier: Apache-2.0
# A file that shrinks, grows, vanishes or may no longer be read while searched:
# what there was to be read is searched, a missing rest is told once, and
# --strict makes it a status.
. ./functions.sh || exit 99
requires_plugin grep

# More than pipe, window and buffers hold: the reading stands still while
# nobody takes the output.
genlog log 700000 > whole
# one whose last slice begins inside a long line
{ cat whole; printf 'user '; head -c 600000 /dev/zero | tr '\0' x; echo; } > long
genlog log 60000 > more
rest=30000007 # bytes that are left, in the middle of a line
head -c $rest whole > cut
mkfifo pipe

# begin FILE ARGUMENTS...: dgrep over a fresh copy, when its first byte has come.
begin()
{
    cp "$1" log
    shift
    chmod 644 log
    (run_client dgrep --plain --regex user "$@" "$T/log" || exit) \
        > pipe 2> err &
    client=$!
    exec 8< pipe
    IFS= read -r -N 1 -u 8 first_byte
}

# finish WANT STATUS
finish()
{
    local status=0
    { printf %s "$first_byte"; cat <&8; } > out
    exec 8<&-
    wait $client || status=$?
    assert_eq "the status, $WAY" "$2" $status
    assert_same "$1" out
}

check()
{
    grep user cut > want.cut || fail "no lines to look for"
    grep user whole > want
    begin whole
    truncate -s $rest log
    finish want.cut 0
    assert_contains err 'log shrank while it was read'
    assert_eq "notes about the file, $WAY" 1 "$(grep -c shrank err)"
    begin whole --strict
    truncate -s $rest log
    finish want.cut 1
    begin long
    cat more >> log
    cat long more | grep user > want.more
    finish want.more 0
    begin whole
    rm log
    finish want 0
    begin whole --strict
    chmod 0 log
    finish want 0
    assert_lacks err 'log'
    begin whole
    # another file under the name does not matter
    echo 'user of another file' > other
    mv other log
    finish want 0
}
run_both_ways check

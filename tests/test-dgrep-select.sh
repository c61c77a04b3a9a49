# SPDX-License-Identifier: Apache-2.0
# dgrep: the same lines as grep and awk find, in every way and variant.
. ./functions.sh || exit 99
requires_plugin grep

genlog log 20000 > log
printf 'a X\r\nb\r\nX\r\n' > crlf
printf 'one\nlast X' > no-newline
: > empty
chmod 644 log crlf no-newline empty

# same WANT DGREP-ARGUMENTS...: plain output equals the file WANT.
same()
{
    local want=$1
    shift
    run_client dgrep --plain "$@" > out 2> err
    assert_same "$want" out
}

check()
{
    grep -E '(ERROR|WARN).*user[0-9]+9 ' log > want
    [ -s want ] || fail "the log has no such lines"
    same want --regex '(ERROR|WARN).*user[0-9]+9 ' "$T/log"
    same want --grep '(ERROR|WARN).*user[0-9]+9 ' --regex nothing "$T/log"
    grep -v ERROR log > want
    same want --regex ERROR --invert "$T/log"
    grep -i error log | grep user1 | grep -v user12 > want
    same want --regex error --ignore-case --and user1 --not user12 "$T/log"
    printf 'a+b\naab\n[x]\n' > meta
    chmod 644 meta
    printf 'a+b\n' > want
    same want --fixed --regex 'a+b' "$T/meta"
    : > want
    same want --regex 'no such text anywhere' "$T/log"
    same log --regex . "$T/log"
    same want --regex '.*' --invert "$T/log"
    same want --regex x "$T/empty"
    printf 'last X\n' > want
    same want --regex X "$T/no-newline"
    # one CR before LF is no content, and stays in the output
    printf 'a X\r\nX\r\n' > want
    same want --regex 'X$' "$T/crlf"
    # heads with the numbers of the file
    grep -n ERROR log | sed 's/^\([0-9]*\):/REMOTE|HOST|100|\1|log|/' > want
    run_client dgrep --regex ERROR "$T/log" > out 2> err
    sed 's/^REMOTE|[^|]*|/REMOTE|HOST|/' out > out.heads
    assert_same want out.heads
    run_client dgrep --count --plain --regex ERROR "$T/log" > out 2> err
    assert_eq 'the count' "$(grep -c ERROR log)" \
        "$(sed 's/.*:\([0-9]*\)$/\1/' out)"
}
run_both_ways check

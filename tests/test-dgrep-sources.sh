# SPDX-License-Identifier: Apache-2.0
# dgrep reads what lies behind gzip, zstd, byte order marks and pipes; damage
# is told with the file, after what could be read.
. ./functions.sh || exit 99
requires_plugin grep
requires gzip zstd iconv

genlog log 4000 > log
grep ERROR log > want
head -n 2000 log | gzip > two.gz
tail -n +2001 log | gzip >> two.gz
head -n 2000 log | zstd -q > two.zst
printf '\120\052\115\030\004\0\0\0skip' >> two.zst # a skippable frame
tail -n +2001 log | zstd -q >> two.zst
cp two.gz named-wrongly.log
gzip < log | head -c 3000 > cut.gz
{ gzip < log; echo garbage; } > tail.gz
gzip < /dev/null > nothing.gz
printf '\357\273\277first\nsecond\n' > bom
printf 'nul \0 ERROR\n' > nul
{ printf '\377\376'; printf 'a ERROR b\nno\n' | iconv -f UTF-8 -t UTF-16LE; } > utf16
chmod 644 ./*.gz two.zst named-wrongly.log bom nul utf16

same()
{
    local want=$1
    shift
    run_client dgrep --plain "$@" > out 2> err
    assert_same "$want" out
}

check()
{
    local file status
    for file in two.gz two.zst named-wrongly.log; do
        same want --regex ERROR "$T/$file"
    done
    # every whole line, then the error; --strict makes it a status
    run_client dgrep --plain --regex . "$T/cut.gz" > out 2> err
    assert_contains err 'cut\.gz'
    [ -s out ] || fail "nothing of the truncated file came"
    head -n "$(wc -l < out)" log > want.cut
    head -n "$(($(wc -l < out) - 1))" out > out.whole
    head -n "$(wc -l < out.whole)" log > want.cut
    assert_same want.cut out.whole
    status=0
    run_client dgrep --strict --plain --regex . "$T/cut.gz" > out 2> err ||
        status=$?
    [ $status -ne 0 ] || fail "--strict with a truncated file: status 0"
    run_client dgrep --plain --regex ERROR "$T/tail.gz" > out 2> err
    assert_same want out
    assert_contains err 'tail\.gz'
    run_client dgrep --plain --regex . "$T/nothing.gz" > out 2> err
    [ ! -s out ] || fail "an empty gzip file has lines"
    assert_lacks err 'nothing\.gz'
    printf 'first\n' > want.bom
    same want.bom --regex '^first$' "$T/bom"
    same nul --regex ERROR "$T/nul"
    printf 'a ERROR b\n' > want.utf16
    same want.utf16 --regex 'a ERROR b$' "$T/utf16"
}
run_both_ways check

# Serverless: standard input, and a fifo that the user names.
WAY=
run_client dgrep --plain --regex ERROR < log > out
assert_same want out
mkfifo fifo
cat log > fifo &
run_client dgrep --plain --regex ERROR fifo > out
assert_same want out

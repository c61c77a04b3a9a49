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
gzip < log > whole.gz
head -c 3000 whole.gz > cut.gz
{ gzip < log; echo garbage; } > tail.gz
gzip < /dev/null > nothing.gz
: > zero.gz # as log rotation makes them
{ cat two.gz; head -c 2048 /dev/zero; } > padded.gz # as tapes and disks do
{ cat two.zst; head -c 2048 /dev/zero; } > padded.zst
zstd -q < log > whole.zst
head -c 30000 whole.zst > cut.zst
{ zstd -q < log; echo garbage; } > tail.zst
cp log plain.gz
printf '\357\273\277first\nsecond\n' > bom
printf 'nul \0 ERROR\n' > nul
{ printf '\377\376'; printf 'a ERROR b\nno\n' | iconv -f UTF-8 -t UTF-16LE; } > utf16
chmod 644 ./*.gz ./*.zst named-wrongly.log bom nul utf16

same()
{
    local want=$1
    shift
    run_client dgrep --plain "$@" > out 2> err
    assert_same "$want" out
}

check()
{
    local file
    for file in two.gz two.zst named-wrongly.log padded.gz padded.zst \
        plain.gz; do
        same want --regex ERROR "$T/$file"
        assert_lacks err "$file"
    done
    for file in cut.gz cut.zst; do
        # every whole line, then the error, and the status
        assert_status 1 run_client dgrep --plain --regex . "$T/$file" \
            > out 2> err
        assert_contains err "$file.*byte [0-9]+"
        [ -s out ] || fail "nothing of $file came"
        head -n "$(wc -l < out)" log > want.cut
        assert_same want.cut out
    done
    for file in tail.gz tail.zst; do
        assert_status 1 run_client dgrep --plain --regex ERROR "$T/$file" \
            > out 2> err
        assert_same want out
        assert_contains err "$file.*byte [0-9]+"
    done
    for file in nothing.gz zero.gz; do
        run_client dgrep --plain --regex . "$T/$file" > out 2> err
        [ ! -s out ] || fail "$file has lines"
        assert_lacks err "$file"
    done
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

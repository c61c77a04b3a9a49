# SPDX-License-Identifier: Apache-2.0
# A disk that cannot be read in the middle of a file: the lines before come,
# one error names file and byte, the status tells; other files are not touched.
. ./functions.sh || exit 99
. "$top_srcdir/tests/fault-functions.sh"
requires_plugin cat grep tail mapr

genlog log 40000 > log # several slices
genlog log 100 > other
at=2000003 # inside a line
chmod 644 log other
[ "$(wc -c < log)" -gt $((at + 500000)) ] || fail 'the log is too short'
head -c $at log > before
sed '$d' before > whole # without the line that is cut

# broken STATUS COMMAND...: what is the same for all: the one error.
broken()
{
    local want=$1 status=0
    shift
    run_client "$@" > out 2> err || status=$?
    assert_eq "status of $1" "$want" $status
    assert_eq "errors of $1: $(cat err)" 1 \
        "$(grep -c "$T/log: reading at byte $at failed.*Input/output error" err)"
    assert_eq "what $1 says of the file" 1 "$(grep -c "$T/log" err)"
}

# begins_with FILE: the output does, and has nothing of what is behind $at.
begins_with()
{
    head -c "$(wc -c < "$1")" out > begin
    assert_same "$1" begin
    [ "$(wc -c < out)" -le $((at + 1)) ] || fail 'bytes from behind the error'
}

check()
{
    broken 1 dcat --plain --files "$T/log"
    begins_with whole
    # a second file comes whole, in front of it or behind it
    broken 1 dcat --plain --files "$T/other,$T/log,$T/other"
    head -n 100 out > first
    tail -n 100 out > last
    assert_same other first
    assert_same other last
    broken 1 dgrep --plain --regex ERROR --files "$T/log"
    grep ERROR whole > want
    begins_with want
    broken 1 dmap --plain --files "$T/log" --query \
        'select count($line) from - group by $hostname'
    assert_status 0 run_client dcat --plain --files "$T/other" > out 2> err
    assert_same other out
}

with_faults "FAULT_EIO=$T/log:$at"
run_both_ways check
some_hit
# A bad place of one page: what lies behind it may be read or not, but no line
# is put together from both sides of it.
with_faults "FAULT_EIO=$T/log:$at-$((at + 4096))"
one_place()
{
    broken 1 dcat --plain --files "$T/log"
    head -c "$(wc -c < whole)" out > begin
    assert_same whole begin
    awk 'NR == FNR { is[$0]; next } !($0 in is)' log out > strange
    assert_same /dev/null strange
}
run_both_ways one_place
some_hit
# The same in a compressed file: the byte is that of the file on the disk.
gzip -c log > packed.gz
chmod 644 packed.gz
with_faults "FAULT_EIO=$T/packed.gz:100000"
status=0
run_client dcat --plain --files "$T/packed.gz" > out 2> err || status=$?
assert_eq 'status of a compressed file' 1 $status
assert_contains err 'packed.gz: reading at byte 100000 failed'
[ -s out ] || fail 'no line of the compressed file'
head -c "$(wc -c < out)" log | cmp - out

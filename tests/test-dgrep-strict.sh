# SPDX-License-Identifier: Apache-2.0
# dgrep's status and counts: found or not is 0, with --strict as grep has it;
# counts for each file, exact, without lines on the way; what is no file is
# refused with one note.
. ./functions.sh || exit 99
requires_plugin grep

genlog log 30000 > a.log # above 1 MiB: slices
genlog log 500 7 > b.log
: > empty.log
gzip < a.log > c.gz
mkdir folder
mkfifo fifo
chmod 644 ./*.log c.gz fifo
chmod 755 folder

check()
{
    local status file
    assert_status 0 run_client dgrep --plain --regex 'no such text' \
        "$T/a.log" > out 2> err
    [ ! -s out ] || fail "something was found"
    assert_status 1 run_client dgrep --strict --plain --regex 'no such text' \
        "$T/a.log" > out 2> err
    assert_status 0 run_client dgrep --strict --plain --regex ERROR \
        "$T/a.log" > out 2> err
    assert_status 1 run_client dgrep --strict --count --regex 'no such text' \
        "$T/a.log" > out 2> err
    # found, but not everything could be looked at
    status=0
    run_client dgrep --strict --plain --regex ERROR "$T/a.log" \
        "$T/missing.log" > out 2> err || status=$?
    [ $status -ne 0 ] || fail "--strict took a missing file for success"
    assert_contains err 'missing\.log'

    run_client dgrep --count --plain --regex ERROR "$T/a.log" "$T/b.log" \
        "$T/c.gz" "$T/empty.log" > out 2> err
    for file in a.log b.log empty.log; do
        echo "$file:$(grep -c ERROR $file || true)"
    done > want
    echo "c.gz:$(grep -c ERROR a.log)" >> want
    sed 's/^[^:]*://' out | sort > got
    sort want > want.sorted
    assert_same want.sorted got
    assert_eq 'hosts' 1 "$(cut -d : -f 1 out | sort -u | wc -l)"

    # the last one is nobody's, in either way
    for file in "$T/folder" /dev/null /dev/zero /proc/self/mem; do
        assert_status 0 run_client dgrep --plain --regex x "$file" \
            > out 2> err
        [ ! -s out ] || fail "$file has lines"
        assert_eq "notes about $file" 1 "$(grep -c "$file" err)"
    done
    # a glob leaves folders out without a word
    run_client dgrep --plain --regex x "$T/fold*" "$T/empty.log" > out 2> err
    assert_lacks err 'folder'
    if [ -n "$SERVER_PID" ]; then # serverless, who names a fifo means it
        run_client dgrep --plain --regex x "$T/fifo" > out 2> err
        assert_eq 'notes about the fifo' 1 "$(grep -c fifo err)"
    fi
}
run_both_ways check

# SPDX-License-Identifier: Apache-2.0
# journal:UNIT for dcat, dgrep and dmap: what journalctl shows, by rules for
# the whole target, an error for an unknown unit; every way.
. ./functions.sh || exit 99
. "$top_srcdir/tests/journal-functions.sh"
requires_program dserver
requires_plugin cat grep mapr

open_journal "$T/journal/a.journal"
long=$(printf '%070000d' 7)
add_entries 0 app.service 'line 0' 'line 1' 'euro € sign' "$long" \
    'first
second

fourth' 'line 6 bad'
add_entries 10 other.service 'not for you'
add_entries 20 app.service 'line 20 bad'
close_journal
journalctl -q -D journal -u app.service > expected
[ "$(wc -l < expected)" -eq 10 ] || fail 'the journal is not as it should be'

ADD_SERVER=$JOURNAL_SERVER
client() # NAME ARGUMENTS...
{
    local name=$1
    shift
    run_client "$name" --cfg "$T/client.json" "$@"
}
check()
{
    client dcat --plain journal:app.service > out
    assert_same expected out
    client dcat --plain journal:app > out
    assert_same expected out
    client dcat journal:app > out
    assert_contains out '\|10\|journal:app\|.*line 20 bad$'
    client dgrep --plain --regex 'bad$' journal:app > out
    grep 'bad$' expected > want
    assert_same want out
    client dmap --output csv --query \
        'select count($line) from . logformat generic group by $hostname' \
        journal:app > out
    assert_contains out '^10$'
    # Of a file and a journal both.
    echo 'line of a file' > file
    chmod 644 file
    client dcat --plain "$T/file" journal:app > out
    cat file expected > want
    assert_same want out
    # What is not allowed and what is not there.
    assert_status 1 client dcat --strict --plain journal:app journal:none \
        > out 2> err
    assert_same expected out
    assert_contains err 'Unable to read journal\|journal:none\|.*no entries of that unit'
    client dcat --plain journal:other.service > out 2> err
    [ ! -s out ] || fail 'a unit that no rule allows was read'
    assert_contains err 'Unable to read journal\|journal:other.service\|permission denied'
    client dcat --plain journal:-x 'journal:' > out 2> err
    assert_contains err 'journal:-x: a unit is expected'
    assert_contains err 'journal:: a unit is expected'
}
run_both_ways check

# A rule against the whole name holds for the short one.
echo '{"Server": {"JournalDir": "'"$T"'/journal", "Permissions": {"Default":
    ["readfiles:^journal:", "readfiles:!^journal:app\\.service$"]}}}' > client.json
run_client dcat --cfg "$T/client.json" --plain journal:app > out 2> err
[ ! -s out ] || fail 'the short name got round a rule'

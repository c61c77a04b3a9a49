# SPDX-License-Identifier: Apache-2.0
# Following journal:UNIT, alone and beside a file: entries as they come, last
# lines, from the start, queries; after a broken connection no entry is lost or
# doubled.
. ./functions.sh || exit 99
. "$top_srcdir/tests/journal-functions.sh"
. "$top_srcdir/tests/dtail-functions.sh"
requires_program dserver dtail
requires_plugin tail mapr

ADD_SERVER=$JOURNAL_SERVER
number=0
add() # MESSAGE...
{
    add_entries $number app.service "$@"
    number=$((number + $#))
}
has() # TEXT [FILE]
{
    grep -aq "$1" "${2:-client.out}"
}
follow() # ARGUMENTS...
{
    : > client.out # the background opens it later
    start_client dtail --cfg "$T/client.json" --plain "$@"
}
leave()
{
    kill -TERM "$CLIENT_PID"
    wait_client || fail "dtail: status $?"
}
# Entries are added until one comes: when following began cannot be seen.
feeds()
{
    add 'beginning'
    has 'beginning'
}

check()
{
    rm -f journal/* file
    open_journal "$T/journal/a.journal"
    add 'old 1' 'old 2
with three
lines' 'old 4'
    : > file
    chmod 644 file

    follow journal:app "$T/file"
    wait_until feeds
    add 'new 1' 'new 2
below'
    echo 'line of the file' >> file
    wait_until has 'below$'
    wait_until has '^line of the file'
    assert_lacks client.out 'old'
    leave

    follow --lines 3 journal:app.service
    wait_until has 'new 2'
    wait_until has 'below$'
    leave
    assert_eq 'the last three lines' 3 "$(wc -l < client.out)"

    follow --since-start journal:app
    wait_until has 'below$'
    leave
    journalctl -q -D journal -u app > expected
    assert_same expected client.out

    # Not there yet; another unit does not wake it.
    follow journal:none
    add_entries 900 other.service 'not for you'
    there()
    {
        add_entries 901 none.service 'there now'
        has 'there now'
    }
    wait_until there
    leave
    assert_lacks client.out 'not for you'

    : > client.out
    start_client dtail --cfg "$T/client.json" --output csv --query \
        'select count($line) from . group by $hostname interval 1 logformat generic' \
        journal:app
    counted()
    {
        add 'counted'
        has '^[1-9]'
    }
    wait_until counted
    leave
    close_journal
}
run_both_ways check

# The session is killed again and again while entries come.
rm -f journal/*
open_journal "$T/journal/a.journal"
number=0
add 'begin'
start_server
WAY_ARGS=("${SSH_ARGS[@]}")
follow --since-start journal:app
wait_until has 'begin'
for round in 1 2 3; do
    for i in $(seq 8); do
        add "round $round entry $i
its second line"
        if [ "$i" -eq 4 ]; then
            session=$(pgrep -P "$SERVER_PID" -x 'dserver session' || true)
            [ -z "$session" ] || kill -KILL $session
        fi
    done
    wait_until has "round $round entry 8"
done
add 'the end'
wait_until has 'the end'
journalctl -q -D journal -u app > expected
leave
assert_same expected client.out
stop_server
close_journal

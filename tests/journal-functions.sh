# SPDX-License-Identifier: Apache-2.0
# Sourced after functions.sh by the tests of journals: journal files made with
# systemd-journal-remote.

requires python3 journalctl
remote=/lib/systemd/systemd-journal-remote
[ -x "$remote" ] || remote=/usr/lib/systemd/systemd-journal-remote
[ -x "$remote" ] || skip 'needs systemd-journal-remote'
grep -q '^#define HAVE_SYSTEMD 1' "$top_builddir/autoconf.h" ||
    skip 'needs a build with libsystemd'

mkdir -p "$T/journal"
chmod 755 "$T/journal"
cat > "$T/entry.py" <<'END'
# entry.py NUMBER UNIT MESSAGE...: entries in the export format
import sys
number, unit, messages = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
for i, text in enumerate(messages):
    text = text.encode()
    fields = [b'__REALTIME_TIMESTAMP=%d' % ((1700000000 + number + i) * 1000000),
              b'__MONOTONIC_TIMESTAMP=%d' % ((number + i) * 1000000 + 1),
              b'_BOOT_ID=0123456789abcdef0123456789abcdef',
              b'_HOSTNAME=web1', b'SYSLOG_IDENTIFIER=app', b'_PID=42',
              b'_SYSTEMD_UNIT=' + unit.encode(),
              b'MESSAGE\n' + len(text).to_bytes(8, 'little') + text]
    sys.stdout.buffer.write(b'\n'.join(fields) + b'\n\n')
END

# open_journal FILE: entries written to descriptor 9 go into it as they come.
open_journal()
{
    rm -f "$T/entries"
    mkfifo "$T/entries"
    "$remote" -o "$1" "$T/entries" > "$T/remote.out" 2>&1 &
    REMOTE_PID=$!
    cleanup_fn kill_quietly "$REMOTE_PID"
    exec 9> "$T/entries"
    wait_until [ -s "$1" ]
    chmod 644 "$1"
}

# add_entries NUMBER UNIT MESSAGE...
add_entries()
{
    python3 "$T/entry.py" "$@" >&9
}

# close_journal: nothing more comes.
close_journal()
{
    exec 9>&-
    wait_until is_gone "$REMOTE_PID"
}

JOURNAL_SERVER='"JournalDir": "'$T'/journal", "Permissions": {"Default":
    ["readfiles:^journal:(app|none)(\\.service)?$", "readfiles:^/.*"]}'
printf '{"Server": {%s}}\n' "$JOURNAL_SERVER" > "$T/client.json"

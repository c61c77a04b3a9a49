# SPDX-License-Identifier: Apache-2.0
# A disk that is really full (test-server-logging.sh has /dev/full): a message on
# standard error, the service goes on, and with room again lines are written,
# first of all how many are missing.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_root
requires mount umount
requires_program dserver dcat
requires_plugin cat

mkdir disk
mount -t tmpfs -o size=64k none disk 2>/dev/null || skip 'needs to mount a tmpfs'
cleanup_fn umount "$T/disk"
mkdir disk/log
chown "$TEST_USER:" disk/log
echo text > f
chmod 644 f
ADD_COMMON='"LogRotation": "signal"'
start_server --logger file --logDir "$T/disk/log"
log=disk/log/dserver.log
read_once()
{
    run_client dcat "${SSH_ARGS[@]}" --plain "$T/f" > out
    assert_eq 'what was read' text "$(cat out)"
}
lines()
{
    grep -c 'disconnected' "$log" || true
}
has_lines() # NUMBER
{
    [ "$(lines)" -ge "$1" ]
}
read_once
wait_until has_lines 1

head -c 70000 /dev/zero > disk/fill 2>/dev/null || true
# The rest of the log's last page may still take some.
fills()
{
    read_once
    grep -q 'the log cannot be written: No space left' server.log
}
wait_until fills
for i in 1 2 3; do
    read_once
done

rm disk/fill
before=$(lines)
read_once
wait_until has_lines $((before + 1))
assert_contains "$log" '^WARN\|.*\|[1-9][0-9]* lines of the log are missing here\|No space left'
stop_server

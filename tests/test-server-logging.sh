# SPDX-License-Identifier: Apache-2.0
# The server's log: where it goes, its levels, rotation, SIGHUP, the prefixes
# for systemd's journal, and a disk that is full.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dcat
requires_plugin cat

echo 'the line' > file
chmod 644 file
stage_server
logs=$T/server/logs/deep # is made

serves()
{
    set_way ssh-turbo
    run_client dcat --plain --files "$T/file" > out 2> err
    assert_same file out
}
file_has() # REGEX [FILE]
{
    grep -qE -e "$1" "${2:-$logs/dserver.log}"
}

# ---- a file a day ----

ADD_COMMON='"LogDir": "'$logs'", "Logger": "none"'
KEEP_CONFIG=no
start_server --logger file
day=$(date +%Y%m%d)
file_has '^INFO\|[0-9]{4}-[0-9]{6}\|listening\|' "$logs"/*.log
[ -f "$logs/$day.log" ] || [ -f "$logs/$(date +%Y%m%d).log" ] ||
    fail "files: $(ls "$logs")"
assert_eq 'mode of the folder' 755 "$(stat -c %a "$logs")"
serves
stop_server
[ ! -s server.log ] || fail "--logger file wrote elsewhere: $(cat server.log)"
file_has '^INFO\|[0-9]{4}-[0-9]{6}\|stopped$' "$logs/$(date +%Y%m%d).log"

# ---- none at all, as the settings say ----

rm -r "$logs"
start_server --logger ''
serves
stop_server
[ ! -s server.log ] || fail "--logger none wrote: $(cat server.log)"
[ ! -e "$logs" ] || fail 'logger none made a folder'

# ---- one file, and SIGHUP ----

ADD_COMMON='"LogDir": "'$logs'", "LogRotation": "signal"'
start_server --logger fout --logLevel info
file_has '\|listening\|'
mv "$logs/dserver.log" "$logs/old.log"
serves # goes on in the old one
wait_until file_has '\|disconnected\|' "$logs/old.log"
[ ! -e "$logs/dserver.log" ] || fail 'a new file without SIGHUP'
kill -HUP "$SERVER_PID"
wait_until eval '[ -s "$logs/dserver.log" ] && file_has "\|reloaded\|"'
assert_lacks "$logs/old.log" 'reloaded'
stop_server
cat "$logs/old.log" "$logs/dserver.log" > both
assert_same both server.log # fout: the same lines in both places

# ---- levels ----

rm "$logs"/*.log
start_server --logger file --logLevel ERROR
serves
stop_server
[ ! -s "$logs/dserver.log" ] || fail "lines: $(cat "$logs/dserver.log")"
start_server --logger file --logLevel trace
serves
wait_until file_has '^DEBUG\|.*\|key accepted\|'
stop_server
refused() # REGEX ARGUMENTS...
{
    local want=$1
    shift
    assert_status 2 "$SERVER" --cfg "$T/dtail.json" --port 0 "$@" > out 2> err
    assert_contains err "$want"
}
refused 'log level "loud" is unknown; allowed are none, fatal,' --logLevel loud
refused 'logger "syslog" is unknown; allowed are none, stdout,' --logger syslog
refused "log folder $T/file/x: Not a directory" --logger file --logDir "$T/file/x"

# ---- systemd's journal ----

: > server.log
chmod 666 server.log
JOURNAL_STREAM=$(stat -c %d:%i server.log)
export JOURNAL_STREAM
start_server # --logger stderr
serves
run_client dcat --plain --files "$T/missing" > out 2> err || true
wait_until log_has '^<4>WARN\|.*missing'
stop_server
log_has '^<6>INFO\|[0-9]{4}-[0-9]{6}\|listening\|' || fail 'no prefix'
assert_lacks server.log '^[^<]'
unset JOURNAL_STREAM

# ---- a full disk ----

if [ -c /dev/full ]; then
    rm "$logs"/*.log
    ln -s /dev/full "$logs/dserver.log"
    : > server.log
    start_server --logger file
    serves
    serves
    wait_until log_has '^the log cannot be written: No space left on device$'
    rm "$logs/dserver.log"
    kill -HUP "$SERVER_PID"
    wait_until file_has '\|reloaded\|'
    file_has '^WARN\|.*\|[1-9][0-9]* lines of the log are missing here\|No space left on device$' ||
        fail 'it is not told how many lines are missing'
    serves
    stop_server
    assert_eq 'complaints' 1 "$(grep -c 'cannot be written' server.log)"
fi

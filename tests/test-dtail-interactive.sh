# SPDX-License-Identifier: Apache-2.0
# --interactive-query: other patterns, files and queries in one session, without
# another log-in; what the former query still had is not shown; a bad query
# leaves the former one alone and says why.
. ./functions.sh || exit 99
requires script
requires_plugin mapr

# begin PROGRAM ARGUMENTS...: on a terminal of its own; what stands there is in
# `tty`, data in `out`.
begin()
{
    local words
    words=$(printf '%q ' "$(program_path "$1")" --cfg none --logLevel warn \
        --interactive-query "${WAY_ARGS[@]}" "${@:2}")
    exec 5>&- || true
    rm -f tty out err answers
    mkfifo answers
    timeout --foreground "$LIMIT" script -qefc \
        "$words > '$T/out' 2> '$T/err'" tty < answers > /dev/null &
    pid=$!
    exec 5> answers
    wait_until says 'Interactive query control enabled'
    nr=0
}

says()
{
    grep -saqE -e "$1" tty
}

# tell COMMAND ANSWER: waits for one more answer of that kind.
tell()
{
    local before
    before=$(grep -acE -e "$2" tty || true)
    echo "$1" >&5
    wait_until answered "$2" "$before"
}

answered()
{
    [ "$(grep -acE -e "$1" tty)" -gt "$2" ]
}

quit()
{
    local status=0
    echo :quit >&5
    wait_until says 'quitting interactive session'
    wait $pid || status=$?
    exec 5>&-
    assert_eq "status" 0 $status
}

nr_logins()
{
    grep -c '|logged in|' server.log || true
}

following()
{
    local logins=0
    [ -z "$SERVER_PID" ] || logins=$(nr_logins)
    echo 'ERROR early' > f
    echo 'other' > g
    chmod 644 f g
    begin dtail --plain --grep ERROR --since-start "$T/f"
    wait_until grep -q 'ERROR early' out
    tell ':show' 'mode=tail files=.*/f query="" regex="ERROR" options="" timeout=0 capable=1/1'
    tell ':reload --grep WARN --max 3' 'reload applied successfully'
    echo 'ERROR late' >> f
    echo 'WARN live' >> f
    wait_until grep -q 'WARN live' out
    tell ':show' 'regex="WARN" options="max=3"'
    # what is wrong changes nothing
    tell ':reload --grep x(' 'interactive query error: .*offset'
    tell ':reload --nosuch 1' 'flag provided but not defined: -nosuch'
    tell ':reload --plain' 'flag provided but not defined: -plain'
    tell ':reload' 'reload requires flags to change'
    tell ":reload --grep 'x" 'unterminated quoted string'
    tell ':reload --grep x\' 'unterminated escape sequence'
    tell ':reload --max 1 word' 'unexpected arguments: word'
    tell ':nonsense' 'unknown command ":nonsense"'
    tell ':help' 'Commands: :reload'
    echo 'WARN still' >> f
    wait_until grep -q 'WARN still' out
    tell ":reload --regex 'a b|c' --files $T/g" 'reload applied successfully'
    echo 'a b' >> g
    wait_until grep -q 'a b' out
    quit
    ! grep -q 'late' out || fail "late output of the former query: $(cat out)"
    [ -z "$SERVER_PID" ] || case $WAY in
    ssh-*) assert_eq "log-ins" $((logins + 1)) "$(nr_logins)" ;;
    esac
}

# Readers stay open behind their work.
reading()
{
    printf 'ERROR 1\nWARN 2\nERROR 3\n' > f
    chmod 644 f
    begin dgrep --plain --grep ERROR "$T/f"
    wait_until grep -q 'ERROR 3' out
    tell ':reload --grep WARN' 'reload applied successfully'
    wait_until grep -q 'WARN 2' out
    tell ':reload --invert' 'reload applied successfully'
    wait_until answered_lines 'ERROR' 4
    quit
    assert_eq "lines" $'ERROR 1\nERROR 3\nWARN 2\nERROR 1\nERROR 3' "$(cat out)"
}

answered_lines()
{
    [ "$(grep -c "$1" out)" -ge "$2" ]
}

aggregating()
{
    printf 'one\ntwo\n' > f
    printf 'one\ntwo\nthree\n' > g
    chmod 644 f g
    begin dmap --output csv --query \
        'from . select count($line) group by $hostname logformat generic' "$T/f"
    wait_until grep -qx 2 out
    tell ":reload --query 'select nonsense('" 'interactive query error'
    assert_eq "rows of the former" 1 "$(grep -cx 2 out)"
    tell ":reload --files $T/g" 'reload applied successfully'
    wait_until grep -qx 3 out
    quit
    assert_eq "each result once" 1 "$(grep -cx 2 out)"
    assert_eq "each result once" 1 "$(grep -cx 3 out)"
}

check()
{
    following
    reading
    aggregating
}
run_both_ways check

# No terminal, no session; a result file stands for whole runs.
WAY_ARGS=()
assert_status 1 run_client dgrep --interactive-query --control-tty "$T/none" \
    --grep x "$T/f" 2> err
assert_contains err 'control terminal'
assert_status 2 run_client dmap --interactive-query \
    --query "from . select count(\$line) outfile $T/o logformat generic" "$T/f"

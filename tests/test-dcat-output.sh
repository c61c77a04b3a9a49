# SPDX-License-Identifier: Apache-2.0
# Standard output: a reader that leaves ends the client quietly, a full disk is
# said once with status 1, a reader that stopped keeps nobody from ending.
. ./functions.sh || exit 99
genlog log 300000 > log # more than all buffers on the way hold
chmod 644 log

check()
{
    local status
    run_client dcat --plain "$T/log" 2> err | head -n 1 > out
    head -n 1 log > want
    assert_same want out
    assert_eq "stderr" '' "$(sed '/Added hosts to known hosts/d' err)"

    status=0
    run_client dcat --plain "$T/log" > /dev/full 2> err || status=$?
    assert_eq "full: status" 1 $status
    assert_eq "full: lines" 1 "$(grep -c 'No space left' err)"

    status=0
    run_client dcat --plain "$T/log" >&- 2> err || status=$?
    assert_eq "closed: status" 1 $status
    assert_contains err "standard output: Bad file descriptor"

    # A reader that stopped.
    rm -f stuck
    mkfifo stuck
    exec 4<> stuck
    for signal in TERM HUP INT; do
        "${wrapper[@]}" "$(program_path dcat)" --cfg none "${WAY_ARGS[@]}" \
            --plain "$T/log" > stuck 2> err &
        CLIENT_PID=$!
        cleanup_fn kill_quietly $CLIENT_PID
        read -r -u 4 line || fail "nothing to read"
        [ -n "$line" ] || fail "an empty line"
        # bash starts background programs with SIGINT ignored: not ours.
        kill -$signal $CLIENT_PID
        if [ $signal = INT ]; then
            wait_until grep -qE '^ Connection stats: connected=[0-9]+\|servers=1\|connected%=[0-9]+\|new=-?[0-9]+\|throttle=[0-9]+\|goroutines=[1-9][0-9]*\|cgocalls=0\|cpu=[1-9]' err
            kill -INT $CLIENT_PID
        fi
        status=0
        wait_client || status=$?
        assert_eq "$signal: status" 130 $status
        assert_lacks err 'ERROR'
        # What is left in the pipe belongs to nobody.
        exec 4>&-
        rm -f stuck
        mkfifo stuck
        exec 4<> stuck
    done
    exec 4>&-
}
run_both_ways check

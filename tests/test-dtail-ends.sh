# SPDX-License-Identifier: Apache-2.0
# How dtail ends: signals, deadlines, closed output, a client that is killed;
# each time it is gone, and nothing is left at the server. How soon is for
# bench/run to say (follow-end).
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"
requires python3

now_ms()
{
    local now=${EPOCHREALTIME/./}
    echo $((now / 1000))
}

# The second SIGINT ends a client that remembers the first; one that no longer
# does shows its statistics again.
ended_or_told_twice()
{
    is_gone "$CLIENT_PID" ||
        [ "$(cat client.out client.err | grep -ac 'Connection stats')" -ge 2 ]
}

signals()
{
    local name
    for name in TERM HUP QUIT; do
        followed "$T/log"
        kill -$name "$CLIENT_PID"
        wait_client || fail "status $? after SIG$name"
        nothing_at_server
    done
    # once: statistics, twice: the end
    followed "$T/log"
    kill -INT "$CLIENT_PID"
    wait_until grep -aq 'Connection stats' client.out client.err
    echo more >> log
    wait_until has_line more
    kill -INT "$CLIENT_PID"
    wait_until ended_or_told_twice
    kill -INT "$CLIENT_PID" 2> /dev/null || true
    assert_status 130 wait_client
    nothing_at_server
}

deadlines()
{
    local flag
    echo begin > log
    for flag in --timeout --shutdownAfter; do
        began=$(now_ms)
        assert_status 0 run_client dtail --plain $flag 1 --lines 1 "$T/log" \
            > client.out 2> client.err
        assert_eq "output with $flag" begin "$(cat client.out)"
        [ $(($(now_ms) - began)) -ge 1000 ] || fail "$flag 1 ended early"
        nothing_at_server
    done
}

# No line comes after the one that ends the reader.
closed_output()
{
    echo begin > log
    (trap - PIPE; run_client dtail --plain --lines 1 "$T/log" \
        2> client.err || true) | head -n 1 > out
    nothing_at_server
    (trap - PIPE; run_client dtail --plain --lines 1 "$T/log" \
        2> client.err || true) | grep -q begin
    nothing_at_server
    [ ! -s client.err ] || assert_lacks client.err '[Pp]ipe|ERROR'
}

# The window is closed: the other side of its terminal is gone.
closed_terminal()
{
    echo begin > log
    python3 - "${wrapper[@]}" "$(program_path dtail)" --cfg none \
        "${WAY_ARGS[@]}" --plain --lines 1 "$T/log" > out << 'END' ||
import os, pty, sys
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while b"begin" not in seen:
    seen += os.read(master, 1000)
os.close(master)
status = os.waitpid(pid, 0)[1]
code = os.waitstatus_to_exitcode(status)
print("ended with", code)
sys.exit(0 if code in (0, -1) else 1) # an end, or the signal of it
END
        fail "the client $(cat out)"
    nothing_at_server
}

killed()
{
    case $WAY in serverless-*) return ;; esac
    followed "$T/log"
    kill -KILL "$CLIENT_PID"
    wait "$CLIENT_PID" 2> /dev/null || true
    nothing_at_server
}

check()
{
    signals
    deadlines
    closed_output
    closed_terminal
    killed
}
run_both_ways check

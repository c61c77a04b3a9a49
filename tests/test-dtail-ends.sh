# SPDX-License-Identifier: Apache-2.0
# How dtail ends: signals, deadlines, closed output, a client that is killed;
# each time it is gone within a second, and nothing is left at the server.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"
requires python3

now_ms()
{
    local now=${EPOCHREALTIME/./}
    echo $((now / 1000))
}

# within MS WHAT: since $began. A busy machine may add as much again.
within()
{
    local took=$(($(now_ms) - began))
    [ -n "${DTAIL_TEST_WRAPPER:-}" ] || [ $took -lt $(($1 + 1000)) ] ||
        fail "$2: took $took ms"
}

signals()
{
    local name
    for name in TERM HUP QUIT; do
        followed "$T/log"
        began=$(now_ms)
        kill -$name "$CLIENT_PID"
        wait_client || fail "status $? after SIG$name"
        within 1000 "the end after SIG$name"
        nothing_at_server
    done
    # once: statistics, twice: the end
    followed "$T/log"
    kill -INT "$CLIENT_PID"
    wait_until grep -aq 'Connection stats' client.out client.err
    echo more >> log
    wait_until has_line more
    began=$(now_ms)
    kill -INT "$CLIENT_PID"
    read -r -t 0.1 <> .never || true
    kill -INT "$CLIENT_PID" 2> /dev/null || true
    assert_status 130 wait_client
    within 1000 'the end after SIGINT'
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
        within 2000 "$flag 1"
        nothing_at_server
    done
}

# No line comes after the one that ends the reader.
closed_output()
{
    echo begin > log
    began=$(now_ms)
    (trap - PIPE; run_client dtail --plain --lines 1 "$T/log" \
        2> client.err || true) | head -n 1 > out
    within 1000 'dtail | head'
    nothing_at_server
    (trap - PIPE; run_client dtail --plain --lines 1 "$T/log" \
        2> client.err || true) | grep -q begin
    within 2000 'dtail | grep -q'
    nothing_at_server
    [ ! -s client.err ] || assert_lacks client.err '[Pp]ipe|ERROR'
}

# The window is closed: the other side of its terminal is gone.
closed_terminal()
{
    echo begin > log
    began=$(now_ms)
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
    within 1000 'the end of a client without its terminal'
    nothing_at_server
}

killed()
{
    case $WAY in serverless-*) return ;; esac
    followed "$T/log"
    began=$(now_ms)
    kill -KILL "$CLIENT_PID"
    wait "$CLIENT_PID" 2> /dev/null || true
    nothing_at_server
    within 1000 'the end of the worker'
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

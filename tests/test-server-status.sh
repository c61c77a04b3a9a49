# SPDX-License-Identifier: Apache-2.0
# dserver --status: what the running server does, as text and as JSON, over a
# socket that only root and its own user may ask; and why there is no answer.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires python3
requires_program dserver dtail dcat
requires_plugin cat tail

genlog log 1000 > app.log
chmod 644 app.log
ADD_SERVER='"MaxConcurrentTails": 1, "MaxConnections": 7'
start_server
socket=$T/server/cache/dserver.sock

status() # ARGUMENTS...
{
    (cd "$T/server" &&
        timeout -k 10 "$LIMIT" "$SERVER" --cfg "$T/dtail.json" --status "$@")
}
# member PYTHON-EXPRESSION: of the document d.
member()
{
    status --json | python3 -c "import json, sys
d = json.load(sys.stdin)
q = [(s, q) for s in d['sessions'] for q in s['queries']]
print($1)"
}
says() # VALUE EXPRESSION
{
    [ "$(member "$2")" = "$1" ]
}

# ---- an idle server ----

assert_eq 'mode of the socket' '600 socket' "$(stat -c '%a %F' "$socket")"
status > out
assert_contains out "^dserver [0-9.]+[^ ]* on .*, pid $SERVER_PID, up [0-9hms]+ since 20"
assert_contains out "^listening:   127\\.0\\.0\\.1 port $PORT; workers have the rights of the server"
assert_contains out '^connections: 0 of 7 users, 0 health checks, 0 not logged in; 0 log-ins'
assert_contains out '^slots:       cats 0 of 2, 0 wait; tails 0 of 1, 0 wait$'
assert_contains out '^  cat [0-9.]+[^ ]* turbo \('
grep '^sandbox:' out | sed 's/^sandbox: *//' > shown
grep -a '|sandbox|' server.log | sed 's/.*|sandbox|//' > logged
assert_same logged shown
assert_eq 'kinds' "[] [] $SERVER_PID" \
    "$(member "d['sessions'], d['jobs'], d['pid']" | tr -d '(),')"

# ---- one who follows, and one who waits for his slot ----

set_way ssh-normal
start_client dtail --plain --lines 3 --files "$T/app.log"
first=$CLIENT_PID
wait_until eval '[ "$(wc -l < client.out)" -eq 3 ]'
WAY_ARGS=("${SSH_ARGS[@]}")
start_client dtail --plain --lines 3 --files "$T/app.log"
wait_until says 1 "d['slots']['tails']['waiting']"
wait_until says "[3, 0]" "sorted([q[1]['lines_sent'] for q in q], reverse=True)"
assert_eq 'queries' "[('normal', 'tail', True, '$T/app.log'), ('turbo', 'tail', True, '$T/app.log')]" \
    "$(member "sorted((q['mode'], q['plugin'], q['follow'], q['files']) for s, q in q)")"
assert_eq 'bytes' "$(tail -n 3 app.log | wc -c)" \
    "$(member "[q['bytes_read'] for s, q in q if q['mode'] == 'normal'][0]")"
assert_eq 'users' "['$TEST_USER', '$TEST_USER']" \
    "$(member "[s['user'] for s in d['sessions']]")"
assert_eq 'counts' '2 1 2' \
    "$(member "d['connections']['users'], d['slots']['tails']['used'], d['totals']['queries_running']" | tr -d '(),')"
status > out
assert_contains out '^sessions: 2$'
assert_contains out "^  $TEST_USER@127\\.0\\.0\\.1:[0-9]+, [0-9.]+ s$"
assert_contains out "^    1 tail, normal, follows, [0-9.]+ s, [0-9]+ bytes read, [0-9]+ sent in 3 lines: $T/app\\.log$"
kill -TERM "$first" "$CLIENT_PID"
wait_client "$first" || true
wait_client || true
wait_until says 0 "d['connections']['users'] + d['totals']['queries_running'] + d['slots']['tails']['used']"
wait_until says 2 "d['totals']['queries_ended']"

# ---- who may not ask, and who asks badly ----

python3 - "$socket" <<'END'
import socket, sys
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(sys.argv[1])
    return s
silent = [connect() for i in range(10)] # more than are served at once
for s in silent:
    assert s.recv(1) == b'', 'silent askers are cut off'
for data in b'x', b'status?\n', b'\0' * 4096, b'statu':
    s = connect()
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    try:
        assert s.recv(1) == b'', data
    except ConnectionResetError:
        pass
s = connect() # a slow reader: its answer waits for it, and nobody else does
s.sendall(b'status\nmore')
t = connect()
t.sendall(b'status\n')
assert t.makefile().read().startswith('{')
assert s.makefile().read().startswith('{')
END
says 0 "d['connections']['users']"
if [ "$(id -u)" -eq 0 ] && id daemon >/dev/null 2>&1; then
    as_daemon=(setpriv --reuid daemon --regid daemon --clear-groups)
    assert_status 1 "${as_daemon[@]}" env -C / "$SERVER" --cfg "$T/dtail.json" --status > out 2> err
    chmod 711 "$T/server/cache"
    chmod 666 "$socket" # as if the mode were not there
    python3 - "$socket" > out <<'END'
import os, pwd, socket, sys
os.setgroups([])
os.setgid(pwd.getpwnam('daemon').pw_gid)
os.setuid(pwd.getpwnam('daemon').pw_uid)
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b'status\n')
    print(s.recv(1))
except (BrokenPipeError, ConnectionResetError):
    print(b'')
END
    assert_eq 'answer for another user' "b''" "$(cat out)"
    chmod 700 "$T/server/cache"
fi

# ---- two servers, one socket; one that was killed ----

first=$SERVER_PID
start_server
wait_until log_has '^WARN\|.*\|no --status\|socket .*dserver.sock: another server uses it$'
second=$SERVER_PID
says "$first" "d['pid']"
stop_server "$second"
says "$first" "d['pid']"
kill_quietly "$first" || true
assert_status 1 status > out 2> err
assert_contains err "^dserver: no server answers at $T/server/cache/dserver\\.sock \\(Server\\.StatusSocket\\): Connection refused"
start_server
says "$SERVER_PID" "d['pid']"
stop_server
[ ! -e "$socket" ] || fail 'the socket was left behind'
assert_status 1 status > out 2> err
assert_contains err "no server answers at $T/server/cache/dserver\\.sock .*: No such file"

# ---- switched off ----

ADD_SERVER='"StatusSocket": ""'
start_server
assert_status 1 status > out 2> err
assert_contains err 'Server\.StatusSocket is empty'
[ ! -e "$socket" ] || fail 'there is a socket'
stop_server

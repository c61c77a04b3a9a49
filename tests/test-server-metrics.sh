# SPDX-License-Identifier: Apache-2.0
# The endpoint for Prometheus: off by default, on loopback or a Unix socket
# alone; what it says, and what it does with those who ask badly.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires curl python3 ss
requires_program dserver dcat
requires_plugin cat

# ---- a Unix socket ----

genlog log 1000 > app.log
chmod 644 app.log
ADD_SERVER='"MetricsSocket": "'$T'/server/metrics"'
start_server
unix=$T/server/metrics
assert_eq 'mode of the socket' 660 "$(stat -c %a "$unix")"
get()
{
    curl -s --max-time "$LIMIT" --unix-socket "$unix" "$@"
}
set_way ssh-turbo
run_client dcat --plain --files "$T/app.log" > out
has() # LINE
{
    get http://x/metrics > metrics && grep -qxF "$1" metrics
}
wait_until has 'dtail_queries_total{plugin="cat",result="ok"} 1'
for line in "dtail_read_bytes_total $(stat -c %s app.log)" \
    'dtail_sent_lines_total 1000' 'dtail_files_read_total 1' \
    'dtail_logins_total 1' 'dtail_queries_running{plugin="cat"} 0' \
    'dtail_slots{pool="cats",state="limit"} 2' \
    'dtail_slots{pool="tails",state="used"} 0' 'dtail_jobs_running 0' \
    'dtail_workers_crashed_total 0' '# TYPE dtail_slots gauge'; do
    has "$line" || fail "no line $line"
done
# Prometheus' grammar: each line is a comment or a sample, each sample has a
# TYPE before it, none comes twice, and the last line ends.
python3 - metrics <<'END'
import re, sys
text = open(sys.argv[1]).read()
assert text.endswith('\n')
types, seen = set(), set()
for line in text.splitlines():
    m = re.fullmatch(r'# (HELP|TYPE) (\w+) .+', line)
    if m:
        if m[1] == 'TYPE':
            assert m[2] not in types, line
            types.add(m[2])
        continue
    m = re.fullmatch(r'((\w+)(?:\{\w+="[^"\\]*"(?:,\w+="[^"\\]*")*\})?) \d+',
                     line)
    assert m and m[2] in types and m[1] not in seen, line
    seen.add(m[1])
END
get -D headers -o /dev/null 'http://x/metrics?a=b'
assert_contains headers '^HTTP/1\.0 200 OK'
assert_contains headers '^Content-Type: text/plain; version=0\.0\.4; charset=utf-8'
assert_eq 'another page' 404 "$(get -o /dev/null -w '%{http_code}' http://x/)"
assert_eq 'longer name' 404 "$(get -o /dev/null -w '%{http_code}' http://x/metricsx)"
assert_eq 'another method' 405 "$(get -o /dev/null -w '%{http_code}' -X DELETE http://x/metrics)"
assert_eq 'a body' 405 "$(get -o /dev/null -w '%{http_code}' -d body http://x/metrics)"
head -c 5000 /dev/zero | tr '\0' x > long
assert_eq 'long headers' 431 "$(get -o /dev/null -w '%{http_code}' -H "X: $(cat long)" http://x/metrics)"
# keeps its mode over SIGHUP, and is gone with the server
kill -HUP "$SERVER_PID"
wait_until log_has '\|reloaded\|'
has 'dtail_logins_total 1' || fail 'no answer after SIGHUP'
stop_server
[ ! -e "$unix" ] || fail 'the socket was left behind'

# ---- loopback, and bad askers ----

port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
ADD_SERVER='"MetricsPort": '$port''
start_server
assert_eq 'listens on' "127.0.0.1:$port" "$(ss -Hltn "sport = :$port" | awk '{ print $4 }')"
curl -sf --max-time "$LIMIT" "http://127.0.0.1:$port/metrics" > out
assert_contains out '^dtail_build_info\{version="'
python3 - "$port" <<'END'
import os, socket, sys
def connect():
    s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    s.settimeout(60)
    return s
def rest(s):
    data = b''
    try:
        while chunk := s.recv(65536):
            data += chunk
    except ConnectionResetError:
        pass
    return data
# silent, and a byte now and then, more of them than are served at once
slow = [connect() for i in range(12)]
for s in slow[::2]:
    s.sendall(b'G')
for s in slow:
    assert rest(s) == b''
for data in [b'\0' * 100, b'SSH-2.0-x\r\n\r\n', b'\r\n\r\n', b'\x16\x03\x01' + os.urandom(500),
             b'GET /metrics\r\n\r\n', b'GET  /metrics HTTP/1.1\r\n\r\n', b'A\n\n',
             b'POST /metrics HTTP/1.1\r\n\r\n', b'G' * 100000]:
    s = connect()
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    assert b'dtail_' not in rest(s), data
s = connect() # in pieces, with more behind it
s.sendall(b'GET /met')
s.sendall(b'rics HTTP/1.1\r\nHost: x\r\n')
s.sendall(b'\r\nGET /metrics HTTP/1.1\r\n\r\n')
assert rest(s).count(b'dtail_build_info{') == 1
END
set_way ssh-turbo
run_client dcat --plain --files "$T/app.log" > out
assert_same app.log out
curl -sf --max-time "$LIMIT" "http://127.0.0.1:$port/metrics" > out
stop_server

# A port that is taken is told at the start, as it was asked for.
python3 -c 'import socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
print("there", flush=True)
sys.stdin.read()' "$port" < "$T/.never" > there &
blocker=$!
cleanup_fn kill_quietly $blocker
exec 8<> "$T/.never"
wait_until test -s there
assert_status 2 "$SERVER" --cfg dtail.json --port 0 > out 2> err
assert_contains err "cannot listen on 127\\.0\\.0\\.1 port $port: Address already in use"

# ---- off ----

ADD_SERVER=
start_server
assert_status 7 curl -s --max-time "$LIMIT" --unix-socket "$unix" http://x/metrics
stop_server

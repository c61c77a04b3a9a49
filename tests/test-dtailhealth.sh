# SPDX-License-Identifier: Apache-2.0
# dtailhealth: one line and a status for a server that is fine, full, gone,
# half dead, or none at all; no key is used, wanted or left behind.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires python3
requires_program dserver dtailhealth
requires_plugin cat

# health STATUS OUTPUT ARGUMENTS...: nothing else on standard output, and
# nothing on standard error.
health()
{
    local status=$1 want=$2 got=0
    shift 2
    timeout -k 10 "$LIMIT" "${wrapper[@]}" "$(program_path dtailhealth)" "$@" \
        > out 2> err || got=$?
    assert_eq "dtailhealth $*: output" "$want" "$(cat out)"
    assert_eq "dtailhealth $*: status" "$status" "$got"
    [ ! -s err ] || fail "dtailhealth $*: said: $(cat err)"
}
fine()
{
    health 0 "OK: All fine at $1 :-)" --cfg none --server "$@"
}
critical()
{
    health 2 "CRITICAL: DTail server not operating properly at $1!" \
        --cfg none --server "$@"
}

# ---- a server that is fine ----

start_server
fine "127.0.0.1:$PORT"
fine "127.0.0.1:$PORT" --no-auth-key
fine "127.0.0.1:$PORT,localhost:$PORT"
wait_until log_has 'DTAIL-HEALTH@.*\|logged in\|password'
assert_lacks server.log 'key registered|died|ERROR'
# Whoever asks has a key by the name that Go's client registers: not here. No
# host becomes known.
ssh-keygen -q -t rsa -b 2048 -N '' -f "$HOME/.ssh/id_rsa" < /dev/null
fine "127.0.0.1:$PORT"
[ ! -e "$HOME/.ssh/known_hosts" ] || fail 'a host became known'
# Nor does the caller's set-up of ssh count, or a changed host key.
echo "[127.0.0.1]:$PORT $(cut -d ' ' -f 1,2 "$HOME/.ssh/id_rsa.pub")" \
    > "$HOME/.ssh/known_hosts"
echo 'ProxyCommand false' > "$HOME/.ssh/config"
fine "127.0.0.1:$PORT"
rm "$HOME/.ssh/known_hosts" "$HOME/.ssh/config"
# The port of the settings counts for a server without one.
echo '{"Common": {"SSHPort": '"$PORT"', "LogDir": "'"$T"'/hlog"}}' > port.json
health 0 'OK: All fine at 127.0.0.1 :-)' --cfg port.json --server 127.0.0.1

# ---- diagnostics are asked for ----

"$(program_path dtailhealth)" --cfg port.json --server 127.0.0.1:1 \
    --logger fout --logLevel error > out 2> err || true
assert_eq output 'CRITICAL: DTail server not operating properly at 127.0.0.1:1!' \
    "$(cat out)"
assert_contains err '^ERROR\|[0-9]{4}-[0-9]{6}\|127\.0\.0\.1:1\|.*refused'
assert_same err "$(echo hlog/*.log)"

# ---- usage ----

assert_status 0 "$(program_path dtailhealth)" --help > out 2> err
assert_contains err '^  -server string'
[ ! -s out ] || fail '--help printed to standard output'
assert_status 0 "$(program_path dtailhealth)" --version > out
assert_contains out '^DTail .* Protocol 4\.1 Have a lot of fun!'
unable() # REGEX ARGUMENTS...
{
    local want=$1
    shift
    assert_status 2 "$(program_path dtailhealth)" "$@" > out 2> err
    assert_contains err "^CRITICAL: unable to create dtailhealth client: $want"
    [ ! -s out ] || fail "$*: printed to standard output"
}
unable '.*port' --cfg none --server 127.0.0.1:99999
unable '.*missing\.json' --cfg missing.json --server x
unable 'words behind' --cfg none 127.0.0.1
unable '--timeout: 1 to 86400' --cfg none --server x --timeout 0
assert_status 2 "$(program_path dtailhealth)" --nonsense > out 2> err
assert_contains err 'nonsense'

# ---- no server: this machine ----

health 1 'WARNING: All seems fine but the check only run in serverless mode, please specify a remote server via --server hostname:port' \
    --cfg none
mkdir empty
echo '{"Server": {"PluginDir": "'"$T"'/empty"}}' > empty.json
health 2 'CRITICAL: DTail server not operating properly (using serverless connection)!' \
    --cfg empty.json

# ---- servers that are not fine ----

critical 127.0.0.1:1
critical "127.0.0.1:$PORT,127.0.0.1:1" # the worst one counts
critical does-not-exist.invalid:2222
stop_server
critical "127.0.0.1:$PORT"

# A server without plugins, and one that is not ours.
ADD_SERVER='"Plugins": {"cat": {"Enable": false}, "grep": {"Enable": false}, "map": {"Enable": false}, "tail": {"Enable": false}}'
start_server
critical "127.0.0.1:$PORT"
stop_server
ADD_SERVER=
python3 - > ports <<'END' &
import socket, threading
def serve(handle):
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    s.listen()
    print(s.getsockname()[1], flush=True)
    kept = []
    while True:
        kept.append(s.accept()[0])
        threading.Thread(target=handle, args=(kept[-1],), daemon=True).start()
def silent(c):
    c.recv(1000)
def banner(c): # lives, and gets no further
    c.sendall(b'SSH-2.0-dserver_5.0\r\n')
def garbage(c):
    c.sendall(b'HTTP/1.0 400 Bad Request\r\n\r\n')
    c.close()
for handle in silent, banner, garbage:
    threading.Thread(target=serve, args=(handle,)).start()
END
cleanup_fn kill_quietly $!
wait_until eval '[ "$(wc -l < ports)" -eq 3 ]'
while read -r port; do
    critical "127.0.0.1:$port" --timeout 1
done < ports

# The listener hangs: the kernel still accepts, and the rest does not come.
start_server
fine "127.0.0.1:$PORT"
kill -STOP "$SERVER_PID"
critical "127.0.0.1:$PORT" --timeout 1
kill -CONT "$SERVER_PID"
fine "127.0.0.1:$PORT"
stop_server

# ---- a server that is full ----

ADD_SERVER='"MaxConnections": 1'
start_server
mkfifo user
ssh_dtail "$TEST_USER" "$HOME/.ssh/id_ed25519" < user > user.out &
exec 8> user
wait_until grep -aq '"protocol":1' user.out
fine "127.0.0.1:$PORT" # full of users, and healthy
# Ten checks that do not end are too many for an eleventh.
mkfifo checks
exec 9<> checks # the only writer
for i in 1 2 3 4 5 6 7 8 9 10; do
    by_password DTAIL-HEALTH DTAIL-HEALTH < checks > "check$i.out" 8>&- 9>&- &
    wait_until grep -aq '"protocol":1' "check$i.out"
done
critical "127.0.0.1:$PORT"
wait_until log_has 'too many health checks at once \(10\)'
exec 9>&-
healthy()
{
    "$(program_path dtailhealth)" --cfg none --server "127.0.0.1:$PORT" \
        > out 2> err
}
wait_until healthy
exec 8>&-
stop_server

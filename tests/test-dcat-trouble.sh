# SPDX-License-Identifier: Apache-2.0
# Servers that are not as they should be get a line each that says what is
# wrong, within limits; only what a second try can mend is tried again; --wait
# goes on without who has not answered, and says who is missing.
. ./functions.sh || exit 99
requires python3
requires_program dmap
genlog log 100000 > log
chmod 644 log
start_server
good=127.0.0.1:$PORT
args=("${SSH_ARGS[@]:2}" --plain)
python3 "$top_srcdir/tests/bad-server.py" silent banner http \
    "drop:2:$PORT" "drop:1000:$PORT" "half:100000:$PORT" > ports &
cleanup_fn kill_quietly $!
has_ports()
{
    [ -f ports ] && [ "$(wc -l < ports)" -eq 6 ]
}
wait_until has_ports
{
    read -r silent
    read -r banner
    read -r http
    read -r drop_twice
    read -r drop_all
    read -r half
} < ports

dcat()
{
    run_client dcat "${args[@]}" "$@" "$T/log" 2> err
}

# Silence. A good server has to be ready by then, also on a busy machine.
ready=$((LIMIT / 12))
assert_status 3 dcat --handshake-timeout $ready \
    --servers "$good,127.0.0.1:$silent,127.0.0.1:$banner" > out
assert_same log out
for port in $silent $banner; do
    assert_contains err "ERROR\|127.0.0.1:$port\|no SSH handshake with 127.0.0.1:$port within $ready s"
done
assert_status 1 dcat --servers "127.0.0.1:$http" > out
assert_contains err "127.0.0.1:$http\|.* or is no SSH server"

# Dropped as by MaxStartups: tried again, but not for ever.
dcat --servers "127.0.0.1:$drop_twice" > out
assert_same log out
assert_lacks err 'WARN|ERROR'
assert_status 1 dcat --servers "127.0.0.1:$drop_all" > out
assert_contains err "127.0.0.1:$drop_all\|.*closed the connection before the log-in, 4 times .*MaxStartups.*--cpc"

# Broken off in the middle of the data: not tried again, and told.
assert_status 1 dcat --servers "127.0.0.1:$half" > out
assert_contains err "127.0.0.1:$half\|broken off: "
assert_eq "that part of the data" 0 "$(comm -13 <(sort log) <(sort out) |
    head -n -1 | wc -l)"

# Others.

assert_status 1 dcat --servers 127.0.0.1:1 > out
assert_contains err '127.0.0.1:1\|failed to dial TCP .*refused'
assert_eq "lines about one server" 1 "$(grep -c 127.0.0.1:1 err)"
assert_status 2 dcat --handshake-timeout 0 --servers "$good" > out
assert_contains err 'handshake-timeout'

# --wait: the rest has its result, and the missing one its name.
assert_status 3 dcat --wait $ready --servers "$good,127.0.0.1:$silent" > out
assert_same log out
assert_contains err "127.0.0.1:$silent\|no answer within $ready s \(--wait\)"
assert_contains err "of 1 of 2 servers; missing or incomplete: 127.0.0.1:$silent"
assert_status 3 run_client dmap "${SSH_ARGS[@]:2}" --wait $ready \
    --servers "$good,127.0.0.1:$banner" \
    --query 'select count(*)' "$T/log" > out 2> err
assert_contains out '100000'
assert_contains err "of 1 of 2 servers; missing or incomplete: 127.0.0.1:$banner"
assert_status 1 dcat --wait 1 --servers "127.0.0.1:$silent" > out
assert_contains err 'of 0 of 1 servers'
dcat --wait 60 --servers "$good" > out
assert_same log out

# Who follows is told and goes on trying.
start_client dtail "${args[@]}" --wait 1 --servers "127.0.0.1:$silent" \
    --handshake-timeout 3600 "$T/log"
still_tried()
{
    grep -q 'no answer within 1 s (--wait), still trying' client.err
}
wait_until still_tried
kill -TERM "$CLIENT_PID"
wait_client || fail "dtail ended with status $?"
stop_server

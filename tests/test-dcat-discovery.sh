# SPDX-License-Identifier: Apache-2.0
# --discovery: by a program (lines, JSON), by DNS SRV records, by the names of
# the Go clients; filtered by --servers /PATTERN/; what fails is said, and what
# a program started does not outlive it.
if [ -z "${IN_NAMESPACE:-}" ]; then
    if ! unshare --net --mount ip link set lo up 2> /dev/null; then
        echo "skipped: needs root, unshare, ip and namespaces"
        exit 77
    fi
    export IN_NAMESPACE=yes
    exec unshare --net --mount bash "$0" "$@"
fi
ip link set lo up
. ./functions.sh || exit 99
requires python3 mount
genlog log 100 > log
chmod 644 log
start_server
args=("${SSH_ARGS[@]:2}")
cat > hosts << END
#!/bin/sh
echo "# our hosts"
echo 127.0.0.1:$PORT
echo "db[1-3]:1"
END
printf '#!/bin/sh\necho \x27{"hosts": ["127.0.0.1:%s", "db1:1"]}\x27\n' \
    "$PORT" > inventory
chmod 755 hosts inventory

dcat()
{
    run_client dcat --plain "${args[@]}" "$@" "$T/log" 2> err
}
dcat --discovery exec:./hosts --servers '/^127/' > out
assert_same log out
dcat --discovery EXEC:./inventory --servers '/^127/' > out
assert_same log out
assert_status 3 dcat --discovery "exec:./inventory" > out
assert_same log out
assert_contains err 'ERROR\|db1:1\|'
dcat --discovery comma --servers "127.0.0.1:$PORT" > out
assert_same log out
./hosts > all
head -n 2 all > list
dcat --discovery File --servers list > out
assert_same log out
dcat --discovery file:list --servers "/:$PORT\$/" > out
assert_same log out

assert_status 2 dcat --discovery 'exec:echo web1; exit 7' > out
assert_contains err 'echo web1; exit 7: exit status 7'
assert_status 2 dcat --discovery exec:./hosts --servers /nowhere/ > out
assert_contains err 'none of the 4 servers found.*matches /nowhere/'
assert_status 2 dcat --discovery exec:./hosts --servers web1 > out
assert_contains err 'may only be a filter'

has_ended() # PID: gone, or a zombie that nobody here has to wait for
{
    ! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status" 2> /dev/null
}

# SIGTERM while the program runs: it goes, and so does what it started.
start_client dcat --discovery \
    "exec:tail -f /dev/null & echo \$! > child; tail -f /dev/null" x
wait_until test -s child
kill -TERM "$CLIENT_PID"
assert_status 130 wait_client
assert_contains client.err 'was interrupted'
wait_until has_ended "$(cat child)"

# SRV records. Port 53 and resolv.conf are this namespace's own.
echo 'nameserver 127.0.0.1' > resolv.conf
mount --bind resolv.conf /etc/resolv.conf || skip "no resolv.conf to replace"
python3 "$top_srcdir/tests/dns-srv.py" 53 "127.0.0.1:$PORT" db.test:1 > ready &
cleanup_fn kill_quietly $!
wait_until test -s ready
dcat --discovery dns-srv:_dtail._tcp.test --servers '/^127/' > out
assert_same log out
assert_status 3 dcat --discovery dns-srv:_dtail._tcp.test > out
assert_contains err 'ERROR\|db.test:1\|'
assert_status 2 dcat --discovery dns-srv:_other._tcp.test > out
assert_contains err 'SRV records of _other._tcp.test: there is no such name'
stop_server

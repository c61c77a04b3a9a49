# SPDX-License-Identifier: Apache-2.0
# dtail --query: tables while lines come, and the result so far at Ctrl-C, at
# SIGTERM and at --timeout, also when one of two servers is missing, who is
# then named.
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"
requires_plugin mapr

query='from STATS select host,count($line) group by host interval 1'
genlog stats 50 > lines # of 50 hosts

# Lines come until a table shows them: when following began cannot be seen.
has_table()
{
    grep -aq 'count(\$line)' client.out && grep -aqE '^ *[a-z].*[0-9]' \
        client.out || {
        cat lines >> log
        return 1
    }
}

start() # ARGS...
{
    : > log
    chmod 644 log
    : > client.out
    start_client dtail --noColor --query "$query" "$@" "$T/log"
    wait_until has_table
}

nr_tables()
{
    grep -ac 'count(\$line)' client.out || true
}

interrupted() # SIGNAL
{
    local before status=0
    start --shutdownAfter "$LIMIT"
    before=$(nr_tables)
    kill -"$1" "$CLIENT_PID"
    if [ "$1" = INT ]; then
        wait_until grep -q 'Hit Ctrl+C again' client.err
        kill -INT "$CLIENT_PID"
    fi
    wait_client || status=$?
    [ "$1" != INT ] || assert_eq "INT: status" 130 $status
    [ "$(nr_tables)" -gt "$before" ] || fail "$1: no final result"
    nothing_at_server
}

check()
{
    interrupted INT
    interrupted TERM
    start --timeout 4
    wait_client || fail "--timeout: status $?"
    nothing_at_server
}
run_both_ways check

# ---- one of two servers is missing ----

start_server
WAY=ssh-turbo
WAY_ARGS=("${SSH_ARGS[@]:2}" --servers "127.0.0.1:$PORT,127.0.0.1:1")
start --timeout 4
wait_client || true
assert_contains client.err \
    'result is of 1 of 2 servers; missing or incomplete: 127\.0\.0\.1:1'
stop_server

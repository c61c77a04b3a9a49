# SPDX-License-Identifier: Apache-2.0
# dmap ends by itself, each time: small and large input, no file matching, one
# file missing, the client killed or the server stopped in the middle. And what
# it counts is what is there.
. ./functions.sh
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires_plugin mapr

genlog stats 1050 > small # 132 KB: more than one packet, less than a window
genlog stats $((${DTAIL_TEST_MB:-100} * 1000000 / 129)) > large
genlog stats 1 > one
chmod 644 small large one

count() # FILE...
{
    run_client dmap --output csv \
        --query 'from STATS select count($line) group by $hostname' "$@" \
        > out 2> err
}

assert_count() # EXPECTED FILE...
{
    local expected=$1
    shift
    count "$@" || fail "status $?: $(cat err)"
    assert_eq "count of $*" "$expected" "$(sed 1d out)"
}

check()
{
    local i
    for i in 1 2 3; do
        assert_count 1050 "$T/small"
    done
    assert_count "$(wc -l < large)" "$T/large"
    assert_count $((1050 + 1 + $(wc -l < large))) "$T/small" "$T/one" "$T/large"
    # All three by a glob, cut differently.
    assert_count $((1050 + 1)) "$T/[so][mn]*"

    count "$T/none-*" || fail "no file: status $?"
    assert_contains err 'none-'
    assert_eq "no file: rows" '' "$(sed 1d out)"
    assert_count 1050 "$T/small" "$T/missing"
    assert_contains err 'missing'
    local status=0
    count --strict "$T/small" "$T/missing" || status=$?
    [ "$status" -ne 0 ] || fail "--strict: a missing file is no failure"
}
run_both_ways check

# ---- broken off: the server side is left with nothing ----

start_server

# So much to read that nobody waits for the end.
mkdir endless
for ((i = 0; i < 900; i++)); do
    ln large "endless/$i"
done

start_slow()
{
    WAY_ARGS=("${SSH_ARGS[@]}")
    start_client dmap --query 'from STATS select count($line)' \
        --files "$T/endless/*,$T/endless/*"
    wait_until has_children worker 1
}

for i in 1 2 3; do
    start_slow
    kill -KILL "$CLIENT_PID"
    wait_client || true
    wait_until has_children worker 0
    wait_until has_children session 0
done

stop_server

# ---- the server is stopped in the middle ----

# A table that says that the middle is reached.
has_interim()
{
    grep -aqE '^ +[0-9]+ $' client.out
}

# What is left when the server cannot finish in time.
stopped() # TURBO
{
    local status=0
    ADD_SERVER='"ShutdownGraceMs": 300' start_server
    WAY_ARGS=("${SSH_ARGS[@]}" --turbo="$1")
    start_client dmap --noColor \
        --query 'from STATS select count($line) group by $hostname interval 1' \
        --files "$T/endless/*,$T/endless/*"
    wait_until has_interim
    stop_server
    wait_client || status=$?
    assert_eq "server stopped: status" 1 $status
    assert_contains client.err 'shutting down'
    assert_contains client.err \
        'result is of 0 of 1 servers; missing or incomplete: 127\.0\.0\.1:'
    has_interim || fail "server stopped: no final result"
}
for i in 1 2 3; do
    stopped yes
    stopped no
done

# What fits into its grace time ends well, and is whole.
ADD_SERVER='"ShutdownGraceMs": 60000' start_server
WAY_ARGS=("${SSH_ARGS[@]}" --turbo=no)
start_client dmap --noColor \
    --query 'from STATS select count($line) group by $hostname interval 1' \
    --files "$T/endless/[1-4]?"
wait_until has_interim
stop_server
wait_client || fail "stopped with time to finish: status $?"
assert_eq "stopped with time to finish" $((40 * $(wc -l < large))) \
    "$(grep -aE '^ +[0-9]+ $' client.out | tail -n 1 | tr -d ' ')"

# ---- two queries in one session, both ways ----

# request ID LAST: a query of the plugin map.
map_request()
{
    frame 2 "{\"id\":$1,\"plugin\":\"map\",\"files\":[\"$T/$3\"],\"args\":[{\"name\":\"query\",\"value\":\"from STATS select count(\$line)\"}],\"last\":$2}"
}

start_server
key=$HOME/.ssh/id_ed25519
for i in 1 2 3; do
    { hello; map_request 1 false small; map_request 2 true large; } |
        ssh_dtail "$TEST_USER" "$key" > frames ||
        fail "two queries: status $?"
    assert_eq "END frames" 2 "$(grep -ac '"status"' < <(tr '\0' '\n' < frames))"
    # One after the other in a session that stays open until BYE.
    { hello; map_request 1 false small; map_request 2 false small; frame 6 ''; } |
        ssh_dtail "$TEST_USER" "$key" > frames ||
        fail "two queries and BYE: status $?"
    assert_eq "END frames" 2 "$(grep -ac '"status"' < <(tr '\0' '\n' < frames))"
done
wait_until has_children session 0
stop_server

# SPDX-License-Identifier: Apache-2.0
# Interim results, and the result so far: at Ctrl-C, at SIGTERM and at
# --timeout, serverless and from a server.
. ./functions.sh
requires_program dserver
requires_plugin mapr
genlog stats 150000 > log
chmod 644 log
query='from STATS select count($line) group by $hostname interval 1'

# So much to read that nobody waits for the end.
for ((i = 0; i < 900; i++)); do
    ln log "more-$i"
done
endless=$T/more-*,$T/more-*,$T/more-*

# The counts in the tables so far.
counts()
{
    grep -aE '^ +[0-9]+ $' client.out | tr -d ' '
}

has_interim()
{
    [ -n "$(counts)" ]
}

interrupted() # SIGNAL
{
    local status=0 all
    start_client dmap --noColor --query "$query" --files "$endless"
    wait_until has_interim
    kill -"$1" "$CLIENT_PID"
    if [ "$1" = INT ]; then
        wait_until grep -q 'Hit Ctrl+C again' client.err
        kill -INT "$CLIENT_PID"
    fi
    wait_client || status=$?
    assert_eq "$1: status" 130 $status
    mapfile -t all < <(counts)
    [ ${#all[@]} -ge 2 ] || fail "$1: no final result: $(cat client.err)"
    [ "${all[-1]}" -gt "${all[-2]}" ] ||
        fail "$1: final result ${all[-1]} is not beyond ${all[-2]}"
    assert_lacks client.err 'ERROR'
}

check()
{
    local started=$SECONDS
    interrupted INT
    interrupted TERM

    run_client dmap --timeout 1 --output csv --query "$query" \
        --files "$endless" > out 2> err || fail "--timeout: status $?"
    [ "$(sed 1d out)" -gt 0 ] || fail "--timeout: nothing counted"
    [ $((SECONDS - started)) -lt "$LIMIT" ] || fail "took too long"
}
run_both_ways check

# SPDX-License-Identifier: Apache-2.0
# More groups than memory allows: what is beyond is in "(other)", and all rows
# together are exact; also over several instances and over two servers, each
# with a budget of its own and a client with less.
. ./functions.sh
requires awk
requires_program dserver drun
requires_plugin mapr

lines=120000
# Keys in an order that gives each instance and each file all of them.
awk -v n=$lines 'BEGIN {
    for (i = 0; i < n; i++)
        printf "key=key-of-a-group-%06d|v=%d.%d|w=1\n", i * 7919 % 60000,
            i % 1000, i % 10
}' > whole
awk -F'[=|]' '{ c++; s += int($4 * 10 + 0.5) }
    END { printf "%d %d\n", c, s }' whole > want
split -n l/3 whole part-
chmod 644 whole part-*
query='select key,count(w),sum(v),max(v) group by key logformat generickv'

# The one row "(other)" is the last; counts and sums of all are the file's.
is_exact()
{
    local rows
    rows=$(sed 1d out | wc -l)
    [ "$rows" -gt 1000 ] || fail "only $rows rows: $(cat err)"
    [ "$rows" -lt 60000 ] || fail "$rows rows: the budget was not used up"
    assert_eq "last row" '(other)' "$(tail -n 1 out | cut -d, -f1)"
    assert_eq "rows (other)" 1 "$(grep -c '^(other),' out)"
    sed 1d out | awk -F, '{ c += $2; s += int($3 * 10 + 0.5) }
        END { printf "%d %d\n", c, s }' > got
    assert_same want got
    assert_contains err 'more groups than memory allows: [0-9]+ rows are in'
    assert_eq "rows that the note tells" "$(tail -n 1 out | cut -d, -f2)" \
        "$(sed -n 's/.*allows: \([0-9]*\) rows.*/\1/p' err)"
}

run_query() # FILE...
{
    run_client drun map --arg "query=$query" --arg budget-mib=1 \
        --arg output=csv "$@" > out 2> err || fail "status $?: $(cat err)"
}

check()
{
    run_query "$T/whole"
    is_exact
    run_query "$T/part-aa" "$T/part-ab" "$T/part-ac"
    is_exact
}
run_both_ways check

# Two servers with less memory than the client, and the other way round.
ADD_SERVER='"Permissions": {"Default": ["readfiles:^/.*/part-a[ab]$"]},
    "Plugins": {"map": {"Threads": 4, "Config": {"MemoryBudgetMiB": 1}}}'
start_server
one=$SERVER_PID one_port=$PORT
ADD_SERVER='"Permissions": {"Default": ["readfiles:^/.*/part-ac$"]},
    "Plugins": {"map": {"Threads": 4, "Config": {"MemoryBudgetMiB": 2}}}'
start_server
two=$SERVER_PID two_port=$PORT
WAY_ARGS=("${SSH_ARGS[@]:2}" --servers
    "127.0.0.1:$one_port,127.0.0.1:$two_port")
run_client dmap --output csv --query "$query" "$T/part-aa" "$T/part-ab" \
    "$T/part-ac" > out 2> err || fail "two servers: status $?: $(cat err)"
is_exact
run_query "$T/part-aa" "$T/part-ab" "$T/part-ac"
is_exact
stop_server "$two"
stop_server "$one"

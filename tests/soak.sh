# SPDX-License-Identifier: Apache-2.0
# One server, many sessions for SOAK_SECONDS (default 60): whole reads, clients
# that are killed, that stop reading, that send nothing, logs that are
# refused. At the end the listener has no more descriptors, children and
# memory than after the first round, and every whole read was right.
#
# Not part of make check: make soak, scripts/check --long.
. ./functions.sh
requires_program dcat dserver
requires_plugin cat
seconds=${SOAK_SECONDS:-60}

genlog log 200000 > big.log
genlog log 100 > small.log
ADD_SERVER='"MaxConnections": 50, "MaxConcurrentCats": 4'
start_server
WAY_ARGS=("${SSH_ARGS[@]}")

# One of each kind; fails when a whole read is not right.
whole()
{
    run_client dcat --plain --files "$T/big.log" 2> "whole-$1.err" |
        cmp - big.log || fail "whole read: $(cat "whole-$1.err")"
}
killed()
{
    "$(program_path dcat)" --cfg none "${WAY_ARGS[@]}" --plain \
        --files "$T/big.log,$T/big.log,$T/big.log" 2>/dev/null |
        head -c 100000 > /dev/null || true
}
stopped()
{
    local pid
    mkfifo "fifo-$1"
    "$(program_path dcat)" --cfg none "${WAY_ARGS[@]}" --plain \
        --files "$T/big.log" > "fifo-$1" 2>/dev/null &
    pid=$!
    exec 5< "fifo-$1"
    head -c 1000 <&5 > /dev/null # it has begun; nobody reads on
    kill -STOP "$pid"
    kill -KILL "$pid"
    exec 5<&-
    wait "$pid" || true
    rm "fifo-$1"
}
silent()
{
    exec 6<> "/dev/tcp/127.0.0.1/$PORT"
    read -r -t "$LIMIT" _ <&6
    exec 6<&-
}

round()
{
    local pids=() pid
    for kind in whole whole killed stopped silent; do
        ("$kind" "$kind$1-${#pids[@]}") 2> "round-${#pids[@]}.err" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" 2>/dev/null ||
            fail "round $1: $(cat round-*.err)"
    done
    run_client dcat --plain --files "$T/small.log" | cmp - small.log
}

no_children()
{
    [ -z "$(cat "/proc/$SERVER_PID/task/$SERVER_PID/children")" ]
}
nr_fds()
{
    find "/proc/$SERVER_PID/fd" -mindepth 1 2>/dev/null | wc -l
}
resident_kib()
{
    awk '/^VmRSS/ { print $2 }' "/proc/$SERVER_PID/status"
}

for i in 1 2 3; do
    round "$i"
done
wait_until no_children
fds=$(nr_fds) kib=$(resident_kib)

end=$((SECONDS + seconds)) nr=3
while [ $SECONDS -lt $end ]; do
    nr=$((nr + 1))
    round "$nr"
done
wait_until no_children
echo "$nr rounds; descriptors $fds, then $(nr_fds);" \
    "resident $kib KiB, then $(resident_kib) KiB"
assert_eq "descriptors of the listener" "$fds" "$(nr_fds)"
[ "$(resident_kib)" -le $((kib + 1024)) ] ||
    fail "the listener grew from $kib to $(resident_kib) KiB"
stop_server

# SPDX-License-Identifier: Apache-2.0
# Sourced behind functions.sh by the tests of plugins that misbehave: a server
# with the plugins trouble and cat, a session that is in flight all the time and
# must not notice anything, and a look at the end for what is left behind.

requires_program dserver drun dcat
requires_plugin cat
[ -f "$top_builddir/tests/plugins/.libs/dt-trouble.so" ] ||
    fail "make check at the top builds tests/plugins"

# start_troubled_server: two read slots, of which one is taken by the session
# in flight, so that a slot that is not given back stops everything.
start_troubled_server()
{
    stage_server
    cp "$top_builddir/tests/plugins/.libs/dt-trouble.so" "$PLUGIN_DIR"
    chmod go-w "$PLUGIN_DIR/dt-trouble.so"
    export DTAIL_PLUGIN_DIR=$PLUGIN_DIR
    ADD_SERVER='"MaxConcurrentCats": 2' start_server
    genlog log 400000 > big.log
    genlog log 2000 > small.log
    chmod a+r big.log small.log
    start_in_flight
}

# A client whose output nobody reads for now: its session stays where it is.
start_in_flight()
{
    mkfifo in-flight
    set_way ssh-turbo
    # not run_client, whose time limit is for a single run
    "${wrapper[@]}" "$(program_path dcat)" --cfg none "${WAY_ARGS[@]}" \
        --plain --files "$T/big.log" > in-flight 2> in-flight.err &
    IN_FLIGHT=$!
    cleanup_fn kill_quietly "$IN_FLIGHT"
    exec 8< in-flight
    # its first byte: it runs
    IFS= read -r -N 1 -u 8 FIRST_BYTE
    RESTING=$(count_processes)
    RESTING_FDS=$(count_fds)
}

count_processes()
{
    pgrep -s "$SERVER_PID" | wc -l
}

count_fds()
{
    find "/proc/$SERVER_PID/fd" -mindepth 1 2>/dev/null | wc -l
}

is_resting()
{
    [ "$(count_processes)" -eq "$RESTING" ] &&
        [ "$(count_fds)" -eq "$RESTING_FDS" ]
}

# check_nothing_is_left: no process, no descriptor, no slot; the session in
# flight gets every byte of its file.
check_nothing_is_left()
{
    wait_until is_resting
    set_way ssh-turbo
    run_client dcat --plain --files "$T/small.log" > after.out
    assert_same small.log after.out
    kill -0 "$IN_FLIGHT" || fail "the session in flight has ended"
    { printf %s "$FIRST_BYTE"; cat <&8; } > in-flight.out
    exec 8<&-
    wait "$IN_FLIGHT" || fail "the session in flight: status $?"
    assert_same big.log in-flight.out
    stop_server
}

# run_trouble STATUS WHAT HOOK STAGE: one query, by $WAY.
run_trouble()
{
    local status=0
    run_client drun trouble --plain --files "$T/small.log" --arg "do=$2" \
        --arg "hook=$3" --arg "stage=$4" > trouble.out 2> trouble.err ||
        status=$?
    [ "$status" -eq "$1" ] || {
        cat trouble.err >&2
        fail "$WAY: $2 in $3 of $4: status $status instead of $1"
    }
}

# SPDX-License-Identifier: Apache-2.0
# Out of memory: each allocation of session, worker and client fails in turn,
# for each command. Whatever fails, the client ends with its whole result and
# status 0, or with another status and a message; no process dies of a signal,
# the server serves the next client, and nothing of the session is left.
#
# make torture: all of them; sourced by test-fault-alloc.sh, which has a few.
# TORTURE_STEP: every so manieth only, from TORTURE_FIRST on.
# TORTURE_VICTIMS: of client, session, worker (default: all), over SSH.
. ./functions.sh || exit 99
. "$top_srcdir/tests/fault-functions.sh"
requires_program dserver dcat dgrep dmap
requires_plugin cat grep mapr
died='ended by signal|signal [0-9]+|died'
step=${TORTURE_STEP:-1} first=${TORTURE_FIRST:-1}

genlog log 300 > log
genlog stats 300 > stats
chmod 644 log stats
truncate -s 4096 nth
printf '%-64s' 0 1<> nth
chmod 666 nth
query='from STATS select host,count($line),avg(took) group by host'

command_of() # NAME: what is tortured
{
    case $1 in
    cat) run_client dcat --plain --files "$T/log" ;;
    grep) run_client dgrep --plain --regex ERROR --before 1 --files "$T/log" ;;
    map) run_client dmap --output csv --files "$T/stats" --query "$query" ;;
    esac
}
fail_nth() # N
{
    printf '%-64s' "$1" 1<> nth
}
no_sessions()
{
    [ -z "$(cat "/proc/$SERVER_PID/task/$SERVER_PID/children")" ]
}

# one COMMAND N: runs it with that fault. Sets `is_hit`.
one()
{
    local status=0 what="$WAY $victim $1, allocation $2"
    printf '%-65s' "$2" 1<> nth
    command_of "$1" > out 2> err || status=$?
    fail_nth 0
    is_hit=no
    [ "$(head -c 65 nth | tail -c 1)" != x ] || is_hit=yes
    case $status in
    0) cmp -s "want-$1" out || fail "$what: status 0, but not the result" ;;
    1 | 2 | 3) [ -s err ] || fail "$what: status $status without a message" ;;
    *) fail "$what: status $status: $(cat err)" ;;
    esac
    [ -z "$SERVER_PID" ] || {
        ! is_gone "$SERVER_PID" || fail "$what: the server is gone"
        wait_until no_sessions
        ! grep -aE "$died" server.log || fail "$what"
    }
}

# torture COMMAND: until one more allocation is one that does not happen.
torture()
{
    local n=$first nr=0
    is_hit=yes
    while [ $is_hit = yes ]; do
        one "$1" "$n"
        [ $is_hit = no ] || nr=$((nr + 1))
        n=$((n + step))
    done
    [ "$nr" -gt 0 ] || [ "$step" -gt 1 ] ||
        fail "$WAY $victim $1: nothing has failed"
    command_of "$1" > out 2> err || fail "afterwards: $(cat err)"
    assert_same "want-$1" out
    echo "$WAY $victim $1: $nr allocations"
}

set_way serverless-turbo
for name in cat grep map; do
    command_of $name > want-$name
    [ -s want-$name ] || fail "nothing to compare: $name"
done

# In the client: serverless, where it does everything, and with a server.
faults=("LD_PRELOAD=$T/stage/fault-shim.so" "FAULT_ALLOC=$T/nth")
victim=client
wrapper=(env "${faults[@]}")
for way in serverless-turbo serverless-normal; do
    set_way $way
    for name in cat grep map; do torture $name; done
done
wrapper=()
for victim in ${TORTURE_VICTIMS-client session worker}; do
    if [ $victim != client ]; then
        wrapper=(env "${faults[@]}" "FAULT_PROCESS=dserver $victim")
    fi
    start_server
    if [ $victim = client ]; then
        wrapper=(env "${faults[@]}")
    else
        wrapper=()
    fi
    for way in ssh-turbo ssh-normal; do
        set_way $way
        for name in cat grep map; do torture $name; done
    done
    stop_server
    rm -f server.log
done

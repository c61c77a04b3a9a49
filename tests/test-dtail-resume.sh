# SPDX-License-Identifier: Apache-2.0
# kill -9 of sessions, workers and the listener, and cut connections, at random
# moments while a counter is written and its file is rotated: every client
# prints the counter, each number once.
#
# RESUME_SEED is the seed (default 1), RESUME_FAULTS how many faults (default 4:
# one of each kind; who is hit twice within a minute waits twice as long).
. ./functions.sh
. "$top_srcdir/tests/dtail-functions.sh"
requires python3

clients=()

# more NAME PORT ARGUMENTS...: another client, NAME.out; as soon as it follows.
more()
{
    local name=$1 port=$2
    shift 2
    : > "$name.out"
    "${wrapper[@]}" "$(program_path dtail)" --cfg none "${SSH_ARGS[@]:2}" \
        --servers "127.0.0.1:$port" --plain --since-start \
        --shutdownAfter $((10 * LIMIT)) "$@" "$T/log" \
        > "$name.out" 2> "client-$name.err" &
    clients+=("$name:$!")
    cleanup_fn kill_quietly $!
    wait_until grep -q '^1 of' "$name.out"
}

# Writes until there is $T/stop, and rotates every 40th time.
write_counter()
{
    local i=2 k=1
    until [ -e stop ]; do
        count $i $((i + 9)) >> log
        i=$((i + 10))
        [ $((i % 400)) -ne 2 ] || {
            mv log "log.$k"
            k=$((k + 1))
            : > log
        }
        read -r -t 0.01 <> .never || true
    done
    count $i $i >> log
    echo $i > last
}


start_server
umask 022
count 1 1 > log
mkfifo ports
python3 "$top_srcdir/tests/forward.py" "$PORT" > ports &
forwarder=$!
cleanup_fn kill_quietly $forwarder
exec 6< ports
read -r -t "$LIMIT" forwarded <&6

seed=${RESUME_SEED:-1} faults=${RESUME_FAULTS:-4}
report "seed $seed, $faults faults"
RANDOM=$seed
for i in 1 2; do
    more "turbo-$i" "$PORT"
    more "normal-$i" "$PORT" --turbo=no
    more "cut-turbo-$i" "$forwarded"
    more "cut-normal-$i" "$forwarded" --turbo=no
done
write_counter &
writer=$!
cleanup_fn kill_quietly $writer

# every_client_has LINES...: as many more as before, in the clients' order.
every_client_has()
{
    local client
    for client in "${clients[@]}"; do
        [ "$(wc -l < "${client%%:*}.out")" -ge "$1" ] || return 1
        shift
    done
}

# A random number of lines, up to what two files hold, to every client.
go_on()
{
    local client wanted=() more=$((RANDOM % 800 + 1))
    for client in "${clients[@]}"; do
        wanted+=($(($(wc -l < "${client%%:*}.out") + more)))
    done
    wait_until every_client_has "${wanted[@]}"
}

are_gone() # PID...
{
    local pid
    for pid; do
        is_gone "$pid" || return 1
    done
}

# kill_some NAME: a random choice of the server's processes, at least one.
kill_some()
{
    local pid all=() some=()
    mapfile -t all < <(children "$1")
    for pid in "${all[@]}"; do
        [ $((RANDOM % 2)) -eq 0 ] || some+=("$pid")
    done
    [ ${#some[@]} -gt 0 ] || some=("${all[0]}")
    report "kill -9 of ${#some[@]} of ${#all[@]}: $1"
    kill -KILL "${some[@]}"
    wait_until are_gone "${some[@]}"
}

fault()
{
    local old=$SERVER_PID cut
    case $1 in
    session | worker) kill_some "$1" ;;
    connection)
        kill -USR1 $forwarder
        read -r -t "$LIMIT" cut <&6
        report "$cut connections cut"
        [ "$cut" -ge 1 ] || fail 'no connection was cut'
        ;;
    listener)
        report 'kill -9 of the listener'
        kill -KILL "$old"
        wait "$old" 2> /dev/null || true
        wait_until session_is_empty "$old"
        start_server --port "$PORT"
        ;;
    esac
}

kinds=(session worker connection listener)
for ((n = 0; n < faults; n++)); do
    # each kind once in four, in random order
    left=$((${#kinds[@]} - n % ${#kinds[@]}))
    k=$((RANDOM % left))
    kind=${kinds[k]}
    kinds[k]=${kinds[left - 1]}
    kinds[left - 1]=$kind
    go_on
    fault "$kind"
done
go_on
wait_until test -e log.3
touch stop
wait $writer
last=$(cat last)
count 1 "$last" > want
for client in "${clients[@]}"; do
    name=${client%%:*}
    wait_until grep -q "^$last of" "$name.out"
    kill -TERM "${client#*:}"
    wait_client "${client#*:}" || fail "$name: status $?"
    assert_same want "$name.out"
done
wait_until has_children worker 0
stop_server

# SPDX-License-Identifier: Apache-2.0
# kill -9 of sessions, workers and the listener, and cut connections, while a
# counter is written and its file is rotated: every client prints the counter,
# each number once.
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
        --shutdownAfter "$LIMIT" "$@" "$T/log" \
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

more session-turbo "$PORT"
more session-normal "$PORT" --turbo=no
sessions=$(children session)
more worker-turbo "$PORT"
more worker-normal "$PORT" --turbo=no
workers=$(children worker | sort -n | tail -n 2)
more cut-turbo "$forwarded"
more cut-normal "$forwarded" --turbo=no
write_counter &
writer=$!
cleanup_fn kill_quietly $writer
wait_until test -e log.1

# shellcheck disable=SC2086
kill -KILL $sessions $workers
kill -USR1 $forwarder
read -r -t "$LIMIT" cut <&6
assert_eq 'connections that were cut' 2 "$cut"
wait_until has_children worker 0
# the second one is each client's new connection
wait_until has_children worker 6

old=$SERVER_PID
kill -KILL "$old"
wait "$old" 2> /dev/null || true
wait_until session_is_empty "$old"
start_server --port "$PORT"
wait_until has_children worker 6
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
[ -e log.3 ] || fail "nothing was rotated"
stop_server

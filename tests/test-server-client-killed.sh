# SPDX-License-Identifier: Apache-2.0
# kill -9 of a client, idle and in the middle of a file: session and worker
# end, and the read slot is free again.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver
requires_plugin cat

ADD_SERVER='"MaxConcurrentCats": 1'
start_server
key=$HOME/.ssh/id_ed25519
head -c 50000000 /dev/zero | tr '\0' x | fold -w 99 > big
(hello && cat_request 1 "$T/big") > request
mkfifo out
for round in 1 2 3; do
    # exec, so that the pid is ssh's; its stdin stays open
    (
        exec ssh "${SSH_OPTIONS[@]}" -i "$key" -p "$PORT" -l "$TEST_USER" \
            127.0.0.1 -s dtail < request > out
    ) &
    client=$!
    exec 8< out
    read -r -t "$LIMIT" -n 200 line <&8
    wait_until has_children worker 1
    kill -KILL "$client"
    wait "$client" 2> /dev/null || true
    exec 8<&-
    wait_until has_children worker 0
    wait_until has_children session 0
done
stop_server

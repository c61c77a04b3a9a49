# SPDX-License-Identifier: Apache-2.0
# A plugin whose feed or drain has no end is stopped when the user has had
# enough, closes the pipe, or is killed: no hook is called again, nothing of it
# is left, at the client or at the server.
. ./functions.sh || exit 99
. "$top_srcdir/tests/trouble.sh"
start_troubled_server
mkfifo endless

# start_endless HOOK STAGE: runs in the background; its first line was read, and
# nobody reads on, so that it also waits for its reader when the end comes.
start_endless()
{
    "${wrapper[@]}" "$(program_path drun)" trouble --cfg none --plain \
        "${WAY_ARGS[@]}" --files "$T/small.log" --arg do=endless \
        --arg "hook=$1" --arg "stage=$2" > endless 2> client.err 7<&- &
    CLIENT_PID=$!
    cleanup_fn kill_quietly "$CLIENT_PID"
    exec 7< endless
    read -r -t "$LIMIT" -u 7 || fail "$WAY: $1 of $2 gives out nothing"
}

# end_endless STATUS: it ended by itself, with this status.
end_endless()
{
    local status=0
    wait_until is_gone "$CLIENT_PID"
    exec 7<&-
    wait "$CLIENT_PID" || status=$?
    assert_eq "$WAY: status" "$1" "$status"
}

for way in serverless-turbo serverless-normal ssh-turbo ssh-normal; do
    set_way "$way"
    for what in 'feed map' 'feed reduce' 'drain map' 'drain reduce'; do
        # shellcheck disable=SC2086
        start_endless $what
        kill -KILL "$CLIENT_PID"
        end_endless 137
        # The reader has enough, also when nothing is written any more.
        # shellcheck disable=SC2086
        start_endless $what
        exec 7<&-
        end_endless 0
    done
done

# Interrupted; the first time shows figures, as in the Go program, and after
# the second one the client waits some seconds for results, in vain here.
interrupt()
{
    set_way "$1"
    start_endless "$2" "$3"
    kill -INT "$CLIENT_PID"
    wait_until grep -q 'Ctrl+C again' client.err
    kill -INT "$CLIENT_PID"
    end_endless 130
}
interrupt serverless-turbo drain reduce
interrupt ssh-turbo feed map
check_nothing_is_left

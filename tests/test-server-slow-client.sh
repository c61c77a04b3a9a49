# SPDX-License-Identifier: Apache-2.0
# A client that stops reading, and one that exchanges keys again and again:
# their session processes stay below 8 MB, and what is read in the end is the
# file.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_root # to look at processes that keep themselves to themselves
requires python3
requires_program dserver
requires_plugin cat

genlog log 400000 > big.log # 34 MB
chmod 644 big.log
start_server
key=$HOME/.ssh/id_ed25519

# lines FILE: what stands in its LINES frames, each with 36 bytes of its own.
lines()
{
    python3 - "$1" << 'END'
import struct, sys

data, at = open(sys.argv[1], "rb").read(), 0
while at < len(data):
    length, kind = struct.unpack_from(">IB", data, at)
    if kind == 66:
        sys.stdout.buffer.write(data[at + 5 + 36:at + 4 + length])
    at += 4 + length
END
}

# Valgrind and sanitizers take more.
check_memory() # WHAT PID
{
    local kib
    [ ${#wrapper[@]} -eq 0 ] &&
        grep -q '^S\["SANITIZER_FLAGS"\]=""' "$top_builddir/config.status" ||
        return 0
    kib=$(awk '/^Pss:/ { print $2 }' "/proc/$2/smaps_rollup")
    echo "$1: $kib KiB"
    [ "$kib" -lt 8192 ] || fail "$1: the session took $kib KiB"
}

# read_slowly NAME SSH-OPTIONS...: nothing is read until the worker waits.
read_slowly()
{
    local name=$1 client session worker
    shift
    rm -f pipe input
    mkfifo pipe input
    exec 6<> input 7<> pipe
    ssh "${SSH_OPTIONS[@]}" "$@" -i "$key" -p "$PORT" -l "$TEST_USER" \
        127.0.0.1 -s dtail < input > pipe 2> err 6>&- 7>&- &
    client=$!
    cleanup_fn kill_quietly "$client"
    { hello; cat_request 1 "$T/big.log" '"last":true'; } >&6
    wait_until has_children worker 1
    session=$(children session) worker=$(children worker)
    wait_until is_stuck "$worker"
    check_memory "$name, unread" "$session"
    # some of it, then the rest
    timeout "$LIMIT" head -c 8000000 < pipe > answers 6>&- 7>&-
    wait_until is_stuck "$worker"
    check_memory "$name, read a little" "$session"
    exec 8< pipe 7>&-
    timeout "$LIMIT" cat <&8 >> answers 6>&- &
    reader=$!
    exec 8<&- 6>&-
    wait "$client" || fail "$name: ssh: $? $(cat err)"
    wait "$reader"
}

# It has read nothing between two looks while it sleeps in the kernel.
is_stuck() # PID
{
    local before
    before=$(cat "/proc/$1/io" 2>/dev/null | sed -n 's/^rchar: //p')
    a_moment
    [ "$(sed -n 's/^rchar: //p' "/proc/$1/io" 2>/dev/null)" = "$before" ]
}
a_moment()
{
    read -r -t 0.3 <> "$T/.never" || true
}

read_slowly 'a client that stops reading'
lines answers > out
assert_same big.log out
# ssh asks for new keys after each 64 KiB.
read_slowly 'a client that exchanges keys without end' -o RekeyLimit=64K
lines answers > out
assert_same big.log out
stop_server

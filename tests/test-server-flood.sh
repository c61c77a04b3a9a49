# SPDX-License-Identifier: Apache-2.0
# A client that sends 20,000 requests in one go and reads nothing: nothing is
# lost or refused, its session stays small, others are served, and the log
# counts what it does not write. Once it reads, all answers are there.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires python3
requires_program dserver dcat

# requests NUMBER: queries of a command that does not exist, 500 bytes each.
requests()
{
    python3 - "$1" << 'END'
import struct, sys

def frame(kind, text):
    data = text.encode()
    return struct.pack(">IB", len(data) + 1, kind) + data

pad = "x" * 400
out = sys.stdout.buffer
out.write(frame(1, '{"protocol":1,"version":"test","host":"test"}'))
for i in range(int(sys.argv[1])):
    out.write(frame(2, '{"id":%d,"plugin":"absent","files":["/%s"]}'
                    % (i + 1, pad)))
END
}

# The number of the END frames in a file, each with its query's own number.
count_ends()
{
    python3 - "$1" << 'END'
import struct, sys

data, at, ids = open(sys.argv[1], "rb").read(), 0, set()
while at < len(data):
    length, kind = struct.unpack_from(">IB", data, at)
    if kind == 70:
        ids.add(struct.unpack_from(">I", data, at + 5)[0])
    at += 4 + length
print(len(ids))
END
}

# How far a process has read its standard input.
has_sent() # PID BYTES
{
    local at
    at=$(awk '/^pos:/ { print $2 }' "/proc/$1/fdinfo/0" 2> /dev/null) || at=0
    [ "${at:-0}" -ge "$2" ]
}

check_memory() # WHAT PID KIB
{
    local kib
    can_measure_memory || return 0
    kib=$(memory_kib "$2")
    echo "$1 $kib KiB"
    [ "$kib" -lt "$3" ] || fail "the $1 took $kib KiB"
}

start_server
key=$HOME/.ssh/id_ed25519
requests 20000 > requests
mkfifo pipe input
exec 6<> input 7<> pipe
ssh "${SSH_OPTIONS[@]}" -i "$key" -p "$PORT" -l "$TEST_USER" 127.0.0.1 \
    -s dtail < input > pipe 2> err 6>&- 7>&- &
client=$!
cleanup_fn kill_quietly $client
cat < requests > input 6>&- 7>&- &
sender=$!
cleanup_fn kill_quietly $sender
# The request file is 10 MB; this much goes out before anything is read. The
# session and its worker live until the frame that says "no more requests".
wait_until has_sent $sender 2000000
wait_until has_children worker 1
session=$(children session) worker=$(children worker)

# Others are served meanwhile.
echo other > other.log
chmod 644 other.log
run_client dcat "${SSH_ARGS[@]}" --plain --files "$PWD/other.log" > other
assert_same other.log other
check_memory session "$session" 8192
check_memory worker "$worker" 8192

# The client's output is read: some of it, then the rest.
timeout "$LIMIT" head -c 1500000 < pipe > answers 6>&- 7>&-
check_memory session "$session" 8192
check_memory worker "$worker" 8192
exec 8< pipe 7>&-
cat <&8 >> answers 6>&- &
reader=$!
cleanup_fn kill_quietly $reader
exec 8<&-
wait $sender || fail "cat: $?"
printf '\0\0\0\1\6' >&6
exec 6>&-
wait $client || fail "ssh: $? $(cat err)"
wait $reader
assert_eq answers 20000 "$(count_ends answers)"

stop_server

# Each refused query has a line; those withheld are counted exactly.
told=$(grep -ac '|no command "absent" here' server.log)
hidden=$(sed -n 's/.*|\([0-9]*\) similar messages suppressed$/\1/p' server.log |
    awk '{ n += $1 } END { print n + 0 }')
assert_eq "lines and suppressed ones" 20000 $((told + hidden))
[ "$told" -lt 2000 ] || fail "$told lines in the log"

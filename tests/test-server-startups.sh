# SPDX-License-Identifier: Apache-2.0
# Whoever connects and says nothing, says half a handshake or nonsense keeps
# nobody out: with as many of them as MaxStartups allows, and more that come,
# a client logs in.
. ./functions.sh || exit 99
. "$top_srcdir/tests/server-functions.sh"
requires_program dserver dcat
requires_plugin cat
requires python3

ADD_SERVER='"MaxStartups": 8, "LoginGraceMs": 3600000'
start_server
echo text > f
chmod 644 f

# Keeps 40 connections: a third silent, a third with a banner, a third with
# the head of a packet of which no more comes. Makes each anew when dropped.
cat > stall.py <<'END'
import selectors, socket, sys
port, ready = int(sys.argv[1]), sys.argv[2]
says = [b'', b'SSH-2.0-stall\r\n', b'SSH-2.0-stall\r\n\0\0\4\0\6\24']
sel = selectors.DefaultSelector()
dropped = 0
def connect(i):
    s = socket.create_connection(('127.0.0.1', port))
    s.sendall(says[i % 3])
    sel.register(s, selectors.EVENT_READ, i)
for i in range(40):
    connect(i)
while True:
    for key, _ in sel.select():
        try:
            data = key.fileobj.recv(65536)
        except OSError:
            data = b''
        if not data:
            sel.unregister(key.fileobj)
            key.fileobj.close()
            dropped += 1
            connect(key.data)
            if dropped == 40:
                open(ready, 'w').close()
END
python3 stall.py "$PORT" "$T/ready" &
cleanup_fn kill_quietly $!
stall=$!
wait_until test -e "$T/ready"
for i in 1 2 3; do
    # those that stall do not leave by themselves within the hour
    run_client dcat "${SSH_ARGS[@]}" --plain "$T/f" > out
    assert_eq "client $i" text "$(cat out)"
done
wait_until log_has 'dropped before the log-in\|MaxStartups \(8\) reached'
nr=$(children session | wc -l)
[ "$nr" -le 16 ] || fail "$nr sessions where 8 are allowed"
kill_quietly "$stall" || true
wait_until has_children session 0
stop_server

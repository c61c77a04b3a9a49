# SPDX-License-Identifier: Apache-2.0
# A peer that accepts and then says nothing, or something else, is given up
# within the limit; the others are not kept waiting.
. ./functions.sh || exit 99
requires python3
echo text > f
chmod 644 f

# Two listeners: one silent, one that speaks HTTP.
cat > deaf.py <<'END'
import socket, sys
kept = []
def listener():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(5)
    return s
silent, http = listener(), listener()
print(silent.getsockname()[1], http.getsockname()[1], flush=True)
while True:
    c, _ = http.accept()
    c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    c.close()
END
mkfifo ports
python3 deaf.py > ports &
cleanup_fn kill_quietly $!
read -r silent http < ports

start_server
assert_status 3 run_client dcat --plain "${SSH_ARGS[@]:2}" \
    --servers "127.0.0.1:$PORT,127.0.0.1:$silent,127.0.0.1:$http" "$T/f" \
    > out 2> err
assert_eq "data of the good one" text "$(cat out)"
assert_contains err "127\.0\.0\.1:$silent\|no SSH handshake with .* within 10 s"
assert_contains err "127\.0\.0\.1:$http\|SSH handshake failed"
stop_server

# SPDX-License-Identifier: Apache-2.0
"""Forwards connections to a port of this machine: forward.py PORT

Writes its own port to stdout. SIGUSR1 cuts every connection (RST, nothing of
what is on its way arrives), and writes how many those were.
"""
import os
import select
import signal
import socket
import struct
import sys

pairs = {}  # socket: its other side
wake_read, wake_write = os.pipe()
os.set_blocking(wake_write, False)
signal.set_wakeup_fd(wake_write)
signal.signal(signal.SIGUSR1, lambda *_: None)

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(50)
print(listener.getsockname()[1], flush=True)


def drop(sock):
    other = pairs.pop(sock)
    pairs.pop(other)
    for s in (sock, other):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                     struct.pack("ii", 1, 0))
        s.close()


while True:
    for sock in select.select([listener, wake_read, *pairs], [], [])[0]:
        if sock is listener:
            client = listener.accept()[0]
            server = socket.socket()
            try:
                server.connect(("127.0.0.1", int(sys.argv[1])))
                pairs[client], pairs[server] = server, client
            except OSError:
                client.close()
        elif sock == wake_read:
            os.read(wake_read, 64)
            print(len(pairs) // 2, flush=True)
            for s in list(pairs):
                if s in pairs:
                    drop(s)
        elif sock in pairs:
            try:
                data = sock.recv(65536)
                if data:
                    pairs[sock].sendall(data)
                else:
                    drop(sock)
            except OSError:
                drop(sock)

# SPDX-License-Identifier: Apache-2.0
"""A server that is not as it should be: bad-server.py KIND...

Writes one port of 127.0.0.1 a line for each KIND:
  silent       accepts and says nothing
  banner       says what SSH servers say first, and then nothing
  http         is no SSH server
  drop:N:PORT  closes the first N connections at once and forwards the others
  half:N:PORT  forwards, and cuts the connection after N bytes of the server
  late:S:PORT  forwards after S seconds
"""
import socket
import sys
import threading


def copy(source, sink, limit=None):
    total = 0
    try:
        while data := source.recv(65536):
            total += len(data)
            if limit is not None and total > limit:
                break
            sink.sendall(data)
    except OSError:
        pass
    for s in (source, sink):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def forward(client, port, limit=None):
    server = socket.create_connection(("127.0.0.1", port))
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client, limit)


kept = []


def serve(listener, kind, args):
    number = 0
    while True:
        client = listener.accept()[0]
        number += 1
        if kind == "drop" and number <= args[0]:
            client.close()
        elif kind == "http":
            client.recv(1024)
            client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            client.close()
        elif kind in ("silent", "banner"):
            if kind == "banner":
                client.sendall(b"SSH-2.0-banner\r\n")
            kept.append(client)
        elif kind == "late":
            threading.Timer(args[0], forward, (client, args[1])).start()
        else:
            limit = args[0] if kind == "half" else None
            threading.Thread(target=forward, args=(client, args[1], limit),
                             daemon=True).start()


for word in sys.argv[1:]:
    kind, *args = word.split(":")
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(500)
    threading.Thread(target=serve, args=(listener, kind, [int(a) for a in args])).start()
    print(listener.getsockname()[1], flush=True)

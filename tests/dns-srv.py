# SPDX-License-Identifier: Apache-2.0
# A name server for a test: dns-srv.py PORT TARGET... answers each question for
# SRV records of _dtail._tcp.test with HOST:PORT of the TARGETs, and others
# with "no such name". It listens at 127.0.0.1 and says "ready" first.
import socket
import struct
import sys

NAME = b"\6_dtail\4_tcp\4test\0"


def encode(host):
    return b"".join(bytes([len(p)]) + p for p in host.encode().split(b".")) + b"\0"


def answer(question):
    if not question[12:].startswith(NAME):
        return question[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + question[12:]
    body = question[:2] + b"\x81\x80\0\1"
    body += struct.pack(">HHH", len(sys.argv) - 2, 0, 0)
    body += NAME + b"\0\x21\0\1"
    for target in sys.argv[2:]:
        host, port = target.split(":")
        data = struct.pack(">HHH", 1, 1, int(port)) + encode(host)
        body += b"\xc0\x0c\0\x21\0\1\0\0\0\x3c" + struct.pack(">H", len(data)) + data
    return body


def main():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", int(sys.argv[1])))
    print("ready", flush=True)
    while True:
        question, client = server.recvfrom(4096)
        # without the EDNS record behind the question
        end = question.index(b"\0", 12) + 5
        server.sendto(answer(question[:end]), client)


main()

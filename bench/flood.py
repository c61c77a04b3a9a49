#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Strangers at a server's door, and what a client notices of them.

flood.py --port P --command 'CLIENT ARGUMENTS' [--connections N] [--sources N]
         [--most SECONDS]

Opens N connections as fast as it goes, from so many loopback addresses: a
fifth each sends garbage, stalls after its identification, stalls within the
first packet, says nothing, hangs up at once. Those that the server drops are
not made anew. From the first connection on the client runs again and again,
until all have come and it has run at least ten times more beside those that
are held. Fails (status 1) when one run fails, or took more than --most
seconds from its start to its exit. Prints one line of figures. For bench/run.
"""
import argparse
import resource
import selectors
import shlex
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

BANNER = b'SSH-2.0-stall\r\n'
SAYS = (b'GET / HTTP/1.1\r\n\r\n', BANNER, BANNER + b'\0\0\4\0\6\24', b'', None)
AT_ONCE = 256  # connections under way


class Flood:
    def __init__(self, a):
        self.a = a
        self.sel = selectors.DefaultSelector()
        self.nr_begun = self.nr_said = self.nr_failed = self.nr_held = 0
        self.is_over = threading.Event()
        self.seconds = 0

    def begin(self):
        i = self.nr_begun
        s = socket.socket()
        s.setblocking(False)
        if self.a.sources > 1:
            n = i % self.a.sources + 2
            s.bind((f'127.0.{n // 250}.{n % 250 + 1}', 0))
        s.connect_ex(('127.0.0.1', self.a.port))
        self.sel.register(s, selectors.EVENT_WRITE, SAYS[i % len(SAYS)])
        self.nr_begun += 1

    def drop(self, s):
        self.sel.unregister(s)
        s.close()

    def say(self, s, text):
        self.nr_said += 1
        if text is None:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         struct.pack('ii', 1, 0))
            self.drop(s)
            return
        try:
            s.send(text)
        except OSError:
            self.nr_failed += 1
            self.drop(s)
            return
        self.sel.modify(s, selectors.EVENT_READ)
        self.nr_held += 1

    def run(self):
        start = time.monotonic()
        while not self.is_over.is_set():
            while (self.nr_begun < self.a.connections and
                   self.nr_begun - self.nr_said < AT_ONCE):
                self.begin()
            for key, events in self.sel.select(0.1):
                if events & selectors.EVENT_WRITE:
                    self.say(key.fileobj, key.data)
                    continue
                try:
                    data = key.fileobj.recv(65536)
                except OSError:
                    data = b''
                if not data:
                    self.drop(key.fileobj)
                    self.nr_held -= 1
            if self.nr_said == self.a.connections and not self.seconds:
                self.seconds = time.monotonic() - start


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--port', type=int, required=True)
    p.add_argument('--command', required=True)
    p.add_argument('--connections', type=int, default=10000)
    p.add_argument('--sources', type=int, default=1)
    p.add_argument('--most', type=float, default=0)
    a = p.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    command = shlex.split(a.command)

    def client():
        start = time.monotonic()
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              capture_output=True)
        if done.returncode != 0 or not done.stdout:
            sys.exit(f'flood: the client ended with {done.returncode}: '
                     f'{done.stderr.decode()[-300:]}')
        return time.monotonic() - start

    alone = statistics.median(client() for _ in range(5))
    flood = Flood(a)
    thread = threading.Thread(target=flood.run, daemon=True)
    thread.start()
    took, more = [], 10
    while more > 0:
        took.append(client())
        more -= flood.seconds > 0
    held = flood.nr_held
    flood.is_over.set()
    thread.join()
    print(f'{a.connections} connections from {a.sources} addresses in '
          f'{flood.seconds:.1f} s, {held} held at the end, '
          f'{flood.nr_failed} refused; client alone {alone:.3f} s, beside them '
          f'{len(took)} runs: median {statistics.median(took):.3f} s, longest '
          f'{max(took):.3f} s', flush=True)
    if a.most and max(took) > a.most:
        sys.exit(f'flood: a client waited for {max(took):.2f} s')


if __name__ == '__main__':
    main()

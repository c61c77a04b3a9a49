#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many sessions of all kinds at one server, and what they leave behind.

load.py --port P --server PID --server-log FILE --bin DIR --key FILE
        --user NAME --log FILE
        [--sessions N] [--at-once N] [--kill N] [--memory MIB] [--ratio R]

Keeps so many clients running until N sessions are through: dcat, dgrep, dmap
over FILE, and dtail of a file that grows meanwhile. Every answer is compared
with the one of a single run before. With --kill so many sessions and workers
are killed at random, and no more clients may fail. Fails (status 1)

* when a session fails or gives another answer,
* when the longest of the reads, which compete for slots, took more than R times
  the median (by the server's own lines, the wait included),
* when listener, sessions and workers together ever took more than MIB (of
  memory that is theirs; only root can see that),
* when the listener has more descriptors, children, shared mappings or memory
  afterwards than after the first tenth.

Prints one line of figures. For tests/test-server-load.sh and bench/run.
"""
import argparse
import collections
import os
import random
import re
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = float(os.environ.get('DTAIL_TEST_LIMIT', '60'))
KINDS = ('cat', 'grep', 'map', 'follow')


def say(text):
    print(text, file=sys.stderr, flush=True)


class Failed(Exception):
    pass


class Watch:
    """The server's processes, seen from outside."""

    def __init__(self, pid):
        self.pid = pid
        self.peak = 0
        self.peak_children = 0

    def children(self, name=None):
        found = []
        try:
            with open(f'/proc/{self.pid}/task/{self.pid}/children') as f:
                pids = [int(p) for p in f.read().split()]
        except OSError:
            return found
        for pid in pids:
            try:
                with open(f'/proc/{pid}/comm') as f:
                    comm = f.read().strip()
            except OSError:
                continue
            if name is None or comm == 'dserver ' + name:
                found.append(pid)
        return found

    @staticmethod
    def own_kib(pid):
        """Memory that is the process's own, and its part of what is shared."""
        try:
            with open(f'/proc/{pid}/smaps_rollup') as f:
                for line in f:
                    if line.startswith('Pss:'):
                        return int(line.split()[1])
        except OSError:
            pass
        return 0

    def look(self):
        pids = self.children()
        self.peak_children = max(self.peak_children, len(pids))
        if os.geteuid() == 0:
            kib = sum(self.own_kib(p) for p in [self.pid] + pids)
            self.peak = max(self.peak, kib)

    def left(self):
        """What must not grow."""
        with open(f'/proc/{self.pid}/status') as f:
            resident = int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1))
        with open(f'/proc/{self.pid}/maps') as f:
            shared = sum(1 for line in f if line.split()[1].endswith('s'))
        return {'descriptors': len(os.listdir(f'/proc/{self.pid}/fd')),
                'children': len(self.children()),
                'shared mappings': shared, 'resident KiB': resident}


class Load:
    def __init__(self, a):
        self.a = a
        self.dir = tempfile.mkdtemp(prefix='load-', dir=os.getcwd())
        self.growing = os.path.join(self.dir, 'growing.log')
        os.chmod(self.dir, 0o755)
        with open(self.growing, 'w') as f:
            f.write('begin\n')
        os.chmod(self.growing, 0o644)
        self.watch = Watch(a.server)
        self.expected = {}
        self.random = random.Random(a.seed)
        self.nr_killed = 0
        self.begun = threading.Condition()
        self.nr_begun = 0
        self.failures = []
        self.stop = threading.Event()

    def command(self, kind):
        common = ['--cfg', 'none', '--servers', f'127.0.0.1:{self.a.port}',
                  '--user', self.a.user, '--auth-key-path', self.a.key,
                  '--trustAllHosts', '--no-auth-key']
        program, rest = {
            'cat': ('dcat', ['--plain', self.a.log]),
            'grep': ('dgrep', ['--plain', '--regex', ' 7[0-9]* ', self.a.log]),
            'map': ('dmap', ['--output', 'csv', '--query',
                             'select count($line) from . group by $hostname '
                             'logformat generic', self.a.log]),
            'follow': ('dtail', ['--plain', '--lines', '1', self.growing]),
        }[kind]
        return [os.path.join(self.a.bin, program)] + common + rest

    def run_alone(self, kind):
        done = subprocess.run(self.command(kind), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT)
        if done.returncode != 0 or not done.stdout:
            raise Failed(f'{kind} alone: status {done.returncode}: '
                         f'{done.stderr.decode()[-300:]}')
        self.expected[kind] = hash(done.stdout)

    def grow(self):
        """A line each moment, for those who follow."""
        n = 0
        with open(self.growing, 'a') as f:
            while not self.stop.wait(0.05):
                n += 1
                f.write(f'line {n}\n')
                f.flush()

    def watching(self):
        while not self.stop.wait(0.2):
            self.watch.look()

    def follow(self, client, deadline):
        """Ends it once lines have come that are new."""
        got = b''
        while got.count(b'\n') < 4:
            left = deadline - time.monotonic()
            if left <= 0:
                return b'late'
            if not select.select([client.stdout], [], [], left)[0]:
                return b'late'
            data = os.read(client.stdout.fileno(), 65536)
            if not data:
                return got
            got += data
        client.terminate()
        return got

    def session(self, index, kind):
        deadline = time.monotonic() + 5 * LIMIT
        with tempfile.TemporaryFile() as err:
            client = subprocess.Popen(self.command(kind), stdout=subprocess.PIPE,
                                      stdin=subprocess.DEVNULL, stderr=err)
            if kind == 'follow':
                out = self.follow(client, deadline)
                client.stdout.close()
                status = client.wait(LIMIT)
                good = out.count(b'\n') >= 4
            else:
                out = client.stdout.read()
                status = client.wait(LIMIT)
                good = hash(out) == self.expected[kind]
            err.seek(0)
            said = err.read().decode()[-300:]
        if status != 0 or not good:
            self.failures.append((index, kind, status, said))

    def kill_one(self):
        """False: there was nobody."""
        pids = self.watch.children(self.random.choice(('session', 'worker')))
        if pids:
            try:
                os.kill(self.random.choice(pids), signal.SIGKILL)
                self.nr_killed += 1
                return True
            except OSError:
                pass  # it has just ended
        return False

    def peers_killed(self):
        """By the server's log: who was on the other side of those killed."""
        found = set()
        with open(self.a.server_log, errors='replace') as f:
            for line in f:
                m = re.search(r'(127\.0\.0\.1:\d+)\|.*died of SIGKILL',
                              line)
                if m:
                    found.add(m.group(1))
        return found

    def audits(self):
        """By peer: statuses and durations of its queries."""
        found = collections.defaultdict(list)
        with open(self.a.server_log, errors='replace') as f:
            for line in f:
                m = re.search(r'\|peer=([^|]*)\|.*\|follow=(\w+)\|.*'
                              r'\|status=(-?\d+)\|.*\|duration=([0-9.]+)\|',
                              line)
                if m:
                    found[m.group(1)].append((int(m.group(3)), m.group(2) == 'yes',
                                              float(m.group(4))))
        return found

    def killing(self, first):
        """Spread over the sessions, however fast they are; none at the end, so
        that there is always somebody to kill."""
        span = (self.a.sessions - first) * 3 // 4
        for i in range(self.a.kill):
            with self.begun:
                self.begun.wait_for(lambda: self.stop.is_set() or
                                    self.nr_begun > first + span * i // self.a.kill)
            while not self.kill_one() and not self.stop.wait(0.001):
                pass

    def sessions(self, first, last):
        """Keeps --at-once of them running."""
        todo = collections.deque(range(first, last))
        lock = threading.Lock()

        def take():
            while True:
                with lock:
                    if not todo:
                        return
                    index = todo.popleft()
                with self.begun:
                    self.nr_begun += 1
                    self.begun.notify_all()
                try:
                    self.session(index, KINDS[index % len(KINDS)])
                except Exception as e:  # told below
                    self.failures.append((index, KINDS[index % len(KINDS)],
                                          -1, repr(e)))

        threads = [threading.Thread(target=take)
                   for _ in range(min(self.a.at_once, last - first))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    def no_children(self):
        end = time.monotonic() + LIMIT
        while self.watch.children():
            if time.monotonic() > end:
                raise Failed('processes are left: %s' % self.watch.children())
            time.sleep(0.02)

    def run(self):
        a = self.a
        for kind in KINDS[:3]:
            self.run_alone(kind)
        helpers = [threading.Thread(target=f) for f in (self.grow, self.watching)]
        for t in helpers:
            t.start()
        killer = None
        try:
            warm = max(a.at_once, a.sessions // 10)
            self.sessions(0, warm)
            self.no_children()
            before = self.watch.left()
            if a.kill:
                killer = threading.Thread(target=self.killing, args=(warm,))
                killer.start()
            self.sessions(warm, a.sessions)
        finally:
            self.stop.set()
            with self.begun:
                self.begun.notify_all()
            for t in helpers + ([killer] if killer else []):
                t.join()
        self.no_children()
        self.judge(before, self.watch.left())

    def judge(self, before, after):
        a = self.a
        killed = self.peers_killed()
        if len(self.failures) > len(killed):
            raise Failed('%d sessions failed, %d were killed; as %s' %
                         (len(self.failures), len(killed), self.failures[:3]))
        if self.nr_killed < a.kill:
            raise Failed('only %d of %d were killed' % (self.nr_killed, a.kill))
        audits = self.audits()
        for peer, queries in audits.items():
            bad = [q for q in queries if q[0] != 0 and not q[1]]
            if bad and peer not in killed:
                raise Failed('a query of %s ended with %s' % (peer, bad))
        reads = [q[2] for queries in audits.values() for q in queries
                 if q[0] == 0 and not q[1]]
        median, longest = statistics.median(reads), max(reads)
        print('sessions %d (%d at once), failed %d, killed %d; %d reads with the '
              'wait for a slot: median %.2f s, longest %.2f s; peak %d MiB in %d '
              'processes; before: %s; after: %s' %
              (a.sessions, a.at_once, len(self.failures), self.nr_killed,
               len(reads), median, longest, self.watch.peak // 1024,
               self.watch.peak_children, before, after), flush=True)
        if a.ratio and longest > a.ratio * median:
            raise Failed('one read took %.2f s, the median is %.2f s' %
                         (longest, median))
        if a.memory and self.watch.peak > a.memory * 1024:
            raise Failed('%d MiB of memory, %d are allowed' %
                         (self.watch.peak // 1024, a.memory))
        for what in before:
            slack = 2048 if what == 'resident KiB' else 0
            if after[what] > before[what] + slack:
                raise Failed('%s: %d, then %d' %
                             (what, before[what], after[what]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--port', type=int, required=True)
    p.add_argument('--server', type=int, required=True)
    p.add_argument('--bin', required=True)
    p.add_argument('--key', required=True)
    p.add_argument('--user', required=True)
    p.add_argument('--log', required=True)
    p.add_argument('--server-log', required=True)
    p.add_argument('--sessions', type=int, default=2000)
    p.add_argument('--at-once', type=int, default=200)
    p.add_argument('--kill', type=int, default=0)
    p.add_argument('--memory', type=int, default=0)
    p.add_argument('--ratio', type=float, default=0)
    p.add_argument('--seed', type=int, default=1)
    try:
        Load(p.parse_args()).run()
    except Failed as e:
        say(f'load: {e}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())

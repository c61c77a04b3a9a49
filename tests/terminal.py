# SPDX-License-Identifier: Apache-2.0
"""terminal.py COLUMNS ROWS LIMIT COMMAND...: runs it on a terminal of its own.

Its standard input is the terminal, too, or the file $TERMINAL_INPUT. Keeps a
picture of the screen as a terminal would, and does what standard input says,
a step a line:

    expect REGEX         waits until screen and scrollback match (multi-line)
    until REGEX :: COMMAND   the same, with the command now and then
    lacks REGEX          fails if they match
    times N REGEX        fails if it is not there N times
    send TEXT            types; Python's escapes, as \\x03
    resize COLUMNS ROWS [reflow]     with reflow long lines wrap anew
    run COMMAND          a shell's, which must succeed
    drained FIFO         waits until all that was written there was read
    interrupt STATUS     types Ctrl-C now and then until it ended with that
    save FILE            writes screen and scrollback
    signal NAME          to the process
    end STATUS           waits until it ended with that exit status

Fails after LIMIT seconds, and shows the screen.
"""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata


class Screen:
    """Rows of text with the cursor; what scrolled out stays above."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.rows = [[[], False]]  # characters, and: goes on in the next row
        self.row = self.column = 0
        self.sequence = None
        self.decoder = codecs.getincrementaldecoder('utf-8')('replace')

    def text(self):
        return '\n'.join(''.join(r[0]).rstrip() for r in self.rows)

    def down(self):
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([[], False])

    def put(self, c):
        # A wide character has an empty cell behind it.
        new = [c, ''] if unicodedata.east_asian_width(c) in 'WF' else [c]
        if self.column + len(new) > self.width:
            self.rows[self.row][1] = True
            self.column = 0
            self.down()
        cells = self.rows[self.row][0]
        cells.extend(' ' * (self.column + len(new) - len(cells)))
        cells[self.column:self.column + len(new)] = new
        self.column += len(new)

    def control(self, parameters, final):
        if final == 'A':
            top = max(0, len(self.rows) - self.height)
            self.row = max(top, self.row - int(parameters or 1))
        elif final == 'J' and not parameters:
            del self.rows[self.row + 1:]
            del self.rows[self.row][0][self.column:]
            self.rows[self.row][1] = False
        elif final == 'K' and not parameters:
            del self.rows[self.row][0][self.column:]
        elif final != 'm':
            raise ValueError('unknown sequence ' + parameters + final)

    def feed(self, data):
        for c in self.decoder.decode(data):
            if self.sequence is not None:
                self.sequence += c
                if '@' <= c <= '~' and c != '[':
                    self.control(self.sequence[1:-1], c)
                    self.sequence = None
            elif c == '\033':
                self.sequence = ''
            elif c == '\r':
                self.column = 0
            elif c == '\n':
                self.down()
            elif c >= ' ':
                self.put(c)
            else:
                raise ValueError('unknown control byte %r' % c)

    def resize(self, width, height, reflow):
        if reflow:
            lines, line = [], []
            for cells, goes_on in self.rows[:self.row]:
                line += cells
                if not goes_on:
                    lines.append(line)
                    line = []
            old, self.rows = lines, [[[], False]]
            self.row = self.column = 0
            self.width = width
            for line in old:
                for c in filter(None, line):
                    self.put(c)
                self.column = 0
                self.down()
        self.width, self.height = width, height


class Run:
    def __init__(self, width, height, limit, command):
        self.screen = Screen(width, height)
        self.limit = limit
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # The size is there before the program can ask for it.
            self.set_size(0, width, height)
            if 'TERMINAL_INPUT' in os.environ:
                os.dup2(os.open(os.environ['TERMINAL_INPUT'], os.O_RDONLY), 0)
            os.execvp(command[0], command)
        self.set_size(self.fd, width, height)

    @staticmethod
    def set_size(fd, width, height):
        fcntl.ioctl(fd, termios.TIOCSWINSZ,
                    struct.pack('HHHH', height, width, 0, 0))

    def read(self, deadline, most=3600):
        """Takes what comes; False: the program has closed the terminal."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if select.select([self.fd], [], [], min(left, most))[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b''
            if not data:
                return False
            self.screen.feed(data)
        return True

    def step(self, word, rest):
        deadline = time.monotonic() + self.limit
        if word in ('expect', 'until'):
            regex, _, command = rest.partition(' :: ')
            while not re.search(regex, self.screen.text(), re.M):
                if command:
                    subprocess.run(command, shell=True, check=True)
                if not self.read(deadline, 0.05 if command else self.limit):
                    raise EOFError('it has ended')
        elif word == 'lacks':
            if re.search(rest, self.screen.text(), re.M):
                raise AssertionError('it is there')
        elif word == 'times':
            number, regex = rest.split(' ', 1)
            found = len(re.findall(regex, self.screen.text(), re.M))
            if found != int(number):
                raise AssertionError('%d times' % found)
        elif word == 'send':
            try:
                os.write(self.fd,
                         rest.encode().decode('unicode_escape').encode())
            except OSError:
                pass  # it has just ended
        elif word == 'resize':
            size = rest.split()
            width, height = int(size[0]), int(size[1])
            self.screen.resize(width, height, len(size) > 2)
            self.set_size(self.fd, width, height)
        elif word == 'run':
            subprocess.run(rest, shell=True, check=True, timeout=self.limit)
        elif word == 'drained':
            fd = os.open(rest, os.O_RDWR | os.O_NONBLOCK)
            while struct.unpack('i', fcntl.ioctl(fd, termios.FIONREAD,
                                                 bytes(4)))[0]:
                self.read(deadline, 0.02)
            os.close(fd)
        elif word == 'save':
            with open(rest, 'w', encoding='utf-8') as file:
                file.write(self.screen.text())
        elif word == 'interrupt':
            self.step('send', '\\x03')
            next_one = time.monotonic() + 0.5
            while self.read(deadline, max(0, next_one - time.monotonic())):
                if time.monotonic() >= next_one:
                    self.step('send', '\\x03')
                    next_one = time.monotonic() + 0.5
            self.step('end', rest)
        elif word == 'signal':
            os.kill(self.pid, getattr(signal, 'SIG' + rest))
        elif word == 'end':
            while self.read(deadline):
                pass
            os.close(self.fd)
            _, status = os.waitpid(self.pid, 0)
            self.pid = 0
            if os.waitstatus_to_exitcode(status) != int(rest):
                raise AssertionError(
                    'status %d' % os.waitstatus_to_exitcode(status))
        else:
            raise ValueError('unknown step')


def main():
    width, height, limit = (int(s) for s in sys.argv[1:4])
    run = Run(width, height, limit, sys.argv[4:])
    try:
        for line in sys.stdin.read().splitlines():
            word, _, rest = line.strip().partition(' ')
            if not word or word.startswith('#'):
                continue
            try:
                run.step(word, rest)
            except Exception as problem:
                sys.exit('step "%s": %s %s; the screen:\n%s' %
                         (line.strip(), type(problem).__name__, problem,
                          run.screen.text()))
    finally:
        if run.pid > 0:
            os.kill(run.pid, signal.SIGKILL)
            os.waitpid(run.pid, 0)


main()

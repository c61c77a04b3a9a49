# SPDX-License-Identifier: Apache-2.0
"""How fast appended lines arrive at a client that follows a file.

follow.py burst FILE LOG COMMAND   seconds from the append of LOG to its last
                                   line at the client, all of it compared
follow.py delay FILE N COMMAND     median milliseconds of N single lines
follow.py end FILE N COMMAND       most milliseconds that N clients took to be
                                   gone after SIGTERM, and after a line that
                                   nobody read any more

COMMAND (for a shell) prints what is added to FILE, of which it shows the last
line first.
"""
import statistics
import subprocess
import sys
import time

mode, path, what, command = sys.argv[1:]


def follow():
    """A client that shows what is added to the file."""
    with open(path, "wb") as f:
        f.write(b"begin\n")
    client = subprocess.Popen(["sh", "-c", "exec " + command],
                              stdout=subprocess.PIPE)
    if client.stdout.readline() != b"begin\n":
        sys.exit("follow.py: it does not follow: " + command)
    return client


def burst(client):
    with open(what, "rb") as log:
        data = log.read()
    with open(path, "ab", buffering=0) as f:
        start = time.monotonic()
        f.write(data)
        got = client.stdout.read(len(data))
        took = time.monotonic() - start
    if got != data:
        sys.exit("follow.py: other lines than were written")
    return took


def delay(client):
    delays = []
    with open(path, "ab", buffering=0) as f:
        for i in range(int(what)):
            line = b"line %d\n" % i
            start = time.monotonic()
            f.write(line)
            if client.stdout.readline() != line:
                sys.exit("follow.py: another line than was written")
            delays.append(1000 * (time.monotonic() - start))
            time.sleep(0.01)  # single lines, not a burst
    return statistics.median(delays)


def end(is_told):
    """Milliseconds until it is gone, whom SIGTERM or the pipe has told."""
    client = follow()
    if is_told:
        start = time.monotonic()
        client.terminate()
    else:
        client.stdout.close()
        start = time.monotonic()
        with open(path, "ab", buffering=0) as f:
            f.write(b"nobody reads this\n")
    client.wait()
    return 1000 * (time.monotonic() - start)


if mode == "end":
    print("%.0f" % max(end(i % 2 == 0) for i in range(2 * int(what))))
    sys.exit(0)
client = follow()
try:
    print("%.3f" % (burst if mode == "burst" else delay)(client))
finally:
    client.terminate()
    client.wait()

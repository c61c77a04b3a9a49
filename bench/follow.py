# SPDX-License-Identifier: Apache-2.0
"""How fast appended lines arrive at a client that follows a file.

follow.py burst FILE LOG COMMAND   seconds from the append of LOG to its last
                                   line at the client, all of it compared
follow.py delay FILE N COMMAND     median milliseconds of N single lines

COMMAND (for a shell) prints what is added to FILE, of which it shows the last
line first.
"""
import statistics
import subprocess
import sys
import time

mode, path, what, command = sys.argv[1:]
with open(path, "wb") as f:
    f.write(b"begin\n")
client = subprocess.Popen(["sh", "-c", "exec " + command],
                          stdout=subprocess.PIPE)
out = client.stdout
try:
    if out.readline() != b"begin\n":
        sys.exit("follow.py: it does not follow: " + command)
    with open(path, "ab", buffering=0) as f:
        if mode == "burst":
            with open(what, "rb") as log:
                data = log.read()
            start = time.monotonic()
            f.write(data)
            got = out.read(len(data))
            print("%.3f" % (time.monotonic() - start))
            if got != data:
                sys.exit("follow.py: other lines than were written")
        else:
            delays = []
            for i in range(int(what)):
                line = b"line %d\n" % i
                start = time.monotonic()
                f.write(line)
                if out.readline() != line:
                    sys.exit("follow.py: another line than was written")
                delays.append(1000 * (time.monotonic() - start))
                time.sleep(0.01)  # single lines, not a burst
            print("%.3f" % statistics.median(delays))
finally:
    client.terminate()
    client.wait()

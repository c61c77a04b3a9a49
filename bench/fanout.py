# SPDX-License-Identifier: Apache-2.0
"""One client, many servers: fanout.py COMMAND...

Prints seconds to the first byte of output, seconds to the end, the client's
CPU seconds, its peak memory in KiB, and how many lines it printed.
"""
import os
import subprocess
import sys
import time

start = time.monotonic()
client = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
data = os.read(client.stdout.fileno(), 65536)
first = time.monotonic() - start
lines = data.count(b"\n")
while data:
    data = os.read(client.stdout.fileno(), 65536)
    lines += data.count(b"\n")
_, status, usage = os.wait4(client.pid, 0)
end = time.monotonic() - start
print(f"{first:.3f} {end:.3f} {usage.ru_utime + usage.ru_stime:.3f} "
      f"{usage.ru_maxrss} {lines}")

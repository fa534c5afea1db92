#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What placing costs the clients of a busy memcached while it is at work.

    bench/place_memcached.py build/cli/hashdist [ROUNDS [SECONDS]]

Each round is a stretch of time without placing (A) and one with (B), in turn, on a fresh
server each: one client over a local socket asks for random keys, one request at a time, and
notes how long each answer takes. Prints throughput and the 99.9th percentile of both, medians
and ratios; and of placing its longest step and how many were beyond its limit.
"""

import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ITEMS, VALUE, STEP_MS = 300000, b"v" * 400, 20


def connect(path):
    for _ in range(200):
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(path)
            return link
        except OSError:
            link.close()
            time.sleep(0.05)
    sys.exit("memcached does not answer")


def fill(path):
    link = connect(path)
    for first in range(0, ITEMS, 10000):
        link.sendall(b"".join(b"set key-%d 0 0 %d noreply\r\n%s\r\n" % (i, len(VALUE), VALUE)
                              for i in range(first, first + 10000)))  # fmt: skip
    link.sendall(b"mn\r\n")
    while not link.recv(1 << 16).endswith(b"MN\r\n"):
        pass
    link.close()


def ask(path, seconds, seed):
    """Seconds each answer took."""
    link, keys, took = connect(path), random.Random(seed), []
    end = time.perf_counter() + seconds
    while True:
        begin = time.perf_counter()
        if begin > end:
            link.close()
            return took
        link.sendall(b"get key-%d\r\n" % keys.randrange(ITEMS))
        answer = b""
        while not answer.endswith(b"END\r\n"):
            answer += link.recv(1 << 16)
        took.append(time.perf_counter() - begin)


def stretch(hashdist, seconds, placing, seed):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "socket")
        server = subprocess.Popen(["memcached", "-u", "root", "-m", "1024", "-t", "1", "-s", path])
        try:
            fill(path)
            place = placing and subprocess.Popen(
                [hashdist, "place", "--pid", str(server.pid), "--step", str(STEP_MS), "--json",
                 "--record", os.path.join(directory, "record")], stdout=subprocess.PIPE, text=True)  # fmt: skip
            took = ask(path, seconds, seed)
            told = json.loads(place.communicate()[0]) if place else None
        finally:
            server.terminate()
            server.wait()
    took.sort()
    return len(took) / seconds, took[int(len(took) * 0.999)], told


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    hashdist = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 4
    without, placed = [], []
    for n in range(rounds):
        without.append(stretch(hashdist, seconds, False, n))
        placed.append(stretch(hashdist, seconds, True, n))
    for what, rows in (("without placing", without), ("while placing", placed)):
        print(f"{what:16} {statistics.median(r[0] for r in rows):8.0f} requests/s, "
              f"99.9th percentile {statistics.median(r[1] for r in rows) * 1e3:.2f} ms")  # fmt: skip
    pairs = list(zip(without, placed))
    print(f"{'ratio, medians':16} {statistics.median(b[0] / a[0] for a, b in pairs):8.2f} of the throughput, "
          f"{statistics.median(b[1] / a[1] for a, b in pairs):.2f} of the percentile")  # fmt: skip
    results = [told["result"] for _, _, told in placed]
    print(f"placing: {statistics.median(r['collapsed_blocks'] for r in results):.0f} blocks in "
          f"{statistics.median(r['wall_us'] for r in results) / 1e6:.1f} s; steps {sum(r['steps'] for r in results)}, "
          f"the longest {max(r['longest_step_us'] for r in results) / 1e3:.1f} ms, "
          f"beyond {STEP_MS} ms: {sum(r['slow_steps'] for r in results)}")  # fmt: skip


if __name__ == "__main__":
    main()

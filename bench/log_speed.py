#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast does `hashdist report --log` read, next to `grep -c` on the same file?

Makes a file of concatenated boot logs, runs both in turn (A B A B ...) on it, from the page cache,
and prints medians and the ratio. Two files: the recorded excerpts, in which every other line
matters and a boot is 3 KiB; and the same boots with the hundreds of other lines that a whole log
has around them.

usage: log_speed.py HASHDIST LOGDIR [MIB] [ROUNDS]
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

FILLER = "[    0.{:06d}] pci 0000:{:02x}:1f.{}: BAR 0 [mem 0x{:08x}-0x{:08x} 64bit pref]\n"


def filler(lines):
    return "".join(FILLER.format(i, i % 256, i % 8, i * 4096, i * 4096 + 4095) for i in range(lines))


def build(path, logs, mib, between):
    """Concatenate until the file has the size; returns its bytes."""
    extra = filler(between).encode() if between else b""
    piece = b"".join(log + extra for log in logs)
    want = mib << 20
    with open(path, "wb") as out:
        written = 0
        while written < want:
            out.write(piece)
            written += len(piece)
    return written


def run(command):
    """Seconds. Output goes to a file: grep stops at its first match when it is /dev/null."""
    with tempfile.TemporaryFile() as out:
        start = time.monotonic()
        subprocess.run(command, stdout=out, stderr=subprocess.DEVNULL, check=False,
                       env={**os.environ, "LC_ALL": "C"})
        return time.monotonic() - start


def compare(title, path, binary, rounds):
    grep = ["grep", "-c", "hash table entries", path]
    ours = [binary, "report", "--log", path]
    for command in (grep, ours):
        run(command)
    a, b = [], []
    for _ in range(rounds):
        a.append(run(grep))
        b.append(run(ours))
    grep_s, ours_s = statistics.median(a), statistics.median(b)
    print(f"{title:<28} grep -c {grep_s:6.2f} s   hashdist {ours_s:6.2f} s   "
          f"ratio {ours_s / grep_s:5.2f}   (min {min(y / x for x, y in zip(a, b)):.2f}, "
          f"max {max(y / x for x, y in zip(a, b)):.2f})")


def main():
    binary, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    mib = int(sys.argv[3]) if len(sys.argv) > 3 else 1024
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    logs = [path.read_bytes() for path in sorted(directory.glob("*.log"))]
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "logs")
        for title, between in (("excerpts", 0), ("whole logs", 700)):
            size = build(path, logs, mib, between)
            compare(f"{title}, {size >> 20} MiB", path, binary, rounds)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What hashdist run costs: per small malloc(), per start; and what large blocks gain by size.

  preload_overhead.py HASHDIST PROGRAM     (PROGRAM: bench/preload_malloc.c)

Runs with and without alternate; medians, and their ratio. Processor time of the process.
"""

import resource
import statistics
import subprocess
import sys

ROUNDS = 7
BIN, PROGRAM = sys.argv[1:3]
WAYS = {
    "without": [],
    "hooks": [BIN, "run", "--scan", "0", "--"],
    "hooks and scanner": [BIN, "run", "--"],
}


def figure(command):
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def cpu_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(20):
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used / 20 * 1e6


def compare(title, unit, measure, ways=tuple(WAYS)):
    seen = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way in ways:
            seen[way].append(measure(WAYS[way]))
    base = statistics.median(seen["without"])
    for way in ways:
        middle = statistics.median(seen[way])
        print(f"{title:<28} {way:<18} {middle:12.1f} {unit}  x{middle / base:.3f}", flush=True)


compare("malloc(64) and free()", "ns", lambda way: figure([*way, PROGRAM]))
compare("start and end of true(1)", "us", lambda way: cpu_of([*way, "true"]))
for mib in (1, 2, 3, 4, 8, 16):
    small = ["--min", "1M"]
    WAYS["advised"] = [BIN, "run", "--scan", "0", *small, "--"]
    compare(
        f"{mib} MiB got, filled, freed",
        "ns",
        lambda way: figure([*way, PROGRAM, str(mib << 20)]),
        ("without", "advised"),
    )

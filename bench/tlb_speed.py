#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many accesses a second does the TLB model take, and cachegrind for the same program?

    bench/tlb_speed.py build [--stream FILE] [--files 20000] [--rounds 5]

The stream is what a real git diff in a real kernel accesses, user and kernel, as
bench/gitdiff/gitdiff.py records it; without --stream it is recorded first. The model replays it in one
thread. Cachegrind runs the same git diff on a tree of the same shape, user mode only: a program that
simulates caches while it translates, so the comparison says what order of speed to expect of a simulator,
not that one is better. Both by CPU time. Needs valgrind for that part, and says so without.
"""

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "gitdiff"))
import tree  # noqa: E402

WANTED = 150  # million accesses a second


def record(build, files, limit, to):
    subprocess.run([HERE / "gitdiff/gitdiff.py", Path(build) / "bench/gitdiff", "--files", str(files),
                    "--memory", "1024" if files <= 20000 else "2048", "--setups", "4k",
                    "--repetitions", "1", "--tlbs", "kaby-lake", "--record", str(to),
                    "--limit", str(limit)], check=True, stdout=subprocess.DEVNULL)  # fmt: skip


def child_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cachegrind(files):
    """Millions of data references a second, and how many."""
    with tempfile.TemporaryDirectory(prefix="hashdist-tree-") as place:
        tree.make(Path(place), tree.paths(files))
        before = child_seconds()
        done = subprocess.run(["valgrind", "--tool=cachegrind", "--cachegrind-out-file=/dev/null",
                               "--cache-sim=yes", "git", "-C", place, "diff"],
                              capture_output=True, text=True, check=True)  # fmt: skip
        took = child_seconds() - before
    references = int(re.search(r"D +refs: +([\d,]+)", done.stderr).group(1).replace(",", ""))
    return references / 1e6 / took, references


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("build", help="where tlb-speed and the plugin were built")
    p.add_argument("--stream", help="of gitdiff.py --record; recorded if not given")
    p.add_argument("--files", type=int, default=20000, help="in the tree; %(default)s")
    p.add_argument("--limit", type=int, default=1 << 26, help="events to record; 2^26, 512 MiB")
    p.add_argument("--rounds", type=int, default=5, help="%(default)s")
    options = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="hashdist-stream-") as place:
        stream = options.stream or Path(place) / "stream"
        if not options.stream:
            record(options.build, options.files, options.limit, stream)
        command = [Path(options.build) / "bench/tlb-speed", "-r", str(options.rounds), stream]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    print(text, end="")
    speeds = {row[0]: float(row[1]) for row in (line.split() for line in text.splitlines()[2:])}
    if not shutil.which("valgrind"):
        print("cachegrind: not compared, valgrind is not installed")
        return
    speed, references = cachegrind(options.files)
    print(f"\ncachegrind     {speed:8.1f} M/s, {references} data references of git diff, user mode")
    print(f"kaby-lake is {speeds['kaby-lake'] / speed:.0f} times that; wanted are {WANTED} M/s")


if __name__ == "__main__":
    main()

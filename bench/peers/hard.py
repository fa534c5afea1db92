#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of a large table comes out on huge pages when free memory is not what it should be?

Three states of the machine, made afresh before every measurement:

  cache    small pages of files fill memory: little is free, the rest has to be reclaimed first
  movable  little but pieces is free; in between are pages of programs, which can be moved
  pinned   the same, but what is in between cannot be moved: no huge page can be made

hd_alloc() is measured there next to its peers, interleaved. Then half of what is in the way is
given back (one of two files' pages, half of the pages in between), and hd_repair() is measured.

Takes all of free memory while it runs, and is the first to end when that is too much; reads files
as large as memory, which are holes and take no room, in a directory that is no tmpfs.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # not into the source tree

from peerlib import (GIB, METHODS, MIB, Bench, Failed, OtherLoad, die_first, end_on_sigterm,
                     environment, machine, machine_text, meminfo, put, size_bytes, size_text,
                     understood)

DEFAULT = "hashdist,thp-populate,thp,libnuma-thp,calloc"
CASES = ("cache", "movable", "pinned")
FREE_WITH_CACHE = 384 * MIB


def whole_blocks():
    """Bytes that are free in blocks of 2 MiB and more, of 4K pages."""
    free = 0
    for line in pathlib.Path("/proc/buddyinfo").read_text().splitlines():
        orders = [int(count) for count in line.split("zone", 1)[1].split()[1:]]
        free += sum(count << (order + 12) for order, count in enumerate(orders) if order >= 9)
    return free


class Cache:
    """Pages of two files in most of memory, 16 KiB of the one beside 16 KiB of the other. The first
    one's are in use (read twice) and the kernel lets go of the second one's before, so that what
    becomes free is in pieces at first. Read at random, so that no page of the cache is large."""

    PIECE = 16384

    def __init__(self, scratch):
        # Unnamed from the start, so nothing stays behind; and all a hole.
        self.files = [tempfile.TemporaryFile(dir=scratch) for _ in range(2)]
        self.size = meminfo("MemTotal") // MIB * MIB
        self.at = 0
        for file in self.files:
            file.truncate(self.size)
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)

    def prepare(self):
        piece = bytearray(self.PIECE)
        used, unused = (file.fileno() for file in self.files)
        for _ in range(self.size // MIB):
            if meminfo("MemFree") <= FREE_WITH_CACHE:
                return
            for at in range(self.at, self.at + MIB, self.PIECE):
                os.preadv(used, [piece], at)
                os.preadv(used, [piece], at)
                os.preadv(unused, [piece], at)
            self.at = (self.at + MIB) % self.size
        raise Failed(f"reading files leaves {meminfo('MemFree') // MIB} MiB free: is the "
                     "directory for them on a disk?")

    def give_half_back(self):
        os.posix_fadvise(self.files[1].fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def close(self):
        for file in self.files:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            file.close()


class Fragments:
    """The program fragment, and its answers."""

    def __init__(self, programs, size, *options):
        # Room for the table and some more in pieces.
        self.run = subprocess.Popen([pathlib.Path(programs) / "fragment", *options,
                                     str(size * 7 // 4 + 256 * MIB)],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer("started")

    def answer(self, to):
        if self.run.stdout.readline() != "done\n":
            raise Failed(f"fragment ended ({to}), status {self.run.wait()}")

    def tell(self, word):
        try:
            self.run.stdin.write(word + "\n")
            self.run.stdin.flush()
        except BrokenPipeError:
            pass
        self.answer(word)

    def prepare(self):
        self.tell("break")

    def give_half_back(self):
        self.tell("half")

    def close(self):
        self.run.kill()
        self.run.wait()


def measure(bench, method, size, state):
    """One run: what it printed, and how many bytes were free in whole blocks before."""
    ours = method.kind == "ours"
    command = bench.command(method, size, *(["--repair"] if ours else []))
    blocks = whole_blocks()
    with subprocess.Popen(command, env=environment(method.env), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            first = run.stdout.readline()
            if ours and first == "ready\n":
                state.give_half_back()
            out, err = run.communicate("go\n")
        except BaseException:
            run.kill()
            raise
    return {"blocks_before": blocks, **understood(method, run.returncode, first + out, err)}


def run_case(name, bench, options, methods, size, lost, tell):
    """{method: runs} of one state of the machine."""
    runs = {method.name: [] for method in methods}
    state = (Cache(options.scratch) if name == "cache" else
             Fragments(options.programs, size, *(["--pin"] if name == "pinned" else [])))
    try:
        for number in range(options.rounds):
            for method in methods:
                tell(f"{name}, round {number + 1} of {options.rounds}: {method.name}")
                state.prepare()
                try:
                    runs[method.name].append(measure(bench, method, size, state))
                except Failed as why:
                    lost.append({"case": name, "method": method.name, "why": str(why)})
                    if isinstance(state, Fragments) and state.run.poll() is not None:
                        return runs
    finally:
        state.close()
    return runs


# ---- the table -------------------------------------------------------------------------


COLUMNS = ("memory", "method", "whole blocks before", "ready s/GiB", "least-most", "huge %",
           "repair s/GiB", "huge % then")


def spread(values, digits):
    return f"{min(values):.{digits}f}-{max(values):.{digits}f}"


def cells(case, name, runs, size):
    ready = [run["ready_s"] * GIB / size for run in runs]
    huge = [100 * run["huge_bytes"] / size for run in runs]
    mended = [100 * run["repaired_huge_bytes"] / size for run in runs if "repair_s" in run]
    repair = [run["repair_s"] * GIB / size for run in runs if "repair_s" in run]
    return (case, name, f"{statistics.median(run['blocks_before'] for run in runs) / MIB:.0f} MiB",
            f"{statistics.median(ready):.2f}", spread(ready, 2),
            f"{statistics.median(huge):.0f} ({spread(huge, 0)})",
            f"{statistics.median(repair):.2f}" if repair else "-",
            f"{statistics.median(mended):.0f} ({spread(mended, 0)})" if mended else "-")


def markdown(about, results, size, lost, others, command):
    text = [f"    {command}\n\n{machine_text(about)}. Other processes kept {others:.2f} CPUs busy "
            f"meanwhile.\n\n**{size_text(size)}**\n\n"]
    lines = [COLUMNS, tuple("---" for _ in COLUMNS)]
    lines += [cells(case, name, runs, size) for case, methods in results.items()
              for name, runs in methods.items() if runs]
    text += ["| " + " | ".join(line) + " |\n" for line in lines]
    text += [f"\n- lost: {entry['case']}: {entry['why']}\n" for entry in lost]
    return "".join(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("programs", help="where peers-plain and the others were built")
    parser.add_argument("--size", default="2G", help="2G")
    parser.add_argument("--rounds", type=int, default=3, help="3")
    parser.add_argument("--cases", default=",".join(CASES), help=",".join(CASES))
    parser.add_argument("--methods", default=DEFAULT, help=DEFAULT)
    parser.add_argument("--scratch", metavar="DIRECTORY", default=tempfile.gettempdir(),
                        help="for files that are all hole, as large as memory; no tmpfs")
    parser.add_argument("--json", metavar="FILE", help="every figure of every run")
    parser.add_argument("--markdown", metavar="FILE",
                        help="the table; into the place marked for it if FILE has one")
    return parser.parse_args()


def main():
    options = arguments()
    known = {method.name: method for method in METHODS if method.kind != "limit"
             and not method.pool}
    try:
        size = size_bytes(options.size)
    except ValueError as why:
        sys.exit(f"hard.py: {why}")
    for what, there in ((options.methods, known), (options.cases, CASES)):
        for name in what.split(","):
            if name not in there:
                sys.exit(f"hard.py: no {name}; there are: {' '.join(there)}")
    if meminfo("MemAvailable") < 4 * size:
        sys.exit(f"hard.py: {size_text(size)} need four times as much available, and "
                 f"{meminfo('MemAvailable') // MIB} MiB are")
    end_on_sigterm()
    die_first()
    bench = Bench(options.programs)
    methods = [known[name] for name in options.methods.split(",")]
    for method in list(methods):
        if bench.why_absent(method):
            print(f"absent: {method.name}: {bench.why_absent(method)}")
            methods.remove(method)

    def tell(what):
        if sys.stderr.isatty():
            print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)

    lost, results, load = [], {}, OtherLoad()
    for case in options.cases.split(","):
        try:
            results[case] = run_case(case, bench, options, methods, size, lost, tell)
        except Failed as why:
            lost.append({"case": case, "method": None, "why": str(why)})
    tell("")
    command = (f"bench/peers/hard.py build/bench/peers --size {options.size} "
               f"--rounds {options.rounds}")
    about, others = machine(), load.cpus()
    text = markdown(about, results, size, lost, others, command)
    print(text, end="")
    if options.markdown:
        put(options.markdown, "hard.py", text)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"command": command, "machine": about, "other_cpus_busy": round(others, 3),
                       "bytes": size, "results": results, "lost": lost}, out, indent=1)
            out.write("\n")
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tool under faults: each allocation and each system call of it fails, one at a time.

    test_faults.py                     of each case and each call some, the same ones each time
    test_faults.py --all [--jobs N]    every one
    test_faults.py --case NAME...      of some cases only
    test_faults.py --again CASE FAULT  one again, with all it says
    test_faults.py --list              the cases

cases.py has the runs that are disturbed, faults.py the ways to disturb them, judge.py what must hold.
From the environment: HASHDIST_BIN; FAULT_SHIM, shim.c preloaded; SEVEN_BIN and STILL_BIN, a program
that ends with status 7, linked dynamically and statically; VICTIM_BIN, tests/place/victim.c.
Exit status 0 all held, 1 not, 77 cannot run here.
"""

import argparse
import collections
import concurrent.futures
import os
import shlex
import shutil
import sys
import tempfile
import time

import support
from cases import CASES, make_inputs
from faults import ERRNOS, NONE, UNLISTED, Fault, again, calls_of, hit_the_tool, run_case
from judge import judge
from targets import Place

MANY = 24  # of a call that is made more often than this, each occurrence fails in one way only
ROOM = (0, 1, 3000)
SHORT = (61, 1)


def picks(numbers, count):
    """@count of them, the first, the last, and between them at equal distances."""
    if count is None or len(numbers) <= count:
        return list(numbers)
    if count == 1:
        return [numbers[0]]
    return [numbers[round(i * (len(numbers) - 1) / (count - 1))] for i in range(count)]


def alloc_faults(calls, quick):
    numbers = range(1, calls + 1)
    return [Fault("alloc", n, "once") for n in picks(numbers, 5 if quick else None)] + [
        Fault("alloc", n, "after") for n in picks(numbers, 3 if quick else None)
    ]


def call_faults(calls, quick, turn):
    """@turn: where to begin in a list of errors, so that the quick form does not always take the first."""
    found = []
    for name, numbers in calls.items():
        errors = ERRNOS.get(name, UNLISTED)
        for i, number in enumerate(picks(numbers, 1 if quick else None)):
            every = not quick and len(numbers) <= MANY
            found += [Fault("call", number, name, error)
                      for error in (errors if every else (errors[(turn + i) % len(errors)],))]  # fmt: skip
    return found


def other_faults(base, quick):
    size = len(base.out)
    rooms = sorted({room for room in (*ROOM, size // 2, size - 1) if 0 <= room})
    return [Fault("room", room) for room in (picks(rooms, 2) if quick else rooms)] + [
        Fault("short", most) for most in (SHORT[:1] if quick else SHORT)
    ]


def cannot(case):
    """What this machine lacks for it; None: nothing."""
    if case.needs and not shutil.which(case.needs):
        return case.needs
    if case.target and case.name.startswith("place"):
        probe = Place()
        try:
            probe.setUp()
            probe.doCleanups()
        except (AssertionError, Exception) as error:  # skipped or failed: it says what is missing
            return str(error)
    return None


class Tests:
    def __init__(self, options, inputs):
        self.options, self.inputs = options, inputs
        self.count = collections.Counter()
        self.beside = self.wrong = self.skipped = self.chance = 0
        self.pool = concurrent.futures.ThreadPoolExecutor(options.jobs)

    def base_of(self, case):
        base = run_case(case, NONE, self.inputs)
        wrong = judge(case, base, base)
        if wrong or base.status not in (0, 3, *case.own):
            self.report(case, base, wrong or [f"status {base.status} undisturbed"])
            return None
        return base

    def report(self, case, run, wrong):
        self.wrong += 1
        print(f"{case.name} {run.fault}: {'; '.join(wrong)}")
        for line in run.injected[:2]:
            print(f"    {line[:160]}")
        for line in run.err.decode("utf-8", "replace").splitlines()[:3]:
            print(f"    | {line[:160]}")
        print(f"    {again(case, run.fault)}", flush=True)

    def one(self, case, fault, base):
        run = run_case(case, fault, self.inputs)
        hit = hit_the_tool(run) if fault.way == "call" else fault.way != "alloc" or run.book.failed
        return run, hit, judge(case, run, base) if hit else []

    def case(self, case, turn):
        lacks = cannot(case)
        if lacks:
            self.skipped += 1
            print(f"skipped: {case.name}: {lacks}")
            return
        begin, base = time.monotonic(), self.base_of(case)
        if not base:
            return
        quick = not self.options.all
        trace = run_case(case, Fault("trace"), self.inputs).trace
        calls = {name: numbers for name, numbers in calls_of(trace, case.follow).items() if name not in case.spared}
        faults = alloc_faults(base.book.calls, quick) + call_faults(calls, quick, turn)
        faults += other_faults(base, quick)
        for run, hit, wrong in self.pool.map(lambda fault: self.one(case, fault, base), faults):
            if not hit:
                self.beside += 1
                continue
            self.count[case.words[0], run.fault.way] += 1
            if wrong:  # what does not come again is a busy machine's, not the fault's
                run, _, wrong = self.one(case, run.fault, base)
                self.chance += not wrong
            if wrong:
                self.report(case, run, wrong)
        if self.options.verbose:
            print(f"{case.name}: {len(faults)} faults, {time.monotonic() - begin:.1f} s", flush=True)

    def summary(self):
        ways = ("alloc", "call", "short", "room")
        print(f"{'':10}" + "".join(f"{way:>8}" for way in ways))
        for verb in dict.fromkeys(verb for verb, _ in self.count):
            print(f"{verb:10}" + "".join(f"{self.count[verb, way]:8}" for way in ways))
        print(f"{sum(self.count.values())} faults, {self.wrong} wrong; {self.chance} wrong once and not "
              f"again; {self.beside} hit what the tool started")  # fmt: skip


def repeat(case, fault, inputs):
    base, run = run_case(case, NONE, inputs), run_case(case, fault, inputs)
    print("$", shlex.join(run.command))
    print("\n".join(run.injected))
    print(f"status {run.status}, undisturbed {base.status}; files {sorted(run.files)}")
    print(run.out.decode("utf-8", "replace") + run.err.decode("utf-8", "replace"))
    wrong = judge(case, run, base)
    print("; ".join(wrong) or "all holds")
    return bool(wrong)


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--case", nargs="+", default=())
    parser.add_argument("--again", nargs=2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def lacking():
    """What nothing here can do without."""
    if not shutil.which("strace"):
        return "strace"
    probe = support.start(["strace", "-o", os.devnull, "true"])
    return "" if probe.status == 0 else "the right to trace a process"


def main():
    options = read_options()
    known = {case.name: case for case in CASES}
    if options.list:
        print("\n".join(known))
        return 0
    lacks = lacking()
    if lacks:
        print(f"skipped: this machine lacks {lacks}")
        return 1 if os.environ.get("HASHDIST_REQUIRE_ALL") == "1" else 77
    with tempfile.TemporaryDirectory(prefix="hashdist-faults-") as directory:
        inputs = make_inputs(directory, *(os.path.abspath(os.environ[name]) for name in ("SEVEN_BIN", "STILL_BIN")))
        if options.again:
            return repeat(known[options.again[0]], Fault.read(options.again[1]), inputs)
        tests = Tests(options, inputs)
        for turn, case in enumerate(CASES):
            if not options.case or case.name in options.case:
                tests.case(case, turn)
        tests.summary()
    return 1 if tests.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

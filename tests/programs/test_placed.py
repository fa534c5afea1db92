#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real programs that run, mended by hashdist place: the same results, on huge pages.

--table prints the shares before and after in place of testing them.
"""

import importlib
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "preload"))

import support  # noqa: E402
from support import BIN, books  # noqa: E402

import base  # noqa: E402

# What placing is to reach of each. Edges of mappings that are no whole block stay as they are.
LEAST = {
    "memcached": 0.8, "memcached_grown": 0.8, "redis": 0.8, "sqlite": 0.7, "sort": 0.8,
    "python": 0.7, "git": 0.6, "gron": 0.6, "busybox_sort": 0.7, "hjson": 0.6,
}  # fmt: skip


class Outcome:
    """One program, placed or not while it holds its memory."""

    def __init__(self, name, placed):
        module = importlib.import_module(name)
        with tempfile.TemporaryDirectory() as place:
            program = module.Program(place)
            program.start()
            try:
                program.load()
                self.before = books.share(program.pids())
                self.said = [self.place(pid, place) for pid in program.pids()] if placed else []
                self.after = books.share(program.pids())
                self.saved = program.save() if hasattr(program, "save") else None
                self.digest = program.digest()
                self.status = program.stop()
            finally:
                if program.process.poll() is None:
                    program.process.kill()
                    program.process.wait()

    def place(self, pid, directory):
        return support.call([BIN, "place", "--pid", pid, "--min", "4M", "--busy", "100",
                             "--record", os.path.join(directory, f"record-{pid}")])  # fmt: skip


class Placed(support.Case):
    def check_program(self, name):
        self.need_huge_pages()
        if os.geteuid():
            self.skipTest("collapse from outside needs a right that only root is sure to have")
        try:
            without, placed = Outcome(name, False), Outcome(name, True)
        except base.Missing as missing:
            self.lacks(f"{missing} is not installed")
        self.assertEqual((placed.digest, placed.status, placed.saved),
                         (without.digest, without.status, without.saved))  # fmt: skip
        for said in placed.said:
            self.assertIn(said.returncode, (0, 3), said)
        self.assertGreaterEqual(placed.after, LEAST[name], placed.said)


def add(name):
    setattr(Placed, f"test_{name}_ends_on_huge_pages_and_as_before", lambda self: self.check_program(name))


for each in LEAST:
    add(each)


def table(names):
    print(f"{'program':<16} {'before':>7} {'after':>7}")
    for name in names or LEAST:
        try:
            without, placed = Outcome(name, False), Outcome(name, True)
        except base.Missing as missing:
            print(f"{name:<16} {missing} is not installed")
            continue
        same = (without.digest, without.status) == (placed.digest, placed.status)
        print(f"{name:<16} {placed.before:7.0%} {placed.after:7.0%}  {'same' if same else 'DIFFERENT'} result")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        table(sys.argv[2:])
    else:
        support.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real programs without and with hashdist run: the same results, on huge pages.

--table prints the shares in place of testing them.
"""

import importlib
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "preload"))

import support  # noqa: E402
from support import books  # noqa: E402

import base  # noqa: E402

# What is asked of each with us; without us none has more than NONE.
LEAST = {
    "memcached": 0.8,
    "memcached_grown": 0.8,
    "redis": 0.85,
    "sqlite": 0.75,
    "sort": 0.85,
    "python": 0.75,
    "git": 0.7,
    "gron": 0.7,
    "busybox_sort": None,
    "hjson": None,
}
OUTSIDE = {"busybox_sort": 0.75, "hjson": 0.6}  # what --from-outside is to reach of them
NONE = 0.2
ADVISES_ITSELF = ("gron", "hjson")  # the runtime of Go, now and then


class Outcome:
    def __init__(self, name, prefix, wanted):
        module = importlib.import_module(name)
        with tempfile.TemporaryDirectory() as place:
            program = module.Program(place)
            program.start(prefix)
            try:
                program.load()
                self.share = books.wait_share(program.pids(), wanted, 20 if wanted else 0)
                self.resident, self.huge = books.large(program.pids())
                self.saved = program.save() if hasattr(program, "save") else None
                self.digest = program.digest()
                self.status = program.stop()
            finally:
                if program.process.poll() is None:
                    program.process.kill()
                    program.process.wait()
            self.messages = program.messages()


class Programs(support.Case):
    def check_program(self, name):
        self.need_huge_pages()
        try:
            without = Outcome(name, [], 0)
            with_us = Outcome(name, support.run(), LEAST[name] or 0)
        except base.Missing as missing:
            self.lacks(f"{missing} is not installed")
        self.assertEqual(
            (with_us.digest, with_us.status, with_us.saved),
            (without.digest, without.status, without.saved),
        )
        self.assertGreater(without.resident, 8 * books.MIB)
        if name not in ADVISES_ITSELF:
            self.assertLess(without.share, NONE)
        if LEAST[name] is None:
            self.assertIn("--from-outside", with_us.messages)
            self.check_outside(name, without)
        else:
            self.assertEqual(with_us.messages, without.messages)
            self.assertGreaterEqual(with_us.share, LEAST[name])

    def check_outside(self, name, without):
        if os.geteuid():
            self.skipTest("placing from outside needs a right that only root is sure to have")
        outside = Outcome(name, support.run("--from-outside"), OUTSIDE[name])
        self.assertEqual((outside.digest, outside.status), (without.digest, without.status))
        self.assertEqual(outside.messages, without.messages)
        self.assertGreaterEqual(outside.share, OUTSIDE[name])


def add(name):
    claim = "is_on_huge_pages_and_as_before"
    if LEAST[name] is None:
        claim = "is_named_as_out_of_reach_and_placed_from_outside"
    setattr(Programs, f"test_{name}_{claim}", lambda self: self.check_program(name))


for each in LEAST:
    add(each)


def table(names):
    print(f"{'program':<16} {'large MiB':>9} {'without':>8} {'with':>8}")
    for name in names or LEAST:
        try:
            without = Outcome(name, [], 0)
            words = [] if LEAST[name] else ["--from-outside"]
            with_us = Outcome(name, support.run(*words), 0.97)
        except base.Missing as missing:
            print(f"{name:<16} {missing} is not installed")
            continue
        same = (without.digest, without.status) == (with_us.digest, with_us.status)
        print(
            f"{name:<16} {with_us.resident / books.MIB:9.0f} {without.share:8.0%} "
            f"{with_us.share:8.0%}  {'same' if same else 'DIFFERENT'} result, "
            f"status {with_us.status} {' '.join(words)}"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--table"]:
        table(sys.argv[2:])
    else:
        support.main()

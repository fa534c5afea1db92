# SPDX-License-Identifier: MIT
"""What the tests of hashdist run share.

From the environment:
  HASHDIST_BIN          the program under test
  HASHDIST_PRELOAD      its library
  HASHDIST_PROGRAMS     directory of the test programs
  HASHDIST_REQUIRE_ALL  1: nothing may be missing
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))

import books  # noqa: E402

BIN = os.path.abspath(os.environ.get("HASHDIST_BIN", "build/cli/hashdist"))
LIBRARY = os.path.abspath(
    os.environ.get("HASHDIST_PRELOAD", "build/preload/libhashdist-run.so")
)
PROGRAMS = Path(os.environ.get("HASHDIST_PROGRAMS", "build/tests/preload")).resolve()
HOLDER = str(PROGRAMS / "holder")
MANNERS = str(PROGRAMS / "manners")
THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
COLLAPSE = 25  # MADV_COLLAPSE
NOBODY = 65534


def run(*options):
    """The words in front of a command."""
    return [BIN, "run", *options, "--"]


def call(command, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
        **more,
    )


class Held:
    """The holder program while it waits."""

    def __init__(self, way, *options, mib=32, before=()):
        self.process = subprocess.Popen(
            [*before, *(run(*options) if options is not None else []), HOLDER, way, str(mib)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        line = self.process.stdout.readline().split()
        self.start = int(line[0], 16) if line else 0
        self.bytes = int(line[1]) if line else 0
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.communicate()

    def end(self):
        """Lets it look at its memory. Return: exit status, standard error."""
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err.decode()

    def resident(self):
        text = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii")
        return int(text.split()[1]) * os.sysconf("SC_PAGESIZE")

    def huge(self):
        """Bytes on huge pages, of any mapping."""
        text = Path(f"/proc/{self.pid}/smaps_rollup").read_text(encoding="ascii")
        return sum(
            int(line.split()[1]) << 10
            for line in text.splitlines()
            if line.startswith(("AnonHugePages:", "ShmemPmdMapped:", "FilePmdMapped:"))
        )


class Case(unittest.TestCase):
    longMessage = True
    maxDiff = None

    def lacks(self, reason):
        if os.environ.get("HASHDIST_REQUIRE_ALL") == "1":
            self.fail(f"must be present: {reason}")
        self.skipTest(reason)

    def need_huge_pages(self):
        try:
            words = THP.read_text(encoding="ascii")
        except FileNotFoundError:
            self.lacks("this kernel has no transparent huge pages")
        if "[madvise]" not in words:
            self.lacks(f"transparent huge pages are not on request here: {words.strip()}")

    def check_fine(self, held):
        status, err = held.end()
        self.assertEqual((status, err), (0, ""))


def main():
    for path in (BIN, LIBRARY, HOLDER, MANNERS):
        if not os.access(path, os.R_OK):
            sys.exit(f"{path} is not there")
    result = unittest.main(module="__main__", exit=False).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id().removeprefix('__main__.')}: {reason}", file=sys.stderr)
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun and len(result.skipped) == result.testsRun else 0)

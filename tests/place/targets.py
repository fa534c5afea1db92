# SPDX-License-Identifier: MIT
"""A program of this machine to be placed, and what tests of placing share.

VICTIM_BIN is victim.c: a table that is written all the time, and counted at the end.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

from support import hashdist

VICTIM = os.environ.get("VICTIM_BIN", "build/tests/place/victim")
THP = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
BY_KERNEL = pathlib.Path("/sys/kernel/mm/transparent_hugepage/khugepaged/pages_collapsed")
HUGE = 2 << 20
FAST = ("--busy", "100", "--step", "1000")


def kernel_at_least(*version):
    return tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) >= version


def collapsed_by_kernel():
    """Blocks khugepaged has collapsed so far, anybody's: it follows advice at its own pace."""
    return int(BY_KERNEL.read_text(encoding="ascii"))


class Victim:
    """One that runs; MiB of it are on 4K pages where the setting is "madvise"."""

    def __init__(self, mib, *words, user=None, before=()):
        self.mib = mib
        self.process = subprocess.Popen(
            [*before, VICTIM, str(mib), *words], stdout=subprocess.PIPE, text=True, user=user,
            extra_groups=[] if user else None, group=user,
        )  # fmt: skip
        _, self.address, self.bytes, pid = self.process.stdout.readline().split()
        self.pid = int(pid)

    def huge(self):
        """Bytes of the table on huge pages, as smaps has them."""
        text = pathlib.Path(f"/proc/{self.pid}/smaps").read_text(encoding="ascii", errors="replace")
        part = re.search(rf"^{int(self.address, 16):x}-.*?(?=^[0-9a-f]+-|\Z)", text, re.M | re.S)
        return int(re.search(r"AnonHugePages: +(\d+)", part.group())[1]) << 10

    def finish(self):
        """Its own verdict: not one write may be lost. Returns (exit status, its last line)."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out.strip()


@contextlib.contextmanager
def victim(mib, *words, **more):
    one = Victim(mib, *words, **more)
    try:
        yield one
    finally:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


class Place(unittest.TestCase):
    def setUp(self):
        if not THP.exists() or "[never]" in THP.read_text(encoding="ascii"):
            self.lacks("transparent huge pages that are not switched off")
        if "[always]" in THP.read_text(encoding="ascii"):
            self.lacks("transparent huge pages by advice only: here tables begin on them")
        if not kernel_at_least(6, 1):
            self.lacks("a kernel that collapses (6.1)")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.record = directory.name + "/record"

    def lacks(self, what):
        if os.environ.get("HASHDIST_REQUIRE_ALL") == "1":
            self.fail(f"this machine lacks {what}")
        self.skipTest(f"this machine lacks {what}")

    def place(self, target, *words, status=None, **more):
        result = hashdist("place", "--pid", str(target.pid), "--record", self.record, *words, **more)
        if status is not None:
            self.assertEqual(result.status, status, result)
        return result

    def told(self, target, *words, **more):
        return json.loads(self.place(target, "--json", *words, **more).out)

    def fine(self, target):
        status, said = target.finish()
        self.assertEqual(status, 0, said)
        self.assertIn("fine after", said)

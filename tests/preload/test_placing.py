#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What hooks and scanner put on huge pages, and what they leave alone."""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import support
from support import Held, books

# Shares that count as placed: the ends of a mapping, and blocks with a hole, hold no huge page.
MOST = 0.9
MOST_SCANNED = 0.85
HOOKED = (
    "malloc calloc realloc reallocarray posix_memalign aligned_alloc memalign mmap fixed early"
).split()
SCANNED = ("malloc", "mprotect", "small", "threads", "slabs")
LEFT_ALONE = ("refused", "shared", "code", "file")


class Placing(support.Case):
    def setUp(self):
        self.need_huge_pages()


class Hooks(Placing):
    def test_a_large_block_is_on_huge_pages_from_its_first_touch_on(self):
        for way in HOOKED:
            with self.subTest(way=way), Held(way, "--scan", "0") as held:
                self.assertGreaterEqual(books.share([held.pid]), MOST)
                self.check_fine(held)

    def test_without_us_the_same_block_is_not(self):
        for way in HOOKED:
            with self.subTest(way=way), Held(way, "--scan", "0", "--min", "1G") as held:
                self.assertEqual(books.share([held.pid]), 0.0)
                self.check_fine(held)

    def test_a_block_below_the_threshold_is_left_alone(self):
        with Held("malloc", "--scan", "0", "--min", "33M") as held:
            self.assertEqual(held.huge(), 0)
        with Held("malloc", "--scan", "0", "--min", "31M") as held:
            self.assertGreater(held.huge(), 0)

    def test_a_table_that_is_not_filled_does_not_become_resident(self):
        with Held("sparse", mib=512) as held:
            time.sleep(0.5)
            self.assertLess(held.resident(), 16 * books.MIB)
            self.check_fine(held)

    def test_a_block_larger_than_memory_is_not_advised(self):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
        with Held("sparse", "--scan", "0", mib=memory // books.MIB * 3 // 4) as held:
            if not held.bytes:
                self.skipTest("no such block is given here")
            self.assertEqual(held.huge(), 0)


class Scanner(Placing):
    def test_what_no_hook_sees_comes_onto_huge_pages(self):
        for way in SCANNED:
            with self.subTest(way=way), Held(way, "--no-hooks", mib=64) as held:
                now = books.wait_share([held.pid], MOST_SCANNED)
                self.assertGreaterEqual(now, MOST_SCANNED)
                self.check_fine(held)

    def test_a_heap_that_is_not_half_full_stays_as_it_is(self):
        with Held("sparse", "--no-hooks", mib=256) as held:
            time.sleep(1)
            self.assertLess(held.resident(), 16 * books.MIB)

    def test_a_program_that_drops_its_privileges_before_is_placed_too(self):
        if os.geteuid():
            self.skipTest("needs root")
        with Held(
            "small", "--children", mib=64, before=["setpriv", "--reuid=65534", "--clear-groups"]
        ) as held:
            now = books.wait_share([held.pid], MOST_SCANNED)
            self.assertGreaterEqual(now, MOST_SCANNED)
            self.check_fine(held)


class Both(Placing):
    def test_advice_against_code_files_and_shared_memory_are_respected(self):
        for way in LEFT_ALONE:
            with self.subTest(way=way), Held(way) as held:
                time.sleep(0.7)
                self.assertEqual(held.huge(), 0)
                self.check_fine(held)

    def test_huge_pages_switched_off_by_the_parent_are_on_again(self):
        off = [sys.executable, "-c", OFF]
        with Held("malloc", "--scan", "0", before=off) as held:
            self.assertGreaterEqual(books.share([held.pid]), MOST)
            self.check_fine(held)

    def test_a_kill_is_a_kill(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            with self.subTest(signal=number), Held("slabs") as held:
                held.process.send_signal(number)
                self.assertEqual(held.process.wait(20), -number)
                held.process.communicate()


class Explained(Placing):
    def test_each_decision_is_a_line_of_the_file(self):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "log")
            with Held("malloc", f"--explain={path}") as held:
                books.wait_share([held.pid], MOST)
                self.check_fine(held)
            lines = path.read_text(encoding="ascii").splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(
                line, rf"^\d+\.\d{{3}} {held.pid} [0-9a-f]+-[0-9a-f]+ \d+ (malloc|scan|mmap): "
            )

    def test_standard_error_that_became_another_file_gets_no_line(self):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "other")
            # The first shell becomes the second program, with another file as number 2.
            command = f'exec 2>"{path}"; exec {support.HOLDER} malloc'
            done = support.call([*support.run("--explain"), "bash", "-c", command])
            self.assertEqual(done.returncode, 0)
            text = path.read_text(encoding="ascii")
        self.assertRegex(text, r"^(\d+\.\d{3} .*\n)*$")


OFF = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""

if __name__ == "__main__":
    support.main()

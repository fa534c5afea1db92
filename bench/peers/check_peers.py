#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py works, and what it counts holds. Times are not looked at.

usage: check_peers.py DIRECTORY-OF-THE-PROGRAMS
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True  # not into the source tree

from peerlib import GIB, METHODS, MIB, POOL, Pool, meminfo, size_bytes, size_text, thp_setting

PEERS = [sys.executable, str(pathlib.Path(__file__).with_name("peers.py"))]
PROGRAMS = sys.argv[1] if len(sys.argv) > 1 else ""
REQUIRE_ALL = os.environ.get("HASHDIST_REQUIRE_ALL") == "1"


def pool_pages():
    return int(POOL.read_text()) if POOL.exists() else 0


def peers(*options):
    """(finished process, its JSON, its Markdown)"""
    with tempfile.TemporaryDirectory() as scratch:
        figures, tables = pathlib.Path(scratch, "json"), pathlib.Path(scratch, "md")
        done = subprocess.run([*PEERS, PROGRAMS, "--cold", "--json", figures, "--markdown", tables,
                               *options], capture_output=True, text=True, check=False)
        if not figures.exists():
            raise AssertionError(f"no figures, status {done.returncode}: {done.stdout}{done.stderr}")
        return done, json.loads(figures.read_text()), tables.read_text()


def lacking(available, huge):
    """Why this machine cannot run a test, or None."""
    if meminfo("MemAvailable") < available:
        return f"{size_text(available)} of available memory"
    if huge and thp_setting() not in ("always", "madvise"):
        return f"transparent huge pages (they are \"{thp_setting()}\")"
    return None


class Peers(unittest.TestCase):
    def need(self, available, huge=False):
        lack = lacking(available, huge)
        if lack and REQUIRE_ALL:
            self.fail(f"this machine lacks {lack}, and nothing may be skipped")
        if lack:
            self.skipTest(f"this machine lacks {lack}")

    def test_every_method_is_measured_or_named_as_absent(self):
        self.need(512 * MIB)
        before = pool_pages()
        done, figures, tables = peers("--sizes", "64M", "--rounds", "1")
        self.assertEqual(done.stderr, "")
        told = [entry["method"] for kind in ("results", "absent", "lost") for entry in figures[kind]]
        self.assertEqual(sorted(told), sorted(method.name for method in METHODS))
        for name in told:
            self.assertIn(name, tables)
        # A pool on fragmented memory, or one who may not set it, loses a method; ours never is.
        self.assertNotIn("hashdist", [entry["method"] for entry in figures["lost"]])
        self.assertEqual([check for check in figures["checks"] if check["passed"] is False], [])
        self.assertEqual(pool_pages(), before)

    def test_a_500th_of_the_page_faults_of_base_pages(self):
        self.need(2 * GIB, huge=True)
        done, figures, _ = peers("--sizes", "1G", "--rounds", "1", "--methods", "mmap,hashdist")
        counts = [check for check in figures["checks"] if "base pages" in check["what"]]
        self.assertEqual(len(counts), 1, done.stdout)
        if counts[0]["passed"] is None:
            self.skipTest(counts[0]["what"])
        self.assertTrue(counts[0]["passed"], counts[0]["what"])
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_pool_is_put_back_when_interrupted(self):
        self.need(512 * MIB)
        why = Pool().why_not()
        if why:
            self.skipTest(why)
        for number in (signal.SIGINT, signal.SIGTERM):
            before = pool_pages()
            with subprocess.Popen([*PEERS, PROGRAMS, "--cold", "--sizes", "64M", "--rounds", "1000",
                                   "--methods", "hugetlb"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as run:
                deadline = time.monotonic() + 30
                while pool_pages() == before and time.monotonic() < deadline:
                    time.sleep(0.001)
                self.assertNotEqual(pool_pages(), before)
                run.send_signal(number)
                self.assertNotEqual(run.wait(), 0)
            self.assertEqual(pool_pages(), before)

    def test_tables_go_to_the_place_marked_for_them(self):
        self.need(512 * MIB)
        with tempfile.TemporaryDirectory() as scratch:
            page = pathlib.Path(scratch, "page.md")
            page.write_text("above\n<!-- peers.py -->\nold\n<!-- end of peers.py -->\nbelow\n")
            subprocess.run([*PEERS, PROGRAMS, "--cold", "--sizes", "64M", "--rounds", "1",
                            "--methods", "limit,hashdist", "--markdown", page],
                           stdout=subprocess.DEVNULL, check=True)
            text = page.read_text()
        self.assertTrue(text.startswith("above\n<!-- peers.py -->\n"))
        self.assertTrue(text.endswith("<!-- end of peers.py -->\nbelow\n"))
        self.assertIn("| hashdist |", text)
        self.assertNotIn("old\n", text)

    def test_wrong_arguments_are_named(self):
        for options, words in ((["--sizes", "65"], "multiple of 2M"),
                               (["--sizes", "many"], "no size"),
                               (["--rounds", "0"], "1 or more"),
                               (["--methods", "magic"], "no method magic"),
                               (["--sizes", "1048576G"], "are available")):
            done = subprocess.run([*PEERS, PROGRAMS, *options], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)

    def test_sizes_read_and_written(self):
        self.assertEqual(size_bytes("64M"), 64 * MIB)
        self.assertEqual(size_bytes("3G"), 3 * GIB)
        self.assertEqual(size_text(3 * GIB), "3 GiB")
        self.assertEqual(size_text(2560 * MIB), "2560 MiB")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

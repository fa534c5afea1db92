#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist place on programs of this machine: what it says, what it cannot, and being killed.

The programs are those of targets.py.
HASHDIST_SEED reruns the kills of a failed run.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import support
from support import BIN, NOBODY, hashdist
from targets import FAST, HUGE, Place, collapsed_by_kernel, victim


class WhatItDoes(Place):
    def test_a_table_on_base_pages_ends_on_huge_ones_and_loses_no_write(self):
        with victim(64) as target:
            self.assertEqual(target.huge(), 0)
            kernels = collapsed_by_kernel()
            told = self.told(target, *FAST)
            kernels = collapsed_by_kernel() - kernels
            self.assertEqual(told["after"]["huge_bytes"], target.huge())
            self.assertEqual(target.huge(), 64 << 20, told)
            self.assertEqual(told["before"]["huge_bytes"], 0)
            self.assertLessEqual(told["result"]["collapsed_blocks"], 32)
            self.assertGreaterEqual(told["result"]["collapsed_blocks"], 32 - kernels)
            self.fine(target)

    def test_ends_that_are_no_whole_huge_page_are_not_missed(self):
        """Together they are a page's worth, but nothing can make them one."""
        with victim(16, "ragged") as target:
            result = self.place(target, *FAST, status=0)
            self.assertEqual(target.huge(), 14 << 20, result)
            self.fine(target)

    def test_growth_keeps_the_advice_and_the_target_stood_still_once(self):
        with victim(16) as target:
            told = self.told(target, *FAST)
            self.assertTrue(told["result"]["kept_advice"], told)
            self.assertEqual(told["result"]["keep_errno"], 0)
            self.assertGreater(told["result"]["keep_stop_us"], 0)
            smaps = pathlib.Path(f"/proc/{target.pid}/smaps").read_text(encoding="ascii")
            self.assertRegex(smaps, r"VmFlags:.* hg\b")
            self.fine(target)

    def test_a_dry_run_touches_nothing_and_says_what_it_would_do(self):
        with victim(16) as target:
            told = self.told(target, "--dry-run")
            self.assertEqual(told["result"]["collapse_wanted_blocks"], 8)
            self.assertEqual(told["result"]["steps"], 0)
            self.assertEqual(target.huge(), 0)
            self.assertFalse(os.path.exists(self.record))
            self.assertRegex(self.place(target, "--dry-run").out, r"(?m)^would +collapse 8 blocks")
            self.fine(target)

    def test_a_range_is_all_that_is_touched(self):
        with victim(32) as target:
            start = int(target.address, 16)
            self.place(target, *FAST, "--range", f"{start:x}-{start + 4 * HUGE:x}")
            self.assertEqual(target.huge(), 4 * HUGE)
            self.fine(target)

    def test_smaller_mappings_are_left_alone(self):
        with victim(16) as target:
            out = self.place(target, "--min", "32M", status=0).out
            self.assertIn("no mapping that could be placed", out)
            self.assertEqual(target.huge(), 0)
            self.fine(target)

    def test_once_never_stops_it_and_says_what_undoes_it(self):
        with victim(16) as target:
            out = self.place(target, *FAST, "--once").out
            self.assertRegex(out, r"(?m)^lasts +not for long: --once was given.*growth, fork")
            self.assertEqual(target.huge(), 16 << 20)
            self.fine(target)

    def test_a_process_that_switched_huge_pages_off_is_respected_and_it_is_said(self):
        with victim(16, "thp-off") as target:
            told = self.told(target, *FAST)
            self.assertEqual(told["result"]["collapse_obstacle"], "thp-off")
            self.assertEqual(target.huge(), 0)
            self.fine(target)

    def test_it_works_where_it_was_started_with_its_children_ignored(self):
        with victim(8) as target:
            told = self.told(target, *FAST, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
            self.assertEqual((told["result"]["kept_advice"], told["result"]["keep_errno"]), (True, 0), told)
            self.fine(target)

    def test_undo_needs_a_record_and_takes_it_away(self):
        with victim(16) as target:
            self.assertIn("no record", self.place(target, "--undo", status=1).err)
            self.place(target, *FAST)
            self.assertTrue(os.path.exists(self.record))
            self.place(target, "--undo", status=0)
            self.assertFalse(os.path.exists(self.record))
            self.fine(target)

    def test_a_record_of_another_process_or_damaged_is_refused(self):
        with victim(16) as one, victim(16) as other:
            self.place(one, *FAST)
            self.assertIn("another process", self.place(other, "--undo", status=1).err)
            pathlib.Path(self.record).write_text("block zz\n", encoding="ascii")
            self.assertIn("damaged", self.place(one, "--undo", status=1).err)
            self.fine(one)
            self.fine(other)

    def test_a_user_without_any_right_reaches_it_through_the_program_itself(self):
        if os.geteuid():
            self.lacks("root, to become somebody else")
        if not shutil.which("setpriv"):
            self.lacks("setpriv")
        os.chmod(os.path.dirname(self.record), 0o777)
        with victim(16, user=NOBODY) as target:
            result = support.start(
                ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", BIN, "place",
                 "--pid", str(target.pid), "--json", "--record", self.record, *FAST])  # fmt: skip
            told = json.loads(result.out)
            self.assertTrue(told["result"]["through_target"], result)
            self.assertEqual(target.huge(), 16 << 20)
            self.fine(target)

    def test_watch_keeps_a_process_until_it_ends(self):
        with victim(16) as target:
            with subprocess.Popen([BIN, "place", "--pid", str(target.pid), "--watch", "--record", self.record,
                                   *FAST], stdout=subprocess.PIPE, text=True) as watch:  # fmt: skip
                self.assertRegex(watch.stdout.readline(), r"\b[1-8] blocks collapsed")
                self.assertEqual(target.huge(), 16 << 20)
                self.fine(target)
                self.assertEqual(watch.wait(timeout=30), 0)


class WhatItCannot(Place):
    def test_processes_that_are_none_are_told_apart(self):
        ended = subprocess.Popen(["true"])
        time.sleep(0.2)  # a zombie until somebody waits
        self.assertRegex(hashdist("place", "--pid", str(ended.pid)).err, "has ended|there is none")
        ended.wait()
        result = hashdist("place", "--pid", str(ended.pid))
        self.assertEqual(result.status, 1)
        self.assertIn("there is none", result.err)
        if pathlib.Path("/proc/2/comm").exists() and os.geteuid() == 0:
            result = hashdist("place", "--pid", "2")
            self.assertEqual(result.status, 1)

    def test_another_users_process_is_refused_in_one_line(self):
        if os.geteuid() or not shutil.which("setpriv"):
            self.lacks("root, and setpriv, to become somebody else")
        with victim(16) as target:
            result = support.start(["setpriv", f"--reuid={NOBODY}", "--clear-groups", BIN, "place",
                                    "--pid", str(target.pid)])  # fmt: skip
            self.assertEqual(result.status, 1)
            self.assertIn("no right to look into it", result.err)
            self.fine(target)

    def test_wrong_words_are_status_2(self):
        for words in ((), ("--pid", "x"), ("--pid", "0"), ("--pid", "1", "--range", "5-4"), ("--pid", "1", "more"),
                      ("--pid", "1", "--busy", "101"), ("--pid", "1", "--undo", "--watch"),
                      ("--pid", "1", "--min", "-1"), ("--pid", "1", "--step", "0")):  # fmt: skip
            result = hashdist("place", *words)
            self.assertEqual(result.status, 2, result)
            self.assertIn("hashdist", result.err)


class Kills(Place):
    """Killed at random moments, also while the target is stopped and makes calls itself."""

    KILLS, EACH, TRIES = 200, 20, 2000

    def test_a_target_survives_every_kill(self):
        seed = int(os.environ.get("HASHDIST_SEED", random.randrange(1 << 32)))
        moments = random.Random(seed)
        killed = tries = 0
        while killed < self.KILLS:
            with victim(48) as target:
                for _ in range(self.EACH):
                    killed += self.kill_one(target, moments.uniform(0, 0.03))
                    tries += 1
                status, said = target.finish()
                self.assertEqual(status, 0, f"{said}; again with HASHDIST_SEED={seed}")
            self.assertLess(tries, self.TRIES, "it is too fast to be killed at work")
        print(f"{killed} of {tries} were still at work when they were killed")

    def kill_one(self, target, seconds):
        process = subprocess.Popen([BIN, "place", "--pid", str(target.pid), "--record", self.record, *FAST],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        time.sleep(seconds)
        working = process.poll() is None
        process.kill()
        process.wait()
        self.assertIsNone(target.process.poll(), "the target is gone")
        return working


if __name__ == "__main__":
    support.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report --pid, place and run in a container: each works, or says what forbids it and what to do.

CONFINE_BIN is confine.c, which starts a command under such circumstances; VICTIM_BIN is
victim.c; HOLDER_BIN is tests/preload/holder.c; HASHDIST_PRELOAD the library that run preloads.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import support
from support import BIN, DONE, NOBODY
from targets import FAST, HUGE, VICTIM, Place, Victim

CONFINE = os.environ.get("CONFINE_BIN", "build/tests/place/confine")
HOLDER = os.environ.get("HOLDER_BIN", "build/tests/preload/holder")
MIB = 1 << 20
WITHOUT_RIGHTS = (f"user={NOBODY}", "no-caps", "no-new-privs")
# As Docker starts what it is not told more about, for a user that is not root.
CONTAINER = ("mount-ns", "sys-ro", "hidepid", *WITHOUT_RIGHTS, "seccomp")
OUTSIDE = r"(?m)^stands +filtered: .*run it outside of the container$"


class Confined(Place):
    def setUp(self):
        super().setUp()
        if os.geteuid():
            self.lacks("root, to set up a container")
        probe = support.start([CONFINE, *CONTAINER, "--", "true"])
        if probe.status == 77:
            self.lacks(probe.err.strip())
        self.assertEqual(probe.status, 0, probe)
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        os.chmod(self.directory, 0o777)

    def victim(self, mib, *words, **more):
        """Like victim(), for the length of the test."""
        target = Victim(mib, *words, **more)
        self.addCleanup(self.end, target.process)
        return target

    def end(self, process):
        if process.poll() is None:
            process.kill()
            process.communicate()

    def inside(self, words, *command):
        """The tool, confined."""
        return support.start([CONFINE, *words, "--", BIN, *command])

    def place_inside(self, words, target, *options):
        return self.inside(words, "place", "--pid", str(target.pid), *FAST, *options)

    def told_inside(self, words, target, *options):
        result = self.place_inside(words, target, "--json", *options)
        return json.loads(result.out), result

    def neighbour(self):
        """A program of the same user in a container of the same kind."""
        return self.victim(16, before=[CONFINE, *CONTAINER, "--"])


class Report(Confined):
    def test_a_program_of_the_same_container_is_shown_whole(self):
        target = self.neighbour()
        result = self.inside(CONTAINER, "report", "--pid", str(target.pid), "--json")
        self.assertIn(result.status, DONE, result)
        self.assertEqual(result.err, "")
        (process,) = json.loads(result.out)["processes"]
        row = next(row for row in process["mappings"] if int(row["start"], 16) == int(target.address, 16))
        self.assertEqual((row["resident_bytes"], row["huge_bytes"]), (16 * MIB, target.huge()))
        self.fine(target)

    def test_what_proc_hides_is_told_from_what_is_not_there(self):
        target = self.victim(16)
        for verb in ("report", "place"):
            result = self.inside(CONTAINER, verb, "--pid", str(target.pid))
            self.assertEqual(result.status, 1, result)
            self.assertRegex(result.err, rf"{target.pid}: exists, but /proc hides it \(hidepid\)")
            self.assertIn("  try     ", result.err)
        self.end(target.process)
        for verb in ("report", "place"):
            result = self.inside(CONTAINER, verb, "--pid", str(target.pid))
            self.assertEqual(result.status, 1, result)
            self.assertRegex(result.err, "no such process|there is none")

    def test_all_shows_what_may_be_seen(self):
        target = self.neighbour()
        result = self.inside(CONTAINER, "report", "--all", "--json")
        self.assertIn(result.status, DONE, result)
        self.assertIn(target.pid, [process["pid"] for process in json.loads(result.out)["processes"]])
        self.fine(target)

    def test_root_of_a_container_without_the_right_to_trace_is_told_which(self):
        target = self.victim(16)
        result = self.inside(("no-caps",), "report", "--pid", str(target.pid))
        self.assertEqual(result.status, 1, result)
        self.assertIn("this container may not look into it", result.err)
        self.assertIn("CAP_SYS_PTRACE", result.err)
        self.fine(target)


class PlaceInside(Confined):
    def test_a_filter_on_both_is_named_and_the_program_goes_on(self):
        target = self.neighbour()
        told, result = self.told_inside(CONTAINER, target)
        self.assertEqual(result.status, 3, result)
        self.assertEqual(told["result"]["collapse_obstacle"], "filtered")
        self.assertEqual(told["result"]["refused_blocks"]["no-right"], 8)
        out = self.place_inside(CONTAINER, target).out
        self.assertRegex(out, OUTSIDE)
        self.assertRegex(out, "(?m)^lasts +not for long: it filters its system calls")
        self.assertRegex(out, "(?m)^undo +not possible: no record .*; --record FILE$")
        self.assertEqual(target.huge(), 0)
        self.fine(target)

    def test_a_filter_on_us_alone_is_told_from_a_right_we_lack(self):
        target = self.victim(16, user=NOBODY)
        out = self.place_inside((*WITHOUT_RIGHTS, "seccomp"), target).out
        self.assertRegex(out, OUTSIDE)
        self.assertRegex(out, r"(?m)^lasts +not for long: a filter \(seccomp\) forbids this program to trace")
        self.fine(target)

    def test_without_the_right_and_the_other_filtered_root_is_what_helps(self):
        target = self.neighbour()
        result = self.place_inside(WITHOUT_RIGHTS, target)
        self.assertEqual(result.status, 3, result)
        self.assertRegex(result.out, r"(?m)^stands +no-right: .*CAP_SYS_NICE.*; run as root$")
        self.assertRegex(result.out, "(?m)^lasts +not for long: it filters its system calls")
        self.fine(target)

    def test_root_outside_places_what_is_inside(self):
        target = self.neighbour()
        result = self.place(target, *FAST)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(target.huge(), 16 * MIB)
        self.assertRegex(result.out, "(?m)^lasts +not for long: it filters its system calls")
        self.fine(target)

    def test_a_filter_older_than_the_call_leaves_the_way_through_the_program(self):
        target = self.victim(16, user=NOBODY)
        told, result = self.told_inside((*WITHOUT_RIGHTS, "old"), target)
        self.assertEqual(result.status, 0, result)
        self.assertTrue(told["result"]["through_target"])
        self.assertEqual(target.huge(), 16 * MIB)
        self.fine(target)

    def test_and_where_that_way_is_not_wanted_it_is_the_filter_that_is_named(self):
        target = self.victim(16, user=NOBODY)
        told, result = self.told_inside((*WITHOUT_RIGHTS, "old"), target, "--once")
        self.assertEqual(result.status, 3, result)
        self.assertEqual(told["result"]["collapse_obstacle"], "filtered")
        self.fine(target)

    def test_with_the_right_but_without_tracing_only_the_lasting_is_missing(self):
        target = self.victim(16)
        result = self.place_inside(("no-ptrace",), target)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(target.huge(), 16 * MIB)
        self.assertRegex(result.out, r"(?m)^lasts +not for long: a filter \(seccomp\) forbids this program to trace")
        self.fine(target)

    def test_a_dry_run_works_and_undo_says_what_it_lacks(self):
        target = self.neighbour()
        result = self.place_inside(CONTAINER, target, "--dry-run")
        self.assertRegex(result.out, "(?m)^would +collapse 8 blocks")
        result = self.place_inside(CONTAINER, target, "--undo")
        self.assertEqual(result.status, 1, result)
        self.assertIn("no record of an earlier placement", result.err)
        self.fine(target)

    def test_watching_says_it_once_and_ends_with_the_program(self):
        target = self.neighbour()
        with subprocess.Popen([CONFINE, *CONTAINER, "--", BIN, "place", "--pid", str(target.pid), "--watch", *FAST],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watch:  # fmt: skip
            self.assertIn("filtered: ", watch.stderr.readline())
            time.sleep(2.5)  # some passes more
            self.fine(target)
            out, err = watch.communicate(timeout=30)
            self.assertEqual((watch.returncode, out, err), (0, "", ""))

    def test_in_a_user_namespace_a_program_outside_is_refused_and_one_inside_placed(self):
        words = (f"user={NOBODY}", "user-ns")
        probe = support.start([CONFINE, *words, "--", "true"])
        if probe.status == 77:
            self.lacks(probe.err.strip())
        target = self.victim(16)
        result = self.place_inside(words, target)
        self.assertEqual(result.status, 1, result)
        self.assertIn("no right to look into it", result.err)
        self.fine(target)
        script = (f"{os.path.abspath(VICTIM)} 16 >{self.directory}/said & "
                  f"while ! grep -q ready {self.directory}/said; do sleep 0.1; done; "
                  f"{BIN} place --pid $! --json {' '.join(FAST)}; echo status $?; kill $!; wait $!; "
                  f"tail -n 1 {self.directory}/said")  # fmt: skip
        out = support.start([CONFINE, *words, "--", "sh", "-c", script]).out
        told, end = json.JSONDecoder().raw_decode(out)
        self.assertTrue(told["result"]["through_target"], out)
        self.assertEqual(told["after"]["huge_bytes"], 16 * MIB, out)
        self.assertRegex(out[end:], r"status 0\n(.*\n)*fine after", out)

    def test_without_sys_nothing_is_collapsed_and_it_is_said(self):
        target = self.victim(16)
        result = self.place_inside(("mount-ns", "no-sys"), target)
        self.assertEqual(result.status, 3, result)
        self.assertRegex(result.out, r"(?m)^before +16 MiB in 1 mapping: 0 % on huge pages$")
        self.assertRegex(result.out, r"(?m)^stands +no-support: .*or /sys is not mounted$")
        # The advice is given, and the kernel may follow it in its own time.
        self.assertRegex(result.out, r"(?m)^steps +0 blocks collapsed")
        self.assertRegex(result.out, r"(?m)^lasts +advice set by the process itself")
        self.fine(target)


class Run(Confined):
    def held(self, words, way, *options):
        """A holder under run, confined; it waits with its memory."""
        process = subprocess.Popen([CONFINE, *words, "--", BIN, "run", *options, "--", HOLDER, way, "32"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)  # fmt: skip
        self.addCleanup(self.end, process)
        process.stdout.readline()
        return process

    def huge(self, process):
        text = pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii")
        return int(re.search(r"AnonHugePages: +(\d+)", text)[1]) << 10

    def wait_huge(self, process, least):
        end = time.monotonic() + 25
        while self.huge(process) < least and time.monotonic() < end:
            time.sleep(0.1)
        return self.huge(process)

    def ends_well(self, process):
        """Return: what was said."""
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        return err

    def test_a_large_block_begins_on_huge_pages(self):
        process = self.held(CONTAINER, "malloc", "--scan", "0")
        self.assertGreaterEqual(self.huge(process), 30 * MIB)
        self.assertEqual(self.ends_well(process), "")

    def test_small_blocks_are_brought_there(self):
        process = self.held(CONTAINER, "small", "--no-hooks")
        self.assertGreaterEqual(self.wait_huge(process, 28 * MIB), 28 * MIB)
        self.assertEqual(self.ends_well(process), "")

    def test_from_outside_the_filter_is_named_and_the_program_runs_as_it_is(self):
        process = self.held(CONTAINER, "mmap", "--from-outside")
        self.assertRegex(process.stderr.readline(), "not placed from outside: filtered: .*outside of the container")
        self.assertLess(self.huge(process), HUGE)
        self.assertEqual(self.ends_well(process), "")

    def test_without_sys_it_is_said_that_there_will_be_none(self):
        process = self.held(("mount-ns", "no-sys"), "malloc")
        self.assertRegex(self.ends_well(process),
                         "^hashdist: this kernel has no transparent huge pages, or /sys is not mounted")  # fmt: skip


if __name__ == "__main__":
    for path in (CONFINE, HOLDER):
        if not os.access(path, os.X_OK):
            raise SystemExit(f"{path} is not there")
    support.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist measure: counts held against others' counts, real programs, and how a command may end.

Also needs HASHDIST_COMMAND_TARGET, the program tests/command/target.c: a command that costs what a
test wants. Counts are asserted and shares; times never.
"""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import support
from support import BIN, SOURCE, hashdist, start

TARGET = os.environ.get("HASHDIST_COMMAND_TARGET", "")
COLUMNS = (
    "FIGURE KEY A ASPREAD ARANGE B BSPREAD BRANGE RATIO DIFFERENCE INTERVAL VERDICT RUNS SOURCE"
).split()
FIGURES = (
    "wall_ns cpu_ns user_ns system_ns placing_ns fault_time_ns minor_faults major_faults resident_bytes "
    "tree_resident_bytes page_tables_bytes huge_share huge_share_mean load_misses store_misses "
    "walks walk_cycles cycles"
).split()
QUICK = ("--runs", "1", "--warmup", "0", "--fault-runs", "0")
# A command that nobody would wait for: whoever ends at once has not started it.
ENDLESS = ("--", "sleep", "1000")
MIB = 1 << 20
PR_SET_THP_DISABLE = 41


def measure(*words, **more):
    return hashdist("measure", *words, **more)


def found(*words, **more):
    return json.loads(measure("--json", *words, **more).out)


def median(data, key, side="a"):
    return data["figures"][key][side]["median"]


def signals_as_usual():
    """A shell that starts us in the background has them ignored."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def children_ignored():
    """As some supervisors start us."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


class Measure(support.Case):
    def refused(self, result, *words, status=2):
        self.assert_status(result, status)
        self.assertEqual(result.out, "", result)
        self.assert_one_line(result, *words)

    def need(self, name):
        path = shutil.which(name)
        if not path:
            self.lacks(f"no {name}", must=True)
        return path

    def place(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        return directory.name

    def alike(self, ours, theirs, share, more, what):
        self.assertLessEqual(abs(ours - theirs), share * theirs + more, f"{what}: {ours} {theirs}")


class Agreement(Measure):
    """With the programs that everybody has for it."""

    COMMANDS = (
        ("touch=48",),
        ("touch=16", "fork=6"),
        ("touch=8", "sleep=100", "touch=24"),
    )

    def by_time(self, *command):
        """Minor and major faults, peak of resident bytes by GNU time."""
        program = self.need("time")
        result = start([program, "-f", "%R %F %M", *command])
        self.assert_status(result, 0)
        minor, major, kib = map(int, result.err.split()[-3:])
        return minor, major, kib * 1024

    def by_perf(self, *command):
        program = self.need("perf")
        result = start([program, "stat", "-x", ",", "-e", "minor-faults", *command])
        match = re.search(r"(?m)^(\d+),,minor-faults", result.err)
        if not match:
            self.lacks(f"perf counts no page faults here: {result.err[:200]}")
        return int(match.group(1))

    def test_faults_and_resident_memory_are_those_of_time(self):
        for words in self.COMMANDS:
            with self.subTest(words=words):
                minor, major, resident = self.by_time(TARGET, *words)
                ours = found(*QUICK, "--b", "as-is", "--", TARGET, *words)
                # time(1) counts its own child up to execve(), too.
                self.alike(median(ours, "minor_faults"), minor, 0.01, 150, "minor faults")
                self.alike(median(ours, "major_faults"), major, 0, 5, "major faults")
                self.alike(median(ours, "resident_bytes"), resident, 0.02, MIB / 2, "resident")

    def test_faults_are_those_of_perf(self):
        for words in self.COMMANDS:
            with self.subTest(words=words):
                minor = self.by_perf(TARGET, *words)
                ours = found(*QUICK, "--b", "as-is", "--", TARGET, *words)
                self.alike(median(ours, "minor_faults"), minor, 0.01, 60, "minor faults")

    def test_a_real_program_agrees_with_time(self):
        with open(self.place() + "/numbers", "w", encoding="ascii") as file:
            file.writelines(f"{n * 7919 % 1000003}\n" for n in range(300000))
        command = ("sort", "-S", "64M", "--parallel=1", "-o", "/dev/null", file.name)
        minor, _, resident = self.by_time(*command)
        ours = found(*QUICK, "--b", "as-is", "--", *command)
        self.alike(median(ours, "minor_faults"), minor, 0.02, 150, "minor faults")
        self.alike(median(ours, "resident_bytes"), resident, 0.03, MIB, "resident")

    def test_page_tables_and_huge_share_are_what_the_command_reads_of_itself(self):
        books = self.place() + "/books"
        words = ("huge=64", "touch=32", "sleep=300", f"books={books}", "sleep=100")
        ours = found(*QUICK, "--b", "as-is", "--", TARGET, *words)
        with open(books, encoding="ascii") as file:
            text = file.read().split()
        own = dict(zip(text[::2], map(int, text[1::2])))
        # B ran last and left these. A's page tables are others: addresses differ from run to run.
        self.alike(median(ours, "huge_share", "b"), own["huge"] / own["rss"], 0, 0.02, "huge share")
        self.alike(median(ours, "page_tables_bytes", "b"), own["tables"], 0, 8192, "page tables")
        self.alike(median(ours, "tree_resident_bytes", "b"), own["rss"], 0.02, MIB, "all resident")


class RealPrograms(Measure):
    """As they are, and under run."""

    def compared(self, *command, **more):
        # Two more than an interval takes: on a busy machine a run may be over unseen, so the
        # share's interval may hold 1, but its median is that of the others.
        result = measure("--json", "--runs", "8", "--", *command, **more)
        self.assert_status(result, 0)
        data = json.loads(result.out)
        if data["machine"]["transparent_huge_pages"] == "never":
            self.lacks("transparent huge pages are off for all of this machine")
        return data

    def gains(self, data):
        """More on huge pages, and fewer faults; of these beyond doubt, as none is ever missed."""
        figures = data["figures"]
        share = figures["huge_share"]
        self.assertGreater(share["b"]["median"], share["a"]["median"], share)
        if data["machine"]["transparent_huge_pages"] == "always":
            return
        self.assertGreater(share["b"]["median"], 0.3)
        self.assertEqual(figures["minor_faults"]["verdict"], "less")
        self.assertLess(figures["minor_faults"]["ratio"], 0.9)

    def test_python_with_a_large_dictionary(self):
        code = "d = {i: i for i in range(1500000)}"
        self.gains(self.compared(self.need("python3"), "-c", code))

    def test_sort(self):
        with open(self.place() + "/numbers", "w", encoding="ascii") as file:
            file.writelines(f"{n * 7919 % 1000003} some text\n" for n in range(600000))
        self.gains(self.compared("sort", "-S", "256M", "-o", "/dev/null", file.name))

    def test_sqlite_in_memory(self):
        if not shutil.which("sqlite3"):
            self.lacks("no sqlite3")
        script = self.place() + "/script"
        with open(script, "w", encoding="ascii") as file:
            file.write(
                "pragma cache_size = -400000; create table t (a integer primary key, b text);"
                "with recursive n(i) as (values(1) union all select i + 1 from n where i < 400000)"
                " insert into t select i, printf('%064d', i) from n;"
            )
        data = self.compared("sqlite3", ":memory:", f".read {script}")
        self.assertEqual(data["rounds"], 8)

    def test_input_is_read_in_each_run(self):
        script = self.place() + "/script"
        with open(script, "wb") as file:
            file.write(b"x" * 32 * MIB)
        code = "import sys; assert len(sys.stdin.buffer.read()) == 32 << 20"
        data = found("--runs", "2", "--input", script, "--", self.need("python3"), "-c", code)
        self.assertEqual(data["rounds"], 2)


class Ends(Measure):
    def test_a_status_is_named_with_the_run_and_a_way_out(self):
        result = measure("--", TARGET, "exit=3")
        self.refused(result, "exit status 3", "A", "as-is", status=1)
        self.assertIn("--ignore-failure", result.err)
        self.assertIn("--show-output", result.err)

    def test_a_signal_is_named(self):
        self.refused(measure("--", TARGET, "signal=9"), "signal 9", "Killed", status=1)

    def test_it_waits_for_its_children_though_it_was_started_with_them_ignored(self):
        command = ("grep", "-Eq", "^SigIgn:.*[13579bdf][0-9a-f]{4}$", "/proc/self/status")  # as it was for us
        result = measure("--runs", "2", "--ignore-failure", "--", *command, preexec_fn=children_ignored)
        self.assert_status(result, 0)
        self.assertNotIn("failed in", result.out)

    def test_what_was_had_before_a_failure_is_shown(self):
        count = self.place() + "/count"
        # The fifth run fails; two rounds are whole.
        script = f'echo >>{count}; test "$(wc -l <{count})" -ne 5'
        result = measure("--warmup", "0", "--b", "as-is", "--", "sh", "-c", script)
        self.assert_status(result, 1)
        self.assert_one_line(result, "run 3 of A", "exit status 1")
        self.assertRegex(result.out, r"(?m)^wall time ")
        self.assertIn("medians of 2 runs of each", result.out)

    def test_failures_may_be_ignored_and_are_a_verdict(self):
        result = measure(*QUICK, "--ignore-failure", "--json", "--", TARGET, "exit=3")
        self.assert_status(result, 3)
        data = json.loads(result.out)
        self.assertEqual((data["rounds"], data["a"]["failures"], data["b"]["failures"]), (1, 1, 1))
        self.assertIsNotNone(data["figures"]["wall_ns"]["a"])

    def test_no_program_is_127_and_no_permission_126(self):
        self.refused(measure("--", "no-such-program"), "no-such-program", status=127)
        file = self.place() + "/file"
        with open(file, "w", encoding="ascii"):
            pass
        self.refused(measure("--", file), file, status=126)

    def test_a_command_before_each_run_that_fails_ends_it(self):
        self.refused(measure("--prepare", "exit 7", *ENDLESS), "--prepare", "status 7", status=1)

    def test_gigabytes_of_output_do_not_matter(self):
        for more in ((), ("--show-output",)):
            with open("/dev/null", "wb") as null:
                process = subprocess.run(
                    [BIN, "measure", *QUICK, *more, "--json", "--", "head", "-c", "2G",
                     "/dev/zero"],
                    stdout=subprocess.PIPE, stderr=null, timeout=60, check=True,
                )  # fmt: skip
            self.assertEqual(json.loads(process.stdout)["rounds"], 1)

    def test_output_goes_to_standard_error_if_wanted_at_all(self):
        command = ("sh", "-c", "echo spoken; echo cried >&2")
        self.assertNotIn("spoken", measure(*QUICK, "--", *command).err)
        result = measure(*QUICK, "--show-output", "--json", "--", *command)
        json.loads(result.out)
        self.assertEqual(result.err.count("spoken\n"), 2)
        self.assertEqual(result.err.count("cried\n"), 2)

    def test_processes_left_behind_are_said(self):
        result = measure(*QUICK, "--", TARGET, "orphan=3000")
        self.assert_status(result, 0)
        self.assertIn("went on when CMD had ended", result.out)

    def test_a_program_out_of_reach_is_said_once_and_is_a_verdict(self):
        static = os.path.join(os.path.dirname(TARGET), "../preload/static")
        if not os.path.exists(static):
            self.lacks("no static program")
        result = measure("--runs", "2", "--", static, "1")
        if result.status == 1:
            self.lacks(f"the static program does not end by itself: {result.err}")
        self.assert_status(result, 3)
        self.assertEqual(result.err.count("a preload cannot reach it"), 1)

    def interrupted(self, number):
        place = self.place()
        script = f'echo >>{place}/count; exec "$0" touch=4 sleep=300'
        command = [BIN, "measure", "--runs", "1000", "--", "sh", "-c", script, TARGET]
        with open(place + "/out", "wb") as out, open(place + "/err", "wb") as err:
            with subprocess.Popen(
                command, stdout=out, stderr=err, preexec_fn=signals_as_usual
            ) as process:
                end = time.monotonic() + 40
                while time.monotonic() < end and self.lines(place + "/count") < 6:
                    time.sleep(0.05)
                children = self.children(process.pid)
                process.send_signal(number)
                status = process.wait(20)
        self.assertTrue(children)
        for pid in children:
            self.assertFalse(os.path.exists(f"/proc/{pid}"), "a process is left")
        with open(place + "/out", encoding="utf-8") as out:
            return status, out.read()

    def lines(self, path):
        if not os.path.exists(path):
            return 0
        with open(path, "rb") as file:
            return len(file.read().splitlines())

    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()

    def test_an_interrupt_shows_what_was_had_and_leaves_nothing(self):
        status, text = self.interrupted(signal.SIGINT)
        self.assertEqual(status, 130)
        self.assertRegex(text, r"(?m)^wall time ")

    def test_the_end_by_another_signal_is_its_own_status(self):
        self.assertEqual(self.interrupted(signal.SIGTERM)[0], 143)


class Settings(Measure):
    def outcome(self, code, *words):
        """A python program that fails unless @code is true of how it was started."""
        result = measure(
            *QUICK, *words, "--", self.need("python3"), "-c",
            f"import ctypes, os, sys; sys.exit(not ({code}))",
        )  # fmt: skip
        return result.status

    def test_a_variable_is_there_on_its_side_only(self):
        code = "os.environ.get('X') == 'a=b'"
        self.assertEqual(self.outcome(code, "--a", "env:X=a=b", "--b", "env:X=a=b"), 0)
        self.assertEqual(self.outcome(code, "--a", "env:X=a=b", "--b", "as-is"), 1)

    def test_words_hold_together(self):
        code = "os.environ.get('X') == '1' and os.environ.get('Y') == '2'"
        both = ("--a", "env:X=1", "--a", "env:Y=2", "--b", "env:Y=2", "--b", "env:X=1")
        self.assertEqual(self.outcome(code, *both), 0)

    def test_huge_pages_are_off_where_that_is_wanted(self):
        code = "ctypes.CDLL(None).prctl(42, 0, 0, 0, 0) == 1"  # PR_GET_THP_DISABLE
        self.assertEqual(self.outcome(code, "--a", "thp-off", "--b", "thp-off"), 0)
        self.assertEqual(self.outcome(code, "--a", "as-is", "--b", "as-is"), 1)

    def test_tunables_of_malloc_are_added_to_those_there(self):
        code = "os.environ['GLIBC_TUNABLES'].endswith('glibc.malloc.hugetlb=1')"
        word = "malloc:hugetlb=1"
        self.assertEqual(self.outcome(code, "--a", word, "--b", word), 0)

    def test_without_huge_pages_their_share_is_0(self):
        data = found(*QUICK, "--a", "thp-off", "--b", "as-is", "--", TARGET, "huge=32", "sleep=50")
        self.assertEqual(median(data, "huge_share", "a"), 0)
        if data["machine"]["transparent_huge_pages"] != "never":
            self.assertGreater(median(data, "huge_share", "b"), 0.5)

    def test_options_of_run_are_run_s(self):
        words = (*QUICK, "--a", "run:min=1G,no-hooks", "--b", "run:min=2M,children")
        code = "x = bytearray(64 << 20); import time; time.sleep(.5)"
        data = found(*words, "--", self.need("python3"), "-c", code)
        self.assertEqual(data["a"]["setting"], "run:min=1G,no-hooks")
        self.assertLess(median(data, "huge_share", "a"), 0.1)
        if data["machine"]["transparent_huge_pages"] != "never":
            self.assertGreater(median(data, "huge_share", "b"), 0.5)

    def test_wrong_ones_are_refused_before_anything_runs(self):
        for words in (
            ("--a", "fast"),
            ("--a", ""),
            ("--b", "env:X"),
            ("--b", "env:=1"),
            ("--b", "malloc:hugetlb"),
            ("--a", "runs"),
            ("--a", "as-is", "--a", "run"),
            ("--a", "run", "--a", "run:min=4M"),
            ("--a", "run", "--a", "thp-off"),
            ("--a", "run:min=many"),
            ("--a", "run:no-such-option"),
        ):
            with self.subTest(words=words):
                self.refused(measure(*words, *ENDLESS))

    def test_help_lists_them(self):
        result = measure("--a", "help")
        self.assert_status(result, 0)
        listed = [line.split("[")[0].split(":")[0].split()[0] for line in result.out.splitlines()]
        self.assertEqual(listed, ["as-is", "run", "thp-off", "env", "malloc"])
        manual = (SOURCE / "man/hashdist-measure.1.scd").read_text(encoding="utf-8")
        section = manual.split("\n# SETTINGS\n")[1].split("\n# ")[0]
        self.assertEqual(re.findall(r"(?m)^\*([a-z-]+)", section), listed)


class Views(Measure):
    def test_keys_are_those_of_the_manual(self):
        data = found(*QUICK, "--", "true")
        self.assertEqual(list(data["figures"]), FIGURES)
        manual = (SOURCE / "man/hashdist-measure.1.scd").read_text(encoding="utf-8")
        section = manual.split("\n# JSON\n")[1].split("\n# ")[0]
        named = set(re.findall(r"_([a-z_]+)_", section))
        wall = data["figures"]["wall_ns"]
        for key in (*data, *data["figures"], *data["counting"], *data["a"], *wall, *wall["a"]):
            self.assertIn(key, named)

    def test_values_are_there_run_by_run_and_make_the_median(self):
        data = found("--runs", "7", "--warmup", "0", "--fault-runs", "2", "--", "true")
        for key, figure in data["figures"].items():
            for side in "ab":
                if figure[side] is None:
                    continue
                values = [value for value in figure[side]["runs"] if value is not None]
                self.assertEqual(len(figure[side]["runs"]), 2 if key == "fault_time_ns" else 7)
                if len(values) == 7:
                    self.assertEqual(sorted(values)[3], figure[side]["median"], key)

    def test_too_few_runs_are_said(self):
        data = found("--runs", "5", "--", "true")
        wall = data["figures"]["wall_ns"]
        self.assertEqual(wall["verdict"], "too few runs")
        self.assertIsNone(wall["ratio_low"])
        self.assertIsNotNone(wall["ratio"])
        self.assertIn("takes 6 runs at least", measure("--runs", "5", "--", "true").out)

    def test_what_is_not_counted_has_its_errno_and_a_sentence(self):
        data = found(*QUICK, "--", "true")
        for key in ("load_misses", "store_misses", "cycles"):
            figure = data["figures"][key]
            self.assertEqual(figure["a"] is None, figure["errno"] is not None, key)
        text = measure(*QUICK, "--", "true").out
        if data["figures"]["load_misses"]["a"] is None:
            self.assertRegex(text, r"(?m)^missing +load misses, ")
            self.assertIn("perf_event_open: ", text)
        else:
            self.assertRegex(text, r"(?m)^load misses ")

    def test_page_faults_are_timed_apart_or_it_is_said_why_not(self):
        line = ("--runs", "1", "--warmup", "0", "--b", "as-is", "--")
        data = found(*line, TARGET, "touch=64")
        figure = data["figures"]["fault_time_ns"]
        if figure["a"] is None:
            self.assertIn("fault time: perf_event_open: ", " ".join(measure(*line, "true").out.split()))
            self.lacks(f"page faults are not timed, errno {figure['errno']}", must=True)
        self.assertGreater(figure["a"]["median"], 64 * 256 * 50)
        self.assertGreater(data["counting"]["least_share_of_faults_timed"], 0.5)
        out = measure(*line, TARGET, "touch=64").out
        self.assertRegex(out, r"(?m)^fault time +\d")
        self.assertIn("page faults timed in 1 more of each", " ".join(out.split()))
        out = measure("--fault-runs", "0", *line, "true").out
        self.assertNotRegex(out, r"(?m)^fault time ")
        self.assertIn("fault time: not timed (--fault-runs 0)", " ".join(out.split()))

    def test_overhead_is_told(self):
        data = found(*QUICK, "--", "true")
        for key in ("true_bare_ns", "true_measured_ns", "true_with_all_around_ns"):
            self.assertGreater(data["overhead"][key], 0)
        self.assertRegex(measure(*QUICK, "--", "true").out, r"(?m)^overhead +true\(1\) took ")

    def test_columns_are_those_of_help_and_manual(self):
        listed = measure("--output", "help")
        self.assertEqual([line.split()[0] for line in listed.out.splitlines()], COLUMNS)
        manual = (SOURCE / "man/hashdist-measure.1.scd").read_text(encoding="utf-8")
        section = manual.split("\n# COLUMNS\n")[1].split("\n# ")[0]
        named = [
            name
            for line in section.splitlines()
            if re.fullmatch(r"[A-Z]+(, [A-Z]+)*", line)
            for name in line.split(", ")
        ]
        self.assertEqual(sorted(named), sorted(COLUMNS))

    def test_output_is_a_row_for_each_figure_and_nothing_else(self):
        result = measure(*QUICK, "--output", "key", "--", "true")
        self.assertEqual([line.strip() for line in result.out.splitlines()], ["KEY", *FIGURES])
        for name in COLUMNS:
            cells = measure(*QUICK, "--output", name, "--", "true").out.splitlines()[1:]
            self.assertEqual(len(cells), len(FIGURES), name)
            self.assertNotIn("", [cell.strip() for cell in cells], name)

    def test_plot_is_a_picture_with_the_command(self):
        self.need("gnuplot")
        place = self.place()
        result = measure("--runs", "3", "--plot", place + "/x.svg", "--", "true")
        self.assert_status(result, 0)
        with open(place + "/x.svg", encoding="utf-8") as file:
            text = file.read()
        self.assertIn("wall time", text)
        self.assertIn("--plot x.svg", text)
        self.assertNotIn(place, text)

    def test_values_that_make_no_sense_are_refused(self):
        for words, named in (
            (("--runs", "0"), "--runs"),
            (("--runs", "1001"), "--runs"),
            (("--runs", "-1"), "--runs"),
            (("--warmup", "x"), "--warmup"),
            (("--interval", "60001"), "--interval"),
            (("--plot", "x.pdf"), "x.pdf"),
            (("--output", "FOO"), "FOO"),
            (("--json", "--output", "A"), "exclude"),
        ):
            with self.subTest(words=words):
                self.refused(measure(*words, *ENDLESS), named)
        self.refused(measure(), "no command")
        self.refused(measure("--"), "no command")
        self.refused(measure("--input", "/nowhere/x", *ENDLESS), "/nowhere/x", status=1)

    def test_words_behind_the_command_are_its_own(self):
        result = measure(*QUICK, "sh", "-c", 'test "$1" = --json', "sh", "--json")
        self.assert_status(result, 0)
        self.assertRegex(result.out, r"^FIGURE ")

    def test_huge_pages_inherited_as_off_are_off_for_a_and_on_for_run(self):
        def off():
            ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)

        data = found(*QUICK, "--", TARGET, "huge=32", "sleep=50", preexec_fn=off)
        if data["machine"]["transparent_huge_pages"] == "never":
            self.lacks("transparent huge pages are off for all of this machine")
        self.assertEqual(median(data, "huge_share", "a"), 0)
        self.assertGreater(median(data, "huge_share", "b"), 0.5)


if __name__ == "__main__":
    if not TARGET:
        raise SystemExit("HASHDIST_COMMAND_TARGET: no program")
    support.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist report --pid and --all on processes made for it, against their own smaps.

HASHDIST_PROCESS_TARGET is tests/process/target.c, a process with the mappings one asks for.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

import support
from support import BIN, NOBODY, report
from test_metrics import read_openmetrics

TARGET = os.environ.get("HASHDIST_PROCESS_TARGET", "build/tests/process/process-target")
MIB = 1 << 20
HUGE = 2 * MIB
THP = "/sys/kernel/mm/transparent_hugepage/"
COLUMNS = (
    "PID COMM UID ADDRESS KIND NAME PARTS ACCESS SIZE BYTES RESIDENT HUGE GAIN PAGES NODES POLICY "
    "TABLES SWAPPED TWICE ADVICE HINDERS VERDICT"
).split()


def chosen(path):
    """The word in brackets of a setting, or None where this kernel has no such file."""
    try:
        text = pathlib.Path(path).read_text(encoding="ascii")
    except OSError:
        return None
    return text.split("[")[1].split("]")[0]


def memory_nodes():
    try:
        text = pathlib.Path("/sys/devices/system/node/has_memory").read_text(encoding="ascii")
    except OSError:
        return 1
    return 1 if text.strip().isdigit() else 2


class Target:
    """A running process-target; made is what it says of its mappings: (kind, start, bytes)."""

    def __init__(self, *words, user=None):
        self.process = subprocess.Popen(
            [TARGET, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="ascii",
            **({} if user is None else {"user": user, "group": user, "extra_groups": []}),
        )
        self.pid, self.made, self.lacks = self.process.pid, [], None
        for line in self.process.stdout:
            word, *rest = line.split(" ", 2)
            if word.strip() == "ready":
                break
            if word == "lacks":
                self.lacks = line.removeprefix("lacks ").strip()
                break
            self.made.append((word, int(rest[0], 16), int(rest[1], 16)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def smaps(pid):
    """Mappings as dictionaries: start, end, flags, and each figure in bytes."""
    found = []
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8").splitlines():
        word = line.split()[0]
        if not word.endswith(":"):
            start, end = (int(at, 16) for at in word.split("-"))
            found.append({"start": start, "end": end})
        elif word == "VmFlags:":
            found[-1]["flags"] = line.split()[1:]
        elif line.endswith(" kB"):
            found[-1][word[:-1]] = int(line.split()[1]) << 10
    return found


class Case(support.Case):
    @classmethod
    def setUpClass(cls):
        if not os.access(TARGET, os.X_OK):
            raise support.unittest.SkipTest(f"HASHDIST_PROCESS_TARGET: no program in {TARGET}")

    def target(self, *words, **more):
        target = self.enterContext(Target(*words, **more)) if hasattr(self, "enterContext") else None
        if target is None:  # Python before 3.11
            target = Target(*words, **more)
            self.addCleanup(target.__exit__)
        if target.lacks:
            self.lacks(f"this kernel has not, or not here: {target.lacks}")
        return target

    def root(self):
        if os.geteuid():
            self.lacks("not root")

    def json(self, *words, status=None, **more):
        result = report("--json", *words, **more)
        self.assert_status(result, *((0, 3) if status is None else (status,)))
        return json.loads(result.out)

    def rows(self, target, *words):
        """Rows of one process by address, as JSON has them."""
        (process,) = self.json("--pid", str(target.pid), *words)["processes"]
        return {int(row["start"], 16): row for row in process["mappings"]}

    def row(self, target, *words):
        """That of the only mapping that was made."""
        ((_, start, _),) = target.made
        return self.rows(target, *words)[start]


class Kinds(Case):
    WORDS = {
        "anon": "anonymous",
        "shared": "shmem",
        "memfd": "shmem",
        "sysv": "shmem",
        "heap": "heap",
        "file": None,  # as the file system of /tmp is
    }

    def test_each_mapping_is_a_row_of_its_kind_size_and_pages(self):
        target = self.target(*(f"{word}=8,touch" for word in self.WORDS))
        rows = self.rows(target)
        self.assertEqual(len(rows), len(self.WORDS))
        for word, start, size in target.made:
            with self.subTest(word=word):
                (row,) = (r for at, r in rows.items() if at <= start < int(r["end"], 16))
                if self.WORDS[word]:
                    self.assertEqual(row["kind"], self.WORDS[word])
                else:
                    self.assertIn(row["kind"], ("file", "shmem"))
                if word != "heap":  # which the C library uses, too
                    self.assertEqual(row["bytes"], size)
                    self.assertEqual(row["resident_bytes"], size)

    def test_hugetlb_is_huge_and_needs_no_page_tables(self):
        row = self.row(self.target("hugetlb=8,touch"))
        self.assertEqual((row["kind"], row["verdict"]), ("hugetlb", "ok"))
        self.assertEqual(row["huge_bytes"], 8 * MIB)
        self.assertEqual(row["page_table_bytes"], 0)

    def test_a_stack_of_a_thread_is_told_from_a_table(self):
        row = self.rows(self.target("stack=8"))
        self.assertEqual([r["kind"] for r in row.values()], ["stack"])
        self.assertEqual([r["verdict"] for r in row.values()], [None])

    def test_neighbours_that_differ_in_advice_are_one_row_with_both_counted(self):
        row = self.row(self.target("anon=16,advise,part,touch"))
        self.assertEqual((row["parts"], row["bytes"]), (2, 16 * MIB))
        self.assertEqual(row["advised_bytes"], 8 * MIB)

    def test_a_name_the_program_gave_is_shown(self):
        self.assertEqual(self.row(self.target("anon=8,name=cache"))["name"], "cache")

    def test_smaller_mappings_show_with_min(self):
        target = self.target("anon=4,touch")
        self.assertEqual(self.rows(target), {})
        self.assertEqual(len(self.rows(target, "--min", "4M")), 1)
        self.assertEqual(len(self.rows(target, "--min", str(4 * MIB))), 1)
        self.assertEqual(self.rows(target, "--min", str(4 * MIB + 1)), {})


class Figures(Case):
    def test_all_figures_are_those_of_smaps(self):
        """Of a sleeping process, to the byte; summed here by another parser."""
        target = self.target(
            *"anon=8,advise,touch anon=8,refuse,touch anon=32,sparse anon=8,half shared=8,half "
            "memfd=8,touch heap=8,touch anon=16,advise,part,touch anon=8,read stack=8 fork".split()
        )
        books = smaps(target.pid)
        rows = self.rows(target)
        self.assertGreater(len(rows), 8)
        for at, row in rows.items():
            inside = [b for b in books if at <= b["start"] and b["end"] <= int(row["end"], 16)]
            with self.subTest(start=hex(at), kind=row["kind"]):
                self.assertEqual(len(inside), row["parts"])
                for key, names in (
                    ("resident_bytes", ["Rss"]),
                    ("huge_bytes", ["AnonHugePages", "ShmemPmdMapped"]),
                    ("twice_mapped_bytes", ["Shared_Clean", "Shared_Dirty"]),
                    ("swapped_bytes", ["Swap"]),
                ):
                    self.assertEqual(row[key], sum(b[name] for b in inside for name in names), key)
                for key, flag in (("advised_bytes", "hg"), ("refused_bytes", "nh")):
                    wanted = sum(b["end"] - b["start"] for b in inside if flag in b["flags"])
                    self.assertEqual(row[key], wanted, key)

    def test_translations_add_up_to_what_is_resident(self):
        target = self.target("anon=8,advise,touch", "anon=8,refuse,touch", "anon=8,advise,half")
        for row in self.rows(target).values():
            total = sum(t["translations"] * t["translation_bytes"] for t in row["translations"])
            self.assertEqual(total, row["resident_bytes"])

    def test_with_one_memory_node_all_lies_there(self):
        if memory_nodes() > 1:
            self.lacks("this machine has several memory nodes")
        for row in self.rows(self.target("anon=8,touch", "memfd=8,half")).values():
            self.assertEqual(list(row["node_bytes"].values()), [row["resident_bytes"]])
            self.assertFalse(row["node_bytes_sampled"])

    def test_a_page_table_is_counted_for_each_two_mib_that_is_touched(self):
        row = self.row(self.target("anon=32,refuse,sparse"))
        if row["page_table_bytes_at_least"]:
            self.lacks("kernels before 6.7 do not tell which pages are touched")
        self.assertEqual(row["page_table_bytes"], 16 * 4096)
        self.assertEqual(row["resident_bytes"], 16 * 4096)
        row = self.row(self.target("anon=32,refuse,skew,touch"))
        self.assertEqual(row["page_table_bytes"], 17 * 4096)

    def test_the_process_has_the_figures_of_its_status(self):
        target = self.target("anon=8,touch")
        text = pathlib.Path(f"/proc/{target.pid}/status").read_text(encoding="ascii")
        status = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
        (process,) = self.json("--pid", str(target.pid))["processes"]
        self.assertEqual(process["page_table_bytes"], int(status["VmPTE"].split()[0]) << 10)
        self.assertEqual(process["resident_bytes"], int(status["VmRSS"].split()[0]) << 10)
        self.assertEqual(process["comm"], "process-target")
        self.assertEqual(process["uid"], os.geteuid())
        maps = pathlib.Path(f"/proc/{target.pid}/maps").read_text(encoding="utf-8")
        self.assertEqual(process["kernel_mappings"], len(maps.splitlines()))


class Hinders(Case):
    def setUp(self):
        self.setting = chosen(THP + "enabled")

    def need_setting(self, *settings):
        if self.setting not in settings:
            self.lacks(f"huge pages are {self.setting} here")

    def assert_hinders(self, row, *wanted, verdict):
        self.assertEqual(row["hinders"], list(wanted), row)
        self.assertEqual(row["verdict"], verdict, row)

    def test_nobody_advised(self):
        self.need_setting("madvise")
        row = self.row(self.target("anon=8,touch"))
        self.assert_hinders(row, "not-advised", verdict="small-pages")
        self.assertEqual(row["gain_bytes"], 8 * MIB)

    def test_the_administrator_said_never(self):
        self.need_setting("never")
        row = self.row(self.target("anon=8,advise,touch"))
        self.assert_hinders(row, "thp-never", verdict="small-pages")

    def test_shared_memory_has_a_setting_of_its_own(self):
        if chosen(THP + "shmem_enabled") not in ("never", "deny"):
            self.lacks("huge pages of shared memory are not off here")
        for word in ("shared", "memfd", "sysv"):
            row = self.row(self.target(f"{word}=8,advise,touch"))
            self.assert_hinders(row, "thp-never", verdict="small-pages")

    def test_advised_against(self):
        self.need_setting("madvise", "always")
        row = self.row(self.target("anon=8,refuse,touch"))
        self.assert_hinders(row, "refused", verdict="small-pages")

    def test_huge_pages_off_for_the_process(self):
        self.need_setting("madvise", "always")
        row = self.row(self.target("thp-off", "anon=8,advise,touch"))
        self.assert_hinders(row, "thp-off", verdict="small-pages")

    def test_too_small(self):
        row = self.row(self.target("anon=3,skew,touch"), "--min", "1M")
        self.assert_hinders(row, "too-small", verdict="ok")

    def test_shared_since_a_fork(self):
        self.need_setting("madvise", "always")
        row = self.row(self.target("anon=8,refuse,touch", "fork"))
        self.assert_hinders(row, "refused", "shared", verdict="small-pages")
        self.assertEqual(row["twice_mapped_bytes"], 8 * MIB)

    def test_pinned(self):
        self.need_setting("madvise", "always")
        row = self.row(self.target("anon=8,refuse,touch,pin"))
        self.assert_hinders(row, "refused", "pinned", verdict="small-pages")

    def test_sparse(self):
        self.need_setting("madvise", "always")
        row = self.row(self.target("anon=64,refuse,sparse"))
        self.assert_hinders(row, "refused", "sparse", verdict="ok")

    def test_nothing_hinders_what_is_on_huge_pages(self):
        self.need_setting("madvise", "always")
        row = self.row(self.target("anon=8,advise,touch"))
        if row["huge_bytes"] < 8 * MIB:
            self.lacks("no huge pages were free")
        self.assert_hinders(row, verdict="ok")
        self.assertEqual(row["gain_bytes"], 0)

    def test_each_that_shows_is_explained_below_the_table(self):
        self.need_setting("madvise", "always")
        target = self.target("anon=8,refuse,touch", "anon=64,sparse,refuse", "file=8")
        result = report("--pid", str(target.pid))
        self.assert_status(result, 3)
        self.assert_quiet(result)
        for name in ("refused", "sparse"):
            self.assertRegex(result.out, rf"(?m)^(hinders)? +{name}: \w")
        self.assertNotIn(" pinned: ", result.out)


class Status(Case):
    def test_is_zero_where_nothing_is_wrong_and_three_where_something_is(self):
        self.assert_status(report("--pid", str(self.target("anon=8").pid)), 0)
        self.assert_status(report("--pid", str(self.target("anon=8,refuse,touch").pid)), 3)

    def refused(self, status, pid, *words, **more):
        result = report("--pid", str(pid), **more)
        self.assert_status(result, status)
        self.assertEqual(result.out, "", result)
        self.assert_one_line(result, *words)
        return result

    def test_no_number_is_wrong_usage(self):
        for word in ("", "x", "0", "-1", "1x", " 1", "99999999999999999999", "1,2"):
            with self.subTest(word=word):
                self.refused(2, word, "--pid", f"'{word}'")

    def test_no_such_process(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.refused(1, gone.pid, gone.pid, "no such process")
        self.refused(1, 2**31 - 1, "no such process")

    def test_zombie(self):
        zombie = subprocess.Popen(["true"])
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        self.refused(1, zombie.pid, zombie.pid, "true", "zombie")
        zombie.wait()

    def test_kernel_thread(self):
        try:
            flags = int(pathlib.Path("/proc/2/stat").read_text("ascii").rsplit(")")[1].split()[6])
        except OSError:
            self.lacks("no process 2 to be seen")
        if not flags & 0x200000:
            self.lacks("process 2 is no kernel thread")
        self.refused(1, 2, "kernel thread")

    def test_thread(self):
        wait, known, ids = threading.Event(), threading.Event(), []

        def run():
            ids.append(threading.get_native_id())
            known.set()
            wait.wait()

        thread = threading.Thread(target=run)
        thread.start()
        known.wait()
        result = self.refused(1, ids[0], ids[0], "thread", os.getpid())
        self.assertIn(f"hashdist report --pid {os.getpid()}", result.err)
        wait.set()
        thread.join()

    def test_processes_that_end_meanwhile_are_said_to_have_ended(self):
        for round_ in range(30):
            target = self.target("anon=8,touch")
            command = [BIN, "report", "--pid", str(target.pid)]
            run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if round_ % 3:
                threading.Event().wait(round_ / 10000)
            target.process.kill()
            _, err = run.communicate()
            self.assertIn(run.returncode, (0, 1, 3))
            if run.returncode == 1:
                self.assertRegex(err.decode(), r"no such process|has ended|zombie|not .*for others")

    def test_of_several_the_others_are_shown(self):
        one, two = self.target("anon=8,refuse,touch"), self.target("anon=24,refuse,touch")
        result = report("--pid", str(one.pid), "--pid", str(2**31 - 1), "-p", str(two.pid))
        self.assert_status(result, 1)
        self.assert_one_line(result, "no such process")
        self.assertEqual(
            [line.split()[0] for line in result.out.splitlines()[1:3]], [str(one.pid), str(two.pid)]
        )

    def test_options_that_do_not_go_together_are_refused(self):
        for words, named in (
            (("--pid", "1", "--all"), "--all"),
            (("--pid", "1", "--log", "x"), "--log"),
            (("--all", "--sysroot", "/"), "--sysroot"),
            (("--all", "--save", "/nowhere/x"), "--save"),
            (("--all", "--rule", "deal=pages"), "--rule"),
            (("--all", "--damaged"), "--damaged"),
            (("--min", "1M"), "--min"),
            (("--budget", "1"), "--budget"),
            (("--all", "--json", "--openmetrics"), "--json"),
        ):
            with self.subTest(words=words):
                result = report(*words)
                self.assert_status(result, 2)
                self.assert_one_line(result, named)

    def test_values_that_are_none_are_refused(self):
        for words in (
            *(("--min", value) for value in ("", "x", "-1", "0", "1X", "99999999999T")),
            *(("--budget", value) for value in ("", "x", "-1", "1s", "99999999999")),
        ):
            with self.subTest(words=words):
                result = report("--all", *words)
                self.assert_status(result, 2)
                self.assert_one_line(result, words[0], f"'{words[1]}'")


class Users(Case):
    def setUp(self):
        self.root()

    def as_nobody(self, *words):
        return report(*words, user=NOBODY, group=NOBODY, extra_groups=[])

    def test_a_process_of_another_user_is_not_for_others_to_see(self):
        target = self.target("anon=8,touch")
        result = self.as_nobody("--pid", str(target.pid))
        self.assert_status(result, 1)
        self.assert_one_line(result, target.pid, "process-target", "user 0")
        self.assertIn("root", result.err)
        self.assertEqual(result.out, "")

    def test_root_sees_those_of_others(self):
        target = self.target("anon=8,refuse,touch", f"uid={NOBODY}")
        (process,) = self.json("--pid", str(target.pid))["processes"]
        self.assertEqual(process["uid"], NOBODY)
        self.assertEqual(process["mappings"][0]["resident_bytes"], 8 * MIB)

    def test_an_ordinary_user_sees_all_of_its_own(self):
        target = self.target("anon=8,refuse,touch", user=NOBODY)
        result = self.as_nobody("--pid", str(target.pid), "--json")
        self.assert_status(result, 3)
        self.assert_quiet(result)
        (row,) = json.loads(result.out)["processes"][0]["mappings"]
        self.assertEqual(row["resident_bytes"], 8 * MIB)
        self.assertEqual(row["refused_bytes"], 8 * MIB)
        self.assertIsNotNone(row["node_bytes"])

    def test_what_protects_itself_is_not_for_its_own_user(self):
        target = self.target("anon=8,touch", "undumpable", user=NOBODY)
        result = self.as_nobody("--pid", str(target.pid))
        self.assert_status(result, 1)
        self.assert_one_line(result, target.pid)

    def test_all_tells_how_many_may_not_be_read_in_one_line(self):
        target = self.target("anon=8,touch")
        mine = self.target("anon=8,refuse,touch", user=NOBODY)
        result = self.as_nobody("--all", "--budget", "60000")
        self.assert_status(result, 3)
        self.assert_one_line(result, "may not be read")
        self.assertIn("run as root", result.err)
        pids = {line.split()[0] for line in result.out.splitlines()}
        self.assertIn(str(mine.pid), pids)
        self.assertNotIn(str(target.pid), pids)
        found = json.loads(self.as_nobody("--all", "--json").out)
        self.assertIn(target.pid, [process["pid"] for process in found["not_seen"]])


class All(Case):
    def test_most_to_gain_comes_first(self):
        small = self.target("anon=8,refuse,touch")
        large = self.target("anon=64,refuse,touch")
        found = self.json("--all", "--budget", "60000")["processes"]
        # Of a process that ended meanwhile it is not known.
        gains = [process["gain_bytes"] for process in found if process["gain_bytes"] is not None]
        self.assertEqual(gains, sorted(gains, reverse=True))
        pids = [process["pid"] for process in found]
        self.assertLess(pids.index(large.pid), pids.index(small.pid))

    def test_rows_are_those_that_are_judged(self):
        target = self.target("anon=8,refuse,touch", "stack=8", "file=8,touch")
        rows = [line.split() for line in report("--all", "--budget", "60000").out.splitlines()]
        kinds = [row[2] for row in rows if row[0] == str(target.pid)]
        self.assertIn("anonymous", kinds)
        self.assertNotIn("stack", kinds)

    def test_what_has_less_memory_than_a_large_mapping_is_not_there(self):
        target = self.target("anon=64,sparse")
        self.assertNotIn(target.pid, [p["pid"] for p in self.json("--all", "--budget", "60000")["processes"]])

    def test_kernel_threads_are_neither_shown_nor_missed(self):
        found = self.json("--all", "--min", "1")
        self.assertNotIn(2, [p["pid"] for p in found["processes"] if p["comm"] == "kthreadd"])
        self.assertNotIn("kthreadd", [process["comm"] for process in found["not_seen"]])


class Limits(Case):
    def test_without_time_rows_have_addresses_and_unknown_figures(self):
        target = self.target("anon=8,refuse,touch", "memfd=8,touch")
        result = report("--pid", str(target.pid), "--budget", "0", "--json")
        self.assert_status(result, 0)
        self.assert_one_line(result, target.pid, "time limit")
        (process,) = json.loads(result.out)["processes"]
        self.assertTrue(process["cut"])
        self.assertIsNone(process["gain_bytes"])
        for row in process["mappings"]:
            for key in ("resident_bytes", "huge_bytes", "translations", "gain_bytes", "node_bytes",
                        "page_table_bytes", "advised_bytes", "swapped_bytes"):
                self.assertIsNone(row[key], key)
            self.assertEqual(row["verdict"], "unknown")

    def test_where_time_is_short_pages_are_scanned_and_the_rest_is_unknown(self):
        """5 ms are less than smaps is expected to take for 400 MiB on base pages."""
        target = self.target("anon=400,refuse,touch")
        result = report("--pid", str(target.pid), "--budget", "5", "--json")
        row = json.loads(result.out)["processes"][0]["mappings"][0]
        self.assertIsNone(row["refused_bytes"])
        self.assertIn("time limit", result.err)
        if row["resident_bytes"] is None:
            self.lacks("no scan within 5 ms, or a kernel before 6.7")
        self.assertEqual(row["resident_bytes"], 400 * MIB)
        self.assertEqual(row["verdict"], "small-pages")

    def peak_kib(self, pid):
        """Peak of memory, read while its end is held up by a full pipe that it prints to."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        command = [BIN, "report", "--pid", str(pid)]
        with subprocess.Popen(command, stdout=writer, stderr=subprocess.DEVNULL) as run:
            os.close(writer)
            peak, calm = 0, 0
            while calm < 5:
                threading.Event().wait(0.02)
                text = pathlib.Path(f"/proc/{run.pid}/status").read_text(encoding="utf-8")
                kib = re.search(r"(?m)^VmHWM:\s+(\d+)", text)
                self.assertTrue(kib, f"it has ended: {text}")
                calm = calm + 1 if "State:\tS" in text and int(kib[1]) == peak else 0
                peak = max(peak, int(kib[1]))
            while os.read(reader, 1 << 16):
                pass
        os.close(reader)
        self.assertIn(run.returncode, (0, 3))
        return peak

    def test_memory_does_not_grow_with_the_number_of_mappings(self):
        limit = int(pathlib.Path("/proc/sys/vm/max_map_count").read_text(encoding="ascii"))
        few, many = (
            self.peak_kib(self.target(f"many={count}", "anon=8,touch").pid)
            for count in (100, min(100000, limit - 200))
        )
        self.assertLess(many, few + 1024, "KiB")


class Output(Case):
    def test_help_lists_the_columns_wherever_it_stands(self):
        for words in (("--all", "-o", "help"), ("-o", "help", "--pid", "1")):
            result = report(*words)
            self.assert_status(result, 0)
            self.assertEqual([line.split()[0] for line in result.out.splitlines()], COLUMNS)
            self.assertLessEqual(max(map(len, result.out.splitlines())), 100)

    def test_each_column_alone_is_a_cell_for_each_row(self):
        target = self.target("anon=8,touch", "memfd=8,half", "stack=8", "anon=8,refuse")
        for name in COLUMNS:
            with self.subTest(column=name):
                result = report("--pid", str(target.pid), "--output", name.lower())
                head, *cells = result.out.splitlines()
                self.assertEqual(head.strip(), name)
                self.assertEqual(len(cells), 4)
                self.assertNotIn("", [cell.strip() for cell in cells])

    def test_unknown_column_is_refused_with_the_list(self):
        result = report("--all", "--output", "PID,TABLE")
        self.assert_status(result, 2)
        self.assert_one_line(result, "'TABLE'")
        self.assertIn(",".join(COLUMNS), result.err)

    def test_no_colours_or_drawing_in_a_pipe(self):
        result = report("--pid", str(self.target("anon=8,touch").pid))
        self.assertTrue(result.out.isascii())
        self.assertNotIn("\033", result.out)

    def test_keys_of_json_are_those_of_the_manual(self):
        target = self.target("anon=8,touch")
        found = self.json("--pid", str(target.pid))
        self.assertEqual(
            list(found), ["version", "machine", "min_bytes", "budget_ms", "processes", "not_seen"]
        )
        (process,) = found["processes"]
        self.assertEqual(
            list(process),
            "pid comm uid resident_bytes page_table_bytes pinned_bytes thp_off allowed_nodes "
            "kernel_mappings gain_bytes cut verdict mappings".split(),
        )
        self.assertEqual(
            list(process["mappings"][0]),
            "start end bytes kind name parts readable writable executable shared resident_bytes "
            "huge_bytes translations gain_bytes page_table_bytes page_table_bytes_at_least "
            "swapped_bytes twice_mapped_bytes advised_bytes refused_bytes node_bytes "
            "node_bytes_sampled policy hinders verdict verdicts".split(),
        )

    def test_settings_of_the_machine_are_named_as_the_kernel_names_them(self):
        target = self.target("anon=8,touch")
        machine = self.json("--pid", str(target.pid))["machine"]
        self.assertEqual(machine["thp"], chosen(THP + "enabled") or "none")

    def test_names_that_are_no_utf8_or_hold_line_ends_do_no_harm(self):
        target = self.target("comm=a\nb\"c\\\x7f", "anon=8,refuse,touch")
        (process,) = self.json("--pid", str(target.pid))["processes"]
        self.assertEqual(process["comm"], 'a\nb"c\\\x7f')
        for words in ((), ("--openmetrics",), ("--output", "COMM")):
            result = report("--pid", str(target.pid), *words)
            self.assertIn('a?b"c\\' if words != ("--openmetrics",) else 'a?b\\"c\\\\', result.out)

    def test_a_full_disk_is_a_failure(self):
        target = self.target("anon=8,touch")
        for words in ((), ("--json",), ("--openmetrics",)):
            with open("/dev/full", "wb") as full:
                result = report("--pid", str(target.pid), *words, stdout=full)
            self.assert_status(result, 1)
            self.assert_one_line(result, "cannot write to standard output")


class Manual(Case):
    def section(self, name):
        page = support.SOURCE / "man/hashdist-report.1.scd"
        if not page.exists():
            self.lacks(f"no source tree in {support.SOURCE}", must=True)
        text = page.read_text(encoding="utf-8")
        return re.search(rf"^# {name}\n(.*?)(?=^# |\Z)", text, re.M | re.S).group(1).splitlines()

    def test_has_the_columns_that_output_help_lists(self):
        found = [line.split(", ") for line in self.section("COLUMNS OF A PROCESS")
                 if re.fullmatch(r"[A-Z]+(, [A-Z]+)*", line)]
        self.assertEqual(sorted(sum(found, [])), sorted(COLUMNS))

    def test_has_each_hinder(self):
        code = (support.SOURCE / "process/hinder.c").read_text(encoding="utf-8")
        names = re.search(r"names\[\] = \{(.*?)\}", code, re.S).group(1)
        names = re.findall(r'"([a-z-]+)"', names)
        self.assertGreater(len(names), 10)
        found = [line.strip("*") for line in self.section("HINDERS") if line.startswith("*")]
        self.assertEqual(found, names)

    def test_completion_proposes_columns_of_processes_and_their_numbers(self):
        bash = shutil.which("bash")
        if not bash:
            self.lacks("no bash")
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_hashdist; printf "%s\\n" "${COMPREPLY[@]}"')
        with tempfile.TemporaryDirectory() as place:
            os.symlink(BIN, place + "/hashdist")
            environment = {**support.ENVIRONMENT, "PATH": f"{place}:{os.environ['PATH']}"}
            for words, wanted in (
                (("--all", "-o", "HIN"), "HINDERS"),
                (("--pid", "7", "-o", "PID,HIN"), "PID,HINDERS"),
                (("--pid", str(os.getpid())), str(os.getpid())),
            ):
                found = support.start(
                    [bash, "-c", script, "bash", support.SOURCE / "completion/hashdist",
                     "hashdist", "report", *words], env=environment,
                ).out.split()
                self.assertIn(wanted, found, words)


class Metrics(Case):
    def test_sums_are_those_of_json(self):
        target = self.target(
            "anon=8,refuse,touch", "anon=8,advise,touch", "memfd=8,half", "stack=8"
        )
        words = ("--pid", str(target.pid))
        (process,) = self.json(*words)["processes"]
        result = report(*words, "--openmetrics")
        self.assert_status(result, 3)
        families = read_openmetrics(result.raw)
        for name, key in (
            ("large", "bytes"),
            ("resident", "resident_bytes"),
            ("huge", "huge_bytes"),
            ("gain", "gain_bytes"),
            ("page_tables", "page_table_bytes"),
        ):
            wanted = {}
            for row in process["mappings"]:
                if row[key] is not None:
                    wanted[row["kind"]] = wanted.get(row["kind"], 0) + row[key]
            family = families[f"hashdist_process_{name}_bytes"]
            self.assertEqual(family["UNIT"], "bytes")
            self.assertEqual({l["kind"]: v for l, v in family["samples"]}, wanted, name)
            self.assertEqual({(l["pid"], l["comm"]) for l, _ in family["samples"]},
                             {(str(target.pid), "process-target")})
        ((labels, value),) = families["hashdist_process_ok"]["samples"]
        self.assertEqual((labels["pid"], value), (str(target.pid), 0))
        hindered = families["hashdist_process_hindered_bytes"]["samples"]
        self.assertIn(("refused", 8 * MIB), [(l["hinder"], v) for l, v in hindered])

    def test_all_processes_make_one_text_that_a_strict_reader_takes(self):
        targets = [self.target("anon=8,refuse,touch") for _ in range(2)]
        families = read_openmetrics(report("--all", "--budget", "60000", "--openmetrics").raw)
        pids = {labels["pid"] for labels, _ in families["hashdist_process_ok"]["samples"]}
        self.assertLessEqual({str(target.pid) for target in targets}, pids)


if __name__ == "__main__":
    support.main()

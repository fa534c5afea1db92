#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist bench: layouts of a table on this machine. Counts are asserted, times never."""

import ctypes
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import xml.dom.minidom
from pathlib import Path

import support
from support import BIN, ENVIRONMENT, hashdist

FOUR = ["base-one", "large-one", "base-spread", "large-spread"]
POOL = ["hugetlb-one", "hugetlb-spread"]
COLUMNS = (
    "SIZE BYTES LAYOUT HAD WHY PAGES NODES ALLOC PAGE FIRST MEMSET ALLOCX FAULTS TABLES "
    "INDEP INDEPRANGE INDEPX DEP DEPRANGE DEPX RUNS SUM"
).split()
FIGURES = (
    "allocate_seconds_per_gib allocate_ns_per_page first_memset_seconds_per_gib "
    "memset_seconds_per_gib allocate_to_memset_ratio page_faults page_table_bytes "
    "independent_ns independent_to_base_one_ratio dependent_ns dependent_to_base_one_ratio"
).split()
QUICK = ("--runs", "1", "--lookups", "1000")
SMALL = ("--size", "2M", *QUICK)
# Would take years: whoever ends at once has not measured.
ENDLESS = ("--size", "2M", "--runs", "1000", "--lookups", "1T")
MIB = 1 << 20


def bench(*words, **more):
    return hashdist("bench", *words, **more)


def results(*words, **more):
    return json.loads(bench(*words, "--json", **more).out)["results"]


def by_layout(rows):
    return {row["layout"]: row for row in rows}


def without_huge_pages():
    """For this process and its children (PR_SET_THP_DISABLE)."""
    ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)


class Bench(support.Case):
    def refused(self, result, *words, status=2):
        self.assert_status(result, status)
        self.assertEqual(result.out, "", result)
        self.assert_one_line(result, *words)

    def place(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        return directory.name


class Rows(Bench):
    def test_each_layout_is_a_row_at_each_size_and_sizes_ascend(self):
        rows = results("--size", "4M,2M,4M", *QUICK)
        found = [(row["bytes"], row["layout"]) for row in rows]
        self.assertEqual(found, [(size, name) for size in (2 * MIB, 4 * MIB) for name in FOUR])

    def test_layouts_are_chosen_by_name_by_pages_and_by_nodes(self):
        for words, wanted in (
            (("--layout", "large-one"), ["large-one"]),
            (("--layout", "large-spread,base-one"), ["base-one", "large-spread"]),
            (("--layout", "base"), ["base-one", "base-spread"]),
            (("--layout", "one"), ["base-one", "large-one"]),
            (("--layout", "spread"), ["base-spread", "large-spread"]),
            (("--layout", "hugetlb"), POOL),
            (("--layout", "1g"), ["1g-one", "1g-spread"]),
            (("--layout", "one", "--hugetlb"), ["base-one", "large-one", "hugetlb-one"]),
            (("--hugetlb",), FOUR + POOL),
        ):
            with self.subTest(words=words):
                rows = results(*SMALL, *words)
                self.assertEqual([row["layout"] for row in rows], wanted)

    def test_only_what_was_had_is_measured(self):
        for row in results(*SMALL, "--hugetlb"):
            with self.subTest(layout=row["layout"]):
                had = row["had"] != "no"
                for figure in FIGURES:
                    self.assertEqual(row[figure] is not None, had, figure)
                self.assertEqual(row["runs"], 1 if had else 0)
                if row["had"] == "yes":
                    self.assertEqual((row["pages_why"], row["nodes_why"]), ("met", "met"))
                else:
                    self.assertNotEqual((row["pages_why"], row["nodes_why"]), ("met", "met"))

    def test_a_spread_over_one_node_is_marked_and_no_news(self):
        result = bench(*SMALL, "--layout", "base", "--json")
        if json.loads(result.out)["machine"]["memory_nodes"] != 1:
            self.lacks("this machine has several memory nodes")
        row = by_layout(json.loads(result.out)["results"])["base-spread"]
        self.assertEqual((row["had"], row["nodes_why"]), ("no", "one-node"))
        self.assert_status(result, 0)
        self.assert_quiet(result)
        text = bench(*SMALL, "--layout", "base").out
        self.assertRegex(text, r"\n *2 MiB base-spread +no ")
        self.assertRegex(text, r"\nnot had +base-spread \(one-node\)\n")

    def test_nothing_measured_at_all_is_no_success(self):
        result = bench(*SMALL, "--layout", "base-spread", "--json")
        if json.loads(result.out)["machine"]["memory_nodes"] != 1:
            self.lacks("this machine has several memory nodes")
        self.assert_status(result, 3)

    def test_large_pages_that_are_off_are_not_measured_and_said(self):
        result = bench(*SMALL, "--layout", "one", "--json", preexec_fn=without_huge_pages)
        row = by_layout(json.loads(result.out)["results"])["large-one"]
        if row["pages_why"] == "thp-never":
            self.lacks("transparent huge pages are off for all of this machine")
        self.assertEqual((row["had"], row["pages_why"]), ("no", "thp-off"))
        self.assertIsNone(row["dependent_ns"])
        self.assert_status(result, 3)
        self.assert_one_line(result, "large-one", "not had", "thp-off")
        self.assertRegex(result.err, r"\n  try +\S")

    def test_a_pool_that_is_empty_is_not_measured_and_said(self):
        result = bench(*SMALL, "--layout", "1g-one", "--json")
        (row,) = json.loads(result.out)["results"]
        if row["had"] == "yes":
            self.lacks("this machine has a pool of 1 GiB pages")
        self.assertEqual(row["had"], "no")
        self.assert_status(result, 3)
        self.assert_one_line(result, "1g-one", "not had", row["pages_why"])


class Counts(Bench):
    def test_base_pages_are_a_fault_each_and_large_pages_save_nearly_all(self):
        found = by_layout(results("--size", "64M", *QUICK, "--layout", "one"))
        pages = 64 * MIB // os.sysconf("SC_PAGESIZE")
        base = found["base-one"]
        self.assertEqual(base["had"], "yes")
        self.assertGreaterEqual(base["page_faults"]["median"], pages)
        self.assertLess(base["page_faults"]["median"], pages + 100)
        large = found["large-one"]
        if large["had"] != "yes":
            self.lacks(f"no large pages here: {large['pages_why']}")
        self.assertLess(large["page_faults"]["median"] * 50, base["page_faults"]["median"])

    def test_as_many_lookups_are_done_as_are_asked_for(self):
        for row in results("--size", "2M", "--runs", "2", "--lookups", "12345"):
            self.assertEqual(row["lookups"], None if row["had"] == "no" else 12345)

    def test_all_layouts_read_the_same_and_sizes_differ(self):
        sums = {}
        for row in results("--size", "2M,3M", *QUICK):
            if row["had"] != "no":
                pair = row["independent_sum"], row["dependent_sum"]
                self.assertRegex(" ".join(pair), r"^0x[0-9a-f]{16} 0x[0-9a-f]{16}$")
                sums.setdefault(row["bytes"], set()).add(pair)
        self.assertEqual([len(found) for found in sums.values()], [1, 1])
        self.assertNotEqual(*sums.values())

    def test_got_adds_up(self):
        for row in results("--size", "5M", *QUICK, "--hugetlb"):
            got = row["got"]
            self.assertGreaterEqual(got["bytes"], 5 * MIB)
            self.assertEqual(got["populated_bytes"], got["bytes"])
            pages = sum(got["bytes_by_page_bytes"].values()) + got["pages_unknown_bytes"]
            nodes = sum(got["bytes_by_node"].values()) + got["nodes_unknown_bytes"]
            self.assertEqual((pages, nodes), (got["bytes"], got["bytes"]), row)

    def test_median_lies_between_low_and_high_and_base_is_its_own_measure(self):
        (row,) = results("--size", "2M", "--runs", "4", "--lookups", "1000", "--layout", "base-one")
        self.assertEqual(row["runs"], 4)
        for figure in FIGURES:
            low, median, high = (row[figure][key] for key in ("low", "median", "high"))
            self.assertLessEqual(low, median, figure)
            self.assertLessEqual(median, high, figure)
        for figure in ("independent_to_base_one_ratio", "dependent_to_base_one_ratio"):
            self.assertEqual(set(row[figure].values()), {1.0})

    def test_threads_change_nothing_that_can_be_counted(self):
        one, many = (
            results("--size", "16M", *QUICK, "--layout", "base-one", "--threads", threads)[0]
            for threads in ("1", "3")
        )
        self.assertEqual(one["got"]["bytes_by_page_bytes"], many["got"]["bytes_by_page_bytes"])
        self.assertEqual(one["dependent_sum"], many["dependent_sum"])


class Json(Bench):
    KEYS = {
        "layout", "want_pages", "want_nodes", "bytes", "had", "pages_why", "nodes_why", "errno",
        "runs", "got", "lookups", "independent_sum", "dependent_sum", *FIGURES,
    }  # fmt: skip

    def setUp(self):
        self.text = bench(*SMALL, "--bucket", "128", "--threads", "2", "--json").out
        self.found = json.loads(self.text)

    def test_keys_are_those_of_the_manual(self):
        self.assertEqual(
            list(self.found), ["version", "library_version", "machine", "options", "results"]
        )
        for row in self.found["results"]:
            self.assertEqual(set(row), self.KEYS)
        manual = (support.SOURCE / "man/hashdist-bench.1.scd").read_text(encoding="utf-8")
        section = manual.split("\n# JSON\n")[1].split("\n# ")[0]
        named = set(re.findall(r"_([a-z_]+[a-z])_", section)) | set(
            re.findall(r"\*([a-z_]+)\*", section)
        )
        got = self.found["results"][0]["got"]
        for key in (*self.found, *self.KEYS, *self.found["machine"], *self.found["options"], *got):
            self.assertIn(key, named)

    def test_options_are_what_was_measured_with(self):
        self.assertEqual(
            self.found["options"],
            {"sizes_bytes": [2 * MIB], "runs": 1, "bucket_bytes": 128, "lookups": 1000,
             "threads": 2},
        )  # fmt: skip

    def test_the_machine_can_be_told_and_nobody_s_name_is_there(self):
        machine = self.found["machine"]
        self.assertEqual(machine["kernel_release"], os.uname().release)
        self.assertEqual(machine["page_bytes"], os.sysconf("SC_PAGESIZE"))
        words = set(re.findall(r'"([^"]*)"', self.text))
        for name in {socket.gethostname(), os.environ.get("USER", "root"), os.getcwd()}:
            self.assertNotIn(name, words)
        for key in ("hostname", "command", "path"):
            self.assertNotIn(f'"{key}"', self.text)


class Options(Bench):
    def test_values_that_make_no_sense_are_refused(self):
        for words, named in (
            (("--size", ""), "--size"),
            (("--size", "2M,"), "--size"),
            (("--size", ",2M"), "--size"),
            (("--size", "0"), "'0'"),
            (("--size", "-1"), "'-1'"),
            (("--size", "2Q"), "'2Q'"),
            (("--size", "M"), "'M'"),
            (("--size", "2MM"), "'2MM'"),
            (("--size", "99999999999999999999"), "'99999999999999999999'"),
            (("--size", "99999999P"), "'99999999P'"),
            (("--size", ",".join(f"{n}K" for n in range(64, 200))), "--size"),
            (("--size", "32"), "bucket"),
            (("--runs", "0"), "--runs"),
            (("--runs", "1001"), "--runs"),
            (("--runs", "x"), "--runs"),
            (("--bucket", "0"), "--bucket"),
            (("--bucket", "12"), "--bucket"),
            (("--lookups", "0"), "--lookups"),
            (("--threads", "0"), "--threads"),
            (("--threads", "257"), "--threads"),
            (("--layout", ""), "--layout"),
            (("--layout", "huge"), "'huge'"),
            (("--layout", "base-one,"), "--layout"),
            (("--layout", "base-"), "'base-'"),
            (("--plot", "x"), "'x'"),
            (("--plot", "x.pdf"), "'x.pdf'"),
            (("--json", "--output", "SIZE"), "exclude"),
            (("word",), "word"),
        ):
            with self.subTest(words=words):
                self.refused(bench(*ENDLESS, *words), named)

    def test_a_bucket_larger_than_the_sizes_chosen_by_itself_is_refused(self):
        self.refused(bench("--runs", "1", "--lookups", "1000", "--bucket", "8G"), "bucket")

    def test_a_later_size_replaces_an_earlier_one(self):
        rows = results("--size", "1T", *SMALL, "--layout", "base-one")
        self.assertEqual([row["bytes"] for row in rows], [2 * MIB])

    def test_a_size_beyond_memory_is_refused_before_anything_is_measured(self):
        for size in ("2M,1024T", "1000P"):
            result = bench(*ENDLESS, "--size", size)
            self.refused(result, "--size", status=1)
        result = bench(*ENDLESS, "--size", "2M,1024T")
        self.assertRegex(result.err, r"\n  try +--size \d+M\n")

    def test_columns_are_those_that_help_lists(self):
        listed = bench("--output", "help")
        self.assert_status(listed, 0)
        self.assertEqual([line.split()[0] for line in listed.out.splitlines()], COLUMNS)

    def test_each_column_alone_is_a_cell_for_each_row(self):
        for name in COLUMNS:
            with self.subTest(column=name):
                result = bench(*SMALL, "--output", name.lower(), "--layout", "base")
                head, *cells = result.out.splitlines()
                self.assertEqual(head.strip(), name)
                self.assertEqual(len(cells), 2)
                self.assertNotIn("", [cell.strip() for cell in cells])

    def test_an_unknown_column_is_refused_with_the_list(self):
        for words in ("FOO", "SIZE,FOO", "FOO,SIZE"):
            result = bench(*ENDLESS, "--output", words)
            self.refused(result, "'FOO'")
            self.assertIn(",".join(COLUMNS), result.err)
        for words in ("", ",", "SIZE,", ",".join(["SIZE"] * 500)):
            self.refused(bench(*ENDLESS, "--output", words))

    def test_columns_in_the_manual_are_those_of_the_program(self):
        manual = (support.SOURCE / "man/hashdist-bench.1.scd").read_text(encoding="utf-8")
        section = manual.split("\n# COLUMNS\n")[1].split("\n# ")[0]
        named = [
            name
            for line in section.splitlines()
            if re.fullmatch(r"[A-Z]+(, [A-Z]+)*", line)
            for name in line.split(", ")
        ]
        self.assertEqual(sorted(named), sorted(COLUMNS))

    def test_layouts_in_the_manual_are_those_of_the_program(self):
        manual = (support.SOURCE / "man/hashdist-bench.1.scd").read_text(encoding="utf-8")
        section = manual.split("\n# LAYOUTS\n")[1].split("\n# ")[0]
        named = re.findall(r"^\*([a-z0-9-]+)\*, \*([a-z0-9-]+)\*$", section, re.M)
        rows = results(*SMALL, "--layout", "base,large,hugetlb,1g")
        self.assertEqual(sorted(sum(map(list, named), [])), sorted(r["layout"] for r in rows))

    def test_output_is_a_table_and_nothing_else(self):
        text = bench(*SMALL, "--output", "SIZE,LAYOUT", "--layout", "base").out
        self.assertEqual(text.splitlines()[1:], ["2 MiB base-one", "2 MiB base-spread"])
        self.assertIn("\nmachine ", bench(*SMALL, "--layout", "base").out)


class Plot(Bench):
    """With gnuplot, and with programs of that name that are not so kind."""

    def setUp(self):
        self.directory = self.place()
        self.file = os.path.join(self.directory, "x.svg")

    def real(self, *words, **more):
        if not shutil.which("gnuplot"):
            self.lacks("no gnuplot", must=True)
        return bench("--size", "2M,8M", *QUICK, *words, **more)

    def pretend(self, body):
        """The environment in which gnuplot is this shell script."""
        tools = self.place()
        program = Path(tools, "gnuplot")
        program.write_text("#!/bin/sh\n" + body, encoding="ascii")
        program.chmod(0o755)
        return {**ENVIRONMENT, "PATH": f"{tools}:{os.environ['PATH']}"}

    def left(self):
        return sorted(os.listdir(self.directory))

    def words_of(self, path):
        document = xml.dom.minidom.parse(path)
        self.assertEqual(document.documentElement.tagName, "svg")
        return [
            "".join(child.data for child in node.childNodes if child.nodeType == child.TEXT_NODE)
            for node in document.getElementsByTagName("text")
        ]

    def test_an_svg_says_what_it_shows_and_how_it_was_made(self):
        result = self.real("--plot", self.file)
        self.assert_status(result, 0, 3)
        self.assertEqual(self.left(), ["x.svg"])
        text = "\n".join(word.strip() for word in self.words_of(self.file))
        for word in ("base-one", "2 MiB", "8 MiB", "ns per lookup", "size of the table",
                     "independent: many in flight", "dependent: one after the other"):  # fmt: skip
            self.assertIn(word, text)
        command = "$ hashdist bench --size 2M,8M --runs 1 --lookups 1000 --plot x.svg"
        self.assertIn(command, text)
        self.assertNotIn(self.directory, text)

    def test_axis_has_the_unit_that_fits(self):
        if not shutil.which("gnuplot"):
            self.lacks("no gnuplot", must=True)
        bench("--size", "64K,2M", *QUICK, "--layout", "base-one", "--plot", self.file)
        text = self.words_of(self.file)
        self.assertIn("64 KiB", " ".join(text))
        self.assertIn("2 MiB", " ".join(text))

    def test_a_png_is_one(self):
        path = os.path.join(self.directory, "x.png")
        self.assert_status(self.real("--plot", path), 0, 3)
        with open(path, "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        self.assertEqual(self.left(), ["x.png"])

    def test_a_name_full_of_traps_is_a_name(self):
        name = "a 'q' \"w\" `touch trap` $(touch trap) <&> @x \\ ''%d\n\u00e9.svg"
        result = self.real("--plot", name, cwd=self.directory)
        self.assert_status(result, 0, 3)
        self.assertEqual(self.left(), [name])
        self.assertIn("`touch trap`", "\n".join(self.words_of(os.path.join(self.directory, name))))

    def test_table_and_json_are_printed_all_the_same(self):
        self.assertIn("base-one", self.real("--plot", self.file).out)
        self.assertTrue(json.loads(self.real("--plot", self.file, "--json").out)["results"])

    def test_a_file_of_that_name_is_replaced(self):
        Path(self.file).write_text("old", encoding="ascii")
        self.assert_status(self.real("--plot", self.file), 0, 3)
        self.assertNotEqual(Path(self.file).read_text(encoding="utf-8"), "old")
        self.assertEqual(self.left(), ["x.svg"])

    def test_the_file_is_as_readable_as_others(self):
        self.real("--plot", self.file)
        other = os.path.join(self.directory, "other")
        with open(other, "wb"):
            pass
        self.assertEqual(
            stat.S_IMODE(os.stat(self.file).st_mode), stat.S_IMODE(os.stat(other).st_mode)
        )

    def test_without_gnuplot_nothing_is_measured_and_the_package_is_named(self):
        for path in (self.directory, "/nowhere", ""):
            env = {**ENVIRONMENT, "PATH": path}
            result = bench(*ENDLESS, "--plot", self.file, env=env)
            self.refused(result, "gnuplot", status=1)
            self.assertRegex(result.err, r"\n  try +apt install gnuplot-nox\n")
            self.assertEqual(self.left(), [])

    def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(self):
        env = self.pretend("exit 0\n")
        os.mkdir(os.path.join(self.directory, "d.svg"))
        for path in ("/nowhere/x.svg", os.path.join(self.directory, "d.svg"), "/dev/null/x.svg"):
            with self.subTest(path=path):
                self.refused(bench(*ENDLESS, "--plot", path, env=env), path, status=1)

    def test_a_gnuplot_that_fails_leaves_nothing_and_is_heard(self):
        Path(self.file).write_text("old", encoding="ascii")
        for body in (
            "cat >/dev/null; echo '<svg half'; echo 'no such terminal' >&2; exit 1\n",
            "echo 'no such terminal' >&2\n",
            "echo 'no such terminal' >&2; echo x; kill -9 $$\n",
        ):
            with self.subTest(body=body):
                result = bench(*SMALL, "--plot", self.file, env=self.pretend(body))
                self.assert_status(result, 1)
                self.assertIn("base-one", result.out)
                self.assert_one_line(result, "gnuplot")
                self.assertRegex(result.err, r"\n  because +no such terminal\n")
                self.assertEqual(self.left(), ["x.svg"])
                self.assertEqual(Path(self.file).read_text(encoding="ascii"), "old")

    def test_who_is_interrupted_while_it_draws_leaves_nothing(self):
        mark = os.path.join(self.place(), "mark")
        env = self.pretend(f"echo '<svg half'; : >'{mark}'; exec sleep 20\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen(
                [BIN, "bench", *SMALL, "--plot", self.file], env=env, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                # Whoever started these tests may have it ignored, as nohup does.
                preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
            )  # fmt: skip
            until = time.monotonic() + 30
            while not os.path.exists(mark) and time.monotonic() < until:
                time.sleep(0.01)
            os.killpg(process.pid, number)
            self.assertEqual(process.wait(timeout=30), -number)
            self.assertEqual(self.left(), [])
            os.unlink(mark)

    def test_nothing_to_draw_is_said(self):
        if len(re.findall(r"N\d", bench(*SMALL, "--output", "NODES").out)) == 0:
            self.lacks("the nodes of a table are not told")
        result = bench(*SMALL, "--layout", "1g-one", "--plot", self.file, env=self.pretend("cat\n"))
        if result.status == 0:
            self.lacks("this machine has a pool of 1 GiB pages")
        self.assert_status(result, 1)
        self.assert_one_line(result, "nothing to draw")
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    support.main()

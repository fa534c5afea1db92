#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The experiment's own parts, without a guest: the tree, what is made of the plugin's lines, which
boots are refused, and what is asserted of the others.
"""

import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("bench/gitdiff", "bench/peers", "tests/kernels")]

import expect  # noqa: E402
import gitdiff  # noqa: E402
import lab  # noqa: E402
import setups  # noqa: E402
import show  # noqa: E402
import tree  # noqa: E402
from results import Counted, Damaged, Symbols, parse  # noqa: E402

LINEAR, VMALLOC, MEMMAP = 0xFFFF888000000000, 0xFFFFC90000000000, 0xFFFFEA0000000000
KERNEL = 0xFFFFFFFF81000000
SYMBOLS = f"{KERNEL:016x} T first\n{KERNEL + 0x100:016x} t second.cold\n{KERNEL + 0x80:016x} d data\n"


def regions(start=LINEAR + (1 << 30), size=8 << 20):
    tables = {"dentry hash": {"start": start, "bytes": size}, "inode hash": {"start": LINEAR, "bytes": 8},
              "tcp hash": {"start": VMALLOC, "bytes": 8 << 20}}  # fmt: skip
    return {"linear": LINEAR, "vmalloc": VMALLOC, "memmap": MEMMAP, "tables": tables}


def line(number, hash_walks=10, user=8600, size="2M", linear=40, status=0, **changed):
    """What the plugin writes for one repetition, with walks by load only in the hash and of the user."""
    models = []
    # With a host on 4K it is the same wherever the table lies.
    for tlb, in_hash in (("kaby-lake", hash_walks), ("kaby-lake@4k", 9000)):
        models.append({"tlb": tlb, "accesses": [1000, 500], "walks": [in_hash + user + linear, 7],
                       "references": [9, 9], "untranslated": [0, 0], "without_place": 0,
                       "where": [["load", "kernel", "dentry hash", size, in_hash],
                                 ["load", "kernel", "linear map", "2M", linear],
                                 ["load", "user", "user", "4K", user], ["store", "user", "user", "4K", 7]],
                       "places": [[KERNEL + 4, hash_walks, 0], [KERNEL + 8, 30, 1], [KERNEL + 0x104, 10, 0]]})
    whole = {"repetition": number, "status": status, "cr3_writes": 2, "cr3_flushes": 2, "page_flushes": 1,
             "whole_flushes": 0, "unknown_operands": 0, "invpcids": 0, "models": models,
             "faults": [["load", "user", False, 5], ["load", "kernel", True, 1], ["store", "user", False, 9]]}  # fmt: skip
    return {**whole, **changed}


def counted(*lines, where=None):
    return Counted(where or regions(), list(lines), Symbols(SYMBOLS))


def boot_of(name, *lines, where=None, kernel="6.1", number=1):
    return gitdiff.Done(gitdiff.Job(setups.SETUPS[name], kernel, number), f"{kernel}.0-1-cloud-amd64", 1.0,
                        counted(*lines, where=where), [])  # fmt: skip


def basic(linear=10, small=28000):
    """The three boots that matter, with so many walks in the hash."""
    far = regions(start=VMALLOC + 4096)
    return [boot_of("linear", *[line(n, linear) for n in range(3)]),
            boot_of("4k", *[line(n, small, size="4K") for n in range(3)], where=far),
            boot_of("huge", *[line(n, linear) for n in range(3)], where=far)]  # fmt: skip


def failed(done, files=tree.FILES):
    return [sentence for passed, sentence in expect.figures(done, files) if not passed]


class Tree(unittest.TestCase):
    def test_it_has_as_many_files_as_asked_for_and_is_the_same_each_time(self):
        names = tree.paths(5000)
        self.assertEqual(len(set(names)), 5000)
        self.assertEqual(names, tree.paths(5000))
        self.assertEqual(names, sorted(names))

    def test_no_file_stands_where_a_directory_does(self):
        names = set(tree.paths(5000))
        parents = {str(parent) for name in names for parent in Path(name).parents}
        self.assertFalse(names & parents)

    def test_its_shape_is_about_the_kernels(self):
        names = tree.paths()
        components = sum(name.count("/") + 1 for name in names) / len(names)
        directories = {os.path.dirname(name) for name in names}
        self.assertTrue(4 <= components <= 5.5, components)
        self.assertTrue(30 <= sum(map(len, names)) / len(names) <= 45)
        self.assertTrue(13 <= len(names) / len(directories) <= 18)

    def test_its_index_is_valid_where_files_have_the_same_size_and_date(self):
        with tempfile.TemporaryDirectory() as tmp:
            first, other = Path(tmp, "first"), Path(tmp, "other")
            names = tree.paths(200)
            first.mkdir()
            tree.make(first, names)
            (other / ".git").mkdir(parents=True)
            for name in ("HEAD", "config", "index"):
                (other / ".git" / name).write_bytes((first / ".git" / name).read_bytes())
            for name in ("objects", "refs"):
                (other / ".git" / name).mkdir()
            for name in names:
                (other / name).parent.mkdir(parents=True, exist_ok=True)
                (other / name).write_bytes(tree.CONTENT)
                os.utime(other / name, (0, 0))
            git = ["git", "-c", "safe.directory=*", "-C", str(other), "diff-files"]
            self.assertEqual(subprocess.run(git, capture_output=True, check=True).stdout, b"")
            os.utime(other / names[7], (9, 9))
            self.assertIn(names[7].encode(), subprocess.run(git, capture_output=True, check=True).stdout)


class Results(unittest.TestCase):
    def test_walks_are_summed_by_what_is_asked_for(self):
        one = counted(line(0), line(1, hash_walks=12)).tlbs["kaby-lake"][0]
        self.assertEqual(one.count(), 12 + 40 + 8600)
        self.assertEqual(one.count(mode="kernel"), 52)
        self.assertEqual(one.count(region="dentry hash", size="2M"), 12)
        self.assertEqual(one.count(region="dentry hash", size="4K"), 0)
        self.assertEqual(one.count(kind="store"), 7)
        self.assertEqual(one.faulting(), 6)

    def test_no_walks_at_all_are_a_figure_too(self):
        done = [boot_of("tcp-huge", *[line(n, 0, user=0, linear=0) for n in range(3)])]
        self.assertEqual(done[0].counted.spread("kaby-lake"), 0)
        self.assertIn("tcp-huge", show.text(Shown.ABOUT, done, expect.figures(done, tree.FILES)))

    def test_the_first_repetition_is_not_counted(self):
        got = counted(line(0, 9999), line(1, 10), line(2, 20), line(3, 30))
        self.assertEqual(got.median("kaby-lake", region="dentry hash"), 20)
        self.assertEqual(len(got.tlbs["kaby-lake"]), 3)

    def test_walks_are_given_to_the_function_of_their_instruction(self):
        got = counted(line(0), line(1, hash_walks=12))
        self.assertEqual(got.functions("kaby-lake"), [("first", 42), ("second", 10)])
        self.assertEqual(got.functions("kaby-lake", top=1), [("first", 42)])

    def test_what_is_no_whole_run_is_refused(self):
        with self.assertRaises(Damaged):
            parse("")
        with self.assertRaises(Damaged):
            parse(json.dumps(line(0)) + "\n")
        with self.assertRaises(Damaged):
            counted(line(0))
        with self.assertRaises(Damaged):
            counted(line(0), line(1, status=0x100))

    def test_walks_that_nobody_counted_are_noticed(self):
        lost = line(1)
        lost["models"][0]["walks"][0] += 1
        with self.assertRaisesRegex(Damaged, "every load walk"):
            counted(line(0), lost)


class Refused(unittest.TestCase):
    """Boots that are not what their name says."""

    LOG = "[    0.07] Dentry cache hash table entries: 1048576 (order: 11, {} bytes, {})\n"

    def wrong(self, name, log, one, release="6.1.0-57-cloud-amd64"):
        booted = types.SimpleNamespace(dmesg=log, release=release)
        return expect.setup(setups.SETUPS[name], booted, one)

    def test_a_boot_as_it_should_be_is_not(self):
        log = self.LOG.format(8 << 20, "linear")
        self.assertEqual(self.wrong("linear", log, counted(line(0), line(1))), [])
        far = regions(start=VMALLOC)
        log = self.LOG.format(8 << 20, "vmalloc")
        self.assertEqual(self.wrong("4k", log, counted(line(0), line(1, size="4K"), where=far)), [])

    def test_a_table_of_another_kind_size_or_place(self):
        one = counted(line(0), line(1))
        self.assertIn("vmalloc", self.wrong("linear", self.LOG.format(8 << 20, "vmalloc"), one)[0])
        self.assertIn("4194304", self.wrong("linear", self.LOG.format(4 << 20, "linear"), one)[0])
        self.assertIn("nothing", self.wrong("linear", "", one)[0])
        log = self.LOG.format(8 << 20, "linear")
        self.assertTrue(self.wrong("linear", log, counted(line(0), line(1), where=regions(start=VMALLOC))))
        self.assertTrue(self.wrong("linear", log, counted(line(0), line(1), where=regions(size=4 << 20))))

    def test_a_table_on_other_translations(self):
        far = regions(start=VMALLOC)
        log = self.LOG.format(8 << 20, "vmalloc")
        self.assertIn("not all", self.wrong("4k", log, counted(line(0), line(1), where=far))[0])
        log = self.LOG.format(8 << 20, "vmalloc hugepage")
        self.assertIn("4K", self.wrong("huge", log, counted(line(0), line(1, size="4K"), where=far))[0])

    def test_kernels_without_huge_vmalloc_are_not_asked_for_it(self):
        far = regions(start=VMALLOC)
        log = self.LOG.format(8 << 20, "vmalloc")
        one = counted(line(0), line(1, size="4K"), where=far)
        self.assertEqual(self.wrong("huge", log, one, release="5.10.0-46-cloud-amd64"), [])
        self.assertTrue(self.wrong("huge", log, one))

    def test_flushes_and_accesses_that_could_not_be_followed(self):
        log = self.LOG.format(8 << 20, "linear")
        self.assertIn("flushes", self.wrong("linear", log, counted(line(0), line(1, unknown_operands=1)))[0])
        lost = line(1)
        lost["models"][0]["untranslated"] = [3, 0]
        lost["models"][0]["walks"][0] += 3
        self.assertIn("3 accesses", self.wrong("linear", log, counted(line(0), lost))[0])


class Expected(unittest.TestCase):
    def test_figures_like_the_published_ones_pass(self):
        self.assertEqual(failed(basic()), [])
        self.assertGreaterEqual(len(expect.figures(basic(), tree.FILES)), 7)

    def test_each_deviation_is_found(self):
        self.assertIn("8000 to 10000", failed(basic(linear=2000))[0])
        self.assertIn("times the load walks", failed(basic(small=20000))[0])
        self.assertTrue(any("kernel mode" in text for text in failed(basic(linear=900))))
        done = basic()
        done[2] = boot_of("huge", *[line(n, 5000) for n in range(3)], where=regions(start=VMALLOC))
        self.assertIn("huge vmalloc", failed(done)[0])

    def test_a_gain_where_the_host_allows_none_is_found(self):
        done = basic()
        for repetition in done[0].counted.tlbs["kaby-lake@4k"]:
            repetition.where[0][4] = 10
        self.assertIn("with a host on 4K", failed(done)[0])

    def test_repetitions_and_boots_that_differ_are_found(self):
        done = basic()
        done[0] = boot_of("linear", line(0), line(1, user=8600), line(2, user=9600))
        self.assertIn("repetitions differ", failed(done)[0])
        done = basic() + [boot_of("linear", line(0), line(1, user=8800), number=2)]
        self.assertIn("boots differ", failed(done)[0])

    def test_a_clock_of_its_own_is_not_asked_to_repeat_itself(self):
        done = [boot_of("ticks-linear", line(0), line(1, user=8600), line(2, user=9900))]
        self.assertEqual(failed(done), [])


class Shown(unittest.TestCase):
    ABOUT = {"command": "gitdiff.py $(x) `y` \"z\"", "git": "git version 2", "files": 9, "memory_mib": 1,
             "repetitions": 2}  # fmt: skip

    def test_every_boot_and_verdict_is_in_every_form(self):
        done, checks = basic(), [(True, "one thing"), (False, "another")]
        text, page = show.text(self.ABOUT, done, checks), show.markdown(self.ABOUT, done, checks)
        for form in (text, page):
            for word in ("linear", "vmalloc hugepage", "8650", "36640", "FAIL: another"):
                self.assertIn(word, form)
        self.assertIn("pass: one thing", text)
        self.assertIn("1 of 2 expectations hold", page)
        self.assertTrue(all(row.isascii() for row in text.splitlines()))
        tables = [part.splitlines() for part in page.split("\n\n") if part.startswith("|")]
        self.assertEqual([len(table) for table in tables], [5, 5])
        for table in tables:
            self.assertEqual(len({row.count("|") for row in table}), 1)
        self.assertIn("| 6.1 | 4k | vmalloc | 17640 (1.00) |", page)

    def test_json_has_the_counts_of_each_repetition(self):
        got = json.loads(json.dumps(show.as_json(self.ABOUT, basic(), [])))
        tlb = got["boots"][1]["tlbs"]["kaby-lake"]
        self.assertEqual(tlb["load_walks"], 28000 + 8640)
        self.assertEqual(tlb["load_walks_with_faulting"], 28000 + 8640 + 6)
        self.assertEqual([r["repetition"] for r in tlb["repetitions"]], [1, 2])

    def test_the_tables_go_to_the_place_marked_for_them(self):
        with tempfile.TemporaryDirectory() as tmp:
            page = Path(tmp, "page.md")
            page.write_text("above\n<!-- gitdiff.py -->\nold\n<!-- end of gitdiff.py -->\nbelow\n")
            show.put_markdown(page, self.ABOUT, basic(), [])
            text = page.read_text()
        self.assertTrue(text.startswith("above\n<!-- gitdiff.py -->\n"))
        self.assertTrue(text.endswith("<!-- end of gitdiff.py -->\nbelow\n"))
        self.assertNotIn("old\n", text)

    def test_gnuplot_is_told_nothing_it_could_run(self):
        script = show._script("x.svg", self.ABOUT, basic())
        self.assertNotRegex(script, r"[`$@](?!walks)")

    def test_a_picture_is_drawn(self):
        try:
            show.plot_ready("x.svg")
        except show.CannotPlot as e:
            self.skipTest(str(e)) if os.environ.get("HASHDIST_REQUIRE_ALL") != "1" else self.fail(str(e))
        with tempfile.TemporaryDirectory() as tmp:
            for name, head in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG")):
                show.plot(Path(tmp, name), self.ABOUT, basic())
                self.assertTrue(Path(tmp, name).read_bytes().startswith(head))

    def test_other_pictures_are_refused_before_the_work(self):
        with self.assertRaises(show.CannotPlot):
            show.plot_ready("x.gif")


class Commands(unittest.TestCase):
    def test_quick_is_smaller_and_full_is_everything(self):
        quick = gitdiff.complete(gitdiff.arguments(["--quick"]))
        self.assertEqual((quick.files, quick.memory), (20000, 1024))
        jobs = [(job.setup.name, job.boot) for job in gitdiff.jobs_for(quick)]
        self.assertEqual(jobs, [("linear", 1), ("linear", 2), ("4k", 1)])
        full = gitdiff.jobs_for(gitdiff.complete(gitdiff.arguments(["--full"])))
        self.assertEqual({job.setup.name for job in full}, set(setups.SETUPS))
        self.assertEqual({job.kernel for job in full}, set(setups.KERNELS))

    def test_only_the_last_boot_is_recorded(self):
        options = gitdiff.complete(gitdiff.arguments(["--record", "file"]))
        self.assertEqual([job.record for job in gitdiff.jobs_for(options)], [False, False, True])

    def test_the_command_told_is_what_makes_the_same_figures(self):
        argv = ["elsewhere", "--full", "--json", "x y", "--files=500", "--kernels", "6.1", "--reuse", "--check"]
        self.assertEqual(gitdiff.command(argv),
                         "bench/gitdiff/gitdiff.py --full --files=500 --kernels 6.1 --check")

    def test_a_boot_is_taken_again_only_if_it_was_asked_for_the_same(self):
        options = gitdiff.complete(gitdiff.arguments(["--keep", "x", "--reuse"]))
        job = gitdiff.jobs_for(options)[0]
        with tempfile.TemporaryDirectory() as tmp:
            out = Path(tmp)
            self.assertFalse(gitdiff.is_kept(job, options, out))
            (out / "asked.json").write_text(json.dumps(gitdiff.asked(job, options)))
            self.assertTrue(gitdiff.is_kept(job, options, out))
            options.files -= 1
            self.assertFalse(gitdiff.is_kept(job, options, out))

    def test_commas_in_paths_reach_the_plugin(self):
        options = types.SimpleNamespace(build="/a,b", tlbs=["kaby-lake"], record=None)
        argument = gitdiff.plugin_argument(options, Path("/c,d"), False)
        self.assertIn("/a,,b/gitdiff.so,tlb=kaby-lake,out=/c,,d/counts", argument)

    def test_every_set_up_is_a_machine_the_lab_knows(self):
        for setup in setups.SETUPS.values():
            guest = lab.Guest(**setups.lab_arguments(setup, 2048))
            kernel = types.SimpleNamespace(image="vmlinuz")
            argv = lab.qemu_arguments(guest, kernel, "initramfs", "console", "results")
            self.assertEqual("-icount" in argv, setup.icount)
            self.assertEqual(sum("memory-backend-ram" in word for word in argv), 0 if setup.nodes == 1 else 2)

    def test_wrong_arguments_are_named(self):
        program = [sys.executable, str(ROOT / "bench/gitdiff/gitdiff.py")]
        for options, words in ((["--setups", "magic"], "no set-up magic"),
                               (["--kernels", "2.4"], "no kernel 2.4"),
                               (["--repetitions", "0"], "at least 1"),
                               (["--quick", "--full"], "opposites"),
                               (["--reuse"], "needs --keep")):
            done = subprocess.run(program + options, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist report on this very machine, against dmesg, /proc/vmallocinfo and the counters."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import support
from support import DONE, NOBODY, columns, report


def dmesg():
    """The kernel log as text, without what programs wrote into it; None where not readable."""
    try:
        process = subprocess.run(
            ["dmesg", "--kernel"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        )
    except FileNotFoundError:
        return None
    return process.stdout.decode("utf-8", "replace") if process.returncode == 0 else None


class Live(support.Case):
    def need_complete_dmesg(self):
        log = dmesg()
        if log is None:
            self.lacks("dmesg is not readable", must=os.geteuid() == 0)
        if "Linux version " not in log:
            self.lacks("the ring buffer no longer reaches back to the boot")
        return log


    def check_heads(self, text, found):
        """Each message is of a book, or of the log, that JSON lists too; the log's is there."""
        heads = [line for line in text.err.splitlines() if not line.startswith("  ")]
        listed = [f"hashdist: {blind['path']}: " for blind in found["not_seen"]]
        if found["log"]["note"]:
            self.assertIn("hashdist: " + found["log"]["note"], heads)
            listed.append("hashdist: " + found["log"]["note"])
        for head in heads:
            self.assertTrue(head.startswith(tuple(listed)), f"{head}\nlisted: {listed}")


class AgreesWithTheKernel(Live):
    def test_each_table_line_of_dmesg_is_a_row_and_no_other_row_claims_to_be(self):
        lines = support.tables_of(self.need_complete_dmesg())
        rows = json.loads(report("--json").out)["tables"]
        self.assertGreater(len(lines), 3)
        self.assertEqual(
            [(row["name"], row["entries"], row["bytes"], row["copies"]) for row in rows],
            [(line["name"], line["entries"], line["bytes"], line["nodes"]) for line in lines],
        )
        self.assertEqual({row["source"] for row in rows}, {"log"})

    def test_mapping_is_the_word_that_the_kernel_printed(self):
        lines = support.tables_of(self.need_complete_dmesg())
        if not any(line["kind"] for line in lines):
            self.lacks("this kernel does not print how its tables are mapped")
        rows = {row["name"]: row["mapping"] for row in json.loads(report("--json").out)["tables"]}
        for line in lines:
            if line["kind"]:
                self.assertEqual(rows[line["name"]], line["kind"], line["name"])

    def test_columns_show_the_figures_of_dmesg(self):
        lines = support.tables_of(self.need_complete_dmesg())
        rows = columns(("NAME", "ENTRIES", "BYTES"))
        self.assertEqual(
            [(row["NAME"], int(row["ENTRIES"]), int(row["BYTES"])) for row in rows],
            [(line["name"], line["entries"], line["bytes"] * line["nodes"]) for line in lines],
        )

    def test_vmalloc_tables_lie_where_vmallocinfo_says(self):
        page = os.sysconf("SC_PAGESIZE")
        try:
            text = Path("/proc/vmallocinfo").read_text(encoding="ascii", errors="replace")
        except OSError as error:
            self.lacks(str(error), must=os.geteuid() == 0)
        areas = []
        for line in text.splitlines():
            match = re.match(r"\S+ +(\d+) alloc_large_system_hash\S* (.*)", line)
            if match:
                spread = re.findall(r"\bN(\d+)=(\d+)", match.group(2))
                areas.append(
                    (
                        int(match.group(1)) - page,
                        {node: int(count) * page for node, count in spread},
                    )
                )
        if not areas:
            self.lacks("no table of this kernel is in vmalloc space")
        rows = [
            row
            for row in json.loads(report("--json").out)["tables"]
            if row["mapping"] in ("vmalloc", "vmalloc hugepage")
        ]
        self.assertTrue(rows)
        for row in rows:
            size = -(-row["bytes"] // row["translation_bytes"]) * row["translation_bytes"]
            spreads = [spread for area, spread in areas if area == size]
            self.assertTrue(spreads, row)
            shares = {node: share for node, share in row["node_bytes"].items() if share}
            self.assertIn(shares, spreads, row)

    def test_used_is_what_the_counters_say(self):
        for table in ("dentry", "inode"):
            book = Path(f"/proc/sys/fs/{table}-state")
            before = int(book.read_text(encoding="ascii").split()[0])
            rows = {row["table"]: row for row in json.loads(report("--json").out)["tables"]}
            after = int(book.read_text(encoding="ascii").split()[0])
            if table not in rows:
                self.lacks(f"no row for {table}", must=os.geteuid() == 0)
            self.assertGreater(rows[table]["used_entries"], min(before, after) * 0.7)
            self.assertLess(rows[table]["used_entries"], max(before, after) * 1.3 + 1000)

    def test_machine_is_this_one(self):
        found = json.loads(report("--json").out)
        meminfo = Path("/proc/meminfo").read_text(encoding="ascii")
        total = int(re.search(r"^MemTotal: +(\d+)", meminfo, re.M).group(1))
        self.assertEqual(found["kernel"]["release"], os.uname().release)
        self.assertEqual(found["machine"]["memory_kib"], total)
        self.assertEqual(found["machine"]["page_bytes"], os.sysconf("SC_PAGESIZE"))


class SaysWhatItCouldNotSee(Live):
    def test_stderr_names_only_what_json_lists_as_not_seen(self):
        text, found = report(), json.loads(report("--json").out)
        self.assert_status(text, *DONE)
        self.check_heads(text, found)

    def test_stderr_is_empty_when_all_was_seen(self):
        self.need_complete_dmesg()
        found = json.loads(report("--json").out)
        if found["not_seen"]:
            self.lacks("not to be seen here: " + ", ".join(e["path"] for e in found["not_seen"]))
        self.assert_quiet(report())


class WithoutRoot(Live):
    """The tool as nobody."""

    def setUp(self):
        self.binary, self.identity = support.BIN, {}
        if os.geteuid():
            return  # nobody special already
        place = tempfile.TemporaryDirectory(prefix="hashdist-")
        self.addCleanup(place.cleanup)
        os.chmod(place.name, 0o755)
        self.binary = shutil.copy(support.BIN, place.name)
        os.chmod(self.binary, 0o755)
        self.identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            self.as_nobody("--version")
        except (PermissionError, subprocess.SubprocessError) as error:
            self.lacks(f"cannot become nobody: {error}", must=True)

    def as_nobody(self, *words):
        return support.start([self.binary, *words], cwd="/", **self.identity)

    def test_works(self):
        result = self.as_nobody("report")
        self.assert_status(result, *DONE)
        self.assertTrue(result.out.startswith("TABLE "), result)

    def test_says_on_stderr_what_it_could_not_see(self):
        text, found = self.as_nobody("report"), json.loads(self.as_nobody("report", "--json").out)
        self.check_heads(text, found)
        for line in text.err.splitlines():
            self.assertRegex(line, r"^(hashdist: |  [a-z]+ +\S)", text)

    def test_says_that_the_log_is_hidden_and_what_would_show_it(self):
        if Path("/proc/sys/kernel/dmesg_restrict").read_text(encoding="ascii").strip() == "0":
            self.lacks("nobody may read the kernel log here")
        result = self.as_nobody("report")
        self.assertRegex(result.err, r"(?m)^hashdist: kernel log: no right to read it")
        self.assertRegex(result.err, r"(?m)^  try +run as root")

    def test_json_lists_the_books_of_root(self):
        found = json.loads(self.as_nobody("report", "--json").out)
        paths = [entry["path"] for entry in found["not_seen"]]
        self.assertIn("/proc/vmallocinfo", paths)

    def test_rows_that_it_computes_are_marked(self):
        found = json.loads(self.as_nobody("report", "--json").out)
        if found["log"]["seen"]:
            self.lacks("nobody may read the kernel log here")
        self.assertEqual({row["source"] for row in found["tables"]}, {"computed"})

    def test_what_it_computes_is_what_the_kernel_printed_or_left_unknown(self):
        lines = {line["name"]: line for line in support.tables_of(self.need_complete_dmesg())}
        found = json.loads(self.as_nobody("report", "--json").out)
        if found["log"]["seen"]:
            self.lacks("nobody may read the kernel log here")
        for row in found["tables"]:
            if row["name"] in lines and row["entries"] is not None:
                with self.subTest(table=row["table"]):
                    self.assertEqual(row["entries"], lines[row["name"]]["entries"])


class WithoutProc(Live):
    """An empty directory mounted over /proc, in a mount namespace of its own."""

    def without_proc(self, *command):
        script = 'mount -t tmpfs none /proc && exec "$@"'
        return support.start(["unshare", "--mount", "sh", "-c", script, "sh", *command])

    def setUp(self):
        if os.geteuid():
            self.lacks("not root: cannot hide /proc")
        if not shutil.which("unshare") or self.without_proc("true").status:
            self.lacks("no mount namespace to be had here")
        if b"__asan_init" in Path(support.BIN).read_bytes():
            self.lacks("built with a sanitizer, which cannot do without /proc")

    def test_without_a_log_either_there_is_one_clear_line_and_a_failure(self):
        if not shutil.which("setpriv"):
            self.lacks("no setpriv")
        if Path("/proc/sys/kernel/dmesg_restrict").read_text(encoding="ascii").strip() == "0":
            self.lacks("nobody may read the kernel log here")
        with tempfile.TemporaryDirectory(prefix="hashdist-") as place:
            os.chmod(place, 0o755)
            binary = shutil.copy(support.BIN, place)
            os.chmod(binary, 0o755)
            result = self.without_proc(
                "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                binary, "report",
            )  # fmt: skip
        self.assert_status(result, 1)
        self.assertEqual(result.out, "")
        self.assert_one_line(result, "nothing to report")

    def test_with_a_log_its_tables_are_shown_and_the_lack_of_proc_is_named(self):
        lines = support.tables_of(self.need_complete_dmesg())
        result = self.without_proc(support.BIN, "report")
        self.assert_status(result, *DONE)
        for line in lines:
            self.assertRegex(result.out, rf"(?m)^\S+ +{line['entries']} ")
        self.assertIn("hashdist: /proc", result.err)
        self.assertRegex(result.err, r"\n  try +mount -t proc proc /proc\n")


if __name__ == "__main__":
    support.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Saved machines: --save and --sysroot, and one hand-made machine for each verdict and advice."""

import json
import os
import pwd
import re
import shutil
import socket
import tempfile
from pathlib import Path

import support
from machines import Machine, table
from support import DONE, NOBODY, SOURCE, column, columns, report

HUGE = "vmalloc hugepage"
MIB = 1 << 20


class Place(support.Case):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="hashdist-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)


class Save(Place):
    def save(self, *words):
        saved = self.place / "saved"
        result = report("--save", saved, *words)
        self.assert_status(result, 0)
        return saved, result

    def test_then_sysroot_shows_the_same_tables_as_live(self):
        saved, _ = self.save()
        names = ("TABLE", "ENTRIES", "BYTES", "MAPPING", "PAGES", "NODES", "SOURCE", "VERDICT")
        live = columns(names)
        self.assertGreater(len(live), 3)
        self.assertEqual(columns(names, "--sysroot", saved), live)

    def test_then_sysroot_shows_the_same_machine(self):
        saved, _ = self.save()
        live = json.loads(report("--json").out)
        copy = json.loads(report("--json", "--sysroot", saved).out)
        self.assertEqual(copy["kernel"], live["kernel"])
        self.assertEqual(copy["hashdist"], live["hashdist"])
        for found in (live, copy):
            for changing in ("uptime_s", "direct_map_4k_kib", "direct_map_2m_kib"):
                del found["machine"][changing]
        self.assertEqual(copy["machine"], live["machine"])

    def test_says_nothing_when_all_could_be_saved(self):
        if os.geteuid():
            self.lacks("not root: not all can be saved")
        _, result = self.save()
        self.assertEqual(result.out, "")
        self.assert_quiet(result)

    def test_keeps_no_name_address_or_identifier(self):
        saved, _ = self.save()
        secrets = {socket.gethostname(), os.uname().nodename}
        secrets |= {entry.pw_name for entry in pwd.getpwall() if 1000 <= entry.pw_uid < NOBODY}
        version = Path("/proc/version").read_text(encoding="utf-8")
        secrets |= set(re.findall(r"([^\s()]+)@([^\s()]+)", version)[0] if "@" in version else ())
        for path in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id"):
            if os.path.exists(path):
                secrets.add(Path(path).read_text(encoding="ascii").strip())
        for path in Path("/sys/class/net").glob("*/address"):
            address = path.read_text(encoding="ascii").strip()
            if address.strip("0:"):
                secrets.add(address)
        # Words of every kernel's log, and "builder@localhost", which stands for whoever it was.
        secrets -= {"", "root", "linux", "node", "debian", "kernel", "builder", "localhost"}
        self.assertTrue(secrets)
        texts = {path: path.read_text("utf-8", "replace")
                 for path in saved.rglob("*") if path.is_file()}  # fmt: skip
        self.assertGreater(len(texts), 10)
        for secret in secrets:
            found = re.compile(rf"(?<![\w.-]){re.escape(secret)}(?![\w-])", re.I)
            for path, text in texts.items():
                self.assertIsNone(found.search(text), f"{secret} in {path}")
                self.assertIsNone(found.search(str(path.relative_to(saved))), path)

    def test_keeps_no_boot_parameter_that_is_none_of_memory(self):
        saved, _ = self.save()
        private = r"\b(root|BOOT_IMAGE|ip|rd\.[a-z.]+|cryptdevice|console|init|rdinit)="
        for name in ("proc/cmdline", "var/log/dmesg"):
            if (saved / name).exists():
                self.assertNotRegex((saved / name).read_text("utf-8", "replace"), private)

    def test_may_be_read_by_others_and_runs_nothing(self):
        saved, _ = self.save()
        for path in saved.rglob("*"):
            self.assertFalse(path.is_symlink(), path)
            self.assertEqual(path.stat().st_mode & 0o777, 0o755 if path.is_dir() else 0o644, path)

    def test_into_an_empty_directory_works(self):
        (self.place / "saved").mkdir()
        saved, _ = self.save()
        self.assertTrue((saved / "proc/meminfo").exists())

    def test_into_a_directory_that_holds_something_changes_nothing(self):
        saved = self.place / "saved"
        saved.mkdir()
        (saved / "mine").write_text("keep")
        result = report("--save", saved)
        self.assert_status(result, 1)
        self.assert_one_line(result, saved, "not empty")
        self.assertEqual(os.listdir(saved), ["mine"])
        self.assertEqual(os.listdir(self.place), ["saved"])

    def test_into_a_file_or_below_nothing_is_a_failure_of_one_line(self):
        (self.place / "file").write_text("keep")
        for path in (self.place / "file", self.place / "no/where", self.place / "file/below", ""):
            with self.subTest(path=path):
                result = report("--save", path)
                self.assert_status(result, 1, 2)
                self.assert_one_line(result, path)
        self.assertEqual(os.listdir(self.place), ["file"])

    def test_below_a_directory_that_is_not_ours_is_a_failure_of_one_line(self):
        if os.geteuid():
            self.lacks("not root: cannot become nobody")
        os.chmod(self.place, 0o755)
        binary = shutil.copy(support.BIN, self.place)
        os.chmod(binary, 0o755)
        saved = self.place / "saved"
        result = support.start(
            [binary, "report", "--save", saved], user=NOBODY, group=NOBODY, extra_groups=[]
        )
        self.assert_status(result, 1)
        self.assert_one_line(result, saved, "Permission denied")
        self.assertEqual(sorted(os.listdir(self.place)), [os.path.basename(binary)])


class NoMachine(Place):
    """A directory that holds none: one line, a failure."""

    def check(self, path, *words):
        result = report("--sysroot", path)
        self.assert_status(result, 1)
        self.assertEqual(result.out, "")
        self.assert_one_line(result, *words)

    def test_directory_without_proc_and_sys(self):
        self.check(self.place, self.place, "neither proc/ nor sys/")

    def test_missing_directory(self):
        self.check(self.place / "nowhere", "nowhere", "No such file or directory")

    def test_file(self):
        (self.place / "file").write_text("")
        self.check(self.place / "file", "Not a directory")

    def test_empty_proc(self):
        (self.place / "proc").mkdir()
        self.check(self.place, "nothing to report")

    def test_links_that_lead_out_of_it_are_not_followed(self):
        Machine("6.1.0-44-amd64", nodes=[4096]).write(self.place)
        (self.place / "proc/cmdline").unlink()
        secret = self.place.parent / (self.place.name + "-outside")
        secret.write_text("dhash_entires=7\n")
        self.addCleanup(secret.unlink)
        os.symlink(secret, self.place / "proc/cmdline")
        result = report("--sysroot", self.place)
        self.assertNotIn("dhash_entires", result.out + result.err)


# ---- verdicts and advice ------------------------------------------------------------------------

DENTRY, INODE = "Dentry cache", "Inode-cache"


def two_nodes(cmdline="", **more):
    """Debian 12 on two nodes of 8 GiB: 16 MiB and 8 MiB, each half here and half there."""
    more.setdefault(
        "log",
        [
            table(DENTRY, 2097152, 12, 16 * MIB, HUGE),
            table(INODE, 1048576, 11, 8 * MIB, HUGE),
            table("Mount-cache", 32768, 6, 262144, "vmalloc"),
        ],
    )
    more.setdefault(
        "areas",
        [
            (16 * MIB, {0: 2048, 1: 2048}),
            (8 * MIB, {0: 1024, 1: 1024}),
            (262144, {0: 32, 1: 32}),
        ],
    )
    return Machine("6.1.0-44-amd64", nodes=[8192, 8192], cmdline=cmdline, **more)


def one_node(release="6.1.0-44-amd64", cmdline="", **more):
    """4 GiB on one node, as it should be."""
    more.setdefault("log", [table(DENTRY, 524288, 10, 4 * MIB, "linear")])
    return Machine(release, nodes=[4096], cmdline=cmdline, **more)


def chunks_of_7_2():
    """Two small nodes under 7.2: a 1 MiB table in one chunk, which one node has given."""
    return Machine(
        "7.2.0",
        nodes=[512, 512],
        log=[
            table(DENTRY, 131072, 8, MIB, "vmalloc"),
            table(INODE, 65536, 7, MIB // 2, "vmalloc"),
        ],
        areas=[(MIB, {1: 256}), (MIB // 2, {0: 64, 1: 64})],
    )


def emulated():
    return Machine(
        "6.6.0-1-amd64",
        nodes=[1024] * 4,
        cmdline="numa=fake=4U",
        faked=True,
        log=[
            table(DENTRY, 524288, 10, 4 * MIB, "vmalloc"),
            table(INODE, 262144, 9, 2 * MIB, "vmalloc"),
        ],
        areas=[(4 * MIB, {node: 256 for node in range(4)}),
               (2 * MIB, {node: 128 for node in range(4)})],
    )  # fmt: skip


def old_kernel():
    """4.19 distributes over one node, and does not print how."""
    return Machine(
        "4.19.0-27-amd64",
        nodes=[8192],
        log=[table(DENTRY, 1048576, 11, 8 * MIB), table(INODE, 524288, 10, 4 * MIB)],
        areas=[(8 * MIB, {0: 2048}), (4 * MIB, {0: 1024})],
    )


def not_spread():
    return two_nodes(
        cmdline="hashdist=0",
        log=[
            table(DENTRY, 2097152, 12, 16 * MIB, "linear"),
            table(INODE, 1048576, 11, 8 * MIB, "linear"),
            table("Mount-cache", 32768, 6, 262144, "linear"),
        ],
        areas=[],
    )


def under_huge():
    """2 MiB are a whole huge page, but 1 MiB on each node are not."""
    return Machine(
        "6.1.0-44-amd64",
        nodes=[1024, 1024],
        log=[
            table(DENTRY, 262144, 9, 2 * MIB, "vmalloc"),
            table(INODE, 131072, 8, MIB, "vmalloc"),
        ],
        areas=[(2 * MIB, {0: 256, 1: 256}), (MIB, {0: 128, 1: 128})],
    )


def lopsided():
    return two_nodes(
        log=[table(DENTRY, 2097152, 12, 16 * MIB, HUGE)], areas=[(16 * MIB, {0: 3584, 1: 512})]
    )


def clamped():
    return one_node(
        cmdline="dhash_entries=1000000000",
        log=[table(DENTRY, 33554432, 16, 256 * MIB, "linear")],
    )


def halved():
    return one_node(log=[table(DENTRY, 262144, 9, 2 * MIB, "linear")])


def too_small():
    return one_node(dentries=10000000)


def too_large():
    return Machine(
        "6.1.0-44-amd64",
        nodes=[8192],
        dentries=3000,
        uptime=100000,
        log=[table(DENTRY, 1048576, 11, 8 * MIB, "linear")],
    )


def nothing_known():
    """A table that is in no catalogue, and whose line does not say how it is mapped."""
    return one_node(log=["Some-other hash table entries: 512 (order: 0, 4096 bytes)"])


PROVOKED = {
    "ok": two_nodes,
    "small-pages": old_kernel,
    "emulated-nodes": emulated,
    "one-node": chunks_of_7_2,
    "lopsided": lopsided,
    "not-spread": not_spread,
    "under-huge": under_huge,
    "halved": halved,
    "clamped": clamped,
    "too-small": too_small,
    "too-large": too_large,
    "unknown": nothing_known,
}


class Verdicts(Place):
    def run_on(self, machine):
        """The text as one line of words, the JSON, and the status of both."""
        machine.write(self.place)
        result = report("--sysroot", self.place)
        found = report("--json", "--sysroot", self.place)
        self.assertEqual(result.status, found.status)
        self.text = result
        self.status = result.status
        self.advice = " ".join(result.out.partition("\nadvice ")[2].split())
        self.found = json.loads(found.out)
        self.row = {row["table"]: row for row in self.found["tables"]}
        return result

    def dentry_advice(self):
        (advice,) = [a for a in self.found["advice"] if a["table"] == "dentry"]
        return advice

    def test_each_can_be_provoked(self):
        judge = (SOURCE / "core/judge.c").read_text(encoding="utf-8")
        names = re.findall(r'^\t\[HD_\w+\] = "([a-z-]+)",$', judge, re.M)
        self.assertEqual(sorted(PROVOKED), sorted(names))
        for verdict, make in PROVOKED.items():
            with self.subTest(verdict=verdict), tempfile.TemporaryDirectory() as place:
                machine = make().write(place)
                self.assertEqual(column("VERDICT", "--sysroot", machine)[0], verdict)
                wanted = 0 if verdict in ("ok", "unknown") else 3
                self.assert_status(report("--sysroot", machine), wanted)

    def test_ok_for_tables_that_lie_half_and_half_on_huge_pages(self):
        result = self.run_on(two_nodes())
        self.assertEqual(self.status, 0)
        self.assert_quiet(result)
        self.assertEqual(column("VERDICT", "--sysroot", self.place), ["ok"] * 3)
        self.assertEqual(column("NODES", "--sysroot", self.place), ["N0 50% N1 50%"] * 3)
        self.assertEqual(column("PAGES", "--sysroot", self.place)[0].strip(), "8 x 2M")
        self.assertEqual(self.row["dentry"]["node_bytes"], {"0": 8 * MIB, "1": 8 * MIB})
        self.assertRegex(self.advice, r"^none: ")
        self.assertEqual(self.found["advice"], [])

    def test_one_node_names_the_node_and_the_kernel_that_began_it(self):
        self.run_on(chunks_of_7_2())
        self.assertEqual(self.row["dentry"]["verdict"], "one-node")
        self.assertEqual(self.row["inode"]["verdict"], "ok")
        self.assertIn("all of it lies on node 1", self.advice)
        self.assertIn("6.19", self.advice)

    def test_emulated_nodes_are_told_to_switch_it_off(self):
        self.run_on(emulated())
        self.assertIn("4 memory nodes (emulated)", self.text.out)
        self.assertIn("boot with hashdist=0: from 1024 translations of 4K to 2 of 2M", self.advice)
        self.assertEqual(self.dentry_advice()["tables"], 2)
        self.assertEqual(self.found["machine"]["emulated_nodes"], 4)

    def test_old_kernel_on_one_node_is_told_what_hashdist_0_would_save(self):
        self.run_on(old_kernel())
        self.assertIn("boot with hashdist=0: from 2048 translations of 4K to 4 of 2M", self.advice)
        advice = self.dentry_advice()
        self.assertEqual(advice["verdict"], "small-pages")
        self.assertEqual(advice["parameter"], "hashdist=0")
        self.assertEqual(
            (advice["translations_now"], advice["translations_then"]), (2048, 4), advice
        )
        self.assertEqual(advice["translation_bytes_then"], 2 * MIB)
        self.assertIn("does not look at the nodes", self.found["hashdist"]["reason"])

    def test_hashdist_0_on_two_nodes_is_told_to_go(self):
        self.run_on(not_spread())
        self.assertEqual(self.row["dentry"]["verdict"], "not-spread")
        self.assertEqual(self.row["mount"]["verdict"], "ok")
        self.assertIn("boot without hashdist=0", self.advice)
        self.assertIs(self.found["hashdist"]["value"], False)

    def test_share_below_a_huge_page_is_told_the_size_that_would_do(self):
        self.run_on(under_huge())
        self.assertEqual(self.row["dentry"]["verdict"], "under-huge")
        self.assertEqual(self.row["inode"]["verdict"], "ok")
        self.assertIn("dhash_entries=524288 gives 2 of 2M", self.advice)
        self.assertEqual(self.dentry_advice()["parameter"], "dhash_entries=524288")

    def test_lopsided_names_the_node(self):
        self.run_on(lopsided())
        self.assertIn("node 0", self.advice)

    def test_clamped_gives_the_number_that_was_asked_for(self):
        self.run_on(clamped())
        self.assertIn("1000000000", self.advice)
        self.assertIn("33554432", self.advice)

    def test_halved_gives_the_size_it_should_have(self):
        self.run_on(halved())
        self.assertIn("262144 buckets where this kernel would compute 524288", self.advice)
        self.assertEqual(self.row["dentry"]["expected_entries"], 524288)

    def test_too_small_gives_a_size_that_would_fit(self):
        self.run_on(too_small())
        self.assertIn("10000000 objects in 524288 buckets", self.advice)
        self.assertIn("dhash_entries=16777216", self.advice)
        self.assertEqual(column("USED", "--sysroot", self.place)[0].strip(), "10000000")
        self.assertEqual(column("FILL", "--sysroot", self.place)[0].strip(), "1907%")

    def test_too_large_waits_for_a_day(self):
        self.run_on(too_large())
        self.assertEqual(self.row["dentry"]["verdict"], "too-large")
        young = too_large()
        young.uptime = 80000
        self.run_on(young)
        self.assertEqual(self.row["dentry"]["verdict"], "ok")
        self.assertEqual(self.status, 0)


class Walks(Place):
    """What the TLB model of a saved machine's processor expects."""

    def report_of(self, cpuinfo, *words):
        two_nodes().write(self.place)
        (Path(self.place) / "proc/cpuinfo").write_text(cpuinfo, encoding="utf-8")
        return report("--sysroot", self.place, *words)

    KABY_LAKE = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 158\n"

    def test_are_shown_with_the_processor_they_are_of(self):
        result = self.report_of(self.KABY_LAKE)
        self.assertIn("WALKS", result.out.splitlines()[0].split())
        self.assertIn("model of Intel Skylake, Kaby Lake", result.out)
        found = json.loads(self.report_of(self.KABY_LAKE, "--json").out)
        self.assertEqual(found["model_processor"], "kaby-lake")
        for row in found["tables"]:
            known = row["translation_bytes"] is not None
            self.assertEqual(row["model_walks_per_lookup"] is not None, known, row)

    def test_of_another_processor_are_its_own(self):
        found = json.loads(self.report_of(self.KABY_LAKE, "--json", "--tlb", "zen5").out)
        self.assertEqual(found["model_processor"], "zen5")

    def test_of_an_unknown_processor_are_unknown(self):
        result = self.report_of("processor : 0\ncpu\t\t: POWER9\n")
        self.assertNotIn("WALKS", result.out.splitlines()[0].split())
        self.assertIn("no TLB model for this processor", result.out)
        found = json.loads(self.report_of("cpu : POWER9\n", "--json").out)
        self.assertIsNone(found["model_processor"])
        self.assertEqual({row["model_walks_per_lookup"] for row in found["tables"]}, {None})


class Parameters(Place):
    def advice(self, machine):
        machine.write(self.place)
        result = report("--sysroot", self.place)
        found = json.loads(report("--json", "--sysroot", self.place).out)
        self.assertEqual(column("VERDICT", "--sysroot", self.place), ["ok"])
        return (
            result.status,
            [advice["kind"] for advice in found["advice"]],
            " ".join(result.out.partition("\nadvice ")[2].split()),
        )

    def test_right_ones_cause_no_word(self):
        status, kinds, _ = self.advice(one_node(cmdline="dhash_entries=524288 hashdist=0"))
        self.assertEqual((status, kinds), (0, []))

    def test_misspelt_one_is_named_with_what_was_meant(self):
        for word in ("dhash_entires=5", "dhash_entrie=5", "dhash_entry=5", "hashdits=0"):
            with self.subTest(word=word):
                status, kinds, text = self.advice(one_node(cmdline=word))
                self.assertEqual((status, kinds), (3, ["parameter-misspelt"]))
                self.assertIn(word, text)
                meant = "dhash_entries=" if word.startswith("d") else "hashdist="
                self.assertIn(meant, text.replace(word, ""))

    def test_ignored_one_is_named_with_the_reason(self):
        status, kinds, text = self.advice(one_node("7.2.0", "hashdist=2"))
        self.assertEqual((status, kinds), (3, ["parameter-ignored"]))
        self.assertIn("hashdist=2", text)
        self.assertIn("not one it can read", text)

    def test_what_7_2_ignores_6_1_takes(self):
        _, kinds, _ = self.advice(one_node(cmdline="hashdist=2"))
        self.assertNotIn("parameter-ignored", kinds)

    def test_words_of_others_cause_no_word(self):
        for word in ("hash=md5", "fsverity.hash_algo=sha256", "dash=1", "md_mod.entries=3"):
            with self.subTest(word=word):
                status, kinds, _ = self.advice(one_node(cmdline=word))
                self.assertEqual((status, kinds), (0, []))


class LateLog(Place):
    """The log begins long after the boot: tables are computed, and say so."""

    def setUp(self):
        super().setUp()
        one_node(head=False).write(self.place)

    def test_rows_are_computed_and_marked(self):
        rows = columns(("TABLE", "ENTRIES", "SOURCE"), "--sysroot", self.place)
        self.assertEqual({row["SOURCE"] for row in rows}, {"computed"})
        entries = {row["TABLE"]: row["ENTRIES"] for row in rows}
        self.assertEqual((entries["dentry"], entries["inode"]), ("524288", "262144"))

    def test_stderr_says_that_the_log_is_lost(self):
        result = report("--sysroot", self.place)
        self.assert_status(result, *DONE)
        self.assert_one_line(result, "dmesg", "computed")

    def test_json_says_so_too(self):
        log = json.loads(report("--json", "--sysroot", self.place).out)["log"]
        self.assertEqual((log["seen"], log["complete"]), (False, False))
        self.assertIn("computed", log["note"])

    def test_default_view_marks_them_on_stdout(self):
        """Standard error is lost in a pipe or a paste; what is computed must not look read."""
        self.assertIn("computed", report("--sysroot", self.place).out)

    def test_area_in_vmallocinfo_does_not_make_it_read(self):
        two_nodes(head=False).write(self.place)
        rows = columns(("TABLE", "NODES", "SOURCE"), "--sysroot", self.place)
        first = {row["TABLE"]: row for row in rows}["dentry"]
        self.assertEqual((first["NODES"], first["SOURCE"]), ("N0 50% N1 50%", "computed"))

    def test_tables_that_the_log_still_has_are_read(self):
        text = "[    5.000000] UDP hash table entries: 4096 (order: 5, 131072 bytes, linear)\n"
        (self.place / "var/log/dmesg").write_text(text)
        rows = columns(("TABLE", "ENTRIES", "SOURCE"), "--sysroot", self.place)
        found = {row["TABLE"]: (row["ENTRIES"], row["SOURCE"]) for row in rows}
        self.assertEqual(found["udp"], ("4096", "log"))
        self.assertEqual(found["dentry"], ("524288", "computed"))

    def test_a_balloon_makes_the_size_unknown_not_wrong(self):
        """Pages that a balloon has taken, or that are not yet initialised, were there at boot."""
        zoneinfo = self.place / "proc/zoneinfo"
        text = zoneinfo.read_text()
        taken = re.sub(r"managed +(\d+)", lambda m: f"managed  {int(m.group(1)) // 4}", text)
        self.assertNotEqual(taken, text)
        zoneinfo.write_text(taken)
        (self.place / "proc/sys/kernel/osrelease").write_text("6.12.32-amd64\n")
        (self.place / "proc/version").write_text("Linux version 6.12.32-amd64 #1 SMP\n")
        rows = columns(("TABLE", "ENTRIES"), "--sysroot", self.place)
        for row in rows:
            if row["TABLE"] == "dentry":
                self.assertIn(row["ENTRIES"], ("524288", "?"))


if __name__ == "__main__":
    support.main()

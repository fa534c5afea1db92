#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist plan: from logs, saved machines and what other people posted; what --json says."""

import itertools
import json
import re

import support
from machines import Machine
from planning import BARE, BIG2, GIB1, KEYS, KIND, LINEAR, MIB512, PC, PC2, Plan, lines_of
from support import fixtures, plan, report

SCHEMA = {
    "version": str,
    "machine": str,
    "rules_of": str,
    "cmdline": str,
    "hashdist": dict,
    "memory_nodes": int,
    "online_nodes": int,
    "sizing_pages_low": int,
    "sizing_pages_high": int,
    "model_processor": (str, type(None)),
    "tables": list,
}
ROW = {
    "table": str,
    "line": str,
    "exact": bool,
    "entries": int,
    "entries_high": int,
    "bytes": int,
    "mapping": str,
    "early": bool,
    "translations": int,
    "translations_by_bytes": dict,
    "model_walks_per_lookup": (float, type(None)),
    "node_bytes": dict,
    "halvings": int,
    "failed": bool,
}
DIFFERENCE = ("table", "planned_entries", "printed_entries", "within_range")


class Json(Plan):
    def check_types(self, found, schema):
        self.assertEqual(list(found), list(schema))
        for key, kind in schema.items():
            self.assertIn(type(found[key]), kind if isinstance(kind, tuple) else (kind,), key)

    def check_plan(self, found):
        self.check_types(found, SCHEMA)
        self.check_types(found["hashdist"], {"value": bool, "reason": str})
        self.assertLessEqual(found["sizing_pages_low"], found["sizing_pages_high"])
        self.assertRegex(found["rules_of"], r"^\d+\.\d+\.\d+$")
        for row in found["tables"]:
            self.check_types(row, ROW)
            self.assertIn(row["mapping"], KIND.values())
            self.assertEqual(sum(row["translations_by_bytes"].values()), row["translations"])
            self.assertEqual(row["exact"], row["entries"] == row["entries_high"])
            self.assertGreaterEqual(sum(row["node_bytes"].values()), row["bytes"])
            self.assertEqual(len(row["node_bytes"]), found["online_nodes"])
            self.assertTrue(row["line"].startswith(f"{KEYS[row['table']]} hash table entries: "))

    def test_has_its_keys_and_their_types(self):
        for machine, kernel in itertools.product(
            (PC, PC2, BARE, "arm64 ram=2G page=64K", "x86-64 ram=1090M"), ("2.6.32", "6.12", "7.1")
        ):
            with self.subTest(machine=machine, kernel=kernel):
                self.check_plan(self.made(machine, kernel))

    def test_lines_are_those_of_the_text(self):
        for machine, kernel in ((PC, "6.1"), (BIG2, "7.1"), ("x86-64 ram=1090M", "6.12")):
            text = plan("-m", machine, "-k", kernel).out.split("\n\n")[0]
            wanted = [line for line in text.splitlines() if not line.startswith("  or ")]
            self.assertEqual([row["line"] for row in self.made(machine, kernel)["tables"]], wanted)

    def test_compared_and_check_are_there_when_asked_for(self):
        log = self.file("log", plan("-m", PC, "-k", "6.1").out.replace("UDP-Lite", "DCCP"))
        result = plan("-m", PC, "-k", "6.1", "--json", "--compare", "hashdist=1", "--check", log)
        found = json.loads(result.out)
        self.check_plan(found.pop("compared"))
        check = found.pop("check")
        self.check_plan(found)
        self.check_types(check, {"same": int, "differences": list})
        for difference in check["differences"]:
            self.assertEqual(tuple(difference), DIFFERENCE)
        self.assertIn({"table": "udp-lite", "planned_entries": 1024, "printed_entries": None,
                       "within_range": False}, check["differences"])  # fmt: skip

    def test_keys_are_in_the_manual(self):
        page = (support.SOURCE / "man/hashdist-plan.1.scd").read_text(encoding="utf-8")
        text = page.split("\n# JSON\n")[1].split("\n# ")[0]
        keys = set(re.findall(r"[*_]([a-z][a-z_]*[a-z])[*_]", text))
        used = {*SCHEMA, *ROW, *DIFFERENCE, "compared", "check", "same", "differences", "value",
                "reason", "null"}  # fmt: skip
        self.assertEqual(keys, used)


# ---- checking -----------------------------------------------------------------------------------


class Check(Plan):
    KERNEL = ("-m", PC, "-k", "6.1.192")

    def log(self, text):
        return self.file("boot.log", text)

    def test_agrees_with_a_log_that_has_just_these_lines(self):
        result = plan(*self.KERNEL, "--check", self.log(plan(*self.KERNEL).out))
        self.assert_status(result, 0)
        self.assertEqual(result.out, "13 of 13 lines as planned\n")

    def test_line_that_differs_is_shown_as_planned_and_as_printed(self):
        text = plan(*self.KERNEL).out
        for was, is_ in (
            ("262144 (order: 9, 2097152", "131072 (order: 8, 1048576"),
            ("2097152 bytes, linear", "2097152 bytes, vmalloc"),
            ("2097152 bytes, linear", "2097153 bytes, linear"),
        ):
            with self.subTest(printed=is_):
                log = self.log(text.replace(was, is_, 1))
                result = plan(*self.KERNEL, "--check", log)
                self.assert_status(result, 3)
                lines = result.out.splitlines()
                self.assertEqual(lines[0], "dentry")
                self.assertEqual(lines[1], f"  planned  {text.splitlines()[0]}")
                self.assertTrue(lines[2].startswith("  printed  Dentry cache hash table entries: "))
                self.assertEqual(lines[-1], "12 of 13 lines as planned")

    def test_line_that_one_side_lacks_is_a_difference(self):
        text = plan(*self.KERNEL).out
        fewer = "".join(line + "\n" for line in text.splitlines() if "MPTCP" not in line)
        result = plan(*self.KERNEL, "--check", self.log(fewer))
        self.assert_status(result, 0)  # perhaps the kernel was built without it
        self.assertIn("\n  printed  nothing: ", result.out)
        more = text + "PID hash table entries: 4096 (order: 3, 32768 bytes, linear)\n"
        result = plan(*self.KERNEL, "--check", self.log(more))
        self.assert_status(result, 3)
        self.assertIn("\n  planned  nothing: ", result.out)

    def test_tables_of_others_are_no_difference(self):
        text = plan(*self.KERNEL).out
        text += "VFS: Dquot-cache hash table entries: 512 (order 0, 4096 bytes)\n"
        result = plan(*self.KERNEL, "--check", self.log(text))
        self.assert_status(result, 0)

    def test_other_end_of_the_range_is_within_it(self):
        words = ("-m", "x86-64 ram=1090M cpus=2", "-k", "6.12.117")
        for short, status in ((GIB1, 0), (LINEAR, 0), (MIB512, 3)):
            log = self.log("\n".join(lines_of(short, "x86-64")) + "\n")
            result = plan(*words, "--check", log)
            self.assert_status(result, status)
            self.assertEqual(": within the stated range" in result.out, short == LINEAR)
            found = json.loads(plan(*words, "--check", log, "--json").out)["check"]
            within = {d["within_range"] for d in found["differences"]}
            self.assertEqual(within, {GIB1: set(), LINEAR: {True}, MIB512: {False}}[short])

    def test_is_shown_below_another_view(self):
        log = self.log(plan(*self.KERNEL).out)
        for words in (("--table",), ("--explain",), ("--compare", "hashdist=1")):
            result = plan(*self.KERNEL, *words, "--check", log)
            self.assert_status(result, 0)
            alone = plan(*self.KERNEL, *words).out
            self.assertEqual(result.out, alone + "\n13 of 13 lines as planned\n")

    def test_of_standard_input_works(self):
        text = plan(*self.KERNEL).out.encode()
        self.assert_status(plan(*self.KERNEL, "--check", "-", data=text), 0)

    def test_live_agrees_on_this_machine(self):
        found = json.loads(report("--json").out)
        if not found["log"]["seen"]:
            self.lacks("the kernel log is not readable")
        if not found["log"]["complete"]:
            self.lacks("the ring buffer no longer reaches back to the boot")
        result = plan("--check", "live")
        self.assert_status(result, 0)
        self.assertRegex(result.out, r"(?m)^(\d+) of \1 lines as planned$")


class Sysroot(Plan):
    def test_saved_machine_is_planned_and_agrees_with_its_log(self):
        text = plan("-m", "x86-64 node:0=8G node:1=8G cpus=4", "-k", "6.1.0").out
        saved = Machine("6.1.0", nodes=[8192, 8192], log=text.splitlines()).write(self.place)
        result = plan("--sysroot", saved)
        self.assert_status(result, 0)
        self.assertEqual(result.out, text)
        result = plan("--sysroot", saved, "--check", saved + "/var/log/dmesg")
        self.assert_status(result, 0)

    def test_saved_machine_may_get_another_kernel_and_command_line(self):
        saved = Machine("6.1.0", nodes=[8192, 8192], cmdline="hashdist=0").write(self.place)
        found = json.loads(plan("--sysroot", saved, "--json").out)
        self.assertEqual((found["rules_of"], found["hashdist"]["value"]), ("6.1.0", False))
        found = json.loads(plan("--sysroot", saved, "--json", "-k", "7.1", "-c", "").out)
        self.assertEqual((found["rules_of"], found["hashdist"]["value"]), ("7.1.0", True))
        self.assertEqual(found["tables"][0]["mapping"], "vmalloc hugepage")

    def test_description_of_a_saved_machine_can_be_read_again(self):
        saved = Machine("6.1.0", nodes=[8192, 4096]).write(self.place)
        text = plan("--sysroot", saved, "--describe").out.rstrip("\n")
        self.assertRegex(text, r"^x86-64 node:0=8G node:1=4G cpus=4\b")
        self.assertEqual(plan("--machine", text, "--describe").out.rstrip("\n"), text)


# ---- the logs that people posted -----------------------------------------------------------------

# Logs that do not tell enough, and what lacks.
TOO_LITTLE = {
    "architecture": (
        "alpha-2.6-128m-n1-570d arm64-4.8-128g-n1-8c5e ia64-2.6-8g-n16-5cfd "
        "microblaze-5.3-unk-n1-638f ppc-6.18-1g-n1-74f5 ppc64-4.6-32768g-nu-1e8e "
        "ppc64-5.14-25g-n1-6b70 ppc64-5.17-512m-n1-86ea ppc64-5.2-100g-n1-16cc "
        "ppc64-5.2-512g-n2-cd09 ppc64-5.3-10g-n1-c753 ppc64-5.6-35g-n1-7d70 "
        "ppc64-6.18-65g-n1-912e ppc64-6.2-300g-n1-e0ac riscv64-6.3-unk-n1-7cc6 "
        "sh-2.4-16m-n1-3b5e sh-5.15-248m-n1-21d6 sparc64-unk-7168g-nu-940e "
        "unk-unk-unk-n16-ba74 x86_64-5.19-1011g-n8-0ca7 x86_64-unk-16g-n4-f3af "
        "x86_64-unk-2200g-nu-8bfe x86_64-unk-8g-n4-27ec x86_64-unk-8g-n4-3446 "
        "x86_64-unk-unk-nu-8aba x86_64-unk-unk-nu-be00 x86_64-unk-unk-nu-c3f7 "
        "x86_64-unk-unk-nu-e880"
    ),
    "memory and nodes": "x86_64-3.10-25664g-n8-3f02",
}

# Lines that are not as planned: log, tables, reason.
CPUS = "more processors are possible than were brought up; the log does not tell how many"
VENDOR = "a vendor's 3.10 with changes of 3.13 and later"
PRINTED = (
    ("arm-5.15-256m-n1-33c3", "tcp-listen", "5.15.201: the bucket of 5.19, from stable"),
    ("i386-2.6-126m-n1-582d", "pid", "2.6.5, before the first kernel that is modelled"),
    ("parisc-6.1-8g-n1-f32d", "futex", "spinlocks of 16 bytes, aligned to 16"),
    ("ppc-5.12-512m-n1-69c6", "futex", CPUS),
    ("ppc-5.8-144m-n1-1c9c", "futex", CPUS),
    ("ppc64-4.4-2g-n1-80c8", "futex", CPUS),
    ("x86_64-3.10-9g-n1-30ba", "mount mountpoint tcp-established futex", VENDOR),
    ("x86_64-7.0-20g-n1-76c4", "udp-lite", "linux-next before the removal of 7.1 came in"),
)

# Planned tables that a log has not: it was cut, or the kernel was built without them.
NO_MPTCP = (
    "arm-5.11-1022m-n1-5cd6 arm-5.15-256m-n1-33c3 arm-5.15-496m-n1-f9c0 arm-5.15-511m-n1-ba6a "
    "arm-5.16-2g-n1-e40a arm-6.0-2g-n1-a3f5 arm64-5.11-64g-n2-977a arm64-5.9-14g-n1-e85d "
    "arm64-6.0-4g-n1-dd61 i386-5.13-511m-n1-f9e7 i386-5.15-3g-n1-9e93 ia64-5.12-2g-n1-2674 "
    "mips-6.12-4g-n1-c36b mips-6.19-32m-n1-5e5b mips-6.4-981m-n1-f223 parisc-6.1-8g-n1-f32d "
    "parisc-6.8-512m-n1-c0a5 ppc-5.12-512m-n1-69c6 ppc-6.5-2g-n1-0dbb ppc64-5.13-40g-n1-5648 "
    "ppc64-5.19-64g-n2-2c37 ppc64-6.16-1g-n1-0743 ppc64-6.2-64g-n2-74a7 riscv64-6.1-510m-n1-1fdd "
    "riscv64-6.3-1022m-n1-5a2e x86_64-5.10-112g-n2-a557 x86_64-5.10-128g-n2-21d6 "
    "x86_64-5.10-192g-n2-1e21 x86_64-5.10-24g-n2-87f6 x86_64-5.10-256g-n2-5fb5 "
    "x86_64-5.11-16g-n1-32f1 x86_64-5.17-256g-n2-3ba7 x86_64-5.17-34g-n1-2594 "
    "x86_64-5.18-16g-n1-0206 x86_64-5.19-32g-n1-b06d x86_64-5.9-1024g-n3-fcc4 "
    "x86_64-6.0-4g-n4-6d3c x86_64-6.10-4g-n1-e1ad x86_64-6.16-255g-n2-7c87 "
    "x86_64-6.3-2g-n1-8f3d x86_64-6.3-512g-n2-a18d x86_64-6.4-128g-n2-cfb8 "
    "x86_64-6.6-8g-n1-910d x86_64-6.9-511g-n2-9b49"
)
CUT = "the log ends before it"
NETWORK_5_1 = "tcp-listen tcp-established tcp-bind udp udp-lite"
NETWORK_5_11 = "tcp-listen tcp-established tcp-bind mptcp-token udp udp-lite"
NETWORK_6 = "ip-idents tcp-listen table-perturb tcp-established tcp-bind mptcp-token udp udp-lite"
LACKING = (
    *((log, "mptcp-token", "built without MPTCP") for log in NO_MPTCP.split()),
    ("alpha-5.7-unk-n1-2fed", "mount mountpoint " + NETWORK_5_1, CUT),
    ("arm-6.3-unk-n1-c26c", "mount mountpoint " + NETWORK_6, CUT),
    ("arm64-5.1-519m-n1-4683", "mount mountpoint futex " + NETWORK_5_1, CUT),
    ("arm64-6.0-4g-n1-dd61", "dentry", "the line was lost in posting"),
    ("arm64-6.18-8g-n8-b134", "mptcp-token udp udp-lite", CUT),
    ("i386-2.6-126m-n1-582d", "ip-route tcp-established tcp-bind",
     "2.6.5 words these lines otherwise"),
    ("i386-5.19-unk-n1-f215", "mount mountpoint " + NETWORK_6, CUT),
    ("i386-6.4-2g-n1-126c", "futex " + NETWORK_6, CUT),
    ("mips-5.1-64m-n1-460c", "udp udp-lite", CUT),
    ("mips-5.11-unk-n1-6646", "mount mountpoint " + NETWORK_5_11, CUT),
    ("mips-5.12-unk-n1-ee40", "mount mountpoint " + NETWORK_5_11, CUT),
    ("mips-6.18-unk-n1-bead", "mount mountpoint " + NETWORK_6, CUT),
    ("parisc-6.3-unk-n1-4706", "mount mountpoint " + NETWORK_6, CUT),
    ("ppc64-5.1-4g-n1-0dc1", "futex " + NETWORK_5_1, CUT),
    ("ppc64le-6.15-unk-n2-5329", "posixtimers futex " + NETWORK_6, CUT),
    ("riscv32-5.16-unk-n1-9c88", "mount mountpoint ip-idents " + NETWORK_5_11, CUT),
    ("riscv64-5.16-unk-n1-f4d7", "mount mountpoint ip-idents " + NETWORK_5_11, CUT),
    ("riscv64-5.6-8m-n1-08d8", NETWORK_5_1, "built without a network"),
    ("riscv64-6.17-16g-n1-abb3", "dentry inode mount mountpoint " + NETWORK_6,
     "only lines that changed were posted"),
    ("riscv64-6.2-2g-n1-b361", "futex " + NETWORK_6, CUT),
    ("x86_64-5.19-32g-n1-b06d", "tcp-bind", "a developer's kernel with another name for it"),
    ("x86_64-5.4-48g-n2-ef10", "mount", "the line is damaged"),
    ("x86_64-6.13-15g-n1-85ae", "dentry inode", "the lines were lost in posting"),
    ("x86_64-6.14-unk-n1-db41", "posixtimers futex " + NETWORK_6, CUT),
)  # fmt: skip


def listed(rows):
    return {(log, table): reason for log, tables, reason in rows for table in tables.split()}


class PostedLogs(Plan):
    """Each log planned from itself, and the plan held against it."""

    @classmethod
    def setUpClass(cls):
        cls.silent, cls.checks, cls.statuses = {}, {}, {}
        for log in fixtures():
            result = plan("--log", log["path"], "--check", log["path"], "--json")
            cls.statuses[log["id"]] = result.status
            if result.status == 1:
                cls.silent[log["id"]] = result
            else:
                cls.checks[log["id"]] = json.loads(result.out)["check"]

    def differences(self, lacking):
        return {
            (log, difference["table"])
            for log, check in self.checks.items()
            for difference in check["differences"]
            if (difference["printed_entries"] is None) == lacking
        }

    def agree(self, found, rows):
        table = listed(rows)
        self.assertEqual(sorted(found - set(table)), [], "not listed, so the plan is wrong")
        self.assertEqual(sorted(set(table) - found), [], "listed, but as planned: strike it out")

    def test_printed_lines_are_as_planned_but_for_those_that_are_listed(self):
        self.agree(self.differences(lacking=False), PRINTED)

    def test_planned_lines_are_printed_but_for_those_that_are_listed(self):
        self.agree(self.differences(lacking=True), LACKING)

    def test_nearly_all_printed_lines_are_as_planned(self):
        same = sum(check["same"] for check in self.checks.values())
        wrong = len(self.differences(lacking=False))
        printed = same + wrong
        rate = same / printed
        print(f"{same} of {printed} lines of {len(self.checks)} logs as planned: {rate:.2%}")
        self.assertGreater(printed, 1400)
        self.assertGreaterEqual(rate, 0.99)

    @staticmethod
    def version(text):
        return tuple(int(number) for number in text.split("."))

    def test_all_lines_that_the_log_has_were_looked_at(self):
        """Counted by another way: the rows that report shows of the same log."""
        for log in fixtures():
            if log["id"] not in self.checks:
                continue
            check = self.checks[log["id"]]
            last = json.loads(report("--json", "--log", log["path"]).out)["boots"][-1]
            # From 6.16 on futex has a table per node, of another kind.
            new = self.version(last["kernel"]["rules_of"]) >= (3, 13)
            per_node = "NUMA nodes, total" in log["path"].read_text("utf-8", "replace")
            no_cpus = last["machine"]["possible_cpus"] is None
            kin = [
                row
                for row in last["tables"]
                if row["source"] == "log"
                and row["table"] in KEYS
                and (row["table"] != "futex" or not (per_node or no_cpus))
                and (row["table"] != "mount" or (row["bytes"] or 0) > 4096 or new)
            ]
            printed = [d for d in check["differences"] if d["printed_entries"] is not None]
            with self.subTest(log=log["id"]):
                self.assertEqual(check["same"] + len(printed), len(kin))

    def test_status_is_3_where_a_line_differs_and_0_where_none_does(self):
        for log, check in self.checks.items():
            wrong = any(
                not d["within_range"] and d["printed_entries"] is not None
                for d in check["differences"]
            )
            self.assertEqual(self.statuses[log], 3 if wrong else 0, log)

    def test_that_do_not_tell_enough_say_what_lacks(self):
        wanted = {log: lack for lack, logs in TOO_LITTLE.items() for log in logs.split()}
        self.assertEqual(sorted(self.silent), sorted(wanted))
        for log, result in self.silent.items():
            self.assert_one_line(result, "not known", wanted[log])

    def test_agree_with_a_parser_of_another_kind(self):
        """Of logs that nothing in the lists above excuses, each line is one of the plan's."""
        excused = {log for log, _ in {**listed(PRINTED), **listed(LACKING)}}
        count = 0
        for log in fixtures():
            if log["id"] in excused or log["id"] in self.silent:
                continue
            made = json.loads(plan("--log", log["path"], "--json").out)["tables"]
            rows = {KEYS[row["table"]]: row for row in made}
            for line in support.tables_of(log["path"].read_text("utf-8", "replace")):
                if line["name"] not in rows or line["nodes"] > 1:
                    continue
                row = rows[line["name"]]
                with self.subTest(log=log["id"], table=line["name"]):
                    self.assertEqual(
                        (line["entries"], line["bytes"]),
                        (row["entries"] if row["exact"] else line["entries"],
                         row["bytes"] if row["exact"] else line["bytes"]),
                    )  # fmt: skip
                    if line["kind"] and row["exact"]:
                        self.assertEqual(line["kind"], row["mapping"])
                count += 1
        self.assertGreater(count, 500)


if __name__ == "__main__":
    support.main()

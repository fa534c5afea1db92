#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--json: which keys, of which types, and that they say what the columns say."""

import json
import re
import tempfile
from pathlib import Path

import support
from machines import Machine, table
from support import DONE, columns, fixture, fixtures, report

TEXT, COUNT, FLAG = str, int, bool
NULL = type(None)

# Each key with the types it may have; a unit stands at the end of the name.
BOOT = {
    "version": (TEXT,),
    "kernel": (dict,),
    "machine": (dict,),
    "hashdist": (dict,),
    "model_processor": (TEXT, NULL),
    "tables": (list,),
    "advice": (list,),
    "log": (dict,),
    "not_seen": (list,),
}
KERNEL = {
    "release": (TEXT, NULL),
    "rules_of": (TEXT, NULL),
    "architecture": (TEXT, NULL),
    "distribution": (TEXT, NULL),
    "rules": (dict,),
}
MACHINE = {
    "memory_kib": (COUNT, NULL),
    "page_bytes": (COUNT,),
    "memory_nodes": (COUNT, NULL),
    "online_nodes": (COUNT, NULL),
    "emulated_nodes": (COUNT, NULL),
    "memory_only_nodes": (COUNT, NULL),
    "possible_cpus": (COUNT, NULL),
    "sizing_pages": (COUNT, NULL),
    "sizing_pages_slack": (COUNT, NULL),
    "direct_map_4k_kib": (COUNT, NULL),
    "direct_map_2m_kib": (COUNT, NULL),
    "direct_map_1g_kib": (COUNT, NULL),
    "uptime_s": (COUNT, NULL),
}
TABLE = {
    "table": (TEXT,),
    "name": (TEXT, NULL),
    "entries": (COUNT, NULL),
    "bytes": (COUNT, NULL),
    "copies": (COUNT,),
    "mapping": (TEXT, NULL),
    "early": (FLAG, NULL),
    "translation_bytes": (COUNT, NULL),
    "translations": (COUNT, NULL),
    "model_walks_per_lookup": (float, NULL),
    "node_bytes": (dict, NULL),
    "node_bytes_assumed": (FLAG,),
    "used_entries": (COUNT, NULL),
    "expected_entries": (COUNT, NULL),
    "verdict": (TEXT,),
    "verdicts": (list,),
    "source": (TEXT,),
}
ADVICE = {
    "kind": (TEXT,),
    "verdict": (TEXT, NULL),
    "table": (TEXT, NULL),
    "tables": (COUNT,),
    "parameter": (TEXT, NULL),
    "translations_now": (COUNT, NULL),
    "translations_then": (COUNT, NULL),
    "translation_bytes_then": (COUNT, NULL),
    "text": (TEXT,),
}
LOG = {"seen": (FLAG,), "complete": (FLAG,), "damaged_lines": (COUNT,), "note": (TEXT, NULL)}
NOT_SEEN = {"path": (TEXT,), "error": (TEXT,), "lost": (TEXT, NULL), "remedy": (TEXT, NULL)}


class Schema(support.Case):
    def has(self, found, schema):
        self.assertEqual(list(found), list(schema))
        for key, types in schema.items():
            self.assertIn(type(found[key]), types, key)

    def check_boot(self, boot, more=()):
        self.assertEqual(list(boot), [*BOOT, *more])
        self.has({key: boot[key] for key in BOOT}, BOOT)
        self.has(boot["kernel"], KERNEL)
        for rule in boot["kernel"]["rules"].values():
            self.has(rule, {"value": (TEXT, COUNT), "origin": (TEXT,)})
            self.assertIn(rule["origin"], ("version", "configuration", "detected", "given"))
        self.has(boot["machine"], MACHINE)
        self.has(boot["hashdist"], {"value": (FLAG, NULL), "reason": (TEXT,)})
        for row in boot["tables"]:
            self.check_row(row)
        for advice in boot["advice"]:
            self.has(advice, ADVICE)
            kinds = ("table", "parameter-ignored", "parameter-misspelt", "log-lost")
            self.assertIn(advice["kind"], kinds)
        self.has(boot["log"], LOG)
        for blind in boot["not_seen"]:
            self.has(blind, NOT_SEEN)

    def check_row(self, row):
        self.has(row, TABLE)
        self.assertIn(row["mapping"], ("linear", "vmalloc", "vmalloc hugepage", None))
        self.assertIn(row["source"], ("log", "computed"))
        self.assertEqual(row["mapping"] is None, row["early"] is None)
        self.assertTrue(all(isinstance(name, str) for name in row["verdicts"]))
        self.assertEqual(row["verdict"], (row["verdicts"] or ["ok"])[0])
        for node, share in (row["node_bytes"] or {}).items():
            self.assertRegex(node, r"^\d+$")
            self.assertIs(type(share), int)
        if row["translations"] is not None:
            size = row["translation_bytes"]
            self.assertEqual(row["translations"], -(-row["bytes"] // size))


class OneBoot(Schema):
    def test_has_exactly_these_keys_and_types(self):
        for log in fixtures():
            with self.subTest(log=log["id"]):
                found = json.loads(report("--json", "--log", log["path"]).out)
                for boot in found["boots"]:
                    self.check_boot(boot, more=("file", "line"))

    def test_has_them_for_this_machine_too(self):
        result = report("--json")
        self.assert_status(result, *DONE)
        self.check_boot(json.loads(result.out))

    def test_has_them_for_a_machine_with_something_wrong(self):
        machine = Machine(
            "6.1.0-44-amd64",
            nodes=[1024, 1024],
            cmdline="ihash_entires=5",
            log=[table("Dentry cache", 262144, 9, 2097152, "vmalloc")],
            areas=[(2097152, {0: 256, 1: 256})],
        )
        with tempfile.TemporaryDirectory() as place:
            found = json.loads(report("--json", "--sysroot", machine.write(place)).out)
        self.check_boot(found)
        self.assertEqual(
            [advice["kind"] for advice in found["advice"]], ["table", "parameter-misspelt"]
        )
        self.assertEqual(found["tables"][0]["node_bytes"], {"0": 1 << 20, "1": 1 << 20})

    def test_is_one_object_and_ends_with_a_newline(self):
        result = report("--json", "--log", fixture("arm64-6.1-"))
        self.assertTrue(result.out.endswith("}\n"))
        self.assert_quiet(result)

    def test_unknown_is_null_and_never_zero(self):
        text = "[    0.000000] Dentry cache hash table entries: 1024 (order: 1, 8192 bytes)\n"
        found = support.only_boot(report("--json", "--log", "-", data=text.encode()).out)
        for key in ("release", "rules_of", "architecture", "distribution"):
            self.assertIsNone(found["kernel"][key], key)
        for key in sorted(set(MACHINE) - {"page_bytes"}):
            self.assertIsNone(found["machine"][key], key)
        self.assertIsNone(found["hashdist"]["value"])
        for key in ("node_bytes", "used_entries", "expected_entries"):
            self.assertIsNone(found["tables"][0][key], key)

    def test_only_figures_without_a_unit_are_counts(self):
        units = r"_(bytes|kib|s)$"
        counts = {"entries", "copies", "translations", "used_entries", "expected_entries"}
        plain = {key for key, types in TABLE.items() if COUNT in types}
        self.assertEqual({key for key in plain if not re.search(units, key)} - {"bytes"}, counts)


class SeveralBoots(Schema):
    def test_are_a_list_and_a_summary(self):
        paths = [str(fixture("arm64-6.1-")), str(fixture("x86_64-5.10-112g-n2-"))]
        result = report("--json", "--log", *paths)
        self.assert_status(result, 3)
        found = json.loads(result.out)
        self.assertEqual(list(found), ["boots", "summary"])
        for boot, path in zip(found["boots"], paths, strict=True):
            self.check_boot(boot, more=("file", "line"))
            self.assertEqual((boot["file"], boot["line"]), (path, 1))
        counts = ("boots", "tables", "damaged_lines")
        self.assertEqual(list(found["summary"]), [*counts, "verdicts"])
        self.assertEqual(len(found["summary"]["verdicts"]), 12)

    def test_say_what_each_says_alone(self):
        paths = [fixture("arm64-6.1-"), fixture("x86_64-5.10-112g-n2-")]
        together = json.loads(report("--json", "--log", *paths).out)["boots"]
        for path, boot in zip(paths, together, strict=True):
            alone = support.only_boot(report("--json", "--log", path).out)
            self.assertEqual(boot, alone)


class AgreesWithColumns(support.Case):
    def text(self, value):
        return "?" if value is None else str(value)

    def check(self, *words):
        names = ("TABLE", "NAME", "ENTRIES", "BYTES", "MAPPING", "USED", "SOURCE", "VERDICT")
        rows = columns(names, *words)
        found = support.only_boot(report("--json", *words).out)["tables"]
        self.assertEqual(len(rows), len(found))
        self.assertTrue(rows)
        for row, cell in zip(found, rows):
            total = row["bytes"] and row["bytes"] * row["copies"]
            mapping = "linear, early" if row["early"] else self.text(row["mapping"])
            self.assertEqual(cell["TABLE"], row["table"])
            self.assertEqual(cell["NAME"], row["name"])
            self.assertEqual(cell["ENTRIES"], self.text(row["entries"]))
            self.assertEqual(cell["BYTES"], self.text(total))
            self.assertEqual(cell["MAPPING"], mapping)
            self.assertIn(cell["USED"], (self.text(row["used_entries"]), "-"))
            self.assertEqual(cell["SOURCE"], row["source"])
            self.assertEqual(cell["VERDICT"], ", ".join(row["verdicts"]) or "ok")

    def test_for_posted_logs(self):
        for prefix in ("arm64-6.18-8g-n8-", "x86_64-5.10-112g-n2-", "alpha-2.6-", "i386-6.7-"):
            with self.subTest(log=prefix):
                self.check("--log", fixture(prefix))

    def test_for_a_saved_machine(self):
        machine = Machine("6.1.0-44-amd64", nodes=[4096], head=False)
        with tempfile.TemporaryDirectory() as place:
            self.check("--sysroot", machine.write(place))


class NotUtf8(support.Case):
    """Logs and file names are bytes; JSON is UTF-8 all the same, and loses no key."""

    def setUp(self):
        self.good = fixture("arm64-6.1-").read_bytes()

    def strictly(self, result):
        self.assert_status(result, *DONE)
        return json.loads(result.raw.decode("utf-8", "strict"))

    def only(self, result):
        (boot,) = self.strictly(result)["boots"]
        return boot

    def test_byte_in_the_name_of_a_table(self):
        data = self.good.replace(b"Mount-cache", b"Mo\xffnt-cache")
        self.assertNotEqual(data, self.good)
        found = self.only(report("--json", "--log", "-", data=data))
        self.assertEqual(len(found["tables"]), len(support.tables_of(self.good.decode())))

    def test_byte_in_the_release(self):
        data = self.good.replace(b"Linux version 6.1.0", b"Linux version 6.1.0\xfe", 1)
        found = self.only(report("--json", "--log", "-", data=data))
        self.assertIn("release", found["kernel"])

    def test_byte_in_a_misspelt_parameter(self):
        data = self.good.replace(b"ommand line: ", b"ommand line: dhash_entires=\xe4 ")
        found = self.only(report("--json", "--log", "-", data=data))
        self.assertIn("parameter-misspelt", [advice["kind"] for advice in found["advice"]])
        for advice in found["advice"]:
            self.assertIsNotNone(advice["text"])

    def test_bytes_everywhere(self):
        for byte in (b"\x80", b"\xc3", b"\xed\xa0\x80", b"\x00", b'"', b"\\", b"\x1b"):
            with self.subTest(byte=byte):
                data = self.good.replace(b"cache", b"ca" + byte + b"che")
                self.strictly(report("--json", "--log", "-", data=data))

    def test_byte_in_the_name_of_a_file(self):
        with tempfile.TemporaryDirectory() as place:
            path = bytes(Path(place)) + b"/f\xffle.log"
            with open(path, "wb") as file:
                file.write(self.good)
            found = self.strictly(report("--json", "--log", path, path))
        for boot in found["boots"]:
            self.assertIn("file", list(boot))


if __name__ == "__main__":
    support.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--openmetrics: text that a strict reader of OpenMetrics takes, and node_exporter too.

The reader below knows the part of OpenMetrics 1.0 that gauges need, and refuses all else.
"""

import re
import tempfile

import support
from machines import Machine, table
from support import DONE, fixture, fixtures, report

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,(?!})|(?=}))')
NUMBER = re.compile(r"-?(\d+|\d*\.\d+)([eE][+-]?\d+)?|NaN|[+-]Inf")
# What the Prometheus text format knows; OpenMetrics calls "untyped" unknown, and has more.
SHARED_TYPES = ("gauge", "counter", "histogram", "summary")


class Wrong(AssertionError):
    """The text is no OpenMetrics; says in which line and why."""


def read_labels(text):
    labels, at = {}, 0
    while not text.startswith("}", at):
        match = LABEL.match(text, at)
        if not match:
            raise Wrong(f"labels: {text[at:]}")
        if match.group(1) in labels:
            raise Wrong(f"label twice: {match.group(1)}")
        labels[match.group(1)] = re.sub(
            r"\\(.)", lambda found: {"n": "\n"}.get(found.group(1), found.group(1)), match.group(2)
        )
        at = match.end()
    return labels, text[at + 1 :]


def read_sample(line, family):
    name = re.match(NAME, line)
    if not name or name.group() != family:
        raise Wrong(f"a sample outside of its family {family}: {line}")
    rest, labels = line[name.end() :], {}
    if rest.startswith("{"):
        labels, rest = read_labels(rest[1:])
    if not rest.startswith(" ") or not NUMBER.fullmatch(rest[1:]):
        raise Wrong(f"value: {line}")
    return labels, float(rest[1:])


def read_openmetrics(data):
    """Families as {name: {type, unit, help, samples: [(labels, value)]}}; raises Wrong."""
    text = data.decode("utf-8", "strict")
    if not text.endswith("\n# EOF\n") or text.count("# EOF") != 1 or "\r" in text:
        raise Wrong("no # EOF at the end, or it is not alone")
    families, current, seen = {}, None, set()
    for line in text.split("\n")[:-2]:
        if line.startswith("#"):
            match = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME}) (.+)", line)
            if not match:
                raise Wrong(f"comment: {line}")
            word, name, value = match.groups()
            if name != current:
                if name in families:
                    raise Wrong(f"family in two places: {name}")
                if word != "TYPE":
                    raise Wrong(f"family without a type first: {name}")
                current = name
                families[name] = {"samples": []}
            if word in families[name] or families[name]["samples"]:
                raise Wrong(f"{word} twice, or behind samples: {name}")
            families[name][word] = value
        else:
            if not line:
                raise Wrong("blank line")
            labels, value = read_sample(line, current)
            key = (current, tuple(sorted(labels.items())))
            if key in seen:
                raise Wrong(f"sample twice: {line}")
            seen.add(key)
            families[current]["samples"].append((labels, value))
    for name, family in families.items():
        if family.get("UNIT") and not name.endswith("_" + family["UNIT"]):
            raise Wrong(f"{name} does not end with its unit {family['UNIT']}")
        if re.search(r"(?<!\\)(?:\\\\)*\\[^\\n\"]", family.get("HELP", "")):
            raise Wrong(f"help: {family['HELP']}")
    return families


class TheReader(support.Case):
    """It refuses what it should, so that the tests below mean something."""

    GOOD = (
        b"# TYPE a_bytes gauge\n# UNIT a_bytes bytes\n# HELP a_bytes All.\n"
        b'a_bytes{t="x\\"\\\\\\n"} 1\na_bytes{t="y"} 2.5\n# EOF\n'
    )

    def test_takes_what_is_right(self):
        samples = read_openmetrics(self.GOOD)["a_bytes"]["samples"]
        self.assertEqual(samples, [({"t": 'x"\\\n'}, 1.0), ({"t": "y"}, 2.5)])

    def test_refuses_what_is_wrong(self):
        for old, new in (
            (b"# EOF\n", b""),
            (b"# EOF\n", b"# EOF"),
            (b"# EOF\n", b"# EOF\n# EOF\n"),
            (b"# EOF\n", b"\n# EOF\n"),
            (b"# TYPE a_bytes gauge\n", b""),
            (b"UNIT a_bytes bytes", b"UNIT a_bytes seconds"),
            (b't="y"', b't="x\\"\\\\\\n"'),
            (b't="y"', b't="y",t="z"'),
            (b't="y"', b't="y",'),
            (b't="y"', b't="y\\z"'),
            (b't="y"', b't="y"z"'),
            (b't="y"', b"t=y"),
            (b" 2.5\n", b" two\n"),
            (b" 2.5\n", b"  2.5\n"),
            (b"a_bytes{t=\"y\"", b"b_bytes{t=\"y\""),
            (b"# EOF\n", b"# HELP a_bytes Again.\n# EOF\n"),
        ):
            with self.subTest(new=new), self.assertRaises(Wrong):
                self.assertIn(old, self.GOOD)
                read_openmetrics(self.GOOD.replace(old, new))


class OpenMetrics(support.Case):
    def read(self, result):
        self.assert_status(result, *DONE)
        return read_openmetrics(result.raw)

    def test_of_this_machine_are_valid(self):
        families = self.read(report("--openmetrics"))
        self.assertGreater(len(families["hashdist_table_entries"]["samples"]), 3)

    def test_of_each_posted_boot_are_valid(self):
        for log in fixtures():
            with self.subTest(log=log["id"]):
                result = report("--openmetrics", "--log", log["path"])
                if "several" not in result.err:
                    self.read(result)

    def test_are_valid_prometheus_text_too(self):
        families = self.read(report("--openmetrics"))
        for name, family in families.items():
            self.assertIn(family["TYPE"], SHARED_TYPES)
            self.assertEqual(family["TYPE"], "gauge")
            # A gauge of this name would be taken for a part of something else.
            self.assertNotRegex(name, r"_(total|count|sum|bucket|info|created)$")
            self.assertIn("HELP", family)

    def test_have_a_unit_where_the_name_ends_with_one(self):
        families = self.read(report("--openmetrics"))
        for name, family in families.items():
            self.assertTrue(name.startswith("hashdist_"))
            self.assertEqual(family.get("UNIT"), "bytes" if name.endswith("_bytes") else None)

    def test_say_what_the_columns_say(self):
        log = fixture("x86_64-5.10-112g-n2-")
        families = self.read(report("--openmetrics", "--log", log))
        rows = support.columns(("TABLE", "ENTRIES", "BYTES", "MAPPING", "VERDICT"), "--log", log)
        self.assertGreater(len(rows), 5)
        for metric, name in (("entries", "ENTRIES"), ("size_bytes", "BYTES")):
            samples = families[f"hashdist_table_{metric}"]["samples"]
            self.assertEqual(
                {labels["table"]: int(value) for labels, value in samples},
                {row["TABLE"]: int(row[name]) for row in rows if row[name] != "?"},
            )
        self.assertEqual(
            {labels["table"]: bool(value)
             for labels, value in families["hashdist_table_ok"]["samples"]},
            {row["TABLE"]: row["VERDICT"] == "ok" for row in rows if row["VERDICT"] != "unknown"},
        )  # fmt: skip
        mappings = families["hashdist_table_mapping"]["samples"]
        self.assertEqual(
            {labels["table"]: labels["mapping"] for labels, _ in mappings},
            {row["TABLE"]: row["MAPPING"].removesuffix(", early") for row in rows},
        )
        self.assertEqual({value for _, value in mappings}, {1.0})

    def test_give_each_nodes_bytes(self):
        machine = Machine(
            "6.1.0-44-amd64",
            nodes=[1024, 1024],
            log=[table("Dentry cache", 262144, 9, 2097152, "vmalloc")],
            areas=[(2097152, {0: 400, 1: 112})],
        )
        with tempfile.TemporaryDirectory() as place:
            result = report("--openmetrics", "--sysroot", machine.write(place))
        samples = self.read(result)["hashdist_table_node_bytes"]["samples"]
        self.assertEqual(
            samples,
            [
                ({"table": "dentry", "node": "0"}, 400 * 4096.0),
                ({"table": "dentry", "node": "1"}, 112 * 4096.0),
            ],
        )

    def test_have_no_sample_for_what_is_unknown(self):
        text = b"[    0.000000] Dentry cache hash table entries: 1024\n"
        families = self.read(report("--openmetrics", "--log", "-", data=text))
        self.assertEqual(len(families["hashdist_table_entries"]["samples"]), 1)
        for name in ("size_bytes", "used_entries", "node_bytes", "translations"):
            self.assertEqual(families[f"hashdist_table_{name}"]["samples"], [], name)
        self.assertNotIn("hashdist_memory_nodes", families)
        self.assertNotIn("hashdist_distributed", families)

    def test_escape_whatever_a_log_calls_a_table(self):
        for name in (b'Qu"ote', b"Back\\slash", b"By\xffte", b"\xc3\xa4", b"Ta\tb", b"Nu\x00l"):
            with self.subTest(name=name):
                line = name + b" hash table entries: 1024 (order: 1, 8192 bytes, linear)\n"
                data = b"[    0.000000] Linux version 6.1.0\n[    0.000000] " + line
                result = report("--openmetrics", "--log", "-", data=data)
                if result.status in DONE:
                    self.read(result)

    def test_a_table_that_is_printed_twice_is_one_sample(self):
        """As in a mail that quotes one log and adds lines of another."""
        log = fixture("parisc-6.8-")
        self.assertEqual(support.column("TABLE", "--log", log).count("mount"), 2)
        families = self.read(report("--openmetrics", "--log", log))
        samples = families["hashdist_table_entries"]["samples"]
        self.assertEqual([labels["table"] for labels, _ in samples].count("mount"), 1)

    def test_of_several_boots_are_refused(self):
        log = fixture("arm64-6.1-")
        for words in ((log, log), (log, fixture("arm64-6.17-64g-n2-"))):
            result = report("--openmetrics", "--log", *words)
            self.assert_status(result, 1, 2)
            self.assertEqual(result.out, "")
            self.assert_one_line(result, "--openmetrics", "several")


if __name__ == "__main__":
    support.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The example kernel in an emulator: what it says of itself, and whether Linux says the same.

EXAMPLE_KERNEL is the kernel. No boot takes more than a few seconds. The names of the tests are
their claims; see beside_linux.py for how a boot is held against Linux.
"""

import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import beside_linux  # noqa: E402
from beside_linux import PAGE, SIZES, boot, boot_text  # noqa: E402

lab = beside_linux.lab
KERNEL = os.environ.get("EXAMPLE_KERNEL", "")
MIB = 1 << 20


def go(append, **shape):
    return boot(KERNEL, append, **shape)


class TheKernelsOwnWalk(unittest.TestCase):
    """Invariants of `got` that need no Linux."""

    def check_all(self, ours):
        """What holds on every machine."""
        self.assertTrue(ours.ended, ours.text)
        self.assertIn("\ntables written and read back: 0 words wrong\n", ours.text)
        self.assertRegex(ours.text, r"\n\d+ random lookups in [\w-]+: 0 wrong\n")
        self.assertGreater(len(ours.tables), 8)
        for t in ours.tables:
            with self.subTest(table=t.name):
                self.assertEqual(sum(t.sizes.values()), t.bytes)
                self.assertEqual(sum(t.nodes.values()), t.bytes)
                self.assertIn(f", {t.bytes} bytes, ", t.line)
                used = {name for name, b in t.sizes.items() if b}
                if t.mapping == "linear":
                    self.assertLessEqual(used, {"2M", "1G"})
                else:
                    self.assertEqual(used, {"2M" if t.mapping == "vmalloc hugepage" else "4K"})
                    unit = SIZES[used.pop()]
                    self.assertEqual(t.translations, -(-t.bytes // unit))

    def test_one_node_is_linear_on_huge_translations_and_ends_well(self):
        ours = go("as=6.1.159")
        self.check_all(ours)
        self.assertEqual({t.mapping for t in ours.tables}, {"linear"})
        self.assertFalse(ours.hashdist)

    def test_two_nodes_share_each_table_to_within_one_unit(self):
        ours = go("as=6.12.60", memory="8G", nodes="4G,4G")
        self.check_all(ours)
        self.assertTrue(ours.hashdist)
        mappings = {t.mapping for t in ours.tables}
        self.assertEqual(mappings, {"vmalloc", "vmalloc hugepage"})
        for t in ours.tables:
            with self.subTest(table=t.name):
                unit = SIZES["2M" if t.sizes["2M"] else "4K"]
                self.assertEqual(set(t.nodes), {0, 1})
                self.assertLessEqual(abs(t.nodes[0] - t.nodes[1]), unit)

    def test_from_6_19_on_a_chunk_of_4M_lies_on_one_node(self):
        ours = go("as=7.1 nohugevmalloc", memory="4G", nodes="2G,2G")
        self.check_all(ours)
        dentry, inode = ours.tables[:2]
        self.assertEqual((dentry.bytes, dentry.translations), (4 * MIB, 1024))
        self.assertEqual(sorted(dentry.nodes.values()), [0, 4 * MIB])
        self.assertEqual(sorted(inode.nodes.values()), [0, 2 * MIB])
        self.assertNotEqual(dentry.nodes[0] > 0, inode.nodes[0] > 0)

    def test_four_nodes_told_not_to_distribute_are_linear(self):
        ours = go("as=6.1.159 hashdist=0", memory="4G", nodes="1G,1G,1G,1G")
        self.check_all(ours)
        for t in ours.tables:
            with self.subTest(table=t.name):
                self.assertEqual(t.mapping, "linear")
                self.assertEqual([b for b in t.nodes.values() if b], [t.bytes])
        late = [t for t in ours.tables if t.key not in ("dentry", "inode")]
        self.assertEqual({n for t in late for n, b in t.nodes.items() if b}, {0, 1, 2, 3})

    def test_the_linear_map_has_1G_translations_where_the_processor_does(self):
        plenty = {"memory": "8G", "nodes": "4G,4G"}
        with_1g = go("as=6.1.159 hashdist=0", **plenty)
        without = go("as=6.1.159 hashdist=0", cpu="max,-pdpe1gb", **plenty)
        for ours, size in ((with_1g, "1G"), (without, "2M")):
            self.check_all(ours)
            dentry = ours.tables[0]
            self.assertEqual(dentry.sizes[size], dentry.bytes)
        self.assertLess(with_1g.tables[0].translations, without.tables[0].translations)

    def test_a_table_that_does_not_fit_is_halved_and_the_failed_attempts_come_back(self):
        # Locks of 256 bytes make UDP's two tables 34 MiB each, on a machine of 64.
        ours = go("as=6.1.159 hashdist=1 uhash_entries=65536 rule=spinlock-bytes=256", memory="64M")
        self.check_all(ours)
        udp, lite = ours.tables[-2:]
        self.assertEqual((udp.key, udp.entries, udp.mapping), ("udp", 65536, "vmalloc hugepage"))
        # 22 MiB were left, and had been given out before the attempt failed: half of 34 is there.
        self.assertEqual((lite.key, lite.entries), ("udp-lite", 32768))

    def test_a_full_node_leaves_the_rest_to_the_other(self):
        ours = go("as=6.1.159 dhash_entries=33554432 nohugevmalloc", memory="2112M", nodes="2G,64M")
        self.check_all(ours)
        dentry = ours.tables[0]
        self.assertEqual(dentry.bytes, 128 * MIB)
        self.assertLess(dentry.nodes[1], 64 * MIB)
        self.assertGreater(dentry.nodes[1], 0)

    def test_parameters_are_read_by_the_rules_of_the_version(self):
        word = {"append": "hashdist=on dhash_entries=4096k"}
        number = go(f"as=6.1.159 {word['append']}")
        boolean = go(f"as=7.1 {word['append']}")
        self.assertEqual((number.hashdist, boolean.hashdist), (False, True))
        self.assertEqual(number.tables[0].entries, 4096)
        self.assertGreater(boolean.tables[0].entries, 4096)

    def test_numa_off_is_one_node(self):
        ours = go("as=6.1.159 numa=off", memory="2G", nodes="1G,1G")
        self.check_all(ours)
        self.assertEqual((ours.memory_nodes, ours.online, ours.hashdist), (1, 1, False))

    def test_what_it_does_not_understand_ends_it_with_the_reason(self):
        for append, why in (("rule=no-such=1", "rule= is not understood"), ("as=latest", "as= is no version")):
            with self.subTest(append=append):
                text, _ = boot_text(KERNEL, append)
                self.assertTrue(text.endswith(f"panic: {why}\n"), text)

    def test_a_table_of_its_own_is_sized_and_placed_like_the_others(self):
        linear = go("own=0", memory="2G")
        spread = go("as=6.1.159 own=1000000", memory="2G", nodes="1G,1G")
        for ours in (linear, spread):
            self.check_all(ours)
        own = linear.tables[-1]
        # An entry for each 32 KiB of somewhat less than 2 GiB; 24 bytes each, the rest given back.
        self.assertEqual((own.key, own.entries, own.bytes, own.mapping), ("own", 65536, 24 * 65536, "linear"))
        own = spread.tables[-1]
        self.assertEqual((own.entries, own.mapping), (1 << 20, "vmalloc hugepage"))
        self.assertEqual(set(own.nodes.values()), {12 * MIB})

    def test_behind_a_scattered_table_there_is_nothing(self):
        for append in ("hashdist=1", "hashdist=1 nohugevmalloc"):
            with self.subTest(append=append):
                text, _ = boot_text(KERNEL, f"as=7.1 overrun=1 {append}")
                self.assertRegex(text, r"\nreading (\w+), behind dentry\npanic: a fault, last address \1\n$")

    def test_q35_and_an_older_processor_do_as_well(self):
        ours = go("as=6.1.159", cpu="qemu64", qemu=("-machine", "q35"))
        self.check_all(ours)


class BesideLinux(unittest.TestCase):
    """The quick boots of beside_linux.py, or all with EMBEDDING_ALL=1."""

    def test_every_line_that_both_print_is_the_same(self):
        quick = os.environ.get("EMBEDDING_ALL") != "1"
        boots = beside_linux.recorded(quick=quick)
        self.assertGreaterEqual(len(boots), len(beside_linux.QUICK))
        print(beside_linux.HEAD)
        used = set()
        for facts in boots:
            b = beside_linux.compare(facts, beside_linux.boot_as(KERNEL, facts))
            beside_linux.show_row(b)
            used |= {reason for _, reason in b.known}
            with self.subTest(boot=facts.name):
                self.assertEqual(b.wrong, [])
                self.assertGreater(b.both, 8)
        if not quick:
            stale = [known for i, known in enumerate(beside_linux.KNOWN) if i not in used]
            self.assertEqual(stale, [], "reasons for what is no difference any more")


class TheComparisonItself(unittest.TestCase):
    """It must be able to fail: a boot is falsified in one place after the other."""

    @classmethod
    def setUpClass(cls):
        cls.facts = beside_linux.recorded("6.1-2n-2G")[0]
        cls.text = beside_linux.boot_as(KERNEL, cls.facts).text

    def differences(self, old, new):
        self.assertIn(old, self.text)
        ours = beside_linux.parse(self.text.replace(old, new, 1))
        return [d.what for d in beside_linux.compare(self.facts, ours).wrong]

    def test_the_boot_itself_has_no_difference(self):
        self.assertEqual(self.differences("done", "done"), [])

    def test_it_sees_other_entries_order_bytes_and_mapping(self):
        line = "UDP hash table entries: 1024 (order: 3, 32768 bytes, vmalloc)"
        for old, new, what in (
            ("1024", "2048", "UDP"),
            ("order: 3", "order: 4", "UDP"),
            ("32768", "65536", "UDP"),
            ("vmalloc", "linear", "UDP: mapping"),
            ("vmalloc", "vmalloc hugepage", "UDP: mapping"),
        ):
            with self.subTest(new=new):
                self.assertEqual(self.differences(line, line.replace(old, new)), [what])

    def test_it_sees_pages_on_the_wrong_node(self):
        half = f"N0={16 * PAGE} N1={16 * PAGE}"
        self.assertEqual(self.differences(half, f"N0={20 * PAGE} N1={12 * PAGE}"), ["TCP established: nodes"])

    def test_it_sees_another_count_of_pages(self):
        self.assertEqual(self.differences("515808 pages count", "515809 pages count"), ["pages"])

    def test_it_sees_a_table_that_only_one_of_them_has(self):
        text = "\n".join(t for t in self.text.split("\n") if not t.startswith(("MPTCP", "got mptcp")))
        wrong = beside_linux.compare(self.facts, beside_linux.parse(text)).wrong
        self.assertEqual([(d.what, d.planned) for d in wrong], [("MPTCP token", "nothing")])

    def test_a_boot_that_broke_off_is_an_error(self):
        with self.assertRaises(lab.LabError):
            beside_linux.parse(self.text[: self.text.index("got futex")])


if __name__ == "__main__":
    try:
        go("as=6.1.159 lookups=1")
    except lab.Skip as e:
        lab.skip(str(e))
    except lab.LabError as e:
        sys.exit(f"the example kernel does not boot at all: {e}")
    unittest.main(verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist plan: what kernels did on emulated and on other people's machines, and every option.

Truth here is what kernels printed, in the short form of BOOTS below, or is worked out by hand.
"""

import itertools
import json
import re
import tempfile
from pathlib import Path

import support
from machines import Machine
from support import fixtures, plan, report

KIND = {"l": "linear", "v": "vmalloc", "h": "vmalloc hugepage"}
NAMES = {
    "Q": "PV qspinlock",
    "D": "Dentry cache",
    "I": "Inode-cache",
    "M": "Mount-cache",
    "P": "Mountpoint-cache",
    "F": "futex",
    "G": "IP idents",
    "L": "tcp_listen_portaddr_hash",
    "X": "Table-perturb",
    "E": "TCP established",
    "B": "TCP bind",
    "K": "MPTCP token",
    "U": "UDP",
    "V": "UDP-Lite",
}
KEYS = {
    "pid": "PID",
    "pv-qspinlock": "PV qspinlock",
    "dentry": "Dentry cache",
    "inode": "Inode-cache",
    "mount": "Mount-cache",
    "mountpoint": "Mountpoint-cache",
    "posixtimers": "posixtimers",
    "futex": "futex",
    "ip-route": "IP route cache",
    "ip-idents": "IP idents",
    "tcp-listen": "tcp_listen_portaddr_hash",
    "table-perturb": "Table-perturb",
    "tcp-established": "TCP established",
    "tcp-bind": "TCP bind",
    "mptcp-token": "MPTCP token",
    "udp": "UDP",
    "udp-lite": "UDP-Lite",
}
BUCKETS = dict(D=8, I=8, M=8, P=8, E=8, F=64, G=8, L=16, X=4, B=32, K=24, U=32, V=32)
BUCKETS_I386 = dict(D=4, I=4, M=4, P=4, E=4, F=64, G=8, L=8, B=16, K=16, U=32, V=32, X=4)
BUCKETS_PPC = {**BUCKETS, "F": 128}

# What one machine printed in most boots: 2 GiB, two processors.
LINEAR = (
    "D262144l I131072l M4096l P4096l F512l G32768l L1024l X65536l E16384l B16384l K2048l "
    "U1024l V1024l"
)
SPREAD = LINEAR.replace("l ", "v ")[:-1] + "v"
HUGE = SPREAD.replace("D262144v", "D262144h")
GIB16 = (
    "D2097152l I1048576l M32768l P32768l F512l G262144l L8192l X65536l E131072l B65536l K16384l "
    "U8192l V8192l"
)
GIB16_SPREAD = GIB16.replace("l ", "v ")[:-1] + "v"
GIB16_HUGE = GIB16_SPREAD.replace("D2097152v I1048576v", "D2097152h I1048576h")
GIB16_HUGEST = GIB16_HUGE.replace("G262144v", "G262144h").replace("B65536v", "B65536h")
MIB512 = (
    "D65536l I32768l M1024l P1024l F512l G8192l L256l X65536l E4096l B4096l K512l U256l V256l"
)
GIB1 = (
    "D131072l I65536l M2048l P2048l F512l G16384l L512l X65536l E8192l B8192l K1024l U512l V512l"
)

PC = "x86-64 ram=2G cpus=2"
PC2 = "x86-64 node:0=1G node:1=1G cpus=2"
PC4 = "x86-64 node:0=512M node:1=512M node:2=512M node:3=512M cpus=4"
BIG2 = "x86-64 node:0=8G node:1=8G cpus=2"
BARE = "x86-64 node:0=2G node:1=0 cpus=2"  # a memoryless node
ARM = "arm64 ram=2G cpus=2"
ARM16K = "arm64 ram=2G cpus=2 page=16K"

# Boots of Debian kernels in an emulator: kernel, machine, command line, tables.
BOOTS = (
    ("6.1.192", "x86-64 ram=512M cpus=2", "", MIB512),
    ("6.12.117", "x86-64 ram=512M cpus=2", "", MIB512),
    ("6.1.192", PC, "", LINEAR),
    ("6.12.117", PC, "", LINEAR),
    (
        "6.1.192",
        "x86-64 ram=8G cpus=2",
        "",
        "D1048576l I524288l M16384l P16384l F512l G131072l L4096l X65536l E65536l B65536l K8192l "
        "U4096l V4096l",
    ),
    ("6.1.192", "x86-64 ram=16G cpus=2", "", GIB16),
    ("6.12.117", "x86-64 ram=16G cpus=2", "", GIB16),
    ("6.1.192", PC, "hashdist=1", HUGE),
    ("6.12.117", PC, "hashdist=1", HUGE),
    ("6.1.192", "x86-64 ram=16G cpus=2", "hashdist=1", GIB16_HUGEST),
    ("6.1.192", PC2, "", SPREAD),
    ("6.12.117", PC2, "", SPREAD),
    ("6.1.192", PC2, "hashdist=0", LINEAR),
    ("6.12.117", PC2, "hashdist=1 hashdist=0", LINEAR),
    ("6.1.192", BIG2, "", GIB16_HUGE),
    ("6.12.117", BIG2, "", GIB16_HUGE),
    ("6.1.192", BIG2, "nohugevmalloc", GIB16_SPREAD),
    ("6.12.117", BIG2, "nohugevmalloc", GIB16_SPREAD),
    ("6.12.117", BIG2, "nohugeiomap", GIB16_HUGE),
    ("6.1.192", BIG2, "numa=off", GIB16),
    ("6.1.192", PC4, "", SPREAD.replace("F512", "F1024")),
    ("6.12.117", PC, "numa=fake=4", SPREAD),
    ("6.1.192", "x86-64 ram=16G cpus=2", "numa=fake=4", GIB16_HUGE),
    ("6.1.192", BARE, "", LINEAR),
    ("6.1.192", BARE, "hashdist=1", SPREAD),
    ("6.12.117", BARE, "hashdist=1", SPREAD),
    ("6.1.192", PC + " possible-nodes=2", "hashdist=1", HUGE),
    ("6.1.192", "x86-64 ram=2G cpus=8", "nr_cpus=1", LINEAR.replace("F512", "F256")),
    ("6.1.192", "x86-64 ram=2G cpus=3", "", LINEAR.replace("F512", "F1024")),
    ("6.1.192", PC, "mem=1G", GIB1),
    ("6.1.192", PC2, "mem=1000M", GIB1),
    ("6.1.192", "x86-64 ram=1100M cpus=2", "crashkernel=256M", LINEAR),
    ("6.1.192", "x86-64 ram=1100M cpus=2", "", LINEAR),
    ("6.12.117", "x86-64 ram=1100M cpus=2", "", LINEAR),
    ("6.12.117", "x86-64 ram=1100M cpus=2", "crashkernel=256M", GIB1),
    ("6.1.192", "x86-64 ram=3G cpus=2", "hugepagesz=1G hugepages=1",
     "D524288l I262144l M8192l P8192l F512l G65536l L2048l X65536l E32768l B32768l K4096l "
     "U2048l V2048l"),
    ("6.1.192", "x86-64 ram=66G cpus=2", "",
     "D8388608l I4194304l M131072l P131072l F512l G262144l L65536l X65536l E524288l B65536l "
     "K65536l U65536l V65536l"),
    ("6.1.192", "x86-64 ram=140G cpus=2", "",
     "D16777216l I8388608l M262144l P262144l F512l G262144l L65536l X65536l E524288l B65536l "
     "K65536l U65536l V65536l"),
    ("6.1.192", PC, "dhash_entries=1 ihash_entries=1 mhash_entries=1 mphash_entries=3",
     LINEAR.replace("D262144l I131072l M4096l P4096l", "D2l I1l M1l P4l")),
    ("6.1.192", PC,
     "dhash_entries=100000 ihash_entries=0x1000 mhash_entries=garbage mphash_entries=010",
     LINEAR.replace("D262144l I131072l M4096l P4096l", "D131072l I4096l M4096l P8l")),
    ("6.1.192", PC, "dhash_entries=999999999 ihash_entries=99999999999 mhash_entries=1048576",
     LINEAR.replace("D262144l I131072l M4096l", "D8388608l I8388608l M1048576h")),
    ("6.1.192", PC2, "dhash_entries=999999999 ihash_entries=1",
     SPREAD.replace("D262144v I131072v", "D8388608h I1v")),
    ("6.12.117", PC, "thash_entries=1 uhash_entries=1",
     LINEAR.replace("L1024", "L1").replace("E16384l B16384l", "E1l B1l").replace("1024l V1024",
                                                                               "256l V256")),
    ("6.1.192", PC, "thash_entries=100000 uhash_entries=100",
     LINEAR.replace("L1024", "L65536").replace("E16384l B16384l", "E131072l B65536l")
     .replace("1024l V1024", "256l V256")),
    ("6.1.192", PC, "thash_entries=4194304 uhash_entries=100000",
     LINEAR.replace("L1024", "L65536").replace("E16384l B16384l", "E4194304h B65536l")
     .replace("1024l V1024", "65536l V65536")),
    ("6.1.192", PC, "thash_entries=abc uhash_entries=abc", LINEAR),
    ("6.1.192", ARM, "", LINEAR),
    ("6.12.117", ARM, "hashdist=1", HUGE),
    ("6.1.192", "arm64 node:0=8G node:1=8G cpus=2", "", GIB16_HUGE),
    ("6.12.117", "arm64 ram=1100M cpus=2", "crashkernel=256M", LINEAR),
    ("6.1.192", ARM, "numa=fake=4", LINEAR),
    ("6.12.117", ARM16K, "", LINEAR),
    ("6.12.117", ARM16K, "hashdist=1", SPREAD),
    ("6.12.117", "arm64 node:0=8G node:1=8G cpus=2 page=16K", "", GIB16_SPREAD),
    ("6.1.170", "i386 ram=512M cpus=2", "",
     MIB512.replace("L256", "L512")),
    ("6.1.170", "i386 ram=2G cpus=2 highmem=1166M", "", GIB1),
    ("6.1.170", "i386 ram=2G cpus=2 highmem=1166M", "hashdist=1", GIB1),
    ("6.1.170", "i386 ram=3G cpus=2 highmem=2190M", "", GIB1),
    ("6.1.170", "ppc64 ram=2G cpus=2", "",
     "D262144l I131072l M8192l P8192l F512l G32768l L4096l X65536l E16384l B16384l K4096l U2048l "
     "V2048l"),
    ("6.1.170", "ppc64 node:0=8G node:1=8G cpus=2", "",
     "D2097152h I1048576h M32768v P32768v F512v G262144v L8192v X65536v E131072v B65536v K16384v "
     "U8192v V8192v"),
    ("6.1.170", "ppc64 ram=2G cpus=2", "hashdist=1",
     "D262144h I131072v M8192v P8192v F512v G32768v L4096v X65536v E16384v B16384v K4096v U2048v "
     "V2048v"),
    ("6.1.170", "ppc64 ram=1280M cpus=2", "crashkernel=512M",
     "D262144l I131072l M8192l P8192l F512l G32768l L4096l X65536l E16384l B16384l K4096l U2048l "
     "V2048l"),
)  # fmt: skip

ON_A_BORDER = (
    ("6.12.117", "x86-64 ram=1100M cpus=2", ""),
    ("6.12.117", "arm64 ram=1100M cpus=2", "crashkernel=256M"),
)


def lines_of(short, machine):
    """The kernel's lines for the short form: orders rounded up, as all of these kernels print."""
    buckets = BUCKETS_I386 if machine.startswith("i386") else BUCKETS
    page = 16384 if "page=16K" in machine else 4096
    if machine.startswith("ppc64"):
        buckets, page = BUCKETS_PPC, 65536
    for word in short.split():
        entries, size = int(word[1:-1]), int(word[1:-1]) * buckets[word[0]]
        order = next(order for order in itertools.count() if page << order >= size)
        yield (
            f"{NAMES[word[0]]} hash table entries: {entries} "
            f"(order: {order}, {size} bytes, {KIND[word[-1]]})"
        )


class Plan(support.Case):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="hashdist-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def file(self, name, text):
        path = self.place / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def made(self, machine, kernel, *words):
        """A plan as JSON."""
        result = plan("--machine", machine, "--kernel", kernel, "--json", *words)
        self.assert_status(result, 0)
        self.assert_quiet(result)
        return json.loads(result.out)

    def rows(self, machine, kernel, cmdline="", *words):
        found = self.made(machine, kernel, "--cmdline", cmdline, *words)["tables"]
        return {row["table"]: row for row in found}

    def refused(self, result, *words):
        self.assert_status(result, 2)
        self.assertEqual(result.out, "", result)
        self.assert_one_line(result, *words)

    def failed(self, result, *words):
        self.assert_status(result, 1)
        self.assertEqual(result.out, "", result)
        self.assert_one_line(result, *words)


class Lines(Plan):
    def test_are_the_kernels_own_verbatim(self):
        result = plan("--machine", PC, "--kernel", "6.1.192")
        self.assert_status(result, 0)
        self.assert_quiet(result)
        self.assertEqual(
            result.out,
            "Dentry cache hash table entries: 262144 (order: 9, 2097152 bytes, linear)\n"
            "Inode-cache hash table entries: 131072 (order: 8, 1048576 bytes, linear)\n"
            "Mount-cache hash table entries: 4096 (order: 3, 32768 bytes, linear)\n"
            "Mountpoint-cache hash table entries: 4096 (order: 3, 32768 bytes, linear)\n"
            "futex hash table entries: 512 (order: 3, 32768 bytes, linear)\n"
            "IP idents hash table entries: 32768 (order: 6, 262144 bytes, linear)\n"
            "tcp_listen_portaddr_hash hash table entries: 1024 (order: 2, 16384 bytes, linear)\n"
            "Table-perturb hash table entries: 65536 (order: 6, 262144 bytes, linear)\n"
            "TCP established hash table entries: 16384 (order: 5, 131072 bytes, linear)\n"
            "TCP bind hash table entries: 16384 (order: 7, 524288 bytes, linear)\n"
            "MPTCP token hash table entries: 2048 (order: 4, 49152 bytes, linear)\n"
            "UDP hash table entries: 1024 (order: 3, 32768 bytes, linear)\n"
            "UDP-Lite hash table entries: 1024 (order: 3, 32768 bytes, linear)\n",
        )

    def test_are_those_of_every_emulated_boot(self):
        for kernel, machine, cmdline, short in BOOTS:
            with self.subTest(kernel=kernel, machine=machine, cmdline=cmdline):
                result = plan("-m", machine, "-k", kernel, "-c", cmdline)
                self.assert_status(result, 0)
                text, *rest = result.out.rstrip("\n").split("\n\n")
                planned = text.split("\n")
                # 1100 MiB lie on a border from 6.10 on: the other end was printed.
                self.assertEqual(len(rest), (kernel, machine, cmdline) in ON_A_BORDER)
                if rest:
                    planned = re.sub(r"(?m)^.*\n  or (.*)$", r"\1", text).split("\n")
                self.assertEqual(planned, list(lines_of(short, machine)))

    def test_of_a_count_near_a_border_are_followed_by_the_other_end_and_the_range(self):
        # 1086 and 1092 MiB lie on either side; real kernels flipped between 279132 and 279136
        # pages of memory, which is inside.
        result = plan("-m", "x86-64 ram=1090M cpus=2", "-k", "6.12.117")
        self.assert_status(result, 0)
        lines = result.out.splitlines()
        low = list(lines_of(GIB1, "x86-64"))
        high = list(lines_of(LINEAR, "x86-64"))
        wanted = []
        for one, other in zip(low, high):
            wanted += [one] if one == other else [one, f"  or {other}"]
        self.assertEqual(lines[:-2], wanted)
        match = re.fullmatch(
            r"The kernel will count between (\d+) and (\d+) pages, and a border lies between "
            r"them\.",
            lines[-1],
        )
        self.assertTrue(match, result)
        self.assertLess(int(match[1]), 262144)
        self.assertGreater(int(match[2]), 262144)

    def test_away_from_a_border_have_no_other_end(self):
        for machine in (PC, BIG2, "x86-64 ram=48G cpus=8"):
            for kernel in ("6.1", "6.12", "7.1"):
                self.assertNotIn("  or ", plan("-m", machine, "-k", kernel).out)

    def test_order_below_one_page_is_negative_where_kernels_printed_it_so(self):
        result = plan("-m", "arm64 ram=2G page=64K", "-k", "4.4")
        self.assertIn("PID hash table entries: 4096 (order: -1, 32768 bytes)\n", result.out)

    def test_order_is_rounded_up_from_6_18_and_from_the_stable_releases_that_took_it(self):
        for kernel, order in (
            ("5.10.246", 3), ("5.10.247", 4), ("5.15.196", 3), ("5.15.197", 4),
            ("6.1.158", 3), ("6.1.159", 4), ("6.6.116", 3), ("6.6.117", 4),
            ("6.12.58", 3), ("6.12.59", 4), ("6.16", 3), ("6.17.8", 3), ("6.17.9", 4),
            ("6.18", 4), ("7.1", 4),
        ):  # fmt: skip
            with self.subTest(kernel=kernel):
                self.assertIn(
                    f"MPTCP token hash table entries: 2048 (order: {order}, 49152 bytes, linear)",
                    plan("-m", PC, "-k", kernel).out,
                )


class Hashdist(Plan):
    """hashdist=TEXT, on two nodes and on one."""

    def value(self, machine, kernel, cmdline):
        found = self.made(machine, kernel, "--cmdline", cmdline)
        kinds = {row["mapping"] == "linear" for row in found["tables"] if row["table"] != "pid"}
        self.assertEqual(kinds, {not found["hashdist"]["value"]})
        return found["hashdist"]["value"]

    def check(self, kernels, on, off, ignored):
        for kernel in kernels:
            for text, value in [(t, True) for t in on] + [(t, False) for t in off]:
                for machine in (PC, PC2):
                    with self.subTest(kernel=kernel, text=text, machine=machine):
                        self.assertIs(self.value(machine, kernel, text), value)
            for text in ignored:
                with self.subTest(kernel=kernel, ignored=text):
                    self.assertIs(self.value(PC, kernel, text), False)
                    self.assertIs(self.value(PC2, kernel, text), True)

    def test_was_a_number_up_to_6_19(self):
        self.check(
            ("5.3", "6.1", "6.19"),
            on=("hashdist=1", "hashdist=2", "hashdist=7", "hashdist=0x10", "hashdist=010",
                "hashdist=1garbage", "hashdist=0 hashdist=1"),
            off=("hashdist=0", "hashdist=foo", "hashdist=y", "hashdist=on", "hashdist=yes",
                 "hashdist=t", "hashdist=e", "hashdist=n", "hashdist=off", "hashdist=no",
                 "hashdist=d", "hashdist=bar", "hashdist=x", "hashdist=-1", "hashdist=",
                 "hashdist=1 hashdist=0"),
            ignored=("", "hashdist"),
        )  # fmt: skip

    def test_is_a_word_from_7_0_on(self):
        self.check(
            ("7.0", "7.1", "7.2"),
            on=("hashdist=1", "hashdist=y", "hashdist=on", "hashdist=yes", "hashdist=t",
                "hashdist=e", "hashdist=1garbage", "hashdist=0 hashdist=1"),
            off=("hashdist=0", "hashdist=foo", "hashdist=n", "hashdist=off", "hashdist=no",
                 "hashdist=d", "hashdist=0x10", "hashdist=010", "hashdist=1 hashdist=0"),
            ignored=("", "hashdist", "hashdist=2", "hashdist=7", "hashdist=bar", "hashdist=x",
                     "hashdist=-1", "hashdist="),
        )  # fmt: skip

    def test_is_not_cleared_on_one_node_before_5_3(self):
        for kernel, value in (("3.10", True), ("4.19", True), ("5.2", True), ("5.3", False)):
            self.assertIs(self.value(PC, kernel, ""), value, kernel)

    def test_behind_the_double_dash_is_not_the_kernels(self):
        self.assertIs(self.value(PC2, "6.1", "quiet -- hashdist=0"), True)
        self.assertIs(self.value(PC2, "6.1", "quiet hashdist=0 -- x"), False)

    def test_does_nothing_where_the_kernel_has_no_nodes(self):
        found = self.made("i386 ram=512M", "6.1", "--cmdline", "hashdist=1")
        self.assertIs(found["hashdist"]["value"], False)
        self.assertIn("no NUMA", found["hashdist"]["reason"])

    def test_reason_says_what_decided(self):
        for machine, cmdline, word in (
            (PC, "", "only one node"),
            (PC2, "", "default"),
            (PC2, "hashdist=0", "command line"),
        ):
            found = self.made(machine, "6.1", "--cmdline", cmdline)
            self.assertIn(word, found["hashdist"]["reason"])


class Nodes(Plan):
    def shares(self, machine, kernel, cmdline=""):
        return {key: row["node_bytes"] for key, row in self.rows(machine, kernel, cmdline).items()}

    def test_share_a_table_evenly_when_it_is_distributed(self):
        # 16 GiB: pages of Dentry 4096 = 2048 + 2048, of Inode 2048 = 1024 + 1024.
        for kernel in ("6.1", "6.12"):
            shares = self.shares(BIG2, kernel)
            self.assertEqual(shares["dentry"], {"0": 8 << 20, "1": 8 << 20})
            self.assertEqual(shares["inode"], {"0": 4 << 20, "1": 4 << 20})
            self.assertEqual(shares["ip-idents"], {"0": 1 << 20, "1": 1 << 20})
        self.assertEqual(set(self.shares(PC4, "6.1")["dentry"].values()), {512 << 10})

    def test_without_memory_hold_nothing(self):
        self.assertEqual(self.shares(BARE, "6.1", "hashdist=1")["dentry"], {"0": 2 << 20, "1": 0})

    def test_hold_a_whole_table_each_when_it_is_not_distributed(self):
        for key, share in self.shares(BIG2, "6.1", "hashdist=0").items():
            self.assertEqual(len([b for b in share.values() if b]), 1, key)

    def test_get_whole_chunks_from_6_19_on(self):
        # Two nodes of 1 GiB: Dentry 512 pages on one node, Inode 256 on one.
        for kernel, holding in (("6.18", 2), ("6.19", 1), ("7.2", 1)):
            share = self.shares(PC2, kernel)["inode"]
            self.assertEqual(len([b for b in share.values() if b]), holding, kernel)
        # Two of 4 GiB: Dentry 1024 + 1024 pages, Inode 1024 on one.
        shares = self.shares("x86-64 node:0=4G node:1=4G cpus=2", "7.2")
        self.assertEqual(sorted(shares["dentry"].values()), [4 << 20, 4 << 20])
        self.assertEqual(sorted(shares["inode"].values()), [0, 4 << 20])

    def test_keep_their_numbers(self):
        found = self.made("x86-64 node:2=1G node:7=1G", "6.1")
        self.assertEqual(list(found["tables"][0]["node_bytes"]), ["2", "7"])
        self.assertEqual((found["memory_nodes"], found["online_nodes"]), (2, 2))

    def test_are_counted_as_the_kernel_does(self):
        for machine, cmdline, memory, online in (
            (PC, "", 1, 1),
            (PC2, "", 2, 2),
            (BARE, "", 1, 2),
            (PC2, "numa=off", 1, 1),
            (PC, "numa=fake=4", 4, 4),
            (PC2, "mem=1000M", 1, 2),
            (PC + " possible-nodes=4", "", 1, 1),
        ):
            with self.subTest(machine=machine, cmdline=cmdline):
                found = self.made(machine, "6.1", "--cmdline", cmdline)
                self.assertEqual((found["memory_nodes"], found["online_nodes"]), (memory, online))

    def test_divide_a_table_before_it_is_compared_with_the_huge_page_up_to_6_12(self):
        for kernel, mapping in (
            ("5.17", "vmalloc"),
            ("5.18", "vmalloc"),
            ("6.12", "vmalloc"),
            ("6.13", "vmalloc hugepage"),
            ("7.2", "vmalloc hugepage"),
        ):
            self.assertEqual(self.rows(PC2, kernel)["dentry"]["mapping"], mapping, kernel)


NETWORK = dict(zip(("tcp-established", "tcp-bind", "udp", "udp-lite"), (8, 16, 32, 32)))
FILES = {"dentry": 8, "inode": 8}
MOUNTS = {"mount": 8, "mountpoint": 8}
V4_4 = {"pid": 8, **FILES, **MOUNTS, "futex": 64, **NETWORK}
V4_19 = {**{k: v for k, v in V4_4.items() if k != "pid"}, "tcp-listen": 16}
V5_10 = {**V4_19, "mptcp-token": 24}
V5_14 = {**V5_10, "ip-idents": 8}
V6_1 = {**V5_14, "table-perturb": 4, "tcp-bind": 32}
V6_13 = {**V6_1, "udp": 64, "udp-lite": 64}
V6_18 = {**{k: v for k, v in V6_13.items() if k != "futex"}, "posixtimers": 16}
V7_2 = {k: v for k, v in V6_18.items() if k != "udp-lite"}

# Tables of x86-64 without lock debugging, and their bucket, by release.
VERSIONS = {
    "3.10": {"pid": 8, **FILES, **NETWORK, "tcp-established": 16},
    "4.4": V4_4,
    "4.19": V4_19,
    "5.2": V4_19,
    "5.4": V4_19,
    "5.4.214": {**V4_19, "ip-idents": 8},
    "5.10": V5_10,
    "5.10.262": {**V5_10, "ip-idents": 8},
    "5.14": V5_14,
    "5.15.100": {**V5_14, "table-perturb": 4},
    "5.18": V5_14,
    "5.19": {**V5_14, "table-perturb": 4},
    "6.1": V6_1,
    "6.6": V6_1,
    "6.12": V6_1,
    "6.13": V6_13,
    "6.14": V6_13,
    "6.18": V6_18,
    "7.0": V6_18,
    "7.1": V7_2,
    "7.2": V7_2,
}


class Versions(Plan):
    def test_have_their_tables_with_their_buckets(self):
        for kernel, wanted in VERSIONS.items():
            with self.subTest(kernel=kernel):
                found = self.rows(PC, kernel)
                buckets = {key: row["bytes"] / row["entries"] for key, row in found.items()}
                self.assertEqual(buckets, wanted)

    def test_2_6_32_has_the_tables_of_its_time(self):
        found = self.rows(PC, "2.6.32")
        for key in ("pid", "dentry", "inode", "ip-route", "tcp-established", "tcp-bind"):
            self.assertIn(key, found)
        for key in ("mount", "mountpoint", "futex", "tcp-listen", "ip-idents", "mptcp-token",
                    "udp", "udp-lite"):  # fmt: skip
            self.assertNotIn(key, found)
        self.assertIn("udp", self.rows(PC, "2.6.35"))
        # One entry for 2^13 bytes from 512 MiB on; the scale of later kernels is 17.
        self.assertEqual(found["tcp-established"]["entries"], 262144)
        self.assertEqual(found["ip-route"]["entries"], 65536)
        self.assertEqual(found["pid"]["entries"], 4096)

    def test_print_the_words_of_their_time(self):
        for kernel, ending in (
            ("2.6.32", " bytes)"),
            ("4.19", " bytes)"),
            ("5.2", " bytes)"),
            ("5.3", " bytes, linear)"),
            ("5.12", " bytes, linear)"),
            ("7.2", " bytes, linear)"),
        ):
            for line in plan("-m", PC, "-k", kernel).out.splitlines():
                self.assertTrue(line.endswith(ending), f"{kernel}: {line}")

    def test_map_large_tables_by_huge_pages_from_the_release_of_their_architecture_on(self):
        for machine, before, since in (
            ("x86-64 node:0=8G node:1=8G", "5.17", "5.18"),
            ("arm64 node:0=8G node:1=8G", "6.0", "6.1"),
            ("ppc64 node:0=8G node:1=8G", "5.12", "5.13"),
            ("riscv64 node:0=8G node:1=8G", "6.1", "6.2"),
        ):
            with self.subTest(machine=machine):
                self.assertEqual(self.rows(machine, before)["dentry"]["mapping"], "vmalloc")
                found = self.rows(machine, since)["dentry"]["mapping"]
                self.assertEqual(found, "vmalloc hugepage")
        for kernel in ("5.18", "7.1"):
            found = self.rows("s390x node:0=8G node:1=8G", kernel)["dentry"]["mapping"]
            self.assertEqual(found, "vmalloc")

    def test_arm64_maps_pieces_of_64k_and_more_as_huge_from_6_16_on(self):
        machine = "arm64 node:0=1G node:1=1G cpus=2"
        self.assertEqual(self.rows(machine, "6.14")["tcp-established"]["mapping"], "vmalloc")
        self.assertEqual(
            self.rows(machine, "6.17")["tcp-established"]["mapping"], "vmalloc hugepage"
        )
        # A real machine with pages of 16K: 8 and 4 MiB are, 128 KiB is not.
        found = self.rows("arm64 node:0=4G node:1=4G page=16K", "6.17")
        self.assertEqual(found["dentry"]["mapping"], "vmalloc hugepage")
        self.assertEqual(found["inode"]["mapping"], "vmalloc hugepage")
        self.assertEqual(found["mount"]["mapping"], "vmalloc")

    def test_before_5_3_halved_what_the_page_allocator_could_not_give(self):
        machine = "x86-64 ram=4T"
        for kernel, entries, mapping in (("5.2", 524288, "linear"), ("5.3", 1048576, "vmalloc")):
            row = self.rows(machine, kernel, "hashdist=0")["mount"]
            self.assertEqual((row["entries"], row["mapping"]), (entries, mapping), kernel)
        self.assertEqual(self.rows(machine, "5.2", "hashdist=0")["mount"]["halvings"], 1)
        self.assertEqual(self.rows(machine, "5.3", "hashdist=0")["mount"]["halvings"], 0)

    def test_scale_with_memory_from_4_13_on(self):
        # 140 GiB gave Dentry 16777216 where the rule of 4.12 gives twice that.
        machine = "x86-64 ram=140G cpus=2"
        self.assertEqual(self.rows(machine, "4.12")["dentry"]["entries"], 33554432)
        self.assertEqual(self.rows(machine, "4.13")["dentry"]["entries"], 16777216)
        self.assertEqual(self.rows(machine, "6.12")["dentry"]["entries"], 16777216)

    def test_dentry_has_two_entries_at_least_in_late_ones(self):
        for kernel, entries in (("6.1.100", 1), ("6.1.192", 2), ("6.12.117", 2), ("7.0", 1),
                                ("7.1", 2)):  # fmt: skip
            row = self.rows(PC, kernel, "dhash_entries=1")["dentry"]
            self.assertEqual((row["entries"], row["bytes"]), (entries, 8 * entries), kernel)

    def test_take_numbers_strictly_from_7_0_on(self):
        for kernel, entries in (("6.19", 128), ("7.0", 262144)):
            row = self.rows(PC, kernel, "dhash_entries=100k")["dentry"]
            self.assertEqual(row["entries"], entries, kernel)
        for kernel in ("6.1", "7.0"):
            row = self.rows(PC, kernel, "thash_entries=100k")["tcp-established"]
            self.assertEqual(row["entries"], 16384, kernel)

    def test_posixtimers_and_futex_follow_the_processors(self):
        for cpus, timers in ((1, 512), (2, 1024), (3, 2048), (96, 65536)):
            found = self.rows(f"x86-64 ram=64G cpus={cpus}", "6.18")
            self.assertEqual(found["posixtimers"]["entries"], timers)
        for cpus, futexes in ((1, 256), (3, 1024), (96, 32768)):
            found = self.rows(f"x86-64 ram=64G cpus={cpus}", "6.12")
            self.assertEqual(found["futex"]["entries"], futexes)

    def test_crashkernel_counts_from_6_10_on_and_on_arm64_from_7_0_on(self):
        pc, arm = "x86-64 ram=1160M cpus=2", "arm64 ram=1160M cpus=2"
        for machine, kernel, counts in (
            (pc, "6.1", False), (pc, "6.9", False), (pc, "6.10", True), (pc, "6.12", True),
            (arm, "6.1", False), (arm, "6.12", False), (arm, "6.19", False), (arm, "7.0", True),
        ):  # fmt: skip
            with self.subTest(machine=machine, kernel=kernel):
                rows = self.rows(machine, kernel, "crashkernel=256M")
                self.assertEqual(rows["dentry"]["entries"], 131072 if counts else 262144)

    def test_reserved_memory_counts_as_a_crash_kernel_does(self):
        for kernel, entries in (("6.1", 262144), ("6.12", 131072)):
            row = self.rows("x86-64 ram=1160M cpus=2 reserved=256M", kernel)["dentry"]
            self.assertEqual(row["entries"], entries)


class LargeMachines(Plan):
    def test_4_tebibytes(self):
        """Dentry: 2^32 bytes / 2^12, less the memory map, above 1 TiB: one for 2^16 bytes."""
        found = self.rows("x86-64 ram=4T cpus=512", "6.12")
        for key, entries, size, mapping in (
            ("dentry", 1 << 26, 512 << 20, "linear"),
            ("inode", 1 << 25, 256 << 20, "linear"),
            ("mount", 1 << 20, 8 << 20, "vmalloc hugepage"),
            ("futex", 1 << 17, 8 << 20, "vmalloc hugepage"),
            ("tcp-established", 524288, 4 << 20, "linear"),
            ("udp", 65536, 2 << 20, "linear"),
        ):
            row = found[key]
            self.assertEqual((row["entries"], row["bytes"], row["mapping"]),
                             (entries, size, mapping), key)  # fmt: skip

    def test_64_tebibytes_on_eight_nodes(self):
        """Above 16 TiB: one dentry bucket for 2^18 bytes."""
        nodes = " ".join(f"node:{n}=8T" for n in range(8))
        found = self.rows(f"x86-64 {nodes} cpus=1024", "6.12")
        self.assertEqual(found["dentry"]["entries"], 1 << 28)
        self.assertEqual(found["dentry"]["mapping"], "vmalloc hugepage")
        self.assertEqual(set(found["dentry"]["node_bytes"].values()), {256 << 20})
        self.assertEqual(found["dentry"]["translations_by_bytes"], {"2097152": 1024})
        self.assertEqual(found["mount"]["entries"], 1 << 22)
        self.assertEqual(found["tcp-established"]["mapping"], "vmalloc")
        self.assertEqual(found["tcp-established"]["entries"], 524288)

    def test_entries_asked_for_are_halved_until_they_fit(self):
        # A sixteenth of memory is the limit of thash_entries=; it does not fit beside the others
        # on a node, or does: never more than the limit, and never no table.
        row = self.rows(PC, "6.1", "thash_entries=999999999")["tcp-established"]
        self.assertEqual(row["entries"], 8388608)
        self.assertFalse(row["failed"])


# ---- descriptions and usage -------------------------------------------------------------------

ITEMS = "node:ID=SIZE"
WRONG = (  # description, column, what was expected
    ("", 1, "an architecture"),
    ("x86", 1, "an architecture"),
    ("  pdp11 ram=8G", 3, "an architecture"),
    ("x86-64", 7, "a node with memory"),
    ("x86-64 ram=0", 13, "a node with memory"),
    ("x86-64 ram=8G nodde:1=8G", 15, ITEMS),
    ("x86-64 8G", 8, ITEMS),
    ("x86-64 ram=", 12, "a size"),
    ("x86-64 ram=G", 12, "a size"),
    ("x86-64 ram=-1", 12, "a size"),
    ("x86-64 ram=8Q", 13, "K, M, G, T or P"),
    ("x86-64 ram=8GB", 14, "a blank"),
    ("x86-64 ram=8G,cpus=2", 14, "a blank"),
    ("x86-64 ram=9000P", 12, "a size below 8 EiB"),
    ("x86-64 ram=99999999999999999999999", 12, "a smaller number"),
    ("x86-64 ram=8G ram=8G", 15, "each node once"),
    ("x86-64 node:1=1G node:1=1G", 18, "each node once"),
    ("x86-64 node:=1G", 13, "a node's number"),
    ("x86-64 node:4096=1G", 13, "a node's number"),
    ("x86-64 node:0", 14, "'=' and the node's memory"),
    ("x86-64 node:0=1G/cpu", 17, "'/nocpu' or a blank"),
    ("x86-64 node:0=1G/nocpus", 17, "'/nocpu' or a blank"),
    ("x86-64 ram=8G cpus=0", 20, "a number from 1 to 65536"),
    ("x86-64 ram=8G cpus=65537", 20, "a number from 1 to 65536"),
    ("x86-64 ram=8G possible-nodes=0", 30, "a number from 1 to 4096"),
    ("arm64 ram=8G page=3K", 19, "a page size"),
    ("arm64 ram=8G page=2M", 19, "a page size"),
    ("i386 ram=1G highmem=1G", 23, "more memory than highmem="),
    ("x86-64 ram=1G reserved=2G", 26, "more memory than highmem= and reserved="),
    ("x86-64 ram=8G emulation", 15, ITEMS),
    ("x86-64 ram=8G emulatedd", 23, "a blank"),
)


class Descriptions(Plan):
    def test_that_cannot_be_read_are_refused_with_a_mark_under_the_place(self):
        for text, column, wanted in WRONG:
            with self.subTest(text=text):
                result = plan("--machine", text, "--kernel", "6.1")
                self.assert_status(result, 2)
                self.assertEqual(result.out, "")
                message, shown, mark = result.err.splitlines()
                self.assertTrue(
                    message.startswith(f"hashdist: --machine: column {column}: expected {wanted}"),
                    result,
                )
                self.assertEqual(shown, f"  {text}")
                self.assertEqual(mark, " " * (2 + column - 1) + "^")

    def test_take_their_items_in_any_order(self):
        items = ("node:0=1G", "node:1=1G", "cpus=2")
        wanted = plan("-m", PC2, "-k", "6.1").out
        for order in itertools.permutations(items):
            self.assertEqual(plan("-m", "x86-64 " + " ".join(order), "-k", "6.1").out, wanted)
        self.assertEqual(plan("-m", f"\t x86-64\t\t{'  '.join(items)} ", "-k", "6.1").out, wanted)

    def test_take_each_unit(self):
        for size in ("2g", "2048M", "2097152K", "2147483648", "2G"):
            self.assertEqual(
                plan("-m", f"x86-64 ram={size} cpus=2", "-k", "6.1").out,
                plan("-m", PC, "-k", "6.1").out,
            )

    def test_are_printed_so_that_they_can_be_read_again(self):
        for text in (
            PC, PC2, PC4, BARE, ARM16K,
            "x86-64 node:0=8G/nocpu node:3=12345K cpus=64 possible-nodes=8",
            "i386 ram=3G highmem=2190M reserved=64M",
            "arm64 node:0=1G node:1=1G page=16K emulated",
            "ppc64 ram=1P cpus=65536",
        ):  # fmt: skip
            with self.subTest(text=text):
                result = plan("--machine", text, "--describe")
                self.assert_status(result, 0)
                again = plan("--machine", result.out.rstrip("\n"), "--describe")
                self.assertEqual(again.out, result.out)
                for kernel in ("6.1", "7.1"):
                    self.assertEqual(
                        plan("-m", result.out.rstrip("\n"), "-k", kernel, "--json").out,
                        plan("-m", text, "-k", kernel, "--json").out,
                    )

    def test_of_this_machine_make_the_same_plan_again(self):
        result = plan("--describe")
        self.assert_status(result, 0)
        text = result.out.rstrip("\n")
        again = plan("--machine", text, "--describe")
        self.assertEqual(again.out.rstrip("\n"), text)

    def test_of_many_nodes_are_whole(self):
        text = "x86-64 " + " ".join(f"node:{n}=1234567K" for n in range(1000)) + " cpus=1"
        self.assertEqual(plan("--machine", text, "--describe").out, text + "\n")
        self.assertEqual(self.made(text, "6.1")["machine"], text)

    def test_of_a_log_can_be_printed_and_read_again(self):
        log = self.file("log", Machine("6.1.0-44-amd64", nodes=[8192, 4096]).log_text())
        result = plan("--log", log, "--describe")
        self.assert_status(result, 0)
        text = result.out.rstrip("\n")
        self.assertRegex(text, r"^x86-64 node:0=8G node:1=4G cpus=4\b")
        self.assertEqual(plan("--machine", text, "--describe").out, result.out)

    def test_are_in_the_json_too(self):
        self.assertEqual(self.made(PC2, "6.1")["machine"], PC2)


class Usage(Plan):
    def test_several_sources_at_once_are_refused(self):
        sources = (("--machine", PC), ("--sysroot", "/"), ("--log", "/dev/null"))
        for count in (2, 3):
            for some in itertools.combinations(sources, count):
                self.refused(plan(*sum(some, ()), "-k", "6.1"), "--machine", "exclude")

    def test_machine_without_a_kernel_is_refused_with_the_way_out(self):
        result = plan("--machine", PC)
        self.refused(result, "--machine", "kernel")
        self.assertRegex(result.err, r"\n  try +--kernel VERSION\n")

    def test_bad_kernel_is_refused(self):
        for text in ("foo", "6", "", "v6.1", "-1.2", ".1", "6."):
            with self.subTest(text=text):
                self.refused(plan("-m", PC, f"--kernel={text}"), "--kernel", f"'{text}'")

    def test_release_may_have_a_tail(self):
        wanted = plan("-m", PC, "-k", "6.1.170").out
        self.assertEqual(plan("-m", PC, "-k", "6.1.170-amd64").out, wanted)

    def test_word_without_an_option_is_refused(self):
        for word in ("x86-64", "help", ""):
            self.refused(plan(word), word)

    def test_missing_value_is_refused(self):
        for word in ("--machine", "-m", "--kernel", "-k", "--cmdline", "-c", "--add", "-a",
                     "--rule", "--rules", "--compare", "--check", "--log", "-l", "--sysroot",
                     "-s"):  # fmt: skip
            self.refused(plan(word), word, "needs a value")

    def test_needless_value_is_refused(self):
        for word in ("--table=1", "--explain=", "--json=yes", "--early-all=no", "--describe="):
            self.refused(plan(word), word)

    def test_memory_that_the_command_line_takes_away_is_a_failure(self):
        self.failed(plan("-m", PC, "-k", "6.1", "-c", "mem=1"), "without memory")
        self.failed(plan("-m", PC, "-k", "6.1", "--compare", "mem=1"), "without memory")

    def test_files_that_cannot_be_read_are_a_failure_of_one_line(self):
        away = str(self.place / "away")
        empty = self.file("empty", "")
        for words in (
            ("--log", away),
            ("--log", empty),
            ("--sysroot", away),
            ("--sysroot", str(self.place)),
            ("-m", PC, "-k", "6.1", "--check", away),
            ("-m", PC, "-k", "6.1", "--check", empty),
            ("-m", PC, "-k", "6.1", "--check", str(self.place)),
        ):
            with self.subTest(words=words):
                self.failed(plan(*words), words[-1])

    def test_log_that_does_not_tell_enough_is_a_failure_that_says_what_lacks(self):
        log = self.file("log", "[    0.000000] Linux version 6.1.0 (x@y) #1 SMP\n")
        self.failed(plan("--log", log), "not known", "architecture")

    def test_json_of_nothing_is_not_printed(self):
        self.assertEqual(plan("--json", "--log", self.file("empty", "")).out, "")


class Rules(Plan):
    def dentry(self, *words, machine=BIG2):
        result = plan("-m", machine, "-k", "6.1", *words)
        self.assert_status(result, 0)
        return result.out.splitlines()[0].rsplit(", ", 1)[1].rstrip(")")

    def test_overrule_the_version(self):
        self.assertEqual(self.dentry(), "vmalloc hugepage")
        self.assertEqual(self.dentry("--rule", "huge-vmalloc=never"), "vmalloc")
        self.assertEqual(self.dentry("--rule", "hashdist-default=no"), "linear")
        self.assertEqual(self.dentry(machine=PC2), "vmalloc")
        self.assertEqual(self.dentry("--rule", "huge-vmalloc=whole", machine=PC2),
                         "vmalloc hugepage")  # fmt: skip

    def test_the_last_of_two_wins(self):
        words = ("--rule", "huge-vmalloc=never", "--rule", "huge-vmalloc=whole")
        self.assertEqual(self.dentry(*words), "vmalloc hugepage")

    def test_change_a_bucket(self):
        found = self.rows(PC, "6.1", "", "--rule", "spinlock-bytes=64")
        # Lock debugging: listen 72, bind 144, MPTCP 88, UDP 160, futex 128.
        for key, size in (("tcp-listen", 72), ("tcp-bind", 144), ("mptcp-token", 88),
                          ("udp", 160), ("futex", 128)):  # fmt: skip
            self.assertEqual(found[key]["bytes"] / found[key]["entries"], size, key)

    def test_that_are_none_are_refused_with_the_way_to_the_list(self):
        for rule in ("x=1", "deal", "deal=", "deal=cards", "top-order=many", "=", ""):
            result = plan("-m", PC, "-k", "6.1", "--rule", rule)
            self.refused(result, f"'{rule}'")
            self.assertRegex(result.err, r"\n  try +hashdist report --rule help\n")

    def test_more_than_fit_are_refused(self):
        self.refused(plan("-m", PC, "-k", "6.1", *["--rule", "deal=pages"] * 65), "64 rules")

    def test_come_from_a_file_with_comments_and_blank_lines(self):
        path = self.file(
            "rules",
            "# a vendor's kernel\n\n   \t\nhuge-vmalloc=never   # not built\n"
            "\thashdist-default=yes\r\n#deal=cards\n",
        )
        self.assertEqual(self.dentry("--rules", path), "vmalloc")
        last = self.file("last", "hashdist-default=no")  # no line end
        self.assertEqual(self.dentry("--rules", last), "linear")
        self.assertEqual(self.dentry("--rules", self.file("empty", "")), "vmalloc hugepage")

    def test_of_file_and_option_add_up_in_order(self):
        path = self.file("rules", "huge-vmalloc=never\n")
        self.assertEqual(self.dentry("--rules", path, "--rule", "huge-vmalloc=whole"),
                         "vmalloc hugepage")  # fmt: skip
        self.assertEqual(self.dentry("--rule", "huge-vmalloc=whole", "--rules", path), "vmalloc")

    def test_of_several_files_all_count(self):
        one = self.file("one", "hashdist-default=no\n")
        other = self.file("other", "huge-vmalloc=never\n")
        self.assertEqual(self.dentry("--rules", one, "--rules", other), "linear")
        self.assertEqual(self.dentry("--rules", other, "--rules", one), "linear")

    def test_file_that_is_missing_or_too_long_is_a_failure(self):
        away = str(self.place / "away")
        self.failed(plan("-m", PC, "-k", "6.1", "--rules", away), away, "No such file")
        long = self.file("long", "# a long comment\n" * 1000)
        self.failed(plan("-m", PC, "-k", "6.1", "--rules", long), long, "too long")
        self.failed(plan("-m", PC, "-k", "6.1", "--rules", str(self.place)), self.place)

    def test_file_with_a_bad_rule_is_refused_with_the_rule(self):
        for text in ("deal=pages\nfoo=1\n", "deal\n", "huge-vmalloc = never\n"):
            result = plan("-m", PC, "-k", "6.1", "--rules", self.file("bad", text))
            self.refused(result, "'" + text.splitlines()[-1].split()[0] + "'")


# ---- views --------------------------------------------------------------------------------------


class Walks(Plan):
    """An 8 MiB dentry table on a Kaby Lake, which holds 1,536 translations of 4K."""

    WORDS = ("-m", "x86-64 ram=4G", "-k", "6.1", "--tlb", "kaby-lake")
    LINEAR = ("-c", "dhash_entries=1048576 hashdist=0")
    SCATTERED = ("-c", "dhash_entries=1048576 hashdist=1 nohugevmalloc")

    def dentry(self, *words):
        plan_json = json.loads(plan("--json", *words).out)
        (table,) = [t for t in plan_json["tables"] if t["table"] == "dentry"]
        self.assertEqual(table["bytes"], 8 << 20)
        return plan_json["model_processor"], table["model_walks_per_lookup"]

    def test_are_a_quarter_of_the_lookups_on_4k_and_none_when_linear(self):
        processor, walks = self.dentry(*self.WORDS, *self.SCATTERED)
        self.assertEqual(processor, "kaby-lake")
        self.assertAlmostEqual(walks, 0.25, delta=0.015)
        self.assertEqual(self.dentry(*self.WORDS, *self.LINEAR), ("kaby-lake", 0.0))

    def test_are_the_same_every_time(self):
        words = (*self.WORDS, *self.SCATTERED)
        self.assertEqual(self.dentry(*words), self.dentry(*words))

    def test_are_in_the_table_with_whose_they_are(self):
        result = plan("--table", *self.WORDS, *self.SCATTERED)
        self.assert_status(result, 0)
        head, dentry = result.out.splitlines()[:2]
        self.assertEqual(head.split()[-1], "WALKS")
        self.assertEqual(dentry.split()[0], "dentry")
        self.assertAlmostEqual(float(dentry.split()[-1]), 0.25, delta=0.015)
        self.assertIn("model of Intel Skylake, Kaby Lake", result.out)

    def test_are_unknown_without_a_processor(self):
        self.assertEqual(self.dentry("-m", "x86-64 ram=4G", "-k", "6.1", *self.LINEAR), (None, None))

    def test_other_names_are_taken_and_unknown_ones_refused(self):
        self.assertEqual(
            self.dentry(*self.WORDS[:-1], "skylake", *self.LINEAR), ("kaby-lake", 0.0)
        )
        self.refused(plan(*self.WORDS[:-1], "pentium"), "'pentium'")

    def test_help_lists_the_processors(self):
        result = plan("--tlb", "help")
        self.assert_status(result, 0)
        self.assertIn("kaby-lake", result.out)
        self.assertIn("AMD Zen 5", result.out)


class Table(Plan):
    def cells(self, *words):
        """Rows below the head, split where the head's columns are; and what follows them."""
        result = plan("--table", *words)
        self.assert_status(result, 0)
        table, rest = result.out.split("\n\n", 1)
        head, *lines = table.split("\n")
        self.assertEqual(head.split(), "TABLE ENTRIES SIZE MAPPING PAGES NODES".split())
        # MAPPING starts where its head does; what is left of it ends with words.
        start, nodes = head.index("MAPPING"), head.index("NODES")
        rows = []
        for line in lines:
            left = line[:start].split()
            mapping, pages = re.fullmatch(
                r"((?:linear|vmalloc hugepage|vmalloc|none fits)(?:, early)?) +(\d.*\S|\?) *",
                line[start:nodes],
            ).groups()
            rows.append(
                (left[0], left[1], " ".join(left[2:]), mapping, pages, line[nodes:].strip())
            )
        return rows, rest

    def test_says_what_json_says(self):
        for words in (
            ("-m", PC, "-k", "6.1"),
            ("-m", BIG2, "-k", "6.12"),
            ("-m", PC4, "-k", "7.1"),
            ("-m", "arm64 node:0=8G node:1=8G page=16K", "-k", "6.18"),
            ("-m", PC, "-k", "6.1", "-c", "numa=fake=8"),
        ):
            with self.subTest(words=words):
                rows, _ = self.cells(*words)
                found = json.loads(plan("--json", *words).out)["tables"]
                self.assertEqual([row[0] for row in rows], [row["table"] for row in found])
                for cells, row in zip(rows, found):
                    self.check_row(cells, row)

    def check_row(self, cells, row):
        _, entries, size, mapping, pages, nodes = cells
        self.assertEqual(entries, f"{row['entries']}{'' if row['exact'] else '*'}")
        self.assertEqual(mapping, row["mapping"] + (", early" if row["early"] else ""))
        units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
        amount, unit = size.split()
        self.assertAlmostEqual(float(amount) * units[unit], row["bytes"], delta=units[unit] / 10)
        units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
        shown = {
            str(int(page) * units[unit]): int(count)
            for count, page, unit in re.findall(r"(\d+) x (\d+)([KMG])", pages)
        }
        self.assertEqual(shown, row["translations_by_bytes"])
        held = {node for node, share in row["node_bytes"].items() if share}
        if len(held) <= 4:
            self.assertEqual(set(re.findall(r"\bN(\d+) ", nodes)), held)
        else:
            self.assertTrue(nodes.startswith(f"{len(held)} nodes, "), nodes)

    def test_ends_with_hashdist_and_its_reason(self):
        _, rest = self.cells("-m", PC, "-k", "6.1")
        self.assertEqual(rest, "hashdist  off: only one node has memory\n")
        _, rest = self.cells("-m", PC2, "-k", "6.1")
        self.assertTrue(rest.startswith("hashdist  on: "), rest)

    def test_marks_what_is_not_exact(self):
        rows, rest = self.cells("-m", "x86-64 ram=1090M cpus=2", "-k", "6.12.117")
        starred = {row[0] for row in rows if row[1].endswith("*")}
        self.assertIn("dentry", starred)
        self.assertNotIn("table-perturb", starred)
        self.assertIn("The kernel will count between", rest)

    def test_cells_are_plain_when_piped(self):
        self.assertTrue(plan("-m", BIG2, "-k", "6.1", "--table").out.isascii())


class Explain(Plan):
    STEP = re.compile(r"^  (asked|pages|scale|a page|power of 2|at least|at most|entries|halved|early|"
                      r"contiguous|scattered|huge pages|got) +(\S.*)$")  # fmt: skip

    def steps(self, *words):
        result = plan("--explain", *words)
        self.assert_status(result, 0)
        head, *tables = result.out.rstrip("\n").split("\n\n")
        found = {}
        for block in tables:
            line, *steps = block.split("\n")
            steps = [step for step in steps if not step.startswith("  or ")]
            matches = [self.STEP.match(step) for step in steps]
            self.assertTrue(all(matches), block)
            found[line] = {match[1]: match[2] for match in matches}
        return head, found

    def test_head_gives_flag_nodes_processors_and_pages_with_their_source(self):
        head, _ = self.steps("-m", BIG2, "-k", "6.1")
        first, second, third = head.split("\n")
        self.assertEqual(first, "hashdist is on: the default of this kernel")
        self.assertEqual(second, "2 memory nodes of 2 online, 2 possible CPUs")
        found = self.made(BIG2, "6.1")
        self.assertEqual(
            third,
            f"pages counted: {found['sizing_pages_low']} to {found['sizing_pages_high']}, "
            "from the description",
        )

    def test_each_line_is_followed_by_its_steps_with_numbers_that_lead_to_it(self):
        for words in (
            ("-m", PC, "-k", "6.1.192"),
            ("-m", BIG2, "-k", "6.12"),
            ("-m", "x86-64 ram=140G cpus=2", "-k", "6.1"),
            ("-m", "arm64 ram=2G page=64K", "-k", "4.4"),
            ("-m", PC, "-k", "7.1", "-c", "dhash_entries=100000"),
        ):
            _, found = self.steps(*words)
            self.assertEqual(list(found), plan(*words).out.splitlines())
            for line, steps in found.items():
                with self.subTest(words=words, line=line):
                    self.check_steps(line, steps, 65536 if "page=64K" in words[1] else 4096)

    def check_steps(self, line, steps, page):
        entries, size = map(int, re.search(r"entries: (\d+) \(order: -?\d+, (\d+) ", line).groups())
        for step in ("power of 2", "at most", "entries", "got"):
            self.assertIn(step, steps)
        self.assertEqual(len({"asked", "pages"} & set(steps)), 1)
        self.assertEqual("pages" in steps, "scale" in steps)
        self.assertEqual(len({"early", "contiguous", "scattered"} & set(steps)), 1)
        self.assertEqual("scattered" in steps, "vmalloc" in line and "linear" not in line)
        got, bucket, total = map(
            int, re.match(r"(\d+) of (\d+) bytes: (\d+) bytes", steps["entries"]).groups()
        )
        self.assertEqual((got, total), (entries, size))
        self.assertEqual(got * bucket, total)
        power = int(steps["power of 2"])
        self.assertEqual(power & (power - 1), 0)
        if "pages" in steps:
            pages, rounded = map(int, re.match(r"(\d+), to a whole MiB (\d+)",
                                               steps["pages"]).groups())  # fmt: skip
            self.assertGreaterEqual(rounded, pages)
            derived = int(steps["scale"].rsplit(" ", 1)[1])
            if derived * bucket < page:  # a page is the least
                derived = page // bucket
        else:
            derived = int(steps["asked"].split()[0])
        self.assertTrue(derived <= power < 2 * max(derived, 1), steps)
        cap = int(re.match(r"\d+", steps["at most"]).group())
        least = int(steps.get("at least", "0"))
        wanted = min(max(power, least), cap)
        self.assertEqual(entries, 1 << wanted.bit_length() - 1)

    def test_scale_that_grew_is_said(self):
        _, found = self.steps("-m", "x86-64 ram=140G cpus=2", "-k", "6.1")
        self.assertRegex(next(iter(found.values()))["scale"], r"2\^14 bytes \(grown with memory")

    def test_huge_pages_are_compared_with_a_share_or_with_the_whole(self):
        for kernel, answer in (
            ("6.12", "no: each online node's share of 1048576 bytes against 2^21"),
            ("6.13", "yes: the whole table of 2097152 bytes against 2^21"),
        ):
            _, found = self.steps("-m", PC2, "-k", kernel)
            self.assertEqual(next(iter(found.values()))["huge pages"], answer)

    def test_halving_is_said(self):
        _, found = self.steps("-m", "x86-64 ram=4T", "-k", "5.2", "-c", "hashdist=0")
        (steps,) = [steps for line, steps in found.items() if line.startswith("Mount-cache")]
        self.assertRegex(steps["halved"], r"^1 ")


class Compare(Plan):
    def test_is_two_plans_side_by_side(self):
        base = ("-m", BIG2, "-k", "6.1", "-c", "quiet")
        one = json.loads(plan("--json", *base).out)
        other = json.loads(plan("--json", *base, "--add", "hashdist=0").out)
        sums = [sum(row["translations"] for row in p["tables"]) for p in (one, other)]
        result = plan(*base, "--compare", "hashdist=0")
        self.assert_status(result, 0)
        self.assertNotEqual(*sums)
        self.assertTrue(
            result.out.endswith(
                f"\ntranslations  {sums[0]} -> {sums[1]}\nhashdist      on -> off\n"
                "added         hashdist=0\n"
            ),
            result,
        )
        table = result.out.split("\n\n")[0].split("\n")[1:]
        self.assertEqual(len(table), len(one["tables"]))
        for line, left, right in zip(table, one["tables"], other["tables"]):
            self.assertTrue(line.startswith(left["table"] + " "), line)
            kinds = re.findall(r"linear|vmalloc hugepage|vmalloc", line)
            self.assertEqual(kinds, [left["mapping"], right["mapping"]])
            pages = [int(n) for n in re.findall(r"(\d+) x ", line)]
            self.assertEqual(sum(pages), left["translations"] + right["translations"])

    def test_in_json_is_the_other_plan_in_full(self):
        base = ("-m", BIG2, "-k", "6.1")
        found = json.loads(plan("--json", *base, "--compare", "hashdist=0").out)
        other = found.pop("compared")
        self.assertEqual(found, json.loads(plan("--json", *base).out))
        alone = json.loads(plan("--json", *base, "--add", "hashdist=0").out)
        self.assertEqual(other["tables"], alone["tables"])

    def test_comes_on_top_of_add(self):
        base = ("-m", BIG2, "-k", "6.1", "--add", "hashdist=0")
        found = json.loads(plan("--json", *base, "--compare", "hashdist=1").out)
        self.assertIs(found["hashdist"]["value"], False)
        self.assertIs(found["compared"]["hashdist"]["value"], True)


class CommandLine(Plan):
    def cmdline(self, *words):
        return self.made(PC2, "6.1", *words)["cmdline"]

    def test_add_goes_behind_it_and_before_the_double_dash(self):
        self.assertEqual(self.cmdline("-c", "quiet", "-a", "hashdist=0"), "quiet hashdist=0")
        found = self.cmdline("-c", "quiet -- single", "-a", "hashdist=0")
        self.assertEqual(found.split(" -- ")[0], "quiet hashdist=0")
        words = ("-c", "quiet -- single", "-a", "hashdist=0")
        self.assertIs(self.made(PC2, "6.1", *words)["hashdist"]["value"], False)

    def test_add_goes_before_a_double_dash_at_either_end(self):
        for cmdline in ("quiet --", "--", "-- single", "quiet --  single"):
            with self.subTest(cmdline=cmdline):
                found = self.made(PC2, "6.1", "-c", cmdline, "-a", "hashdist=0")
                self.assertIs(found["hashdist"]["value"], False)

    def test_of_a_log_may_be_kept_added_to_or_replaced(self):
        log = self.file("log", Machine("6.1.0-44-amd64", nodes=[1024, 1024],
                                       cmdline="hashdist=0").log_text())  # fmt: skip
        for words, value in (
            ((), False),
            (("--add", "hashdist=1"), True),
            (("--cmdline", ""), True),
            (("--cmdline", "hashdist=0"), False),
        ):
            with self.subTest(words=words):
                result = plan("--log", log, "--json", *words)
                self.assert_status(result, 0)
                self.assertIs(json.loads(result.out)["hashdist"]["value"], value)


class EarlyAll(Plan):
    def test_takes_the_tables_that_the_change_left_for_later_from_the_boot_allocator(self):
        machine = "x86-64 ram=4T cpus=512"
        plain, early = self.rows(machine, "6.12"), self.rows(machine, "6.12", "", "--early-all")
        self.assertEqual(list(plain), list(early))
        self.assertEqual(plain["mount"]["mapping"], "vmalloc hugepage")
        for key, row in early.items():
            self.assertEqual((row["mapping"], row["early"]), ("linear", True), key)
            self.assertEqual(row["entries"], plain[key]["entries"], key)

    def test_leaves_distributed_tables_as_they_are(self):
        wanted = plan("-m", BIG2, "-k", "6.12", "--json").out
        self.assertEqual(plan("-m", BIG2, "-k", "6.12", "--json", "--early-all").out, wanted)


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

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist plan: the lines that kernels printed on emulated machines, version by version.

Truth here is what kernels printed, in the short form of BOOTS below, or is worked out by hand.
"""

import re

import support
from planning import (
    ARM, ARM16K, BARE, BIG2, GIB1, GIB16, GIB16_HUGE, GIB16_HUGEST, GIB16_SPREAD, HUGE, LINEAR, MIB512, PC, PC2,
    PC4, SPREAD, Plan, lines_of,
)  # fmt: skip
from support import plan

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


if __name__ == "__main__":
    support.main()

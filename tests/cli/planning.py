# SPDX-License-Identifier: MIT
"""What the tests of hashdist plan share: machines, what kernels printed there in short, and how to ask.

In the short form a letter is the table, a number its entries, and a letter the mapping.
"""

import itertools
import json
import tempfile
from pathlib import Path

import support
from support import plan

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

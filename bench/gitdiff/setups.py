# SPDX-License-Identifier: MIT
"""
setups.py - the machines on which something is counted, by name

What differs between them is where the kernel puts one hash table: that of dentries, or, for
the workload "tcp", that of established connections. Some change one more thing. Each says what
its kernel must have printed of the table, so that one that is not what its name says is noticed.
"""

import dataclasses

LINEAR, VMALLOC, HUGE = "linear", "vmalloc", "vmalloc hugepage"
TABLE_BYTES = 8 << 20
HUGE_SINCE = (5, 18)  # vmalloc on huge pages, for these tables, on x86: core/rules.c

# Nothing random, nothing that real machines of 2019 did not do by themselves.
APPEND = ("mitigations=off nopti nokaslr no5lvl norandmaps transparent_hugepage=never init_on_alloc=0 "
          f"init_on_free=0 dhash_entries={TABLE_BYTES // 8}")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Workload:
    table: str  # in the kernel's log
    region: str  # in the counts


GIT = Workload("Dentry cache", "dentry hash")
TCP = Workload("TCP established", "tcp hash")
CONNECTIONS, EXCHANGES = 10000, 20000


@dataclasses.dataclass(frozen=True)
class Setup:
    name: str
    says: str
    append: str
    mapping: str
    nodes: int = 1
    cpus: int = 1
    icount: bool = True
    git: tuple = ()  # its configuration, pairs
    ext4: bool = False
    workload: Workload = GIT

    @property
    def pair(self):
        """(what it is a case of, "linear" or "4k" or "huge"): "ext4-4k" is compared with "ext4-linear"."""
        family, _, case = self.name.rpartition("-")
        return (family, case) if case in ("linear", "4k", "huge") else (self.name, "huge")


SETUPS = {
    s.name: s
    for s in (
        Setup("linear", "one node, not distributed: what the change brought", "hashdist=0", LINEAR),
        Setup("4k", "one node, distributed on 4K: before the change, before Linux 5.3",
              "hashdist=1 nohugevmalloc", VMALLOC),
        Setup("huge", "one node, distributed, huge vmalloc allowed", "hashdist=1", HUGE),
        Setup("2n", "two nodes, as the kernel does by default", "", HUGE, nodes=2),
        Setup("2n-linear", "two nodes, hashdist=0", "hashdist=0", LINEAR, nodes=2),
        Setup("2n-4k", "two nodes, nohugevmalloc", "nohugevmalloc", VMALLOC, nodes=2),
        Setup("nopreload-linear", "core.preloadIndex=false, not distributed", "hashdist=0", LINEAR,
              git=(("core.preloadIndex", "false"),)),
        Setup("nopreload-4k", "core.preloadIndex=false, distributed on 4K", "hashdist=1 nohugevmalloc",
              VMALLOC, git=(("core.preloadIndex", "false"),)),
        Setup("ticks-linear", "with a clock of its own, not distributed", "hashdist=0", LINEAR,
              icount=False),
        Setup("ticks-4k", "with a clock of its own, distributed on 4K", "hashdist=1 nohugevmalloc",
              VMALLOC, icount=False),
        Setup("ext4-linear", "ext4, a clock of its own, not distributed", "hashdist=0", LINEAR,
              icount=False, ext4=True),
        Setup("ext4-4k", "ext4, a clock of its own, distributed on 4K: closest to 2019",
              "hashdist=1 nohugevmalloc", VMALLOC, icount=False, ext4=True),
        Setup("4cpu-linear", "four processors, not distributed", "hashdist=0", LINEAR, cpus=4,
              icount=False),
        Setup("4cpu-4k", "four processors, distributed on 4K", "hashdist=1 nohugevmalloc", VMALLOC,
              cpus=4, icount=False),
        # Not linear: this table is made after the allocator of boot is gone, whose successor
        # has no such large piece.
        Setup("tcp-huge", "TCP, not distributed", f"hashdist=0 thash_entries={TABLE_BYTES // 8}", HUGE,
              workload=TCP),
        Setup("tcp-4k", "TCP, on 4K", f"hashdist=0 nohugevmalloc thash_entries={TABLE_BYTES // 8}",
              VMALLOC, workload=TCP),
    )
}  # fmt: skip

BASIC = ("linear", "4k", "huge")
QUICK = ("linear", "4k")
QUICK_FILES = 20000
WORKLOADS = {"git": BASIC, "tcp": ("tcp-huge", "tcp-4k")}
KERNELS = ("5.10", "6.1", "6.12", "7.x")
TLBS = ("kaby-lake", "kaby-lake@4k")
FULL_TLBS = ("kaby-lake", "zen5", "kaby-lake@4k")


def version(release):
    """'6.1.0-57-cloud-amd64' -> (6, 1)"""
    return tuple(int(part) for part in release.split(".")[:2])


def expected_mapping(setup, release):
    """What the kernel's line must say. A kernel without huge vmalloc cannot say the one word."""
    if setup.mapping == HUGE and version(release) < HUGE_SINCE:
        return VMALLOC
    return setup.mapping


def lab_arguments(setup, memory_mib):
    """Fields of lab.Guest: the machine, without what is put into it."""
    qemu = ["-seed", "1", "-rtc", "base=2020-01-01,clock=vm"]
    if setup.icount:
        qemu += ["-icount", "shift=0,sleep=off"]
    part = f"{memory_mib // setup.nodes}M"
    return {
        "memory": f"{memory_mib}M",
        "nodes": ",".join([part] * setup.nodes) if setup.nodes > 1 else "",
        "cpus": setup.cpus,
        "accel": "tcg,thread=single",
        "cpu": "Skylake-Client-v3",
        "append": f"{APPEND} {setup.append}".strip(),
        "qemu": qemu,
    }

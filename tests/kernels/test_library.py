#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The library on real kernels: what it says it got, held against the kernel's books.

    test_library.py                  the quick part: four guests, below two minutes on two idle CPUs
    test_library.py --all            every case on every kernel and machine it is for
    test_library.py --all --record FILE       the same, and keeps the table
    test_library.py --list           the cases and what they claim
    test_library.py --kernel 6.1 --machine two [--case full ...]      some of them

A case is data: circumstances, what place.c is told to do, and what must be true then.
What the case does not say is checked in all of them (see the section "always true"):
every number of `got` equals the kernel's books as place.c read them by itself, nothing
was killed, nothing leaked, no page fault was left for later, contents are right.

PLACE_BIN is the guest program; HASHDIST_LAB_OUT keeps the guests' results. Exit status
0 all true, 1 not, 77 cannot run here.
"""

import argparse
import dataclasses
import json
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import lab  # noqa: E402

HUGE, PAGE = 2 << 20, 4096
KERNELS = ("5.10", "6.1", "6.12", "7.x")
NO_POPULATE = ("5.10",)  # MADV_POPULATE_WRITE came with 5.14, MADV_COLLAPSE with 6.1
COLLAPSE = ("6.1", "6.12", "7.x")
WEIGHTS = ("6.12", "7.x")  # since 6.9


@dataclasses.dataclass(frozen=True)
class Machine:
    memory: str
    nodes: str
    usable: tuple  # nodes with memory and CPUs: what a spread without further wishes is over
    drawing: str
    append: str = ""


MACHINES = {
    "one": Machine("768M", "", (0,), "|######|"),
    "two": Machine("1G", "512M,512M", (0, 1), "|####||####|"),
    "two-v1": Machine("1G", "512M,512M", (0, 1), "|####||####|  control groups of version 1"),
    "four": Machine("1536M", "384M,384M,384M,384M", (0, 1, 2, 3), "|###||###||###||###|"),
    "unequal": Machine("1152M", "768M,384M", (0, 1), "|######||###|"),
    "memoryless": Machine("1G", "512M,0,512M", (0, 2), "|####||||####|  node 1: CPU only"),
    "memory-only": Machine("1G", "512M,512M/nocpu", (0,), "|####||####|  node 1: no CPU"),
    "numa-off": Machine("1G", "512M,512M", (0,), "|########|  numa=off", "numa=off"),
    "giant": Machine("6G", "3G,3G", (0, 1), "|####||####|  a 1 GiB page reserved on each",
                     "hugepagesz=1G hugepages=2"),
}  # fmt: skip


# ---------------------------------------------------------------- circumstances, as a shell script

THP = "/sys/kernel/mm/transparent_hugepage"
POOL = "/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages"
WEIGHT = "/sys/kernel/mm/mempolicy/weighted_interleave/node{}"
V2, V1 = "/cg", "/cg1"

# Every case begins the same. khugepaged would change pages while they are being looked at.
BASELINE = f"""
echo madvise >{THP}/enabled
echo madvise >{THP}/defrag
echo 1 >{THP}/khugepaged/pages_to_scan
echo 100000000 >{THP}/khugepaged/scan_sleep_millisecs
for f in {THP}/hugepages-*/enabled; do [ -e "$f" ] && echo never >"$f"; done
[ -e {THP}/hugepages-2048kB ] && echo inherit >{THP}/hugepages-2048kB/enabled
for f in /sys/devices/system/node/node*/hugepages/hugepages-2048kB/nr_hugepages; do
	[ -e "$f" ] && echo 0 >"$f"
done
echo 0 >/proc/sys/vm/nr_overcommit_hugepages
echo 0 >/proc/sys/vm/overcommit_memory
[ -e /proc/sys/kernel/numa_balancing ] && echo 0 >/proc/sys/kernel/numa_balancing
[ -e /proc/sys/vm/compaction_proactiveness ] && echo 0 >/proc/sys/vm/compaction_proactiveness
for f in /sys/kernel/mm/mempolicy/weighted_interleave/node*; do [ -e "$f" ] && echo 1 >"$f"; done
echo 0 >/proc/sys/vm/compact_unevictable_allowed
echo 3 >/proc/sys/vm/drop_caches
echo 1 >/proc/sys/vm/compact_memory
"""

# What is in the pools is free again.
LEAK = """for f in /sys/devices/system/node/node*/hugepages/*/nr_hugepages; do
	free=${f%nr_hugepages}free_hugepages
	[ ! -e "$f" ] || [ "$(cat $f)" = "$(cat $free)" ] || { echo "$free: $(cat $free) of $(cat $f)" >&2; status=5; }
done"""

MOUNT = {
    "two-v1": f"""mkdir -p {V1} && for c in memory cpuset hugetlb; do
	[ -d {V1}/$c ] || {{ mkdir -p {V1}/$c && mount -t cgroup -o $c none {V1}/$c; }}
done""",
    None: f"""[ -d {V2} ] || {{ mkdir -p {V2} && mount -t cgroup2 none {V2}; }}
echo "+memory +cpuset +hugetlb" >{V2}/cgroup.subtree_control""",
}


def write(value, path):
    return f"echo {shlex.quote(str(value))} >{path} || exit 3"


def groups(machine, files):
    """Shell that makes control groups, and the word that joins: {"group/file": value}."""
    lines, join = [MOUNT.get(machine, MOUNT[None])], []
    top = V2 if machine != "two-v1" else V1
    for name in sorted({f.rpartition("/")[0] for f in files}):
        parent = name.rpartition("/")[0]
        if top == V2 and parent:
            lines.append(write("+memory +cpuset +hugetlb", f"{V2}/{parent}/cgroup.subtree_control"))
        lines.append(f"mkdir -p {top}/{name}")
    for file, value in files.items():
        lines.append(write(value, f"{top}/{file}"))
    inner = sorted({f.rpartition("/")[0] for f in files}, key=len)
    for name in inner if top == V1 else inner[-1:]:
        join.append(f"cgroup={top}/{name}/cgroup.procs")
    return lines, join, [f"rmdir {top}/{n}" for n in reversed(inner)]


def script(case, machine):
    """The whole of a case in the guest."""
    lines, join, after = [BASELINE], [], []
    for path, value in case.files.items():
        lines.append(write(value, path))
    for node, pages in case.pool.items():
        pool = POOL.format(node)
        lines.append(f'if [ -e {pool} ]; then echo {pages} >{pool}; [ "$(cat {pool})" = {pages} ] || exit 4; fi')
    for node, weight in case.weights.items():
        lines.append(write(weight, WEIGHT.format(node)))
    files = case.groups_v1 if machine == "two-v1" else case.groups
    if files:
        more, join, after = groups(machine, files)
        lines += more
    words = join + shlex.split(case.do)
    lines.append("timeout 150 place " + " ".join(shlex.quote(w) for w in words))
    return "\n".join([*lines, "status=$?", LEAK, *after, "exit $status"])


# ---------------------------------------------------------------- what may be claimed


def want(huge="all", nodes="even", pages_why="met", nodes_why="met", **fields):
    """What must be true of one thing done. Fields of `got` by name; a tuple is "one of these".

    huge    "all" whole blocks are huge pages | "none" | "some" | None any | "hugetlb": all, and of the pool
    nodes   "even" over the machine's nodes | "even:0,2" | "only:1" | "3:1" shares | "within:1,3" those only
            | "one" any single node | "uneven" | None any
    """
    return dict(huge=huge, nodes=nodes, pages_why=pages_why, nodes_why=nodes_why, **fields)


def fails(rc, pages_why=None, nodes_why=None, **fields):
    return dict(rc=rc, pages_why=pages_why, nodes_why=nodes_why, huge=None, nodes=None, **fields)


REACHED = want()
ENOMEM, ENODEV, EINVAL, EPERM = -12, -19, -22, -1


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    claim: str
    do: str  # words of place.c
    expect: tuple  # want() or fails() for each alloc, table, resize, repair, read, in order
    on: tuple = ("two",)
    kernels: tuple = KERNELS
    quick: tuple = ()  # machines where it belongs to the quick part
    files: dict = dataclasses.field(default_factory=dict)  # written before
    pool: dict = dataclasses.field(default_factory=dict)  # node: pages of 2 MiB
    weights: dict = dataclasses.field(default_factory=dict)
    groups: dict = dataclasses.field(default_factory=dict)
    groups_v1: dict = dataclasses.field(default_factory=dict)
    but: dict = dataclasses.field(default_factory=dict)  # kernel: another `expect`
    looks: dict = dataclasses.field(default_factory=dict)  # what a child of fork() must find
    flags: tuple = ()  # that smaps must show, "dd" or "!dd"
    faults: bool = False  # later page faults are fine: a child shares the pages


def on_never(nodes="even", nodes_why="met", **f):
    return want("none", nodes, "thp-never", nodes_why, **f)


def repaired_on_old(before):
    """Without MADV_COLLAPSE what was split stays so; the library must say that it could not."""
    return {k: before for k in NO_POPULATE}


CASES = (
    # ---- the want is reached
    Case("even", "64 MiB: 16 huge pages on each of two nodes; 8 on each of four",
         "alloc=64M write read", (REACHED, REACHED),
         ("one", "two", "four", "unequal", "memoryless", "numa-off"), quick=("two", "four")),
    Case("threads", "the same when four threads populate several chunks",
         "threads=4 alloc=300M", (REACHED,), ("two", "four")),
    Case("indivisible", "33 units over two or four nodes: within one unit of even",
         "alloc=66M", (want(bytes=66 << 20),), ("two", "four"), quick=("four",)),
    Case("rounded", "a byte more than 64 MiB becomes 66 MiB; 63 become 64; all huge",
         "alloc=67108865 free alloc=63M", (want(bytes=66 << 20), want(bytes=64 << 20))),
    Case("tail", "3 MiB is not rounded up by a third: one huge page and 1 MiB of base pages",
         "alloc=3M", (want(bytes=3 << 20, nodes=None),), ("one", "two")),
    Case("tail-large", "17.5 MiB keep a tail of base pages, shares within one unit",
         "alloc=10752K", (want(nodes=None),)),
    Case("small", "1 MiB is too small for a huge page, and says so; even by base pages",
         "alloc=1M", (want("none", pages_why="too-small"),), ("one", "two", "four")),
    Case("one-page", "one byte becomes one page", "alloc=1",
         (want("none", None, "too-small", bytes=PAGE),), ("one", "two")),
    Case("always", "THP set to always", "alloc=64M", (REACHED,), files={f"{THP}/enabled": "always"}),
    Case("unprivileged", "an ordinary user gets and sees the same",
         "user alloc=64M read repair", (REACHED, REACHED, REACHED), ("one", "two", "four"), quick=("two",)),
    Case("named", "a name where the kernel has names, or not: no difference",
         "name=hashes alloc=64M repair", (REACHED, REACHED)),
    Case("no-dump", "left out of core dumps, all of it",
         "flag=no-dump alloc=64M resize=96M", (REACHED, REACHED), flags=("dd",)),
    Case("locked", "mlock by root", "flag=lock alloc=64M", (want(locked=1),), flags=("lo",)),
    Case("not-locked", "mlock beyond the limit of a user: a table all the same, not locked, said",
         "user flag=lock alloc=64M", (want(locked=0, step="lock", error=(12, 1)),), flags=("!lo",)),
    Case("balancing", "NUMA balancing leaves the shares alone while one CPU reads all of it",
         "cpu=0 alloc=64M write spin=6 read", (REACHED, REACHED), faults=True,
         files={"/proc/sys/kernel/numa_balancing": 1}),
    Case("discarded", "half of it was given back to the kernel: repair fills it, the rest is kept",
         "alloc=64M write discard repair", (REACHED, REACHED), ("one", "two"), quick=("two",)),
    # ---- THP refused
    Case("never", "THP never: base pages, even by the page; madvise later: repair reaches all",
         f"alloc=64M write sh='echo madvise >{THP}/enabled; sleep 2' repair", (on_never(), REACHED),
         files={f"{THP}/enabled": "never"}, quick=("two",), on=("one", "two", "four"), kernels=COLLAPSE),
    Case("never-old", "never, before there was a way to collapse",
         "alloc=64M write repair", (on_never(), on_never()), ("one", "two", "four"), kernels=NO_POPULATE,
         files={f"{THP}/enabled": "never"}),
    Case("never-odd", "never, 33 units and a bit: repair still finds both properties",
         f"alloc=67700K write sh='echo madvise >{THP}/enabled' repair", (on_never(), want(nodes=None)),
         kernels=COLLAPSE, files={f"{THP}/enabled": "never"}),
    Case("size-never", "the setting of the 2 MiB size says never, another size says always",
         "alloc=64M", (on_never(),), kernels=WEIGHTS,
         files={f"{THP}/hugepages-2048kB/enabled": "never", f"{THP}/hugepages-64kB/enabled": "always"}),
    Case("size-always", "the setting of the 2 MiB size counts, not the global one",
         "alloc=64M", (REACHED,), kernels=WEIGHTS,
         files={f"{THP}/enabled": "never", f"{THP}/hugepages-2048kB/enabled": "madvise"}),
    Case("thp-off", "THP off for this process", "thp-off alloc=64M",
         (want("none", pages_why="thp-off"),), ("one", "two"), quick=("two",)),
    Case("base", "base pages, as asked for, even where THP says always", "pages=base alloc=16M",
         (want("none"),), ("one", "two", "four"), files={f"{THP}/enabled": "always"}),
    Case("env-base", "HASHDIST_PAGES=base", "env=HASHDIST_PAGES=base alloc=16M", (want("none"),)),
    # ---- which nodes
    Case("one-here", "one node: the CPU's own", "nodes=one cpu=1 alloc=64M", (want(nodes="only:1"),),
         quick=("two",)),
    Case("one-elsewhere", "one node: the CPU's own is full, the other is not",
         "nodes=one cpu=1 fill=1:64M alloc=128M", (want(nodes="only:0"),)),
    Case("env-0", "HASHDIST=0: on one node", "env=HASHDIST=0 cpu=1 alloc=64M", (want(nodes="only:1"),)),
    Case("env-0-asked", "HASHDIST=0, but this table asks for a spread itself",
         "env=HASHDIST=0 nodes=spread alloc=64M", (REACHED,)),
    Case("env-1", "HASHDIST=1 on a machine with one node: wanted, and why not",
         "env=HASHDIST=1 alloc=64M", (want(nodes="only:0", nodes_why="one-node"),), ("one",)),
    Case("spread-on-one", "a spread asked for on one node", "nodes=spread alloc=64M",
         (want(nodes="only:0", nodes_why="one-node"),), ("one",)),
    Case("set", "only node 1 is allowed by the caller", "set=1 alloc=64M",
         (want(nodes="only:1", nodes_why="one-node"),)),
    Case("set-two-of-four", "nodes 1 and 3 of four", "set=1,3 alloc=64M", (want(nodes="even:1,3"),), ("four",)),
    Case("set-unknown", "a node that is not there", "set=5 alloc=64M",
         (fails(ENODEV, nodes_why="no-node", step="limits"),)),
    Case("cpuset", "a cpuset with node 1 only", "alloc=64M", (want(nodes="only:1", nodes_why="cpuset"),),
         ("two", "two-v1"), kernels=KERNELS, groups={"a/cpuset.mems": 1}, quick=("two",),
         groups_v1={"cpuset/a/cpuset.cpus": 0, "cpuset/a/cpuset.mems": 1}),
    Case("cpuset-two-of-four", "a cpuset with nodes 1-2 of four", "alloc=64M", (want(nodes="even:1,2"),),
         ("four",), groups={"a/cpuset.mems": "1-2"}),
    Case("cpuset-against-set", "the cpuset has node 1, the caller wants node 0", "set=0 alloc=64M",
         (fails(ENODEV, nodes_why="no-node"),), groups={"a/cpuset.mems": 1}),
    Case("cpuset-tight", "a cpuset whose node has just as much free: an answer, not the OOM killer",
         "tight=1:5M", (dict(rc=(0, ENOMEM), huge=None, nodes=None),), groups={"a/cpuset.mems": 1}),
    Case("memory-only", "a node without CPUs is left out; the spread that was possible is named",
         "alloc=64M free nodes=spread alloc=64M",
         (want(nodes="only:0", nodes_why="one-node"), want(nodes="only:0", nodes_why="one-node")),
         ("memory-only",)),
    Case("memory-only-asked", "unless asked for by flag, set, or the task's policy",
         "flag=memory-only alloc=64M free set=0,1 alloc=64M free policy=interleave:0,1 alloc=64M",
         (want(nodes="even:0,1"),) * 3, ("memory-only",)),
    Case("memory-only-bound", "bound to the node without CPUs", "policy=bind:1 alloc=64M",
         (want(nodes="only:1", nodes_why="task-policy"),), ("memory-only",)),
    Case("memoryless-here", "one node, from a CPU whose node has no memory", "nodes=one cpu=1 alloc=64M",
         (want(nodes="one"),), ("memoryless",)),
    # ---- the task's policy
    Case("bind-one", "bound to node 1", "policy=bind:1 alloc=64M",
         (want(nodes="only:1", nodes_why="task-policy"),), quick=("two",)),
    Case("bind-both", "bound to both: spread, though the policy alone would not", "policy=bind:0,1 alloc=64M",
         (REACHED,)),
    Case("bind-two-of-four", "bound to nodes 0 and 2", "policy=bind:0,2 alloc=64M", (want(nodes="even:0,2"),),
         ("four",)),
    Case("interleave", "interleaved over both; over node 1 only",
         "policy=interleave:0,1 alloc=64M free policy=interleave:1 alloc=64M",
         (REACHED, want(nodes="only:1", nodes_why="task-policy"))),
    Case("preferred", "node 1 preferred", "policy=preferred:1 alloc=64M",
         (want(nodes="only:1", nodes_why="task-policy"),), quick=("two",)),
    Case("local", "the local node preferred", "cpu=1 policy=local alloc=64M",
         (want(nodes="only:1", nodes_why="task-policy"),)),
    Case("many", "both nodes preferred (since 5.15)", "policy=many:0,1 alloc=64M", (REACHED,), kernels=COLLAPSE),
    Case("weighted-policy", "weighted interleaving by numactl, weights alike",
         "policy=weighted:0,1 alloc=64M", (REACHED,), kernels=WEIGHTS),
    Case("ignore-policy", "bound to node 1, which this table ignores",
         "policy=bind:1 flag=ignore-policy alloc=64M", (REACHED,)),
    Case("bind-against-set", "bound to node 0, the caller wants node 1", "policy=bind:0 set=1 alloc=64M",
         (fails(ENODEV, nodes_why="no-node"),)),
    Case("weights", "the administrator's weights 3:1", "alloc=64M", (want(nodes="3:1"),), kernels=WEIGHTS,
         weights={0: 3, 1: 1}, quick=("two",)),
    Case("weights-four", "weights 4:3:2:1", "alloc=80M", (want(nodes="4:3:2:1"),), ("four",), kernels=WEIGHTS,
         weights={0: 4, 1: 3, 2: 2, 3: 1}),
    Case("deny-mbind", "mbind refused (a container): spread by first touch instead",
         "deny=mbind alloc=64M read", (want(step="policy", error=1), REACHED), ("two", "four"), quick=("two",)),
    Case("deny-move", "move_pages refused: nodes from numa_maps", "deny=move_pages alloc=64M", (REACHED,)),
    Case("deny-both", "mbind and move_pages refused", "deny=mbind deny=move_pages alloc=64M",
         (want(step="policy", error=1),)),
    Case("policy-changed", "bound to node 1 since: repair follows, and back",
         "alloc=64M write policy=bind:1 repair policy=default repair",
         (REACHED, want(nodes="only:1", nodes_why="task-policy"), REACHED)),
    Case("cpuset-changed", "the cpuset shrinks and grows: repair follows",
         f"alloc=64M write sh='echo 1 >{V2}/a/cpuset.mems' repair sh='echo 0-1 >{V2}/a/cpuset.mems' repair",
         (REACHED, want(nodes="only:1", nodes_why="cpuset"), REACHED), groups={"a/cpuset.mems": "0-1"}),
    # ---- a node that cannot
    Case("full", "node 1 nearly full: all huge, shares uneven, node named; repaired when it is free",
         "fill=1:64M alloc=240M write unfill repair",
         (want(nodes="uneven", nodes_why=("node-full", "preference"), why_node=1), REACHED), quick=("two",)),
    Case("full-spread", "the same with even shares preferred: they cannot be had either",
         "prefer=spread fill=1:64M alloc=240M write unfill repair",
         (want(None, "uneven", None, "node-full", why_node=1), REACHED),
         but=repaired_on_old((want(None, "uneven", None, "node-full", why_node=1),
                              want(None, pages_why=("met", "no-support"))))),
    Case("full-four", "one of four nodes is full", "fill=2:48M alloc=240M write unfill repair",
         (want(nodes="uneven", nodes_why=("node-full", "preference"), why_node=2), REACHED), ("four",)),
    Case("full-base", "base pages, node 1 nearly full", "pages=base fill=1:64M alloc=240M",
         (want("none", "uneven", nodes_why="node-full", why_node=1),)),
    Case("unequal-nodes", "the smaller node has less than half of the table",
         "alloc=700M", (want(nodes="uneven", nodes_why=("node-full", "preference"), why_node=1),), ("unequal",)),
    Case("fragmented", "node 1 has memory but no whole block: large preferred, so all huge and uneven",
         "fragment=1:96M alloc=64M write unfill repair",
         (want(nodes="uneven", nodes_why="preference", why_node=1), REACHED), quick=("two",)),
    Case("fragmented-spread", "the same with even shares preferred: half on base pages",
         "prefer=spread fragment=1:96M alloc=64M write unfill repair",
         (want("some", pages_why=("preference", "fragmented")), REACHED), quick=("two",),
         but=repaired_on_old((want("some", pages_why=("preference", "fragmented")),
                              want("some", pages_why="no-support")))),
    Case("fragmented-four", "node 3 of four has no whole block, even shares preferred",
         "prefer=spread fragment=3:64M alloc=64M", (want("some", pages_why=("preference", "fragmented")),),
         ("four",)),
    Case("fragmented-all", "no node has a whole block: base pages, fragmented, even; repaired later",
         "fragment=0:96M fragment=1:96M alloc=64M write unfill repair",
         (want(None, pages_why="fragmented"), REACHED), ("two",), kernels=COLLAPSE),
    Case("fragmented-one", "one node, fragmented; repaired later",
         "fragment=0:96M alloc=64M write unfill repair", (want(None, pages_why="fragmented"), REACHED), ("one",),
         kernels=COLLAPSE),
    Case("bound-fragmented", "bound to a fragmented node: the user's policy is kept, not the huge pages",
         "policy=bind:1 fragment=1:96M alloc=64M write unfill repair",
         (want(None, "only:1", "fragmented", "task-policy"), want(nodes="only:1", nodes_why="task-policy")),
         kernels=COLLAPSE),
    Case("set-fragmented", "the caller's only node is fragmented: nothing on another",
         "set=1 fragment=1:96M alloc=64M", (want(None, "only:1", "fragmented", "one-node"),)),
    Case("bound-full", "bound to a node that is nearly full: an error, nothing elsewhere",
         "policy=bind:1 fill=1:64M alloc=128M", (fails(ENOMEM, "memory-short", step="limits"),), quick=("two",)),
    Case("set-fragmented-four", "nodes 1 and 3 are allowed, 3 has no whole block: nothing on 0 and 2",
         "set=1,3 fragment=3:64M alloc=64M", (want(None, "within:1,3", None, None),), ("four",)),
    Case("fragmented-four-large", "the same with large pages preferred: all huge, uneven, node named",
         "fragment=3:64M alloc=64M write unfill repair",
         (want(nodes="uneven", nodes_why="preference", why_node=3), REACHED), ("four",)),
    Case("fragmented-locked", "locked into memory: repaired all the same",
         "flag=lock fragment=1:96M alloc=64M write unfill repair",
         (want(nodes="uneven", nodes_why="preference", locked=1), want(locked=1))),
    Case("fragmented-grow", "grown while node 1 has no whole block; repaired later",
         "alloc=32M write fragment=1:96M resize=96M unfill repair",
         (REACHED, want(nodes="uneven", nodes_why="preference"), REACHED)),
    # ---- hugetlb
    Case("pool", "hugetlb pages on both nodes", "pages=hugetlb alloc=64M write", (want("hugetlb"),),
         ("two", "four", "one"), pool={0: 40, 1: 40, 2: 40, 3: 40}, kernels=COLLAPSE, quick=("two",)),
    Case("pool-old", "without MADV_POPULATE_WRITE the pool is not risked: THP, and why",
         "pages=hugetlb alloc=64M", (want(pages_why="no-support"),), pool={0: 40, 1: 40}, kernels=NO_POPULATE),
    Case("pool-absent", "no pool: THP", "pages=hugetlb alloc=64M", (want(pages_why=("pool-empty", "no-support")),),
         ("one", "two"), quick=("two",)),
    Case("pool-small", "10 pages on each node, 32 wanted: THP, and none of the pool is used up",
         "pages=hugetlb alloc=64M", (want(pages_why=("pool-empty", "no-support")),), pool={0: 10, 1: 10}),
    Case("pool-uneven", "40 and 8: the kernel moves pages of the pool, so that both are had",
         "pages=hugetlb alloc=64M", (want("hugetlb"),), pool={0: 40, 1: 8}, kernels=COLLAPSE),
    Case("pool-uneven-fragmented", "40 and 8, and no block to move to: all from the pool, uneven, node named",
         "fragment=1:96M pages=hugetlb alloc=64M",
         (want("hugetlb", "uneven", nodes_why="pool-uneven", why_node=1),), pool={0: 40, 1: 8}, kernels=COLLAPSE),
    Case("pool-uneven-spread", "40 and 8, even shares preferred: THP",
         "pages=hugetlb prefer=spread alloc=64M", (want(pages_why="pool-uneven"),), pool={0: 40, 1: 8},
         kernels=COLLAPSE),
    Case("pool-bound", "bound to node 1, all of the pool on node 0: nothing stays on node 0",
         "policy=bind:1 pages=hugetlb alloc=64M",
         (want(None, "only:1", None, "task-policy"),), pool={0: 40}),
    Case("pool-bound-fragmented", "the same, and node 1 has no whole block",
         "fragment=1:96M policy=bind:1 pages=hugetlb alloc=64M",
         (want(None, "only:1", ("pool-empty", "no-support"), "task-policy"),), pool={0: 40}),
    Case("pool-set-fragmented", "only node 1 is allowed by the caller, the pool is on node 0",
         "fragment=1:96M set=1 pages=hugetlb alloc=64M",
         (want(None, "only:1", ("pool-empty", "no-support"), "one-node"),), pool={0: 40}),
    Case("pool-fork", "all of the pool is used, a child lives, and the table is written to: no signal",
         "pages=hugetlb alloc=32M write child touch=4 reap read", (want("hugetlb"), want("hugetlb")),
         pool={0: 8, 1: 8}, kernels=COLLAPSE, faults=True),
    Case("pool-cpuset", "a cpuset with node 1, all of the pool on node 0: THP on node 1",
         "pages=hugetlb alloc=64M", (want("all", "only:1", ("pool-empty", "no-support"), "cpuset"),), pool={0: 40},
         groups={"a/cpuset.mems": 1}),
    Case("pool-surplus", "no pages in the pool, 40 may be made on demand: even all the same",
         "pages=hugetlb alloc=64M", (want("hugetlb"),), files={"/proc/sys/vm/nr_overcommit_hugepages": 40},
         kernels=COLLAPSE),
    Case("pool-limit", "a control group allows 16 hugetlb pages: THP, and why", "pages=hugetlb alloc=64M",
         (want(pages_why="hugetlb-limit"),), ("two", "two-v1"), pool={0: 40, 1: 40}, kernels=COLLAPSE,
         groups={"a/hugetlb.2MB.max": "32M"}, groups_v1={"hugetlb/a/hugetlb.2MB.limit_in_bytes": "32M"}),
    Case("pool-wipe", "hugetlb pages cannot be wiped at fork: THP, and why", "pages=hugetlb fork=wipe alloc=64M",
         (want(pages_why="no-support"),), pool={0: 40, 1: 40}, kernels=COLLAPSE),
    Case("pool-grow", "grows within the pool; beyond it, by THP, with its contents; and back",
         "pages=hugetlb alloc=32M write resize=64M resize=128M resize=16M",
         (want("hugetlb"), want("hugetlb"), want(pages_why="pool-empty"), want(pages_why=None, nodes_why=None)),
         pool={0: 20, 1: 20}, kernels=COLLAPSE),
    Case("pool-small-table", "1 MiB of a pool of 2 MiB pages would waste half", "pages=hugetlb alloc=1M",
         (want("none", pages_why="too-small"),), pool={0: 4, 1: 4}, kernels=COLLAPSE),
    Case("1g-absent", "1 GiB pages where there are none", "pages=1g alloc=64M",
         (want(pages_why=("no-support", "pool-empty", "too-small")),), ("two",)),
    Case("1g", "two 1 GiB pages, one on each node", "pages=1g alloc=2G", (want("hugetlb", unit=1 << 30),),
         ("giant",), kernels=COLLAPSE),
    # ---- limits
    Case("memory-max", "memory.max below the table: an error before anything is killed", "alloc=160M",
         (fails(ENOMEM, "memory-limit", step="limits", error=12),), ("two", "two-v1"), quick=("two",),
         groups={"a/memory.max": "100M"}, groups_v1={"memory/a/memory.limit_in_bytes": "100M"}),
    Case("memory-max-above", "the limit is the parent group's", "alloc=160M",
         (fails(ENOMEM, "memory-limit"),), groups={"a/memory.max": "100M", "a/b/memory.max": "max"}),
    Case("memory-max-fits", "a limit that suffices", "alloc=64M write", (REACHED,),
         groups={"a/memory.max": "100M"}),
    Case("memory-max-tight", "a limit just above the table: an answer, not the OOM killer",
         "alloc=64M", (dict(rc=(0, ENOMEM), huge=None, nodes=None),), groups={"a/memory.max": "69M"}),
    Case("memory-max-resize", "growing beyond the limit fails and leaves the table as it was",
         "alloc=64M write resize=160M resize=32M",
         (REACHED, fails(ENOMEM, "memory-limit"), REACHED), groups={"a/memory.max": "100M"}),
    Case("table-halved", "256 MiB of buckets under a limit of 160 MiB: halved once",
         "table=8,32M,0,1G,0", (want(halvings=1, entries=16 << 20),), groups={"a/memory.max": "160M"},
         quick=("two",)),
    Case("table-exact", "the same, but exact: fails", "flag=exact table=8,32M,0,1G,0",
         (fails(ENOMEM, "memory-limit"),), groups={"a/memory.max": "160M"}),
    Case("table-from-memory", "sized from a limit of 256 MiB: a sixteenth of it",
         "table=8,0,0,0,0", (want(bytes=16 << 20, entries=2 << 20),), groups={"a/memory.max": "256M"}),
    Case("address-limit", "RLIMIT_AS", "as=32M alloc=64M", (fails(ENOMEM, "address-limit", step="reserve"),),
         ("one", "two"), quick=("two",)),
    Case("address-close", "RLIMIT_AS with room for the table but not for its alignment: base pages at the ends",
         "as=65M alloc=64M", (want(None, None, None, None),)),
    Case("overcommit", "overcommit 2: what may be promised is used up", "alloc=700M",
         (fails(ENOMEM, "overcommit"),), files={"/proc/sys/vm/overcommit_memory": 2}),
    Case("too-large", "more than the machine has", "alloc=64G", (fails(ENOMEM, "memory-short", step="limits"),),
         ("one", "two")),
    Case("absurd", "a size that cannot be rounded up", "alloc=18446744073709551615",
         (fails(ENOMEM, "memory-short"),), ("one", "two")),
    Case("memory-high", "memory.high below the table: slower, not stuck", "alloc=64M",
         (dict(rc=(0, ENOMEM), huge=None, nodes=None),), groups={"a/memory.high": "32M"}),
    # ---- fork
    Case("fork", "writes while a child lives split pages; repaired when it has gone",
         "alloc=64M write child touch=16 read repair reap repair",
         (REACHED, want(None, None, None, None), want(None, None, None, None), REACHED), ("one", "two"),
         faults=True, quick=("two",),
         but=repaired_on_old((REACHED, want(None, None, None, None), want(None, None, None, None),
                              want("some", pages_why="no-support")))),
    Case("fork-kept", "a child finds the contents", "alloc=16M write look",
         (want(),), looks={"found": "kept", "free": 0}, faults=True),
    Case("fork-drop", "a child finds nothing, and cannot free it", "fork=drop alloc=16M write look resize=32M look",
         (want(), want()), looks={"found": "fault", "free": EINVAL}, flags=("dc",)),
    Case("fork-wipe", "a child finds zeroes", "fork=wipe alloc=16M write look resize=32M look",
         (want(), want()), looks={"found": "zero", "free": 0}, flags=("wf",)),
    # ---- resize
    Case("resize", "grows, shrinks, grows: contents kept, new part zero, both properties",
         "alloc=64M write resize=96M resize=32M resize=160M", (REACHED,) * 4, ("one", "two", "four"),
         quick=("two", "four")),
    Case("resize-odd", "by odd numbers of units: shares stay within one unit",
         "alloc=34M write resize=50M resize=66M resize=82M resize=98M", (REACHED,) * 5, ("two", "four")),
    Case("resize-page", "by single pages", "alloc=1M write resize=1028K resize=1032K resize=4K resize=3M",
         (want("none", pages_why="too-small"),) * 2 + (want("none", pages_why="too-small"),)
         + (want("none", None, "too-small"),) + (want(None, None, None),)),
    Case("resize-never", "grown under never, THP allowed since: repaired",
         f"alloc=32M write resize=64M sh='echo madvise >{THP}/enabled' resize=96M repair",
         (on_never(), on_never(), want(None, None, None), REACHED), kernels=COLLAPSE,
         files={f"{THP}/enabled": "never"}),
    Case("resize-fork", "grown while a child lives: the child's pages stay its own",
         "alloc=32M write child resize=64M reap repair", (REACHED, want(None, None, None, None), REACHED),
         faults=True, kernels=COLLAPSE),
    Case("resize-weights", "grown under weights 3:1", "alloc=64M write resize=128M",
         (want(nodes="3:1"), want(nodes="3:1")), kernels=WEIGHTS, weights={0: 3, 1: 1}),
)  # fmt: skip

QUICK = (("6.1", "two"), ("6.12", "two"), ("6.12", "four"), ("7.x", "two"))


# ---------------------------------------------------------------- always true


def ints(table):
    return {int(k): v for k, v in table.items()}


def check_books(event, wrong):
    """got and the four other sources say the same of pages and nodes."""
    got, books = event["got"], event["books"]
    populated = books["rss"] + books["hugetlb"]
    huge = books["huge"] + books["hugetlb"]
    large = {size: b for size, b in ints(got["pages"]).items() if size > PAGE}
    base = ints(got["pages"]).get(PAGE, 0)
    if not got["populated"] == populated == books["present"] == got["bytes"]:
        wrong.append(f"populated {got['populated']} of {got['bytes']}, smaps {populated}, frames {books['present']}")
    if sum(large.values()) != huge or base != populated - huge or got["pages_unknown"]:
        wrong.append(f"pages {got['pages']}, unknown {got['pages_unknown']}; smaps has {huge} huge of {populated}")
    if books["frame_huge"] < huge:
        wrong.append(f"smaps has {huge} bytes huge, frames only {books['frame_huge']}")
    nodes = {n: b for n, b in ints(got["nodes"]).items() if b}
    for source in ("numa_maps", "frames", "move_pages"):
        if source == "move_pages" and books["answer"] == EPERM:
            continue
        if nodes != ints(books[source]):
            wrong.append(f"nodes {nodes}, {source} {ints(books[source])}")
    if got["nodes_unknown"] or books["frame_lost"]:
        wrong.append(f"nodes unknown: {got['nodes_unknown']}, of frames {books['frame_lost']}")
    if books["outside"]:
        wrong.append(f"mappings reach {books['outside']} bytes beyond the table")


def check_got(event, wrong):
    """What got says must fit together, and be the same when read again."""
    got = event["got"]
    asked, unit, whole = event["asked"], got["unit"], got["bytes"] // HUGE * HUGE
    large = sum(b for size, b in ints(got["pages"]).items() if size > PAGE)
    if got["bytes"] < asked or got["bytes"] % PAGE or got["bytes"] - max(asked, 1) > max(asked // 8, PAGE):
        wrong.append(f"{got['bytes']} bytes for {asked} asked")
    if unit not in (PAGE, HUGE, 1 << 30):
        wrong.append(f"unit {unit}")
    if got["pages_why"] == "fragmented" and large >= whole:
        wrong.append("fragmented, though every whole block is huge")
    for key in ("pages_why", "nodes_why"):
        if got[key] in ("unknown", "?"):
            wrong.append(f"{key} is {got[key]}")
    if got["error"] and got["step"] == "none":
        wrong.append(f"error {got['error']} without a step")
    if got["spread"] != (len(got["aimed"]) > 1):
        wrong.append(f"spread {got['spread']}, aimed at {got['aimed']}")
    read = event.get("read")
    for key in ("bytes", "populated", "pages", "nodes", "aimed", "unit", "entries", "locked"):
        if not read or read[key] != got[key]:
            wrong.append(f"{key} {got[key]}, read again {read and read[key]}")
    if not event["text"] or "?" in event["text"] or event["text_length"] != len(event["text"]):
        wrong.append(f"text {event['text']!r}, length {event['text_length']}")


def check_alone(event, case, wrong):
    """Contents, faults, alignment, flags of the mapping."""
    if event["wrong_at"] >= 0:
        wrong.append(f"contents wrong at byte {event['wrong_at']}")
    if event["late_faults"] > 2 and not case.faults:
        wrong.append(f"{event['late_faults']} page faults were left")
    for flag in case.flags:
        has = flag.lstrip("!") in event["books"]["flags"].split()
        if has == flag.startswith("!"):
            wrong.append(f"mapping flags {event['books']['flags']!r}, not {flag}")


def shares(spec, machine, event):
    """{node: fraction} that a claim means, or None."""
    if spec == "even":
        return {n: 1 / len(machine.usable) for n in machine.usable}
    if spec.startswith(("even:", "only:")):
        nodes = [int(n) for n in spec[5:].split(",")]
        return {n: 1 / len(nodes) for n in nodes}
    if spec == "one":
        return {n: 1.0 for n in list(ints(event["got"]["nodes"]))[:1]}
    parts = [int(x) for x in spec.split(":")]
    return {n: w / sum(parts) for n, w in enumerate(parts)}


def is_within_unit(fractions, event):
    got = event["got"]
    nodes, bytes_ = ints(event["books"]["frames"]), got["bytes"]
    return set(nodes) <= set(fractions) and all(
        abs(nodes.get(n, 0) - f * bytes_) <= got["unit"] for n, f in fractions.items()
    )


def check_claim(event, claim, machine, wrong):
    """What the case itself claims, of the kernel's books and of the words in got."""
    got, books = event["got"], event.get("books")
    whole = got["bytes"] // HUGE * HUGE
    for key, value in claim.items():
        if key in ("huge", "nodes", "rc") or value is None:
            continue
        if got[key] not in (value if isinstance(value, tuple) else (value,)):
            wrong.append(f"{key} is {got[key]!r}, not {value!r}")
    if not books or event["rc"]:
        return
    huge = books["huge"] + books["hugetlb"]
    true = {
        "all": huge == whole and not books["hugetlb"], "hugetlb": books["hugetlb"] == got["bytes"],
        "none": huge == 0, "some": 0 < huge < whole, None: True,
    }  # fmt: skip
    if not true[claim["huge"]]:
        wrong.append(f"{claim['huge']} huge was claimed: {huge} of {whole} are, {books['hugetlb']} of them hugetlb")
    spec = claim["nodes"]
    if spec == "uneven":
        if is_within_unit(shares("even", machine, event), event):
            wrong.append(f"uneven was claimed, shares are {books['frames']}")
    elif spec and spec.startswith("within:"):
        if not set(ints(books["frames"])) <= {int(n) for n in spec[7:].split(",")}:
            wrong.append(f"{spec} was claimed, shares are {books['frames']}")
    elif spec and not is_within_unit(shares(spec, machine, event), event):
        wrong.append(f"{spec} was claimed, shares are {books['frames']}, unit {got['unit']}")


def check_failure(event, wrong):
    got = event["got"]
    if "books" not in event and (got["bytes"] or got["populated"] or got["nodes"] or got["pages"]):
        wrong.append(f"failed, and yet got {got}")
    if got["pages_why"] in ("met", "unknown", "?") and got["nodes_why"] in ("met", "unknown", "?"):
        wrong.append(f"failed without a reason: {got['pages_why']}, {got['nodes_why']}")
    if "books" in event and event["wrong_at"] >= 0:
        wrong.append(f"failed, and contents are wrong at {event['wrong_at']}")


def check_small(event, case, wrong):
    """Events without a table to look at."""
    what = event["do"]
    if what == "unfill" and event["rc"]:
        wrong.append("a process that filled a node was killed")
    if what == "free" and (event["rc"] or event["again"] != EINVAL or event["given_back_kib"] <= 0):
        wrong.append(f"free: {event['rc']}, again {event['again']}, {event['given_back_kib']} KiB given back")
    if what == "write" and event["late_faults"] > 2 and not case.faults:
        wrong.append(f"write: {event['late_faults']} page faults were left")
    if what == "look" and any(event[k] != v for k, v in case.looks.items()):
        wrong.append(f"a child found {event['found']}, free said {event['free']}; claimed {case.looks}")


def check_case(case, kernel, machine, run):
    """All that is wrong with one case in one guest: a list of sentences."""
    if run is None:
        return ["was not run: the guest ended before"]
    try:
        events = json.loads(run.out)["events"]
    except (ValueError, KeyError):
        return [f"status {run.status}, no JSON: {(run.err or run.out).strip()[-300:]}"]
    wrong = [f"status {run.status}: {run.err.strip()}"] if run.status else []
    claims = list(case.but.get(kernel, case.expect))
    for event in events:
        found = []
        if "got" not in event:
            check_small(event, case, found)
        elif not claims:
            found.append("more was done than claimed")
        else:
            claim = claims.pop(0)
            allowed = claim.get("rc", 0)
            if event["rc"] not in (allowed if isinstance(allowed, tuple) else (allowed,)):
                found.append(f"returned {event['rc']}: {event['text']}")
            elif event["rc"]:
                check_failure(event, found)
                check_claim(event, claim, machine, found)
            else:
                check_books(event, found)
                check_got(event, found)
                check_alone(event, case, found)
                check_claim(event, claim, machine, found)
        wrong += [f"{event['do']}: {w}" for w in found]
    if claims:
        wrong.append(f"{len(claims)} things claimed were not done")
    return wrong


# ---------------------------------------------------------------- running


def chosen(args):
    """{(kernel, machine): [case]} in the order of boots."""
    boots = {}
    for kernel in KERNELS:
        for name in MACHINES:
            if name == "two-v1" and kernel in WEIGHTS:
                continue  # Debian's kernels have version 2 only since 6.12
            if args.kernel and kernel not in args.kernel or args.machine and name not in args.machine:
                continue
            cases = [c for c in CASES if name in c.on and kernel in c.kernels]
            if args.case:
                cases = [c for c in cases if c.name in args.case]
            elif not (args.all or args.kernel or args.machine):
                cases = [c for c in cases if name in c.quick] if (kernel, name) in QUICK else []
            if cases:
                boots[kernel, name] = cases
    return boots


def guest(kernel, name, cases, place):
    machine = MACHINES[name]
    runs = [(script(case, name), False) for case in cases]
    # On a busy host an emulated timer is late, and kernels panic over it unless told not to look.
    append = f"{machine.append} no_timer_check".strip()
    return lab.Guest(kernel=kernel, memory=machine.memory, nodes=machine.nodes, append=append,
                     put=[(place, "place")], run=runs, timeout=120 + 30 * len(cases))  # fmt: skip


def runs_of(directory, count):
    """The runs that came to their end, also of a guest that did not."""
    runs = []
    for n in range(1, count + 1):
        texts = [directory / f"run-{n}.{x}" for x in ("status", "out", "err")]
        if not all(t.exists() for t in texts):
            runs.append(None)
            continue
        status, out, err = (t.read_text(errors="replace") for t in texts)
        runs.append(lab.Run(int(status), out, err))
    return runs


def killed(directory):
    """What the OOM killer did."""
    log = directory / "dmesg.end"
    text = log.read_text(errors="replace") if log.exists() else ""
    return re.findall(r"(?:Out of memory|Memory cgroup out of memory): Killed process \d+ \(([^)]*)\)", text)


def memory_available_mib():
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) >> 10
    return 0


def report_boot(kernel, name, cases, result, directory):
    """Prints a line per case. Returns (lines, how many are wrong)."""
    lines, bad = [], 0
    machine = MACHINES[name]
    for case, run in zip(cases, runs_of(directory, len(cases))):
        wrong = check_case(case, kernel, machine, run)
        bad += bool(wrong)
        lines.append(f"{kernel:5} {name:12} {case.name:22} {'FAIL' if wrong else 'ok'}")
        lines += [f"        {text}" for text in wrong]
    victims = killed(directory)
    if victims:
        bad += 1
        lines.append(f"{kernel:5} {name:12} {'(OOM killer)':22} FAIL  killed {', '.join(victims)}")
    if isinstance(result, lab.LabError):
        bad += 1
        lines.append(f"{kernel:5} {name:12} {'(the boot)':22} FAIL  {str(result).splitlines()[0]}")
    print("\n".join(lines), flush=True)
    return lines, bad


def run_all(boots, place, out, jobs):
    for kernel in sorted({k for k, _ in boots}):
        lab.fetch(kernel)
    guests = [(f"{k}-{m}", guest(k, m, cases, place)) for (k, m), cases in boots.items()]
    # The longest first, so that none is waited for alone.
    guests.sort(key=lambda g: -len(g[1].run))
    table, bad, releases = {}, 0, {}

    def done(name, result):
        nonlocal bad
        if isinstance(result, lab.Skip):
            return
        key = next(k for k in boots if f"{k[0]}-{k[1]}" == name)
        table[key], wrong = report_boot(*key, boots[key], result, Path(out) / name)
        bad += wrong
        if isinstance(result, lab.Boot):
            releases[key[0]] = result.kernel.release

    results = lab.run_matrix(guests, out, jobs, done)
    for result in results.values():
        if isinstance(result, lab.Skip):
            lab.skip(str(result))
    return [line for key in boots for line in table[key]], bad, releases, results


def record(path, lines, summary, releases):
    head = ["tests/kernels/test_library.py --all --record tests/kernels/library-results.txt", ""]
    head += [f"{series}: {release}" for series, release in sorted(releases.items())]
    head += [""] + [f"{name:12} {m.memory:6} {m.drawing}" for name, m in MACHINES.items()]
    Path(path).write_text("\n".join(head + ["", f"{'KERNEL':5} {'MACHINE':11} {'CASE':22} RESULT"] + lines
                                    + ["", summary]) + "\n")  # fmt: skip


def arguments():
    p = argparse.ArgumentParser(description="The library on real kernels.")
    p.add_argument("--all", action="store_true", help="every case, kernel and machine")
    p.add_argument("--kernel", action="append", choices=KERNELS)
    p.add_argument("--machine", action="append", choices=list(MACHINES))
    p.add_argument("--case", action="append", choices=[c.name for c in CASES])
    p.add_argument("--jobs", type=int, help="guests at once (one per CPU)")
    p.add_argument("--out", help="keeps the guests' results")
    p.add_argument("--record", metavar="FILE", help="writes the table to it")
    p.add_argument("--list", action="store_true", help="the cases")
    return p.parse_args()


def main():
    args = arguments()
    if args.list:
        for case in CASES:
            print(f"{case.name:22} {case.claim}\n{'':22} on {' '.join(case.on)}; {' '.join(case.kernels)}")
        return 0
    place = os.environ.get("PLACE_BIN", "")
    if not os.access(place, os.X_OK):
        lab.skip(f"no program for the guests: PLACE_BIN is {place!r}")
    boots = chosen(args)
    spare = memory_available_mib()
    if spare < 1500:
        lab.skip(f"{spare} MiB of memory available, a guest needs 1500")
    jobs = max(1, min(args.jobs or len(os.sched_getaffinity(0)), spare // 1500))
    lab.end_with_children()
    with tempfile.TemporaryDirectory(prefix="hashdist-library-") as tmp:
        out = args.out or os.environ.get("HASHDIST_LAB_OUT") or tmp
        try:
            lines, bad, releases, results = run_all(boots, place, out, jobs)
        except lab.Skip as e:
            lab.skip(str(e))
    seconds = sum(r.seconds for r in results.values() if isinstance(r, lab.Boot))
    count = sum(len(c) for c in boots.values())
    summary = f"{count} cases in {len(boots)} guests, {bad} wrong"
    print(f"{summary}; {seconds:.0f} s of guests, {jobs} at once")
    if args.record:
        record(args.record, lines, summary, releases)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())

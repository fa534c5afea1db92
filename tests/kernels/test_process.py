#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`hashdist report --pid` in real guests with two memory nodes, held against the guest's own numa_maps.

    node 0  |########|    a process with mappings on one, on the other and over both nodes,
    node 1  |########|    on base pages, huge pages and hugetlb; 6.1 and a kernel that can scan

HASHDIST_BIN is the program, HASHDIST_PROCESS_TARGET tests/process/target.c, linked statically;
HASHDIST_LAB_OUT keeps the guests' results.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import lab  # noqa: E402
from test_report import memory_available_mib  # noqa: E402

MIB = 1 << 20
KERNELS = ("6.1", "6.12")
SPARE_MIB = 900

# Starts a process, waits until its mappings are there, P is its number.
START = """
D=$(mktemp -d) N=0 PIDS=
trap 'kill $PIDS 2>/dev/null' EXIT
start() {
	N=$((N + 1)); : > $D/made$N; mkfifo $D/stop$N; sleep 1000 > $D/stop$N &
	PIDS="$PIDS $!"
	"$@" < $D/stop$N > $D/made$N &
	P=$!; PIDS="$PIDS $P"; i=0
	while [ $i -lt 900 ] && ! grep -q ready $D/made$N; do sleep 0.2; i=$((i + 1)); done
	grep -q ready $D/made$N || { cat $D/made$N; exit 99; }
}
set_to() { if [ -w $2 ]; then echo $1 > $2; fi; }
set_to 0 /proc/sys/kernel/numa_balancing
set_to madvise /sys/kernel/mm/transparent_hugepage/enabled
set_to 12 /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages
set_to 12 /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages
"""
# Policies by number: 1 prefer, 2 bind, 3 interleave; masks of nodes behind the colon.
MIXED = (
    "start process-target anon=16,advise,nodes=3:3,touch anon=16,refuse,nodes=3:3,touch "
    "anon=16,advise,nodes=2:1,touch anon=16,advise,nodes=2:2,touch anon=16,refuse,touch,move=0 "
    "anon=16,stripe,advise,touch hugetlb=8,nodes=3:3,touch shared=8,nodes=3:3,touch "
    "memfd=8,nodes=2:2,half heap=9,touch fork\n"
)
SHOW = "hashdist report --pid $P --json; S=$?; echo; cat /proc/$P/numa_maps; exit $S\n"
ONE_CPUSET = """
mount -t cgroup2 none /sys/fs/cgroup && echo +cpuset > /sys/fs/cgroup/cgroup.subtree_control &&
mkdir /sys/fs/cgroup/one && echo 0 > /sys/fs/cgroup/one/cpuset.mems &&
echo $$ > /sys/fs/cgroup/one/cgroup.procs || exit 98
"""

RUNS = {
    "mixed": (START + MIXED + SHOW, False),
    # Without the book that tells exactly, pages are asked for one by one.
    "sampled": (START + MIXED + "mount -o bind /dev/null /proc/$P/numa_maps || exit 97\n"
                "hashdist report --pid $P --json; S=$?; umount /proc/$P/numa_maps; echo\n"
                "cat /proc/$P/numa_maps; exit $S\n", False),
    "nobody": (START + "start process-target anon=16,advise,nodes=3:3,touch "
               "anon=16,refuse,touch,move=1\n" + SHOW, True),
    "task-policy": (START + "start process-target task=2:2 anon=16,advise,touch\n" + SHOW, False),
    "cpuset": (START + ONE_CPUSET + "start process-target anon=16,advise,touch\n" + SHOW, False),
    # 160 MiB on node 0, and less than their half is free on node 1, which another one prefers.
    "full": (START + "start process-target anon=160,advise,touch,move=0\n"
             "F=$(awk '/MemFree/ { print int($4 / 1024) - 20 }' /sys/devices/system/node/node1/meminfo)\n"
             "T=$P; start process-target anon=$F,advise,nodes=1:2,touch; P=$T\n" + SHOW, False),
    "all": (START + MIXED + "hashdist report --all; S=$?; exit $S\n", False),
}


def numa_lines(text):
    """start -> (policy, {node: bytes})."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"([0-9a-f]{8,}) ((?:prefer \(|weighted )?\S+)", line)
        if not match:
            continue
        page = re.search(r"kernelpagesize_kB=(\d+)", line)
        nodes = {n: int(pages) * (int(page.group(1)) << 10)
                 for n, pages in re.findall(r" N(\d+)=(\d+)", line)}
        found[int(match.group(1), 16)] = (match.group(2), nodes)
    return found


def read(run):
    """Rows of one process by address, and the guest's book; raises ValueError."""
    report, at = json.JSONDecoder().raw_decode(run.out)
    (process,) = report["processes"]
    return process["mappings"], numa_lines(run.out[at:])


def inside(row, book):
    start, end = int(row["start"], 16), int(row["end"], 16)
    return [line for at, line in book.items() if start <= at < end]


def compare(run, tolerance=0):
    """Each row's shares against the sum of the lines that begin in it."""
    rows, book = read(run)
    wrong = [] if len(rows) > 0 else ["no rows"]
    for row in rows:
        lines = inside(row, book)
        wanted = {"0": 0, "1": 0}
        for _, nodes in lines:
            for node, size in nodes.items():
                wanted[node] += size
        total = sum(wanted.values())
        got = row["node_bytes"]
        if got is None or any(abs(got[n] - wanted[n]) > tolerance * total for n in wanted):
            wrong.append(f"{row['start']} {row['kind']}: {got}, numa_maps has {wanted}")
        policies = {policy for policy, _ in lines}
        policy = policies.pop() if len(policies) == 1 else "several"
        if not row["node_bytes_sampled"] and row["policy"] != policy:
            wrong.append(f"{row['start']}: policy {row['policy']}, numa_maps has {policy}")
        if row["node_bytes_sampled"] != (tolerance > 0):
            wrong.append(f"{row['start']}: sampled is {row['node_bytes_sampled']}")
    return wrong


def expect(run, **wanted):
    """Of the first row: these keys have these values."""
    rows, _ = read(run)
    return [f"{key} is {rows[0][key]}, not {value}" for key, value in wanted.items()
            if rows[0][key] != value]


def check_mixed(run):
    rows, _ = read(run)
    wrong = compare(run)
    kinds = sorted({row["kind"] for row in rows})
    if kinds != ["anonymous", "heap", "hugetlb", "shmem"]:
        wrong.append(f"kinds {kinds}")
    stripes = [row for row in rows if row["policy"] == "several"]
    if [(row["parts"], row["node_bytes"], row["verdict"]) for row in stripes] != [
        (8, {"0": 8 * MIB, "1": 8 * MIB}, "ok")
    ]:
        wrong.append(f"the striped table: {stripes}")
    verdicts = {v for row in rows for v in row["verdicts"]}
    if verdicts != {"small-pages", "one-node"}:
        wrong.append(f"verdicts {sorted(verdicts)}")
    if run.status != 3:
        wrong.append(f"status {run.status}")
    return wrong


CHECKS = {
    "mixed": check_mixed,
    "sampled": lambda run: compare(run, tolerance=0.1),
    "nobody": compare,
    "task-policy": lambda run: compare(run)
    + expect(run, policy="bind:1", hinders=["policy"], verdict="ok", node_bytes={"0": 0, "1": 16 * MIB}),
    "cpuset": lambda run: compare(run) + expect(run, hinders=["cpuset"], verdict="ok"),
    "full": lambda run: compare(run) + expect(run, hinders=["node-full"], verdict="one-node"),
    "all": lambda run: [] if run.status == 3 and re.search(r"N0 50% N1 50% ", run.out)
    else [f"status {run.status}: {run.out}"],
}


def check(boot):
    wrong = []
    for name, run in zip(RUNS, boot.runs):
        if run.status not in (0, 3):
            wrong.append(f"{name}: status {run.status}: {run.err.strip()} {run.out[-300:]}")
            continue
        try:
            found = CHECKS[name](run)
        except (ValueError, KeyError, IndexError) as e:
            found = [f"{e!r}: {run.out[:300]}"]
        wrong += [f"{name}: {text}" for text in found]
        if run.err.strip():
            wrong.append(f"{name}: on standard error: {run.err.strip()}")
    return wrong


def main():
    binary, target = os.environ.get("HASHDIST_BIN"), os.environ.get("HASHDIST_PROCESS_TARGET")
    for path in (binary, target):
        if not path or not os.access(path, os.X_OK):
            lab.skip(f"no program: HASHDIST_BIN is {binary!r}, HASHDIST_PROCESS_TARGET {target!r}")
    lab.end_with_children()
    spare = memory_available_mib()
    if spare < SPARE_MIB:
        lab.skip(f"{spare} MiB of memory available, a guest needs {SPARE_MIB}")
    put = [(binary, "hashdist"), (target, "process-target")]
    guests = [(kernel, lab.Guest(kernel=kernel, memory="1G", nodes="512M,512M", put=put,
                                 run=list(RUNS.values()), timeout=400,
                                 append="no_timer_check")) for kernel in KERNELS]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="hashdist-process-") as tmp:
        try:
            for kernel in KERNELS:
                lab.fetch(kernel)
        except lab.Skip as e:
            lab.skip(str(e))
        jobs = max(1, min(len(os.sched_getaffinity(0)), spare // SPARE_MIB))
        results = lab.run_matrix(guests, os.environ.get("HASHDIST_LAB_OUT") or tmp, jobs)
        for name, result in results.items():
            if isinstance(result, lab.Skip):
                lab.skip(str(result))
            wrong = [str(result)] if isinstance(result, lab.LabError) else check(result)
            bad += bool(wrong)
            print(f"{'FAIL' if wrong else 'ok'}  {name}")
            for text in wrong:
                print(f"    {text}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

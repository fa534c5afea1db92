#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`hashdist run` in real guests with several memory nodes.

    without  |####||    |   a table of a dynamic program, all where it was first touched, on 4K
    with     |##  ||##  |   on 2M pages, even to within one of them

What a case claims is read here from the guest's own numa_maps and smaps of the program while
it holds its table; why something was not had, from the lines of --explain. The program checks
its contents at its end.

    test_run.py          the quick part
    test_run.py --all    all kernels with two and four nodes
    test_run.py --only CASE[,CASE...]      --on KERNEL-MACHINE[,...], such as 6.12-four

HASHDIST_BIN is the program, HASHDIST_PRELOAD its library, HOLDER_BIN tests/preload/holder.c,
PLACE_BIN place.c and CONFINE_BIN tests/place/confine.c, which start commands under circumstances;
HASHDIST_LAB_OUT keeps the guests' results. Exit status 0 all true, 1 not, 77 cannot run here.
"""

import copy
import dataclasses
import os
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import lab  # noqa: E402

MIB, HUGE, PAGE = 64, 2 << 20, 4096
MACHINES = {"two": ("1G", "512M,512M", 2), "four": ("1536M", "384M,384M,384M,384M", 4)}
QUICK = (("6.1", "two"), ("6.12", "four"))
ALL = tuple((kernel, machine) for kernel in ("5.10", "6.1", "6.12", "7.x") for machine in MACHINES)
COLLAPSES, WEIGHTS = (6, 1), (6, 9)  # kernels from which on there is such a thing
SLOW = 16  # the scanner rests for seconds, longer on a busy host

# One case. The starter runs /tmp/act under its circumstances; $P is the program, which waits
# with its table for the end of its input. Everything between two marks is one answer.
SCRIPT = r"""
say() { echo "@@ $1"; }
thp=/sys/kernel/mm/transparent_hugepage
echo madvise >$thp/enabled
echo 0 >/proc/sys/kernel/numa_balancing
rm -f /tmp/stop /tmp/made /tmp/err /tmp/log
mkfifo /tmp/stop
: >/tmp/log; chmod 666 /tmp/log
cat >/tmp/act <<'END'
say() { echo "@@ $1"; }
sleep 900 >/tmp/stop & S=$!
%(command)s </tmp/stop >/tmp/made 2>/tmp/err & P=$!
for i in $(seq 600); do [ -s /tmp/made ] && break; sleep 0.1; done
same=0 last=
while [ $same -lt %(still)d ] && [ "${i:-0}" -lt 900 ]; do
	sleep 0.5
	now=$(grep -e AnonHugePages -e VmFlags /proc/$P/smaps | md5sum)$(md5sum </proc/$P/numa_maps)
	if [ "$now" = "$last" ]; then same=$((same + 1)); else same=0; fi
	last=$now i=$((i + 1))
done
say made; cat /tmp/made
say numa; cat /proc/$P/numa_maps
say smaps; cat /proc/$P/smaps
%(then)s
kill $S
wait $P; say "status $?"
END
%(before)s
%(starter)s
say log; cat /tmp/log
say err; cat /tmp/err
%(after)s
"""
RUN = "hashdist run --explain=/tmp/log --"
ALONE = "sh /tmp/act"
# The node has room again as who filled it, a child of place, is gone; and somebody asks for it.
ROOM_AGAIN = """
for p in $(pidof place); do
	q=$(cut -d ' ' -f 4 /proc/$p/stat)
	[ "$(cat /proc/$q/comm)" = place ] || continue
	kill -9 $p
	while [ "$(cut -c 1-2 /proc/$p/statm)" != "0 " ]; do sleep 0.2; done
done
sleep 1
say place; hashdist place --pid $P --busy 100
say numa; cat /proc/$P/numa_maps
say smaps; cat /proc/$P/smaps"""
ONE_CPUSET = """
mkdir -p /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control; mkdir -p /sys/fs/cgroup/one
echo 1 >/sys/fs/cgroup/one/cpuset.mems"""


def under(*words):
    """A starter that sets up @words of place.c first."""
    return f"place {' '.join(words)} sh='sh /tmp/act'"


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    claim: str
    check: object  # (Seen, nodes of the machine, version) -> list of what is wrong
    way: str = "malloc"
    run: str = RUN
    starter: object = ALONE  # or a function of the count of nodes
    before: str = ""
    then: str = ""  # while the program still has its table
    after: str = ""
    least: tuple = (0, 0)  # of the kernel
    still: int = 4  # half seconds without a change, after which the books are read


# ---------------------------------------------------------------- what the guest's books say


class Seen:
    """One case's answers, by the mark in front of each."""

    def __init__(self, out):
        self.part, self.status = {}, None
        self.first = {}  # answers that came again, as they were at first
        for piece in out.split("@@ ")[1:]:
            mark, _, text = piece.partition("\n")
            if mark.startswith("status"):
                self.status = int(mark.split()[1])
                continue
            if mark in self.part:
                self.first[mark] = self.part[mark]
            self.part[mark] = text
        start, size = self.part["made"].split()[:2]
        self.start, self.bytes = int(start, 16), int(size)
        self.room = HUGE if self.first else 0

    def before(self):
        """The same with the answers that came first."""
        seen = copy.copy(self)
        seen.part = {**self.part, **self.first}
        return seen

    def mine(self, at, line):
        """
        Does a mapping that begins @at belong to the table? One of small blocks is the heap. A
        policy may have joined it to a small mapping in front.
        """
        if not self.start:
            return "heap" in line
        return (self.start & -PAGE) - self.room <= at < self.start + self.bytes

    def lines(self, book):
        """Its mappings: the rest of the line, with the lines below it."""
        heads = re.finditer(r"^([0-9a-f]+)(?:-[0-9a-f]+)? (.*(?:\n[A-Z].*)*)", self.part[book], re.M)
        return [m[2] for m in heads if self.mine(int(m[1], 16), m[2].split("\n")[0])]

    def held(self, count, policy=""):
        """Bytes on each node, of mappings with that policy."""
        held = [0] * count
        for line in self.lines("numa"):
            for node, pages in re.findall(r" N(\d+)=(\d+)", line) if policy in line else ():
                held[int(node)] += int(pages) * PAGE
        return held

    def huge(self):
        return sum(int(kib) << 10 for part in self.lines("smaps")
                   for kib in re.findall(r"AnonHugePages: +(\d+) kB", part))  # fmt: skip

    def whole(self):
        """Bytes of the table in whole huge pages' worth of addresses."""
        return (self.start + self.bytes) // HUGE * HUGE - -(-self.start // HUGE) * HUGE


def explained(seen, *words):
    log = seen.part.get("log", "")
    return [] if all(word in log for word in words) else [f"no {words} in --explain: {log!r}"]


def on_huge_pages(seen, share=1.0):
    whole = seen.whole() if seen.start else sum(seen.held(64))
    return [] if seen.huge() >= whole * share else [f"{seen.huge()} of {whole} bytes on huge pages"]


def even(seen, nodes, weights=None):
    """Shares of what is interleaved, to within one huge page; ends that are no whole one are free."""
    held = seen.held(64, "interleave")
    whole = seen.whole() if seen.start else seen.huge()
    ends = max(0, sum(held) - whole)
    weights = weights or [1] * nodes
    wanted = [sum(held) * weight / sum(weights) for weight in weights]
    wrong = [f"{sum(held)} bytes are spread, of {whole}"] if sum(held) < whole else []
    if sum(held[nodes:]) or any(abs(a - b) > HUGE + ends for a, b in zip(held, wanted)):
        wrong.append(f"not even: {held[:nodes]} and {sum(held[nodes:])} elsewhere")
    if nodes == 2 and not weights[2:] and weights[0] == weights[1] and abs(held[0] - held[1]) > HUGE + ends:
        wrong.append(f"apart by more than one huge page: {held[:2]}")
    return wrong


# ---------------------------------------------------------------- claims


def placed(seen, nodes, version):
    """A block at an end may lie across two mappings; that one the scanner is refused."""
    wrong = on_huge_pages(seen) + even(seen, nodes)
    refused = re.findall(r".* (?:malloc|mmap): .*errno.*", seen.part["log"])
    return wrong + [f"said to be refused: {line}" for line in refused]


def grown(seen, nodes, version):
    """Of small blocks: what no hook sees, the scanner brings there; where there is a collapse."""
    if version < COLLAPSES:
        return explained(seen, "this kernel has no collapse: hooks only")
    return on_huge_pages(seen, 0.9) + even(seen, nodes)


def never(seen, nodes, version):
    wrong = even(seen, nodes) + explained(seen, "start: thp-never: ")
    wrong += [f"{seen.huge()} bytes on huge pages all the same"] if seen.huge() else []
    return wrong + ([] if "never" in seen.part["err"] else [f"not said: {seen.part['err']}"])


def all_on(node, *why):
    """Not spread, all on one node, and why."""

    def check(seen, nodes, version):
        held = seen.held(nodes)
        wrong = on_huge_pages(seen) + explained(seen, *why)
        if held[node] != sum(held):
            wrong.append(f"not all on node {node}: {held}")
        if "interleave" in seen.part["numa"]:
            wrong.append("a policy of ours is there")
        return wrong

    return check


def thp_off(seen, nodes, version):
    return placed(seen, nodes, version) + explained(
        seen, "start: huge pages were switched off for this process: on again")


def own_plan(seen, nodes, version):
    """The upper half is where the program bound it; the lower half is spread."""
    held = seen.held(nodes, "bind:1")
    wrong = on_huge_pages(seen)
    if held[1] != sum(held) or sum(held) != seen.bytes // 2:
        wrong.append(f"of the {seen.bytes // 2} bytes bound to node 1: {held}")
    spread = seen.held(nodes, "interleave")
    if max(spread) - min(spread) > HUGE or sum(spread) < seen.bytes // 2:
        wrong.append(f"the other half: {spread}")
    return wrong


def node_full(seen, nodes, version):
    held = seen.before().held(nodes, "interleave")
    wrong = on_huge_pages(seen.before())
    if held[0] <= held[1] + HUGE:
        wrong.append(f"the node was not full: {held}")
    if version < COLLAPSES:
        return wrong + explained(seen, "this kernel has no collapse: hooks only")
    later = [f"after place: {line}" for line in on_huge_pages(seen) + even(seen, nodes)]
    return wrong + explained(seen, "on node 1: node-full") + later


def fragmented(seen, nodes, version):
    wrong = [f"{seen.huge()} bytes on huge pages: not fragmented"] if seen.huge() > seen.whole() / 2 else []
    if version < COLLAPSES:
        return wrong + explained(seen, "this kernel has no collapse: hooks only")
    return wrong + explained(seen, "blocks, no free huge page: refused, errno 12")


def filtered(seen, nodes, version):
    wrong = on_huge_pages(seen)
    wrong += ["a policy of ours is there"] if "interleave" in seen.part["numa"] else []
    return wrong + explained(seen, "spread over nodes: refused, errno 1, not permitted")


def weighted(seen, nodes, version):
    return on_huge_pages(seen) + even(seen, nodes, [3] + [1] * (nodes - 1))


CASES = (
    Case("malloc", "a table from malloc begins on 2M pages, even to within one of them", placed),
    Case("mmap", "one from mmap too", placed, way="mmap"),
    Case("small", "a heap of small blocks is brought there", grown, way="small", still=SLOW),
    Case("balancing", "NUMA balancing does not undo it", placed,
         before="echo 1 >/proc/sys/kernel/numa_balancing"),
    Case("from-outside", "without a preload the same is reached", placed, way="mmap",
         run="hashdist run --from-outside --explain=/tmp/log --", least=COLLAPSES, still=SLOW),
    Case("weights", "the administrator's weights are followed", weighted, way="mmap", least=WEIGHTS,
         before="echo 3 >/sys/kernel/mm/mempolicy/weighted_interleave/node0",
         after="echo 1 >/sys/kernel/mm/mempolicy/weighted_interleave/node0"),
    Case("never", "an administrator's never is respected and named; the spread is not lost for it", never,
         before="echo never >$thp/enabled"),
    Case("bind", "a user's policy that binds it to one node is respected, and named",
         all_on(1, "start: not spread: task-policy: "), starter=under("policy=bind:1")),
    Case("bind-two", "one that binds it to two nodes: even over those",
         lambda seen, nodes, version: on_huge_pages(seen) + even(seen, 2), starter=under("policy=bind:0-1")),
    Case("bind-two-outside", "from outside it is respected, too",
         lambda seen, nodes, version: on_huge_pages(seen) + even(seen, 2), way="mmap", least=COLLAPSES, still=SLOW,
         run="hashdist run --from-outside --explain=/tmp/log --", starter=under("policy=bind:0-1")),
    Case("preferred", "a user's preference for one node is respected, and named",
         all_on(1, "start: not spread: task-policy: "), starter=under("policy=preferred:1")),
    Case("cpuset", "a cpuset that leaves one node is named", all_on(1, "start: not spread: cpuset: "),
         before=ONE_CPUSET, starter=under("cgroup=/sys/fs/cgroup/one/cgroup.procs")),
    Case("thp-off", "huge pages switched off by the starter are on again, and that is said", thp_off,
         starter=under("thp-off")),
    Case("filtered", "in a container that filters the calls for it, it is not spread, and that is named",
         filtered, run=f"confine user=65534 no-caps no-new-privs seccomp -- {RUN}"),
    Case("own-plan", "nodes that the program chooses itself are left to it", own_plan, way="bound"),
    Case("node-full", "a node without free huge pages gets less, is named, the table stays on 2M pages; "
         "with room again place evens it out", node_full,
         way="mmap", starter=under("fragment=1:40M"), still=SLOW, then=ROOM_AGAIN),
    Case("fragmented", "without free huge pages the table is there all the same, and the reason named",
         fragmented, way="mmap", still=SLOW,
         starter=lambda nodes: under(*(f"fragment={node}:30M" for node in range(nodes)))),
)  # fmt: skip


# ---------------------------------------------------------------- running them


def command(case, nodes):
    starter = case.starter if isinstance(case.starter, str) else case.starter(nodes)
    return SCRIPT % {"before": case.before, "starter": starter, "then": case.then, "after": case.after,
                     "still": case.still, "command": f"{case.run} holder {case.way} {MIB}"}  # fmt: skip


def judge(case, run, nodes, version):
    try:
        seen = Seen(run.out)
        wrong = case.check(seen, nodes, version)
        if seen.status != 0:
            wrong.append(f"the program ended with {seen.status}: {seen.part.get('err')}")
        return wrong
    except (KeyError, IndexError, TypeError, ValueError) as problem:
        return [f"no sense in the answer ({problem!r}): {run.out[-600:]} {run.err[-300:]}"]


def guest(kernel, machine, cases, files):
    memory, shape, nodes = MACHINES[machine]
    return lab.Guest(kernel=kernel, memory=memory, nodes=shape, put=files, timeout=800,
                     run=[(command(case, nodes), False) for case in cases])  # fmt: skip


def version_of(boot):
    return tuple(int(n) for n in re.findall(r"\d+", boot.kernel.release)[:2])


def show(kernel, machine, cases, boot):
    """One guest's cases; how many failed."""
    if isinstance(boot, lab.Skip):
        lab.skip(str(boot))
    if isinstance(boot, lab.LabError):
        print(f"FAIL {kernel:5} {machine:5} the guest: {boot}")
        return len(cases)
    failed, version = 0, version_of(boot)
    for case, run in zip(cases, boot.runs):
        if version < case.least:
            continue
        wrong = judge(case, run, MACHINES[machine][2], version)
        failed += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {kernel:5} {machine:5} {case.name}: {case.claim}")
        for line in wrong:
            print(f"       {line}")
    return failed


def run_guests(shapes, cases, files):
    out = os.environ.get("HASHDIST_LAB_OUT")
    guests = [(f"{kernel}-{machine}", guest(kernel, machine, cases, files)) for kernel, machine in shapes]
    with tempfile.TemporaryDirectory(prefix="hashdist-run-") as scratch:
        try:
            for kernel, _ in shapes:
                lab.fetch(kernel)
        except lab.Skip as reason:
            lab.skip(str(reason))
        boots = lab.run_matrix(guests, Path(out or scratch))
        return sum(show(kernel, machine, cases, boots[name])
                   for (kernel, machine), (name, _) in zip(shapes, guests))  # fmt: skip


def chosen(words, option):
    return words[words.index(option) + 1].split(",") if option in words else None


def main():
    names = ("HASHDIST_BIN", "HASHDIST_PRELOAD", "HOLDER_BIN", "PLACE_BIN", "CONFINE_BIN")
    binary, library, holder, place, confine = paths = [os.environ.get(name) for name in names]
    if not all(paths):
        print(f"{', '.join(names)} must name the programs", file=sys.stderr)
        return 2
    words = sys.argv[1:]
    only, on = chosen(words, "--only"), chosen(words, "--on")
    cases = [case for case in CASES if not only or case.name in only]
    shapes = ALL if "--all" in words or on else QUICK
    shapes = [shape for shape in shapes if not on or "-".join(shape) in on]
    lab.end_with_children()
    # As in the build: the library is looked for beside the directory of the program.
    files = [(binary, "/lab/hashdist"), (library, "/preload/libhashdist-run.so"), (holder, "holder"),
             (Path(holder).parent / "libearly.so", "libearly.so"), (place, "place"), (confine, "confine")]  # fmt: skip
    failed = run_guests(shapes, cases, files)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

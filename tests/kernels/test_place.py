#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`hashdist place` on a running, writing program, in real guests.

    before   |####||    |   all of it on node 0, on 4K pages
    after    |##  ||##  |   on 2M pages, half of it on each node

What a case claims is read from the guest's own books, numa_maps and smaps, and the
program itself says at its end whether a single write was lost.

    test_place.py          the quick part
    test_place.py --all    all cases on all kernels with two and four nodes

HASHDIST_BIN is the program, VICTIM_BIN the one it works on, CONFINE_BIN tests/place/confine.c;
HASHDIST_LAB_OUT keeps the guests' results. Exit status 0 all true, 1 not, 77 cannot run here.
"""

import dataclasses
import json
import os
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import lab  # noqa: E402

MIB, HUGE, PAGE = 64, 2 << 20, 4096
BYTES = MIB << 20
MACHINES = {"two": ("1G", "512M,512M", 2), "four": ("1536M", "384M,384M,384M,384M", 4)}
QUICK = (("6.1", "two"), ("6.12", "four"))
ALL = tuple((kernel, machine) for kernel in ("6.1", "6.12", "7.x") for machine in MACHINES)

# Runs one case: set-up, the victim, commands against it, its books before and after, its end.
# $P is its pid, $R its address range. Everything between two marks is one answer.
SCRIPT = r"""
say() { echo "@@ $1"; }
thp=/sys/kernel/mm/transparent_hugepage
books() {
	say "numa $1"; cat /proc/$P/numa_maps
	say "smaps $1"; cat /proc/$P/smaps
}
hd() { say "place"; hashdist place --pid $P --min 8M --step 1000 --busy 100 --json "$@"; say "status $?"; }
echo never >$thp/enabled
echo 0 >/proc/sys/kernel/numa_balancing
mkdir -p /run
%(before)s
%(victim)s >/tmp/victim.out 2>&1 &
for i in $(seq 900); do grep -q ready /tmp/victim.out && break; sleep 0.1; done
read -r word address bytes P rest </tmp/victim.out
say "victim"; cat /tmp/victim.out
echo madvise >$thp/enabled
%(between)s
books before
%(act)s
books after
kill $P
for i in $(seq 100); do grep -q -e fine -e instead /tmp/victim.out && break; sleep 0.1; done
say "end"; tail -n 1 /tmp/victim.out
%(after)s
"""


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    claim: str
    act: str
    check: object  # (Seen, nodes) -> list of what is wrong
    victim: str = f"victim {MIB} bind 0"
    before: str = ""
    between: str = ""
    after: str = ""
    nobody: bool = False


# ---------------------------------------------------------------- what the guest's books say


class Seen:
    """One case's answers, by the mark in front of each."""

    def __init__(self, out):
        self.part = {}
        self.places = []
        self.status = []
        for piece in out.split("@@ ")[1:]:
            mark, _, text = piece.partition("\n")
            if mark == "place":
                self.places.append(json.loads(text) if text.startswith("{") else text)
            elif mark.startswith("status"):
                self.status.append(int(mark.split()[1]))
            else:
                self.part[mark] = text
        words = self.part.get("victim", "").split()
        self.start = int(words[1], 16) if len(words) > 3 else None

    def lines(self, book, when):
        """Mappings that begin in the table: (address, rest of the line or the lines below it)."""
        text = self.part[f"{book} {when}"]
        heads = re.finditer(r"^([0-9a-f]+)(?:-[0-9a-f]+)? (.*(?:\n[A-Z].*)*)", text, re.M)
        return [m[2] for m in heads if self.start <= int(m[1], 16) < self.start + BYTES]

    def nodes(self, when, count):
        held = [0] * count
        for line in self.lines("numa", when):
            for node, pages in re.findall(r" N(\d+)=(\d+)", line):
                held[int(node)] += int(pages) * PAGE
        return held

    def huge(self, when):
        return sum(int(kib) << 10 for part in self.lines("smaps", when)
                   for kib in re.findall(r"AnonHugePages: +(\d+) kB", part))

    def flags(self, when):
        return [re.search(r"VmFlags:(.*)", part)[1].split() for part in self.lines("smaps", when)]


def even(held):
    return max(held) - min(held) <= HUGE and sum(held) == BYTES


# ---------------------------------------------------------------- claims


def started(seen, nodes):
    held = seen.nodes("before", nodes)
    wrong = [] if held[0] == BYTES else [f"the table did not begin on node 0: {held}"]
    return wrong + ([f"it began on huge pages: {seen.huge('before')}"] if seen.huge("before") else [])


def mended(seen, nodes):
    wrong = started(seen, nodes)
    if seen.huge("after") != BYTES:
        wrong.append(f"{seen.huge('after')} of {BYTES} bytes on huge pages")
    if not even(seen.nodes("after", nodes)):
        wrong.append(f"not even: {seen.nodes('after', nodes)}")
    return wrong


def agrees(seen, nodes):
    """What the program said at its end is what the books say."""
    after = seen.places[-1]["after"]
    said = [node["bytes"] for node in after["nodes"]]
    wrong = []
    # Its sums hold other large mappings too, of which the victim has none.
    if after["huge_bytes"] != seen.huge("after"):
        wrong.append(f"it said {after['huge_bytes']} huge, the books {seen.huge('after')}")
    if said != seen.nodes("after", nodes):
        wrong.append(f"it said {said} by node, the books {seen.nodes('after', nodes)}")
    return wrong


def mended_and_kept(seen, nodes):
    wrong = mended(seen, nodes) + agrees(seen, nodes)
    if not all("hg" in flags for flags in seen.flags("after")):
        wrong.append("the advice was not kept")
    if not all("interleave" in line for line in seen.lines("numa", "after")):
        wrong.append(f"the policy was not kept: {seen.lines('numa', 'after')}")
    result = seen.places[-1]["result"]
    if not (result["kept_advice"] and result["kept_policy"]) or result["keep_errno"]:
        wrong.append(f"it did not say so: {result}")
    return wrong


def wrong_order(seen, nodes):
    """
    Spread page by page first, as interleaving does on 4K pages, and collapsed second: huge,
    and all on one node. A collapse allocates its huge page on the node that holds most of
    the block, and where pages alternate that is the same node for every block.
    """
    held = seen.nodes("before", nodes)
    wrong = [] if even(held[:2]) else [f"the table did not begin even: {held}"]
    if seen.huge("after") != BYTES:
        wrong.append(f"not even huge: {seen.huge('after')}")
    if even(seen.nodes("after", nodes)[:2]):
        wrong.append("even: the order does not matter here, and what is said about it is wrong")
    return wrong


def mended_despite_balancing(seen, nodes):
    wrong = [] if seen.huge("after") == BYTES else [f"{seen.huge('after')} of {BYTES} bytes on huge pages"]
    return wrong + ([] if even(seen.nodes("after", nodes)) else [f"not even: {seen.nodes('after', nodes)}"])


def untouched(obstacle):
    def check(seen, nodes):
        wrong = started(seen, nodes)
        result = seen.places[-1]["result"]
        if seen.huge("after"):
            wrong.append("it collapsed all the same")
        if result["collapse_obstacle"] != obstacle:
            wrong.append(f"the reason is {result['collapse_obstacle']}, not {obstacle}")
        return wrong

    return check


def dry(seen, nodes):
    wrong = started(seen, nodes)
    result = seen.places[-1]["result"]
    if seen.huge("after") or seen.nodes("after", nodes)[0] != BYTES:
        wrong.append("a dry run did something")
    if result["collapse_wanted_blocks"] != BYTES // HUGE or result["steps"]:
        wrong.append(f"it did not say what it would do: {result}")
    return wrong


def undone(seen, nodes):
    wrong = started(seen, nodes)
    held = seen.nodes("after", nodes)
    if held[0] != BYTES:
        wrong.append(f"not back on node 0: {held}")
    if any("interleave" in line for line in seen.lines("numa", "after")):
        wrong.append("the policy is still there")
    return wrong


def node_full(seen, nodes):
    wrong = started(seen, nodes)
    result = seen.places[-1]["result"]
    if seen.huge("after") != BYTES:
        wrong.append("blocks were split to move them")
    if not result["refused_blocks"]["node-full"]:
        wrong.append(f"the full node is not named: {result['refused_blocks']}")
    return wrong


def shared(seen, nodes):
    """After a fork pages are shared: whatever the kernel lets be done, each refusal is counted."""
    result = seen.places[-1]["result"]
    done, refused = result["collapsed_blocks"], sum(result["refused_blocks"].values())
    return [] if done + refused >= result["collapse_wanted_blocks"] > 0 else [f"{result}"]


def forbidden(seen, nodes):
    wrong = started(seen, nodes)
    if seen.status[-1] != 1 or "no right" not in seen.part.get("message", ""):
        wrong.append(f"status {seen.status}, said {seen.part.get('message')}")
    return wrong


def filtered(seen, nodes):
    wrong = started(seen, nodes)
    result = seen.places[-1]["result"]
    for part in ("collapse_obstacle", "spread_obstacle"):
        if result[part] != "filtered":
            wrong.append(f"{part} is {result[part]}")
    if seen.huge("after") or seen.status != [3]:
        wrong.append(f"{seen.huge('after')} bytes on huge pages, status {seen.status}")
    return wrong


def through_itself(seen, nodes):
    wrong = mended(seen, nodes)
    if not seen.places[-1]["result"]["through_target"]:
        wrong.append("it had a right it should not have")
    return wrong


CASES = (
    Case("mend", "a 4K, one-node table ends on 2M pages, even to within one of them, for good",
         "hd", mended_and_kept),
    Case("balancing", "NUMA balancing does not undo it: policy and advice are the table's own",
         "hd; sleep 6", mended_despite_balancing,
         between="echo 1 >/proc/sys/kernel/numa_balancing; sleep 3"),
    Case("wrong-order", "spread, then collapse: all on one node", "hd --once --no-spread", wrong_order,
         victim=f"victim {MIB} interleave"),
    Case("right-order", "and spread once more, by whole blocks: even", "hd --once --no-spread; hd --once",
         lambda seen, nodes: mended_despite_balancing(seen, nodes), victim=f"victim {MIB} interleave"),
    Case("once", "without stopping it the same is reached", "hd --once", mended),
    Case("dry-run", "nothing is done, and it is said what would be", "hd --dry-run", dry),
    Case("undo", "bytes go back to the node they came from", "hd; hd --undo", undone),
    Case("never", "an administrator's never is respected, and named", "hd --no-spread", untouched("thp-never"),
         between="echo never >$thp/enabled"),
    Case("despite-never", "unless told otherwise", "hd --despite-never", mended,
         between="echo never >$thp/enabled"),
    Case("thp-off", "a program's own wish is respected, and named", "hd --no-spread", untouched("thp-off"),
         victim=f"victim {MIB} thp-off bind 0"),
    Case("full", "a full node gets nothing, is named, and no block is split for it", "hd",
         node_full,
         between="echo 1000 | tee /sys/devices/system/node/node[1-9]*/hugepages/*-2048kB/nr_hugepages >/dev/null",
         after="echo 0 >/proc/sys/vm/nr_hugepages"),
    Case("fork", "what is shared since a fork is counted by reason", "hd", shared,
         victim=f"victim {MIB} bind 0 fork"),
    Case("no-right", "another user's process: one clear line", r"""
say message; su nobody -s /bin/sh -c "PATH=$PATH hashdist place --pid $P --json" 2>&1; say "status $?" """,
         forbidden),
    Case("user", "its own user without any capability reaches the same through the program itself",
         r"""say place; su nobody -s /bin/sh -c "PATH=$PATH XDG_RUNTIME_DIR=/tmp hashdist place --pid $P \
	--min 8M --step 1000 --busy 100 --json"; say "status $?" """, through_itself,
         victim=f'su nobody -s /bin/sh -c "PATH=$PATH exec victim {MIB} bind 0"'),
    Case("filtered", "in a container that filters the calls for it nothing is done, and that is named",
         r"""say place; confine user=65534 no-caps no-new-privs seccomp -- hashdist place --pid $P \
	--min 8M --step 1000 --busy 100 --json; say "status $?" """, filtered,
         victim=f'su nobody -s /bin/sh -c "PATH=$PATH exec victim {MIB} bind 0"'),
)  # fmt: skip


# ---------------------------------------------------------------- running them


def command(case):
    return SCRIPT % {"before": case.before, "victim": case.victim, "between": case.between,
                     "act": case.act, "after": case.after}  # fmt: skip


def judge(case, run, nodes):
    try:
        seen = Seen(run.out)
        if seen.start is None:
            return [f"the victim did not start: {run.out[-300:]} {run.err[-300:]}"]
        wrong = case.check(seen, nodes)
        if "fine after" not in seen.part.get("end", ""):
            wrong.append(f"the victim: {seen.part.get('end', 'no word from it')}")
        return wrong
    except (KeyError, IndexError, TypeError, ValueError) as problem:
        return [f"no sense in the answer ({problem!r}): {run.out[-600:]} {run.err[-300:]}"]


def guest(kernel, machine, files):
    memory, nodes, _ = MACHINES[machine]
    return lab.Guest(kernel=kernel, memory=memory, nodes=nodes, put=files, timeout=600,
                     run=[(command(case), False) for case in CASES])  # fmt: skip


def main():
    names = ("HASHDIST_BIN", "VICTIM_BIN", "CONFINE_BIN")
    binary, victim, confine = paths = [os.environ.get(name) for name in names]
    if not all(paths):
        print(f"{', '.join(names)} must name the programs", file=sys.stderr)
        return 2
    shapes = ALL if "--all" in sys.argv[1:] else QUICK
    files = [(binary, "hashdist"), (victim, "victim"), (confine, "confine")]
    guests = [(f"{kernel}-{machine}", guest(kernel, machine, files)) for kernel, machine in shapes]
    failed = run_guests(guests, shapes)
    print(f"{len(CASES) * len(shapes)} cases, {failed} failed")
    return 1 if failed else 0


def show(kernel, machine, boot):
    """One guest's cases; how many failed."""
    if isinstance(boot, lab.Skip):
        lab.skip(str(boot))
    if isinstance(boot, lab.LabError):
        print(f"FAIL {kernel:5} {machine:5} the guest: {boot}")
        return len(CASES)
    failed = 0
    for case, run in zip(CASES, boot.runs):
        wrong = judge(case, run, MACHINES[machine][2])
        failed += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {kernel:5} {machine:5} {case.name}: {case.claim}")
        for line in wrong:
            print(f"       {line}")
    return failed


def run_guests(guests, shapes):
    out = os.environ.get("HASHDIST_LAB_OUT")
    with tempfile.TemporaryDirectory(prefix="hashdist-place-") as scratch:
        try:
            for kernel, _ in shapes:
                lab.fetch(kernel)
        except lab.Skip as reason:
            lab.skip(str(reason))
        boots = lab.run_matrix(guests, Path(out or scratch))
        return sum(show(kernel, machine, boots[name])
                   for (kernel, machine), (name, _) in zip(shapes, guests))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
beside_linux.py - the example kernel beside Linux, on the same emulated machines

    beside_linux.py [--quick] [--only PATTERN] KERNEL     held against recorded boots of Linux
    beside_linux.py --live [--only PATTERN] KERNEL        Linux is booted now, too (6.1)
    beside_linux.py --tables --only PATTERN KERNEL        every table of these boots, with its place

KERNEL is examples/kernel/example-kernel of a build. The machine's shape and the command line are
those of a boot in tests/kernels/matrix-results/; ours gets `as=VERSION` in addition. Compared are:

    LINES   entries, order, bytes and mapping of each table that both have, word for word
    PAGES   the pages from which tables are sized, which Linux prints up to 6.9
    NODES   pages on each node of each table from vmalloc; TURN: equal but for the first node

A difference counts unless KNOWN names it with its reason. Exit status 1 if any counts, 77 if it
cannot be done here; HASHDIST_REQUIRE_ALL=1 makes that 1.
"""

import argparse
import dataclasses
import fnmatch
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kernels"))
import lab  # noqa: E402
import matrix  # noqa: E402

TIMEOUT = 60
PAGE = 4096
SIZES = {"4K": 1 << 12, "2M": 1 << 21, "1G": 1 << 30}

# (boot, what, reason): patterns as in a shell. `what` is a table's name as the log says it,
# "NAME: mapping" if nothing else of its line differs, "NAME: nodes", "pages", or "hashdist". One
# that fits nothing any more is reported.
_NO_FAKES = "the example makes no nodes of its own for numa=fake="
KNOWN = (
    ("*-fake4", "*: mapping", _NO_FAKES),
    ("*-fake4", "hashdist", _NO_FAKES),
    ("*n-full", "*: nodes", "how much of the full node is taken already differs between the two kernels"),
    ("5.10-*", "MPTCP token", "a build option, off in Debian's 5.10 kernel: only ours has the table"),
    ("5.10-*", "pages", "before 5.13 Linux left most of the first MiB free; the example never does: 137 pages"),
    ("*", "VFS: Dquot-cache", "not allocated as the others are: only Linux has it"),
    ("7.x-*", "futex", "from 6.16 on not allocated as the others are: only Linux has it"),
)  # fmt: skip

# The boots of --quick: each kernel, each number of nodes, each kind of memory, halving.
QUICK = (
    "5.10-2n-2G", "6.1-512M", "6.1-2G", "6.1-2G-hd1", "6.1-2n-2G", "6.1-2n-hd0", "6.1-2n-lopsided",
    "6.1-2n-memless-hd1", "6.1-3n-tiny", "6.1-2G-huge", "6.1-4n-16G", "6.12-8G", "6.12-2n-2G",
    "7.x-2n-16G", "7.x-4n-8G-nohuge",
)  # fmt: skip

GOT = re.compile(r"got (?P<key>[\w-]+): (?P<bytes>\d+) bytes, (?P<translations>\d+) translations, "
                 r"(?P<sizes>[^,]*),(?P<nodes>.*)")  # fmt: skip
MACHINE = re.compile(r"machine: (\d+) memory nodes, (\d+) online, (\d+) possible cpus, (\d+) pages count, "
                     r"hashdist (\d)")  # fmt: skip


# ---------------------------------------------------------------- booting ours


@dataclasses.dataclass
class Table:
    """One table of the example kernel: its line, and where its page tables have it."""

    line: str
    key: str
    bytes: int
    translations: int
    sizes: dict  # bytes behind translations of "4K", "2M", "1G"
    nodes: dict  # bytes on each node

    @property
    def name(self):
        return matrix.HASH.match(self.line)["name"]

    @property
    def entries(self):
        return int(self.line[matrix.HASH.match(self.line).end() :].split()[0])

    @property
    def mapping(self):
        return self.line.rstrip(")").rpartition(", ")[2]


@dataclasses.dataclass
class Ours:
    """A boot of the example kernel."""

    text: str
    seconds: float
    tables: list
    memory_nodes: int
    online: int
    cpus: int
    pages: int
    hashdist: bool

    @property
    def ended(self):
        return self.text.endswith("\ndone\n")


def parse(text, seconds=0.0):
    """What a boot said. Raises LabError where the lines and their places do not go together."""
    lines = [t for t in text.splitlines() if matrix.HASH.match(t)]
    found = [m for m in map(GOT.fullmatch, text.splitlines()) if m]
    machine = MACHINE.search(text)
    if not machine or len(lines) != len(found):
        raise lab.LabError(f"the example kernel did not come to its end:\n{text}")

    def figures(part):
        return {k: int(v) for k, v in (word.split("=") for word in part.split())}

    tables = [
        Table(line, m["key"], int(m["bytes"]), int(m["translations"]), figures(m["sizes"]),
              {int(k[1:]): v for k, v in figures(m["nodes"]).items()})
        for line, m in zip(lines, found)
    ]  # fmt: skip
    memory_nodes, online, cpus, pages, hashdist = map(int, machine.groups())
    return Ours(text, seconds, tables, memory_nodes, online, cpus, pages, bool(hashdist))


def boot_text(kernel, append, memory="2G", nodes="", cpus=0, max_cpus=0, cpu="max", qemu=()):
    """(all that the example kernel says on such a machine, seconds)."""
    arch = lab.ARCHES["x86-64"]
    if not kernel or not Path(kernel).exists():
        raise lab.Skip("the example kernel is not built: it needs an x86-64 compiler")
    if not shutil.which(arch.emulator):
        raise lab.Skip(f"'{arch.emulator}' is missing (package {arch.emulator_package})")
    parsed = lab.parse_nodes(nodes)
    cpus = cpus or max(2, sum(n.has_cpu for n in parsed))
    with tempfile.TemporaryDirectory(prefix="hashdist-embedding-") as tmp:
        serial = Path(tmp) / "serial"
        argv = [
            arch.emulator, "-accel", "tcg", "-machine", arch.machine, "-cpu", cpu,
            "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
            *lab.shape_arguments(lab.parse_size(memory), parsed, cpus, max_cpus),
            "-kernel", str(kernel), "-append", append, "-serial", f"file:{serial}", *qemu,
        ]  # fmt: skip
        begin = time.monotonic()
        try:
            out = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired as e:
            raise lab.LabError(f"no end after {TIMEOUT} s; it said:{lab._tail(serial)}") from e
        seconds = time.monotonic() - begin
        if out.returncode:
            raise lab.LabError(f"the emulator failed: {out.stderr.strip()}")
        return serial.read_text(errors="replace"), seconds


def boot(kernel, append, **shape):
    return parse(*boot_text(kernel, append, **shape))


def boot_as(kernel, facts):
    """The example kernel on the machine of a boot of Linux, with its command line and rules."""
    shape = facts.shape
    words = [f"console={lab.ARCHES[shape['arch']].console}", lab.BASE_APPEND, shape["append"],
             f"as={shape['version'].partition('-')[0]}", "lookups=1000"]  # fmt: skip
    if shape["preempt_rt"]:
        words.append("rule=spinlock-bytes=32")  # a build option: no version tells of it
    return boot(kernel, " ".join(filter(None, words)), memory=shape["memory"], nodes=shape["nodes"],
                cpus=shape["cpus"], max_cpus=shape["max_cpus"])  # fmt: skip


# ---------------------------------------------------------------- comparing


def as_plan(ours):
    """A boot of ours in the words of `hashdist plan --json`, which matrix.compare() understands."""

    def whole(table):  # Linux's book counts whole pages
        unit = max(size for name, size in SIZES.items() if table.sizes[name])
        return {str(n): -(-b // unit) * unit for n, b in table.nodes.items()}

    return {
        "hashdist": {"value": ours.hashdist},
        "tables": [{"line": t.line, "table": t.key, "entries": t.entries, "bytes": t.bytes, "exact": True,
                    "node_bytes": whole(t)} for t in ours.tables],
    }  # fmt: skip


def linux_pages(facts):
    """What Linux says it counted; None where it prints something else under that name."""
    if facts.shape["kernel"] not in ("5.10", "6.1"):
        return None
    m = re.search(r"Built \d+ zonelists,.* Total pages: (\d+)", "\n".join(facts.log))
    return int(m[1]) if m else None


@dataclasses.dataclass
class Beside:
    """One boot of each, compared."""

    facts: matrix.Facts
    ours: Ours
    wrong: list  # matrix.Difference that KNOWN does not explain
    known: list  # (matrix.Difference, index into KNOWN)
    both: int  # tables that both have
    same: int  # of these, lines that are equal
    placed: int
    fit: int
    rotated: int


def known_reason(boot_name, what):
    for i, (boot_pattern, pattern, _) in enumerate(KNOWN):
        if fnmatch.fnmatchcase(boot_name, boot_pattern) and fnmatch.fnmatchcase(what, pattern):
            return i
    return None


def only_linux(facts, ours):
    """Lines of Linux that matrix.compare() passes over where ours has no such table."""
    have = {t.name for t in ours.tables}
    return [t for t in facts.lines if matrix.NOT_OURS.match(t) and matrix.HASH.match(t)["name"] not in have]


def only_mapping(difference):
    """The same difference, named ": mapping" if nothing else of the two lines differs."""
    real, planned = (text.rpartition(", ") for text in (difference.real, difference.planned))
    if real[0] and real[0] == planned[0]:
        return difference._replace(what=f"{difference.what}: mapping")
    return difference


def compare(facts, ours):
    wrong, lines, placed, rotated = matrix.compare(facts, as_plan(ours))
    wrong = [only_mapping(d) for d in wrong]
    for line in only_linux(facts, ours):
        name = "futex" if line.startswith("futex") else "VFS: Dquot-cache"
        wrong.append(matrix.Difference(name, line, "nothing"))
    count = linux_pages(facts)
    if count is not None and count != ours.pages:
        wrong.append(matrix.Difference("pages", str(count), str(ours.pages)))
    nodes = [d for d in wrong if d.what.endswith(": nodes")]
    one_side = [d for d in wrong if "nothing" in (d.real, d.planned)]
    bad = [d for d in wrong if d not in nodes and d not in one_side and d.what not in ("pages", "hashdist")]
    missing = [d for d in one_side if d.planned == "nothing" and not matrix.NOT_OURS.match(d.real)]
    both = lines - len(missing)
    reasons = [(d, known_reason(facts.name, d.what)) for d in wrong]
    return Beside(facts, ours, [d for d, r in reasons if r is None], [(d, r) for d, r in reasons if r is not None],
                  both, both - len(bad), placed, placed - len(nodes), rotated)  # fmt: skip


# ---------------------------------------------------------------- showing


def spread(table):
    return " ".join(f"{k}={v >> 10}K" for k, v in table.sizes.items() if v) + "; " + " ".join(
        f"N{n}={b >> 10}K" for n, b in table.nodes.items())  # fmt: skip


def show_tables(beside):
    """Every table of one boot: Linux's line, ours, and the place in ours."""
    linux = {matrix.HASH.match(t)["name"]: t[matrix.HASH.match(t).end() :] for t in beside.facts.lines}
    print(f"{'TABLE':26} {'LINUX':46} {'OURS':46} OURS, BY ITS PAGE TABLES")
    for t in beside.ours.tables:
        mine = t.line[matrix.HASH.match(t.line).end() :]
        theirs = linux.pop(t.name, "-")
        print(f"{t.name:26} {theirs:46} {'=' if theirs == mine else mine:46} {spread(t)}")
    for name, theirs in linux.items():
        print(f"{name:26} {theirs:46} -")


HEAD = (f"{'BOOT':20} {'LINUX':12} {'SECONDS':>7} {'LINES':>7} {'PAGES':>9} {'NODES':>7} {'TURN':>4} {'KNOWN':>5}  "
        "DIFFERENCES")  # fmt: skip


def show_row(b):
    count = linux_pages(b.facts)
    pages = "-" if count is None else "=" if count == b.ours.pages else f"{b.ours.pages - count:+}"
    print(f"{b.facts.name:20} {b.facts.shape['version'].partition('-')[0]:12} {b.ours.seconds:7.1f} "
          f"{b.same:3}/{b.both:<3} {pages:>9} {b.fit:3}/{b.placed:<3} {b.rotated:4} {len(b.known):5}  "
          + (", ".join(d.what for d in b.wrong) or "-"), flush=True)  # fmt: skip


def show_differences(all_beside):
    for b in all_beside:
        for d in b.wrong:
            print(f"{b.facts.name}: {d.what}\n  Linux  {d.real}\n  ours   {d.planned}")
    for i, (boot_pattern, what, reason) in enumerate(KNOWN):
        met = sum(r == i for b in all_beside for _, r in b.known)
        print(f"known, {met} times: '{what}' of '{boot_pattern}': {reason}")


# ---------------------------------------------------------------- which boots


def recorded(only="*", quick=False):
    return [f for f in matrix.recorded()
            if f.shape["arch"] == "x86-64" and fnmatch.fnmatchcase(f.name, only)
            and (not quick or f.name in QUICK)]  # fmt: skip


def live(only):
    """Boots Linux now: the quick boots of 6.1 that `only` fits."""
    for name, guest in matrix.matrix(only=only):
        if guest.kernel == "6.1" and guest.arch == "x86-64" and name in QUICK:
            with tempfile.TemporaryDirectory(prefix="hashdist-embedding-") as tmp:
                lab.boot(guest, tmp)
                yield matrix.reduce(name, tmp, guest)


def run(kernel, all_facts, tables=False):
    """Boots, compares and shows. Return: exit status."""
    done = []
    if not tables:
        print(HEAD)
    for facts in all_facts:
        b = compare(facts, boot_as(kernel, facts))
        done.append(b)
        if tables:
            print(f"{facts.name}: {facts.shape['memory']} {facts.shape['nodes']} {facts.shape['append']}")
            show_tables(b)
        else:
            show_row(b)
    if not done:
        raise lab.Skip("no boot of that name")
    show_differences(done)
    wrong = sum(len(b.wrong) for b in done)
    print(f"{len(done)} boots of each; lines {sum(b.same for b in done)} of {sum(b.both for b in done)}, "
          f"pages on nodes {sum(b.fit for b in done)} of {sum(b.placed for b in done)}; "
          f"{sum(len(b.known) for b in done)} known differences, {wrong} others")  # fmt: skip
    return int(bool(wrong))


def main(argv=None):
    p = argparse.ArgumentParser(prog="beside_linux.py", description="The example kernel beside Linux.")
    p.add_argument("kernel", metavar="KERNEL", help="examples/kernel/example-kernel of a build")
    p.add_argument("--quick", action="store_true", help="a few boots of each kind")
    p.add_argument("--only", default="*", metavar="PATTERN", help="boots whose names fit")
    p.add_argument("--live", action="store_true", help="boot Linux 6.1 now instead of reading what was recorded")
    p.add_argument("--tables", action="store_true", help="every table, with its place")
    args = p.parse_args(argv)
    lab.end_with_children()
    try:
        return run(args.kernel, live(args.only) if args.live else recorded(args.only, args.quick), args.tables)
    except lab.Skip as e:
        lab.skip(str(e))
    except lab.LabError as e:
        print(f"beside_linux: {e}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
matrix.py - what real kernels did on many machines, and a plan held against it

    matrix.py run [--quick] --out DIR     boots matrix.txt (quick: the lines marked so)
    matrix.py record [--from DIR]         keeps the facts of a run in matrix-results/
    matrix.py check DIR BINARY            every line of every log against `BINARY plan`
    matrix.py check --recorded BINARY     the same, with the facts kept: boots nothing
    matrix.py list [--recorded]           one line per boot

`check` asks for the plan of each machine and compares every line of a large hash
(text behind the time stamp) and, for tables from vmalloc, pages on each node. A
difference counts unless KNOWN below names it with its reason. Exit status 1 if any
counts, 77 if nothing could be compared; HASHDIST_REQUIRE_ALL=1 makes that 1.
"""

import argparse
import collections
import dataclasses
import fnmatch
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import lab  # noqa: E402

MATRIX = HERE / "matrix.txt"
RECORDED = HERE / "matrix-results"
MOST_BYTES = 400_000  # of matrix-results; a test holds it to that

# Differences that are understood: (boot, what, reason). `boot` and `what` are patterns as in a
# shell; `what` is a table's name as the log says it, "NAME: uncertain" for a line that the plan
# itself calls so while its range has the truth, "NAME: nodes", or "hashdist". An entry that fits
# nothing any more is reported, so that the table cannot outlive its reasons.
KNOWN = (
    ("5.10-*", "MPTCP token", "a build option, off in Debian's 5.10 kernel: no version tells of it"),
    ("*n-full", "*: nodes", "how much of the full node the kernel itself holds is no part of a description"),
    ("arm64-6.12-1100M", "*: uncertain", "2 % above a power of two: what is reserved decides, see count-era"),
)  # fmt: skip

# Lines of the log that are kept: everything that sizes or places a table, or tells the machine's
# shape, in a wording or another.
FACTS = re.compile(
    r"Linux version |Booting |Kernel command line:|Unknown kernel command line|BIOS-provided|BIOS-e820: \[mem"
    r"|RAMDISK: |hash table entries: |Memory: \d|Built \d+ zonelists|percpu: Embedded|setup_percpu:"
    r"|  node +\d+: \[mem|Fallback order for Node \d+: \d+ \d|Initmem setup node \d+ as memoryless"
    r"|No NUMA configuration|NUMA turned off|Faking node \d|  DMA32 +|  Normal +\[mem|RCU restricting CPUs"
    r"|SLUB: |smpboot: Allowing|CPU topo: Allowing|smp: Brought up|SMP: Total of|software IO TLB: mapped"
    r"|Reserving \d+MB of|crashkernel .*reserved|cma: Reserved|kfence: initialized"
)
STAMP = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ")
HASH = re.compile(r"(?:VFS: )?(?P<name>\S.*?) hash table entries: ")
# Printed in another way by other code; compared only if the plan has them.
NOT_OURS = re.compile(r"VFS: Dquot-cache |futex .* NUMA nodes")
INTERLEAVE_MIN = 16 << 20


# ---------------------------------------------------------------- facts of a boot


@dataclasses.dataclass
class Facts:
    """What is kept of a boot: three small files in a directory of its name."""

    name: str
    shape: dict  # what was booted, and what the guest's books say of nodes and CPUs
    log: list  # lines with their time stamps
    areas: list  # lines of /proc/vmallocinfo, without addresses

    @property
    def lines(self):
        """The lines of large hashes, without time stamps."""
        texts = [STAMP.sub("", line) for line in self.log]
        return [t for t in texts if HASH.match(t)]


def parse_list(text):
    """'0-2,4' -> [0, 1, 2, 4]."""
    out = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out


def reduce(name, directory, guest):
    """The facts of a boot whose results are in `directory`."""
    directory = Path(directory)
    boot = json.loads((directory / "boot.json").read_text())
    if not boot.get("complete"):
        raise lab.LabError(f"{name}: that boot did not come to its end")

    def book(path):
        try:
            return (directory / "sysroot" / path.strip("/")).read_text().strip()
        except OSError:
            return ""

    kernel_config = next(iter((directory / "sysroot/boot").glob("config-*")), None)
    config = kernel_config.read_text() if kernel_config else ""
    page = re.search(r"^CONFIG_ARM64_(\d+)K_PAGES=y$", config, re.M)
    nodes = "/sys/devices/system/node/"
    shape = {
        "kernel": guest.kernel, "arch": guest.arch, "flavour": guest.flavour or "",
        "package": boot["package"], "version": boot["version"], "release": boot["kernel"],
        "memory": guest.memory, "nodes": guest.nodes, "cpus": guest.cpus, "max_cpus": guest.max_cpus,
        "append": guest.append, "page_kib": int(page[1]) if page else 4,
        "preempt_rt": bool(re.search(r"^CONFIG_PREEMPT_RT=y$", config, re.M)),
        "cpus_possible": book("/sys/devices/system/cpu/possible"),
        "nodes_possible": book(nodes + "possible"), "nodes_online": book(nodes + "online"),
        "nodes_memory": book(nodes + "has_memory"),
    }  # fmt: skip
    log = [t for t in (directory / "dmesg").read_text(errors="replace").splitlines()
           if FACTS.search(STAMP.sub("", t))]  # fmt: skip
    areas = [
        re.sub(r"^\S+\s+(\d+) alloc_large_system_hash\S*", r"\1 alloc_large_system_hash", t).strip()
        for t in (directory / "vmallocinfo").read_text().splitlines() if "alloc_large_system_hash" in t
    ]  # fmt: skip
    return Facts(name, shape, log, areas)


def save(facts, directory):
    directory.mkdir(parents=True)
    (directory / "shape.json").write_text(json.dumps(facts.shape, indent=1) + "\n")
    for name, lines in (("log", facts.log), ("vmallocinfo", facts.areas)):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))


def load(directory):
    directory = Path(directory)
    return Facts(
        directory.name,
        json.loads((directory / "shape.json").read_text()),
        (directory / "log").read_text().splitlines(),
        (directory / "vmallocinfo").read_text().splitlines(),
    )


def recorded():
    return [load(d) for d in sorted(RECORDED.iterdir()) if (d / "shape.json").exists()]


def matrix(quick=False, only="*"):
    """[(name, Guest)] of matrix.txt, or of its lines marked 'quick'."""
    text = MATRIX.read_text()
    if quick:
        text = "\n".join(t for t in text.splitlines() if t.startswith("*:") or re.search(r"#.*\bquick\b", t)
                         and not t.startswith("#"))  # fmt: skip
    return [(n, g) for n, g in lab.parse_matrix(text) if fnmatch.fnmatchcase(n, only)]


def of_run(directory):
    """Facts of a run's directory, in the matrix's order. Boots that are not there are left out."""
    found = []
    for name, guest in matrix():
        try:
            if (Path(directory) / name / "boot.json").exists():
                found.append(reduce(name, Path(directory) / name, guest))
        except lab.LabError as e:
            print(f"left out: {e}")
    if not found:
        raise lab.LabError(f"{directory}: no boot of the matrix is there")
    return found


# ---------------------------------------------------------------- the question to the plan


def size_word(size):
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M")):
        if size and size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)


def machine_words(shape):
    """The machine in the words of `--machine`: as the firmware tells it, before any numa=."""
    words = [shape["arch"]]
    nodes = lab.parse_nodes(shape["nodes"])
    if nodes:
        words += [f"node:{i}={size_word(n.memory)}{'' if n.has_cpu else '/nocpu'}"
                  for i, n in enumerate(nodes)]  # fmt: skip
    else:
        words.append(f"ram={size_word(lab.parse_size(shape['memory']))}")
    words.append(f"cpus={len(parse_list(shape['cpus_possible'])) or 1}")
    if shape["page_kib"] != 4:
        words.append(f"page={shape['page_kib']}K")
    return " ".join(words)


def plan_arguments(facts):
    shape = facts.shape
    command_line = f"console={lab.ARCHES[shape['arch']].console} {lab.BASE_APPEND} {shape['append']}"
    args = ["plan", "--machine", machine_words(shape),
            "--kernel", shape["version"].partition("-")[0], "--cmdline", command_line.strip(), "--json"]  # fmt: skip
    if shape["preempt_rt"]:
        args += ["--rule", "spinlock-bytes=32"]  # a build option: no version tells of it
    return args


def ask(binary, facts):
    """The plan as an object; raises LabError if there is none."""
    argv = [str(binary), *plan_arguments(facts)]
    try:
        out = subprocess.run(argv, text=True, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise lab.LabError(f"{facts.name}: {e}") from e
    if out.returncode:
        why = (out.stderr.strip().splitlines() or ["no message"])[0]
        raise lab.LabError(f"{facts.name}: plan ended with status {out.returncode}: {why}\n  {shlex.join(argv)}")
    try:
        return json.loads(out.stdout)
    except ValueError as e:
        raise lab.LabError(f"{facts.name}: plan's output is no JSON: {e}") from e


# ---------------------------------------------------------------- comparing


Difference = collections.namedtuple("Difference", "what real planned")


def areas_of(facts):
    """{pages: [{node: pages}, ...]} of areas of the large hashes.

    Not all are tables: from 513 pages on, the list of a table's pages needs more than a page, is
    taken from vmalloc too, and stands in the book under the same caller.
    """
    found = collections.defaultdict(list)
    for line in facts.areas:
        m = re.search(r"\bpages=(\d+)", line)
        if m:
            found[int(m[1])].append({int(n): int(p) for n, p in re.findall(r"\bN(\d+)=(\d+)", line)})
    return found


def interleaved(facts):
    """The nodes that take turns: with memory, and enough of it."""
    have = parse_list(facts.shape["nodes_memory"])
    nodes = lab.parse_nodes(facts.shape["nodes"])
    if not nodes or len(have) > len(nodes):
        return have
    return [n for n in have if nodes[n].memory >= INTERLEAVE_MIN]


def is_rotation(a, b, nodes):
    """Whether counts `a` are `b` with the turn at another node."""
    if set(a) - set(nodes) or set(b) - set(nodes):
        return False
    a, b = [a.get(n, 0) for n in nodes], [b.get(n, 0) for n in nodes]
    return any(a == b[i:] + b[:i] for i in range(len(b) or 1))


def compare(facts, plan):
    """(differences, lines compared, tables whose nodes were compared, those only rotated)."""
    wrong = []
    planned = {}
    for t in plan.get("tables", []):
        m = HASH.match(t.get("line") or "")
        planned[m["name"] if m else t.get("table")] = t
    page = facts.shape["page_kib"] << 10
    lines = placed = rotated = 0
    tables = []
    for line in facts.lines:
        name = HASH.match(line)["name"]
        t = planned.pop(name, None)
        if t is None and NOT_OURS.match(line):
            continue
        lines += 1
        if t is None:
            wrong.append(Difference(name, line, "nothing"))
        elif t["line"].strip() != line.strip():
            real = int(line[HASH.match(line).end():].split()[0])
            unsure = not t.get("exact", True) and t["entries"] <= real <= t.get("entries_high", 0)
            high = f"  (or up to {t['entries_high']} entries)" if unsure else ""
            wrong.append(Difference(name + (": uncertain" if unsure else ""), line, t["line"].strip() + high))
        elif "vmalloc" in line and not NOT_OURS.match(line):
            tables.append((name, t))
    for name, t in planned.items():
        wrong.append(Difference(name, "nothing", (t.get("line") or "?").strip()))

    dentry = next((t for t in facts.lines if t.startswith("Dentry cache ")), "")
    want = "vmalloc" in dentry  # taken early, and then always linear, unless distributed
    if dentry and bool((plan.get("hashdist") or {}).get("value")) != want:
        wrong.append(Difference("hashdist", str(want), str(plan.get("hashdist"))))

    # The book names no tables: exact fits first, then those where only the turn differs.
    areas, nodes, rest = areas_of(facts), interleaved(facts), []
    for name, t in tables:
        got = t.get("node_bytes")
        counts = {int(n): b // page for n, b in (got or {}).items() if b}
        pages = sum(counts.values())
        placed += 1
        if pages * page < t["bytes"]:
            wrong.append(Difference(f"{name}: nodes", f"{t['bytes']} bytes", f"node_bytes {got}"))
        elif counts in areas[pages]:
            areas[pages].remove(counts)
        else:
            rest.append((name, counts, pages))
    for name, counts, pages in rest:
        fit = next((a for a in areas[pages] if is_rotation(counts, a, nodes)), None)
        if fit is None:
            have = "  or  ".join(_counts(a) for a in areas[pages]) or f"no area of {pages} pages left"
            wrong.append(Difference(f"{name}: nodes", have, _counts(counts)))
        else:
            areas[pages].remove(fit)
            rotated += 1
    return wrong, lines, placed, rotated


def _counts(counts):
    return " ".join(f"N{n}={p}" for n, p in sorted(counts.items())) or "none"


def known(name, what):
    for i, (boot, pattern, reason) in enumerate(KNOWN):
        if fnmatch.fnmatchcase(name, boot) and fnmatch.fnmatchcase(what, pattern):
            return i, reason
    return None


def check(all_facts, binary, verbose=False):
    """Compares all; prints the table. Return: exit status."""
    total = collections.Counter()
    used = set()
    print(f"{'BOOT':22} {'LINES':>7} {'NODES':>7} {'TURN':>4} {'KNOWN':>5}  DIFFERENCES")
    details = []
    for facts in all_facts:
        try:
            wrong, lines, placed, rotated = compare(facts, ask(binary, facts))
        except (lab.LabError, KeyError, TypeError, AttributeError, ValueError) as e:
            text = str(e) if isinstance(e, lab.LabError) else f"{facts.name}: not the JSON of a plan: {e!r}"
            print(f"{facts.name:22} {'-':>7} {'-':>7} {'-':>4} {'-':>5}  no plan")
            details.append(text)
            total["failed"] += 1
            total["lines"] += sum(not NOT_OURS.match(t) for t in facts.lines)
            continue
        bad_lines = [d for d in wrong if not d.what.endswith(": nodes") and d.real != "nothing"]
        bad_nodes = [d for d in wrong if d.what.endswith(": nodes")]
        counting = []
        for d in wrong:
            why = known(facts.name, d.what)
            if why:
                used.add(why[0])
                total["known"] += 1
            else:
                counting.append(d)
            if not why or verbose:
                mark = f"  known: {why[1]}" if why else ""
                details.append(f"{facts.name}: {d.what}{mark}\n  real     {d.real}\n  planned  {d.planned}")
        of_lines = len([d for d in bad_lines if d.what != "hashdist"])
        print(f"{facts.name:22} {lines - of_lines:3}/{lines:<3} {placed - len(bad_nodes):3}/{placed:<3} "
              f"{rotated:4} {len(wrong) - len(counting):5}  "
              + (", ".join(d.what for d in counting) or "-"), flush=True)  # fmt: skip
        total["lines"] += lines
        total["same"] += lines - of_lines
        total["placed"] += placed
        total["fit"] += placed - len(bad_nodes)
        total["rotated"] += rotated
        total["wrong"] += len(counting)
    for text in details:
        print(text)
    stale = [KNOWN[i] for i in range(len(KNOWN)) if i not in used]
    for boot, what, _ in stale:
        print(f"note: the known difference '{what}' of '{boot}' was not met")

    def rate(a, b):
        return f"{a} of {b}" + (f" ({100 * a / b:.1f} %)" if b else "")

    print(f"{len(all_facts)} boots; lines {rate(total['same'], total['lines'])}; "
          f"pages on nodes {rate(total['fit'], total['placed'])}, {total['rotated']} of them with another "
          f"first node; {total['known']} known differences, {total['wrong']} others, "
          f"{total['failed']} without a plan")  # fmt: skip
    return int(bool(total["wrong"] or total["failed"]))


# ---------------------------------------------------------------- command line


def cmd_run(args):
    boots = matrix(args.quick, args.only)
    if not boots:
        raise lab.LabError(f"no boot of the matrix is called '{args.only}'")

    def report(name, result):
        if isinstance(result, lab.Boot):
            print(f"{name:22} {result.kernel.release:32} {result.seconds:6.1f} s", flush=True)
        else:
            print(f"{name:22} FAILED: {result}", flush=True)

    results = lab.run_matrix(boots, args.out, args.jobs, report)
    failed = [r for r in results.values() if isinstance(r, lab.LabError)]
    if failed and all(isinstance(r, lab.Skip) for r in failed) and len(failed) == len(results):
        raise failed[0]
    return int(bool(failed))


def cmd_record(args):
    with tempfile.TemporaryDirectory(prefix="hashdist-matrix-") as tmp:
        source = Path(args.source or tmp)
        if not args.source:
            results = lab.run_matrix(matrix(), source, args.jobs,
                                     lambda name, _: print(name, flush=True))  # fmt: skip
            for result in results.values():
                if isinstance(result, lab.LabError):
                    raise result
        found = of_run(source)
        missing = {n for n, _ in matrix()} - {f.name for f in found}
        if missing:
            raise lab.LabError(f"{source} lacks boots of the matrix: {', '.join(sorted(missing))}")
        new = Path(tempfile.mkdtemp(prefix=".matrix-results-", dir=HERE))
        try:
            new.chmod(0o755)
            for facts in found:
                save(facts, new / facts.name)
            size = sum(f.stat().st_size for f in new.rglob("*") if f.is_file())
            if size > MOST_BYTES:
                raise lab.LabError(f"the facts take {size} bytes, more than {MOST_BYTES}")
            shutil.rmtree(RECORDED, ignore_errors=True)
            new.rename(RECORDED)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    print(f"{len(found)} boots, {size} bytes in {RECORDED}")
    return 0


def cmd_check(args):
    if len(args.words) != (1 if args.recorded else 2):
        print("usage: matrix.py check [--verbose] [--only PATTERN] --recorded BINARY | DIR BINARY", file=sys.stderr)
        return 2
    binary = args.words[-1]
    facts = recorded() if args.recorded else of_run(args.words[0])
    facts = [f for f in facts if fnmatch.fnmatchcase(f.name, args.only)]
    if not facts:
        raise lab.Skip("there is nothing to compare with")
    return check(facts, binary, args.verbose)


def cmd_list(args):
    if args.recorded:
        for f in recorded():
            s = f.shape
            print(f"{f.name:22} {s['version']:20} {machine_words(s):60} {s['append']}")
    else:
        for name, g in matrix():
            print(f"{name:22} {g.kernel:6} {g.arch:7} {g.nodes or g.memory:20} {g.append}")
    return 0


def main(argv=None):
    p = argparse.ArgumentParser(prog="matrix.py", description="Real boots, and a plan held against them.")
    verbs = p.add_subparsers(dest="verb", required=True)
    v = verbs.add_parser("run", help="boot the matrix")
    v.add_argument("--quick", action="store_true", help="the few lines marked so")
    v.add_argument("--only", default="*", metavar="PATTERN", help="boots whose names fit")
    v.add_argument("--out", required=True, metavar="DIR")
    v.add_argument("--jobs", type=int, help="at once (one per CPU)")
    v.set_defaults(call=cmd_run)
    v = verbs.add_parser("record", help="rewrite matrix-results/")
    v.add_argument("--from", dest="source", metavar="DIR", help="of this run, instead of booting")
    v.add_argument("--jobs", type=int, help="at once (one per CPU)")
    v.set_defaults(call=cmd_record)
    v = verbs.add_parser("check", help="compare plans with boots")
    v.add_argument("--recorded", action="store_true", help="with the facts in matrix-results/")
    v.add_argument("--only", default="*", metavar="PATTERN", help="boots whose names fit")
    v.add_argument("--verbose", action="store_true", help="known differences too")
    v.add_argument("words", nargs="+", metavar="[DIR] BINARY")
    v.set_defaults(call=cmd_check)
    v = verbs.add_parser("list", help="one line per boot")
    v.add_argument("--recorded", action="store_true")
    v.set_defaults(call=cmd_list)
    args = p.parse_args(argv)
    lab.end_with_children()
    try:
        return args.call(args)
    except lab.Skip as e:
        lab.skip(str(e))
    except lab.LabError as e:
        print(f"matrix: {e}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

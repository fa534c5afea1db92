#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long until a large table is zeroed and ready? hd_alloc() next to its peers, in one run.

Every method runs in turn (A B C ... A B C ...), each time in a fresh process on warm memory.
Ratios are taken within a round and their median is printed: to "limit", one memset() by as many
threads over memory that is there already, and to the peer that was fastest in the whole run. "By
hand" are the system calls alone, without a look at limits before or at the kernel's books after.

Page faults are exact, and checked: for 1 GiB hashdist must take no more than a 500th of what base
pages take. Times are never checked.

Changes the size of the hugetlb pool during measurements that need one (root only), and puts it
back. Takes 9/8 of the largest size, and all of free memory for a moment at the start.
"""
import argparse
import json
import os
import statistics
import sys

sys.dont_write_bytecode = True  # not into the source tree

from peerlib import (GIB, METHODS, MIB, Bench, Failed, OtherLoad, die_first, end_on_sigterm,
                     machine, machine_text, meminfo, put, size_bytes, size_text)

CLAIM = 500
BASE_PAGES = ("mmap", "calloc")
OURS = ("hashdist", "hashdist-2", "hashdist-hugetlb")
COUNTED = ("hashdist", "hashdist-hugetlb")  # more threads: the faults of their stacks come on top


def median(values):
    return statistics.median(values) if values else None


def quartiles(values):
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 4], ordered[-(-3 * (len(ordered) - 1) // 4)]


class Row:
    """All rounds of one method and one size."""

    def __init__(self, method, size):
        self.method, self.size, self.runs = method, size, []

    def all(self, name):
        return [run[name] for run in self.runs]

    def per_gib(self, name):
        return [seconds * GIB / self.size for seconds in self.all(name)]

    def ratio(self, to):
        """Median over the rounds that have both."""
        if not to:
            return None
        theirs = {run["round"]: run["ready_s"] for run in to.runs}
        return median([run["ready_s"] / theirs[run["round"]] for run in self.runs
                       if run["round"] in theirs])


def measure(bench, methods, sizes, rounds, slow_rounds, tell):
    rows = {(m.name, size): Row(m, size) for size in sizes for m in methods}
    lost = []
    for size in sizes:
        for number in range(rounds):
            for method in methods:
                if method.slow and number >= slow_rounds:
                    continue
                tell(f"{size_text(size)}, round {number + 1} of {rounds}: {method.name}")
                try:
                    run = bench.warm_run(method, size)
                except Failed as why:
                    lost.append({"method": method.name, "bytes": size, "why": str(why)})
                    continue
                rows[method.name, size].runs.append({"round": number, **run})
    tell("")
    return {key: row for key, row in rows.items() if row.runs}, lost


def best_peer(rows, size):
    peers = [row for row in rows.values() if row.size == size and row.method.kind == "peer"]
    return min(peers, key=lambda row: median(row.all("ready_s")), default=None)


def limit_for(rows, row):
    name = "limit" if row.method.threads == 1 else f"limit-{row.method.threads}"
    return rows.get((name, row.size))


# ---- counts ---------------------------------------------------------------------------


def checks(rows):
    """(passed, sentence) of what is exact."""
    found = []
    for size in sorted({row.size for row in rows.values()}):
        ours = [row for name in OURS if (row := rows.get((name, size)))]
        base = [max(row.all("minor_faults")) for name in BASE_PAGES
                if (row := rows.get((name, size)))]
        for row in ours:
            most = max(row.all("minor_faults"))
            huge = min(row.all("huge_bytes"))
            claimed = size == GIB and base and row.method.name in COUNTED
            if claimed and huge < size:
                found.append((None, f"{row.method.name}, {size_text(size)}: only {huge // MIB} MiB "
                                    "could be had on huge pages: page faults say nothing"))
            elif claimed:
                found.append((most * CLAIM <= min(base),
                              f"{row.method.name}, {size_text(size)}: {most} page faults, base pages "
                              f"{min(base)}: 1/{min(base) / most:.0f}, wanted 1/{CLAIM}"))
            found.append((all(run["claimed_huge_bytes"] == run["huge_bytes"] for run in row.runs),
                          f"{row.method.name}, {size_text(size)}: huge pages as claimed: "
                          f"{huge // MIB} MiB"))
            late = max(row.all("late_faults"))
            # A page or two are the program's own.
            found.append((late <= 4, f"{row.method.name}, {size_text(size)}: {late} page faults "
                                     "after it was ready"))
    return found


# ---- the table --------------------------------------------------------------------------


COLUMNS = ("method", "ready s/GiB", "quartiles", "to limit", "to best peer", "ready + pass s/GiB",
           "faults", "tables KiB", "huge %", "by")


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def cells(rows, row, best):
    low, high = quartiles(row.per_gib("ready_s"))
    ready, both = median(row.per_gib("ready_s")), median(
        [a + b for a, b in zip(row.per_gib("ready_s"), row.per_gib("pass_s"))])
    digits = 3 if ready < 1 else 2
    over = row.method.kind == "limit"
    return (row.method.name, number(ready, digits), f"{low:.{digits}f}-{high:.{digits}f}",
            number(row.ratio(limit_for(rows, row)), 2),
            "-" if over else number(row.ratio(best), 2),
            "-" if over else number(both, digits),
            "-" if over else f"{median(row.all('minor_faults')):.0f}",
            f"{median(row.all('page_table_bytes')) / 1024:.0f}",
            f"{100 * median(row.all('huge_bytes')) / row.size:.0f}", row.method.says)


def in_order(rows, size):
    kinds = ("limit", "ours", "hand", "peer")
    return sorted((row for row in rows.values() if row.size == size),
                  key=lambda row: (kinds.index(row.method.kind), median(row.all("ready_s"))))


def table(rows, size):
    best = best_peer(rows, size)
    lines = [COLUMNS, tuple("---" for _ in COLUMNS)]
    lines += [cells(rows, row, best) for row in in_order(rows, size)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def markdown(about, rows, lost, absent, found, others, bench, command):
    text = [f"    {command}\n\n{machine_text(about)}. Other processes kept {others:.2f} CPUs busy "
            f"meanwhile{', but not while it measured' if bench.alone else ''}.\n"]
    if bench.cold:
        text.append(f"Memory stayed slow after warming up before {bench.cold} measurements.\n")
    for size in sorted({row.size for row in rows.values()}):
        rounds = max(len(row.runs) for row in rows.values() if row.size == size)
        best = best_peer(rows, size)
        text.append(f"\n**{size_text(size)}**, {rounds} rounds"
                    + (f"; best peer: {best.method.name}" if best else "") + "\n\n")
        text.append(table(rows, size))
    text.append("\n")
    for entry in absent:
        text.append(f"- absent: {entry['method']}: {entry['why']}\n")
    for entry in lost:
        text.append(f"- lost: {size_text(entry['bytes'])}: {entry['why']}\n")
    for passed, sentence in found:
        verdict = {True: "pass", False: "FAIL", None: "not checked"}[passed]
        text.append(f"- {verdict}: {sentence}\n")
    return "".join(text)


def as_json(about, rows, lost, absent, found, others, bench, command):
    results = []
    for (name, size), row in rows.items():
        results.append({"method": name, "kind": row.method.kind, "bytes": size,
                        "threads": row.method.threads,
                        "ready_s": median(row.all("ready_s")), "pass_s": median(row.all("pass_s")),
                        "to_limit": row.ratio(limit_for(rows, row)),
                        "to_best_peer": row.ratio(best_peer(rows, size)), "runs": row.runs})
    return {"command": command, "machine": about, "other_cpus_busy": round(others, 3),
            "measured_while_slow": bench.cold, "results": results, "lost": lost, "absent": absent,
            "checks": [{"passed": passed, "what": what} for passed, what in found]}


# ---- the run -------------------------------------------------------------------------------


def chosen(names):
    known = {method.name: method for method in METHODS}
    if not names:
        return METHODS
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"peers.py: no method {unknown[0]}; there are: {' '.join(known)}")
    return [known[name] for name in names]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("programs", help="where peers-plain and the others were built")
    parser.add_argument("--sizes", default="1G,4G", help="1G,4G")
    parser.add_argument("--rounds", type=int, default=7, help="7")
    parser.add_argument("--methods", default="", help="all; names, separated by commas")
    parser.add_argument("--json", metavar="FILE", help="every figure of every run")
    parser.add_argument("--markdown", metavar="FILE",
                        help="the tables; into the place marked for them if FILE has one")
    parser.add_argument("--slow-rounds", type=int, default=3, metavar="N",
                        help="at most so many rounds of methods on base pages; 3")
    parser.add_argument("--alone", action="store_true",
                        help="hold the CPUs while measuring, so that others cannot run (root)")
    parser.add_argument("--cold", action="store_true", help="do not touch all free memory first")
    return parser.parse_args()


def main():
    options = arguments()
    if options.rounds < 1:
        sys.exit("peers.py: --rounds is 1 or more")
    try:
        sizes = [size_bytes(text) for text in options.sizes.split(",")]
    except ValueError as why:
        sys.exit(f"peers.py: {why}")
    need = max(sizes) * 9 // 8 + 256 * MIB
    if meminfo("MemAvailable") < need:
        sys.exit(f"peers.py: {size_text(max(sizes))} need {need // MIB} MiB of memory, "
                 f"{meminfo('MemAvailable') // MIB} are available")
    end_on_sigterm()
    die_first()
    if options.alone and os.geteuid():
        sys.exit("peers.py: only root may hold the CPUs; leave out --alone")
    bench = Bench(options.programs, options.alone)
    methods, absent = [], []
    for method in chosen([name for name in options.methods.split(",") if name]):
        why = bench.why_absent(method)
        if why:
            absent.append({"method": method.name, "why": why})
        else:
            methods.append(method)

    def tell(what):
        if sys.stderr.isatty():
            print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)

    if not options.cold:
        tell("touching all of free memory once")
        bench.warm_everything()
    load = OtherLoad()
    rows, lost = measure(bench, methods, sizes, options.rounds, options.slow_rounds, tell)
    found = checks(rows)
    command = " ".join(["bench/peers/peers.py", "build/bench/peers", "--sizes", options.sizes,
                        "--rounds", str(options.rounds)]
                       + (["--methods", options.methods] if options.methods else [])
                       + (["--slow-rounds", str(options.slow_rounds)] if options.slow_rounds != 3
                          else []) + (["--alone"] if options.alone else []))
    result = (machine(), rows, lost, absent, found, load.cpus(), bench, command)
    text = markdown(*result)
    print(text, end="")
    if options.markdown:
        put(options.markdown, "peers.py", text)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(as_json(*result), out, indent=1)
            out.write("\n")
    sys.exit(1 if lost or any(passed is False for passed, _ in found) else 0)


if __name__ == "__main__":
    main()

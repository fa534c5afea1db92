#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
`hashdist report` in real guests, held against the guests' own logs and books.

    one node, 2 GiB        |########|             every table in one piece, "linear"
    two nodes, 1 GiB each  |####||####|           every table "vmalloc", half on each
    two nodes, 4 GiB each  |################||################|   the largest on huge pages

HASHDIST_BIN is the program; HASHDIST_LAB_OUT keeps the guests' results.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import compare  # noqa: E402
import lab  # noqa: E402

AS_ROOT_JSON, AS_ROOT_TEXT, AS_NOBODY_JSON = range(3)
RUNS = [("hashdist report --json", False), ("hashdist report", False), ("hashdist report --json", True)]

# name: (memory, nodes, MiB this machine should have to spare, mappings that must be seen)
SHAPES = {
    "one-node": ("2G", "", 600, {"linear"}),
    "two-nodes": ("2G", "1G,1G", 600, {"vmalloc"}),
    "two-nodes-8G": ("8G", "4G,4G", 900, {"vmalloc", "vmalloc hugepage"}),
}


def memory_available_mib():
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) >> 10
    return 0


def check(boot, mappings):
    """All that is wrong with what hashdist said in one guest."""
    wrong = []
    lines = compare.log_tables(boot.dmesg)
    seen = {line.mapping for line in lines if line.mapping and not line.nodes}
    if seen != mappings or len(lines) < 10:
        return [f"this kernel did not do what the test builds on: {len(lines)} tables, {sorted(seen)}"]
    reports = []
    for n, run in enumerate(boot.runs):
        what = f"run {n + 1} ({RUNS[n][0]}{', as nobody' if RUNS[n][1] else ''})"
        if run.status not in (0, 3):
            wrong.append(f"{what}: exit status {run.status}: {run.err.strip() or run.out.strip()}")
        if n == AS_ROOT_TEXT:
            reports.append(None)
            if "\033" in run.out or not run.out.isascii():
                wrong.append(f"{what}: colours or drawing characters in a pipe")
            continue
        try:
            reports.append(json.loads(run.out))
        except ValueError as e:
            reports.append(None)
            wrong.append(f"{what}: no JSON: {e}: {run.out[:200]!r} {run.err[:200]!r}")
    root, nobody = reports[AS_ROOT_JSON], reports[AS_NOBODY_JSON]
    if root:
        wrong += compare.compare_log(root, lines)
        wrong += compare.compare_areas(root, boot.text("vmallocinfo"))
        wrong += compare.compare_hashdist(root, "linear" not in seen)
        text = boot.runs[AS_ROOT_TEXT].out
        wrong += [f"text: {t['table']} is missing" for t in root["tables"] if t["table"] not in text]
    if nobody:
        wrong += [f"as nobody: {w}" for w in compare.compare_unprivileged(nobody, lines)]
    return wrong


def main():
    binary = os.environ.get("HASHDIST_BIN")
    if not binary or not os.access(binary, os.X_OK):
        lab.skip(f"no hashdist program: HASHDIST_BIN is {binary!r}")
    lab.end_with_children()
    spare = memory_available_mib()
    fit = {name: s for name, s in SHAPES.items() if s[2] <= spare}
    if not fit:
        lab.skip(f"{spare} MiB of memory available, guests need {min(s[2] for s in SHAPES.values())}")
    keep = os.environ.get("HASHDIST_LAB_OUT")
    with tempfile.TemporaryDirectory(prefix="hashdist-report-") as tmp:
        try:
            lab.fetch("6.1")
        except lab.Skip as e:
            lab.skip(str(e))
        guests = [
            (name, lab.Guest(kernel="6.1", memory=memory, nodes=nodes, put=[(binary, "hashdist")], run=RUNS))
            for name, (memory, nodes, _, _) in fit.items()
        ]
        bad = 0
        jobs = max(1, min(len(os.sched_getaffinity(0)), spare // 900))
        for name, result in lab.run_matrix(guests, keep or tmp, jobs).items():
            if isinstance(result, lab.Skip):
                lab.skip(str(result))
            wrong = [str(result)] if isinstance(result, lab.LabError) else check(result, fit[name][3])
            bad += bool(wrong)
            took = "" if isinstance(result, lab.LabError) else f"({result.seconds:.1f} s)"
            print(f"{'FAIL' if wrong else 'ok'}  {name} {took}")
            for text in wrong:
                print(f"    {text}")
            if wrong and isinstance(result, lab.Boot):
                for n, run in enumerate(result.runs, 1):
                    print(f"    --- run {n}, status {run.status}\n{run.out}{run.err}")
    if bad:
        return 1
    missing = sorted(set(SHAPES) - set(fit))
    if missing:
        lab.skip(f"not enough memory for {', '.join(missing)} ({spare} MiB available); the others passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())

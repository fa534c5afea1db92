# SPDX-License-Identifier: MIT
"""
show.py - the figures as text, Markdown, JSON and a picture
"""

import shutil
import subprocess
from pathlib import Path

import expect
import setups
from peerlib import put
from results import KINDS

MARK = "gitdiff.py"
REGIONS = ("inode hash", "linear map", "vmalloc", "other kernel", "user")  # beside the hash looked at
TOP, TOP_IN_MARKDOWN = 12, 4


# ---- tables ------------------------------------------------------------------------------


COLUMNS = ("kernel", "set-up", "table", "load walks", "ratio", "spread %", "kernel mode",
           "the hash", *REGIONS, "store walks", "faults")  # fmt: skip


FEW = 100  # walks: ratios and spreads of so few mean nothing


def _ratio(one, tlb, figures):
    """To the best placement of the same family."""
    family, _ = one.job.setup.pair
    cases = figures.families().get((one.job.kernel, family), {})
    best = cases.get("linear") or cases.get("huge")
    if not best or best.median(tlb) < FEW:
        return "-"
    return f"{expect.ratio(one.counted.median(tlb), best.median(tlb)):.2f}"


def _spread(one, tlb):
    return f"{100 * one.counted.spread(tlb):.2f}" if one.counted.median(tlb) >= FEW else "-"


def _by_region(one, tlb):
    return [one.counted.median(tlb, region=region) for region in (one.job.setup.workload.region, *REGIONS)]


def _cells(one, tlb, figures):
    counted = one.counted
    name = one.job.setup.name + (f", boot {one.job.boot}" if one.job.boot > 1 else "")
    mapping = setups.expected_mapping(one.job.setup, one.release)
    return [one.job.kernel, name, mapping, counted.median(tlb), _ratio(one, tlb, figures),
            _spread(one, tlb), counted.median(tlb, mode="kernel"), *_by_region(one, tlb),
            counted.median(tlb, kind="store"), counted.faulting(tlb)]  # fmt: skip


def _rows(done, tlb):
    figures = expect.Figures(done)
    return [[str(cell) for cell in _cells(one, tlb, figures)] for one in done]


def _tlbs(done):
    return list(done[0].counted.tlbs) if done else []


def _functions(one, tlb, top):
    return ", ".join(f"`{name}` {walks}" for name, walks in one.counted.functions(tlb, top=top)) or "none"


def _verdicts(checks):
    return [f"{'pass' if passed else 'FAIL'}: {sentence}" for passed, sentence in checks]


def _about(about):
    return (f"{about['files']} files, {about['git']}, {about['memory_mib']} MiB, medians of "
            f"{about['repetitions']} repetitions")  # fmt: skip


def _aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "".join("  ".join(cell.ljust(width) if i < 3 else cell.rjust(width)
                             for i, (cell, width) in enumerate(zip(row, widths))).rstrip() + "\n"
                   for row in rows)  # fmt: skip


def text(about, done, checks):
    parts = [f"{about['command']}\n{_about(about)}\n"]
    for tlb in _tlbs(done):
        parts.append(f"\n{tlb}: page walks\n{_aligned([list(COLUMNS), *_rows(done, tlb)])}")
    parts.append("\nkernel functions that cause most load walks\n")
    for one in done:
        parts.append(f"{one.job.name}: {_functions(one, _tlbs(done)[0], TOP).replace('`', '')}\n")
    parts += ["\n", *(f"{line}\n" for line in _verdicts(checks))]
    return "".join(parts)


def _markdown_table(rows):
    head, *rest = (list(row) for row in rows)
    return "".join("| " + " | ".join(row) + " |\n" for row in (head, ["---"] * len(head), *rest))


def _others(done, tlbs):
    """Only what differs between processors most."""
    at = [COLUMNS.index(column) for column in ("load walks", "ratio")]
    rows = [[*COLUMNS[:3], *tlbs]] + [row[:3] for row in _rows(done, tlbs[0])]
    for tlb in tlbs:
        for row, its in zip(rows[1:], _rows(done, tlb)):
            row.append(f"{its[at[0]]} ({its[at[1]]})")
    return rows


def markdown(about, done, checks):
    parts = [f"    {about['command']}\n\n{_about(about)}.\n"]
    first, *others = _tlbs(done) or [""]
    parts += [f"\n**{first}**\n\n", _markdown_table([COLUMNS, *_rows(done, first)])] if done else []
    if others:
        parts += ["\n**others**: load walks (ratio)\n\n", _markdown_table(_others(done, others))]
    parts.append("\nKernel functions that cause most load walks:\n\n")
    parts += [f"- {one.job.name}: {_functions(one, _tlbs(done)[0], TOP_IN_MARKDOWN)}\n" for one in done]
    passed = sum(passed for passed, _ in checks)
    parts.append(f"\n{passed} of {len(checks)} expectations hold.\n")
    parts += [f"- FAIL: {sentence}\n" for passed, sentence in checks if not passed]
    return "".join(parts)


def put_markdown(path, about, done, checks):
    put(path, MARK, markdown(about, done, checks))


# ---- JSON -----------------------------------------------------------------------------------


def _repetition(one):
    return {
        "repetition": one.number,
        **{f"{kind}_{what}": values[i] for i, kind in enumerate(KINDS)
           for what, values in (("accesses", one.accesses), ("walks", one.walks),
                                ("references", one.references))},
        "where": [dict(zip(("kind", "mode", "region", "size", "walks"), row)) for row in one.where],
        "faults": [dict(zip(("kind", "mode", "present", "count"), row)) for row in one.faults],
        **one.flushes,
    }  # fmt: skip


def _boot(one):
    setup = one.job.setup
    return {
        "kernel": one.release, "setup": setup.name, "boot": one.job.boot, "append": setup.append,
        "nodes": setup.nodes, "cpus": setup.cpus, "icount": setup.icount, "ext4": setup.ext4,
        "mapping": setups.expected_mapping(setup, one.release), "seconds": round(one.seconds, 1),
        "wrong": one.wrong, "tables": one.counted.regions["tables"],
        "tlbs": {tlb: {
            "load_walks": one.counted.median(tlb),
            "store_walks": one.counted.median(tlb, kind="store"),
            "load_walks_kernel_mode": one.counted.median(tlb, mode="kernel"),
            "load_walks_with_faulting": one.counted.median(tlb) + one.counted.faulting(tlb),
            "functions": [{"name": name, "load_walks": walks}
                          for name, walks in one.counted.functions(tlb, top=TOP)],
            "repetitions": [_repetition(repetition) for repetition in repetitions],
        } for tlb, repetitions in one.counted.tlbs.items()},
    }  # fmt: skip


def as_json(about, done, checks):
    return {**about, "boots": [_boot(one) for one in done],
            "checks": [{"passed": passed, "what": sentence} for passed, sentence in checks]}


# ---- the picture ------------------------------------------------------------------------------


class CannotPlot(Exception):
    """There will be no picture; the text says why."""


TERMINALS = {".svg": "svg noenhanced size 1100,600 font 'sans,14' background 'white'",
             ".png": "pngcairo noenhanced size 1100,600 font 'sans,10' background 'white'"}  # fmt: skip
# Told apart by colour-blind readers, and when printed in grey (Okabe and Ito); grey for git's own.
COLOURS = ("#d55e00", "#e69f00", "#0072b2", "#cc79a7", "#009e73", "#bbbbbb")


def plot_ready(path):
    """Before hours of work: could it be drawn?"""
    if not shutil.which("gnuplot"):
        raise CannotPlot("--plot: the program gnuplot is not to be found (package gnuplot-nox)")
    if Path(path).suffix not in TERMINALS:
        raise CannotPlot(f"--plot: {path}: not .svg or .png")


def _quoted(text):
    """For gnuplot, which would run or expand some of what stands between double quotes."""
    return '"' + "".join(c if " " <= c <= "~" and c not in "\"\\'`@$" else "?" for c in text) + '"'


def _script(path, about, done):
    tlb = _tlbs(done)[0]
    lines = [f"set terminal {TERMINALS[Path(path).suffix]}", "set style data histograms",
             "set style histogram rowstacked", "set style fill solid 0.9 border rgb 'white'",
             "set boxwidth 0.7", "set ylabel 'page walks of loads in one repetition'",
             "set yrange [0:*]", "set grid ytics", "set xtics rotate by -35 scale 0",
             "set key outside right top reverse Left invert", "set bmargin 8",
             f"set title {_quoted('Where the page walks of loads go: ' + tlb + ', the hash has 8 MiB')}",
             f"set label {_quoted(about['command'])} at screen 0.01,0.02 font ',9'", "$walks << END"]
    for one in done:
        counts = " ".join(str(count) for count in _by_region(one, tlb))
        lines.append(f"{_quoted(one.job.name)} {counts}")
    lines += ["END", "plot " + ", ".join(
        f"$walks using {i + 2}:xtic(1) title '{region}' lc rgb '{COLOURS[i]}'"
        for i, region in enumerate(("the hash", *REGIONS)))]
    return "\n".join(lines) + "\n"


def plot(path, about, done):
    run = subprocess.run(["gnuplot", "--default-settings"], input=_script(path, about, done).encode(),
                         capture_output=True, check=False)
    if run.returncode or not run.stdout:
        raise CannotPlot(f"--plot: gnuplot could not draw it: {run.stderr.decode(errors='replace').strip()}")
    Path(path).write_bytes(run.stdout)

# SPDX-License-Identifier: MIT
"""
expect.py - what a boot must have been, and what its figures must be

The bands are wide: they tell a right figure from a wrong one, not one version of git from the
next. What is asserted narrowly is what does not depend on such things: that two boots count the
same, that a huge table is as good as a linear one, and that a host on 4K takes the gain away.
"""

import dataclasses

import compare
import setups
import tree
from results import spread

TLB, HOST_4K = "kaby-lake", "kaby-lake@4k"
SAME_BOOTS = 0.01
# From one repetition to the next git's threads take turns at other moments.
SAME_REPETITIONS = 0.1


def setup(one, booted, counted):
    """All that makes a boot another one than its name says. booted: with .dmesg and .release."""
    wrong = []
    table, region = one.workload.table, one.workload.region
    mapping = setups.expected_mapping(one, booted.release)
    lines = [line for line in compare.log_tables(booted.dmesg) if line.name.startswith(table)]
    if [(line.mapping, line.bytes) for line in lines] != [(mapping, setups.TABLE_BYTES)]:
        said = "; ".join(f"{line.bytes} bytes, {line.mapping}" for line in lines) or "nothing"
        wrong.append(f"{table}: the kernel's log says {said}, not {setups.TABLE_BYTES} bytes, {mapping}")
    at = counted.regions["tables"][region]
    linear = counted.regions["linear"] <= at["start"] < counted.regions["vmalloc"]
    if at["bytes"] != setups.TABLE_BYTES or linear != (mapping == setups.LINEAR):
        wrong.append(f"{region}: {at['bytes']} bytes at {at['start']:#x}")
    for tlb, repetitions in counted.tlbs.items():
        wrong += [f"{tlb}: {text}" for each in repetitions for text in _repetition(each, region, mapping)]
    return wrong


def _repetition(one, region, mapping):
    wrong = []
    small = one.count(region=region, size="4K")
    if mapping == setups.VMALLOC and small != one.count(region=region):
        wrong.append(f"{region}: not all of its translations are of 4K")
    if mapping == setups.HUGE and small:
        wrong.append(f"{region}: {small} walks to translations of 4K")
    if any(one.untranslated):
        wrong.append(f"{sum(one.untranslated)} accesses that nothing translates")
    if one.flushes["unknown_operands"]:
        wrong.append(f"{one.flushes['unknown_operands']} flushes of unknown addresses")
    return wrong


# ---- figures -------------------------------------------------------------------------------------


class Figures:
    """Boots by kernel and family of set-ups, and what was found of them."""

    def __init__(self, done):
        self.done = done
        self.found = []  # (passed, sentence)

    def expect(self, passed, sentence):
        self.found.append((bool(passed), sentence))

    def families(self):
        """{(kernel, family): {"linear": Counted, ...}}; the first boot of each. "huge" only where
        the kernel made it so."""
        families = {}
        for one in reversed(self.done):
            family, case = one.job.setup.pair
            if case != "huge" or setups.expected_mapping(one.job.setup, one.release) == setups.HUGE:
                families.setdefault((one.job.kernel, family), {})[case] = one.counted
        return families


def ratio(more, less):
    return more / max(less, 1)


def _alike(figures, what, walks, limit):
    found = spread(walks)
    figures.expect(found <= limit, f"{what} differ by {100 * found:.2f} %, at most {100 * limit:.0f} %")


def _same(figures):
    by_job = {}
    for one in figures.done:
        by_job.setdefault((one.job.kernel, one.job.setup.name), []).append(one.counted.median(TLB))
        if one.job.setup.workload is setups.GIT and one.job.setup.icount:
            walks = one.counted.all(TLB, lambda repetition: repetition.count())
            _alike(figures, f"{one.job.name}: repetitions", walks, SAME_REPETITIONS)
    for (kernel, name), walks in by_job.items():
        if len(walks) > 1:
            _alike(figures, f"{kernel} {name}: boots", walks, SAME_BOOTS)


@dataclasses.dataclass(frozen=True)
class Band:
    """What holds for one size of the tree."""

    linear: tuple  # load walks of the kernel the published figure is held against, not distributed
    ratio: float  # on 4K, times as many at least
    kernel: float  # the same, in kernel mode only


BANDS = {
    tree.FILES: Band((8000, 10000), 4, 50),
    setups.QUICK_FILES: Band((2200, 3300), 3.5, 25),
}
ANY_SIZE = Band((0, float("inf")), 3, 20)
EXT4_RATIO = 4.5
# With a clock of their own they depend on how busy the machine is that emulates them.
CLOCKED = {setup.pair[0] for setup in setups.SETUPS.values() if not setup.icount}


def _pair(figures, kernel, family, linear, small, band):
    label = f"{kernel} {family}".strip()
    if (kernel, family) == ("6.1", ""):
        least, most = band.linear
        figures.expect(least <= linear.median(TLB) <= most,
                       f"{label}: {linear.median(TLB)} load walks if linear, {least} to {most}")
    least = EXT4_RATIO if family == "ext4" and band is not ANY_SIZE else band.ratio
    by = ratio(small.median(TLB), linear.median(TLB))
    figures.expect(by >= least, f"{label}: on 4K {by:.2f} times the load walks, at least {least}")
    by = ratio(small.median(TLB, mode="kernel"), linear.median(TLB, mode="kernel"))
    if family in ("", "2n"):
        figures.expect(by >= band.kernel, f"{label}: in kernel mode {by:.0f} times, at least {band.kernel}")
    if HOST_4K in linear.tlbs:
        by, most = ratio(small.median(HOST_4K), linear.median(HOST_4K)), 1.15 if family in CLOCKED else 1.05
        figures.expect(1 / most <= by <= most, f"{label}: with a host on 4K {by:.2f} times, at most {most} "
                                               "either way")  # fmt: skip


def figures(done, files):
    """[(passed, sentence)]"""
    found = Figures([one for one in done if TLB in one.counted.tlbs])
    band = BANDS.get(files, ANY_SIZE)
    _same(found)
    for (kernel, family), cases in found.families().items():
        label = f"{kernel} {family}".strip()
        if {"linear", "4k"} <= set(cases):
            _pair(found, kernel, family, cases["linear"], cases["4k"], band)
        if {"linear", "huge"} <= set(cases):
            by = ratio(cases["huge"].median(TLB), cases["linear"].median(TLB))
            found.expect(by <= 1.05, f"{label}: with huge vmalloc {by:.2f} times linear, at most 1.05")
        if family == "tcp" and {"huge", "4k"} <= set(cases):
            by = ratio(cases["4k"].median(TLB), cases["huge"].median(TLB))
            found.expect(by >= 20, f"{label}: on 4K {by:.0f} times the load walks, at least 20")
    return found.found

# SPDX-License-Identifier: MIT
"""
results.py - what the plugin wrote, and the figures made of it
"""

import bisect
import collections
import json
import statistics
from pathlib import Path

KINDS = ("load", "store")


class Damaged(Exception):
    """The plugin's file is not what it should be."""


def median(values):
    """Of counts: a count."""
    return round(statistics.median(values))


def spread(counts):
    """(largest - smallest) / median; a median of 0 is taken for 1."""
    return (max(counts) - min(counts)) / max(statistics.median(counts), 1)


class Symbols:
    """Functions of the guest's kernel by address."""

    def __init__(self, text):
        found = []
        for line in text.splitlines():
            parts = line.split()
            if len(parts) >= 3 and parts[1] in "tTwW":
                found.append((int(parts[0], 16), parts[2]))
        found.sort(key=lambda entry: entry[0])
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]

    def name(self, address):
        at = bisect.bisect_right(self.addresses, address) - 1
        # What the compiler has cut out of a function, or cloned, still is that function.
        return self.names[at].split(".")[0] if at >= 0 else f"{address:#x}"


class Repetition:
    """The counts of one run of the command, on one model."""

    def __init__(self, whole, model):
        self.number = whole["repetition"]
        self.accesses = model["accesses"]
        self.walks = model["walks"]
        self.references = model["references"]
        self.untranslated = model["untranslated"]
        self.where = model["where"]
        self.places = model["places"]
        self.faults = whole["faults"]
        for i, kind in enumerate(KINDS):
            if self.count(kind) + self.untranslated[i] != self.walks[i]:
                raise Damaged(f"repetition {self.number}: the model has not asked about every {kind} walk")
        self.flushes = {key: whole[key] for key in ("cr3_writes", "cr3_flushes", "page_flushes",
                                                    "whole_flushes", "unknown_operands", "invpcids")}

    def count(self, kind="load", **wanted):
        """Walks of that kind, all or those with mode=, region=, size=."""
        keys = ("mode", "region", "size")
        return sum(walks for its_kind, *rest, walks in self.where if its_kind == kind
                   and all(wanted.get(key, value) == value for key, value in zip(keys, rest)))

    def faulting(self, kind="load"):
        """Walks that ended in a page fault. They are not in count(): no access was made."""
        return sum(count for its_kind, _, _, count in self.faults if its_kind == kind)

    def functions(self, symbols, kind="load"):
        by_name = collections.Counter()
        for pc, *walks in self.places:
            by_name[symbols.name(pc)] += walks[KINDS.index(kind)]
        return by_name


def parse(text):
    """(regions, lines of repetitions) of the plugin's file."""
    lines = [json.loads(line) for line in text.splitlines()]
    if not lines or "tables" not in lines[0]:
        raise Damaged("the guest has not handed over its symbols")
    return lines[0], lines[1:]


class Counted:
    """One boot: all its repetitions on all its models. The first repetition only warms up."""

    def __init__(self, regions, lines, symbols):
        self.regions, self.symbols = regions, symbols
        self.tlbs = {}
        for line in lines:
            if line["status"]:
                raise Damaged(f"repetition {line['repetition']}: wait status {line['status']:#x}")
            for model in line["models"]:
                self.tlbs.setdefault(model["tlb"], []).append(Repetition(line, model))
        self.tlbs = {name: repetitions[1:] for name, repetitions in self.tlbs.items()}
        if not self.tlbs or not all(self.tlbs.values()):
            raise Damaged("no repetition was counted")

    @classmethod
    def read(cls, directory):
        directory = Path(directory)
        regions, lines = parse((directory / "counts").read_text())
        return cls(regions, lines, Symbols((directory / "symbols").read_text()))

    def all(self, tlb, of):
        return [of(repetition) for repetition in self.tlbs[tlb]]

    def median(self, tlb, kind="load", **wanted):
        return median(self.all(tlb, lambda repetition: repetition.count(kind, **wanted)))

    def faulting(self, tlb, kind="load"):
        return median(self.all(tlb, lambda repetition: repetition.faulting(kind)))

    def spread(self, tlb):
        return spread(self.all(tlb, lambda repetition: repetition.count()))

    def functions(self, tlb, kind="load", top=12):
        """[(name, walks)], medians, the most first."""
        each = self.all(tlb, lambda repetition: repetition.functions(self.symbols, kind))
        names = {name for counter in each for name in counter}
        medians = [(name, median([counter[name] for counter in each])) for name in names]
        return sorted(((n, w) for n, w in medians if w), key=lambda entry: (-entry[1], entry[0]))[:top]

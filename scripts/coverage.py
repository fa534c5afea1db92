#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What gcovr counted, by room, and by file what was never reached: coverage.py GCOVR.json"""

import json
import sys
from collections import defaultdict


def share(part, whole):
    return f"{100 * part / whole:5.1f} %" if whole else "      -"


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "backend" else parts[0]


def stretches(numbers):
    """[3, 4, 5, 9] as "3-5 9"."""
    out = []
    for n in sorted(numbers):
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return " ".join(f"{a}-{b}" if a != b else str(a) for a, b in out)


class File:
    def __init__(self, entry):
        self.path = entry["file"]
        self.lines, self.missed = 0, []
        self.branches = self.taken = 0
        for line in entry["lines"]:
            if line.get("gcovr/noncode"):
                continue
            self.lines += 1
            if not line["count"]:
                self.missed.append(line["line_number"])
            self.branches += len(line["branches"])
            self.taken += sum(b["count"] > 0 for b in line["branches"])
        self.unreached = [
            f["name"] for f in entry.get("functions", []) if not f["execution_count"]
        ]


def print_rooms(files):
    rooms = defaultdict(list)
    for file in files:
        rooms[room_of(file.path)].append(file)
    print(f"{'ROOM':<16} {'LINES':>6} {'REACHED':>8} {'BRANCHES':>9} {'TAKEN':>8}")
    for room, own in sorted(rooms.items()) + [("all", files)]:
        lines, missed = sum(f.lines for f in own), sum(len(f.missed) for f in own)
        branches, taken = sum(f.branches for f in own), sum(f.taken for f in own)
        print(
            f"{room:<16} {lines:>6} {share(lines - missed, lines):>8} "
            f"{branches:>9} {share(taken, branches):>8}"
        )


def print_missed(files):
    for file in files:
        if not file.missed:
            continue
        print(f"\n{file.path}: {len(file.missed)} of {file.lines} lines never reached")
        if file.unreached:
            print(f"  functions: {' '.join(file.unreached)}")
        print(f"  lines: {stretches(file.missed)}")


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        entries = json.load(text)["files"]
    files = sorted((File(e) for e in entries), key=lambda f: f.path)
    print_rooms(files)
    print_missed(files)


main()

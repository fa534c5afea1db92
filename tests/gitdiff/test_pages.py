#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Counts that are known beforehand, all the way from a load in a guest to a line of the plugin.

    fits     |########........|   512 pages, ten rounds:      512 walks
    does not |################|## 2,048 pages, ten rounds:  20,480 walks (1,536 + 64 translations, LRU)

usage: test_pages.py DIRECTORY-OF-THE-PLUGIN PROGRAM-PAGES
"""

import os
import sys
import tempfile
import types
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("bench/gitdiff", "bench/peers", "tests/kernels")]

import gitdiff  # noqa: E402
import lab  # noqa: E402
import setups  # noqa: E402
from results import Counted  # noqa: E402

ROUNDS = 10
CASES = {512: 512, 2048: 2048 * ROUNDS}
BESIDE = 20  # the program's own pages: stack, code that is read


def count(pages, build, program, out):
    options = types.SimpleNamespace(build=build, tlbs=["kaby-lake"], record=None)
    out.mkdir()
    fields = setups.lab_arguments(setups.SETUPS["linear"], 512)
    fields["qemu"] += ["-plugin", gitdiff.plugin_argument(options, out, False)]
    lab.boot(lab.Guest(put=[(program, "pages")], run=[(f"pages {pages} {ROUNDS}", False)],
                       timeout=300, **fields), out)  # fmt: skip
    return Counted.read(out)


def check(pages, want, counted):
    wrong = []
    for one in counted.tlbs["kaby-lake"]:
        got = one.count(mode="user", region="user", size="4K")
        print(f"{pages} pages, {ROUNDS} rounds: {got} walks of {one.accesses[0]} loads")
        if not want <= got <= want + BESIDE:
            wrong.append(f"{pages} pages: {got} walks, wanted {want} to {want + BESIDE}")
        if one.accesses[0] < pages * ROUNDS:
            wrong.append(f"{pages} pages: {one.accesses[0]} loads, fewer than the program made")
    return wrong


def main(build, program):
    lab.end_with_children()
    if not (Path(build) / "gitdiff.so").exists() or not os.access(program, os.X_OK):
        lab.skip("the plugin was not built: only on x86-64, without sanitizers")
    wrong = []
    with tempfile.TemporaryDirectory(prefix="hashdist-pages-") as tmp:
        for pages, want in CASES.items():
            try:
                wrong += check(pages, want, count(pages, build, program, Path(tmp, str(pages))))
            except lab.Skip as e:
                lab.skip(str(e))
    for text in wrong:
        print(f"FAIL: {text}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
walks.py - page walks of random lookups in the example kernel's largest table

    walks.py [--tlb NAME] KERNEL PLUGIN

PLUGIN is the shared object that bench/gitdiff builds for the emulator: it sees every load of the
guest between the kernel's marks and feeds a modelled TLB (the names are those of docs/tlb.md). The
same table is laid out three ways on a machine with two nodes; so many lookups, so many walks.
What the plugin counts is set beside what the kernel read in its own page tables. Exit status 1 if
the two do not go together, 77 if it cannot be done here.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import beside_linux  # noqa: E402

lab = beside_linux.lab
LOOKUPS = 100_000
LAYOUTS = (
    ("one node, linear", "hashdist=0"),
    ("spread, 2M pages", "hashdist=1"),
    ("spread, 4K pages", "hashdist=1 nohugevmalloc"),
)


def count(kernel, plugin, tlb, append):
    """(the dentry table as the kernel sees it, walks of loads by page size) of one boot."""
    with tempfile.TemporaryDirectory(prefix="hashdist-walks-") as tmp:
        out = Path(tmp) / "walks"
        # A later -accel wins; the plugin wants all processors in one thread.
        extra = ["-accel", "tcg,thread=single", "-plugin", f"{Path(plugin).resolve()},tlb={tlb},out={out}"]
        ours = beside_linux.boot(kernel, f"as=6.1.159 lookups={LOOKUPS} {append}", memory="8G",
                                 nodes="4G,4G", qemu=extra)  # fmt: skip
        model = json.loads(out.read_text().splitlines()[-1])["models"][0]
    walks = {size: n for kind, _, _, size, n in model["where"] if kind == "load"}
    if model["accesses"][0] < LOOKUPS:
        raise lab.LabError(f"only {model['accesses'][0]} loads were seen of {LOOKUPS} lookups")
    return ours.tables[0], walks


def main(argv=None):
    p = argparse.ArgumentParser(prog="walks.py", description="Page walks of the example kernel's lookups.")
    p.add_argument("--tlb", default="kaby-lake")
    p.add_argument("kernel", metavar="KERNEL")
    p.add_argument("plugin", metavar="PLUGIN")
    args = p.parse_args(argv)
    try:
        if not Path(args.plugin).exists():
            raise lab.Skip(f"there is no {args.plugin}")
        print(f"{LOOKUPS} random lookups in the dentry table of 8 MiB, {args.tlb}")
        print(f"{'LAYOUT':18} {'TRANSLATIONS':>12} {'WALKS':>7}  BY SIZE")
        wrong = 0
        for layout, append in LAYOUTS:
            table, walks = count(args.kernel, args.plugin, args.tlb, append)
            total = sum(walks.values())
            print(f"{layout:18} {table.translations:12} {total:7}  "
                  + " ".join(f"{n} of {size}" for size, n in walks.items()))  # fmt: skip
            # Each translation is walked to once at least; and no other size is.
            have = {size for size, b in table.sizes.items() if b}
            wrong += total < table.translations or not have <= set(walks)
        return int(bool(wrong))
    except lab.Skip as e:
        lab.skip(str(e))
    except lab.LabError as e:
        print(f"walks: {e}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

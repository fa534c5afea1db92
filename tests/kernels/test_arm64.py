#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
An arm64 kernel on two emulated nodes: its log is one we can read, and its book of
areas has every table that the log says is distributed, on the nodes it has.
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


def check(boot):
    """All that is wrong with what came back."""
    lines = compare.log_tables(boot.dmesg)
    areas = compare.vmalloc_areas(boot.text("vmallocinfo"))
    wrong = [] if len(lines) >= 12 else [f"only {len(lines)} tables in the log"]
    for line in lines:
        if line.mapping != "vmalloc":
            if line.mapping is not None:
                wrong.append(f"{line.name}: {line.mapping}, on two nodes of 1 GiB")
            continue
        size = -(-line.bytes // compare.PAGE) * compare.PAGE
        fit = [a for a in areas.get(size, ()) if sum(a.values()) == size]
        if not fit:
            wrong.append(f"{line.name}: no area of {size} bytes in vmallocinfo")
            continue
        areas[size].remove(fit[0])
        if size >= 8 * compare.PAGE and set(fit[0]) != {"0", "1"}:
            wrong.append(f"{line.name}: on nodes {sorted(fit[0])}")
    nodes = (boot.dir / "sysroot/sys/devices/system/node/has_memory").read_text().strip()
    if nodes != "0-1":
        wrong.append(f"nodes with memory: {nodes}")
    if boot.runs[0].out.strip() != "aarch64":
        wrong.append(f"uname -m said {boot.runs[0].out!r} {boot.runs[0].err!r}")
    if json.loads(boot.text("boot.json"))["arch"] != "arm64":
        wrong.append("boot.json does not name the architecture")
    return wrong


def main():
    lab.end_with_children()
    with tempfile.TemporaryDirectory(prefix="hashdist-arm64-") as tmp:
        out = os.environ.get("HASHDIST_LAB_OUT") or tmp
        try:
            boot = lab.boot(lab.Guest(kernel="6.12", arch="arm64", memory="2G", nodes="1G,1G",
                                      run=[("uname -m", False)]), out)  # fmt: skip
        except lab.Skip as e:
            lab.skip(str(e))
        except lab.LabError as e:
            print(f"FAIL  {e}")
            return 1
        wrong = check(boot)
        print(f"{'FAIL' if wrong else 'ok'}  {boot.kernel.release} ({boot.seconds:.1f} s)")
        for text in wrong:
            print(f"    {text}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

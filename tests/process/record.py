#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record the books of one process under real kernels, for the parsers' tests.

    record.py PROCESS_TARGET OUT    PROCESS_TARGET linked statically; OUT/KERNEL/{maps,smaps,...}

A guest with two nodes of 512 MiB, huge pages where advised, NUMA balancing off; `expected` is what
the process itself printed. Only kernels that are in the lab's cache, or can be fetched, are recorded.
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kernels"))
import lab  # noqa: E402

FILES = ["maps", "smaps", "numa_maps", "status", "stat", "limits", "mountinfo", "expected"]
KERNELS = ["5.10", "6.1", "6.12", "7.x"]
WORDS = (
    "anon=16,advise,nodes=3:3,touch anon=16,refuse,touch anon=8,touch shared=8,touch memfd=8,touch "
    "sysv=8,half hugetlb=8,touch heap=8,touch stack=8 anon=8,stripe,advise,touch file=8,touch fork"
)
SCRIPT = """
echo 40 > /proc/sys/vm/nr_hugepages
echo 0 > /proc/sys/kernel/numa_balancing
echo madvise > /sys/kernel/mm/transparent_hugepage/enabled
mkfifo /tmp/stop; sleep 100 > /tmp/stop &
process-target %s < /tmp/stop > /tmp/expected &
P=$!
i=0; while [ $i -lt 100 ] && ! grep -q ready /tmp/expected; do sleep 0.5; i=$((i + 1)); done
grep ready /tmp/expected || exit 1
for f in maps smaps numa_maps status stat limits mountinfo; do cat /proc/$P/$f > /tmp/$f; done
cat /proc/2/stat > /tmp/kernel-thread.stat
"""


def guest(kernel, target):
    return lab.Guest(
        kernel=kernel,
        memory="1G",
        nodes="512M,512M",
        flavour="generic",
        put=[(target, "process-target")],
        run=[(SCRIPT % WORDS, False)],
        get=[f"/tmp/{name}" for name in [*FILES, "kernel-thread.stat"]],
    )


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    target, out = sys.argv[1], Path(sys.argv[2])
    scratch = out / ".boots"
    for kernel, boot in lab.run_matrix([(k, guest(k, target)) for k in KERNELS], scratch, 2).items():
        if isinstance(boot, lab.LabError) or boot.runs[0].status:
            print(f"{kernel}: {boot if isinstance(boot, lab.LabError) else boot.runs[0]}")
            continue
        for name in [*FILES, "kernel-thread.stat"]:
            text = boot.text(f"files/tmp/{name}")
            (out / kernel).mkdir(parents=True, exist_ok=True)
            (out / kernel / name).write_text(text)
        print(f"{kernel}: {boot.kernel}")


if __name__ == "__main__":
    main()

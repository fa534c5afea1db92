#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What does `hashdist report --pid` cost in time and memory?

Three targets: one with 100,000 small mappings and a table, one with 8 GiB resident on base pages,
one with 8 GiB on huge pages. For each, in turn (A B A B ...): the report, the report without details
(--budget 0), and `cat smaps`, which is what one would read without this. Medians of the time by the
clock and of the processors, and the peak of memory.

Needs vm.max_map_count above 100,000 for the first and 9 GiB of memory for the others; with less it
takes what there is, and says so. --raise-max-map-count raises the first meanwhile (root).

usage: process_speed.py HASHDIST PROCESS_TARGET [--raise-max-map-count] [ROUNDS]
"""
import contextlib
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

MAPPINGS, GIB = 100_000, 8
MAP_COUNT = Path("/proc/sys/vm/max_map_count")


@contextlib.contextmanager
def map_count(wanted):
    """Raise the limit while the targets run, where asked to."""
    before = MAP_COUNT.read_text(encoding="ascii")
    if int(before) >= wanted:
        yield
        return
    MAP_COUNT.write_text(str(wanted), encoding="ascii")
    try:
        yield
    finally:
        MAP_COUNT.write_text(before, encoding="ascii")


@contextlib.contextmanager
def target(program, *words):
    with subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          encoding="ascii") as process:
        for line in process.stdout:
            if line.startswith("lacks"):
                print(f"{' '.join(words)}: {line.strip()}")
            if line.startswith(("ready", "lacks")):
                break
        try:
            yield process.pid
        finally:
            process.stdin.close()


def run(command):
    """Seconds by the clock, and of the processors."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime


def peak_kib(command):
    """Peak of memory, read while its end is held up by a full pipe that it prints to."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.DEVNULL) as process:
        os.close(writer)
        peak, calm = 0, 0
        while calm < 5:
            time.sleep(0.02)
            text = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            status = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
            kib = int(status.get("VmHWM", "0").split()[0])
            calm = calm + 1 if status["State"][0] in "SZ" and kib == peak else 0
            peak = max(peak, kib)
        while os.read(reader, 1 << 16):
            pass
    os.close(reader)
    return peak


def compare(title, binary, pid, rounds):
    commands = {
        "report --pid": [binary, "report", "--pid", str(pid), "--budget", "60000"],
        "  --budget 0": [binary, "report", "--pid", str(pid), "--budget", "0"],
        "cat smaps": ["cat", f"/proc/{pid}/smaps"],
    }
    found = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(run(command))
    base = statistics.median(cpu for _, cpu in found["cat smaps"])
    print(title)
    for name, results in found.items():
        wall = statistics.median(seconds for seconds, _ in results)
        cpu = statistics.median(seconds for _, seconds in results)
        memory = f"{peak_kib(commands[name]):6} KiB" if name != "cat smaps" else " " * 10
        print(f"  {name:<14} {wall * 1000:7.1f} ms, processor {cpu * 1000:6.1f} ms "
              f"(min {min(c for _, c in results) * 1000:.1f}), {cpu / base:5.2f} of cat smaps   {memory}")
    sys.stdout.flush()


def available_gib():
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) >> 20
    return 0


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(words) < 2:
        sys.exit(__doc__)
    binary, program, rounds = words[0], words[1], int(words[2]) if len(words) > 2 else 5
    limit = int(MAP_COUNT.read_text(encoding="ascii"))
    if "--raise-max-map-count" in sys.argv:
        limit = MAPPINGS + 1000
    many = min(MAPPINGS, limit - 200)
    with map_count(limit), target(program, "anon=64,touch", f"many={many}") as pid:
        compare(f"{many} mappings, one of them of 64 MiB", binary, pid, rounds)
    gib = min(GIB, available_gib() - 2)
    if gib < 1:
        print("too little memory for a large target")
        return
    for how, title in (("refuse", "base pages"), ("advise", "huge pages")):
        with target(program, f"anon={gib << 10},{how},touch") as pid:
            compare(f"{gib} GiB resident on {title}", binary, pid, rounds)


if __name__ == "__main__":
    main()

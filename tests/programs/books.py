# SPDX-License-Identifier: MIT
"""What the kernel's books say of the large anonymous memory of processes."""

import re
import time
from pathlib import Path

LINE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ (\S+) (\d+) *(.*)$")
MIB = 1 << 20


def stretches(pid):
    """Neighbouring private, anonymous, writable mappings as one: (start, end, resident, huge)."""
    found, current = [], None
    try:
        text = Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    for line in text.splitlines():
        head = LINE.match(line)
        if head:
            start, end = int(head[1], 16), int(head[2], 16)
            fine = (
                head[3] == "rw-p"
                and head[5] == "0"
                and (head[6] in ("", "[heap]") or head[6].startswith("[anon"))
            )
            if not fine:
                current = None
            elif current and current[1] == start:
                current[1] = end
            else:
                current = [start, end, 0, 0]
                found.append(current)
        elif current and line.startswith("Rss:"):
            current[2] += int(line.split()[1]) << 10
        elif current and line.startswith("AnonHugePages:"):
            current[3] += int(line.split()[1]) << 10
    return found


def large(pids, least=4 * MIB):
    """Resident bytes of what is large, and how many of them are on huge pages."""
    rows = [row for pid in pids for row in stretches(pid) if row[2] >= least]
    return sum(row[2] for row in rows), sum(row[3] for row in rows)


def share(pids, least=4 * MIB):
    resident, huge = large(pids, least)
    return huge / resident if resident else 0.0


def wait_share(pids, wanted, seconds=25):
    """The share once it is at least @wanted; what it came to when it never is."""
    end = time.monotonic() + seconds
    while True:
        now = share(pids)
        if now >= wanted or time.monotonic() > end:
            return now
        time.sleep(0.1)

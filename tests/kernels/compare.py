# SPDX-License-Identifier: MIT
"""
compare.py - a guest's own log and books against what `hashdist report --json` said

Reads the kernel's lines with a parser of its own, on purpose: sharing the one
under test would share its mistakes. Each check returns the differences as text,
an empty list if there are none.
"""

import collections
import re

PAGE = 4096

_LINE = re.compile(
    r"(?:\[ *\d+\.\d+\]\s*(?:\[ *[TC]\d+\]\s*)?)?"
    r"(?P<name>\S.*?) hash table entries: (?P<entries>\d+) "
    r"\((?:order:? -?\d+, )?(?P<bytes>\d+) bytes"
    r"(?: on (?P<nodes>\d+) NUMA nodes, total \d+ KiB)?"
    r"(?:, (?P<mapping>linear|vmalloc hugepage|vmalloc))?\)\.?$"
)

Line = collections.namedtuple("Line", "name entries bytes nodes mapping")


def log_tables(dmesg):
    """The tables of a log, in its order.

    The disk quota line looks alike and is made otherwise: it says no mapping, which is None here.
    """
    found = []
    for text in dmesg.replace("\r", "").splitlines():
        m = _LINE.match(text)
        if m:
            found.append(Line(m["name"].removeprefix("VFS: "), int(m["entries"]), int(m["bytes"]),
                              int(m["nodes"] or 0), m["mapping"]))  # fmt: skip
    return found


def vmalloc_areas(vmallocinfo):
    """{bytes without the guard page: [{node: bytes}, ...]} of the areas of large hashes."""
    areas = collections.defaultdict(list)
    for line in vmallocinfo.splitlines():
        m = re.match(r"\S+\s+(\d+)\s+alloc_large_system_hash\+", line)
        if m:
            nodes = {node: int(pages) * PAGE for node, pages in re.findall(r"\bN(\d+)=(\d+)", line)}
            areas[int(m[1]) - PAGE].append(nodes)
    return dict(areas)


def _nonzero(node_bytes):
    return {str(k): v for k, v in node_bytes.items() if v}


def compare_log(report, lines):
    """Every line of the log is in the report with the same figures, and nothing else is.

    A report may leave out the table whose line says no mapping, or call it linear, as it is.
    """
    wrong = []
    told = {}
    for t in report["tables"]:
        if t.get("source") in (None, "log"):
            if t["name"] in told:
                wrong.append(f"{t['name']}: reported twice")
            told[t["name"]] = t
    for line in lines:
        t = told.pop(line.name, None)
        if t is None and line.mapping is None:
            continue
        if t is None:
            wrong.append(f"{line.name}: in the log, not in the report")
            continue
        nodes = t.get("node_bytes")
        if nodes and not 0 <= sum(nodes.values()) - t["bytes"] < (2 << 20):
            wrong.append(f"{line.name}: node_bytes {nodes} are not its {t['bytes']} bytes")
        for key in ("entries", "bytes", "mapping"):
            want = getattr(line, key)
            if key == "bytes" and line.nodes and t[key] == want * line.nodes:
                continue  # one table per node: their sum is as good
            if key == "mapping" and want is None and t[key] in (None, "linear"):
                continue
            if t[key] != want:
                wrong.append(f"{line.name}: {key}: the log says {want!r}, the report {t[key]!r}")
    wrong += [f"{name}: in the report, not in the log" for name in told]
    return wrong


def compare_areas(report, vmallocinfo):
    """Bytes per node of every vmalloc table are those of an area of the kernel's book.

    The book names no tables, so tables of one size are compared as a group. A
    report may answer null where the group's areas differ, never otherwise.
    """
    wrong = []
    areas = vmalloc_areas(vmallocinfo)
    groups = collections.defaultdict(list)
    for t in report["tables"]:
        if (t.get("mapping") or "").startswith("vmalloc"):
            groups[-(-t["bytes"] // PAGE) * PAGE].append(t)
    for size, tables in sorted(groups.items()):
        # a hugepage area is rounded up to whole huge pages
        have = list(areas.get(size) or areas.get(-(-size // (2 << 20)) * (2 << 20)) or [])
        names = ", ".join(t["name"] for t in tables)
        if len(have) < len(tables):
            wrong.append(f"{names}: {len(have)} areas of {size} bytes in vmallocinfo")
            continue
        differ = any(a != have[0] for a in have)
        for t in tables:
            got = t.get("node_bytes")
            if got is None:
                if not differ:
                    wrong.append(f"{t['name']}: node_bytes is null, vmallocinfo says {have[0]}")
            elif _nonzero(got) in have:
                have.remove(_nonzero(got))
            else:
                wrong.append(f"{t['name']}: node_bytes {got}, vmallocinfo has {have}")
    return wrong


def compare_hashdist(report, want):
    """The kernel's switch, as its log proves it; null is an honest answer only to a user."""
    got = (report.get("hashdist") or {}).get("value")
    return [] if got is want else [f"hashdist: value {got!r}, should be {want!r}"]


def compare_unprivileged(report, lines):
    """Without rights a report may know less, and must not say what is not so."""
    wrong = []
    truth = {line.name: line for line in lines}
    for t in report["tables"]:
        line = truth.get(t["name"])
        if not line:
            wrong.append(f"{t['name']}: the kernel's log has no such table")
            continue
        if t.get("mapping") not in (None, line.mapping or "linear"):
            wrong.append(f"{t['name']}: mapping {t['mapping']!r}, the kernel says {line.mapping!r}")
        if t.get("entries") not in (None, line.entries):
            wrong.append(f"{t['name']}: entries {t['entries']}, the kernel says {line.entries}")
    return wrong

# SPDX-License-Identifier: MIT
"""What the command-line tests share: starting the tool, a parser of kernel logs, saved machines.

From the environment:
  HASHDIST_BIN          the program under test
  HASHDIST_BOOT_LOGS    the boot logs that people posted, with index.tsv
  HASHDIST_SOURCE       the source tree
  HASHDIST_REQUIRE_ALL  1: what a machine for tests must offer may not be missing

The log parser here is another than the tool's on purpose, and knows only what one well-behaved
kernel prints. A test file that had to skip all it has ends with status 77.
"""

import csv
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

BIN = os.path.abspath(os.environ.get("HASHDIST_BIN", "build/cli/hashdist"))
SOURCE = Path(os.environ.get("HASHDIST_SOURCE", Path(__file__).resolve().parents[2]))
BOOT_LOGS = Path(os.environ.get("HASHDIST_BOOT_LOGS", SOURCE / "tests/boot-logs"))
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8"}
NOBODY = 65534

DONE = (0, 3)  # fine; done, and a verdict is not ok

COLUMNS = (
    "TABLE NAME ENTRIES SIZE BYTES BUCKET MAPPING PAGES WALKS NODES USED FILL WANT PARAM SOURCE VERDICT"
).split()


class Result:
    """How a run ended. out and err are text; raw is stdout as bytes."""

    def __init__(self, command, process):
        self.command = command
        self.status = process.returncode
        self.raw = process.stdout or b""
        self.out = self.raw.decode("utf-8", "replace")
        self.err = (process.stderr or b"").decode("utf-8", "replace")

    def __str__(self):
        words = " ".join(str(word) for word in self.command)
        return f"\n$ {words}\nstatus {self.status}\n{self.out[:4000]}{self.err[:4000]}"


def start(command, data=None, stdout=subprocess.PIPE, **more):
    feed = {"stdin": subprocess.DEVNULL} if data is None else {"input": data}
    more.setdefault("env", ENVIRONMENT)
    process = subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=False, **feed, **more
    )
    return Result(command, process)


def hashdist(*words, **more):
    return start([BIN, *words], **more)


def report(*words, **more):
    return hashdist("report", *words, **more)


def plan(*words, **more):
    return hashdist("plan", *words, **more)


def only_boot(text):
    """The one machine of a JSON report; with --log it is the only one of a list."""
    found = json.loads(text)
    if "boots" not in found:
        return found
    (boot,) = found["boots"]
    return boot


def column(name, *words, **more):
    """One column of the table, without its head."""
    return report(*words, "--output", name, **more).out.split("\n")[1:-1]


def columns(names, *words, **more):
    """Rows as dictionaries; a run for each column, since cells hold blanks."""
    cells = {name: [cell.strip() for cell in column(name, *words, **more)] for name in names}
    return [dict(zip(names, row)) for row in zip(*cells.values())]


# ---- kernel logs ------------------------------------------------------------------------------

TABLE_LINE = re.compile(
    r"(?:VFS: )?(?P<name>[A-Za-z][\w -]*?) hash table entries: (?P<entries>\d+) "
    r"\((?:order:? (?P<order>\d+), )?(?P<bytes>\d+) bytes"
    r"(?: on (?P<nodes>\d+) NUMA nodes, total \d+ KiB)?"
    r"(?:, (?P<kind>linear|vmalloc hugepage|vmalloc))?\)"
)


def tables_of(text):
    """Table lines of a log, in order, as dictionaries."""
    found = []
    for line in text.splitlines():
        match = TABLE_LINE.search(line)
        if match:
            row = match.groupdict()
            for key in ("entries", "bytes"):
                row[key] = int(row[key])
            row["nodes"] = int(row["nodes"] or 1)
            found.append(row)
    return found


def fixtures():
    """Rows of index.tsv, with path and the number of tables."""
    with open(BOOT_LOGS / "index.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            row["path"] = BOOT_LOGS / (row["id"] + ".log")
            row["tables"] = int(re.search(r"\btables=(\d+)", row["completeness"]).group(1))
            yield row


def fixture(prefix):
    """Path of the one boot log whose name starts so."""
    (path,) = BOOT_LOGS.glob(prefix + "*.log")
    return path


# ---- tests ------------------------------------------------------------------------------------


class Case(unittest.TestCase):
    longMessage = True
    maxDiff = None

    def lacks(self, reason, must=False):
        """Skip; fail where everything must be present and this is part of it."""
        if must and os.environ.get("HASHDIST_REQUIRE_ALL") == "1":
            self.fail(f"must be present: {reason}")
        self.skipTest(reason)

    def assert_status(self, result, *wanted):
        self.assertIn(result.status, wanted, result)

    def assert_quiet(self, result):
        self.assertEqual(result.err, "", result)

    def assert_one_line(self, result, *words):
        """One message, perhaps with hints below it, that names all @words."""
        lines = result.err.splitlines()
        heads = [line for line in lines if not line.startswith("  ")]
        self.assertEqual(len(heads), 1, result)
        self.assertTrue(heads[0].startswith("hashdist: "), result)
        self.assertTrue(all(re.match(r"  [a-z]+ +\S", line) for line in lines[1:]), result)
        for word in words:
            self.assertIn(str(word), heads[0], result)


def main():
    if not os.access(BIN, os.X_OK):
        sys.exit(f"HASHDIST_BIN: no program in {BIN}")
    program = unittest.main(module="__main__", exit=False)
    result = program.result
    for test, reason in result.skipped:
        print(f"skipped: {test.id().removeprefix('__main__.')}: {reason}", file=sys.stderr)
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun and len(result.skipped) == result.testsRun else 0)

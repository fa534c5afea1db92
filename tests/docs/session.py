# SPDX-License-Identifier: MIT
"""A reader of one page: a shell in a directory of its own, with the built tool first in PATH.

Below that directory are tests/ and examples/ of the source tree, as in a reader's checkout. All commands
of a page run in one shell, so that a later block finds what an earlier one made, or started.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

SECONDS = 60  # that one command may take
NOT_INSTALLED = " is not installed"


class Session:
    """One shell; of what it and its commands started nothing is left after close()."""

    def __init__(self, source, environment):
        self.source = source
        self.directory = tempfile.TemporaryDirectory(prefix="hashdist-docs-")
        self.place = Path(self.directory.name)
        for name in ("tests", "examples"):
            (self.place / name).symlink_to(source / name)
        self.shell = subprocess.Popen(
            ["sh"], cwd=self.place, env={**environment, "HOME": str(self.place)}, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.count = 0

    def put(self, name, file):
        shutil.copyfile(self.source / file, self.place / name)

    def run(self, command):
        """(what it printed on both outputs, its status)."""
        self.count += 1
        mark = f"hashdist-docs-{self.count}-end"
        script = f"{{ {command}\n}} </dev/null\nprintf '%s %s\\n' {mark} $?\n"
        self.shell.stdin.write(script.encode())
        self.shell.stdin.flush()
        text = self._read_to(mark, command)
        said, _, status = text.rpartition(mark)
        return said, int(status)

    def _read_to(self, mark, command):
        end = re.compile(rf"{mark} \d+\n".encode())
        got, deadline = b"", time.monotonic() + SECONDS
        while not end.search(got):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.shell.stdout], [], [], left)[0]:
                raise AssertionError(f"$ {command}\nnot done after {SECONDS} s, having printed\n{got.decode()}")
            part = os.read(self.shell.stdout.fileno(), 65536)
            if not part:
                raise AssertionError(f"$ {command}\nended the shell, having printed\n{got.decode()}")
            got += part
        return got.decode("utf-8", "replace")

    def close(self):
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.communicate()
        self.directory.cleanup()


# ---- what not every machine has -----------------------------------------------------------------


def _huge_pages(*wanted):
    try:
        text = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text(encoding="ascii")
    except OSError:
        return "this kernel has no transparent huge pages"
    now = re.search(r"\[(\w+)\]", text)[1]
    return None if now in wanted else f"transparent huge pages are '{now}' here"


def _kernel(first):
    have = tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2])
    return None if have >= first else "the kernel is older than 6.1"


def _header(name):
    asked = f"#if !__has_include(<{name}>)\n#error\n#endif\n"
    found = subprocess.run(["cc", "-E", "-"], input=asked, text=True, check=False, capture_output=True)
    return f"<{name}>{NOT_INSTALLED}" if found.returncode else None


def _one_node():
    try:
        has = Path("/sys/devices/system/node/has_memory").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if has.isdigit() else "this machine has several memory nodes"


def lacks(word):
    """Why a block that needs @word cannot be run here; None where it can."""
    known = {
        "thp": lambda: _huge_pages("always", "madvise"),
        "madvise": lambda: _huge_pages("madvise"),
        "collapse": lambda: _huge_pages("always", "madvise") or _kernel((6, 1)),
        "one-node": _one_node,
    }
    if word in known:
        return known[word]()
    if word.endswith(".h"):
        return _header(word)
    return None if shutil.which(word) else f"{word}{NOT_INSTALLED}"

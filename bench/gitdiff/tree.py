# SPDX-License-Identifier: MIT
"""
tree.py - a source tree shaped like the kernel's, with a git index that is valid in a guest

What `git diff` does with a tree follows from its paths: one lstat() each, one lookup for each
component. So the tree has as many files, in about as many directories, as deep and with names
as long as Linux 6.1's; what is in the files is not read. It is the same in every run.

The index is made by git itself. It stays valid because everything it compares is the same in
the guest: sizes, and times, which are all 0; of inode numbers and owners it is told to look away.
"""

import math
import os
import random
import subprocess
import tempfile
from pathlib import Path

FILES = 78579  # Linux 6.1
FILES_PER_DIRECTORY = 15.7
CONTENT = b"#\n"

# Share of the files in %, directories below each other at most. Linux 6.1, rounded.
TOPS = {
    "drivers": (42.3, 6), "arch": (21.3, 5), "Documentation": (11.1, 5), "include": (7.8, 4),
    "tools": (7.8, 6), "sound": (3.9, 4), "fs": (2.7, 3), "net": (2.6, 3), "lib": (0.8, 3),
    "kernel": (0.7, 3), "scripts": (0.6, 3), "samples": (0.4, 2), "security": (0.4, 2),
    "crypto": (0.2, 2), "mm": (0.2, 2), "block": (0.1, 2), "virt": (0.1, 2), "rust": (0.1, 2),
}  # fmt: skip
SYLLABLES = (
    "ac an ar as at ba bi bus ca cl com con cor ctl dev di dma dp dw ec en eth ex fb fi gen gpio "
    "ha hi hw i2c im in io ip iq it ka ke la li lo ma mc me mi mt mux na net nv of op or pa pci "
    "phy pl pm po pwr qu ra re ri rt rx sa sc se si sm sp ss st sun ta te ti tm tr tx ue um un us "
    "va ve vi wm xe xo za"
).split()
KINDS = ((".c", 46), (".h", 31), (".rst", 4), (".yaml", 5), (".dts", 4), (".dtsi", 3), (".S", 2),
         (".txt", 3), (".json", 1), (".sh", 1))  # fmt: skip


def _name(random_, syllables):
    name = "".join(random_.choice(SYLLABLES) for _ in range(syllables))
    return name if random_.random() < 0.7 else name + random_.choice("-_") + random_.choice(SYLLABLES)


def _directories(random_, top, count, depth):
    """A new one goes below one that is there already, rather a shallow one."""
    found, used = [top], {top}
    while len(found) < count:
        parent = min(random_.choices(found, k=5), key=lambda path: path.count("/"))
        path = f"{parent}/{_name(random_, random_.choice((1, 2, 3, 3)))}"
        if path.count("/") <= depth and path not in used:
            used.add(path)
            found.append(path)
    return found


def _fill(random_, directories, count):
    """Few directories hold many files, many hold few: log-normal, as in the kernel."""
    weights = [math.exp(random_.gauss(0, 1.2)) for _ in directories]
    used = {f"{d}/Makefile" for d in directories[:count]}
    endings, shares = zip(*KINDS)
    while len(used) < count:
        directory = random_.choices(directories, weights)[0]
        ending = random_.choices(endings, shares)[0]
        used.add(f"{directory}/{_name(random_, random_.choice((2, 3, 3, 4, 5)))}{ending}")
    return used


def paths(files=FILES):
    """As many paths, sorted as in an index. The same for the same number."""
    found = {f"{name}" for name in ("COPYING", "CREDITS", "Kbuild", "Kconfig", "MAINTAINERS", "Makefile",
                                    "README")}  # fmt: skip
    whole = sum(share for share, _ in TOPS.values())
    wanted = files - len(found)
    done = 0.0
    for number, (top, (share, depth)) in enumerate(TOPS.items()):
        before, done = done, done + share
        count = round(wanted * done / whole) - round(wanted * before / whole)
        random_ = random.Random(number)
        directories = _directories(random_, top, max(1, round(count / FILES_PER_DIRECTORY)), depth)
        found |= _fill(random_, directories, count)
    return sorted(found, key=os.fsencode)


def _git(tree, *arguments):
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(tree), "LC_ALL": "C",
           "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}  # fmt: skip
    subprocess.run(["git", "-C", str(tree), *arguments], env=env, check=True, stdout=subprocess.DEVNULL)


CONFIG = {
    "core.checkStat": "minimal", "core.trustctime": "false", "core.fsync": "none", "gc.auto": "0",
    "user.name": "gitdiff", "user.email": "gitdiff@localhost",
}  # fmt: skip


def make(tree, names, config=None):
    """The tree itself, and its index."""
    for directory in sorted({os.path.dirname(name) for name in names}):
        (tree / directory).mkdir(parents=True, exist_ok=True)
    for name in names:
        path = tree / name
        path.write_bytes(CONTENT)
        os.utime(path, (0, 0))
    _git(tree, "init", "-q", "-b", "main")
    for key, value in {**CONFIG, **(config or {})}.items():
        _git(tree, "config", key, value)
    _git(tree, "add", "-A")
    _git(tree, "commit", "-q", "-m", "tree")


def archive(cpio, files=FILES, config=None):
    """Adds the tree to an archive for a guest, as /tree. What git has stored stays here: a
    comparison of stat data does not ask for it."""
    names = paths(files)
    with tempfile.TemporaryDirectory(prefix="hashdist-tree-") as tmp:
        make(Path(tmp), names, config)
        for name in names:
            cpio.file(f"tree/{name}", CONTENT)
        for directory in ("objects", "refs"):
            cpio.directory(f"tree/.git/{directory}")
        for name in ("HEAD", "config", "index"):
            cpio.file(f"tree/.git/{name}", (Path(tmp) / ".git" / name).read_bytes())

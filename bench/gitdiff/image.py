# SPDX-License-Identifier: MIT
"""
image.py - the tree on an ext4 file system, on a disk whose driver the kernels have built in
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import lab
import tree

BYTES_PER_FILE = 6144  # a block, an inode, and its part of the directories
# Whoever made the image owns its files; git wants a repository of its user's own.
MOUNT = "mkdir /tree && mount -t ext4 /dev/nvme0n1 /tree && chown 0:0 /tree /tree/.git"


def make(path, files, config):
    """Raises lab.Skip without mke2fs, which is able to fill a file system without root."""
    program = shutil.which("mke2fs") or shutil.which("mke2fs", path="/usr/sbin:/sbin")
    if not program:
        raise lab.Skip("'mke2fs' is missing (package e2fsprogs)")
    with tempfile.TemporaryDirectory(prefix="hashdist-tree-") as tmp:
        tree.make(Path(tmp), tree.paths(files), config)
        shutil.rmtree(Path(tmp) / ".git" / "objects")
        (Path(tmp) / ".git" / "objects").mkdir()
        size = files * BYTES_PER_FILE + (64 << 20)
        subprocess.run([program, "-q", "-t", "ext4", "-N", str(files * 5 // 4), "-E",
                        "root_owner=0:0,lazy_itable_init=0", "-d", tmp, str(path), f"{size >> 10}k"],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # fmt: skip


def qemu_arguments(disk):
    """What is written to it is thrown away: every boot begins with the same."""
    drive = f"if=none,id=tree,format=raw,snapshot=on,file={str(disk).replace(',', ',,')}"
    return ["-drive", drive, "-device", "nvme,drive=tree,serial=tree"]

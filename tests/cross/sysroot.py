#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
sysroot.py ARCHITECTURE - libraries of this system's suite for another Debian architecture

Prints a directory that holds what hashdist links against, built for ARCHITECTURE (i386, arm64,
...): headers, libraries, pkg-config files. The packages are unpacked, not installed, and the
architecture is not added to this system. Kept in ~/.cache/hashdist/sysroots/; what is there
already needs no network. libc is not among them: it comes with the cross compiler.

Exit status: 0 printed, 1 failed, 2 wrong usage, 77 cannot be had here (HASHDIST_REQUIRE_ALL=1
turns 77 into 1).
"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kernels"))
import archive  # noqa: E402

# Those that are linked against, and what their shared libraries are in.
PACKAGES = [
    "zlib1g-dev", "zlib1g",
    "libcmocka-dev", "libcmocka0",
    "libjansson-dev", "libjansson4",
    "libsmartcols-dev", "libsmartcols1",
]  # fmt: skip
LIST = "packages.json"  # what a directory was made of


def load(directory):
    """The directory if it holds all packages, else None."""
    try:
        there = json.loads((directory / LIST).read_text())
    except (OSError, ValueError):
        return None
    return directory if set(there) == set(PACKAGES) else None


def keep_links_inside(directory):
    """libz.so is a link to /lib/...: this system's, for whoever only unpacks it."""
    for link in directory.rglob("*"):
        if link.is_symlink() and os.readlink(link).startswith("/"):
            inside = directory / os.readlink(link).lstrip("/")
            link.unlink()
            link.symlink_to(os.path.relpath(inside, link.parent))


def unpack(architecture, sources, directory):
    versions = {}
    with tempfile.TemporaryDirectory(prefix="hashdist-apt-") as tmp:
        apt = archive.Apt(Path(tmp), sources, architecture)
        apt.run("apt-get", "-q", "update")
        for deb in archive.download(apt, *PACKAGES):
            subprocess.run(["dpkg-deb", "--extract", deb, directory], check=True)
            package, version = deb.name.split("_")[:2]
            versions[package] = version
    keep_links_inside(directory)
    (directory / LIST).write_text(json.dumps(versions, indent=2) + "\n")


def sysroot(architecture):
    suite = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    name = f"{suite}-{architecture}"
    top = archive.cache_dir("sysroots")
    top.mkdir(parents=True, exist_ok=True)
    sources = archive.sources_for(suite, archive.system_sources())
    if not sources:
        raise archive.Skip("this system has no Debian package source to take libraries from")

    def fill(attempt, new):
        unpack(architecture, attempt, new)

    directory = archive.kept(top, name, load, fill, sources)
    if not directory:
        raise archive.Failure(f"{top / name} is not readable after fetching")
    return directory


def main(argv):
    if len(argv) != 2 or not re.fullmatch(r"[a-z0-9]+", argv[1]):
        print(f"usage: {argv[0]} ARCHITECTURE", file=sys.stderr)
        return 2
    try:
        print(sysroot(argv[1]))
    except archive.Skip as e:
        archive.skip(str(e))
    except (archive.Failure, OSError, subprocess.CalledProcessError) as e:
        print(f"FAIL: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

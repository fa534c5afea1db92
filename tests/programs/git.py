# SPDX-License-Identifier: MIT
"""git packing a repository of many small objects."""

import subprocess

import base

OBJECTS = 120000


class Program(base.Writer):
    def command(self):
        git = base.need("git")
        where = self.path("repository")
        subprocess.run([git, "init", "-q", "--bare", where], check=True)
        blobs = b"".join(
            b"blob\nmark :%d\ndata %d\n%s\n" % (i, 40, b"%040d" % i) for i in range(1, OBJECTS)
        )
        files = b"".join(b"M 100644 :%d %d/%d\n" % (i, i % 97, i) for i in range(1, OBJECTS))
        commit = b"commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\n"
        subprocess.run(
            [git, "-C", where, "fast-import", "--quiet"], input=blobs + commit + files, check=True
        )
        return [git, "-C", where, "-c", "pack.threads=1", "pack-objects", "--all", "--stdout",
                "-q", "--window=0", "--no-reuse-object"]

    def input(self):
        return b""

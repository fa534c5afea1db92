#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A saved machine that somebody made to do harm, read by the whole program.

One at a time each file of a saved machine is replaced by something that is none. Whatever it is: the
program ends by itself, soon, with a documented status, in little memory; what it prints is text without
control characters, valid JSON or metrics; nothing outside of the directory is read, nothing is written.
"""

import json
import os
import resource
import shutil
import socket
import stat
import subprocess
import tempfile
from pathlib import Path

import support
from support import BIN, report

SECRET = "hashdist-test-secret"
MEMORY = 512 << 20  # bytes of address space: far from what a small program needs
SECONDS = 10
ESCAPES = b"\x1b]0;owned\x07\x1b[2J\x9b31m\r\x00\xff\xfe\xc3\x28 \xe2\x80\xae\n" * 64
VIEWS = (("--output", "TABLE,BYTES,NODES,VERDICT"), ("--json",), ("--openmetrics",))


def link(path, target):
    path.symlink_to(target)


def own_socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            one.bind(f"/proc/self/fd/{directory}/{path.name}")  # the path itself may be too long
        finally:
            os.close(directory)


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(1 << 40)


def nested(path):
    """A directory within a directory, 300 times, where a file should be."""
    path.mkdir()
    at = os.open(path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


def removed(path):
    """rmtree() fails for trees deeper than its recursion."""
    if path.is_dir() and not path.is_symlink():
        subprocess.run(["rm", "-rf", path], check=True)
    else:
        path.unlink()


def things(secret):
    """What may stand in a file's place: name, and who puts it there."""
    yield "a link to a file outside", lambda path: link(path, secret)
    yield "a link upwards", lambda path: link(path, "../" * 40 + str(secret).lstrip("/"))
    yield "a link to itself", lambda path: link(path, path.name)
    yield "a link to what never ends", lambda path: link(path, "/dev/zero")
    yield "a FIFO", os.mkfifo
    yield "a socket", own_socket
    yield "a directory in a directory in ...", nested
    yield "a file of a TiB", sparse
    yield "escapes and broken UTF-8", lambda path: path.write_bytes(ESCAPES)
    yield "a line without end", lambda path: path.write_bytes(b"9" * (1 << 20))
    yield "nothing", lambda path: path.write_bytes(b"")
    if os.geteuid() == 0:
        yield "a device", lambda path: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Hostile(support.Case):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="hashdist-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.secret = self.place / "secret"
        words = f"MemTotal: 4711 kB\nBOOT_IMAGE={SECRET} hashdist={SECRET}\n{SECRET}\n"
        self.secret.write_text(words, encoding="ascii")
        self.saved = self.place / "saved"
        self.assert_status(report("--save", self.saved), 0)

    def harmless(self, *words):
        """What it printed."""
        # A sanitizer reserves terabytes of addresses.
        more = {} if b"__asan_init" in Path(BIN).read_bytes() else {"preexec_fn": limited}
        done = subprocess.run([BIN, *map(str, words)], capture_output=True, timeout=SECONDS, check=False,
                              stdin=subprocess.DEVNULL, cwd=self.place, env=support.ENVIRONMENT, **more)  # fmt: skip
        self.assertIn(done.returncode, (0, 1, 3), done)
        out, err = done.stdout.decode("utf-8", "strict"), done.stderr.decode("utf-8", "strict")
        for text in (out, err):
            self.assertNotIn(SECRET, text)
            bad = {c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e")}
            self.assertEqual(bad, set(), text)
        if done.returncode == 1:
            self.assertIn("hashdist: ", err)
        elif "--json" in words:
            json.loads(out)
        elif "--openmetrics" in words:
            self.assertTrue(out.endswith("# EOF\n"), out)
        return out

    def files(self):
        return sorted(path.relative_to(self.saved) for path in self.saved.rglob("*") if path.is_file())

    def test_whatever_stands_in_a_files_place_harms_nothing(self):
        files, before = self.files(), sorted(os.listdir(self.place))
        self.assertGreater(len(files), 10)
        for number, (name, put) in enumerate(things(self.secret)):
            for turn, file in enumerate(files):
                path, aside = self.saved / file, self.place / "aside"
                path.rename(aside)
                put(path)
                with self.subTest(file=str(file), is_now=name):
                    self.harmless("report", "--sysroot", self.saved, *VIEWS[(number + turn) % len(VIEWS)])
                removed(path)
                aside.rename(path)
        self.assertEqual(sorted(os.listdir(self.place)), before)

    def test_all_of_it_at_once_neither(self):
        for name, put in things(self.secret):
            bad = self.place / "bad"
            shutil.copytree(self.saved, bad)
            for file in self.files():
                (bad / file).unlink()
                put(bad / file)
            with self.subTest(is_now=name):
                for view in VIEWS:
                    self.harmless("report", "--sysroot", bad, *view)
                self.harmless("plan", "--sysroot", bad, "--describe")
            removed(bad)

    def test_nodes_that_cannot_be_are_none(self):
        nodes = self.saved / "sys/devices/system/node"
        nodes.mkdir(parents=True, exist_ok=True)
        for name in ("4294967296", "-1", "01", "", "1x", " 2", "\n3", "\x1b[2J", "99999"):
            (nodes / f"node{name}").mkdir()
            (nodes / f"node{name}" / "meminfo").write_text("Node 7 MemTotal: 4711 kB\n", encoding="ascii")
        for number in range(200, 2200):
            (nodes / f"node{number}").mkdir()
        for view in VIEWS:
            self.assertNotIn("4711", self.harmless("report", "--sysroot", self.saved, *view))

    def test_a_log_that_is_no_file_is_refused_or_read_to_its_limit(self):
        # Who names a pipe, a device or a link has said what is to be read.
        named = ("a link to what never ends", "a FIFO", "a device", "a file of a TiB", "a link to a file outside")
        for name, put in things(self.secret):
            if name in named:
                continue
            bad = self.place / "log"
            put(bad)
            with self.subTest(is_now=name):
                result = report("--log", bad)
                self.assertIn(result.status, (0, 1, 3), result)
            removed(bad)

    def test_a_machine_is_not_saved_through_a_link(self):
        outside = self.place / "outside"
        outside.mkdir()
        (outside / "kept").write_text("kept", encoding="ascii")
        for name, target in (("full", outside), ("dangling", self.place / "nowhere")):
            (self.place / name).symlink_to(target)
            with self.subTest(link=name):
                result = report("--save", self.place / name)
                self.assert_status(result, 1)
                self.assert_one_line(result, name)
        self.assertEqual(os.listdir(outside), ["kept"])
        self.assertFalse((self.place / "nowhere").exists())


if __name__ == "__main__":
    support.main()

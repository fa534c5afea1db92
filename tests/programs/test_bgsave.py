#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""redis-server saves by a child of fork() while hashdist place works on the parent.

    parent   |####------|   blocks are gathered onto huge pages, keys are written again
    child    |----------|   shares what it was forked with, and writes it to a file

The child is slowed down, so that it still works when the placing begins; or it is stopped in
the midst of its work, so that the placing ends before it goes on.
"""

import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "preload"))

import support  # noqa: E402
from support import BIN, books  # noqa: E402

import base  # noqa: E402
import redis  # noqa: E402

ROUNDS, LEAST = 2, 0.8
FAST = ("--min", "4M", "--busy", "100", "--step", "1000")
DELAY = -5  # a pause of a microsecond, which takes some fifty, at every fifth key or so


class Loaded(redis.Program):
    """One that begins with a file that another has saved."""

    def load(self):
        end = base.time.monotonic() + 60
        while b"loading" in self.ask(b"DBSIZE").lower() and base.time.monotonic() < end:
            base.time.sleep(0.1)


class Bgsave(support.Case):
    def setUp(self):
        self.need_huge_pages()
        if os.geteuid():
            self.skipTest("collapse from outside needs a right that only root is sure to have")
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.directory = place.name
        self.redis = redis.Program(self.directory)
        try:
            self.redis.start()
        except base.Missing as missing:
            self.lacks(f"{missing} is not installed")
        self.addCleanup(self.end, self.redis)
        self.redis.load()

    def end(self, program):
        if program.process.poll() is None:
            program.process.kill()
            program.process.communicate()

    def place(self):
        said = support.call([BIN, "place", "--pid", self.redis.process.pid, "--json", *FAST,
                             "--record", os.path.join(self.directory, "record")])  # fmt: skip
        self.assertIn(said.returncode, (0, 3), said)
        return json.loads(said.stdout)

    def begin_save(self):
        self.redis.ask(b"CONFIG", b"SET", b"rdbcompression", b"no")
        self.redis.ask(b"CONFIG", b"SET", b"rdb-key-save-delay", b"%d" % DELAY)
        self.assertIn(b"started", self.redis.ask(b"BGSAVE"))

    def wait_saved(self):
        end = base.time.monotonic() + 60
        self.redis.ask(b"CONFIG", b"SET", b"rdb-key-save-delay", b"0")
        while self.redis.saving()[0] and base.time.monotonic() < end:
            base.time.sleep(0.1)
        self.assertEqual(self.redis.saving(), (False, "ok"))

    def digest_of_file(self):
        """Of another server that has loaded what the child wrote."""
        with tempfile.TemporaryDirectory() as place:
            os.link(os.path.join(self.directory, "dump.rdb"), os.path.join(place, "dump.rdb"))
            other = Loaded(place)
            other.start()
            self.addCleanup(self.end, other)
            other.load()
            digest = other.digest()
            self.assertEqual(other.stop(), 0)
            return digest

    def child(self):
        pid = self.redis.process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])

    def check_round(self, before, meanwhile):
        self.begin_save()
        told = meanwhile()
        self.wait_saved()
        self.assertEqual(self.redis.digest(), before)
        self.assertEqual(self.digest_of_file(), before)
        return told["result"]["collapsed_blocks"]

    def place_while_it_writes(self):
        """The same keys with the same values: pages are copied, contents stay."""
        writer = threading.Thread(target=self.redis.load)
        writer.start()
        self.assertTrue(self.redis.saving()[0], "the child has ended already")
        told = self.place()
        writer.join()
        return told

    def place_in_the_midst(self):
        """The child stands still, all it shares is written, placed, and on it goes."""
        child = self.child()
        os.kill(child, signal.SIGSTOP)
        self.redis.load()
        told = self.place()
        self.assertTrue(self.redis.saving()[0], "the child has ended")
        os.kill(child, signal.SIGCONT)
        return told

    def test_what_is_saved_meanwhile_is_what_was_stored(self):
        before = self.redis.digest()
        self.assertLess(books.share(self.redis.pids()), 0.2)
        for done in range(ROUNDS):
            with self.subTest(round=done, child="runs"):
                self.check_round(before, self.place_while_it_writes)
            with self.subTest(round=done, child="is stopped"):
                self.assertGreater(self.check_round(before, self.place_in_the_midst), 0)
        self.place()
        self.assertGreaterEqual(books.share(self.redis.pids()), LEAST)
        self.assertEqual(self.redis.digest(), before)
        self.assertEqual(self.redis.stop(), 0)

    def test_one_that_is_watched_saves_and_forks_as_it_likes(self):
        before = self.redis.digest()
        watch = support.subprocess.Popen([BIN, "place", "--pid", str(self.redis.process.pid), "--watch", *FAST,
                                          "--record", os.path.join(self.directory, "record")],
                                         stdout=support.subprocess.DEVNULL, stderr=support.subprocess.PIPE)  # fmt: skip
        for _ in range(ROUNDS):
            self.begin_save()
            self.redis.load()
            self.wait_saved()
        self.assertEqual(self.digest_of_file(), before)
        self.assertEqual(self.redis.digest(), before)
        self.assertEqual(self.redis.stop(), 0)
        _, messages = watch.communicate(timeout=30)
        self.assertEqual((watch.returncode, messages), (0, b""))


if __name__ == "__main__":
    support.main()

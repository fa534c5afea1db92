#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is made of packages for another architecture. Fetches nothing."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import sysroot  # noqa: E402
from sysroot import archive  # noqa: E402


SOURCE = archive.Source("http://a.example/debian", "sid", options=(("Signed-By", archive.KEYRING),))


class Sysroot(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.top = Path(tmp.name)

    def test_no_link_leads_to_this_systems_own_library(self):
        lib = self.top / "usr" / "lib"
        lib.mkdir(parents=True)
        (self.top / "libz.so.1").write_text("theirs")
        (lib / "libz.so").symlink_to("/libz.so.1")
        (lib / "libz.so.0").symlink_to("libz.so")
        sysroot.keep_links_inside(self.top)
        self.assertEqual((lib / "libz.so").read_text(), "theirs")
        self.assertEqual(os.readlink(lib / "libz.so.0"), "libz.so")

    def test_a_directory_made_of_other_packages_is_made_anew(self):
        made = []

        def fill(sources, directory):
            made.append(sources)
            packages = {p: "1" for p in sysroot.PACKAGES}
            (directory / sysroot.LIST).write_text(sysroot.json.dumps(packages))

        def get():
            return archive.kept(self.top, "x", sysroot.load, fill, [SOURCE])

        self.assertEqual(get(), self.top / "x")
        self.assertEqual(get(), self.top / "x")
        self.assertEqual(made, [[SOURCE]])
        with mock.patch.object(sysroot, "PACKAGES", sysroot.PACKAGES + ["libnew"]):
            self.assertEqual(get(), self.top / "x")
        self.assertEqual(len(made), 2)

    def test_what_could_not_be_filled_is_not_there_and_says_why(self):
        def fill(sources, directory):
            (directory / "half").touch()
            raise archive.Skip("no network")

        with self.assertRaises(archive.Skip):
            archive.kept(self.top, "x", sysroot.load, fill, [SOURCE])
        self.assertEqual([p.name for p in self.top.iterdir()], [".x.lock"])

    def test_a_suite_that_is_not_debians_is_named(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(archive.main(["archive.py", "uri", "woody"]), 2)
        self.assertIn("woody", said.getvalue())


if __name__ == "__main__":
    unittest.main()

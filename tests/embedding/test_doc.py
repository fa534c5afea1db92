#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
docs/embedding.md held to what it describes: every excerpt stands in the function that it names,
every function, rule and file that it mentions is there. The example itself is held to its promise
of being small, and of knowing nothing of core/ but its header.
"""

import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import beside_linux  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
KERNEL = ROOT / "examples/kernel"
DOC = (ROOT / "docs/embedding.md").read_text()
CORE = (ROOT / "include/hashdist/core.h").read_text()

EXCERPT = re.compile(r"`(?P<file>[\w.]+)`, `(?P<name>\w+)\(\)`:\n\n```c in=[\w./]+\n(?P<text>.*?)```", re.S)
MOST_LINES = 1500  # of code, without comments and blank lines


def function(path, name):
    """The text of a function of a C file in the kernel's style; '' if there is none."""
    m = re.search(rf"^\w[^\n;]*\b{name}\([^;{{]*?\)\n{{\n.*?^}}\n", path.read_text(), re.M | re.S)
    return m[0] if m else ""


def code_lines(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return sum(bool(line.strip()) for line in text.splitlines())


class Embedding(unittest.TestCase):
    def test_every_c_excerpt_stands_in_the_function_that_is_named_above_it(self):
        found = list(EXCERPT.finditer(DOC))
        self.assertEqual(len(found), DOC.count("```c "))
        self.assertGreater(len(found), 8)
        for m in found:
            with self.subTest(excerpt=f"{m['file']}:{m['name']}"):
                self.assertIn(m["text"], function(KERNEL / m["file"], m["name"]))

    def test_the_flags_are_those_of_the_build(self):
        (flags,) = re.findall(r"```meson [^\n]*\n(.*?)```", DOC, re.S)
        self.assertIn(flags, (KERNEL / "meson.build").read_text())

    def test_every_name_of_core_is_in_its_header(self):
        names = set(re.findall(r"\b(?:hd|HD)_\w+", DOC))
        self.assertGreater(len(names), 10)
        for name in names:
            with self.subTest(name=name):
                self.assertRegex(CORE, rf"\b{name}\b")

    def test_every_file_it_mentions_exists(self):
        for name in set(re.findall(r"`(\w+\.(?:c|S|h|ld))`", DOC)):
            with self.subTest(file=name):
                self.assertTrue((KERNEL / name).exists())
        for name in set(re.findall(r"\btests/embedding/\w+\.py", DOC)):
            with self.subTest(file=name):
                self.assertTrue((ROOT / name).exists())

    def test_it_counts_the_boots_that_there_are(self):
        boots = beside_linux.recorded()
        fakes = [f for f in boots if "numa=fake=" in f.shape["append"]]
        self.assertIn(f"Of {len(boots)} boots, ", DOC)
        self.assertIn(f"in {len(boots) - len(fakes)} of\nthem the same mapping", DOC)

    def test_every_file_of_the_example_says_first_what_it_is(self):
        for path in sorted(KERNEL.iterdir()):
            if path.suffix in (".c", ".h", ".S", ".ld"):
                with self.subTest(file=path.name):
                    self.assertIn(f"\n * {path.name} - ", path.read_text()[:120])

    def test_the_example_can_be_read_in_one_sitting(self):
        lines = sum(code_lines(p.read_text()) for p in KERNEL.iterdir() if p.suffix in (".c", ".h", ".S", ".ld"))
        self.assertLess(lines, MOST_LINES)

    def test_the_example_knows_nothing_of_core_but_its_header(self):
        for path in KERNEL.glob("*.[ch]"):
            with self.subTest(file=path.name):
                headers = set(re.findall(r'#include ["<](.*?)[">]', path.read_text()))
                self.assertLessEqual(headers, {"kernel.h", "bench/gitdiff/guest/mark.h", "hashdist/core.h", "stdarg.h",
                                               "stdbool.h", "stddef.h", "stdint.h"})  # fmt: skip


if __name__ == "__main__":
    unittest.main(verbosity=2)

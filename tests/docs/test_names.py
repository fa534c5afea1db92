#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the Markdown files name is there: files, headings, options, programs of the tree, tests.

From the environment: HASHDIST_BIN, HASHDIST_BUILD, HASHDIST_SOURCE, as for test_pages.py.
"""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HASHDIST_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("HASHDIST_BUILD", SOURCE / "build"))
BIN = os.environ.get("HASHDIST_BIN", BUILD / "cli/hashdist")
PAGES = {
    path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted({*SOURCE.glob("*.md"), *(SOURCE / "docs").glob("*.md"), *SOURCE.glob("tests/**/*.md")})
}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
VERBS = ("report", "plan", "place", "run", "measure", "bench")
ROOTS = "tests|bench|docs|examples|scripts|core|tlb|cli|lib|man|klog|ktables|machine|process|preload|fuzz|include|backend"


def commands(text):
    """Lines of code, in blocks or between backquotes, with lines that go on joined."""
    fenced = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.M | re.S)
    prose = re.sub(r"^```[^\n]*\n.*?^```", "", text, flags=re.M | re.S)
    for block in fenced:
        yield from block.replace("\\\n", " ").splitlines()
    for span in re.findall(r"`([^`]+)`", prose):
        yield " ".join(span.split())


def headings(text):
    """The anchors that a reader's browser makes of the headings."""
    words = [re.sub(r"[^\w\- ]", "", line.lower()) for line in re.findall(r"^#+ +(.*)$", text, re.M)]
    return {line.replace(" ", "-") for line in words}


def options(words):
    """Options before what belongs to another program."""
    words = re.split(r" -- | \| | > | && |; |#", words + " ")[0]
    return re.findall(r"(?<=\s)(--?[a-z][a-z-]*)", re.sub(r"'[^']*'", "X", words))


class Links(unittest.TestCase):
    def test_of_each_page_lead_somewhere(self):
        count = 0
        for name, text in PAGES.items():
            for target in LINK.findall(text):
                if re.match(r"[a-z]+:", target):
                    continue
                count += 1
                path, _, anchor = target.partition("#")
                file = (SOURCE / name).parent / path if path else SOURCE / name
                with self.subTest(page=name, link=target):
                    self.assertTrue(file.exists(), "there is no such file")
                    if anchor:
                        self.assertIn(anchor, headings(file.read_text(encoding="utf-8")))
        self.assertGreater(count, 50)

    def test_every_page_of_docs_is_on_the_map(self):
        listed = set(LINK.findall(PAGES["docs/README.md"]))
        pages = {Path(name).name for name in PAGES if name.startswith("docs/")} - {"README.md"}
        self.assertEqual(pages - listed, set())

    def test_files_that_are_named_exist(self):
        """Also in sources and manuals, which name pages."""
        for name, text in PAGES.items():
            if name == "CHANGELOG.md":
                continue
            for path in re.findall(rf"(?<![\w/.-])((?:{ROOTS})/[\w./-]+\w\.[a-z]\w*)", text):
                with self.subTest(page=name, file=path):
                    self.assertTrue((SOURCE / path).exists() or self.is_built(path))
        for file in SOURCE.glob("*/**/*"):
            if file.suffix in (".c", ".h", ".py", ".scd", ".build") and "build" not in file.parts[:-1]:
                for path in re.findall(r"\bdocs/[\w-]+\.md", file.read_text(encoding="utf-8", errors="replace")):
                    with self.subTest(file=str(file), names=path):
                        self.assertTrue((SOURCE / path).exists())

    def is_built(self, path):
        return any(path in target for target in built())


def built():
    targets = subprocess.run(
        ["meson", "introspect", "--targets", BUILD], capture_output=True, text=True, check=True
    ).stdout
    return [file for target in json.loads(targets) for file in target["filename"]]


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.known = {}
        for verb in VERBS:
            help_text = subprocess.run([BIN, verb, "--help"], capture_output=True, text=True, check=True).stdout
            listed = re.findall(r"^  (?:(-\w),|   ) (--[a-z-]+)", help_text, re.M)
            cls.known[verb] = {word for found in listed for word in found if word}

    def test_of_hashdist_are_in_its_help(self):
        count = 0
        for name, text in PAGES.items():
            for line in commands(text):
                for verb, words in re.findall(r"(?:^|[\s/'\"])hashdist ([a-z]+)\b([^`']*(?:'[^']*'[^`']*)*)", line):
                    if verb not in VERBS:
                        continue
                    for option in options(words):
                        count += 1
                        with self.subTest(page=name, line=line):
                            self.assertIn(option, self.known[verb], f"hashdist {verb} has no {option}")
        self.assertGreater(count, 80)

    def test_named_alone_belong_to_some_program_of_ours(self):
        """`--option` in prose: of a verb, or of a script of the tree."""
        every = set().union(*self.known.values()) | {"--help", "--version"}
        scripts = "".join(
            path.read_text(encoding="utf-8") for path in SOURCE.glob("*/**/*.py") if path.parts[-2] != "docs"
        )
        for name, text in PAGES.items():
            if name == "CHANGELOG.md":
                continue
            prose = re.sub(r"^```[^\n]*\n.*?^```", "", text, flags=re.M | re.S)
            for option in re.findall(r"`(--[a-z][a-z-]*)[^`]*`", prose):
                with self.subTest(page=name, option=option):
                    self.assertTrue(option in every or f'"{option}"' in scripts, f"nothing has {option}")


class Programs(unittest.TestCase):
    def test_of_the_tree_have_the_options_that_are_named(self):
        count = 0
        for name, text in PAGES.items():
            for line in commands(text):
                for program, words in re.findall(r"(?:^|\s)((?:tests|bench)/[\w/]+\.py)\b(.*)", line):
                    with self.subTest(page=name, line=line):
                        if words:
                            self.assertTrue(os.access(SOURCE / program, os.X_OK), f"{program} cannot be run")
                        text_of = "".join(p.read_text(encoding="utf-8") for p in (SOURCE / program).parent.glob("*.py"))
                        for option in re.findall(r"(?<=\s)(--[a-z][a-z-]*)", re.sub(r"'[^']*'", "", words.split("#")[0])):
                            count += 1
                            self.assertIn(f'"{option}"', text_of, f"{program} has no {option}")
        self.assertGreater(count, 10)


class Tests(unittest.TestCase):
    def test_that_are_named_are_in_the_build(self):
        listed = [
            test
            for kind in ("--tests", "--benchmarks")
            for test in json.loads(subprocess.run(
                ["meson", "introspect", kind, BUILD], capture_output=True, text=True, check=True).stdout)
        ]  # fmt: skip
        names = {test["name"] for test in listed}
        suites = {suite.split(":")[-1] for test in listed for suite in test["suite"]}
        count = 0
        for name, text in PAGES.items():
            for line in commands(text):
                for words in re.findall(r"meson test\b([^#|]*)", line):
                    words = re.sub(r"-C \S+", "", words)
                    wanted = re.findall(r"--suite ([\w-]+)", words)
                    rest = re.sub(r"--suite [\w-]+", "", words).split()
                    with self.subTest(page=name, line=line):
                        self.assertLessEqual(set(wanted), suites)
                        self.assertLessEqual({word for word in rest if not word.startswith("-")}, names)
                        count += 1
        self.assertGreater(count, 8)


if __name__ == "__main__":
    unittest.main()

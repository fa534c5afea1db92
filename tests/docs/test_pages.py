#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example of README.md and docs/ does what the page says.

    test_pages.py [PAGE...]             runs them; all pages unless some are named
    test_pages.py --renew [PAGE...]     puts what came out in the place of what a page shows

From the environment:
  HASHDIST_BIN     the program, built
  HASHDIST_BUILD   the build directory: what is installed from it is what pages compile against
  HASHDIST_SOURCE  the source tree
  HASHDIST_REQUIRE_ALL  1: what packages bring may not be missing

pages.py has the rules that pages keep. Ends with 77 for a build with a sanitizer.
"""

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "install"))
import pages  # noqa: E402
import session  # noqa: E402
import stage  # noqa: E402

SOURCE = stage.SOURCE
BIN = Path(os.environ.get("HASHDIST_BIN", stage.BUILD / "cli/hashdist")).resolve()
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (SOURCE / "docs").glob("*.md"))]
REQUIRE_ALL = os.environ.get("HASHDIST_REQUIRE_ALL") == "1"
LICENCE = ("/* SPDX-License-Identifier", "// SPDX-License-Identifier", "# SPDX-License-Identifier")


class Count:
    """What was done with the blocks, for the last lines."""

    def __init__(self):
        self.exact = self.wild = self.silent = self.texts = 0
        self.not_run = {}

    def skip(self, block, why):
        self.not_run.setdefault(why, []).append(str(block))

    def print(self):
        shown = self.exact + self.wild
        print(f"blocks run: {shown + self.silent}; output compared exactly {self.exact}, with wildcards {self.wild},")
        print(f"  not shown {self.silent}. Files compared: {self.texts}. Not run: "
              f"{sum(len(where) for where in self.not_run.values())}")  # fmt: skip
        for why, where in self.not_run.items():
            print(f"  {why}: {', '.join(where)}")


count = Count()
installed = None  # a stage.Stage, once it is


def environment(tools):
    """PATH begins with the tool; compilers find the library as it is installed."""
    (tools / "hashdist").symlink_to(BIN)
    # The prefix that was configured is not where it was installed to; see stage.py.
    described = (installed.libdir / "pkgconfig/hashdist.pc").read_text(encoding="utf-8")
    described = re.sub(r"^prefix=.*", f"prefix={installed.prefix}", described, flags=re.M)
    (tools / "hashdist.pc").write_text(described, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("HASHDIST_PRELOAD",) if name in os.environ}
    return {
        **kept,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        "PKG_CONFIG_PATH": str(tools),
        "LD_LIBRARY_PATH": str(installed.libdir),
        "hashdist_DIR": str(installed.cmake),
    }


def setUpModule():
    global installed, tools
    installed = stage.Stage()
    unittest.addModuleCleanup(installed.close)
    directory = tempfile.TemporaryDirectory(prefix="hashdist-tools-")
    unittest.addModuleCleanup(directory.cleanup)
    tools = environment(Path(directory.name))


def why_not(block):
    """None, or why this block is not run here. What a package would bring may have to be there."""
    lacking = [session.lacks(word) for word in block.marks.get("needs", [])]
    why = block.value("skip") or next((why for why in lacking if why), None)
    if why and "skip" not in block.marks and why.endswith(session.NOT_INSTALLED) and REQUIRE_ALL:
        raise AssertionError(f"{block}: {why}")
    return why


def without_licence(text):
    lines = text.splitlines(keepends=True)
    return "".join(lines[1:] if lines and lines[0].startswith(LICENCE) else lines)


def hold_to_file(block, reader, renew):
    """A block of source is what its file has; later blocks find the file under its own name."""
    (name,) = block.marks.get("file") or block.marks.get("in")
    text = without_licence((SOURCE / name).read_text(encoding="utf-8"))
    if "file" in block.marks and block.text != text:
        if not renew:
            raise AssertionError(f"{block}: not the text of {name}:\n" + diff(block.lines, text.splitlines()))
        put_block(block, text.splitlines())
    elif block.text not in text:
        raise AssertionError(f"{block}: not in {name}:\n{block.text}")
    reader.put(Path(name).name, name)
    count.texts += 1


def run_block(block, reader):
    """The output of each command, compared; returns the lines that the block should have."""
    for pair in block.marks.get("with", []):
        reader.put(*pair.split(":"))
    wanted = [int(block.value("status"))] if "status" in block.marks else [0, 3] if block.kind == "sh" else [0]
    came, wrong = [], []
    for command, shown in block.commands():
        said, status = reader.run(command)
        lines = said.splitlines()
        if status not in wanted:
            raise AssertionError(f"{block}: status {status}, not {wanted[0]}\n$ {command}\n{said}")
        fits = shown is None or block.pattern(shown).fullmatch("".join(line + "\n" for line in lines))
        if not fits:
            wrong.append(f"{block}: prints something else\n$ {command}\n" + diff(shown, lines))
        came += [f"$ {line}" if at == 0 else line for at, line in enumerate(command.split("\n"))]
        came += shown if fits and shown else lines
    return came, wrong


def diff(shown, lines):
    same = set(shown) & set(lines)
    return "".join(
        [f"  page  {'' if line in same else '-'}|{line}\n" for line in shown]
        + [f"  came  {'' if line in same else '+'}|{line}\n" for line in lines]
    )


def run_page(name, renew=False):
    """All blocks of a page, in order, by one reader; every fault that was found."""
    found = []
    reader = session.Session(SOURCE, tools)
    try:
        for block in pages.blocks(SOURCE / name, name):
            if block.kind == "text":
                continue
            try:
                why = why_not(block)
                if why:
                    count.skip(block, why)
                    continue
                if block.kind in pages.SOURCES:
                    hold_to_file(block, reader, renew)
                    continue
                came, wrong = run_block(block, reader)
            except AssertionError as error:
                found.append(str(error))
                continue
            if wrong and renew:
                put_block(block, came)
            else:
                found += wrong
            if block.kind == "sh":
                count.silent += 1
            elif block.is_exact():
                count.exact += 1
            else:
                count.wild += 1
    finally:
        reader.close()
    return found


class Pages(unittest.TestCase):
    chosen = PAGES

    def test_each_block_does_what_its_page_says(self):
        for name in self.chosen:
            with self.subTest(page=name):
                found = run_page(name)
                if found:
                    self.fail("\n" + "\n".join(found))

    @classmethod
    def tearDownClass(cls):
        count.print()


# ---- renewing -----------------------------------------------------------------------------------

renewed = {}  # page: lines that its blocks have become longer by so far


def put_block(block, lines):
    path = SOURCE / block.page
    text = path.read_text(encoding="utf-8").splitlines()
    at = block.line + renewed.get(block.page, 0)
    text[at : at + len(block.lines)] = lines
    renewed[block.page] = renewed.get(block.page, 0) + len(lines) - len(block.lines)
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def renew(names):
    setUpModule()
    try:
        for name in names:
            print(*run_page(name, renew=True), sep="\n")
    finally:
        unittest.doModuleCleanups()


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    if "--renew" in sys.argv:
        return renew(words or PAGES)
    Pages.chosen = words or PAGES
    sys.argv[1:] = []
    return stage.main()


if __name__ == "__main__":
    sys.exit(main())

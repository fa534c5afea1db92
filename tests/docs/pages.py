# SPDX-License-Identifier: MIT
"""Fenced blocks of the pages, what the word after the fence says of each, and how output is compared.

A block begins with ```KIND MARK..., where KIND is

  console   commands behind "$ ", each followed by what it prints
  sh        commands, one a line; what they print is not shown
  c, cpp, cmake, meson, python  the text of a file, named by file= (all of it) or in= (a part of it)
  text      no commands, and nothing that a test could hold it to

and MARK one or more of

  status=N      each command of the block ends so; 0 unless given, for sh 0 or 3
  numbers       figures of this machine: any number will do, with any unit, any blanks beside it, ? or -
  words="A|B"   any of these will do where one of them stands
  with=NAME:FILE    FILE of the source tree is there under NAME, before the block is run
  needs=WORD    what not every machine has (see session.py); without it the block is not run
  skip="WHY"    not run here at all, and why

Between <!-- NAME.py --> and <!-- end of NAME.py --> is what a measurement wrote: not run either.

In what is printed, "..." within a line stands for any text, on a line of its own for any lines.
"""

import re
import shlex
from pathlib import Path

COMMANDS = ("console", "sh")
SOURCES = ("c", "cpp", "cmake", "meson", "python")
MARKS = {
    "console": {"status", "numbers", "words", "with", "needs", "skip"},
    "sh": {"status", "with", "needs", "skip"},
    "text": set(),
    **{kind: {"file", "in", "skip"} for kind in SOURCES},
}
ANY = "..."
UNIT = r"(?: ?(?:[KMGTP]i?B|[KMGTP]\b|[num]?s\b|min\b|h\b|bytes\b|%))?"
NUMBER = r"[-+]?\d[\d.,]*" + UNIT + r"|(?<= )[?-](?=\s|$)"


class Wrong(Exception):
    """A page breaks the rules above; says where."""


class Block:
    def __init__(self, page, line, info, lines):
        self.page, self.line, self.lines = page, line, lines
        self.kind, *words = shlex.split(info) or [""]
        self.marks = {}
        for word in words:
            name, _, value = word.partition("=")
            self.marks.setdefault(name, []).append(value)
        self.check()

    def check(self):
        if self.kind not in MARKS:
            raise Wrong(f"{self}: a block of kind '{self.kind}'; there are {', '.join(MARKS)}")
        unknown = set(self.marks) - MARKS[self.kind]
        if unknown:
            raise Wrong(f"{self}: {self.kind} knows no mark {', '.join(sorted(unknown))}")
        if self.kind in SOURCES and len(self.marks) != 1:
            raise Wrong(f"{self}: which file is it from? file=PATH or in=PATH; or why from none: skip=")
        if self.marks.get("skip") == [""]:
            raise Wrong(f"{self}: skip says why")

    def __str__(self):
        return f"{self.page}:{self.line}"

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def value(self, name, otherwise=None):
        return self.marks.get(name, [otherwise])[0]

    def commands(self):
        """(command, lines that it prints); a command goes on in the next line behind a backslash."""
        if self.kind == "sh":
            return [(line, None) for line in unfolded(self.lines) if line and not line.startswith("#")]
        found = []
        for line in self.lines:
            if found and found[-1][0].endswith("\\") and not found[-1][1]:
                found[-1] = (found[-1][0] + "\n" + line, [])
            elif line.startswith("$ "):
                found.append((line[2:], []))
            elif not found:
                raise Wrong(f"{self}: a console block begins with a command behind '$ '")
            else:
                found[-1][1].append(line)
        return found

    def is_exact(self):
        """What is printed is compared as it is, to the last blank."""
        return not {"numbers", "words"} & set(self.marks) and not any(ANY in line for line in self.lines)

    def pattern(self, lines):
        """A regular expression for what a command prints, by the lines that the page shows."""
        vary = [NUMBER] if "numbers" in self.marks else []
        vary += [r"(?:" + "|".join(map(re.escape, words.split("|"))) + ")" for words in self.marks.get("words", [])]
        found = []
        for line in lines:
            if line.strip() == ANY:
                found.append(r"(?:.*\n)*?")
            else:
                found.append(".*".join(_loosely(part, vary) for part in line.split(ANY)) + r"\n")
        return re.compile("".join(found))


def unfolded(lines):
    return "\n".join(lines).replace("\\\n", "").split("\n")


def blocks(path, name):
    """The blocks of one page, in order."""
    found, begin, before, written = [], None, "", False
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"<!-- (end of )?\w+\.py -->", line):
            written = "end of" not in line
        if written:
            continue
        if begin is None and line.startswith("```"):
            begin, info, lines = number, line[3:].strip(), []
        elif begin is not None and line.rstrip() == "```":
            found.append(Block(name, begin, info, lines))
            begin = None
        elif begin is not None:
            lines.append(line)
        elif re.match(r"(    |\t)", line) and before.strip() == "":
            raise Wrong(f"{name}:{number}: a block by indentation, which nothing holds to the truth; fence it")
        before = line
    if begin is not None:
        raise Wrong(f"{name}:{begin}: a fence that is not closed")
    return found


def _loosely(text, vary):
    """@text for a regular expression, where each of the expressions @vary stands for itself."""
    if not vary:
        return re.escape(text)
    done, at = [], 0
    for match in re.finditer("|".join(f"({one})" for one in vary), text):
        done += [_blanks(text[at : match.start()]), f"(?:{vary[match.lastindex - 1]})"]
        at = match.end()
    return "".join([*done, _blanks(text[at:])])


def _blanks(text):
    """Columns are as wide as the widest cell: one blank may be many, and many one or none."""
    text = re.sub(r"(?:\\ ){2,}", " *", re.escape(text))
    return re.sub(r"\\ ", " +", text)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual of libhashdist held against its header, and the programs in it built and run.

    check-man3.py [-v]

From the environment:
  HASHDIST_SOURCE   the source tree
  HASHDIST_LIBRARY  libhashdist.a: programs are linked with it and run; without it only compiled
  HASHDIST_CFLAGS   more options for the compilers, such as those of a sanitizer
  CC, CXX           the compilers, with their options; without CXX no C++ is tried

The header is the truth. Whatever it declares has its page, whatever a page names is declared, and
what a SYNOPSIS shows is what the header says, to the letter but for comments and blanks. A block
of literal text with a main() in it is a program, and ends with status 0. The names in the guides of
docs/ are held against the header, too; their programs are run by tests/docs/test_pages.py.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("HASHDIST_SOURCE", Path(__file__).resolve().parents[2]))
LIBRARY = os.environ.get("HASHDIST_LIBRARY")
CFLAGS = shlex.split(os.environ.get("HASHDIST_CFLAGS", ""))
CC = shlex.split(os.environ.get("CC", "cc"))
CXX = shlex.split(os.environ.get("CXX", ""))
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SKIPPED = 77

HEADER = SOURCE / "include/hashdist/hashdist.h"
GUIDES = sorted((SOURCE / "docs").glob("library*.md"))
ENVIRONMENT = {"HASHDIST", "HASHDIST_PAGES"}
# Of C and POSIX, and what other projects install in section 3.
FOREIGN_PAGES = {"malloc", "numa", "posix_spawn", "secure_getenv", "snprintf", "strerror"}


def squeezed(text):
    """C without the blanks that mean nothing."""
    return re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(text.split()))


class Header:
    """What hashdist.h declares."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.macros = set(re.findall(r"^#define (HASHDIST_VERSION_\w+) \d", text, flags=re.M))
        text = re.sub(r"^#.*", "", text, flags=re.M)
        self.enums, self.constants, self.structs, self.fields, self.functions = {}, [], {}, {}, {}
        for name, body in re.findall(r"\benum\s*(\w*)\s*\{(.*?)\}", text, flags=re.S):
            names = re.findall(r"\b(HD_\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip())
            self.constants += names
            if name:
                self.enums[name] = names
            else:
                self.structs["enum of " + names[0]] = f"enum{{{body}}};"
        for name, body in re.findall(r"\bstruct\s+(\w+)\s*\{(.*?)\}\s*;", text, flags=re.S):
            self.structs[name] = f"struct {name} {{{body}}};"
            declarators = [part for line in body.split(";") for part in line.split(",") if part.strip()]
            self.fields[name] = [re.search(r"(\w+)\s*(\[\w+\])?\s*$", part)[1] for part in declarators]
        for prototype, name in re.findall(r"([\w][\w\s*]*?\b(hd_\w+)\([^()]*\)\s*;)", text):
            self.functions[name] = squeezed(prototype)

    def names(self):
        return {
            *self.macros, *self.enums, *self.constants, *self.functions, *self.fields, *ENVIRONMENT,
        }  # fmt: skip


class Page:
    """One manual: its names, sections, literal blocks and prose."""

    def __init__(self, path):
        self.path = path
        self.name, self.section = path.name.split(".")[:2]
        self.text = path.read_text()
        self.sections, self.literal, prose = {}, [], []
        section, block = "", None
        for line in self.text.splitlines():
            if line.strip() == "```":
                if block is None:
                    block = []
                else:
                    self.literal.append((section, "\n".join(block) + "\n"))
                    block = None
                continue
            if block is not None:
                block.append(line)
                continue
            if line.startswith("# "):
                section = line[2:]
            self.sections.setdefault(section, []).append(line)
            prose.append(line)
        self.prose = "\n".join(prose)
        self.names = re.findall(r"[\w-]+", "\n".join(self.sections["NAME"][1:]).split(" - ")[0])
        self.synopsis = squeezed("".join(text for where, text in self.literal if where == "SYNOPSIS"))
        self.programs = [text for _, text in self.literal if "int main(" in text]

    def items(self, section=None):
        """Words in bold that lines consist of, or begin with before a round bracket."""
        lines = self.prose.splitlines() if section is None else self.sections.get(section, [])
        found = []
        for line in lines:
            if re.match(r"\t*\*\w+\*(, \*\w+\*)*( \([\w-]+\))?$", line):
                found += re.findall(r"\*(\w+)\*", line)
        return found


def run(command, **more):
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False, timeout=120, **more,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(f"\n$ {shlex.join(map(str, command))}\nstatus {done.returncode}\n{done.stdout}")
    return done.stdout


header = Header(HEADER.read_text())
pages = {path.name[: -len(".3.scd")]: Page(path) for path in sorted((SOURCE / "man").glob("*.3.scd"))}
guides = {path: path.read_text() for path in GUIDES}


class TheHeader(unittest.TestCase):
    """The parser of this file sees what is there; else all that follows would pass unseen."""

    def test_has_what_a_look_at_it_shows(self):
        self.assertLessEqual({"hd_alloc", "hd_why_name", "hd_library_version"}, set(header.functions))
        self.assertLessEqual(
            {"HD_PAGES_AUTO", "HD_EXACT", "HD_WHY_PREFERENCE", "HD_GOT_NODES_MAX"}, set(header.constants)
        )
        self.assertLessEqual({"low", "high", "reserved"}, set(header.fields["hd_table_want"]))
        self.assertLessEqual({"node_set", "name"}, set(header.fields["hd_want"]))
        self.assertIn("page", header.fields["hd_got"])
        self.assertEqual(len(header.macros), 3)

    def test_and_exports_no_other_functions(self):
        exported = re.findall(r"\b(hd_\w+);", (SOURCE / "lib/hashdist.map").read_text())
        self.assertEqual(sorted(exported), sorted(header.functions))


class EveryName(unittest.TestCase):
    """What the header declares is described."""

    def test_function_has_its_prototype_in_a_synopsis(self):
        for name, prototype in header.functions.items():
            homes = [page for page in pages.values() if name in page.names]
            with self.subTest(function=name):
                self.assertEqual(len(homes), 1, "pages that have it under NAME")
                self.assertIn(prototype, homes[0].synopsis)

    def test_struct_is_in_a_synopsis_as_it_is(self):
        for name, struct in header.structs.items():
            with self.subTest(struct=name):
                self.assertTrue(any(squeezed(struct) in page.synopsis for page in pages.values()))

    def test_field_has_its_item(self):
        for name, fields in header.fields.items():
            home = next(page for page in pages.values() if name in page.names)
            items = home.items()
            with self.subTest(struct=name):
                self.assertEqual([field for field in fields if field not in items], [])

    def test_enum_is_named(self):
        prose = "\n".join(page.prose for page in pages.values())
        for name in header.enums:
            self.assertIn(f"enum {name}", prose)

    def test_constant_is_named_and_of_an_enum_has_its_item(self):
        prose = "\n".join(page.prose for page in pages.values())
        items = [item for page in pages.values() for item in page.items()]
        for name in header.constants:
            self.assertIn(f"*{name}*", prose)
        for enum, names in header.enums.items():
            with self.subTest(enum=enum):
                self.assertEqual([name for name in names if items.count(name) != 1], [])

    def test_macro_and_variable_is_named(self):
        prose = "\n".join(page.prose for page in pages.values())
        for name in header.macros | ENVIRONMENT:
            self.assertIn(f"*{name}*", prose)


class NothingElse(unittest.TestCase):
    """What is described is declared."""

    def check(self, where, text):
        for name in re.findall(r"(?<![A-Za-z0-9])(?:hd_|HD_|HASHDIST)\w*", text):
            self.assertIn(name.rstrip("_"), header.names(), where)
        for struct, field in re.findall(r"(?<![A-Za-z0-9-])(got|want|table)(?:->|\.(?!c\b))([a-z]\w*)", text):
            fields = header.fields.get("hd_table_want" if struct == "table" else "hd_" + struct)
            self.assertIn(field.rstrip("_"), fields, where)

    def test_in_a_page(self):
        for name, page in pages.items():
            with self.subTest(page=name):
                self.check(name, page.text)

    def test_in_a_guide(self):
        for path, text in guides.items():
            with self.subTest(guide=path.name):
                self.check(path.name, text)

    def test_item_of_a_struct_is_its_field(self):
        for name, section, structs in [
            ("hd_want", "DESCRIPTION", ["hd_want"]),
            ("hd_got", "DESCRIPTION", ["hd_got", "hd_got_pages", "hd_got_node"]),
            ("hd_alloc_table", "FIELDS", ["hd_table_want"]),
        ]:
            fields = [field for struct in structs for field in header.fields[struct]]
            items = [item for item in pages[name].items(section) if not item.startswith("HD_")]
            self.assertTrue(items)
            self.assertEqual([item for item in items if item not in fields], [], name)

    def test_refers_to_a_page_that_is_not_there(self):
        aliases = set(re.findall(r"^  '([\w-]+)\.3': '[\w-]+\.3'", (SOURCE / "man/meson.build").read_text(), re.M))
        ours = {path.name.rsplit(".", 2)[0] for path in (SOURCE / "man").glob("*.1.scd")}
        for name, page in pages.items():
            for other, section in re.findall(r"\*([\w-]+)\*\((\d)\)", page.prose):
                with self.subTest(page=name, refers_to=other):
                    if section == "3":
                        self.assertIn(other, {*pages, *aliases, *FOREIGN_PAGES})
                    if other.startswith("hashdist"):
                        self.assertIn(other, ours)


class ThePages(unittest.TestCase):
    """They are there to be found, and look alike."""

    def test_all_are_built_and_all_names_lead_to_them(self):
        build = (SOURCE / "man/meson.build").read_text()
        listed = re.findall(r"^    '(\S+)\.3',$", build, flags=re.M)
        self.assertEqual(sorted(listed), sorted(pages))
        aliases = dict(re.findall(r"^  '(\S+)\.3': '(\S+)\.3'", build, flags=re.M))
        named = {name: page.name for page in pages.values() for name in page.names if name != page.name}
        self.assertEqual(aliases, named)

    def test_sections(self):
        for name, page in pages.items():
            sections = [section for section in page.sections if section]
            with self.subTest(page=name):
                self.assertEqual(sections[:3], ["NAME", "SYNOPSIS", "DESCRIPTION"])
                self.assertLessEqual({"EXAMPLES", "SEE ALSO"}, set(sections))
                self.assertEqual(page.text.splitlines()[0], f"{name}(3)")
                if any(one in header.functions for one in page.names):
                    self.assertIn("RETURN VALUE", sections)

    def test_reasons_and_steps_have_their_words(self):
        if not LIBRARY:
            self.skipTest("needs HASHDIST_LIBRARY")
        lines = [
            f'printf("*%s* (%s)\\n", "{name}", hd_{kind}_name({name}));'
            for kind in ("why", "step")
            for name in header.enums["hd_" + kind]
        ]
        program = f"#include <stdio.h>\n#include <hashdist/hashdist.h>\nint main(void){{{''.join(lines)}return 0;}}\n"
        with tempfile.TemporaryDirectory() as place:
            said = build_and_run(program, Path(place), "words").splitlines()
        self.assertEqual([line for line in said if line not in pages["hd_got"].text.splitlines()], [])


def build_and_run(text, place, name, cpp=False):
    source = place / (name + (".cpp" if cpp else ".c"))
    source.write_text(text)
    compiler = [*CXX, "-std=c++17"] if cpp else [*CC, "-std=c99", "-D_POSIX_C_SOURCE=200809L"]
    command = [*compiler, *STRICT, *CFLAGS, "-I", SOURCE / "include", source]
    if not LIBRARY:
        return run([*command, "-c", "-o", place / (name + ".o")])
    run([*command, "-o", place / name, LIBRARY, "-pthread"])
    environment = {key: value for key, value in os.environ.items() if key not in ENVIRONMENT}
    return run([place / name], env=environment)


class Programs(unittest.TestCase):
    """They compile without a warning, and run."""

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="hashdist-man3-"))
        self.addCleanup(shutil.rmtree, self.place)

    def test_of_each_page(self):
        for name, page in pages.items():
            self.assertTrue(page.programs, f"{name} has no program")
            for i, text in enumerate(page.programs):
                with self.subTest(page=name):
                    build_and_run(text, self.place, f"{name}{i}")

    def test_no_other_block_of_a_page_is_code(self):
        for name, page in pages.items():
            for section, text in page.literal:
                if section != "SYNOPSIS" and text not in page.programs:
                    self.assertNotRegex(text, r"\bhd_\w+\(|#include", name)


def main():
    if not shutil.which(CC[0]):
        print(f"skipped: no compiler {CC[0]}", file=sys.stderr)
        return SKIPPED
    if not pages:
        print(f"{SOURCE / 'man'}: no pages of section 3", file=sys.stderr)
        return 1
    result = unittest.main(exit=False).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The binary interface of libhashdist is the one that is written down in two lists beside this.

    test_interface.py            compares; see stage.py for what the environment names
    test_interface.py --write    writes the lists anew, as built

libhashdist.symbols is what the library exports, libhashdist.structs how the installed header
lays out its structs, and its constants. A line that is gone or differs breaks programs that are
built already: it needs a new soversion. A symbol that is new needs a version node of its own.
"""

import re
import sys
import unittest

import stage
from stage import CC, HERE, run

SYMBOLS = HERE / "libhashdist.symbols"
STRUCTS = HERE / "libhashdist.structs"
NOTE = "# SPDX-License-Identifier: MIT\n# {} Written by test_interface.py --write.\n"

installed = None  # a stage.Stage, once it is


def setUpModule():
    global installed
    installed = stage.Stage()
    unittest.addModuleCleanup(installed.close)


def listed(file):
    return [line for line in file.read_text().splitlines() if not line.startswith("#")]


def exported():
    """NAME@@VERSION, sorted. The version nodes are absolute, and no symbols of ours."""
    lines = run("nm", "-D", "--defined-only", "--with-symbol-versions", installed.shared)
    rows = [line.split() for line in lines.splitlines()]
    return sorted(row[-1] for row in rows if row[-2] != "A")


def header():
    """The installed hashdist.h without comments and directives."""
    text = (installed.include / "hashdist" / "hashdist.h").read_text()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def declared_functions():
    return sorted(re.findall(r"^[\w *]*?\b(hd_\w+)\(", header(), flags=re.M))


def declared_structs():
    """{struct: [field, ...]}, in the order of the header."""
    structs = {}
    for name, body in re.findall(r"^struct (\w+) \{(.*?)\};", header(), flags=re.M | re.S):
        declarators = [part for part in re.split("[;,]", body) if part.strip()]
        structs[name] = [re.search(r"(\w+)\s*(\[.*)?$", part.strip())[1] for part in declarators]
    return structs


def declared_constants():
    bodies = re.findall(r"^enum\s*\w*\s*\{(.*?)\};", header(), flags=re.M | re.S)
    parts = [part for body in bodies for part in body.split(",") if part.strip()]
    return [part.split("=")[0].strip() for part in parts]


def layout():
    """What a program says of the header it is built with: sizes, offsets, values."""
    says = []
    for struct, fields in declared_structs().items():
        says.append(f'printf("struct {struct}: %zu bytes\\n", sizeof(struct {struct}));')
        for field in fields:
            where = f"offsetof(struct {struct}, {field})"
            size = f"sizeof(((struct {struct} *)0)->{field})"
            says.append(f'printf("{struct}.{field}: at %zu, %zu\\n", {where}, {size});')
    says += [f'printf("{name}: %d\\n", (int){name});' for name in declared_constants()]
    includes = "#include <hashdist/hashdist.h>\n#include <stddef.h>\n#include <stdio.h>\n"
    source = installed.fresh("layout.c")
    source.write_text(includes + "int main(void) {\n" + "\n".join(says) + "\nreturn 0; }\n")
    program = source.with_suffix("")
    run(*CC, *installed.pkg_config("--cflags"), source, "-o", program)
    return run(program).splitlines()


class Interface(unittest.TestCase):
    maxDiff = None

    def test_symbols_are_those_listed(self):
        self.assertEqual(exported(), listed(SYMBOLS))

    def test_symbols_are_those_declared(self):
        self.assertEqual([symbol.split("@")[0] for symbol in exported()], declared_functions())

    def test_the_archive_defines_them_too(self):
        lines = run("nm", "-g", "--defined-only", installed.static).splitlines()
        names = {line.split()[-1] for line in lines if len(line.split()) == 3}
        self.assertLessEqual(set(declared_functions()), names)

    @unittest.skipIf(sys.maxsize < 1 << 32, "the list is of machines with 64-bit pointers")
    def test_structs_and_constants_are_those_listed(self):
        self.assertEqual(layout(), listed(STRUCTS))

    def test_no_struct_and_no_constant_of_the_header_is_overlooked(self):
        text = header()
        self.assertEqual(len(declared_structs()), len(re.findall(r"\bstruct\s+\w+\s*\{", text)))
        self.assertEqual(set(declared_constants()), set(re.findall(r"\bHD_\w+", text)))

    def test_the_soname_has_the_major_version(self):
        soname = r"\(SONAME\).*\[libhashdist\.so\.(\d+)\]"
        major = re.search(soname, run("readelf", "-d", installed.shared))
        self.assertTrue(major)
        self.assertEqual(major[1], stage.version().split(".")[0])


def write():
    setUpModule()
    for file, what, lines in (
        (SYMBOLS, "What libhashdist.so exports.", exported()),
        (STRUCTS, "The layout of hashdist.h, where pointers have 64 bits.", layout()),
    ):
        file.write_text(NOTE.format(what) + "\n".join(lines) + "\n")
    installed.close()
    return 0


if __name__ == "__main__":
    sys.exit(write() if sys.argv[1:] == ["--write"] else stage.main())

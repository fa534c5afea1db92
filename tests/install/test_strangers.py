#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that know of libhashdist only what is installed: built in every way, and run.

See stage.py for what the environment names.
"""

import re
import shlex
import sys
import unittest
from pathlib import Path

import stage
from stage import CC, CXX, HERE, STRICT, run

installed = None  # a stage.Stage, once it is


def setUpModule():
    global installed
    installed = stage.Stage()
    unittest.addModuleCleanup(installed.close)


def strangers():
    """(language, compiler, source) of each there can be."""
    yield "c", [*CC, "-std=c99"], HERE / "stranger.c"
    if CXX:
        yield "cpp", [*CXX, "-std=c++17"], HERE / "stranger.cpp"


class Strangers(unittest.TestCase):
    def check_headers(self, depfiles):
        """Those of ours that the compiler read, by what it wrote down, are the installed ones."""
        words = [word for file in depfiles for word in file.read_text().split()]
        ours = {word for word in words if re.search(r"/hashdist/[^/]*\.h(pp)?$", word)}
        self.assertTrue(ours, f"no header of ours in {words}")
        for path in ours:
            self.assertTrue(Path(path).resolve().is_relative_to(installed.include), path)

    def check_libraries(self, program, shared):
        """The program takes our library from where it is installed, or is complete without."""
        needed = run("readelf", "-d", program)
        self.assertNotRegex(needed, r"\((RPATH|RUNPATH)\)")
        self.assertEqual("libhashdist.so." in needed, shared, needed)
        if shared:
            found = {**installed.environment, "LD_LIBRARY_PATH": str(installed.libdir)}
            loads = run("ldd", program, env=found)
            path = re.search(r"libhashdist\.so\.\S+ => (\S+)", loads)
            self.assertTrue(path, loads)
            self.assertTrue(Path(path[1]).resolve().is_relative_to(installed.libdir), loads)

    def check_program(self, program, shared):
        self.check_libraries(program, shared)
        self.assertIn("4 MiB", installed.execute(program))

    def build_all(self, shared, *link):
        for language, compiler, source in strangers():
            with self.subTest(language=language):
                program = installed.fresh("stranger")
                depfile = program.with_suffix(".d")
                flags = [*STRICT, "-MD", "-MF", depfile, *installed.pkg_config("--cflags")]
                run(*compiler, *flags, source, "-o", program, *link)
                self.check_headers([depfile])
                self.check_program(program, shared)

    def test_build_with_pkg_config(self):
        self.build_all(True, *installed.pkg_config("--libs"))

    def test_build_with_pkg_config_and_the_archive(self):
        """Our archive, the system's shared libraries."""
        libs = installed.pkg_config("--static", "--libs")
        self.assertIn("-lhashdist", libs)
        libs = [word.replace("-lhashdist", "-l:libhashdist.a") for word in libs]
        self.build_all(False, *libs)

    def test_build_with_pkg_config_and_archives_only(self):
        """No shared library at all."""
        if not Path(run(*CC, "-print-file-name=libc.a").strip()).is_absolute():
            self.skipTest("needs libc.a")
        self.build_all(False, "-static", *installed.pkg_config("--static", "--libs"))

    def test_build_with_cmake(self):
        stage.needs("cmake")
        if not CXX:
            self.skipTest("needs a C++ compiler")
        build = installed.fresh("build")
        settings = {
            "SOURCES": HERE,
            "CMAKE_PREFIX_PATH": installed.prefix,
            "CMAKE_C_FLAGS": shlex.join([*CC[1:], *STRICT]),
            "CMAKE_CXX_FLAGS": shlex.join([*CXX[1:], *STRICT]),
            "CMAKE_FIND_USE_PACKAGE_REGISTRY": "OFF",
            "CMAKE_SKIP_BUILD_RPATH": "ON",
        }
        if not re.fullmatch("lib(/[^/]+-linux-gnu[^/]*)?", str(installed.below_prefix)):
            settings["hashdist_DIR"] = installed.cmake  # not every CMake looks elsewhere
        words = [f"-D{name}={value}" for name, value in settings.items()]
        environment = {**installed.environment, "CC": CC[0], "CXX": CXX[0]}
        said = run("cmake", "-S", HERE / "cmake", "-B", build, *words, env=environment)
        self.assertIn(f"hashdist {stage.version()} in {installed.cmake}\n", said)
        run("cmake", "--build", build, env=environment)
        self.check_headers(build.rglob("*.d"))
        for language in ("c", "cpp"):
            for kind in ("shared", "static"):
                with self.subTest(language=language, kind=kind):
                    self.check_program(build / f"stranger-{language}-{kind}", kind == "shared")

    def test_are_offered_the_versions_that_will_do(self):
        stage.needs("cmake")
        version = stage.version()
        self.assertEqual(installed.pkg_config("--modversion"), [version])
        file = installed.cmake / "hashdist-config-version.cmake"
        script = HERE / "cmake" / "versions.cmake"
        run("cmake", f"-DFILE={file}", f"-DVERSION={version}", "-P", script)


class Files(unittest.TestCase):
    EXPECTED = {
        "hashdist.h",
        "hashdist.hpp",
        "hashdist.pc",
        "hashdist-config.cmake",
        "hashdist-config-version.cmake",
    }

    def test_name_no_directory_of_the_machine_they_were_built_on(self):
        kinds = (".h", ".hpp", ".pc", ".cmake")
        texts = [path for path in installed.prefix.rglob("*") if path.suffix in kinds]
        self.assertGreaterEqual({path.name for path in texts}, self.EXPECTED)
        for path in texts:
            text = path.read_text()
            for directory in (stage.SOURCE, stage.BUILD, installed.root):
                self.assertNotIn(str(directory), text, path)
            if path.suffix == ".cmake":
                self.assertNotRegex(text, r"@\w+@", f"{path}: not filled in")

    def test_headers_are_complete_in_every_standard(self):
        """Alone, twice, and strictly: they are compiled by others, as those like it."""
        cases = [(CC, "c", std, "hashdist.h") for std in ("c99", "c11", "c17", "gnu17")]
        if CXX:
            cases += [(CXX, "c++", std, "hashdist.h") for std in ("c++11", "c++17", "c++20")]
            cases += [(CXX, "c++", std, "hashdist.hpp") for std in ("c++17", "c++20")]
        strict = [*STRICT, "-Wshadow", "-Wconversion", *installed.pkg_config("--cflags")]
        for compiler, language, std, header in cases:
            with self.subTest(std=std, header=header):
                source = installed.fresh("alone")
                source.write_text(f"#include <hashdist/{header}>\n" * 2)
                flags = [*strict, f"-std={std}", "-x", language, "-fsyntax-only"]
                run(*compiler, *flags, source)

    def test_binaries_carry_no_path_to_their_libraries(self):
        for path in (installed.shared, installed.program):
            self.assertNotRegex(run("readelf", "-d", path), r"\((RPATH|RUNPATH)\)")


if __name__ == "__main__":
    sys.exit(stage.main())

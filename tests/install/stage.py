# SPDX-License-Identifier: MIT
"""libhashdist installed into a staging directory, for the tests beside this file.

From the environment:
  HASHDIST_BUILD   the build directory, configured and built
  HASHDIST_SOURCE  the source tree
  CC, CXX          the compilers, with their options; without CXX no C++ is tested

A path that leads out of the staging directory is wrong; mostly it fails too, since nothing of
ours is under the prefix that was configured.
"""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = Path(os.environ.get("HASHDIST_SOURCE", HERE.parents[1]))
BUILD = Path(os.environ.get("HASHDIST_BUILD", SOURCE / "build")).resolve()
CC = shlex.split(os.environ.get("CC", "cc"))
CXX = shlex.split(os.environ.get("CXX", ""))
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SKIPPED = 77


def run(*command, **more):
    """What it printed; an AssertionError with all it said when it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, **more)
    if done.returncode:
        said = f"status {done.returncode}\n{done.stdout}{done.stderr}"
        raise AssertionError(f"\n$ {shlex.join(words)}\n{said}")
    return done.stdout


def needs(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise unittest.SkipTest(f"needs {tool} in PATH")


def introspect(what):
    return json.loads(run("meson", "introspect", what, BUILD))


def build_options():
    return {option["name"]: option["value"] for option in introspect("--buildoptions")}


def version():
    return introspect("--projectinfo")["version"]


class Stage:
    """The directory, and what of libhashdist lies where in it."""

    def __init__(self):
        needs("meson", "pkg-config")
        options = build_options()
        sanitizer = options.get("b_sanitize", "none")
        if sanitizer not in ("none", ""):
            raise unittest.SkipTest(f"built with the {sanitizer} sanitizer, as strangers are not")
        if Path(options["libdir"]).is_absolute():
            raise unittest.SkipTest(f"needs a libdir below the prefix; {options['libdir']} is none")
        self.directory = tempfile.TemporaryDirectory(prefix="hashdist-install-")
        self.root = Path(self.directory.name).resolve()
        self.prefix = self.root / "stage" / options["prefix"].lstrip("/")
        self.below_prefix = Path(options["libdir"])
        self.libdir = self.prefix / self.below_prefix
        self.include = self.prefix / options["includedir"]
        self.program = self.prefix / options["bindir"] / "hashdist"
        self.shared = self.libdir / "libhashdist.so"
        self.static = self.libdir / "libhashdist.a"
        self.cmake = self.libdir / "cmake" / "hashdist"
        self.environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "PKG_CONFIG_LIBDIR": str(self.libdir / "pkgconfig"),
        }
        self.places = 0
        self.install()

    def install(self):
        """What programs and their libraries consist of; manuals and completions are no part."""
        command = ["meson", "install", "-C", BUILD, "--no-rebuild", "--tags", "runtime,devel"]
        run(*command, "--destdir", self.root / "stage")

    def close(self):
        self.directory.cleanup()

    def fresh(self, name):
        """A path for something to be made, in a directory of its own."""
        self.places += 1
        place = self.root / f"place{self.places}"
        place.mkdir()
        return place / name

    def pkg_config(self, *words):
        prefix = f"--define-variable=prefix={self.prefix}"
        return shlex.split(run("pkg-config", prefix, *words, "hashdist", env=self.environment))

    def execute(self, program):
        return run(program, env={"LD_LIBRARY_PATH": str(self.libdir)}, cwd="/")


def main():
    """Runs the tests of the main module: 77 when what they need is not here."""
    result = unittest.main(exit=False, verbosity=2).result
    if not result.wasSuccessful():
        return 1
    if len(result.skipped) >= max(result.testsRun, 1):
        print(result.skipped[0][1])
        return SKIPPED
    return 0

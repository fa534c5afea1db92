#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a program and its parent could notice of hashdist run, and must not."""

import functools
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import support
from support import LIBRARY, MANNERS, call, run

NOTICED = (
    "numbers pipe-end signals users thread-exit errors forks vforks daemonizes locks-in "
    "no-threads-left small-is-alone directories"
).split()


class Inside(support.Case):
    def test_the_program_notices_nothing(self):
        for what in NOTICED:
            with self.subTest(what=what):
                done = call([*run(), MANNERS, what])
                if done.returncode or done.stderr:
                    alone = call([MANNERS, what])
                    self.assertNotEqual(alone.returncode, 0, done.stderr)
                    self.lacks(f"{what} does not work without us: {alone.stderr.decode()}")

    def test_without_hooks_neither(self):
        for what in ("numbers", "signals", "thread-exit", "forks"):
            with self.subTest(what=what):
                done = call([*run("--no-hooks", "--scan", "1"), MANNERS, what])
                self.assertEqual((done.returncode, done.stderr), (0, b""))


class Outside(support.Case):
    def test_exit_status_and_death_by_signal_are_the_program_s(self):
        for script, status in (("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -9 $$", -9)):
            with self.subTest(script=script):
                self.assertEqual(call([*run(), "sh", "-c", script]).returncode, status)

    def test_output_is_the_same_to_the_byte(self):
        command = ["sh", "-c", "seq 100000; seq 1000 >&2"]
        plain, with_us = call(command), call([*run(), *command])
        self.assertEqual(plain.stdout, with_us.stdout)
        self.assertEqual(plain.stderr, with_us.stderr)

    def test_the_environment_is_the_same(self):
        other = {**os.environ, "LD_PRELOAD": "libc.so.6"}
        for env in (dict(os.environ), other):
            with self.subTest(preload=env.get("LD_PRELOAD")):
                plain = call(["/usr/bin/env", "-0"], env=env)
                with_us = call([*run(), "/usr/bin/env", "-0"], env=env)
                self.assertEqual(
                    sorted(plain.stdout.split(b"\0")), sorted(with_us.stdout.split(b"\0"))
                )

    def test_the_process_is_the_one_that_was_started(self):
        process = subprocess.Popen([*run(), "sh", "-c", "echo $$ $PPID"], stdout=subprocess.PIPE)
        out, _ = process.communicate(timeout=20)
        self.assertEqual(out.split(), [str(process.pid).encode(), str(os.getpid()).encode()])

    def test_signals_that_were_ignored_stay_so(self):
        command = ["grep", "^Sig[BIC]", "/proc/self/status"]
        for number in (signal.SIGCHLD, signal.SIGHUP):
            for words in ((), ("--from-outside",)):
                with self.subTest(number=number, words=words):
                    ignore = functools.partial(signal.signal, number, signal.SIG_IGN)
                    plain = call(command, preexec_fn=ignore)
                    with_us = call([*run(*words), *command], preexec_fn=ignore)
                    self.assertEqual((with_us.returncode, with_us.stderr), (0, b""))
                    self.assertEqual(plain.stdout, with_us.stdout)

    def test_open_files_are_passed_on_and_no_other_is_there(self):
        reading, writing = os.pipe()
        try:
            command = ["ls", "/proc/self/fd"]
            plain = call(command, pass_fds=[writing])
            with_us = call([*run(), *command], pass_fds=[writing])
        finally:
            os.close(reading)
            os.close(writing)
        self.assertEqual(plain.stdout, with_us.stdout)


class Reach(support.Case):
    """Which programs of a chain find the library."""

    def loaded(self, *command, options=()):
        done = call([*run(*options), *command])
        return LIBRARY.encode() in done.stdout or b"libhashdist-run.so" in done.stdout

    def test_the_program_itself_is_reached(self):
        self.assertTrue(self.loaded("cat", "/proc/self/maps"))

    def test_a_program_that_takes_its_place_is_reached(self):
        self.assertTrue(self.loaded("sh", "-c", "exec cat /proc/self/maps"))
        self.assertTrue(self.loaded("env", "nice", "cat", "/proc/self/maps"))

    def test_a_child_is_reached_on_request_only(self):
        script = "cat /proc/self/maps; true"
        self.assertFalse(self.loaded("sh", "-c", script))
        self.assertTrue(self.loaded("sh", "-c", script, options=["--children"]))

    def test_a_script_is_judged_by_its_interpreter(self):
        with tempfile.TemporaryDirectory() as place:
            script = Path(place, "script")
            script.write_text("#!/bin/sh\nexec cat /proc/self/maps\n", encoding="ascii")
            script.chmod(0o755)
            self.assertTrue(self.loaded(script))


class Unreached(support.Case):
    def check_said(self, done, *words):
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 2, lines)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertIn("--from-outside", lines[1])

    def test_a_static_program_is_started_and_named(self):
        done = call([*run(), support.PROGRAMS / "static"])
        self.check_said(done, "statically linked")
        self.assertEqual(done.stdout, b"static\n")

    def test_a_go_program_is_named_as_such(self):
        program = shutil.which("hjson-cli")
        if not program:
            self.lacks("hjson-cli")
        self.check_said(call([*run(), program, "-j"]), "Go program")

    def test_a_set_user_id_program_is_started_and_named(self):
        if os.geteuid():
            self.skipTest("needs root to make one")
        with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
            os.chmod(place, 0o755)
            program = shutil.copy("/usr/bin/id", Path(place, "id"))
            os.chown(program, support.NOBODY, support.NOBODY)
            os.chmod(program, 0o4755)
            if os.statvfs(place).f_flag & os.ST_NOSUID:
                self.skipTest("this file system knows no set-user-ID")
            self.check_said(call([*run(), program]), "privileges")

    def test_another_architecture_is_named(self):
        with tempfile.TemporaryDirectory() as place:
            program = Path(place, "foreign")
            data = bytearray(Path("/bin/true").read_bytes())
            data[18:20] = (0xF3).to_bytes(2, "little")  # e_machine: RISC-V
            program.write_bytes(data)
            program.chmod(0o755)
            done = call([*run(), program])
        self.assertEqual(done.returncode, 126)
        self.assertIn("another kind of processor", done.stderr.decode())


class Wrong(support.Case):
    def check_status(self, status, *command, **more):
        done = call(command, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr.decode(), r"^hashdist: .*\n(  try .*\n)?$")

    def test_no_such_program_is_127_and_one_that_may_not_run_126(self):
        self.check_status(127, *run(), "no-such-program")
        self.check_status(127, *run(), "/no/such/program")
        self.check_status(126, *run(), "/etc/passwd")
        self.check_status(126, *run(), "/etc")

    def test_an_interpreter_that_is_no_file_is_not_opened(self):
        with tempfile.TemporaryDirectory() as place:
            pipe, script = Path(place, "pipe"), Path(place, "script")
            os.mkfifo(pipe, 0o755)
            script.write_text(f"#!{pipe}\n", encoding="utf-8")
            script.chmod(0o755)
            self.check_status(126, *run(), script)

    def test_wrong_options_start_nothing(self):
        for words in (
            ["--min", "x"],
            ["--min", "0"],
            ["--min", "99999999999G"],
            ["--nodes", "two"],
            ["--scan", "-1"],
            ["--scan", "99999999"],
            ["--no-hooks", "--scan", "0"],
            ["--explain="],
            ["--from-outside", "--children"],
            ["--such"],
        ):
            with self.subTest(words=words):
                self.check_status(2, *run(*words), "sh", "-c", "echo started")
        self.check_status(2, support.BIN, "run")
        self.check_status(2, support.BIN, "run", "--")

    def test_options_behind_the_command_are_its_own(self):
        done = call([support.BIN, "run", "echo", "--min", "x", "--help"])
        self.assertEqual(done.stdout, b"--min x --help\n")

    def test_a_library_that_is_not_there_starts_nothing(self):
        env = {**os.environ, "HASHDIST_PRELOAD": "/no/such.so"}
        self.check_status(1, *run(), "echo", env=env)


if __name__ == "__main__":
    support.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist report --log: boot logs that people posted, and files that are none."""

import fcntl
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import time
from pathlib import Path

import support
from support import BIN, DONE, NOBODY, columns, fixture, fixtures, report

PLAIN = fixture("arm64-6.1-")  # one node, 14 tables, ok
SPREAD = fixture("arm64-6.17-64g-n2-")  # two nodes, 16 tables
UNDER_HUGE = fixture("x86_64-5.10-112g-n2-")


def boots_of(result):
    found = json.loads(result.out)
    return found["boots"] if "boots" in found else [found]


def rows_and_summary(result):
    """Rows of several boots, as words, and the figures below them."""
    lines = result.out.splitlines()
    end = lines.index("")
    match = re.fullmatch(r"(\d+) boots, (\d+) tables; boots by verdict: (.*)", lines[end + 1])
    words = match.group(3).split()
    verdicts = {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}
    return (
        [line.split() for line in lines[1:end]],
        int(match.group(1)),
        int(match.group(2)),
        verdicts,
    )


class Logs(support.Case):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="hashdist-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def file(self, name, data):
        path = self.place / name
        path.write_bytes(data)
        return str(path)

    def peak_kib(self, pid):
        """Of a process; 0 when it has ended."""
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)
        return int(found.group(1)) if found else 0


class EachPostedLog(Logs):
    def test_is_reported_as_valid_json(self):
        for log in fixtures():
            with self.subTest(log=log["id"]):
                result = report("--json", "--log", log["path"])
                self.assert_status(result, *DONE)
                self.assertTrue(boots_of(result))

    def test_is_reported_as_text(self):
        for log in fixtures():
            with self.subTest(log=log["id"]):
                result = report("--log", log["path"])
                self.assert_status(result, *DONE)
                self.assertRegex(result.out, r"^(TABLE|LOG|\nmachine) ")

    def test_has_as_many_tables_as_the_index_says(self):
        for log in fixtures():
            with self.subTest(log=log["id"]):
                boots = boots_of(report("--json", "--log", log["path"]))
                tables = sum(len(boot["tables"]) for boot in boots)
                damaged = sum(boot["log"]["damaged_lines"] for boot in boots)
                self.assertEqual(tables + damaged, log["tables"])

    def test_every_undamaged_table_line_is_a_row_with_its_figures(self):
        for log in fixtures():
            with self.subTest(log=log["id"]):
                lines = support.tables_of(log["path"].read_text("utf-8", "replace"))
                rows = [
                    (row["name"], row["entries"], row["bytes"], row["mapping"])
                    for boot in boots_of(report("--json", "--log", log["path"]))
                    for row in boot["tables"]
                ]
                for line in lines:
                    wanted = [line["name"], line["entries"], line["bytes"]]
                    found = [row for row in rows if list(row[:3]) == wanted]
                    self.assertTrue(found, line)
                    if line["kind"]:
                        self.assertIn(line["kind"], [row[3] for row in found], line)


class SeveralLogs(Logs):
    def test_are_a_row_each_in_the_order_given(self):
        paths = [str(path) for path in (SPREAD, PLAIN, UNDER_HUGE)]
        rows, boots, _, _ = rows_and_summary(report("--log", *paths))
        self.assertEqual([row[0] for row in rows], paths)
        self.assertEqual(boots, 3)

    def test_may_each_have_their_own_option(self):
        together = report("--log", SPREAD, PLAIN)
        apart = report("--log", SPREAD, "-l", PLAIN)
        self.assertEqual(together.out, apart.out)

    def test_all_of_them_add_up_to_the_summary(self):
        result = report("--log", *(log["path"] for log in fixtures()))
        self.assert_status(result, 3)
        rows, boots, tables, verdicts = rows_and_summary(result)
        self.assertEqual(len(rows), boots)
        self.assertEqual(sum(int(row[-2]) for row in rows), tables)
        self.assertEqual(sum(verdicts.values()), boots)
        for verdict, count in verdicts.items():
            self.assertEqual(sum(row[-1] == verdict for row in rows), count, verdict)

    def test_add_up_in_json_too(self):
        result = report("--json", "--log", *(log["path"] for log in fixtures()))
        self.assert_status(result, 3)
        found = json.loads(result.out)
        summary = found["summary"]
        self.assertEqual(summary["boots"], len(found["boots"]))
        self.assertEqual(summary["tables"], sum(len(boot["tables"]) for boot in found["boots"]))
        self.assertEqual(sum(summary["verdicts"].values()), len(found["boots"]))

    def test_end_as_the_worst_of_them_would_alone(self):
        self.assert_status(report("--log", PLAIN, SPREAD), 0)
        self.assert_status(report("--log", PLAIN, UNDER_HUGE), 3)
        misspelt = PLAIN.read_text("utf-8").replace(
            "ommand line: ", "ommand line: dhash_entires=5 ", 1
        )
        path = self.file("misspelt.log", misspelt.encode())
        self.assert_status(report("--log", path), 3)
        self.assert_status(report("--log", path, PLAIN), 3)


class ALog(Logs):
    """However it comes, it says the same."""

    def test_is_read_from_standard_input(self):
        piped = report("--log", "-", data=PLAIN.read_bytes())
        self.assert_status(piped, 0)
        self.assertEqual(piped.out, report("--log", PLAIN).out)

    def test_is_read_from_standard_input_among_files(self):
        rows, boots, _, _ = rows_and_summary(
            report("--log", SPREAD, "-", data=PLAIN.read_bytes())
        )
        self.assertEqual(boots, 2)
        self.assertEqual(rows[1][0], "-")

    def test_may_be_packed_with_gzip(self):
        packed = gzip.compress(PLAIN.read_bytes())
        plain = report("--log", PLAIN).out
        self.assertEqual(report("--log", self.file("dmesg.gz", packed)).out, plain)
        self.assertEqual(report("--log", "-", data=packed).out, plain)

    def test_may_be_packed_in_several_pieces(self):
        data = PLAIN.read_bytes()
        packed = gzip.compress(data[:1000]) + gzip.compress(data[1000:])
        result = report("--log", self.file("dmesg.gz", packed))
        self.assertEqual(result.out, report("--log", PLAIN).out)

    def test_may_have_windows_line_ends(self):
        crlf = PLAIN.read_bytes().replace(b"\n", b"\r\n")
        result = report("--log", self.file("dmesg.txt", crlf))
        self.assertEqual(result.out, report("--log", PLAIN).out)

    def test_may_lack_its_last_line_end(self):
        data = PLAIN.read_bytes().rstrip(b"\n")
        self.assertEqual(report("--log", "-", data=data).out, report("--log", PLAIN).out)

    def test_twice_in_one_file_is_two_boots(self):
        data = PLAIN.read_bytes()
        result = report("--log", self.file("twice.log", data + data))
        rows, boots, tables, _ = rows_and_summary(result)
        self.assertEqual((boots, tables), (2, 2 * len(columns(("TABLE",), "--log", PLAIN))))
        self.assertEqual([int(row[1]) for row in rows], [1, 1 + data.count(b"\n")])


class NoLog(Logs):
    """A file that tells nothing: one line, a failure, and the others all the same."""

    def check(self, path, *words):
        alone = report("--log", path)
        self.assert_status(alone, 1)
        self.assertEqual(alone.out, "")
        self.assert_one_line(alone, path, *words)
        for order in ((path, PLAIN), (PLAIN, path)):
            other = report("--log", *order)
            self.assert_status(other, 1)
            self.assertEqual(other.out, report("--log", PLAIN).out)
            self.assertEqual(other.err, alone.err)

    def test_missing(self):
        self.check(str(self.place / "nowhere.log"), "No such file or directory")

    def test_directory(self):
        self.check(str(self.place), "Is a directory")

    def test_empty(self):
        self.check(self.file("empty.log", b""), "empty")

    def test_program(self):
        self.check(shutil.which("ls"), "no kernel log")

    def test_noise(self):
        self.check(self.file("noise", os.urandom(200000)), "no ")

    def test_text_about_something_else(self):
        text = b"The quick brown fox\njumps over the lazy dog.\n" * 50
        self.check(self.file("fox.txt", text), "no boot messages in its 100 lines")

    def test_damaged_gzip_is_not_passed_off_as_a_whole_log(self):
        packed = gzip.compress(PLAIN.read_bytes())
        result = report("--log", self.file("cut.gz", packed[: len(packed) // 2]))
        self.assert_status(result, 1)
        self.assert_one_line(result, "cut.gz")

    def test_forbidden(self):
        path = self.file("secret.log", PLAIN.read_bytes())
        os.chmod(path, 0)
        if os.geteuid():
            self.check(path, "Permission denied")
            return
        os.chmod(self.place, 0o755)
        binary = shutil.copy(BIN, self.place)
        os.chmod(binary, 0o755)
        try:
            result = support.start(
                [binary, "report", "--log", path], user=NOBODY, group=NOBODY, extra_groups=[]
            )
        except (PermissionError, subprocess.SubprocessError) as error:
            self.lacks(f"cannot become nobody: {error}", must=True)
        self.assert_status(result, 1)
        self.assert_one_line(result, path, "Permission denied")

    def test_standard_input_without_anything(self):
        result = report("--log", "-", data=b"")
        self.assert_status(result, 1)
        self.assert_one_line(result, "standard input", "empty")

    def test_closed_standard_input(self):
        command = ["sh", "-c", 'exec "$0" report --log - <&-', BIN]
        result = support.start(command)
        self.assert_status(result, 1)
        self.assert_one_line(result, "standard input")

    def test_several_at_once_are_a_line_each(self):
        empty, away = self.file("empty", b""), str(self.place / "away")
        result = report("--log", empty, away, PLAIN, self.place)
        self.assert_status(result, 1)
        self.assertEqual(len(result.err.splitlines()), 3, result)
        self.assertTrue(result.out.startswith("TABLE "), result)


class DamagedLines(Logs):
    def setUp(self):
        super().setUp()
        text = PLAIN.read_text("utf-8")
        self.bad = "Mount-cache hash table entries: many (order"
        cut = re.sub(r"Mount-cache hash table entries: .*", self.bad, text, count=1)
        self.number = 1 + cut[: cut.index(self.bad)].count("\n")
        self.path = self.file("damaged.log", cut.encode())

    def test_are_counted(self):
        result = report("--log", self.path)
        self.assert_status(result, 0)
        self.assert_one_line(result, "1 line")
        self.assertIn("--damaged", result.err)
        (boot,) = boots_of(report("--json", "--log", self.path))
        self.assertEqual(boot["log"]["damaged_lines"], 1)

    def test_are_shown_with_their_place_when_asked_for(self):
        result = report("--damaged", "--log", self.path)
        shown = [line for line in result.err.splitlines() if self.bad in line]
        self.assertEqual(len(shown), 1, result)
        self.assertTrue(shown[0].startswith(f"{self.path}:{self.number}:"), result)

    def test_make_no_row(self):
        tables = [row["TABLE"] for row in columns(("TABLE",), "--log", self.path)]
        self.assertNotIn("mount", tables)
        self.assertIn("mountpoint", tables)


class Memory(Logs):
    def test_is_the_same_for_4_and_for_256_mebibytes_of_logs(self):
        """The peak of one process, read while it waits for more: after 4 MiB, after 256 MiB."""
        data = b"".join(log["path"].read_bytes() for log in fixtures())
        mib = 1 << 20
        with subprocess.Popen(
            [BIN, "report", "--log", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=support.ENVIRONMENT,
        ) as process:
            fed, peaks = 0, []
            for target in (4 * mib, 256 * mib):
                while fed < target:
                    process.stdin.write(data)
                    fed += len(data)
                process.stdin.flush()
                self.drained(process.stdin)
                peaks.append(self.peak_kib(process.pid))
            process.stdin.close()
            err = process.stderr.read()
            self.assertIn(process.wait(timeout=60), DONE, err)
        self.assertGreater(peaks[0], 500)
        self.assertLess(peaks[1] - peaks[0], 2048, f"KiB: {peaks}")

    def drained(self, pipe):
        """Wait until the other side has taken all."""
        for _ in range(6000):
            waiting = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
            if not waiting:
                return
            time.sleep(0.01)
        self.fail("it stopped reading")


class LargeFile(Logs):
    """A file that all processors read says what the same bytes say when one reader gets them."""

    LEAST = 17 << 20
    ARM = b"[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd034]\n"
    NOISE = b"[    2.000000] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n"

    def setUp(self):
        super().setUp()
        if len(os.sched_getaffinity(0)) < 2:
            self.lacks("a second processor")
        self.all = b"".join(log["path"].read_bytes() for log in fixtures())

    def fill(self, data, least=LEAST):
        return data * (least // len(data) + 1)

    def told(self, result, name):
        """What was printed, without the column LOG."""
        rows = []
        for line in result.out.splitlines():
            word, _, rest = line.partition(" ")
            rows.append(rest.lstrip() if word in (name, "LOG") else line)
        return rows

    def check(self, data):
        path = self.file("large.log", data)
        cut, whole = report("--log", path), report("--log", "-", data=data)
        self.assert_status(whole, *DONE)
        self.assertEqual(cut.status, whole.status)
        self.assertEqual(cut.err, whole.err)
        told, wanted = self.told(cut, path), self.told(whole, "-")
        if told != wanted:
            at = next((i for i, (a, b) in enumerate(zip(told, wanted)) if a != b), "the end")
            self.fail(f"differs at row {at} of {len(told)} and {len(wanted)}")
        return cut

    def test_of_all_posted_logs_wherever_it_is_cut(self):
        for padding in (0, 1, 77, 4095, 70001):
            with self.subTest(padding=padding):
                text = (b"x" * 60 + b"\n") * (padding // 61 + 1)
                self.check(text[len(text) - padding :] + self.fill(self.all))

    def test_of_each_architectures_logs(self):
        for arch in ("arm64-", "x86_64-", "i386-", "mips-", "ppc"):
            with self.subTest(arch=arch):
                logs = [log["path"] for log in fixtures() if log["path"].name.startswith(arch)]
                self.check(self.fill(b"".join(path.read_bytes() for path in logs)))

    def test_with_windows_line_ends(self):
        self.check(self.fill(self.all.replace(b"\r", b"").replace(b"\n", b"\r\n")))

    def test_without_its_last_line_end(self):
        self.check(self.fill(PLAIN.read_bytes()).rstrip(b"\n"))

    def test_behind_a_long_text(self):
        for mib in (1, 5, 20):
            with self.subTest(mib=mib):
                text = self.fill(b"The quick brown fox jumps.\n", mib << 20)
                self.check(text + self.fill(SPREAD.read_bytes()))

    def test_with_boots_longer_than_many_pieces(self):
        noise = self.fill(self.NOISE, 20 << 20)
        data = SPREAD.read_bytes()
        self.check(data + data + noise + data + noise + data)
        self.check(data + noise + data)

    def test_of_one_boot_is_shown_in_full(self):
        data = SPREAD.read_bytes()
        result = self.check(data + self.fill(self.NOISE))
        self.assertEqual(result.out, report("--log", SPREAD).out)

    def test_with_arms_first_line_before_the_banner(self):
        body = b"".join(
            line
            for line in PLAIN.read_bytes().splitlines(True)
            if b"Booting Linux" not in line
        )
        self.check(self.fill(self.ARM + body + self.NOISE))
        self.check(self.fill(self.ARM + body))

    def test_with_banners_that_were_printed_twice(self):
        lines = PLAIN.read_bytes().splitlines(True)
        at = next(i for i, line in enumerate(lines) if b"Linux version" in line)
        for between in (b"", self.NOISE, self.NOISE * 200):
            with self.subTest(between=len(between)):
                again = lines[: at + 1] + [between] + lines[at:]
                self.check(self.fill(b"".join(again)))

    def test_with_a_wrapped_or_soft_end_before_the_banner(self):
        data = PLAIN.read_bytes()
        cut = data + b"[    0.1%05d] Futex hash table entries: 1024 (order: 4,\n" % 7
        soft = data + self.NOISE[:-1].ljust(73, b"y") + b"=\n"
        for data in (cut, soft):
            self.check(self.fill(data))

    def test_among_others_keeps_the_order(self):
        path = self.file("large.log", self.fill(self.all))
        alone = report("--log", path).out.splitlines()
        result = report("--log", SPREAD, path, PLAIN, path)
        self.assert_status(result, 3)
        lines = result.out.splitlines()
        rows = alone[1 : alone.index("")]
        self.assertEqual(lines[0], alone[0])
        self.assertTrue(lines[1].startswith(str(SPREAD)))
        self.assertEqual(lines[2 : 2 + len(rows)], rows)
        self.assertTrue(lines[2 + len(rows)].startswith(str(PLAIN)))
        self.assertEqual(lines[3 + len(rows) : 3 + 2 * len(rows)], rows)

    def test_is_read_by_a_single_processor_too(self):
        if not shutil.which("taskset"):
            self.lacks("taskset")
        path = self.file("large.log", self.fill(self.all))
        one = str(min(os.sched_getaffinity(0)))
        result = support.start(["taskset", "-c", one, BIN, "report", "--log", path])
        self.assertEqual(result.out, report("--log", path).out)

    def test_takes_no_more_memory_when_it_is_larger(self):
        peaks = []
        for mib in (32, 160):
            path = self.file("large.log", self.fill(self.all, mib << 20))
            with subprocess.Popen(
                [BIN, "report", "--log", path],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=support.ENVIRONMENT,
            ) as process:
                peak = 0
                while process.stdout.read(1 << 16):
                    peak = self.peak_kib(process.pid) or peak
            self.assertIn(process.returncode, DONE)
            peaks.append(peak)
        self.assertGreater(peaks[0], 500)
        self.assertLess(peaks[1] - peaks[0], 2048, f"KiB: {peaks}")


if __name__ == "__main__":
    support.main()

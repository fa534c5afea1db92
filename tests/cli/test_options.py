#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options: what is accepted, what is refused and how; help, manual and completion agree."""

import os
import re
import shlex
import shutil
import tempfile

import support
from machines import Machine, table
from support import BIN, COLUMNS, DONE, SOURCE, column, fixture, hashdist, plan, report

LOG = str(fixture("arm64-6.17-64g-n2-"))
MACHINE = ("--machine", "x86-64 ram=2G", "--kernel", "6.1")
# What makes a verb that measures quick, whatever stands before it.
QUICK = {"bench": ("--size", "2M", "--runs", "1", "--lookups", "1000")}


class Usage(support.Case):
    def refused(self, result, *words):
        self.assert_status(result, 2)
        self.assertEqual(result.out, "", result)
        self.assert_one_line(result, *words)

    def refused_with_hint(self, result, *words):
        self.refused(result, *words)
        self.assertRegex(result.err, r"\n  try +\S", result)

    def printed(self, result):
        self.assert_status(result, 0)
        self.assert_quiet(result)
        self.assertTrue(result.out)


class Words(Usage):
    def test_help_lists_the_verbs_on_stdout(self):
        for word in ("--help", "-h", "help"):
            result = hashdist(word)
            self.printed(result)
            self.assertRegex(result.out, r"(?m)^usage: hashdist VERB")
            self.assertRegex(result.out, r"(?m)^  report +\S")
            self.assertRegex(result.out, r"(?m)^  plan +\S")
            self.assertRegex(result.out, r"(?m)^  bench +\S")

    def test_help_of_a_verb_is_printed_by_both_its_names(self):
        for verb in VERBS:
            for word in ("--help", "-h"):
                result = hashdist(verb, word)
                self.printed(result)
                self.assertRegex(result.out, rf"^usage: hashdist {verb} ")

    def test_help_fits_a_terminal_of_100_columns(self):
        for result in (
            hashdist("--help"),
            report("--help"),
            plan("--help"),
            hashdist("bench", "--help"),
            hashdist("measure", "--help"),
            hashdist("measure", "--output", "help"),
            report("--output", "help"),
            hashdist("bench", "--output", "help"),
        ):
            self.assertLessEqual(max(map(len, result.out.splitlines())), 100)

    def test_version_is_that_of_the_build(self):
        build = (SOURCE / "meson.build").read_text(encoding="utf-8")
        version = re.search(r"^\s*version: '([^']+)'", build, re.M).group(1)
        for word in ("--version", "-V"):
            result = hashdist(word)
            self.printed(result)
            self.assertEqual(result.out, f"hashdist {version}\n")

    def test_no_verb_is_wrong_usage_and_shows_the_verbs(self):
        result = hashdist()
        self.assert_status(result, 2)
        self.assertEqual(result.out, "")
        self.assertRegex(result.err, r"(?m)^usage: hashdist VERB")

    def test_unknown_verb_is_refused_by_name(self):
        self.refused_with_hint(hashdist("reprot"), "reprot")
        self.refused_with_hint(hashdist("--json"), "--json")
        self.refused_with_hint(hashdist(""), "")

    def test_unknown_option_is_refused_by_name(self):
        for word in ("--jsn", "-x", "--js", "--jsonx", "-jx", "--=", "--output=TABLE="):
            with self.subTest(word=word):
                self.refused_with_hint(report(word))
        self.refused_with_hint(report("--jsn"), "--jsn")
        self.refused_with_hint(report("-x"), "-x")

    def test_missing_value_is_refused(self):
        for word in ("--log", "-l", "--sysroot", "-s", "--save", "--output", "-o", "--rule"):
            with self.subTest(word=word):
                self.refused_with_hint(report(word), word, "needs a value")

    def test_needless_value_is_refused(self):
        for word in ("--json=1", "--openmetrics=", "--damaged=yes", "--help=no"):
            with self.subTest(word=word):
                self.refused_with_hint(report(word), word)

    def test_value_may_follow_an_equals_sign_or_the_letter(self):
        wanted = report("--log", LOG, "--output", "TABLE").out
        self.assertTrue(wanted.startswith("TABLE\n"))
        for words in (
            (f"--log={LOG}", "--output=TABLE"),
            (f"-l{LOG}", "-oTABLE"),
            ("-o", "TABLE", "-l", LOG),
        ):
            with self.subTest(words=words):
                self.assertEqual(report(*words).out, wanted)

    def test_word_without_an_option_is_refused_and_log_is_proposed(self):
        result = report("dmesg.txt")
        self.refused_with_hint(result, "dmesg.txt")
        self.assertIn("--log dmesg.txt", result.err)

    def test_options_that_exclude_each_other_are_refused(self):
        for words in (
            ("--log", LOG, "--sysroot", "/"),
            ("--log", LOG, "--save", "/nowhere/x"),
            ("--sysroot", "/", "--save", "/nowhere/x"),
            ("--json", "--openmetrics"),
            ("--json", "--output", "TABLE"),
            ("--openmetrics", "-o", "TABLE"),
        ):
            with self.subTest(words=words):
                self.refused(report(*words), *(w for w in words if w.startswith("--")))

    def test_nothing_is_saved_when_the_usage_is_wrong(self):
        with tempfile.TemporaryDirectory() as place:
            self.refused(report("--save", place + "/new", "--log", LOG))
            self.assertEqual(os.listdir(place), [])


class Output(Usage):
    def test_help_lists_the_columns(self):
        result = report("--output", "help")
        self.printed(result)
        self.assertEqual(
            [line.split()[0] for line in result.out.splitlines()], list(COLUMNS), result
        )

    def test_each_column_alone_is_a_cell_for_each_table(self):
        rows = len(column("TABLE", "--log", LOG))
        self.assertGreater(rows, 10)
        for name in COLUMNS:
            with self.subTest(column=name):
                result = report("--log", LOG, "--output", name)
                self.assert_status(result, 0)
                head, *cells = result.out.splitlines()
                self.assertEqual(head.strip(), name)
                self.assertEqual(len(cells), rows)
                self.assertNotIn("", [cell.strip() for cell in cells])

    def test_columns_come_in_the_order_asked_for(self):
        result = report("--log", LOG, "--output", "ENTRIES,TABLE,ENTRIES")
        self.assertEqual(result.out.split("\n")[0].split(), ["ENTRIES", "TABLE", "ENTRIES"])

    def test_names_may_be_in_lower_case(self):
        self.assertEqual(
            report("--log", LOG, "--output", "table,verdict").out,
            report("--log", LOG, "--output", "TABLE,VERDICT").out,
        )

    def test_unknown_column_is_refused_with_the_list(self):
        for words in ("FOO", "TABLE,FOO", "FOO,TABLE"):
            result = report("--log", LOG, "--output", words)
            self.refused_with_hint(result, "'FOO'")
            self.assertIn(",".join(COLUMNS), result.err)

    def test_empty_name_is_refused(self):
        for words in ("", ",", "TABLE,", ",TABLE"):
            with self.subTest(words=words):
                self.refused_with_hint(report("--log", LOG, "--output", words))

    def test_more_columns_than_there_can_be_are_refused(self):
        self.refused_with_hint(report("--log", LOG, "--output", ",".join(["TABLE"] * 500)))

    def test_only_the_table_is_printed(self):
        self.assertNotIn("\nmachine ", report("--log", LOG, "--output", "TABLE").out)
        self.assertIn("\nmachine ", report("--log", LOG).out)


class Rules(Usage):
    OLD = Machine(
        "4.19.0-27-amd64",
        nodes=[8192],
        log=[
            table("Dentry cache", 1048576, 11, 8388608),
            table("Inode-cache", 524288, 10, 4194304),
        ],
    ).log_text()

    def test_help_lists_them_with_their_values(self):
        result = report("--rule", "help")
        self.printed(result)
        for line in result.out.splitlines():
            self.assertRegex(line, r"^  [a-z0-9-]+=(NUMBER|[a-z0-9-]+(\|[a-z0-9-]+)+)$")

    def test_each_listed_value_is_accepted(self):
        rules = support.only_boot(report("--json", "--log", LOG).out)["kernel"]["rules"]
        listed = [line.split("=") for line in report("--rule", "help").out.split()]
        self.assertEqual([name for name, _ in listed], list(rules))
        for name, values in listed:
            numbers = [str(rules[name]["value"])]
            for value in numbers if values == "NUMBER" else values.split("|"):
                with self.subTest(rule=name, value=value):
                    result = report("--rule", f"{name}={value}", "--log", LOG)
                    self.assertNotEqual(result.status, 2, result)

    def test_unknown_name_or_value_is_refused_with_the_way_to_the_list(self):
        for rule in ("foo=1", "deal", "deal=", "deal=cards", "top-order=many", "=", ""):
            with self.subTest(rule=rule):
                result = report("--rule", rule, "--log", LOG)
                self.refused_with_hint(result, f"'{rule}'")
                self.assertIn("--rule help", result.err)

    def test_more_than_fit_are_refused(self):
        self.refused(report(*["--rule", "deal=pages"] * 100, "--log", LOG), "--rule")

    def test_one_changes_a_verdict(self):
        old = self.OLD.encode()
        self.assertEqual(column("VERDICT", "--log", "-", data=old)[0], "small-pages")
        self.assertEqual(column("MAPPING", "--log", "-", data=old)[0].strip(), "vmalloc")
        rule = ("--rule", "hashdist-default=no")
        self.assertEqual(column("VERDICT", *rule, "--log", "-", data=old)[0], "ok")
        self.assertEqual(column("MAPPING", *rule, "--log", "-", data=old)[0], "linear, early")

    def test_the_last_of_two_wins(self):
        rules = ("--rule", "hashdist-default=no", "--rule", "hashdist-default=yes")
        verdicts = column("VERDICT", *rules, "--log", "-", data=self.OLD.encode())
        self.assertEqual(verdicts[0], "small-pages")


class FullDisk(support.Case):
    def test_what_cannot_be_written_is_one_line_and_a_failure(self):
        if not os.path.exists("/dev/full"):
            self.lacks("no /dev/full")
        for words in (
            ("--version",),
            ("--help",),
            ("report", "--help"),
            ("report", "--output", "help"),
            ("report", "--rule", "help"),
            ("report", "--log", LOG),
            ("report", "--log", LOG, LOG),
            ("report", "--json", "--log", LOG),
            ("report", "--json", "--log", LOG, LOG),
            ("report", "--openmetrics", "--log", LOG),
            ("report", "--output", "TABLE", "--log", LOG),
            ("plan", "--help"),
            ("plan", *MACHINE),
            ("plan", *MACHINE, "--table"),
            ("plan", *MACHINE, "--explain"),
            ("plan", *MACHINE, "--json"),
            ("plan", *MACHINE, "--describe"),
            ("plan", *MACHINE, "--compare", "hashdist=1"),
            ("plan", *MACHINE, "--check", LOG),
            ("place", "--help"),
            ("bench", "--help"),
            ("bench", "--output", "help"),
            ("bench", *QUICK["bench"]),
            ("bench", *QUICK["bench"], "--json"),
            ("bench", *QUICK["bench"], "--output", "SIZE"),
            ("measure", "--help"),
            ("measure", "--output", "help"),
            ("measure", "--a", "help"),
            ("measure", "--runs", "1", "true"),
            ("measure", "--runs", "1", "--json", "true"),
        ):
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                result = hashdist(*words, stdout=full)
                self.assert_status(result, 1)
                self.assert_one_line(result, "cannot write to standard output")

    def test_closed_output_is_a_failure_too(self):
        result = support.start(["sh", "-c", 'exec "$0" report --log "$1" >&-', BIN, LOG])
        self.assert_status(result, 1)
        self.assert_one_line(result, "cannot write to standard output")


# ---- help, manual, completion -------------------------------------------------------------------


EXAMPLES = ("report", "plan", "place", "measure", "bench")  # whose examples can be tried
VERBS = (*EXAMPLES, "run")


def section(page, name):
    """Lines of one section of a manual's source."""
    text = (SOURCE / "man" / page).read_text(encoding="utf-8")
    return re.search(rf"^# {name}\n(.*?)(?=^# |\Z)", text, re.M | re.S).group(1).splitlines()


def completion():
    return (SOURCE / "completion/hashdist").read_text(encoding="utf-8")


class Agreement(support.Case):
    def setUp(self):
        if not (SOURCE / "man").is_dir():
            self.lacks(f"no source tree in {SOURCE}", must=True)

    def options_in_help(self, verb):
        found = set()
        for line in hashdist(verb, "--help").out.splitlines():
            match = re.match(r"  (?:(-\w),|   ) (--[a-z-]+)", line)
            if match:
                found |= {word for word in match.groups() if word}
        return found

    def test_help_manual_and_completion_have_the_same_options(self):
        for verb in VERBS:
            helped = self.options_in_help(verb)
            self.assertGreater(len(helped), 8)
            manual = set()
            for line in section(f"hashdist-{verb}.1.scd", "OPTIONS"):
                if line.startswith("*-"):
                    manual |= set(re.findall(r"\*(--?[a-z-]+)\*", line))
            body = completion().split(f"_hashdist_{verb}()")[1].split("\n}")[0]
            (words,) = re.findall(r'compgen -W "(-[^"]*)"', body, re.S)
            self.assertEqual(manual, helped, verb)
            self.assertEqual(set(words.split()) - {"--"}, helped, verb)

    def test_parser_knows_each_option_that_help_lists(self):
        for verb in VERBS:
            for option in sorted(self.options_in_help(verb)):
                more = ["help"] if option in ("-o", "--output") else []
                result = hashdist(verb, option, *more, *QUICK.get(verb, ()))
                self.assertNotIn("no such option", result.err, option)

    def test_values_have_the_same_names_in_help_and_manual(self):
        for verb in VERBS:
            helped = hashdist(verb, "--help").out.split("\n\n", 1)[1]
            helped = dict(re.findall(r"(--[a-z-]+) ([A-Z][A-Z=]*)", helped))
            manual = {}
            for line in section(f"hashdist-{verb}.1.scd", "OPTIONS"):
                if line.startswith("*-") and "_" in line:
                    name = re.findall(r"\*(--[a-z-]+)\*", line)[-1]
                    value = line.split(f"*{name}*", 1)[1]
                    value = re.match(r"[A-Z=]+", value.replace("_", "").strip())
                    if value:  # not one that may be left out
                        manual[name] = value.group()
            self.assertEqual(manual, helped, verb)

    def test_completion_takes_a_value_where_the_option_has_one(self):
        for verb in VERBS:
            helped = hashdist(verb, "--help").out.split("\n\n", 1)[1]
            valued = {
                word
                for found in re.findall(r"(?m)^  (?:(-\w),|   ) (--[a-z-]+) [A-Z]", helped)
                for word in found
                if word
            }
            body = completion().split(f"_hashdist_{verb}()")[1].split("\n}")[0]
            cases = " ".join(re.findall(r"(?m)^\t([^\t(]*)\)$", body))
            handled = set(re.findall(r"--?[a-z-]+", cases))
            if verb == "report":  # --log takes files, as does what follows no option at all
                handled |= {"-l", "--log"}
            self.assertEqual(handled, valued, verb)

    def test_help_manual_and_completion_have_the_same_verbs(self):
        helped = re.findall(r"(?m)^  ([a-z]+) +\S", hashdist("--help").out)
        helped = {verb for verb in helped if verb != "hashdist"}
        self.assertTrue(helped)
        manual = {
            match.group(1)
            for line in section("hashdist.1.scd", "VERBS")
            if (match := re.match(r"\*([a-z]+)\*", line))
        }
        body = completion().split("\n_hashdist()")[1]
        first = re.search(r'COMP_CWORD == 1.*?compgen -W "([^"]*)"', body, re.S).group(1).split()
        self.assertEqual(manual, helped)
        self.assertEqual({word for word in first if not word.startswith("-")}, helped)
        self.assertEqual(set(re.findall(r"(?m)^\t([a-z]+)\) _hashdist_", body)), helped)
        for verb in helped:
            self.assertTrue((SOURCE / f"man/hashdist-{verb}.1.scd").exists(), verb)

    def test_manual_has_the_columns_that_output_help_lists(self):
        manual = []
        for line in section("hashdist-report.1.scd", "COLUMNS"):
            if re.fullmatch(r"[A-Z]+(, [A-Z]+)*", line):
                manual += line.split(", ")
        listed = [line.split()[0] for line in report("--output", "help").out.splitlines()]
        self.assertEqual(sorted(manual), sorted(listed))

    def test_manual_has_the_verdicts_that_are_given(self):
        judge = (SOURCE / "core/judge.c").read_text(encoding="utf-8")
        given = re.findall(r'^\t\[HD_\w+\] = "([a-z-]+)",$', judge, re.M)
        self.assertGreater(len(given), 5)
        manual = [
            line.strip("*")
            for line in section("hashdist-report.1.scd", "VERDICTS")
            if line.startswith("*")
        ]
        self.assertEqual(sorted(manual), sorted(given))

    def test_manuals_list_all_exit_statuses(self):
        # That of run is its command's.
        for page in ("hashdist.1.scd", *(f"hashdist-{verb}.1.scd" for verb in EXAMPLES)):
            lines = section(page, "EXIT STATUS")
            self.assertEqual([line for line in lines if re.match(r"\*\d\*$", line)],
                             ["*0*", "*1*", "*2*", "*3*"])  # fmt: skip

    def complete(self, *words):
        """What bash would propose for the last word."""
        script = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            '_hashdist; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        bash = shutil.which("bash")
        if not bash:
            self.lacks("no bash")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        os.symlink(BIN, directory.name + "/hashdist")
        path = f"{directory.name}:{os.environ['PATH']}"
        return support.start(
            [bash, "-c", script, "bash", SOURCE / "completion/hashdist", *words],
            env={**support.ENVIRONMENT, "PATH": path},
        ).out.split()

    def test_completion_proposes_verbs_options_columns_and_rules(self):
        self.assertEqual(self.complete("hashdist", "rep"), ["report"])
        self.assertEqual(self.complete("hashdist", "report", "--sy"), ["--sysroot"])
        self.assertEqual(self.complete("hashdist", "report", "-o", "ENT"), ["ENTRIES"])
        self.assertEqual(self.complete("hashdist", "report", "-o", "TABLE,ENT"), ["TABLE,ENTRIES"])
        self.assertEqual(self.complete("hashdist", "report", "--rule", "huge-"), ["huge-vmalloc="])
        self.assertEqual(self.complete("hashdist", "pl"), ["plan", "place"])
        self.assertEqual(self.complete("hashdist", "place", "--und"), ["--undo"])
        self.assertEqual(self.complete("hashdist", "plan", "--ear"), ["--early-all"])
        self.assertEqual(self.complete("hashdist", "plan", "--rule", "huge-"), ["huge-vmalloc="])
        self.assertEqual(self.complete("hashdist", "plan", "--check", "liv"), ["live"])
        self.assertEqual(self.complete("hashdist", "ben"), ["bench"])
        self.assertEqual(self.complete("hashdist", "mea"), ["measure"])
        self.assertEqual(self.complete("hashdist", "measure", "--ig"), ["--ignore-failure"])
        self.assertEqual(self.complete("hashdist", "measure", "-b", "thp"), ["thp-off"])
        self.assertEqual(self.complete("hashdist", "measure", "-o", "FIG"), ["FIGURE"])
        self.assertIn("true", self.complete("hashdist", "measure", "--runs", "3", "tru"))
        self.assertIn("true", self.complete("hashdist", "measure", "-n", "3", "--", "tru"))
        self.assertEqual(self.complete("hashdist", "bench", "--hug"), ["--hugetlb"])
        self.assertEqual(
            self.complete("hashdist", "bench", "-l", "one,large-s"), ["one,large-spread"]
        )
        self.assertEqual(self.complete("hashdist", "bench", "-o", "SIZE,DEPR"), ["SIZE,DEPRANGE"])
        self.assertEqual(self.complete("hashdist", "bench", "--threads", ""), [])

    def test_completion_of_plan_proposes_files_or_directories_where_they_fit(self):
        with tempfile.TemporaryDirectory() as place:
            os.mkdir(place + "/box7")
            with open(place + "/boot.log", "w", encoding="ascii"):
                pass
            for option in ("-l", "--log", "--rules", "--check"):
                found = self.complete("hashdist", "plan", option, place + "/bo")
                self.assertEqual(sorted(found), [place + "/boot.log", place + "/box7"], option)
            for option in ("-s", "--sysroot"):
                found = self.complete("hashdist", "plan", option, place + "/bo")
                self.assertEqual(found, [place + "/box7"], option)
            for option in ("-m", "--machine", "-k", "--kernel", "-c", "--cmdline", "--add"):
                self.assertEqual(self.complete("hashdist", "plan", option, place + "/bo"), [])

    def test_examples_of_the_manual_are_accepted(self):
        for verb in EXAMPLES:
            lines = section(f"hashdist-{verb}.1.scd", "EXAMPLES")
            self.accepted(line.replace("++", "").replace("\\", "") for line in lines)

    def test_examples_of_the_readme_are_accepted(self):
        readme = SOURCE / "README.md"
        if not readme.exists():
            self.lacks("no README.md yet")
        text = readme.read_text(encoding="utf-8")
        blocks = re.findall(r"^```.*?^```|^    [^\n]*$", text, re.M | re.S)
        self.accepted(line for block in blocks for line in block.splitlines())

    def accepted(self, lines):
        """Those that run a verb of hashdist, up to the first pipe or redirection."""
        count = 0
        for line in lines:
            line = line.strip().removeprefix("$ ").removeprefix("# ").removeprefix("sudo ")
            if not line.startswith(tuple(f"hashdist {verb}" for verb in EXAMPLES)):
                continue
            words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
            if "|" not in words and ">" not in words:
                words = shlex.split(line, comments=True)
            ends = [at for at, word in enumerate(words) if word in ("|", ">", "<", "&&", ";", "#")]
            words = words[1 : min(ends, default=len(words))]
            with self.subTest(example=line), tempfile.TemporaryDirectory() as place:
                result = hashdist(*words, *QUICK.get(words[0], ()), cwd=place)
                count += 1
                self.assertIn(result.status, (*DONE, 1), result)
        self.assertGreater(count, 0)


if __name__ == "__main__":
    support.main()

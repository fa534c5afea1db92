#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hashdist plan: descriptions of machines, and every option."""

import itertools
import json
import re

import support
from machines import Machine
from planning import ARM16K, BARE, BIG2, LINEAR, PC, PC2, PC4, Plan
from support import plan

ITEMS = "node:ID=SIZE"
WRONG = (  # description, column, what was expected
    ("", 1, "an architecture"),
    ("x86", 1, "an architecture"),
    ("  pdp11 ram=8G", 3, "an architecture"),
    ("x86-64", 7, "a node with memory"),
    ("x86-64 ram=0", 13, "a node with memory"),
    ("x86-64 ram=8G nodde:1=8G", 15, ITEMS),
    ("x86-64 8G", 8, ITEMS),
    ("x86-64 ram=", 12, "a size"),
    ("x86-64 ram=G", 12, "a size"),
    ("x86-64 ram=-1", 12, "a size"),
    ("x86-64 ram=8Q", 13, "K, M, G, T or P"),
    ("x86-64 ram=8GB", 14, "a blank"),
    ("x86-64 ram=8G,cpus=2", 14, "a blank"),
    ("x86-64 ram=9000P", 12, "a size below 8 EiB"),
    ("x86-64 ram=99999999999999999999999", 12, "a smaller number"),
    ("x86-64 ram=8G ram=8G", 15, "each node once"),
    ("x86-64 node:1=1G node:1=1G", 18, "each node once"),
    ("x86-64 node:=1G", 13, "a node's number"),
    ("x86-64 node:4096=1G", 13, "a node's number"),
    ("x86-64 node:0", 14, "'=' and the node's memory"),
    ("x86-64 node:0=1G/cpu", 17, "'/nocpu' or a blank"),
    ("x86-64 node:0=1G/nocpus", 17, "'/nocpu' or a blank"),
    ("x86-64 ram=8G cpus=0", 20, "a number from 1 to 65536"),
    ("x86-64 ram=8G cpus=65537", 20, "a number from 1 to 65536"),
    ("x86-64 ram=8G possible-nodes=0", 30, "a number from 1 to 4096"),
    ("arm64 ram=8G page=3K", 19, "a page size"),
    ("arm64 ram=8G page=2M", 19, "a page size"),
    ("i386 ram=1G highmem=1G", 23, "more memory than highmem="),
    ("x86-64 ram=1G reserved=2G", 26, "more memory than highmem= and reserved="),
    ("x86-64 ram=8G emulation", 15, ITEMS),
    ("x86-64 ram=8G emulatedd", 23, "a blank"),
)


class Descriptions(Plan):
    def test_that_cannot_be_read_are_refused_with_a_mark_under_the_place(self):
        for text, column, wanted in WRONG:
            with self.subTest(text=text):
                result = plan("--machine", text, "--kernel", "6.1")
                self.assert_status(result, 2)
                self.assertEqual(result.out, "")
                message, shown, mark = result.err.splitlines()
                self.assertTrue(
                    message.startswith(f"hashdist: --machine: column {column}: expected {wanted}"),
                    result,
                )
                self.assertEqual(shown, f"  {text}")
                self.assertEqual(mark, " " * (2 + column - 1) + "^")

    def test_take_their_items_in_any_order(self):
        items = ("node:0=1G", "node:1=1G", "cpus=2")
        wanted = plan("-m", PC2, "-k", "6.1").out
        for order in itertools.permutations(items):
            self.assertEqual(plan("-m", "x86-64 " + " ".join(order), "-k", "6.1").out, wanted)
        self.assertEqual(plan("-m", f"\t x86-64\t\t{'  '.join(items)} ", "-k", "6.1").out, wanted)

    def test_take_each_unit(self):
        for size in ("2g", "2048M", "2097152K", "2147483648", "2G"):
            self.assertEqual(
                plan("-m", f"x86-64 ram={size} cpus=2", "-k", "6.1").out,
                plan("-m", PC, "-k", "6.1").out,
            )

    def test_are_printed_so_that_they_can_be_read_again(self):
        for text in (
            PC, PC2, PC4, BARE, ARM16K,
            "x86-64 node:0=8G/nocpu node:3=12345K cpus=64 possible-nodes=8",
            "i386 ram=3G highmem=2190M reserved=64M",
            "arm64 node:0=1G node:1=1G page=16K emulated",
            "ppc64 ram=1P cpus=65536",
        ):  # fmt: skip
            with self.subTest(text=text):
                result = plan("--machine", text, "--describe")
                self.assert_status(result, 0)
                again = plan("--machine", result.out.rstrip("\n"), "--describe")
                self.assertEqual(again.out, result.out)
                for kernel in ("6.1", "7.1"):
                    self.assertEqual(
                        plan("-m", result.out.rstrip("\n"), "-k", kernel, "--json").out,
                        plan("-m", text, "-k", kernel, "--json").out,
                    )

    def test_of_this_machine_make_the_same_plan_again(self):
        result = plan("--describe")
        self.assert_status(result, 0)
        text = result.out.rstrip("\n")
        again = plan("--machine", text, "--describe")
        self.assertEqual(again.out.rstrip("\n"), text)

    def test_of_many_nodes_are_whole(self):
        text = "x86-64 " + " ".join(f"node:{n}=1234567K" for n in range(1000)) + " cpus=1"
        self.assertEqual(plan("--machine", text, "--describe").out, text + "\n")
        self.assertEqual(self.made(text, "6.1")["machine"], text)

    def test_of_a_log_can_be_printed_and_read_again(self):
        log = self.file("log", Machine("6.1.0-44-amd64", nodes=[8192, 4096]).log_text())
        result = plan("--log", log, "--describe")
        self.assert_status(result, 0)
        text = result.out.rstrip("\n")
        self.assertRegex(text, r"^x86-64 node:0=8G node:1=4G cpus=4\b")
        self.assertEqual(plan("--machine", text, "--describe").out, result.out)

    def test_are_in_the_json_too(self):
        self.assertEqual(self.made(PC2, "6.1")["machine"], PC2)


class Usage(Plan):
    def test_several_sources_at_once_are_refused(self):
        sources = (("--machine", PC), ("--sysroot", "/"), ("--log", "/dev/null"))
        for count in (2, 3):
            for some in itertools.combinations(sources, count):
                self.refused(plan(*sum(some, ()), "-k", "6.1"), "--machine", "exclude")

    def test_machine_without_a_kernel_is_refused_with_the_way_out(self):
        result = plan("--machine", PC)
        self.refused(result, "--machine", "kernel")
        self.assertRegex(result.err, r"\n  try +--kernel VERSION\n")

    def test_bad_kernel_is_refused(self):
        for text in ("foo", "6", "", "v6.1", "-1.2", ".1", "6."):
            with self.subTest(text=text):
                self.refused(plan("-m", PC, f"--kernel={text}"), "--kernel", f"'{text}'")

    def test_release_may_have_a_tail(self):
        wanted = plan("-m", PC, "-k", "6.1.170").out
        self.assertEqual(plan("-m", PC, "-k", "6.1.170-amd64").out, wanted)

    def test_an_architecture_that_a_log_does_not_tell_is_taken_from_the_option(self):
        log = str(support.fixture("unk-unk-unk-"))
        self.failed(plan("--log", log), "architecture", "--arch")
        self.failed(plan("--log", log, "--arch", "x86-64"), "memory and nodes", "--machine")
        self.refused(plan("--log", log, "--arch", "nonsense"), "--arch", "'nonsense'")

    def test_word_without_an_option_is_refused(self):
        for word in ("x86-64", "help", ""):
            self.refused(plan(word), word)

    def test_missing_value_is_refused(self):
        for word in ("--machine", "-m", "--kernel", "-k", "--cmdline", "-c", "--add", "-a",
                     "--rule", "--rules", "--compare", "--check", "--log", "-l", "--sysroot",
                     "-s"):  # fmt: skip
            self.refused(plan(word), word, "needs a value")

    def test_needless_value_is_refused(self):
        for word in ("--table=1", "--explain=", "--json=yes", "--early-all=no", "--describe="):
            self.refused(plan(word), word)

    def test_memory_that_the_command_line_takes_away_is_a_failure(self):
        self.failed(plan("-m", PC, "-k", "6.1", "-c", "mem=1"), "without memory")
        self.failed(plan("-m", PC, "-k", "6.1", "--compare", "mem=1"), "without memory")

    def test_files_that_cannot_be_read_are_a_failure_of_one_line(self):
        away = str(self.place / "away")
        empty = self.file("empty", "")
        for words in (
            ("--log", away),
            ("--log", empty),
            ("--sysroot", away),
            ("--sysroot", str(self.place)),
            ("-m", PC, "-k", "6.1", "--check", away),
            ("-m", PC, "-k", "6.1", "--check", empty),
            ("-m", PC, "-k", "6.1", "--check", str(self.place)),
        ):
            with self.subTest(words=words):
                self.failed(plan(*words), words[-1])

    def test_log_that_does_not_tell_enough_is_a_failure_that_says_what_lacks(self):
        log = self.file("log", "[    0.000000] Linux version 6.1.0 (x@y) #1 SMP\n")
        self.failed(plan("--log", log), "not known", "architecture")

    def test_json_of_nothing_is_not_printed(self):
        self.assertEqual(plan("--json", "--log", self.file("empty", "")).out, "")


class Rules(Plan):
    def dentry(self, *words, machine=BIG2):
        result = plan("-m", machine, "-k", "6.1", *words)
        self.assert_status(result, 0)
        return result.out.splitlines()[0].rsplit(", ", 1)[1].rstrip(")")

    def test_overrule_the_version(self):
        self.assertEqual(self.dentry(), "vmalloc hugepage")
        self.assertEqual(self.dentry("--rule", "huge-vmalloc=never"), "vmalloc")
        self.assertEqual(self.dentry("--rule", "hashdist-default=no"), "linear")
        self.assertEqual(self.dentry(machine=PC2), "vmalloc")
        self.assertEqual(self.dentry("--rule", "huge-vmalloc=whole", machine=PC2),
                         "vmalloc hugepage")  # fmt: skip

    def test_the_last_of_two_wins(self):
        words = ("--rule", "huge-vmalloc=never", "--rule", "huge-vmalloc=whole")
        self.assertEqual(self.dentry(*words), "vmalloc hugepage")

    def test_change_a_bucket(self):
        found = self.rows(PC, "6.1", "", "--rule", "spinlock-bytes=64")
        # Lock debugging: listen 72, bind 144, MPTCP 88, UDP 160, futex 128.
        for key, size in (("tcp-listen", 72), ("tcp-bind", 144), ("mptcp-token", 88),
                          ("udp", 160), ("futex", 128)):  # fmt: skip
            self.assertEqual(found[key]["bytes"] / found[key]["entries"], size, key)

    def test_that_are_none_are_refused_with_the_way_to_the_list(self):
        for rule in ("x=1", "deal", "deal=", "deal=cards", "top-order=many", "=", ""):
            result = plan("-m", PC, "-k", "6.1", "--rule", rule)
            self.refused(result, f"'{rule}'")
            self.assertRegex(result.err, r"\n  try +hashdist report --rule help\n")

    def test_more_than_fit_are_refused(self):
        self.refused(plan("-m", PC, "-k", "6.1", *["--rule", "deal=pages"] * 65), "64 rules")

    def test_come_from_a_file_with_comments_and_blank_lines(self):
        path = self.file(
            "rules",
            "# a vendor's kernel\n\n   \t\nhuge-vmalloc=never   # not built\n"
            "\thashdist-default=yes\r\n#deal=cards\n",
        )
        self.assertEqual(self.dentry("--rules", path), "vmalloc")
        last = self.file("last", "hashdist-default=no")  # no line end
        self.assertEqual(self.dentry("--rules", last), "linear")
        self.assertEqual(self.dentry("--rules", self.file("empty", "")), "vmalloc hugepage")

    def test_of_file_and_option_add_up_in_order(self):
        path = self.file("rules", "huge-vmalloc=never\n")
        self.assertEqual(self.dentry("--rules", path, "--rule", "huge-vmalloc=whole"),
                         "vmalloc hugepage")  # fmt: skip
        self.assertEqual(self.dentry("--rule", "huge-vmalloc=whole", "--rules", path), "vmalloc")

    def test_of_several_files_all_count(self):
        one = self.file("one", "hashdist-default=no\n")
        other = self.file("other", "huge-vmalloc=never\n")
        self.assertEqual(self.dentry("--rules", one, "--rules", other), "linear")
        self.assertEqual(self.dentry("--rules", other, "--rules", one), "linear")

    def test_file_that_is_missing_or_too_long_is_a_failure(self):
        away = str(self.place / "away")
        self.failed(plan("-m", PC, "-k", "6.1", "--rules", away), away, "No such file")
        long = self.file("long", "# a long comment\n" * 1000)
        self.failed(plan("-m", PC, "-k", "6.1", "--rules", long), long, "too long")
        self.failed(plan("-m", PC, "-k", "6.1", "--rules", str(self.place)), self.place)

    def test_file_with_a_bad_rule_is_refused_with_the_rule(self):
        for text in ("deal=pages\nfoo=1\n", "deal\n", "huge-vmalloc = never\n"):
            result = plan("-m", PC, "-k", "6.1", "--rules", self.file("bad", text))
            self.refused(result, "'" + text.splitlines()[-1].split()[0] + "'")


# ---- views --------------------------------------------------------------------------------------


class Walks(Plan):
    """An 8 MiB dentry table on a Kaby Lake, which holds 1,536 translations of 4K."""

    WORDS = ("-m", "x86-64 ram=4G", "-k", "6.1", "--tlb", "kaby-lake")
    LINEAR = ("-c", "dhash_entries=1048576 hashdist=0")
    SCATTERED = ("-c", "dhash_entries=1048576 hashdist=1 nohugevmalloc")

    def dentry(self, *words):
        plan_json = json.loads(plan("--json", *words).out)
        (table,) = [t for t in plan_json["tables"] if t["table"] == "dentry"]
        self.assertEqual(table["bytes"], 8 << 20)
        return plan_json["model_processor"], table["model_walks_per_lookup"]

    def test_are_a_quarter_of_the_lookups_on_4k_and_none_when_linear(self):
        processor, walks = self.dentry(*self.WORDS, *self.SCATTERED)
        self.assertEqual(processor, "kaby-lake")
        self.assertAlmostEqual(walks, 0.25, delta=0.015)
        self.assertEqual(self.dentry(*self.WORDS, *self.LINEAR), ("kaby-lake", 0.0))

    def test_are_the_same_every_time(self):
        words = (*self.WORDS, *self.SCATTERED)
        self.assertEqual(self.dentry(*words), self.dentry(*words))

    def test_are_in_the_table_with_whose_they_are(self):
        result = plan("--table", *self.WORDS, *self.SCATTERED)
        self.assert_status(result, 0)
        head, dentry = result.out.splitlines()[:2]
        self.assertEqual(head.split()[-1], "WALKS")
        self.assertEqual(dentry.split()[0], "dentry")
        self.assertAlmostEqual(float(dentry.split()[-1]), 0.25, delta=0.015)
        self.assertIn("model of Intel Skylake, Kaby Lake", result.out)

    def test_are_unknown_without_a_processor(self):
        self.assertEqual(self.dentry("-m", "x86-64 ram=4G", "-k", "6.1", *self.LINEAR), (None, None))

    def test_other_names_are_taken_and_unknown_ones_refused(self):
        self.assertEqual(
            self.dentry(*self.WORDS[:-1], "skylake", *self.LINEAR), ("kaby-lake", 0.0)
        )
        self.refused(plan(*self.WORDS[:-1], "pentium"), "'pentium'")

    def test_help_lists_the_processors(self):
        result = plan("--tlb", "help")
        self.assert_status(result, 0)
        self.assertIn("kaby-lake", result.out)
        self.assertIn("AMD Zen 5", result.out)


class Table(Plan):
    def cells(self, *words):
        """Rows below the head, split where the head's columns are; and what follows them."""
        result = plan("--table", *words)
        self.assert_status(result, 0)
        table, rest = result.out.split("\n\n", 1)
        head, *lines = table.split("\n")
        self.assertEqual(head.split(), "TABLE ENTRIES SIZE MAPPING PAGES NODES".split())
        # MAPPING starts where its head does; what is left of it ends with words.
        start, nodes = head.index("MAPPING"), head.index("NODES")
        rows = []
        for line in lines:
            left = line[:start].split()
            mapping, pages = re.fullmatch(
                r"((?:linear|vmalloc hugepage|vmalloc|none fits)(?:, early)?) +(\d.*\S|\?) *",
                line[start:nodes],
            ).groups()
            rows.append(
                (left[0], left[1], " ".join(left[2:]), mapping, pages, line[nodes:].strip())
            )
        return rows, rest

    def test_says_what_json_says(self):
        for words in (
            ("-m", PC, "-k", "6.1"),
            ("-m", BIG2, "-k", "6.12"),
            ("-m", PC4, "-k", "7.1"),
            ("-m", "arm64 node:0=8G node:1=8G page=16K", "-k", "6.18"),
            ("-m", PC, "-k", "6.1", "-c", "numa=fake=8"),
        ):
            with self.subTest(words=words):
                rows, _ = self.cells(*words)
                found = json.loads(plan("--json", *words).out)["tables"]
                self.assertEqual([row[0] for row in rows], [row["table"] for row in found])
                for cells, row in zip(rows, found):
                    self.check_row(cells, row)

    def check_row(self, cells, row):
        _, entries, size, mapping, pages, nodes = cells
        self.assertEqual(entries, f"{row['entries']}{'' if row['exact'] else '*'}")
        self.assertEqual(mapping, row["mapping"] + (", early" if row["early"] else ""))
        units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
        amount, unit = size.split()
        self.assertAlmostEqual(float(amount) * units[unit], row["bytes"], delta=units[unit] / 10)
        units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
        shown = {
            str(int(page) * units[unit]): int(count)
            for count, page, unit in re.findall(r"(\d+) x (\d+)([KMG])", pages)
        }
        self.assertEqual(shown, row["translations_by_bytes"])
        held = {node for node, share in row["node_bytes"].items() if share}
        if len(held) <= 4:
            self.assertEqual(set(re.findall(r"\bN(\d+) ", nodes)), held)
        else:
            self.assertTrue(nodes.startswith(f"{len(held)} nodes, "), nodes)

    def test_ends_with_hashdist_and_its_reason(self):
        _, rest = self.cells("-m", PC, "-k", "6.1")
        self.assertEqual(rest, "hashdist  off: only one node has memory\n")
        _, rest = self.cells("-m", PC2, "-k", "6.1")
        self.assertTrue(rest.startswith("hashdist  on: "), rest)

    def test_marks_what_is_not_exact(self):
        rows, rest = self.cells("-m", "x86-64 ram=1090M cpus=2", "-k", "6.12.117")
        starred = {row[0] for row in rows if row[1].endswith("*")}
        self.assertIn("dentry", starred)
        self.assertNotIn("table-perturb", starred)
        self.assertIn("The kernel will count between", rest)

    def test_cells_are_plain_when_piped(self):
        self.assertTrue(plan("-m", BIG2, "-k", "6.1", "--table").out.isascii())


class Explain(Plan):
    STEP = re.compile(r"^  (asked|pages|scale|a page|power of 2|at least|at most|entries|halved|early|"
                      r"contiguous|scattered|huge pages|got) +(\S.*)$")  # fmt: skip

    def steps(self, *words):
        result = plan("--explain", *words)
        self.assert_status(result, 0)
        head, *tables = result.out.rstrip("\n").split("\n\n")
        found = {}
        for block in tables:
            line, *steps = block.split("\n")
            steps = [step for step in steps if not step.startswith("  or ")]
            matches = [self.STEP.match(step) for step in steps]
            self.assertTrue(all(matches), block)
            found[line] = {match[1]: match[2] for match in matches}
        return head, found

    def test_head_gives_flag_nodes_processors_and_pages_with_their_source(self):
        head, _ = self.steps("-m", BIG2, "-k", "6.1")
        first, second, third = head.split("\n")
        self.assertEqual(first, "hashdist is on: the default of this kernel")
        self.assertEqual(second, "2 memory nodes of 2 online, 2 possible CPUs")
        found = self.made(BIG2, "6.1")
        self.assertEqual(
            third,
            f"pages counted: {found['sizing_pages_low']} to {found['sizing_pages_high']}, "
            "from the description",
        )

    def test_each_line_is_followed_by_its_steps_with_numbers_that_lead_to_it(self):
        for words in (
            ("-m", PC, "-k", "6.1.192"),
            ("-m", BIG2, "-k", "6.12"),
            ("-m", "x86-64 ram=140G cpus=2", "-k", "6.1"),
            ("-m", "arm64 ram=2G page=64K", "-k", "4.4"),
            ("-m", PC, "-k", "7.1", "-c", "dhash_entries=100000"),
        ):
            _, found = self.steps(*words)
            self.assertEqual(list(found), plan(*words).out.splitlines())
            for line, steps in found.items():
                with self.subTest(words=words, line=line):
                    self.check_steps(line, steps, 65536 if "page=64K" in words[1] else 4096)

    def check_steps(self, line, steps, page):
        entries, size = map(int, re.search(r"entries: (\d+) \(order: -?\d+, (\d+) ", line).groups())
        for step in ("power of 2", "at most", "entries", "got"):
            self.assertIn(step, steps)
        self.assertEqual(len({"asked", "pages"} & set(steps)), 1)
        self.assertEqual("pages" in steps, "scale" in steps)
        self.assertEqual(len({"early", "contiguous", "scattered"} & set(steps)), 1)
        self.assertEqual("scattered" in steps, "vmalloc" in line and "linear" not in line)
        got, bucket, total = map(
            int, re.match(r"(\d+) of (\d+) bytes: (\d+) bytes", steps["entries"]).groups()
        )
        self.assertEqual((got, total), (entries, size))
        self.assertEqual(got * bucket, total)
        power = int(steps["power of 2"])
        self.assertEqual(power & (power - 1), 0)
        if "pages" in steps:
            pages, rounded = map(int, re.match(r"(\d+), to a whole MiB (\d+)",
                                               steps["pages"]).groups())  # fmt: skip
            self.assertGreaterEqual(rounded, pages)
            derived = int(steps["scale"].rsplit(" ", 1)[1])
            if derived * bucket < page:  # a page is the least
                derived = page // bucket
        else:
            derived = int(steps["asked"].split()[0])
        self.assertTrue(derived <= power < 2 * max(derived, 1), steps)
        cap = int(re.match(r"\d+", steps["at most"]).group())
        least = int(steps.get("at least", "0"))
        wanted = min(max(power, least), cap)
        self.assertEqual(entries, 1 << wanted.bit_length() - 1)

    def test_scale_that_grew_is_said(self):
        _, found = self.steps("-m", "x86-64 ram=140G cpus=2", "-k", "6.1")
        self.assertRegex(next(iter(found.values()))["scale"], r"2\^14 bytes \(grown with memory")

    def test_huge_pages_are_compared_with_a_share_or_with_the_whole(self):
        for kernel, answer in (
            ("6.12", "no: each online node's share of 1048576 bytes against 2^21"),
            ("6.13", "yes: the whole table of 2097152 bytes against 2^21"),
        ):
            _, found = self.steps("-m", PC2, "-k", kernel)
            self.assertEqual(next(iter(found.values()))["huge pages"], answer)

    def test_halving_is_said(self):
        _, found = self.steps("-m", "x86-64 ram=4T", "-k", "5.2", "-c", "hashdist=0")
        (steps,) = [steps for line, steps in found.items() if line.startswith("Mount-cache")]
        self.assertRegex(steps["halved"], r"^1 ")


class Compare(Plan):
    def test_is_two_plans_side_by_side(self):
        base = ("-m", BIG2, "-k", "6.1", "-c", "quiet")
        one = json.loads(plan("--json", *base).out)
        other = json.loads(plan("--json", *base, "--add", "hashdist=0").out)
        sums = [sum(row["translations"] for row in p["tables"]) for p in (one, other)]
        result = plan(*base, "--compare", "hashdist=0")
        self.assert_status(result, 0)
        self.assertNotEqual(*sums)
        self.assertTrue(
            result.out.endswith(
                f"\ntranslations  {sums[0]} -> {sums[1]}\nhashdist      on -> off\n"
                "added         hashdist=0\n"
            ),
            result,
        )
        table = result.out.split("\n\n")[0].split("\n")[1:]
        self.assertEqual(len(table), len(one["tables"]))
        for line, left, right in zip(table, one["tables"], other["tables"]):
            self.assertTrue(line.startswith(left["table"] + " "), line)
            kinds = re.findall(r"linear|vmalloc hugepage|vmalloc", line)
            self.assertEqual(kinds, [left["mapping"], right["mapping"]])
            pages = [int(n) for n in re.findall(r"(\d+) x ", line)]
            self.assertEqual(sum(pages), left["translations"] + right["translations"])

    def test_in_json_is_the_other_plan_in_full(self):
        base = ("-m", BIG2, "-k", "6.1")
        found = json.loads(plan("--json", *base, "--compare", "hashdist=0").out)
        other = found.pop("compared")
        self.assertEqual(found, json.loads(plan("--json", *base).out))
        alone = json.loads(plan("--json", *base, "--add", "hashdist=0").out)
        self.assertEqual(other["tables"], alone["tables"])

    def test_comes_on_top_of_add(self):
        base = ("-m", BIG2, "-k", "6.1", "--add", "hashdist=0")
        found = json.loads(plan("--json", *base, "--compare", "hashdist=1").out)
        self.assertIs(found["hashdist"]["value"], False)
        self.assertIs(found["compared"]["hashdist"]["value"], True)


class CommandLine(Plan):
    def cmdline(self, *words):
        return self.made(PC2, "6.1", *words)["cmdline"]

    def test_add_goes_behind_it_and_before_the_double_dash(self):
        self.assertEqual(self.cmdline("-c", "quiet", "-a", "hashdist=0"), "quiet hashdist=0")
        found = self.cmdline("-c", "quiet -- single", "-a", "hashdist=0")
        self.assertEqual(found.split(" -- ")[0], "quiet hashdist=0")
        words = ("-c", "quiet -- single", "-a", "hashdist=0")
        self.assertIs(self.made(PC2, "6.1", *words)["hashdist"]["value"], False)

    def test_add_goes_before_a_double_dash_at_either_end(self):
        for cmdline in ("quiet --", "--", "-- single", "quiet --  single"):
            with self.subTest(cmdline=cmdline):
                found = self.made(PC2, "6.1", "-c", cmdline, "-a", "hashdist=0")
                self.assertIs(found["hashdist"]["value"], False)

    def test_of_a_log_may_be_kept_added_to_or_replaced(self):
        log = self.file("log", Machine("6.1.0-44-amd64", nodes=[1024, 1024],
                                       cmdline="hashdist=0").log_text())  # fmt: skip
        for words, value in (
            ((), False),
            (("--add", "hashdist=1"), True),
            (("--cmdline", ""), True),
            (("--cmdline", "hashdist=0"), False),
        ):
            with self.subTest(words=words):
                result = plan("--log", log, "--json", *words)
                self.assert_status(result, 0)
                self.assertIs(json.loads(result.out)["hashdist"]["value"], value)


class EarlyAll(Plan):
    def test_takes_the_tables_that_the_change_left_for_later_from_the_boot_allocator(self):
        machine = "x86-64 ram=4T cpus=512"
        plain, early = self.rows(machine, "6.12"), self.rows(machine, "6.12", "", "--early-all")
        self.assertEqual(list(plain), list(early))
        self.assertEqual(plain["mount"]["mapping"], "vmalloc hugepage")
        for key, row in early.items():
            self.assertEqual((row["mapping"], row["early"]), ("linear", True), key)
            self.assertEqual(row["entries"], plain[key]["entries"], key)

    def test_leaves_distributed_tables_as_they_are(self):
        wanted = plan("-m", BIG2, "-k", "6.12", "--json").out
        self.assertEqual(plan("-m", BIG2, "-k", "6.12", "--json", "--early-all").out, wanted)


if __name__ == "__main__":
    support.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lab's pure parts, the facts kept of real boots, and the comparing code. Boots nothing."""

import copy
import gzip
import io
import os
import stat
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import archive  # noqa: E402
import compare  # noqa: E402
import lab  # noqa: E402
import matrix  # noqa: E402

G = 1 << 30


class Sources(unittest.TestCase):
    def test_one_line_keeps_options_and_drops_comments_and_media(self):
        text = (
            "# deb http://a.example/debian bookworm main\n"
            "deb [arch=amd64,i386 signed-by=/k.gpg] https://a.example/debian bookworm main contrib # x\n"
            "deb-src http://a.example/debian bookworm main\n"
            "deb cdrom:[Debian]/ bookworm main\n"
            "deb http://a.example/debian bookworm-updates main\n"
        )
        first, second = archive.parse_one_line(text)
        self.assertEqual(first.uri, "https://a.example/debian")
        self.assertEqual(first.components, ("main", "contrib"))
        self.assertEqual(first.options, (("Architectures", "amd64 i386"), ("Signed-By", "/k.gpg")))
        self.assertEqual((second.suite, second.options), ("bookworm-updates", ()))

    def test_deb822_multiplies_suites_and_keeps_an_inline_key(self):
        text = (
            "# comment\nTypes: deb deb-src\nURIs: http://a.example/debian\n"
            "Suites: bookworm bookworm-updates\nComponents: main\nSigned-By:\n -----BEGIN\n .\n key\n"
            "\nEnabled: no\nTypes: deb\nURIs: http://off.example/debian\nSuites: sid\nComponents: main\n"
            "\n\nTypes: deb-src\nURIs: http://src.example/debian\nSuites: sid\nComponents: main\n"
        )
        got = archive.parse_deb822(text)
        self.assertEqual([s.suite for s in got], ["bookworm", "bookworm-updates"])
        self.assertEqual(got[0].options, (("Signed-By", "\n -----BEGIN\n .\n key"),))
        self.assertIn("Signed-By: \n -----BEGIN\n .\n key\n", archive.render_sources(got[:1]))

    def test_another_suite_at_the_same_address_the_plain_one_first(self):
        mine = [
            archive.Source("http://a.example/debian-security", "bookworm-security", ("main",)),
            archive.Source("http://a.example/debian", "bookworm", ("main", "contrib"), (("Trusted", "no"),)),
            archive.Source("http://a.example/debian", "bookworm-backports", ("main",)),
            archive.Source("http://other.example/apt", "nodistro", ("main",)),
            archive.Source("http://a.example/debian", "bookworm", ("non-free",)),
        ]
        got = archive.sources_for("trixie", mine)
        self.assertEqual([(s.uri, s.suite) for s in got], [
            ("http://a.example/debian", "trixie"),
            ("http://a.example/debian-security", "trixie-security"),
        ])  # fmt: skip
        self.assertEqual(got[0].options, (("Trusted", "no"),))
        self.assertEqual([s.suite for s in archive.sources_for("sid", mine)], ["sid"])
        self.assertEqual(archive.sources_for("sid", mine[3:4]), [])

    def test_a_whole_directory(self):
        with tempfile.TemporaryDirectory() as tmp:
            d = Path(tmp) / "sources.list.d"
            d.mkdir()
            (d / "a.list").write_text("deb http://a.example/debian sid main\n")
            (d / "b.sources").write_text("Types: deb\nURIs: http://b.example/\nSuites: sid\nComponents: main\n")
            (d / "c.list.disabled").write_text("deb http://c.example/debian sid main\n")
            self.assertEqual([s.uri[7] for s in archive.system_sources(tmp)], ["a", "b"])

    def test_without_a_debian_source_fetching_is_a_skip(self):
        with tempfile.TemporaryDirectory() as tmp, mock.patch.dict(os.environ, XDG_CACHE_HOME=tmp):
            with self.assertRaises(lab.Skip):
                lab.fetch("6.1", sources=[])


def package(name, version, size=20 << 20):
    return f"Package: {name}\nVersion: {version}\nSize: {size}\n"


class Packages(unittest.TestCase):
    def test_names_of_images(self):
        for name, want in {
            "linux-image-6.1.0-57-cloud-amd64": ("6.1.0-57-cloud-amd64", "cloud", False),
            "linux-image-6.1.0-57-amd64-unsigned": ("6.1.0-57-amd64", "generic", True),
            "linux-image-5.10.0-46-rt-amd64": ("5.10.0-46-rt-amd64", "rt", False),
            "linux-image-6.12.117+deb13-cloud-amd64": ("6.12.117+deb13-cloud-amd64", "cloud", False),
            "linux-binary-7.2.13+deb14-cloud-amd64": ("7.2.13+deb14-cloud-amd64", "cloud", False),
            "linux-binary-unsigned-7.2.13+deb14-rt-amd64": ("7.2.13+deb14-rt-amd64", "rt", True),
            "linux-image-6.1.0-57-amd64-dbg": None,
            "linux-image-amd64": None,
            "linux-image-cloud-amd64": None,
            "linux-image-6.1-cloud-amd64": ("6.1-cloud-amd64", "cloud", False),
            "linux-image-6.1.0-57-arm64": None,
            "linux-headers-6.1.0-57-cloud-amd64": None,
        }.items():
            self.assertEqual(lab.parse_image_name(name), want, name)

    def test_names_of_images_for_arm64(self):
        for name, want in {
            "linux-image-6.1.0-57-arm64": ("6.1.0-57-arm64", "generic", False),
            "linux-image-6.1.0-57-cloud-arm64-unsigned": ("6.1.0-57-cloud-arm64", "cloud", True),
            "linux-image-6.12.118+deb13-arm64-16k": ("6.12.118+deb13-arm64-16k", "16k", False),
            "linux-image-6.12.118+deb13-arm64-16k-dbg": None,
            "linux-image-6.1.0-57-amd64": None,
            "linux-image-arm64-16k": None,
        }.items():
            self.assertEqual(lab.parse_image_name(name, "arm64"), want, name)

    def test_versions_order_as_in_dpkg(self):
        rising = ["6.1.9-1", "6.1.176-1~deb11u1", "6.1.176-1", "6.1.192-2", "6.1.192-10", "1:0.1-1"]
        self.assertEqual(sorted(reversed(rising), key=lab.version_key), rising)

    def test_newest_signed_image_of_the_series_is_chosen(self):
        text = "\n".join([
            package("linux-image-6.1.0-56-cloud-amd64", "6.1.192-2"),
            package("linux-image-6.1.0-57-cloud-amd64-unsigned", "6.1.192-3"),
            package("linux-image-6.1.0-57-cloud-amd64", "6.1.192-3"),
            package("linux-image-6.1.0-57-amd64", "6.1.192-3"),
            package("linux-image-6.12.117+deb12-cloud-amd64", "6.12.117-1~deb12u1"),
            package("linux-image-cloud-amd64", "6.1.192-3", 1500),
        ])  # fmt: skip
        found = lab.parse_packages(text)
        got = lab.choose_package(found, lab.SERIES["6.1"].version, "cloud")
        self.assertEqual(got.name, "linux-image-6.1.0-57-cloud-amd64")
        self.assertEqual(lab.choose_package(found, r"6\.1\.", "generic").release, "6.1.0-57-amd64")
        self.assertIsNone(lab.choose_package(found, r"5\.10\.", "cloud"))

    def test_an_empty_shell_is_no_image(self):
        found = lab.parse_packages("\n".join([
            package("linux-image-7.2.13+deb14-cloud-amd64", "7.2.13-1", 1916),
            package("linux-binary-7.2.13+deb14-cloud-amd64", "7.2.13-1", 13717736),
        ]))  # fmt: skip
        got = lab.choose_package(found, lab.SERIES["7.x"].version, "cloud")
        self.assertEqual(got.name, "linux-binary-7.2.13+deb14-cloud-amd64")


class Shapes(unittest.TestCase):
    def numa(self, memory, nodes, cpus, max_cpus=None):
        args = lab.shape_arguments(lab.parse_size(memory), lab.parse_nodes(nodes), cpus, max_cpus)
        return [a for a, before in zip(args[1:], args) if before == "-numa"]

    def test_sizes(self):
        self.assertEqual([lab.parse_size(t) for t in ("2G", "512M", "1100", "1GiB")],
                         [2 * G, G // 2, 1100 << 20, G])  # fmt: skip
        for bad in ("", "2X", "G", "-1G", "1.5G"):
            with self.assertRaises(lab.LabError):
                lab.parse_size(bad)

    def test_without_nodes_the_machine_tells_of_none(self):
        self.assertEqual(self.numa("2G", "", 2), [])

    def test_even_unequal_memoryless_and_without_cpu(self):
        self.assertEqual(self.numa("2G", "1G,1G", 2), [
            "node,nodeid=0,cpus=0,memdev=mem0", "node,nodeid=1,cpus=1,memdev=mem1"])  # fmt: skip
        self.assertEqual(self.numa("2G", "1536M,512M", 4), [
            "node,nodeid=0,cpus=0-1,memdev=mem0", "node,nodeid=1,cpus=2-3,memdev=mem1"])  # fmt: skip
        self.assertEqual(self.numa("2G", "2G,0", 2), [
            "node,nodeid=0,cpus=0,memdev=mem0", "node,nodeid=1,cpus=1"])  # fmt: skip
        self.assertEqual(self.numa("2G", "1G,1G/nocpu", 2), [
            "node,nodeid=0,cpus=0-1,memdev=mem0", "node,nodeid=1,memdev=mem1"])  # fmt: skip

    def test_possible_cpus_all_have_a_node(self):
        self.assertEqual(lab.spread_cpus(8, lab.parse_nodes("1G,1G/nocpu,1G,1G")),
                         [[0, 1, 2], [], [3, 4, 5], [6, 7]])  # fmt: skip

    def test_nodes_must_add_up(self):
        for memory, nodes in (("4G", "1G,1G"), ("2G", "1G/nocpu,1G/nocpu"), ("2G", "1G,1G/cpu")):
            with self.assertRaises(lab.LabError):
                self.numa(memory, nodes, 2)

    def test_matrix_lines_share_what_the_star_says(self):
        boots = dict(lab.parse_matrix(
            "# all\n*: --run 'echo a b' --kernel 6.12\n"
            "one: --memory 3G   # comment\ntwo: --nodes 1G,512M --kernel 6.1 --append 'hashdist=0 a'\n"
        ))  # fmt: skip
        self.assertEqual((boots["one"].memory, boots["one"].kernel), ("3G", "6.12"))
        self.assertEqual((boots["two"].memory, boots["two"].append), ("1536M", "hashdist=0 a"))
        self.assertEqual(boots["two"].run, [("echo a b", False)])
        self.assertEqual(lab.parse_matrix('{"x": ["--nodes", "1G,1G"]}')[0][1].memory, "2G")
        for bad in ("a --kernel 6.1", "../x: --memory 1G", "a: --memory 1G\na: --memory 2G"):
            with self.assertRaises(lab.LabError):
                lab.parse_matrix(bad)

    def test_each_architecture_has_its_emulator_console_and_port(self):
        def argv(**kwargs):
            kernel = lab.Kernel("6.1", "cloud", "p", "v", "r", Path("/k"))
            return lab.qemu_arguments(lab.Guest(**kwargs), kernel, "/i", "/console", "/results")

        native, arm = argv(append="a=b"), argv(arch="arm64", nodes="1G,1G")
        self.assertEqual(native[0], "qemu-system-x86_64")
        self.assertIn("console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check a=b", native)
        self.assertEqual(native.count("-serial"), 2)
        self.assertEqual(arm[0], "qemu-system-aarch64")
        self.assertIn("console=ttyAMA0 quiet loglevel=1 panic=-1 no_timer_check", arm)
        self.assertIn("pci-serial,chardev=results", arm)
        self.assertIn("node,nodeid=1,cpus=1,memdev=mem1", arm)
        with self.assertRaises(lab.LabError):
            lab.make_initramfs([("/bin/ls", None)], busybox=lab.shutil.which("busybox") or "/bin/ls", arch="arm64")

    def test_runs_keep_their_order(self):
        args = lab.guest_parser().parse_args(["--run", "a", "--run-as-nobody", "b", "--run", "c"])
        self.assertEqual(args.run, [("a", False), ("b", True), ("c", False)])


class Guests(unittest.TestCase):
    def test_cpio_is_aligned_and_makes_parents_once(self):
        c = lab.Cpio()
        c.file("/a/b/c", b"hello", 0o755)
        c.file("/a/b/d", b"")
        data = c.bytes()
        self.assertEqual(len(data) % 4, 0)
        names, at = [], 0
        while at < len(data):
            self.assertEqual(data[at : at + 6], b"070701")
            field = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
            mode, size, name_size = field[1], field[6], field[11]
            names.append((data[at + 110 : at + 109 + name_size].decode(), stat.S_IFMT(mode)))
            at += -(-(110 + name_size) // 4) * 4 + -(-size // 4) * 4
        self.assertEqual(names, [("a", stat.S_IFDIR), ("a/b", stat.S_IFDIR), ("a/b/c", stat.S_IFREG),
                                 ("a/b/d", stat.S_IFREG), ("TRAILER!!!", 0)])  # fmt: skip

    def test_a_dynamic_program_brings_loader_and_libraries(self):
        needs = lab.shared_libraries(os.path.realpath("/bin/ls"))
        self.assertTrue(any("ld-linux" in n for n in needs), needs)
        self.assertTrue(any("libc.so" in n for n in needs), needs)

    def test_results_survive_a_cut_and_cannot_leave_their_directory(self):
        def part(**files):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w") as t:
                for name, text in files.items():
                    info = tarfile.TarInfo(name.replace("__", "/"))
                    info.size = len(text)
                    t.addfile(info, io.BytesIO(text))
            return gzip.compress(out.getvalue())

        raw = part(dmesg=b"one") + part(sub__x=b"two", **{"..__evil": b"3"}) + part(cut=os.urandom(9999))[:5000]
        with tempfile.TemporaryDirectory() as tmp:
            into = Path(tmp) / "in"
            into.mkdir()
            lab.unpack_results(raw, into)
            self.assertEqual((into / "dmesg").read_bytes(), b"one")
            self.assertEqual((into / "sub" / "x").read_bytes(), b"two")
            self.assertFalse((Path(tmp) / "evil").exists())
            self.assertFalse((into / "cut").exists())

    def test_skips_can_be_made_failures(self):
        for value, want in (("", archive.SKIP_STATUS), ("1", 1)):
            with mock.patch.dict(os.environ, HASHDIST_REQUIRE_ALL=value), mock.patch("builtins.print"):
                with self.assertRaises(SystemExit) as end:
                    lab.skip("nothing here")
            self.assertEqual(end.exception.code, want)


DMESG = """\
[    0.000000] Dentry cache hash table entries: 262144 (order: 9, 2097152 bytes, vmalloc)
[    0.000000][    T0] Inode-cache hash table entries: 131072 (order: 8, 1048576 bytes, vmalloc)
[    0.1] VFS: Dquot-cache hash table entries: 512 (order 0, 4096 bytes)
[    0.1] UDP hash table entries: 1024 (order: 3, 32768 bytes, vmalloc)
[    0.1] UDP-Lite hash table entries: 1024 (order: 3, 32768 bytes, vmalloc)
"""
AREAS = """\
0x0000000012345678-0x0000000022345678 2101248 alloc_large_system_hash+0x1/0x2 pages=512 vmalloc N0=256 N1=256
0x0000000022345678-0x0000000032345678 1052672 alloc_large_system_hash+0x1/0x2 pages=256 vmalloc N0=128 N1=128
0x0000000032345678-0x0000000042345678   36864 alloc_large_system_hash+0x1/0x2 pages=8 vmalloc N0=8
0x0000000042345678-0x0000000052345678   36864 alloc_large_system_hash+0x1/0x2 pages=8 vmalloc N1=8
0x0000000052345678-0x0000000062345678   36864 load_module+0x1/0x2 pages=8 vmalloc N1=8
"""


def table(name, entries, size, mapping="vmalloc", **node_bytes):
    return {
        "table": name.lower(), "name": name, "entries": entries, "bytes": size, "mapping": mapping,
        "node_bytes": {k[1:]: v for k, v in node_bytes.items()} or None, "source": "log",
    }  # fmt: skip


GOOD = {
    "hashdist": {"value": True},
    "tables": [
        table("Dentry cache", 262144, 2097152, n0=1048576, n1=1048576),
        table("Inode-cache", 131072, 1048576, n0=524288, n1=524288),
        table("UDP", 1024, 32768, n0=0, n1=32768),
        table("UDP-Lite", 1024, 32768),
    ],
}


class Comparing(unittest.TestCase):
    def setUp(self):
        self.lines = compare.log_tables(DMESG)
        self.report = copy.deepcopy(GOOD)

    def test_lines_of_all_wordings(self):
        self.assertEqual([line.name for line in self.lines],
                         ["Dentry cache", "Inode-cache", "Dquot-cache", "UDP", "UDP-Lite"])  # fmt: skip
        new = compare.log_tables(
            "[    0.5] futex hash table entries: 256 (16384 bytes on 2 NUMA nodes, total 32 KiB, linear).\n"
            "[    0.5] VFS: Dquot-cache hash table entries: 512 (4096 bytes)\n"
            "[    0.5] x hash table entries: 2 (order: -5, 192 bytes, vmalloc hugepage)\n"
        )
        self.assertEqual(new, [("futex", 256, 16384, 2, "linear"), ("Dquot-cache", 512, 4096, 0, None),
                               ("x", 2, 192, 0, "vmalloc hugepage")])  # fmt: skip

    def test_a_true_report_passes(self):
        self.assertEqual(compare.compare_log(self.report, self.lines), [])
        self.assertEqual(compare.compare_areas(self.report, AREAS), [])
        self.assertEqual(compare.compare_hashdist(self.report, True), [])
        self.assertEqual(compare.compare_unprivileged(self.report, self.lines), [])

    def test_disk_quota_may_be_reported_or_not(self):
        for mapping, wrong in (("linear", 0), (None, 0), ("vmalloc", 1)):
            self.report["tables"][4:] = [table("Dquot-cache", 512, 4096, mapping)]
            self.assertEqual(len(compare.compare_log(self.report, self.lines)), wrong, mapping)
            self.assertEqual(len(compare.compare_unprivileged(self.report, self.lines)), wrong, mapping)

    def test_every_lie_is_found(self):
        t = self.report["tables"]
        t[0]["entries"] //= 2
        t[1]["mapping"] = "linear"
        t[3]["name"] = "UDP Lite"
        wrong = compare.compare_log(self.report, self.lines)
        self.assertEqual(len(wrong), 4, wrong)
        self.assertEqual(len(compare.compare_unprivileged(self.report, self.lines)), 3)
        self.assertTrue(compare.compare_hashdist(self.report, False))

    def test_node_bytes_null_only_where_the_book_is_ambiguous(self):
        self.report["tables"][2]["node_bytes"] = None
        self.assertEqual(compare.compare_areas(self.report, AREAS), [])
        self.report["tables"][0]["node_bytes"] = None
        self.assertEqual(len(compare.compare_areas(self.report, AREAS)), 1)

    def test_one_area_serves_one_table(self):
        self.report["tables"][3]["node_bytes"] = {"1": 32768}
        self.assertEqual(len(compare.compare_areas(self.report, AREAS)), 1)
        self.report["tables"][3]["node_bytes"] = {"0": 32768}
        self.assertEqual(compare.compare_areas(self.report, AREAS), [])

    def test_missing_areas_and_lopsided_claims(self):
        self.report["tables"][1]["node_bytes"] = {"0": 1048576}
        self.assertEqual(len(compare.compare_areas(self.report, AREAS)), 1)
        self.assertEqual(len(compare.compare_areas(GOOD, "")), 3)


# ---------------------------------------------------------------- the facts kept of real boots


def plan_of(facts, **changes):
    """What a perfect plan would say of a boot, made from its own facts."""
    page = facts.shape["page_kib"] << 10
    areas = copy.deepcopy(matrix.areas_of(facts))
    tables = []
    for line in facts.lines:
        got = compare.log_tables(line)[0]
        if got.mapping is None or got.nodes:
            continue
        nodes = {}
        if got.mapping != "linear":
            pages = -(-got.bytes // page)
            if got.mapping == "vmalloc hugepage" and not areas[pages]:
                pages = -(-pages // 512) * 512
            nodes = areas[pages].pop(0)
        tables.append({"table": got.name.lower(), "line": line, "exact": True, "bytes": got.bytes,
                       "entries": got.entries, "mapping": got.mapping,
                       "node_bytes": {str(n): p * page for n, p in nodes.items()}})  # fmt: skip
    value = any(t["line"].startswith("Dentry") and t["mapping"] != "linear" for t in tables)
    return {"hashdist": {"value": value}, "tables": tables, **changes}


class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.facts = matrix.recorded()
        cls.by_name = {f.name: f for f in cls.facts}

    def test_every_boot_of_the_matrix_is_there_and_small(self):
        boots = matrix.matrix()
        self.assertEqual(sorted(self.by_name), sorted(n for n, _ in boots))
        for name, guest in boots:
            shape = self.by_name[name].shape
            for key in ("kernel", "arch", "memory", "nodes", "append", "cpus", "max_cpus"):
                self.assertEqual(shape[key], getattr(guest, key), f"{name}: {key}; record it again")
        size = sum(f.stat().st_size for f in matrix.RECORDED.rglob("*") if f.is_file())
        self.assertLess(size, matrix.MOST_BYTES)
        self.assertEqual(len(matrix.matrix(quick=True)), 8)

    def test_logs_parse_and_agree_with_the_book_of_areas(self):
        for f in self.facts:
            with self.subTest(f.name):
                self.assertRegex("\n".join(f.log[:2]), "Linux version " + matrix.re.escape(f.shape["release"]))
                lines = compare.log_tables("\n".join(f.log))
                self.assertGreaterEqual(len(lines), 11)
                self.assertEqual(len(lines), len(f.lines))
                page = f.shape["page_kib"] << 10
                areas = matrix.areas_of(f)
                for pages, group in areas.items():
                    for counts in group:
                        self.assertEqual(sum(counts.values()), pages)
                        self.assertLessEqual(set(counts), set(matrix.parse_list(f.shape["nodes_memory"])))
                for line in lines:
                    if (line.mapping or "linear") != "linear" and not line.nodes:
                        group = areas[-(-line.bytes // page)] or areas[-(-line.bytes // (2 << 20)) * (2 << 20) // page]
                        self.assertTrue(group, f"no area for {line}")
                        group.pop(0)
                # what is left are lists of pages, of 8 bytes each, of the larger areas
                left = sum(pages for pages, group in areas.items() for _ in group)
                have = sum(-(-p * 8 // page) for p, g in matrix.areas_of(f).items() for _ in g if p * 8 > page)
                self.assertEqual(left, have)

    def test_the_switch_follows_nodes_with_memory_and_the_command_line(self):
        for f in self.facts:
            several = len(matrix.parse_list(f.shape["nodes_memory"])) > 1
            word = dict(w.split("=", 1) for w in f.shape["append"].split() if "=" in w).get("hashdist")
            want = {"0": False, "foo": False, "1": True}.get(word, several)
            self.assertEqual("vmalloc" in f.lines[0], want, f.name)

    def test_a_perfect_plan_passes_and_every_lie_is_found(self):
        for f in self.facts:
            wrong, lines, placed, rotated = matrix.compare(f, plan_of(f))
            self.assertEqual((wrong, rotated), ([], 0), f.name)
            self.assertGreaterEqual(lines, 11)
        f = self.by_name["6.1-3n-12G"]
        plan = plan_of(f)
        self.assertEqual(matrix.compare(f, plan)[2], len(plan["tables"]))
        t = {t["table"]: t for t in plan["tables"]}
        t["dentry cache"]["line"] = t["dentry cache"]["line"].replace("hugepage", "").replace(" )", ")")
        nodes = t["inode-cache"]["node_bytes"]
        nodes["0"], nodes["1"], nodes["2"] = nodes["2"], nodes["0"], nodes["1"]  # another first node
        t["tcp bind"]["node_bytes"] = {"0": 2097152}
        plan["tables"] = [x for x in plan["tables"] if x["table"] != "udp-lite"]
        plan["tables"].append(dict(t["udp"], line=t["udp"]["line"].replace("UDP", "DCCP")))
        t["udp"].update(line=t["udp"]["line"].replace("8192", "4096", 1), entries=4096, entries_high=8192, exact=False)
        plan["hashdist"]["value"] = False
        wrong, _, _, rotated = matrix.compare(f, plan)
        self.assertEqual(sorted(d.what for d in wrong), [
            "DCCP", "Dentry cache", "TCP bind: nodes", "UDP-Lite", "UDP: uncertain", "hashdist"])  # fmt: skip
        self.assertEqual(rotated, 1)

    def test_differences_known_by_name_do_not_count_and_must_be_met(self):
        f = self.by_name["5.10-2G"]
        plan = plan_of(f)
        plan["tables"].append({"table": "x", "line": "X hash table entries: 1 (order: 0, 8 bytes, linear)"})
        for known, want, text in (((), 1, "X"), ((("5.10-*", "X", "because"),), 0, "1 known"),
                                  ((("5.10-*", "X", "because"), ("6.1-*", "Y", "gone")), 0, "not met")):  # fmt: skip
            out = io.StringIO()
            with mock.patch.object(matrix, "KNOWN", known), mock.patch.object(matrix, "ask", lambda *_: plan), \
                    mock.patch("sys.stdout", out):  # fmt: skip
                self.assertEqual(matrix.check([f], "none"), want)
            self.assertIn(text, out.getvalue())

    def test_no_plan_is_a_failure(self):
        for binary in ("/bin/false", "/bin/true", "/nonexistent/x"):
            with mock.patch("sys.stdout", io.StringIO()):
                self.assertEqual(matrix.check(self.facts[:1], binary), 1, binary)

    def test_machines_in_words(self):
        words = {n: matrix.machine_words(f.shape) for n, f in self.by_name.items()}
        self.assertEqual(words["6.1-2n-lopsided"], "x86-64 node:0=1792M node:1=256M cpus=2")
        self.assertEqual(words["6.1-2n-memoryless"], "x86-64 node:0=2G node:1=0 cpus=2")
        self.assertEqual(words["6.12-2n-nocpu"], "x86-64 node:0=1G node:1=1G/nocpu cpus=2")
        self.assertEqual(words["6.1-2n-maxcpus8"], "x86-64 node:0=1G node:1=1G cpus=8")
        self.assertEqual(words["7.x-8G"], "x86-64 ram=8G cpus=4")
        self.assertEqual(words["arm64-6.12-16k-2n"], "arm64 node:0=1G node:1=1G cpus=2 page=16K")


if __name__ == "__main__":
    unittest.main()

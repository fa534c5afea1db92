#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
lab.py - boot real Debian kernels in an emulator, bring back what the guest saw

A machine of any shape (memory, nodes, CPUs) without owning it and without root:
QEMU emulates it in software, a Debian kernel boots on it (x86-64, or arm64 for
log and books only), runs commands and programs from here, and its own log and books come back as files with fixed
names. Nothing else is trusted for what a kernel does; see docs/kernels-lab.md.

    kernels come from the Debian archive this system itself uses, through apt,
    with the system's keys and settings but private state: the system's own apt
    is never changed. They are kept in ~/.cache/hashdist/kernels/.

    results come back over a second serial port, so kernel messages on the first
    cannot damage them, part by part, so a hanging command loses only itself.

Exit status of the command line: 0 fine, 1 failed, 2 wrong usage, 77 cannot be
done here (no emulator, no network, suite gone); HASHDIST_REQUIRE_ALL=1 turns 77
into 1. Standard library only.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import functools
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zlib
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import archive  # noqa: E402
from archive import SKIP_STATUS, Apt, Skip, download, skip, sources_for, system_sources  # noqa: E402
from archive import Failure as LabError  # noqa: E402

CONSOLE_TAIL = 40


# ---------------------------------------------------------------- where kernels come from


@dataclasses.dataclass(frozen=True)
class Series:
    name: str  # what one asks for
    suite: str  # the Debian suite that carries it
    version: str  # what its packages' versions look like


SERIES = {
    s.name: s
    for s in (
        Series("5.10", "bullseye", r"5\.10\."),
        Series("6.1", "bookworm", r"6\.1\."),
        Series("6.12", "trixie", r"6\.12\."),
        Series("7.x", "sid", r"7\."),
    )
}

FLAVOURS = ("cloud", "generic", "rt", "16k")
@dataclasses.dataclass(frozen=True)
class Arch:
    """What differs between emulated architectures."""

    name: str  # what one asks for
    debian: str  # what Debian calls it
    emulator: str
    emulator_package: str
    machine: str
    cpu: str
    console: str  # in the guest
    port: str  # in the guest, for results
    foreign: bool  # programs of this system do not run there, and its BusyBox neither
    needed: tuple  # configuration that a guest of ours cannot do without, all built in


_NEEDED = (
    "CONFIG_NUMA", "CONFIG_DEVTMPFS", "CONFIG_PROC_FS", "CONFIG_SYSFS", "CONFIG_TMPFS",
    "CONFIG_BLK_DEV_INITRD",
)  # fmt: skip

ARCHES = {
    a.name: a
    for a in (
        Arch("x86-64", "amd64", "qemu-system-x86_64", "qemu-system-x86", "pc", "max", "ttyS0", "ttyS1",
             False, _NEEDED + ("CONFIG_ACPI_NUMA", "CONFIG_SERIAL_8250_CONSOLE")),
        # One port is the machine's own, the other a card: its driver must not be a module.
        Arch("arm64", "arm64", "qemu-system-aarch64", "qemu-system-arm", "virt", "cortex-a76", "ttyAMA0",
             "ttyS0", True, _NEEDED + ("CONFIG_SERIAL_AMBA_PL011_CONSOLE", "CONFIG_SERIAL_8250_PCI")),
    )
}  # fmt: skip
NATIVE = "x86-64"


# ---------------------------------------------------------------- which package it is


@dataclasses.dataclass(frozen=True)
class Package:
    name: str
    version: str
    size: int
    flavour: str
    release: str  # what uname -r says
    unsigned: bool


_IMAGE = re.compile(
    r"linux-(?P<what>image|binary)(?P<u1>-unsigned)?-(?P<release>[0-9]+\.[0-9][0-9A-Za-z.+~]*"
    r"(?:-[0-9][0-9A-Za-z.]*)?(?P<flavour>-cloud|-rt)?-(?P<arch>amd64|arm64)(?P<pages>-16k)?)"
    r"(?P<u2>-unsigned)?"
)


def parse_image_name(name, arch="amd64"):
    """(release, flavour, unsigned) of a bootable image's package, else None.

    Up to 6.x the image is in linux-image-*; later linux-image-* is an empty
    shell and the image is in linux-binary-*: the size tells, see choose_package().
    """
    m = _IMAGE.fullmatch(name)
    if not m or m["arch"] != arch or (m["flavour"] and m["pages"]):
        return None
    flavour = (m["flavour"] or m["pages"] or "-generic")[1:]
    return m["release"], flavour, bool(m["u1"] or m["u2"])


def version_key(version):
    """Orders Debian versions as dpkg does: numbers by value, '~' before the end."""
    epoch, colon, rest = version.rpartition(":")
    upstream, _, revision = rest.partition("-") if rest.count("-") < 2 else rest.rpartition("-")

    def key(part):
        out = []
        for text, number in re.findall(r"([^0-9]*)([0-9]*)", part):
            if not text and not number:
                continue
            weights = [-1 if c == "~" else ord(c) if c.isalpha() else ord(c) + 256 for c in text]
            out.append((tuple(weights + [0]), int(number or 0)))
        return tuple(out) + (((0,), 0),)

    return int(epoch or 0) if colon else 0, key(upstream), key(revision)


def parse_packages(text, arch="amd64"):
    """Image packages in a Packages file or in what apt-cache dumpavail prints."""
    found = []
    for stanza in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Size): (.*)$", stanza, re.M))
        parsed = parse_image_name(fields.get("Package", ""), arch)
        if parsed and "Version" in fields:
            release, flavour, unsigned = parsed
            size = int(fields.get("Size") or 0)
            found.append(
                Package(fields["Package"], fields["Version"], size, flavour, release, unsigned)
            )
    return found


def choose_package(packages, version, flavour):
    """The newest image of a flavour; signed before unsigned. None if there is none."""
    fit = [
        p for p in packages
        if p.flavour == flavour and p.size >= 1 << 20 and re.match(version, p.version)
    ]  # fmt: skip
    return max(fit, key=lambda p: (version_key(p.version), not p.unsigned), default=None)


# ---------------------------------------------------------------- fetching one


@dataclasses.dataclass(frozen=True)
class Kernel:
    series: str
    flavour: str
    package: str
    version: str
    release: str
    dir: Path
    arch: str = NATIVE

    @property
    def image(self):
        return self.dir / "vmlinuz"

    @functools.cached_property
    def config(self):
        """The build configuration as a dict; '' of an option not set is missing."""
        text = (self.dir / "config").read_text() if (self.dir / "config").exists() else ""
        return dict(re.findall(r"^(CONFIG_\w+)=(.*)$", text, re.M))


def cache_dir():
    return archive.cache_dir("kernels")


def _load(directory):
    try:
        meta = json.loads((directory / "meta.json").read_text())
        return Kernel(meta["series"], meta["flavour"], meta["package"], meta["version"],
                      meta["release"], directory, meta.get("arch", NATIVE))  # fmt: skip
    except (OSError, ValueError, KeyError):
        return None


def _cache_name(series, flavour, arch):
    return series + ("" if arch == NATIVE else f"-{arch}") + ("" if flavour == "cloud" else f"-{flavour}")


def cached(series, flavour="cloud", arch=NATIVE):
    """The kernel if it is here already, else None. Does not touch the network."""
    return _load(cache_dir() / _cache_name(series, flavour, arch))


def _extract(deb, wanted, into):
    """Copies the files of a .deb whose names match: {pattern: new name}. Returns names found."""
    found = set()
    tar = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE)
    with tar, tarfile.open(fileobj=tar.stdout, mode="r|") as archive:
        for member in archive:
            for pattern, name in wanted.items():
                if member.isfile() and re.fullmatch(pattern, member.name):
                    with archive.extractfile(member) as src, open(into / name, "wb") as dst:
                        shutil.copyfileobj(src, dst)
                    found.add(name)
    return found


_FILES = {
    r"(\./)?(usr/)?(boot|lib/modules/[^/]+)/vmlinuz[^/]*": "vmlinuz",
    r"(\./)?(usr/)?(boot/config-[^/]+|lib/modules/[^/]+/config)": "config",
    r"(\./)?(usr/)?(boot/System\.map-[^/]+|lib/modules/[^/]+/System\.map)": "System.map",
}


def _fetch_into(series, flavour, arch, sources, new):
    with tempfile.TemporaryDirectory(prefix="hashdist-apt-") as tmp:
        apt = Apt(Path(tmp), sources, arch.debian)
        update = apt.run("apt-get", "-q", "update")
        packages = parse_packages(apt.run("apt-cache", "dumpavail").stdout, arch.debian)
        package = choose_package(packages, series.version, flavour)
        if not package:
            if not packages:
                raise Skip(f"kernel {series.name}: suite {series.suite} cannot be had: {archive.why(update.stdout)}")
            newest = choose_package(packages, r"", flavour)
            why = f"its newest is {newest.version}" if newest else "nor any other"
            raise Skip(f"suite {series.suite} has no {series.name} kernel ({arch.name} {flavour}): {why}")
        [deb] = download(apt, f"{package.name}={package.version}")
        found = _extract(deb, _FILES, new)
        if "config" not in found:
            # linux-binary-* holds nothing but the image
            with contextlib.suppress(Skip):
                [base] = download(apt, f"linux-base-{package.release}={package.version}")
                found |= _extract(base, _FILES, new)
        if "vmlinuz" not in found:
            raise LabError(f"package {package.name} {package.version} holds no image")
        if arch.foreign:
            [busybox] = download(apt, "busybox-static")
            if "busybox" not in _extract(busybox, {r"(\./)?(usr/)?bin/busybox": "busybox"}, new):
                raise LabError(f"{busybox.name} holds no BusyBox")
        (new / "meta.json").write_text(
            json.dumps(
                {
                    "series": series.name,
                    "arch": arch.name,
                    "flavour": flavour,
                    "suite": series.suite,
                    "package": package.name,
                    "version": package.version,
                    "release": package.release,
                    "deb_sha256": hashlib.sha256(deb.read_bytes()).hexdigest(),
                    "fetched": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                },
                indent=2,
            )
            + "\n"
        )


def fetch(series, flavour="cloud", refresh=False, sources=None, arch=NATIVE):
    """A kernel of the series, from the cache or from the archive. Raises Skip if neither."""
    if series not in SERIES:
        raise LabError(f"no kernel series '{series}': there are {', '.join(SERIES)}")
    have = None if refresh else cached(series, flavour, arch)
    if have:
        return have
    for tool in ("apt-get", "apt-cache", "dpkg-deb"):
        if not shutil.which(tool):
            raise Skip(f"'{tool}' is missing: kernels are fetched with Debian's tools")
    top = cache_dir()
    try:
        top.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise Skip(f"no place to keep kernels: {e}") from e
    name = _cache_name(series, flavour, arch)
    candidates = sources_for(SERIES[series].suite, system_sources() if sources is None else sources)
    if not candidates:
        raise Skip("this system has no Debian package source to take kernels from")

    def fill(attempt, new):
        _fetch_into(SERIES[series], flavour, ARCHES[arch], attempt, new)

    kernel = archive.kept(top, name, _load, fill, candidates, refresh)
    if not kernel:
        raise LabError(f"{top / name} is not readable after fetching")
    return kernel


def kernel_for(series, append="", flavour=None, arch=NATIVE):
    """Picks the flavour: the small one unless it lacks what this boot needs."""
    kernel = fetch(series, flavour or "cloud", arch=arch)
    lacking = [o for o in ARCHES[arch].needed if kernel.config and kernel.config.get(o) != "y"]
    if arch == NATIVE and "numa=fake" in append and kernel.config.get("CONFIG_NUMA_EMU") != "y":
        lacking.append("CONFIG_NUMA_EMU")
    if lacking and flavour is None:
        return kernel_for(series, append, "generic", arch)
    if lacking:
        raise LabError(f"kernel {kernel.release} lacks {', '.join(lacking)}")
    return kernel


# ---------------------------------------------------------------- the machine's shape

_UNITS = {"": 1 << 20, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_size(text):
    """'2G', '512M', '1100' (MiB) -> bytes."""
    m = re.fullmatch(r"(\d+)([KMGT]?)(?:iB|B)?", text.strip(), re.I)
    if not m:
        raise LabError(f"'{text}' is not a size like 512M or 2G")
    return int(m[1]) * _UNITS[m[2].upper()]


@dataclasses.dataclass(frozen=True)
class Node:
    memory: int  # bytes; 0 is a memoryless node
    has_cpu: bool = True


def parse_nodes(text):
    """'1G,1G/nocpu,0' -> nodes."""
    nodes = []
    for part in filter(None, (text or "").split(",")):
        size, _, mark = part.partition("/")
        if mark not in ("", "nocpu"):
            raise LabError(f"'{part}': after '/' only 'nocpu' is known")
        nodes.append(Node(parse_size(size), mark != "nocpu"))
    return nodes


def spread_cpus(cpus, nodes):
    """CPU numbers per node: in runs, as even as possible, over the nodes that may have some."""
    owners = [i for i, n in enumerate(nodes) if n.has_cpu]
    if not owners:
        raise LabError("no node may have a CPU")
    out = [[] for _ in nodes]
    for cpu in range(cpus):
        out[owners[cpu * len(owners) // cpus]].append(cpu)
    return out


def shape_arguments(memory, nodes, cpus, max_cpus=None):
    """QEMU's arguments for a shape. Without nodes, a plain machine that tells of none."""
    max_cpus = max_cpus or cpus
    args = ["-m", f"{memory >> 20}M"]
    # One socket per CPU: no cache is shared across nodes, so the kernel finds nothing odd.
    args += ["-smp", f"{cpus},maxcpus={max_cpus},sockets={max_cpus},cores=1,threads=1"]
    if not nodes:
        return args
    total = sum(n.memory for n in nodes)
    if total != memory:
        raise LabError(f"nodes have {total >> 20} MiB together, the machine {memory >> 20} MiB")
    for i, (node, its_cpus) in enumerate(zip(nodes, spread_cpus(max_cpus, nodes))):
        numa = f"node,nodeid={i}"
        if its_cpus:
            first, last = its_cpus[0], its_cpus[-1]
            numa += f",cpus={first}" + (f"-{last}" if last > first else "")
        if node.memory:
            # reserve=off: only what the guest touches costs anything here
            args += ["-object",
                     f"memory-backend-ram,id=mem{i},size={node.memory >> 20}M,reserve=off"]  # fmt: skip
            numa += f",memdev=mem{i}"
        args += ["-numa", numa]
    return args


# ---------------------------------------------------------------- what goes into the guest


class Cpio:
    """Writes an initramfs: the "newc" format, everything owned by root, no dates."""

    def __init__(self):
        self.out = io.BytesIO()
        self.ino = 0
        self.dirs = set()

    def _entry(self, name, mode, data=b"", rdev=(0, 0)):
        self.ino += 1
        encoded = name.encode() + b"\0"
        head = b"070701" + b"".join(
            b"%08X" % v
            for v in (self.ino, mode, 0, 0, 2 if stat.S_ISDIR(mode) else 1, 0, len(data),
                      0, 0, *rdev, len(encoded), 0)
        )  # fmt: skip
        for block in (head + encoded, data):
            self.out.write(block)
            self.out.write(b"\0" * (-self.out.tell() % 4))

    def directory(self, path, mode=0o755):
        path = path.strip("/")
        if path in self.dirs or not path:
            return
        self.parents(path)
        self.dirs.add(path)
        self._entry(path, stat.S_IFDIR | mode)

    def parents(self, path):
        parent = path.strip("/").rpartition("/")[0]
        if parent:
            self.directory(parent)

    def file(self, path, data, mode=0o644):
        self.parents(path)
        self._entry(path.strip("/"), stat.S_IFREG | mode, data)

    def link(self, path, target):
        self.parents(path)
        self._entry(path.strip("/"), stat.S_IFLNK | 0o777, target.encode())

    def device(self, path, major, minor, mode=0o600):
        self.parents(path)
        self._entry(path.strip("/"), stat.S_IFCHR | mode, rdev=(major, minor))

    def bytes(self):
        self._entry("TRAILER!!!", 0)
        return self.out.getvalue()


def elf_interpreter(data):
    """The dynamic loader an ELF file names, None if it needs none or is no 64-bit ELF file."""
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    phoff = int.from_bytes(data[32:40], "little")
    phsize, phnum = (int.from_bytes(data[i : i + 2], "little") for i in (54, 56))
    for at in range(phoff, phoff + phnum * phsize, phsize):
        if data[at : at + 4] == b"\x03\0\0\0":  # PT_INTERP
            offset, size = (int.from_bytes(data[at + i : at + i + 8], "little") for i in (8, 32))
            return data[offset : offset + size].rstrip(b"\0").decode()
    return None


def shared_libraries(path):
    """Every file a dynamic program needs beside itself, loader included."""
    path = Path(path)
    loader = elf_interpreter(path.read_bytes())
    is_library = not loader and ".so" in path.name
    if is_library:
        loader = elf_interpreter(Path(sys.executable).read_bytes())
    if not loader:
        return []
    out = subprocess.run([loader, "--list", str(path.resolve())], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    missing = re.findall(r"^\s*(\S+) => not found", out.stdout, re.M)
    if missing or out.returncode:
        raise LabError(f"{path}: libraries not found here: {' '.join(missing) or out.stdout.strip()}")
    found = re.findall(r"(?:=>\s+|^\s+)(/\S+) \(0x", out.stdout, re.M)
    return [loader, *(f for f in found if f != loader)]


# Read in every boot: (file or directory) as they are called in the guest. All of them end up
# below sysroot/ under their own names, so that the directory is a saved machine.
BOOKS = """
/proc/cmdline /proc/version /proc/meminfo /proc/zoneinfo /proc/vmallocinfo /proc/buddyinfo
/proc/pagetypeinfo /proc/cpuinfo /proc/iomem /proc/uptime /proc/slabinfo /proc/stat
/proc/vmstat /proc/mounts /proc/self/mountinfo /proc/filesystems
/proc/sys/fs/dentry-state /proc/sys/fs/inode-nr /proc/sys/fs/inode-state
/proc/sys/kernel/osrelease /proc/sys/kernel/dmesg_restrict /proc/sys/kernel/kptr_restrict
/proc/net/sockstat /proc/net/sockstat6 /proc/net/protocols /proc/net/snmp /etc/os-release
/sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/transparent_hugepage/defrag
/sys/kernel/mm/transparent_hugepage/shmem_enabled
/sys/devices/system/cpu/possible /sys/devices/system/cpu/present /sys/devices/system/cpu/online
""".split()
# Of these, also a copy under its last name in the result's top directory.
TOP_BOOKS = ("cmdline", "version", "meminfo", "zoneinfo", "vmallocinfo", "buddyinfo", "iomem")

_INIT = r"""#!/bin/sh
# The guest's first and only script. Everything that comes back goes to /dev/@PORT@.
[ -e /bin/mount ] || /bin/busybox --install -s /bin
export PATH=/lab:/bin:/sbin:/usr/bin:/usr/sbin HOME=/root TERM=dumb LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t devpts devpts /dev/pts 2>/dev/null
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
ip link set lo up 2>/dev/null
hostname guest
stty -F /dev/@PORT@ raw -echo 115200
exec 3>/dev/@PORT@
mkdir -p /.out
cd /.out
send() {	# all of /.out, then empty it
	tar cf - . | gzip -1 >&3
	rm -rf /.out/*
}
keep() {	# a file, under its own name
	[ -f "$1" ] || return
	mkdir -p "sysroot${1%/*}"
	cat "$1" >"sysroot$1" 2>/dev/null || rm -f "sysroot$1"
}
dmesg >dmesg
mkdir -p sysroot/var/log
cp dmesg sysroot/var/log/dmesg
for book in @BOOKS@; do keep $book; done
mkdir -p sysroot/sys/devices/system/node
for book in /sys/devices/system/node/*; do [ -d "$book" ] || keep "$book"; done
for node in /sys/devices/system/node/node*; do
	[ -d "$node" ] || continue
	for book in cpulist cpumap distance meminfo numastat vmstat; do keep "$node/$book"; done
	for book in "$node"/hugepages/*/*; do keep "$book"; done
done
for book in /sys/kernel/mm/hugepages/*/*; do keep "$book"; done
send
n=0
while [ -f /.run/$((n + 1)) ]; do
	n=$((n + 1))
	cd /lab
	if [ -f /.run/$n.nobody ]; then
		su -s /bin/sh nobody -c "PATH=$PATH; . /.run/$n" >/.out/run-$n.out 2>/.out/run-$n.err </dev/null
	else
		sh /.run/$n >/.out/run-$n.out 2>/.out/run-$n.err </dev/null
	fi
	echo $? >/.out/run-$n.status
	cd /.out
	send
done
while read -r file; do
	[ -e "$file" ] || continue
	mkdir -p "files${file%/*}"
	cp -r "$file" "files$file"
done </.get
dmesg >dmesg.end
cat /proc/uptime >complete
send
exec 3>&-	# waits until the port has sent it all
reboot -f
"""


def make_initramfs(put=(), run=(), get=(), busybox=None, arch=NATIVE):
    """The guest's whole file system. put: (path here, name there); run: (command, as nobody)."""
    arch = ARCHES[arch]
    busybox = busybox or shutil.which("busybox")
    if not busybox:
        raise Skip("'busybox' is missing (package busybox-static): guests live on it")
    data = Path(busybox).read_bytes()
    if elf_interpreter(data):
        raise Skip(f"{busybox} is not static (package busybox-static): guests live on it")
    if arch.foreign:
        applets = ["sh"]  # it cannot be asked here; the guest makes the other links
    else:
        applets = subprocess.run([busybox, "--list"], text=True, stdout=subprocess.PIPE, check=True)
        applets = applets.stdout.split()
    c = Cpio()
    for path in ("proc", "sys", "dev", "root", "etc", "lab", "bin", "sbin", "usr/bin", "usr/sbin"):
        c.directory(path)
    c.directory("tmp", 0o1777)
    c.device("dev/console", 5, 1)
    c.device("dev/null", 1, 3, 0o666)
    c.file("bin/busybox", data, 0o755)
    for applet in applets:
        if applet != "busybox":
            c.link(f"bin/{applet}", "busybox")
    c.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n")
    c.file("etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    c.file("etc/os-release", b'PRETTY_NAME="hashdist kernels lab"\nID=lab\n')
    c.file("init", _INIT.replace("@BOOKS@", " ".join(BOOKS)).replace("@PORT@", arch.port).encode(), 0o755)
    c.directory(".run")
    for n, (command, as_nobody) in enumerate(run, 1):
        c.file(f".run/{n}", command.encode() + b"\n")
        if as_nobody:
            c.file(f".run/{n}.nobody", b"")
    c.file(".get", "".join(f"{path}\n" for path in get).encode())

    libraries = {}

    def add(source, name):
        source = Path(source)
        if source.is_symlink() and name.endswith("/") is False and source.is_dir():
            c.link(name, os.readlink(source))
        elif source.is_dir():
            c.directory(name)
            for child in sorted(source.iterdir()):
                if child.is_symlink():
                    c.link(f"{name}/{child.name}", os.readlink(child))
                else:
                    add(child, f"{name}/{child.name}")
        else:
            content = source.read_bytes()
            mode = 0o755 if source.stat().st_mode & 0o111 else 0o644
            c.file(name, content, mode)
            if content[:4] == b"\x7fELF" and arch.foreign and mode == 0o755:
                raise LabError(f"{source}: programs of this system do not run on {arch.name}")
            if content[:4] == b"\x7fELF" and (mode == 0o755 or ".so" in source.name):
                for library in shared_libraries(source):
                    libraries.setdefault(library, None)

    names = set()
    for source, name in put:
        if not Path(source).exists():
            raise LabError(f"{source}: no such file to put into the guest")
        name = name or Path(source).name
        name = name if name.startswith("/") else f"/lab/{name}"
        names.add(name)
        add(source, name)
    for library in libraries:
        if library not in names:
            c.file(library, Path(library).read_bytes(), 0o755)
    return c.bytes()


# ---------------------------------------------------------------- one boot


@dataclasses.dataclass
class Guest:
    """What to boot and what to do in it."""

    kernel: str = "6.1"
    memory: str = "2G"
    nodes: str = ""
    cpus: int = 0  # 0: two, or one per node that may have some
    max_cpus: int = 0
    append: str = ""
    put: list = dataclasses.field(default_factory=list)  # (path here, name there or None)
    run: list = dataclasses.field(default_factory=list)  # (command, as nobody)
    get: list = dataclasses.field(default_factory=list)
    timeout: float = 180
    flavour: str = None  # None: cloud unless it lacks something
    arch: str = NATIVE
    machine: str = ""  # these two: what is usual for the architecture
    cpu: str = ""
    accel: str = "tcg"
    archives: list = dataclasses.field(default_factory=list)  # files: further parts of the initramfs
    qemu: list = dataclasses.field(default_factory=list)  # further arguments


@dataclasses.dataclass
class Run:
    status: int
    out: str
    err: str


@dataclasses.dataclass
class Boot:
    """What came back. All of it is also in files below `dir`."""

    dir: Path
    kernel: Kernel
    seconds: float
    runs: list

    def text(self, name):
        return (self.dir / name).read_text(errors="replace")

    @property
    def dmesg(self):
        return self.text("dmesg")


# An emulated timer on a busy host may look broken to a kernel that checks it.
BASE_APPEND = "quiet loglevel=1 panic=-1 no_timer_check"


def qemu_arguments(guest, kernel, initramfs, console, results):
    arch = ARCHES[guest.arch]
    memory, nodes = parse_size(guest.memory), parse_nodes(guest.nodes)
    cpus = guest.cpus or max(2, sum(n.has_cpu for n in nodes))
    second = ["-serial", f"file:{results}"]
    if arch.foreign:
        second = ["-chardev", f"file,id=results,path={results}", "-device", "pci-serial,chardev=results"]
    return [
        arch.emulator, "-accel", guest.accel, "-machine", guest.machine or arch.machine,
        "-cpu", guest.cpu or arch.cpu,
        "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
        *shape_arguments(memory, nodes, cpus, guest.max_cpus),
        "-kernel", str(kernel.image), "-initrd", str(initramfs),
        "-append", f"console={arch.console} {BASE_APPEND} {guest.append}".strip(),
        "-serial", f"file:{console}", *second, *guest.qemu,
    ]  # fmt: skip


def _inflate(raw):
    """As much as can be had from gzip members one after another; the last may be cut."""
    out = bytearray()
    while raw:
        member = zlib.decompressobj(wbits=31)
        try:
            out += member.decompress(raw)
        except zlib.error:
            break
        raw = member.unused_data
    return bytes(out)


def unpack_results(raw, into):
    """Files of a results stream. Names are taken only if they stay below `into`."""
    names = []
    with contextlib.suppress(tarfile.ReadError, EOFError):
        with tarfile.open(fileobj=io.BytesIO(_inflate(raw)), ignore_zeros=True) as archive:
            for member in archive:
                name = os.path.normpath(member.name)
                if not member.isfile() or name.startswith(("/", "..")):
                    continue
                target = into / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.extractfile(member) as src:
                    target.write_bytes(src.read())
                names.append(name)
    return names


def _tail(path):
    try:
        text = path.read_bytes().decode(errors="replace").replace("\r", "")
    except OSError:
        text = ""
    lines = [x for x in text.split("\n") if x.strip()][-CONSOLE_TAIL:]
    return "".join(f"\n  | {x}" for x in lines) or "\n  | (nothing)"


_running = set()
_stopping = threading.Event()


def _qemu(argv, timeout, log):
    """Runs the emulator to its end. (seconds, its status or None after the timeout)"""
    if _stopping.is_set():
        raise LabError("stopped")
    begin = time.monotonic()
    with open(log, "wb") as err:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=err, stderr=err)
        _running.add(process)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            _running.discard(process)
    return time.monotonic() - begin, status


def boot(guest, out):
    """Boots a guest; its results are files in `out` (made, emptied of an earlier boot's).

    Raises Skip if that is impossible here, LabError with the last lines of the
    console if the guest did not come to its end.
    """
    arch = ARCHES[guest.arch]
    if not shutil.which(arch.emulator):
        raise Skip(f"'{arch.emulator}' is missing (package {arch.emulator_package})")
    kernel = kernel_for(guest.kernel, guest.append, guest.flavour, guest.arch)
    out = Path(out)
    if (out / "boot.json").exists():
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    console, results, log = out / "console", out / "results", out / "qemu.log"
    with tempfile.TemporaryDirectory(prefix="hashdist-lab-") as tmp:
        initramfs = Path(tmp) / "initramfs"
        busybox = kernel.dir / "busybox" if arch.foreign else None
        with open(initramfs, "wb") as whole:
            whole.write(make_initramfs(guest.put, guest.run, guest.get, busybox, guest.arch))
            for archive in guest.archives:
                whole.write(Path(archive).read_bytes())
        argv = qemu_arguments(guest, kernel, initramfs, console, results)
        (out / "boot.json").write_text(json.dumps({"argv": argv, "complete": False}) + "\n")
        seconds, status = _qemu(argv, guest.timeout, log)
    raw = results.read_bytes() if results.exists() else b""
    unpack_results(raw, out)
    with contextlib.suppress(OSError):
        results.unlink()
    for name in TOP_BOOKS:
        with contextlib.suppress(OSError):
            shutil.copyfile(out / "sysroot" / "proc" / name, out / name)
    if (kernel.dir / "config").exists():
        (out / "sysroot" / "boot").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kernel.dir / "config", out / "sysroot" / "boot" / f"config-{kernel.release}")
    runs = []
    for n in range(1, len(guest.run) + 1):
        if not (out / f"run-{n}.status").exists():
            break
        texts = [(out / f"run-{n}.{x}").read_text(errors="replace") for x in ("out", "err")]
        runs.append(Run(int((out / f"run-{n}.status").read_text()), *texts))
    complete = (out / "complete").exists()
    facts = {
        "kernel": kernel.release, "package": kernel.package, "version": kernel.version, "arch": guest.arch,
        "memory": guest.memory, "nodes": guest.nodes, "append": guest.append, "argv": argv,
        "seconds": round(seconds, 1), "complete": complete,
        "run_status": [r.status for r in runs],
    }  # fmt: skip
    (out / "boot.json").write_text(json.dumps(facts, indent=2) + "\n")
    if not complete:
        hung = f"run {len(runs) + 1} '{guest.run[len(runs)][0]}' did not end" if (
            (out / "dmesg").exists() and len(runs) < len(guest.run)) else "it did not come to its end"  # fmt: skip
        why = f"no end after {guest.timeout:g} s: {hung}" if status is None else (
            f"the emulator failed: {log.read_text(errors='replace').strip()}" if status
            else f"the guest stopped: {hung}")  # fmt: skip
        raise LabError(f"{kernel.release} {guest.memory} {guest.nodes}: {why}; console:{_tail(console)}")
    if "Linux version" not in "".join(Path(out / "dmesg").read_text(errors="replace")
                                      .splitlines(True)[:3]):  # fmt: skip
        raise LabError(f"{out}/dmesg: its beginning is lost; append log_buf_len=1M")
    return Boot(out, kernel, seconds, runs)


# ---------------------------------------------------------------- command line


class _Runs(argparse.Action):
    """--run and --run-as-nobody share one list, in the order given."""

    def __call__(self, parser, namespace, value, option=None):
        runs = list(getattr(namespace, "run", None) or [])
        setattr(namespace, "run", runs + [(value, option == "--run-as-nobody")])


def _put(text):
    path, colon, name = text.partition(":")
    return path, name if colon else None


def guest_parser(**kwargs):
    p = argparse.ArgumentParser(add_help=False, allow_abbrev=False, **kwargs)
    p.add_argument("--kernel", default="6.1", choices=SERIES, help="series (6.1)")
    p.add_argument("--flavour", choices=FLAVOURS, help="cloud unless it lacks what is needed")
    p.add_argument("--arch", default=NATIVE, choices=ARCHES, help=f"architecture ({NATIVE})")
    p.add_argument("--memory", default=None, help="2G, or the sum of --nodes")
    p.add_argument("--nodes", default="", help="1G,1G  2G,0 (memoryless)  1G,1G/nocpu")
    p.add_argument("--cpus", type=int, default=0, help="2, or one per node")
    p.add_argument("--max-cpus", type=int, default=0, help="possible CPUs, if more")
    p.add_argument("--append", default="", help="kernel parameters")
    p.add_argument("--put", action="append", type=_put, default=[], metavar="FILE[:NAME]",
                   help="file or directory for the guest, with its libraries; in /lab unless NAME has a path")  # fmt: skip
    p.add_argument("--run", action=_Runs, default=[], metavar="COMMAND", help="in the guest, as root")
    p.add_argument("--run-as-nobody", action=_Runs, dest="run", metavar="COMMAND",
                   help="the same, as an ordinary user")  # fmt: skip
    p.add_argument("--get", action="append", default=[], metavar="FILE", help="bring back, below files/")
    p.add_argument("--timeout", type=float, default=180, help="seconds (180)")
    p.add_argument("--machine", default="", help="QEMU's -machine (pc, or virt)")
    p.add_argument("--cpu", default="", help="QEMU's -cpu (max, or cortex-a76)")
    p.add_argument("--qemu", action="append", default=[], metavar="ARG", help="further QEMU argument")
    return p


def guest_from(args):
    memory = args.memory
    if not memory:
        total = sum(n.memory for n in parse_nodes(args.nodes)) or 2 << 30
        memory = f"{total >> 20}M" if total % (1 << 30) else f"{total >> 30}G"
    fields = {f.name for f in dataclasses.fields(Guest)} - {"memory"}
    return Guest(memory=memory, **{k: v for k, v in vars(args).items() if k in fields})


def parse_matrix(text):
    """Boots of a matrix file: [(name, Guest)].

    A line each: "name: options of boot". '#' begins a comment; the line "*: ..."
    holds options for all that follow. Or JSON: {"name": ["--kernel", "6.1", ...]}.
    """
    if text.lstrip().startswith("{"):
        pairs = [(k, v) for k, v in json.loads(text).items()]
    else:
        pairs = []
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            if not words[0].endswith(":"):
                raise LabError(f"matrix: '{line.strip()}' does not begin with 'name:'")
            pairs.append((words[0][:-1], words[1:]))
    boots, common = [], []
    for name, words in pairs:
        if name == "*":
            common = words
            continue
        if not re.fullmatch(r"[\w.+-]+", name) or name in dict(boots) or name.startswith("."):
            raise LabError(f"matrix: '{name}' is no name for a directory, or used twice")
        boots.append((name, guest_from(guest_parser(prog=name).parse_args(common + words))))
    return boots


def run_matrix(boots, out, jobs=None, report=lambda name, result: None):
    """Boots all; {name: Boot or LabError}. Calls report(name, result) as each ends."""
    results = {}
    jobs = jobs or len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = {pool.submit(boot, guest, Path(out) / name): name for name, guest in boots}
        for task in concurrent.futures.as_completed(tasks):
            name = tasks[task]
            try:
                results[name] = task.result()
            except LabError as e:
                results[name] = e
            report(name, results[name])
    return results


def _cmd_kernels(_args):
    print(f"{'SERIES':7} {'SUITE':9} {'ARCH':7} {'FLAVOUR':8} CACHED")
    for series in SERIES.values():
        for arch in ARCHES:
            for flavour in FLAVOURS:
                have = cached(series.name, flavour, arch)
                if have or (flavour == "cloud" and arch == NATIVE):
                    what = f"{have.release} ({have.package} {have.version})" if have else "-"
                    print(f"{series.name:7} {series.suite:9} {arch:7} {flavour:8} {what}")
    return 0


def _cmd_fetch(args):
    for series in args.series or list(SERIES):
        kernel = fetch(series, args.flavour, args.refresh, arch=args.arch)
        print(f"{kernel.series}: {kernel.package} {kernel.version} in {kernel.dir}")
    return 0


def _cmd_boot(args):
    result = boot(guest_from(args), args.out)
    for n, run in enumerate(result.runs, 1):
        sys.stdout.write(run.out)
        sys.stderr.write(run.err)
        if run.status:
            print(f"lab: run {n} ended with status {run.status}", file=sys.stderr)
    print(f"lab: {result.kernel.release}: {result.seconds:.1f} s, results in {result.dir}", file=sys.stderr)
    return 0


def _cmd_matrix(args):
    boots = parse_matrix(Path(args.file).read_text())
    for series, flavour, arch in sorted({(g.kernel, g.flavour or "cloud", g.arch) for _, g in boots}):
        fetch(series, flavour, arch=arch)

    def report(name, result):
        if isinstance(result, Boot):
            status = " ".join(str(r.status) for r in result.runs)
            print(f"{name:24} {result.kernel.release:32} {result.seconds:6.1f} s  {status}", flush=True)
        else:
            print(f"{name:24} FAILED: {result}", flush=True)

    results = run_matrix(boots, args.out, args.jobs, report)
    return int(any(isinstance(r, LabError) for r in results.values()))


def main(argv=None):
    p = argparse.ArgumentParser(prog="lab.py", description="Boots Debian kernels in an emulator.")
    verbs = p.add_subparsers(dest="verb", required=True)
    verbs.add_parser("kernels", help="what there is").set_defaults(call=_cmd_kernels)
    v = verbs.add_parser("fetch", help="fetch kernels into the cache")
    v.add_argument("series", nargs="*", choices=[*SERIES, []], help="all of them if none is named")
    v.add_argument("--flavour", choices=FLAVOURS, default="cloud")
    v.add_argument("--arch", choices=ARCHES, default=NATIVE)
    v.add_argument("--refresh", action="store_true", help="even if there is one")
    v.set_defaults(call=_cmd_fetch)
    v = verbs.add_parser("boot", parents=[guest_parser()], help="boot one guest")
    v.add_argument("--out", required=True, metavar="DIR")
    v.set_defaults(call=_cmd_boot)
    v = verbs.add_parser("matrix", help="boot many: lines of 'name: options of boot'")
    v.add_argument("file")
    v.add_argument("--out", required=True, metavar="DIR")
    v.add_argument("--jobs", type=int, help="at once (one per CPU)")
    v.set_defaults(call=_cmd_matrix)
    args = p.parse_args(argv)
    end_with_children()
    try:
        return args.call(args)
    except Skip as e:
        print(f"lab: {e}", file=sys.stderr)
        return 1 if os.environ.get("HASHDIST_REQUIRE_ALL") == "1" else SKIP_STATUS
    except LabError as e:
        print(f"lab: {e}", file=sys.stderr)
        return 1


def end_with_children():
    """Ended from outside, take the emulators along. For programs: the main thread calls it."""

    def stop(signum, _frame):
        _stopping.set()
        for process in list(_running):
            with contextlib.suppress(OSError):
                process.kill()
        raise SystemExit(128 + signum)

    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, stop)


if __name__ == "__main__":
    sys.exit(main())

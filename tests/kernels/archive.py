#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
archive.py - packages of the Debian archive this system itself uses, of any suite and architecture

    They come through apt, with the system's keys, mirror and settings, but a source list,
    state and cache of their own: the system's own apt is never changed, and no architecture
    is added to it. What is made of them is kept below ~/.cache/hashdist/.

Used by lab.py for kernels and by tests/cross/ for libraries. As a program, for scripts:

    archive.py uri SUITE        the address to debootstrap a suite from
    archive.py sources SUITE    the text of a *.sources file for a system of that suite

Exit status of the command line: 0 fine, 2 wrong usage, 77 no such thing to be had here.
"""

import contextlib
import dataclasses
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP_STATUS = 77


class Failure(Exception):
    """It should have worked and did not."""


class Skip(Failure):
    """It cannot be done on this machine; the text says what is missing."""


def skip(reason):
    """End a test that cannot run here. Where everything must be present, that is a failure."""
    if os.environ.get("HASHDIST_REQUIRE_ALL") == "1":
        print(f"FAIL: cannot run, and HASHDIST_REQUIRE_ALL=1: {reason}")
        sys.exit(1)
    print(f"SKIP: {reason}")
    sys.exit(SKIP_STATUS)


# ---------------------------------------------------------------- package sources

# Suites we know to be Debian's, to find its entries among others of this system.
DEBIAN_SUITES = {
    "bullseye", "bookworm", "trixie", "forky", "duke", "sid",
    "oldoldstable", "oldstable", "stable", "testing", "unstable",
}  # fmt: skip
SUFFIXES = ("", "-updates", "-security", "/updates")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


@dataclasses.dataclass(frozen=True)
class Source:
    """One binary package source: an address and one suite at it."""

    uri: str
    suite: str
    components: tuple = ("main",)
    options: tuple = ()  # pairs, names as in the deb822 format


# one-line names of options -> deb822 names; others are the same but for the case
_ONE_LINE = {"arch": "Architectures", "lang": "Languages", "target": "Targets"}


def parse_one_line(text):
    """Sources of a *.list file: deb [option=value ...] uri suite component..."""
    found = []
    for line in text.splitlines():
        line = line.split("#", 1)[0].strip()
        m = re.match(r"deb\s+(?:\[([^]]*)\]\s*)?(\S+)\s+(\S+)\s*(.*)$", line)
        if not m or m[2].startswith("cdrom:"):
            continue
        options = []
        for option in (m[1] or "").split():
            key, eq, value = option.partition("=")
            if eq:
                key = _ONE_LINE.get(key, key.title())
                options.append((key, value.replace(",", " ")))
        found.append(Source(m[2], m[3], tuple(m[4].split()), tuple(options)))
    return found


def parse_deb822(text):
    """Sources of a *.sources file."""
    found = []
    for stanza in re.split(r"\n[ \t]*\n", text):
        fields, last = {}, None
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in (" ", "\t"):
                if last:
                    fields[last] += "\n" + line.strip("\n")
            elif ":" in line:
                key, value = line.split(":", 1)
                last = key.strip().title()
                fields[last] = value.strip()
        if fields.get("Enabled", "yes").lower() in ("no", "false", "0", "off"):
            continue
        if "deb" not in fields.get("Types", "").split():
            continue
        keep = tuple(
            (k, v) for k, v in fields.items()
            if k not in ("Types", "Uris", "Suites", "Components", "Enabled")
        )  # fmt: skip
        for uri in fields.get("Uris", "").split():
            for suite in fields.get("Suites", "").split():
                if not uri.startswith("cdrom:"):
                    found.append(Source(uri, suite, tuple(fields.get("Components", "").split()), keep))
    return found


def system_sources(etc="/etc/apt"):
    """All binary package sources this system has switched on."""
    found = []
    etc = Path(etc)
    lists = [etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))]
    for kind, paths in (
        (parse_one_line, lists),
        (parse_deb822, sorted(etc.glob("sources.list.d/*.sources"))),
    ):
        for path in paths:
            with contextlib.suppress(OSError):
                found += kind(path.read_text(errors="replace"))
    return found


def split_suite(suite):
    """'bookworm-security' -> ('bookworm', '-security'); None for what is not plain Debian."""
    for suffix in reversed(SUFFIXES):
        base = suite[: len(suite) - len(suffix)]
        if suite.endswith(suffix) and base in DEBIAN_SUITES:
            return base, suffix
    return None


def sources_for(suite, sources):
    """The system's Debian sources, turned to another suite; the plain suite comes first."""
    found = []
    for source in sources:
        parts = split_suite(source.suite)
        if not parts or "main" not in source.components:
            continue
        suffix = parts[1]
        if suite == "sid" and suffix:
            continue  # has neither updates nor security
        suffix = "-security" if suffix == "/updates" else suffix
        new = dataclasses.replace(source, suite=suite + suffix, components=("main",))
        if new not in found:
            found.append(new)
    return sorted(found, key=lambda s: len(s.suite))


def render_sources(sources, arch="amd64"):
    """The text of a *.sources file, one architecture only."""
    stanzas = []
    for source in sources:
        lines = [
            "Types: deb",
            f"URIs: {source.uri}",
            f"Suites: {source.suite}",
            f"Components: {' '.join(source.components)}",
            f"Architectures: {arch}",
        ]
        lines += [f"{k}: {v}" for k, v in source.options if k != "Architectures"]
        stanzas.append("\n".join(lines) + "\n")
    return "\n".join(stanzas)


# ---------------------------------------------------------------- fetching


def why(text):
    """The line of apt's output that tells most, with apt's own marks taken off."""
    lines = [" ".join(x.split()) for x in text.splitlines() if x.strip()]
    for pattern in (r"NO_PUBKEY|not signed.*key|EXPKEYSIG|Could not|Temporary failure|404|timed out", r"^E:", ""):
        for line in lines:
            if re.search(pattern, line):
                return re.sub(r"^(E:|W:|Err:\d+) *", "", line)
    return "apt says nothing"


class Apt:
    """apt with a source list, state and cache of its own, below one directory."""

    def __init__(self, top, sources, arch="amd64"):
        self.top = top
        for sub in ("lists/partial", "cache/archives/partial", "sources", "conf", "dl"):
            (top / sub).mkdir(parents=True)
        (top / "status").touch()
        for path in (top, *top.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)  # apt downloads as its own user
        if os.geteuid() == 0:
            with contextlib.suppress(LookupError):
                shutil.chown(top / "dl", user="_apt")
        (top / "sources" / "hashdist.sources").write_text(render_sources(sources, arch))
        # The system's settings (proxies, limits) count here too, but not its hooks after an
        # update: those tidy the system's own cache.
        for path in sorted(Path("/etc/apt/apt.conf.d").glob("*")):
            if re.fullmatch(r"[\w-]+(\.conf)?", path.name):
                (top / "conf" / path.name).symlink_to(path)
        (top / "conf" / "zz-hashdist").write_text(
            "#clear APT::Update::Pre-Invoke;\n#clear APT::Update::Post-Invoke;\n"
            "#clear APT::Update::Post-Invoke-Success;\n"
            f'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "{top}/sources";\n'
            f'Dir::State "{top}";\nDir::State::lists "{top}/lists";\n'
            f'Dir::State::status "{top}/status";\nDir::Cache "{top}/cache";\n'
            f'Dir::Cache::archives "{top}/cache/archives";\n'
            f'Dir::Log "{top}";\n'
            f'APT::Architecture "{arch}";\nAPT::Architectures "{arch}";\n'
            'Acquire::Languages "none";\nAcquire::Retries "1";\n'
            'Acquire::http::Timeout "20";\nAcquire::https::Timeout "20";\n'
        )
        (top / "apt.conf").write_text(f'Dir::Etc::parts "{top}/conf";\n')

    def run(self, *argv, cwd=None):
        env = dict(os.environ, APT_CONFIG=str(self.top / "apt.conf"), LC_ALL="C")
        return subprocess.run(argv, env=env, cwd=cwd, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip


def download(apt, *packages):
    """The files of packages, each NAME or NAME=VERSION, in their order. Raises Skip without one."""
    out = apt.run("apt-get", "-q", "download", *packages, cwd=apt.top / "dl")
    files = []
    for package in packages:
        debs = list((apt.top / "dl").glob(f"{package.split('=')[0]}_*.deb"))
        if out.returncode or not debs:
            raise Skip(f"package {package} could not be fetched: {why(out.stdout)}")
        files.append(debs[0])
    return files


def cache_dir(what):
    """Where one kind of things is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "hashdist" / what


def keyed(sources):
    """The sources with the keys that the system says; then, if those do not know the suite, with
    Debian's own whole keyring, if installed. Never without a signature."""
    tries = [sources]
    if Path(KEYRING).exists():
        own = [dataclasses.replace(s, options=tuple(o for o in s.options if o[0] != "Signed-By")
                                   + (("Signed-By", KEYRING),)) for s in sources]  # fmt: skip
        if own != sources:
            tries.append(own)
    return tries


def kept(top, name, load, fill, sources, refresh=False):
    """What load() makes of the directory top/name, None if it is not readable afterwards.

    If load() finds nothing there, fill(sources, directory) makes it anew. Two that come at the
    same time wait for each other, and a half-filled directory is never seen."""
    with open(top / f".{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        have = None if refresh else load(top / name)
        if have:
            return have
        tries = keyed(sources)
        for i, attempt in enumerate(tries):
            new = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=top))
            try:
                fill(attempt, new)
                new.chmod(0o755)
                old = None
                if (top / name).exists():
                    old = Path(tempfile.mkdtemp(prefix=f".{name}.old.", dir=top))
                    os.rename(top / name, old / name)
                os.rename(new, top / name)
                if old:
                    shutil.rmtree(old, ignore_errors=True)
                break
            except Skip:
                if i + 1 == len(tries):
                    raise
            finally:
                shutil.rmtree(new, ignore_errors=True)
    return load(top / name)


def main(argv):
    if len(argv) != 3 or argv[1] not in ("uri", "sources"):
        print(f"usage: {argv[0]} uri|sources SUITE", file=sys.stderr)
        return 2
    if argv[2] not in DEBIAN_SUITES:
        print(f"no Debian suite '{argv[2]}': there are {', '.join(sorted(DEBIAN_SUITES))}", file=sys.stderr)
        return 2
    found = sources_for(argv[2], system_sources())
    if not found:
        print("this system has no Debian package source to take the address from", file=sys.stderr)
        return SKIP_STATUS
    if argv[1] == "uri":
        print(found[0].uri)
    else:
        # Keys are a matter of the system that the text is for.
        keyless = [dataclasses.replace(s, options=tuple(o for o in s.options if o[0] != "Signed-By"))
                   for s in found]  # fmt: skip
        print(render_sources(keyless), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

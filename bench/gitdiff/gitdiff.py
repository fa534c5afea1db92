#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Page walks of a real `git diff` on a real kernel, by where the kernel's dentry hash lies.

Boots Debian kernels in QEMU with a plugin that feeds every access to memory to a model of a
processor's TLB, and counts between two marks around `git diff` on a tree shaped like the
kernel's. See docs/gitdiff.md.
"""

import argparse
import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # not into the source tree
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "kernels"), str(HERE.parent / "peers")]

import expect  # noqa: E402
import image  # noqa: E402
import lab  # noqa: E402
import setups  # noqa: E402
import show  # noqa: E402
import tree  # noqa: E402
from results import Counted, Damaged  # noqa: E402

QUICK_MEMORY_MIB, MEMORY_MIB = 1024, 2048


@dataclasses.dataclass
class Job:
    """One boot that is asked for."""

    setup: setups.Setup
    kernel: str
    boot: int = 1  # the same set-up may be booted again
    record: bool = False

    @property
    def name(self):
        return f"{self.kernel} {self.setup.name}" + (f", boot {self.boot}" if self.boot > 1 else "")


@dataclasses.dataclass
class Done:
    """What became of it."""

    job: Job
    release: str
    seconds: float
    counted: Counted
    wrong: list  # texts; the figures mean nothing if there are any


# ---- one boot ------------------------------------------------------------------------------


def plugin_argument(options, out, record):
    """QEMU takes a comma in a value if it is doubled."""
    parts = [Path(options.build).resolve() / "gitdiff.so"]
    parts += [f"tlb={tlb}" for tlb in options.tlbs]
    parts += [f"out={out / 'counts'}", f"symbols={out / 'symbols'}"]
    if record:
        parts += [f"record={Path(options.record).resolve()}", f"limit={options.limit}"]
    return ",".join(str(part).replace(",", ",,") for part in parts)


def guest_for(job, options, out, work):
    fields = setups.lab_arguments(job.setup, options.memory)
    fields["qemu"] += ["-plugin", plugin_argument(options, out, job.record)]
    commands = work.commands(job.setup)
    return lab.Guest(kernel=job.kernel, timeout=options.timeout,
                     put=[(shutil.which("git"), "/usr/bin/git"),
                          (Path(options.build) / "gitdiff-launch", "launch"),
                          (Path(options.build) / "gitdiff-tcp", "tcp")],
                     run=[(command, False) for command in commands],
                     **work.parts(job.setup, fields))  # fmt: skip


class Kept:
    """A boot as its files tell of it."""

    def __init__(self, directory):
        facts = json.loads((directory / "boot.json").read_text())
        self.release, self.seconds = facts["kernel"], facts["seconds"]
        self.dmesg = (directory / "dmesg").read_text(errors="replace")
        self.runs = [(status, *((directory / f"run-{number}.{end}").read_text(errors="replace")
                                for end in ("out", "err")))
                     for number, status in enumerate(facts["run_status"], 1)]  # fmt: skip


def asked(job, options):
    """What a boot must have been asked for to be taken again."""
    return {"setup": job.setup.name, "kernel": job.kernel, "boot": job.boot, "files": options.files,
            "memory_mib": options.memory, "repetitions": options.repetitions, "tlbs": list(options.tlbs)}


def is_kept(job, options, out):
    try:
        return json.loads((out / "asked.json").read_text()) == asked(job, options)
    except (OSError, ValueError):
        return False


def boot_guest(job, options, out, work):
    out.mkdir(parents=True, exist_ok=True)
    try:
        lab.boot(guest_for(job, options, out, work), out)
    except lab.Skip:
        raise
    except lab.LabError as e:
        if "undefined symbol" in str(e):
            raise lab.Skip(f"this emulator lacks a function that the plugin needs: {e}") from e
        raise
    (out / "asked.json").write_text(json.dumps(asked(job, options)) + "\n")


def boot(job, options, out, work):
    if not (options.reuse and is_kept(job, options, out)):
        boot_guest(job, options, out, work)
    kept, counted = Kept(out), Counted.read(out)
    wrong = expect.setup(job.setup, kept, counted)
    for number, (status, output, error) in enumerate(kept.runs, 1):
        if status or output or error:
            wrong.append(f"run {number} in the guest: status {status}: {(error or output)[:200]}")
    return Done(job, kept.release, kept.seconds, counted, wrong)


# ---- what goes into the guests ----------------------------------------------------------------


class Work:
    """Archives and images of the tree, each made once."""

    def __init__(self, directory, options):
        self.directory, self.options = Path(directory), options
        self.made = {}

    def _once(self, kind, setup, make):
        key = (kind, setup.git)
        if key not in self.made:
            self.made[key] = self.directory / f"{kind}-{len(self.made)}"
            make(self.made[key], self.options.files, dict(setup.git))
        return self.made[key]

    def parts(self, setup, fields):
        """The fields of lab.Guest with the tree in them, if it is needed."""
        if setup.workload is setups.TCP:
            return fields
        if setup.ext4:
            disk = self._once("ext4", setup, image.make)
            return {**fields, "qemu": fields["qemu"] + image.qemu_arguments(disk)}
        return {**fields, "archives": [self._once("cpio", setup, make_archive)]}

    def commands(self, setup):
        """For the guest. None of them prints anything if all is well."""
        if setup.workload is setups.TCP:
            return [f"tcp {setups.CONNECTIONS} {setups.EXCHANGES} {self.options.repetitions}"]
        mount = [image.MOUNT] if setup.ext4 else []
        return mount + [
            # Files have date 0. An index as old as the files would have git look into each.
            "touch -d '2020-01-01 00:00:00' /tree/.git/index && cd /tree && git diff-files",
            f"cd /tree && launch {self.options.repetitions} /usr/bin/git diff",
        ]


def make_archive(path, files, config):
    cpio = lab.Cpio()
    tree.archive(cpio, files, config)
    path.write_bytes(cpio.bytes())


# ---- all of them ---------------------------------------------------------------------------------


def jobs_for(options):
    if options.full:
        jobs = full_jobs()
    else:
        jobs = [Job(setups.SETUPS[name], kernel) for kernel in options.kernels for name in options.setups]
        if options.quick:
            jobs.insert(1, dataclasses.replace(jobs[0], boot=2))
    jobs[-1].record = bool(options.record)
    return jobs


def full_jobs():
    """Everything on one kernel, the three that matter on the others, and one boot twice."""
    jobs = [Job(setup, "6.1") for setup in setups.SETUPS.values()]
    jobs.insert(1, Job(setups.SETUPS["linear"], "6.1", boot=2))
    jobs += [Job(setups.SETUPS[name], kernel) for kernel in setups.KERNELS if kernel != "6.1"
             for name in setups.BASIC]  # fmt: skip
    return jobs


def run(options, tell):
    """(boots that were counted, sentences about those that were not)"""
    done, lost = [], []
    with tempfile.TemporaryDirectory(prefix="hashdist-gitdiff-") as tmp:
        work = Work(tmp, options)
        for number, job in enumerate(jobs := jobs_for(options), 1):
            tell(f"{number} of {len(jobs)}: {job.name}")
            out = Path(options.keep or tmp) / re.sub("[^0-9a-z.]+", "-", job.name)
            try:
                done.append(boot(job, options, out, work))
            except lab.Skip:
                raise
            except (lab.LabError, Damaged) as e:
                lost.append(f"{job.name}: {e}")
    return done, lost


def names(known, what):
    def split(text):
        found = tuple(filter(None, text.split(",")))
        for name in found:
            if name not in known:
                raise argparse.ArgumentTypeError(f"no {what} {name}; there are: {' '.join(known)}")
        return found

    return split


def arguments(argv):
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0], allow_abbrev=False)
    p.add_argument("build", nargs="?", default="build/bench/gitdiff",
                   help="where gitdiff.so was built: build/bench/gitdiff")
    p.add_argument("--workload", choices=setups.WORKLOADS, default="git",
                   help="tcp: exchanges on loopback connections; git")
    p.add_argument("--setups", type=names(setups.SETUPS, "set-up"), help=",".join(setups.SETUPS))
    p.add_argument("--kernels", type=names(setups.KERNELS, "kernel"), default=("6.1",), help="6.1")
    p.add_argument("--tlbs", type=lambda text: tuple(text.split(",")), help=",".join(setups.TLBS))
    p.add_argument("--files", type=int, help=f"{tree.FILES}")
    p.add_argument("--memory", type=int, metavar="MIB", help=f"of the guest; {MEMORY_MIB}")
    p.add_argument("--repetitions", type=int, default=3, help="counted ones in each boot; 3")
    p.add_argument("--timeout", type=float, default=900, help="of a boot, in seconds; 900")
    p.add_argument("--quick", action="store_true",
                   help=f"{setups.QUICK_FILES} files, {QUICK_MEMORY_MIB} MiB, set-ups {','.join(setups.QUICK)}")
    p.add_argument("--full", action="store_true", help="all set-ups, all kernels: about an hour")
    p.add_argument("--check", action="store_true", help="end with 1 if the figures are not as expected")
    p.add_argument("--json", metavar="FILE", help="every figure of every repetition")
    p.add_argument("--markdown", metavar="FILE",
                   help="the tables; into the place marked for them if FILE has one")
    p.add_argument("--plot", metavar="FILE", help=".svg or .png, with gnuplot")
    p.add_argument("--keep", metavar="DIR", help="what came back of every boot")
    p.add_argument("--reuse", action="store_true", help="do not boot again what is in --keep DIR already")
    p.add_argument("--record", metavar="FILE", help="also the events of the last boot, see tlb/stream.h")
    p.add_argument("--limit", type=int, default=1 << 24, metavar="N", help="events of --record; 2^24")
    options = p.parse_args(argv)
    if options.quick and options.full:
        p.error("--quick and --full are opposites")
    if options.reuse and not options.keep:
        p.error("--reuse needs --keep")
    if options.repetitions < 1 or (options.files is not None and options.files < 100):
        p.error("at least 1 repetition and 100 files")
    return options


def complete(options):
    """What depends on other options."""
    options.setups = options.setups or (setups.QUICK if options.quick else
                                        setups.WORKLOADS[options.workload])
    options.files = options.files or (setups.QUICK_FILES if options.quick else tree.FILES)
    options.memory = options.memory or (QUICK_MEMORY_MIB if options.quick else MEMORY_MIB)
    options.tlbs = options.tlbs or (setups.FULL_TLBS if options.full else setups.TLBS)
    return options


def ready(options):
    """Raises lab.Skip if this machine lacks something."""
    for program in ("git", "qemu-system-x86_64", "busybox"):
        if not shutil.which(program):
            raise lab.Skip(f"'{program}' is missing")
    for built in ("gitdiff.so", "gitdiff-launch", "gitdiff-tcp"):
        if not (Path(options.build) / built).exists():
            raise lab.Skip(f"{built} was not built: only on x86-64, without sanitizers")


def command(argv):
    """What makes the same figures: without where they go, and where the plugin is."""
    told, words = ["bench/gitdiff/gitdiff.py"], iter(argv)
    for word in words:
        if word in ("--json", "--markdown", "--plot", "--keep", "--record", "--limit"):
            next(words, None)
        elif word.partition("=")[0] in ("--setups", "--kernels", "--tlbs", "--files", "--memory",
                                        "--repetitions", "--timeout", "--workload"):
            told += [word] if "=" in word else [word, next(words, "")]
        elif word in ("--quick", "--full", "--check"):
            told.append(word)
    return shlex.join(told)


def git_version():
    return subprocess.run(["git", "--version"], text=True, capture_output=True, check=True).stdout.strip()


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    options = complete(arguments(argv))
    lab.end_with_children()

    def tell(what):
        print(f"gitdiff: {what}", file=sys.stderr, flush=True)

    try:
        ready(options)
        if options.plot:
            show.plot_ready(options.plot)
        done, lost = run(options, tell)
    except lab.Skip as e:
        lab.skip(str(e))
    except show.CannotPlot as e:
        tell(str(e))
        return 1
    about = {"command": command(argv), "git": git_version(),
             "files": options.files, "memory_mib": options.memory, "repetitions": options.repetitions}
    checks = [(False, text) for text in lost]
    checks += [(False, f"{one.job.name}: {text}") for one in done for text in one.wrong]
    checks += expect.figures(done, options.files) if options.check else []
    print(show.text(about, done, checks), end="")
    if options.markdown:
        show.put_markdown(options.markdown, about, done, checks)
    if options.json:
        Path(options.json).write_text(json.dumps(show.as_json(about, done, checks), indent=1) + "\n")
    try:
        if options.plot and done:
            show.plot(options.plot, about, done)
    except show.CannotPlot as e:
        tell(str(e))
        return 1
    return int(any(not passed for passed, _ in checks))


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""Ways to make one thing fail in a run of the tool, and what such a run left behind.

    Fault("alloc", 12, "once")           allocation 12 gives no memory
    Fault("alloc", 12, "after")          nor does any that follows
    Fault("call", 3, "read", "EIO")      the third read(2) fails so, by strace
    Fault("short", 7)                    reads and writes take 7 bytes at most
    Fault("room", 100)                   files may grow to 100 bytes: a disc that fills

Allocations and short reads are the work of shim.c, which the tool is preloaded with. Calls are
counted for each thread from its start, as strace does; where the tool forks or has threads, the
same call of each of them fails.
"""

import collections
import dataclasses
import os
import pathlib
import re
import resource
import shlex
import signal
import struct
import subprocess
import tempfile
import time

import support
from support import BIN, ENVIRONMENT
from targets import Victim

SHIM = os.environ.get("FAULT_SHIM", "build/tests/faults/shim.so")
SECONDS = 30  # a run that takes longer hangs

# What each call may plausibly answer; the first are the likeliest.
ERRNOS = {
    "read": ("EIO", "EINTR"),
    "pread64": ("EIO", "EINTR"),
    "write": ("ENOSPC", "EIO", "EPIPE", "EINTR"),
    "openat": ("EACCES", "EMFILE", "ENOENT", "EINTR"),
    "openat2": ("EACCES", "EMFILE", "ENOSYS", "EPERM", "EAGAIN"),
    "access": ("EACCES", "ENOENT"),
    "newfstatat": ("EIO",),  # most are of an open file, which is there
    "fstat": ("EIO",),
    "readlink": ("EACCES", "ENOENT"),
    "readlinkat": ("EACCES", "ENOENT"),
    "getdents64": ("EIO", "ENOENT"),
    "lseek": ("ESPIPE",),
    "close": ("EIO", "EINTR"),
    "fcntl": ("EMFILE", "EINVAL"),
    "ioctl": ("ENOTTY", "EPERM", "ENOSYS"),
    "dup": ("EMFILE",),
    "dup2": ("EMFILE", "EINTR"),
    "pipe2": ("EMFILE", "ENFILE"),
    "socketpair": ("EMFILE", "EPERM"),
    "memfd_create": ("EMFILE", "ENOSYS"),
    "sendfile": ("EIO", "ENOSPC", "EINTR"),
    "sendto": ("EPIPE", "EINTR"),
    "mkdir": ("EACCES", "ENOSPC", "EEXIST"),
    "mkdirat": ("EACCES", "ENOSPC"),
    "rename": ("EACCES", "ENOSPC"),
    "unlink": ("EACCES",),
    "unlinkat": ("EACCES",),
    "fchmod": ("EPERM", "EIO"),
    "fchmodat": ("EPERM", "EIO"),
    "mmap": ("ENOMEM",),
    "mremap": ("ENOMEM",),
    "mprotect": ("ENOMEM",),
    "madvise": ("EINVAL", "ENOMEM", "EAGAIN"),
    "clone": ("EAGAIN", "ENOMEM"),
    "clone3": ("EAGAIN", "ENOSYS"),
    "execve": ("EACCES", "ENOENT", "ENOMEM"),
    "wait4": ("EINTR", "ECHILD"),
    "kill": ("EPERM", "ESRCH"),
    "prctl": ("EINVAL", "EPERM"),
    "prlimit64": ("EPERM",),
    "setsid": ("EPERM",),
    "rt_sigaction": ("EINVAL",),
    "rt_sigtimedwait": ("EINTR", "EAGAIN"),
    "rt_sigprocmask": ("EINVAL",),
    "clock_nanosleep": ("EINTR",),
    "restart_syscall": ("EINTR",),
    "ppoll": ("EINTR",),
    "poll": ("EINTR",),
    "getrandom": ("ENOSYS", "EINTR"),
    "uname": ("EFAULT",),
    "getcwd": ("ENOENT",),
    "getrusage": ("EINVAL",),
    "sched_getaffinity": ("EPERM", "ENOSYS"),
    "sched_setaffinity": ("EPERM", "ENOSYS"),
    "get_mempolicy": ("EPERM", "ENOSYS"),
    "set_mempolicy": ("EPERM", "ENOSYS"),
    "mbind": ("EPERM", "ENOSYS", "EINVAL"),
    "move_pages": ("EPERM", "ENOSYS", "ESRCH", "ENOMEM"),
    "pidfd_open": ("EPERM", "ENOSYS", "ESRCH", "EMFILE"),
    "pidfd_send_signal": ("EPERM", "ESRCH"),
    "process_madvise": ("EPERM", "ENOSYS", "ESRCH", "EINVAL", "EAGAIN"),
    "process_vm_readv": ("EPERM", "ENOSYS", "ESRCH"),
    "process_vm_writev": ("EPERM", "ENOSYS", "ESRCH"),
    "ptrace": ("EPERM", "ESRCH"),
    "perf_event_open": ("EACCES", "EPERM", "ENOSYS", "EMFILE"),
}
UNLISTED = ("EPERM", "ENOSYS")

# Left alone: what cannot fail, what strace cannot hold back, and what the C library ends over
# or reads in its own way (futex: "unexpected error"; brk: returns no errno).
NOT_INJECTED = set(
    "exit exit_group rt_sigreturn getpid getppid gettid getuid geteuid getgid getegid munmap brk futex "
    "rseq set_robust_list set_tid_address arch_prctl vfork sched_yield".split()
)


@dataclasses.dataclass(frozen=True)
class Fault:
    way: str
    number: int = 0
    what: str = ""
    error: str = ""

    def __str__(self):
        return ":".join(str(part) for part in (self.way, self.number, self.what, self.error) if part)

    @staticmethod
    def read(text):
        way, number, *rest = text.split(":")
        return Fault(way, int(number), *rest)


NONE = Fault("none")


class Book:
    """The words that shim.c reads and writes."""

    FORM = struct.Struct("8Q")

    def __init__(self, path, fault):
        self.path = path
        words = [0] * 8
        if fault.way == "alloc":
            words[0], words[1] = fault.number, int(fault.what == "after")
        elif fault.way == "short":
            words[2] = fault.number
        path.write_bytes(self.FORM.pack(*words))

    def read(self):
        *_, self.calls, self.failed, self.cut, self.live, self.first = self.FORM.unpack(self.path.read_bytes())


class Run:
    """How a run ended, and what it left."""

    def __init__(self, fault):
        self.fault = fault
        self.command = []
        self.status = None  # None: it had to be killed
        self.out = self.err = b""
        self.files = {}  # what lies in its directory, by name
        self.book = None
        self.trace = ""
        self.target = (0, "")  # of place: status of the process, its last line
        self.asleep = False  # and whether it was left stopped

    @property
    def injected(self):
        return [line for line in self.trace.splitlines() if "(INJECTED)" in line]


def _limit(room):
    def act():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    return act


def _command(case, fault, place, words):
    shim = [f"LD_PRELOAD={os.path.abspath(SHIM)}", f"FAULT_BOOK={place}/book"]
    if fault.way not in ("call", "trace"):
        return ["env", *shim, BIN, *words]
    strace = ["strace", "-o", f"{place}/trace", "-s", "16", *(["-f", "--seccomp-bpf"] if case.follow else [])]
    if fault.way == "call":
        strace += ["-e", f"trace={fault.what},execve,close" if case.follow else f"trace={fault.what}",
                   "-e", f"inject={fault.what}:error={fault.error}:when={fault.number}"]  # fmt: skip
    return [*strace, *(word for pair in shim for word in ("-E", pair)), BIN, *words]


def _wait(process, target, seconds):
    """The run's status; --watch ends when its process does. None: it hangs."""
    end = time.monotonic() + SECONDS
    if target and seconds:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        target.ended = target.finish()
    try:
        return process.wait(max(0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None


def _state(pid):
    text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    return text.rpartition(")")[2].split()[0]


def _end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _gather(run, place):
    run.out, run.err = (place / "stdout").read_bytes(), (place / "stderr").read_bytes()
    run.book.read()
    if (place / "trace").exists():
        run.trace = (place / "trace").read_text("utf-8", "replace")
    made = place / "made"
    for path in sorted(made.rglob("*")):
        name = str(path.relative_to(made))
        run.files[name] = path.read_bytes() if path.is_file() else None


def run_case(case, fault, inputs):
    """Run @case with @fault in it, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="hashdist-fault-") as name:
        place, run = pathlib.Path(name), Run(fault)
        (place / "made").mkdir()
        run.book = Book(place / "book", fault)
        target = Victim(8) if case.target else None
        try:
            _run_in(case, run, place, inputs, target)
        finally:
            if target and target.process.poll() is None:
                target.process.kill()
                target.process.communicate()
        return run


def _run_in(case, run, place, inputs, target):
    names = {**inputs, "made": f"{place}/made", "pid": target.pid if target else 0}
    if case.before:
        support.start([BIN, *(word.format(**names) for word in case.before)])
    run.command = _command(case, run.fault, place, [word.format(**names) for word in case.words])
    room = run.fault.number if run.fault.way == "room" else None
    with open(place / "stdout", "wb") as out, open(place / "stderr", "wb") as err, \
         open(inputs[case.stdin] if case.stdin else os.devnull, "rb") as stdin:  # fmt: skip
        process = subprocess.Popen(run.command, stdin=stdin, stdout=out, stderr=err, env=ENVIRONMENT, cwd=place,
                                   preexec_fn=_limit(room), restore_signals=False, start_new_session=True)  # fmt: skip
        run.status = _wait(process, target, case.seconds)
        _end_group(process)
    if target and not hasattr(target, "ended"):
        end = time.monotonic() + 2
        while _state(target.pid) in "tT" and time.monotonic() < end:
            time.sleep(0.01)
        run.asleep = _state(target.pid) in "tT"
        target.ended = target.finish() if not run.asleep else (None, "stopped")
    run.target = target.ended if target else (0, "")
    _gather(run, place)


# ---- what a trace tells -----------------------------------------------------------------------


def calls_of(trace, follow):
    """The tool's own calls after start-up: {name: occurrences, counted as strace does}.

    Start-up ends at the call that shim.c marks main() with; a fork's calls are the tool's until
    it executes something else.
    """
    line_form = re.compile(r"^(?:(\d+) +)?(\w+)\((.*)")
    counts, began, gone, given_back, first = collections.Counter(), set(), set(), {}, None
    found = collections.defaultdict(set)
    for line in trace.splitlines():
        match = line_form.match(line)
        if not match:
            continue
        pid, name, rest = match.groups()
        first = first or pid or "only"
        pid = pid or "only"
        counts[pid, name] += 1
        if pid == first and pid not in began:
            if name == "close" and rest.startswith("-77)"):
                began.add(pid)
            continue
        if pid in gone:
            continue
        if name == "ptrace" and "PTRACE_DETACH" in rest:
            given_back[pid] = counts[pid, name]
        if name not in NOT_INJECTED:
            found[name].add(counts[pid, name])
        if name == "execve" and re.search(r"\) += 0$|<unfinished", rest):
            gone.add(pid)
    # Signals, registers and freedom are given back last: of a thread that stands still the kernel
    # refuses none of them, and nobody could do anything if it did.
    for number in given_back.values():
        found["ptrace"] -= {number - 2, number - 1, number}
    return {name: sorted(numbers) for name, numbers in sorted(found.items())}


def hit_the_tool(run):
    """Did an injected error reach the tool itself, neither its loader nor what it has executed?"""
    gone, first, began = set(), None, False
    for line in run.trace.splitlines():
        pid = line.split(" ", 1)[0] if re.match(r"\d+ ", line) else "only"
        first = first or pid
        began = began or pid == "only" or "close(-77)" in line
        if "(INJECTED)" in line and pid not in gone:
            return began
        if "execve(" in line and "= 0" in line and (pid != first or BIN not in line):
            gone.add(pid)
    return False


def again(case, fault):
    """The command that repeats it."""
    return shlex.join(["python3", "tests/faults/test_faults.py", "--again", case.name, str(fault)])

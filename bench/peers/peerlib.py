# SPDX-License-Identifier: MIT
"""What the two benchmarks of this directory share: the methods, one measurement, and the state of
the machine it needs (warm memory, a hugetlb pool), which is put back whatever happens."""
import contextlib
import json
import os
import pathlib
import platform
import re
import resource
import signal
import subprocess
import sys
import time

MIB, GIB = 1 << 20, 1 << 30
HERE = pathlib.Path(__file__).resolve().parent
POOL = pathlib.Path("/proc/sys/vm/nr_hugepages")
THP = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
FOREIGN = re.compile(r"^(HASHDIST|GLIBC_TUNABLES$|MALLOC_|JE_MALLOC|MIMALLOC_|HUGETLB_|LD_PRELOAD$)")
TIMEOUT_S = 900


class Method:
    """One way to get memory. Kinds: limit, ours, hand (system calls and nothing else), peer."""

    def __init__(self, name, kind, program, argument=None, *, threads=1, pool=False, env=None,
                 slow=False, says=""):
        self.name, self.kind, self.program, self.argument = name, kind, program, argument or name
        self.threads, self.pool, self.env, self.says = threads, pool, env or {}, says
        self.slow = slow  # on base pages


METHODS = [
    Method("limit", "limit", "plain", says="`memset` over memory that is there, THP"),
    Method("limit-2", "limit", "plain", "limit", threads=2, says="the same, by 2 threads"),
    Method("limit-steps", "limit", "plain", says="the same, one base page at a time, as the kernel does"),
    Method("limit-hugetlb", "limit", "plain", pool=True, says="`memset` over memory that is there, hugetlb"),
    Method("hashdist", "ours", "hashdist", says="`hd_alloc()`, nothing asked"),
    Method("hashdist-2", "ours", "hashdist", "hashdist", threads=2, says="2 populating threads"),
    Method("hashdist-hugetlb", "ours", "hashdist", pool=True, says="`HD_PAGES_HUGETLB`"),
    Method("thp-populate", "hand", "plain", says="`mmap`, huge page advice, `MADV_POPULATE_WRITE`"),
    Method("hugetlb-populate", "hand", "plain", pool=True, says="`MAP_HUGETLB`, `MAP_POPULATE`"),
    Method("thp", "peer", "plain", says="`mmap`, huge page advice, touch"),
    Method("hugetlb", "peer", "plain", pool=True, says="`MAP_HUGETLB`, touch"),
    Method("libnuma-thp", "peer", "libnuma", says="`numa_alloc_interleaved`, advice, touch"),
    Method("libhugetlbfs-pages", "peer", "libhugetlbfs", pool=True, says="`get_huge_pages`, touch"),
    Method("libhugetlbfs-region", "peer", "libhugetlbfs", pool=True,
           says="`get_hugepage_region`, touch"),
    Method("glibc-1", "peer", "plain", "calloc",
           env={"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}, says="`glibc.malloc.hugetlb=1`, touch"),
    Method("glibc-2", "peer", "plain", "calloc", pool=True,
           env={"GLIBC_TUNABLES": "glibc.malloc.hugetlb=2"}, says="`glibc.malloc.hugetlb=2`, touch"),
    Method("jemalloc-thp", "peer", "jemalloc", "jemalloc", env={"MALLOC_CONF": "thp:always"},
           says="`mallocx`, `thp:always`, touch"),
    Method("mimalloc-large", "peer", "mimalloc", "mimalloc", pool=True, slow=True,
           env={"MIMALLOC_LARGE_OS_PAGES": "1", "MIMALLOC_ALLOW_LARGE_OS_PAGES": "1"},
           says="`mi_zalloc`, large pages allowed, touch"),
    Method("calloc", "peer", "plain", slow=True, says="`calloc`, touch"),
    Method("mmap", "peer", "plain", slow=True, says="`mmap`, base pages, touch"),
    Method("libnuma", "peer", "libnuma", slow=True, says="`numa_alloc_interleaved`, touch"),
    Method("jemalloc", "peer", "jemalloc", slow=True, says="`mallocx`, touch"),
    Method("mimalloc", "peer", "mimalloc", slow=True, says="`mi_zalloc`, touch"),
]
BY_HAND = {method.name.split("-")[0]: method for method in METHODS if method.kind == "hand"}


class Failed(Exception):
    """A measurement that went wrong."""


def size_bytes(text):
    match = re.fullmatch(r"(\d+)([MG]?)", text)
    if not match:
        raise ValueError(f"{text}: no size; 64M, 1G")
    size = int(match[1]) * {"": 1, "M": MIB, "G": GIB}[match[2]]
    if not size or size % (2 * MIB):
        raise ValueError(f"{text}: not a multiple of 2M")
    return size


def size_text(size):
    return f"{size // GIB} GiB" if size % GIB == 0 else f"{size // MIB} MiB"


def meminfo(name):
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) << 10
    return 0


def thp_setting():
    with contextlib.suppress(OSError):
        return re.search(r"\[(\w+)\]", THP.read_text())[1]
    return "none"


def die_first():
    """When memory runs out it shall be a benchmark that ends, not somebody's work."""
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/oom_score_adj").write_text("1000")


def end_on_sigterm():
    """So that what was set up is put back then too."""
    def end(signum, _):
        print(f"ended by {signal.Signals(signum).name}", file=sys.stderr)
        sys.exit(128 + signum)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)


def environment(extra):
    kept = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    return {**kept, **extra, "LC_ALL": "C"}


class Pool:
    """The hugetlb pool of the default size: so many bytes more than are there, then as before."""

    def __init__(self):
        self.page = meminfo("Hugepagesize")
        self.more = 64 * MIB  # than the table has: some libraries need room to align and a header
        self.found = int(POOL.read_text()) if POOL.exists() else 0

    def why_not(self):
        if not self.page or not POOL.exists():
            return "this kernel has no hugetlb pool"
        if not os.access(POOL, os.W_OK):
            return "only root may set the hugetlb pool"
        return None

    @contextlib.contextmanager
    def holding(self, size):
        want = self.found + -(-(size + self.more) // self.page)
        try:
            POOL.write_text(str(want))
            if int(POOL.read_text()) < want:
                raise Failed(f"the hugetlb pool came to {POOL.read_text().strip()} of {want} pages")
            yield
        finally:
            POOL.write_text(str(self.found))


class Bench:
    def __init__(self, programs, alone=False):
        self.programs, self.alone = pathlib.Path(programs), alone
        self.pool = Pool()
        self.fastest = {}
        self.cold = 0

    def program(self, name):
        return self.programs / f"peers-{name}"

    def why_absent(self, method):
        if not self.program(method.program).exists():
            return f"peers-{method.program} was not built: its library was not there"
        if method.pool and self.pool.why_not():
            return self.pool.why_not()
        if method.name.startswith("glibc-") and platform.libc_ver()[0] != "glibc":
            return "this is not glibc"
        return None

    def command(self, method, size, *options):
        return [self.program(method.program), "--threads", str(method.threads), *options,
                method.argument, str(size)]

    def run(self, method, size):
        """One measurement in a fresh process: what it printed. The pool is there."""
        done = subprocess.run(self.command(method, size), env=environment(method.env),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        return understood(method, done.returncode, done.stdout, done.stderr)

    def warm_run(self, method, size):
        with self.holding_cpus() if self.alone else contextlib.nullcontext():
            with self.pool.holding(size) if method.pool else contextlib.nullcontext():
                self.warm(size, method.pool)
                return self.run(method, size)

    @contextlib.contextmanager
    def holding_cpus(self):
        """Other processes hardly run meanwhile, and then at least as long."""
        begin = time.monotonic()
        # What is measured inherits this; hold itself does not keep it.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        try:
            with subprocess.Popen([self.programs / "hold"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as hold:
                try:
                    if hold.stdout.readline() != b"done\n":
                        raise Failed(f"hold ended, status {hold.wait()}")
                    yield
                finally:
                    hold.kill()
        finally:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        time.sleep(min(time.monotonic() - begin, 2))

    def warm(self, size, pool=False, tries=8):
        """Memory that the host of a virtual machine has not backed yet, or has taken back while
        it was free, is many times slower at first touch. So the same amount and some more is
        touched and freed right before a measurement, until that is as fast as it ever was. Of a
        hugetlb pool: all of it."""
        more = (size + self.pool.more if pool else
                size + max(size // 8, 64 * MIB) // (2 * MIB) * (2 * MIB))
        for _ in range(tries):
            seconds = self.run(BY_HAND["hugetlb" if pool else "thp"], more)["ready_s"]
            fastest = self.fastest[more] = min(seconds, self.fastest.get(more, seconds))
            if seconds <= 1.25 * fastest:
                return
        self.cold += 1

    def warm_everything(self, leave=GIB):
        """The whole range of free memory, once."""
        size = (meminfo("MemAvailable") - leave) // (2 * MIB) * (2 * MIB)
        if size > 0:
            self.run(BY_HAND["thp"], size)


def understood(method, status, out, err):
    """The JSON of a measurement; Failed when there is none, or memory was not zero."""
    lines = [line for line in out.splitlines() if line.startswith("{")]
    if not lines:
        raise Failed(f"{method.name}: ended with status {status}: {err.strip()[:200]}")
    result = json.loads(lines[-1])
    if "error" in result:
        raise Failed(f"{method.name}: {result['error']}")
    if not result["zero"]:
        raise Failed(f"{method.name}: handed out memory that is not zero")
    return result


class OtherLoad:
    """CPUs that were busy for others than this process and its children, on average."""

    def __init__(self):
        self.begin = self.read()

    @staticmethod
    def read():
        ticks = [int(x) for x in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        busy = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
        mine = sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
                   for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return os.times().elapsed, busy - mine

    def cpus(self):
        now, busy = self.read()
        return max(0.0, (busy - self.begin[1]) / max(now - self.begin[0], 0.01))


def machine():
    return {"kernel": platform.release().split("-")[0], "architecture": platform.machine(),
            "cpus": os.cpu_count(), "memory_bytes": meminfo("MemTotal"), "thp": thp_setting(),
            "libc": " ".join(platform.libc_ver())}


def machine_text(about):
    return (f"Linux {about['kernel']} {about['architecture']}, {about['cpus']} CPUs, "
            f"{about['memory_bytes'] / GIB:.1f} GiB, transparent huge pages \"{about['thp']}\", "
            f"{about['libc']}")


def put(path, mark, text):
    """Into the file: between its lines <!-- MARK --> and <!-- end of MARK --> if it has them."""
    path = pathlib.Path(path)
    first, last = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    old = path.read_text() if path.exists() else ""
    if first in old and last in old:
        text = old[:old.index(first)] + first + text + old[old.index(last):]
    path.write_text(text)

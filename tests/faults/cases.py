# SPDX-License-Identifier: MIT
"""The runs of the tool that are disturbed: each verb, in the forms that read or write something else.

In words, {box} is a saved machine, {log}, {gz} and {two} are boot logs, {made} an empty directory,
{pid} a process to be placed, {seven} a program that ends with status 7, {still} one that is linked
statically too: it makes few calls that a fault meant for the tool could hit. With a number it lasts so
many milliseconds, and the tool has time to look at it.
"""

import dataclasses
import gzip
import shutil

import support
from support import hashdist


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    words: tuple
    form: str = "text"  # json, metrics
    steady: bool = True  # undisturbed, it prints the same twice
    follow: bool = False  # the tool has children or threads of its own
    stdin: str = ""
    target: bool = False  # works on a process
    before: tuple = ()  # run first, undisturbed
    own: tuple = ()  # further exit statuses: those of the command that it becomes
    seconds: float = 0  # the process it works on ends then
    needs: str = ""  # a program
    spared: tuple = ()  # calls that do not fail


def case(name, text, **more):
    return Case(name, tuple(text.split()), **more)


FAST = "--min 4M --busy 100 --step 1000"
TWO = "--machine\0x86-64 node:0=8G node:1=8G cpus=16\0--kernel\0006.12"


def plan(name, words="", **more):
    return Case("plan" + name, ("plan", *TWO.split("\0"), *words.split()), **more)


def live(name, text, **more):
    return case(name, text, steady=False, **more)


def place(name, words, **more):
    more.setdefault("steady", False)
    return case("place" + name, f"place --pid {{pid}} {FAST} {words}", target=True, follow=True, **more)


RECORD = "--record {made}/record"
# A close(2) that fails has closed all the same, but one that strace lets fail has not: the end of a
# pipe stays open, and who reads from the other waits for ever.
PIPES = ("close",)
MEASURE = "measure --runs 1 --warmup 0 --ignore-failure"
BENCH = "bench --size 2M --runs 1 --lookups 64 --layout one,base"

CASES = (
    case("help", "--help"),
    case("version", "--version"),
    case("report-help", "report --help"),
    live("report", "report"),
    live("report-save", "report --save {made}/box"),
    case("report-sysroot", "report --sysroot {box}"),
    case("report-output", "report --sysroot {box} --output TABLE,NODES,WALKS,VERDICT"),
    case("report-json", "report --sysroot {box} --json", form="json"),
    case("report-metrics", "report --sysroot {box} --openmetrics", form="metrics"),
    case("log", "report --log {log}"),
    case("log-gz", "report --log {gz}"),
    case("log-many", "report --log {log} {two} {gz}", follow=True),
    case("log-stdin", "report --log - --json", form="json", stdin="log", follow=True),
    case("log-large", "report --log {large}", follow=True),
    live("pid", "report --pid {pid} --min 4M", target=True),
    live("pid-json", "report --pid {pid} --min 4M --json", target=True, form="json"),
    live("all", "report --all --openmetrics", form="metrics"),
    plan(""),
    plan("-table", "--table"),
    plan("-explain", "--explain"),
    plan("-compare", "--compare hashdist=0"),
    plan("-json", "--json", form="json"),
    case("plan-check", "plan --log {planned} --check {planned}"),
    case("plan-sysroot", "plan --sysroot {box} --table --tlb zen4"),
    case("plan-describe", "plan --sysroot {box} --describe"),
    place("-dry-run", "--dry-run"),
    place("", f"{RECORD}"),
    place("-json", f"{RECORD} --json", form="json"),
    place("-undo", f"{RECORD} --undo", before=tuple(f"place --pid {{pid}} {FAST} {RECORD}".split())),
    place("-watch", f"{RECORD} --watch", seconds=0.4),
    case("run", "run -- {seven}", own=(7, 126, 127)),
    case("run-explain", "run --explain={made}/why -- {seven}", own=(7, 126, 127)),
    case("run-outside", "run --from-outside -- {still}", own=(7, 126, 127), follow=True),
    live("measure", f"{MEASURE} -- {{still}} 40", own=(126, 127), follow=True, spared=PIPES),
    live("measure-json", "measure --runs 2 --warmup 0 --ignore-failure --json -- {seven}", form="json", own=(126, 127),
         follow=True, spared=PIPES),
    live("measure-plot", f"{MEASURE} --plot {{made}}/runs.svg -- {{still}} 40", own=(126, 127), follow=True,
         needs="gnuplot", spared=PIPES),
    live("bench", f"{BENCH}", follow=True),
    live("bench-json", f"{BENCH} --json", form="json", follow=True),
)


def make_inputs(directory, seven, still):
    """The files that the words name."""
    log, two = (path for path in sorted(support.BOOT_LOGS.glob("*.log"))[:2])
    planned = str(support.fixture("x86_64-6.14-64g-n2"))
    inputs = {"box": f"{directory}/box", "seven": seven, "still": still, "log": str(log), "two": str(two),
              "planned": planned, "gz": f"{directory}/log.gz", "large": f"{directory}/large.log"}  # fmt: skip
    hashdist("report", "--save", inputs["box"])
    with open(log, "rb") as plain, gzip.open(inputs["gz"], "wb") as packed:
        shutil.copyfileobj(plain, packed)
    data = log.read_bytes() + two.read_bytes()
    with open(inputs["large"], "wb") as large:
        while large.tell() < 9 << 20:
            large.write(data)
    return inputs

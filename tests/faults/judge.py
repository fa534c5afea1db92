# SPDX-License-Identifier: MIT
"""What must hold of a run in which something failed."""

import json
import re

DOCUMENTED = (0, 1, 2, 3)
DONE = (0, 3)
# Rows of measure that are there if the command was looked at in time: chance decides for one that is short.
LOOKED_AT = {"all", "page", "huge", "huge,", "resident,", "placing"}
WRITES = r"(write|pwrite64|writev)\((\d+)"


def _lines(data):
    return data.decode("utf-8", "replace").splitlines()


def _said(run, base):
    """Lines on standard error that the undisturbed run does not have."""
    return [line for line in _lines(run.err) if line not in _lines(base.err)]


def _mute(run):
    """Was it the message that could not be written?"""
    return any(re.search(r"\bwrite\(2,", line) for line in run.injected) or run.fault.way == "room"


def _absent(run):
    """Was the tool told that something is not there? A machine without it is no fault, and there is nothing to say."""
    return any("= -1 ENOENT" in line for line in run.injected)


def _output_failed(run):
    """An error of standard output that no second try mends."""
    return any(re.search(r"\bwrite\(1,", line) and "EINTR" not in line for line in run.injected)


def _missing(run):
    """What measure says of figures that it could not have."""
    return re.findall(rb"(?ms)^missing.*?(?=^\S|\Z)", run.out)


def _shape(text):
    """What stays of an output whose figures are others each time: how lines begin that are no second ones."""
    return [line.split()[0] for line in text if line.strip() and not line.startswith(" ")]


def _told_in_it(case, run, base):
    """JSON has a list of what was not seen, and a note on the log; a metric that is not known is absent."""
    if case.form == "metrics":
        told = b"log_complete 0" in run.out or run.out.count(b"not_seen{") > base.out.count(b"not_seen{")
        return told or set(_lines(run.out)) < set(_lines(base.out))
    told = re.compile(rb'"path": |"note": "|"not_read": \[\s*\{')
    return case.form == "json" and len(told.findall(run.out)) > len(told.findall(base.out))


def _less_known(run, base):
    """Is each word that differs an unknown one?"""
    ours, theirs = run.out.decode("utf-8", "replace").split(), base.out.decode("utf-8", "replace").split()
    return len(ours) == len(theirs) and all(a == b or a in ("?", "null,", "null") for a, b in zip(ours, theirs))


def status(case, run, base):
    if run.status is None:
        yield "it hangs"
    elif run.status < 0:
        yield f"killed by signal {-run.status}"
    elif run.status not in DOCUMENTED + case.own:
        yield f"status {run.status} is documented nowhere"
    elif run.status == 2 and base.status != 2:
        yield "status 2, and the words were right"
    elif run.status not in DONE + case.own and not _mute(run):
        if not any(line.startswith("hashdist: ") for line in _lines(run.err)):
            yield f"status {run.status}, and no error is told"
    if run.status in DONE + case.own and _output_failed(run):
        yield f"status {run.status}, and output was lost"


def output(case, run, base):
    """Whole, or said not to be."""
    if run.status not in DONE:
        return
    if case.form == "json" and run.out:
        yield from _json(run.out)
    if case.form == "metrics" and run.out and not run.out.endswith(b"# EOF\n"):
        yield "metrics without an end"
    if _absent(run):
        return
    if case.steady:
        if run.out != base.out and not (_said(run, base) or _told_in_it(case, run, base) or _less_known(run, base)):
            yield "output differs, and nothing is said"
    elif case.form == "text" and not case.target:
        missing = set(_shape(_lines(base.out))) - set(_shape(_lines(run.out)))
        missing -= LOOKED_AT if case.words[0] == "measure" else set()
        if missing and not _said(run, base) and _missing(run) == _missing(base):
            yield f"lines are missing, and nothing is said: {sorted(missing)[:4]}"


def _json(text):
    decoder, rest = json.JSONDecoder(), text.decode("utf-8", "strict").strip()
    while rest:
        try:
            _, end = decoder.raw_decode(rest)
        except ValueError as error:
            yield f"no JSON: {error}"
            return
        rest = rest[end:].strip()


def files(case, run, base):
    """Whole or absent."""
    for name, data in run.files.items():
        if re.search(r"\.saving-|\.new\.|\.svg\.", name):
            yield f"{name} was left behind"
        elif name == "record" and data is not None and not _whole_record(data):
            yield "half a record"
        elif name.endswith(".svg") and not data.rstrip().endswith(b"</svg>"):
            yield "half a picture"
        elif name == "why" and data and not data.endswith(b"\n"):
            yield "half a line of explanations"
    if run.status in DONE and not _said(run, base) and not _absent(run):
        missing = set(base.files) - set(run.files)
        if missing:
            yield f"not written, and nothing is said: {sorted(missing)[:4]}"
    if "box" in base.files and run.status == 1 and any(name.startswith("box") for name in run.files):
        yield "it failed, and something was saved"


def _whole_record(data):
    lines = data.split(b"\n")
    return lines[0].startswith(b"hashdist-record ") and lines[-1] == b"" and all(
        re.fullmatch(rb"block [0-9a-f]+ -?\d+ [01]|policy [0-9a-f]+ [0-9a-f]+", line) for line in lines[1:-1]
    )  # fmt: skip


def target(case, run, base):
    if run.asleep:
        yield "the process was left stopped"
    elif case.target and (run.target[0] != 0 or "fine after" not in run.target[1]):
        yield f"the process: status {run.target[0]}, {run.target[1]!r}"


def memory(case, run, base):
    if run.book.live:
        yield f"{run.book.live} blocks were never freed, the first from allocation {run.book.first}"


RULES = (status, output, files, target, memory)


def judge(case, run, base):
    """Return: what is wrong, as sentences."""
    return [text for rule in RULES for text in rule(case, run, base)]

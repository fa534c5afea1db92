#!/bin/sh
# Run the tests of a build: check.sh BUILDDIR [MESON TEST OPTION...]
# Shows the logs of tests that failed and why others were skipped, and ends with
# one line "N passed, N failed, N skipped". HASHDIST_REQUIRE_ALL=1: a skip is a failure.
set -u

if [ $# -lt 1 ]; then
	echo "usage: $0 BUILDDIR [MESON TEST OPTION...]" >&2
	exit 2
fi
build=$1
shift

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

results="$build/meson-logs/testlog.json"
rm -f "$results"
meson test -C "$build" --no-rebuild "$@" >"$log" 2>&1
status=$?
if [ ! -s "$results" ]; then
	cat "$log" >&2
	echo "hashdist: no test ran in $build" >&2
	echo "0 passed, 0 failed, 0 skipped"
	exit 1
fi
python3 - "$results" "$status" <<'PYTHON'
import json
import os
import sys

FINE, SKIPPED = ("OK", "EXPECTEDFAIL"), ("SKIP", "IGNORED")
count = {"passed": 0, "failed": 0, "skipped": 0}
require_all = os.environ.get("HASHDIST_REQUIRE_ALL") == "1"
with open(sys.argv[1], encoding="utf-8", errors="replace") as lines:
    tests = [json.loads(line) for line in lines if line.strip()]
for test in tests:
    result = test["result"]
    output = [t for k in ("stdout", "stderr") for t in (test.get(k) or "").splitlines()]
    if result in FINE:
        count["passed"] += 1
    elif result in SKIPPED and not require_all:
        count["skipped"] += 1
        why = [t for t in output if t.strip()]
        print(f"skipped: {test['name']}: {why[-1].strip() if why else 'it does not say why'}")
    else:
        count["failed"] += 1
        print(f"failed: {test['name']}: {result}, status {test.get('returncode')}, {test['duration']:.1f} s")
        print("  run: " + " ".join(test.get("command") or []))
        for text in output:
            print("  | " + text)
if int(sys.argv[2]) and not count["failed"]:
    print(f"failed: meson test itself, status {sys.argv[2]}")
    count["failed"] += 1
print(", ".join(f"{n} {what}" for what, n in count.items()))
sys.exit(1 if count["failed"] else 0)
PYTHON

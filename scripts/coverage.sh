#!/bin/sh
# Which lines and branches the tests reach: coverage.sh [--all] [--no-run] [BUILDDIR]
# Builds BUILDDIR (build-coverage) with counters, runs the tests and prints a table by room, then,
# by file, the functions and lines that were never reached. Without --all neither guests nor the
# bench suite run; --no-run only prints what has been counted already. See docs/coverage.md.
set -u

suites='--no-suite kernels --no-suite bench'
run=1
while :; do
	case "${1:-}" in
	--all) suites='' ;;
	--no-run) run='' ;;
	-*)
		echo "usage: $0 [--all] [--no-run] [BUILDDIR]" >&2
		exit 2
		;;
	*) break ;;
	esac
	shift
done
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=${1:-build-coverage}

"$root/scripts/install-deps.sh" coverage || exit 1
# Programs that tests start as another user count, too; those that cannot must not say so on
# standard error, which tests look at.
umask 0
export GCOV_ERROR_FILE=/dev/null
if [ -n "$run" ]; then
	CC=gcc CXX=g++ "$root/scripts/build.sh" "$build" -Db_coverage=true -Dtests=true || exit 1
	find "$build" -name '*.gcda' -delete
	# Notes of sources that are no longer built would be read as never reached.
	find "$build" -name '*.gcno' | while IFS= read -r notes; do
		[ -e "${notes%.gcno}.o" ] || rm -f "$notes"
	done
	# Tests fail or pass elsewhere; here a failure is told and counted all the same.
	# shellcheck disable=SC2086
	"$root/scripts/check.sh" "$build" $suites >"$build/coverage-tests.txt"
	tail -n 1 "$build/coverage-tests.txt"
	grep '^failed: ' "$build/coverage-tests.txt"
fi

json=$(mktemp) || exit 1
trap 'rm -f "$json"' EXIT
trap 'exit 130' INT TERM
# What is counted: the rooms, not the tests, examples and benchmarks.
cd "$root" || exit 1
gcovr --root . --json "$json" --exclude 'tests/' --exclude 'bench/' --exclude 'examples/' \
	--gcov-ignore-parse-errors --exclude-unreachable-branches --exclude-throw-branches \
	"$build" >"$build/coverage-gcovr.txt" 2>&1 || {
	tail -n 20 "$build/coverage-gcovr.txt" >&2
	exit 1
}
python3 "$root/scripts/coverage.py" "$json"

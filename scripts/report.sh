#!/bin/sh
# Where did this machine's kernel put its large hashes? report.sh BUILDDIR [OPTION...]
# Exit 3 means "done, and something is not as it should be": for this purpose that is fine.
set -u

if [ $# -lt 1 ]; then
	echo "usage: $0 BUILDDIR [OPTION OF hashdist report...]" >&2
	exit 2
fi
build=$1
shift

"$build/cli/hashdist" report "$@"
status=$?
[ "$status" -eq 3 ] && status=0
exit "$status"

#!/bin/sh
# Configure once, then build: build.sh BUILDDIR [MESON SETUP OPTION...]
# Quiet when fine. Options given for a directory that exists change its configuration.
set -u

if [ $# -lt 1 ]; then
	echo "usage: $0 BUILDDIR [MESON SETUP OPTION...]" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=$1
shift

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

# Runs a command; shows what it said only if it failed.
quietly() {
	"$@" >"$log" 2>&1 && return 0
	status=$?
	cat "$log" >&2
	return "$status"
}

if [ ! -f "$build/build.ninja" ]; then
	quietly meson setup "$@" "$build" "$root" || {
		echo "hashdist: configuring $build failed" >&2
		exit 1
	}
elif [ $# -gt 0 ]; then
	# What was missing when it was configured first may have been installed since.
	quietly meson configure --clearcache "$build"
	quietly meson setup --reconfigure "$@" "$build" "$root" || {
		echo "hashdist: configuring $build anew failed" >&2
		exit 1
	}
fi
# Reconfigures by itself when a meson.build has changed.
quietly meson compile -C "$build" || {
	echo "hashdist: building in $build failed" >&2
	exit 1
}

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the tree's HEAD is worth on a bare Debian of another suite, as its users meet it:
#
#   tests/userlands/try.sh [OPTION...] [SUITE...]     bookworm and trixie by default; root only
#
#   --full   with the tests that boot guests, which takes an hour; without it they are left out
#   --step=  one of report check packages autopkgtest install; again for more; without it all of them
#   --keep   the system stays where it is, to be looked at
#
# In a fresh system of the suite (debootstrap's smallest, with git and make) it runs make report, make
# check, make packages, make install and uninstall, and Debian's own autopkgtest over the packages just
# built. Systems and logs are below HASHDIST_USERLANDS (/var/tmp/hashdist-userlands); SUITE.base there
# is made once: remove it to make it anew. Mirror and apt settings are those of this system.
#
# All mounts are made in a mount namespace of this script, all processes run in a process namespace that
# ends with it: whatever ends this script, this system keeps none of either. The last line is
# "N passed, N failed". Exit: 0 fine, 1 not, 2 wrong usage, 77 cannot be done here.
# shellcheck disable=SC2317 # functions are called by their names
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || exit 1
top=${HASHDIST_USERLANDS:-/var/tmp/hashdist-userlands}
usage="usage: $0 [--full] [--keep] [--step=report|check|packages|autopkgtest|install]... [SUITE...]"

full='' keep='' suites=() steps=''
for word in "$@"; do
	case $word in
	--full) full=1 ;;
	--keep) keep=1 ;;
	--step=report | --step=check | --step=packages | --step=autopkgtest | --step=install)
		steps+=" ${word#--step=}"
		;;
	-*)
		echo "$usage" >&2
		exit 2
		;;
	*) suites+=("$word") ;;
	esac
done
steps=${steps:- report check packages autopkgtest install}
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)

if [ "$(id -u)" != 0 ]; then
	echo "$0: needs root: debootstrap, chroot and mounts" >&2
	exit 77
fi
"$root/scripts/install-deps.sh" userlands || exit 77
for suite in "${suites[@]}"; do
	"$root/tests/kernels/archive.py" uri "$suite" >/dev/null || exit
	if ! [ -e "/usr/share/debootstrap/scripts/$suite" ]; then
		echo "$0: this system's debootstrap knows no suite '$suite'" >&2
		exit 2
	fi
done

# From here on in namespaces of our own.
if [ "${HASHDIST_USERLANDS_INSIDE:-}" != 1 ]; then
	export HASHDIST_USERLANDS_INSIDE=1
	exec unshare --mount --propagation private --pid --fork --kill-child -- "${BASH_SOURCE[0]}" "$@"
fi

mkdir -p "$top"
exec 9>"$top/.lock"
if ! flock -n 9; then
	echo "$0: another one is at work in $top" >&2
	exit 1
fi

passed=0 failed=0
system='' # that is mounted

mounts_below() { # DIRECTORY: its mount points, the deepest first
	awk -v top="$1/" 'index($5, top) == 1 { print $5 }' /proc/self/mountinfo | sort -r
}

# Nothing is removed over a mount, not even one of this namespace.
leave() {
	[ -n "$system" ] || return 0
	local point
	while read -r point; do umount -l "$point"; done < <(mounts_below "$system")
	if [ -n "$(mounts_below "$system")" ]; then
		echo "$0: something is still mounted below $system, which is left alone" >&2
	elif [ -z "$keep" ]; then
		rm -rf --one-file-system "$system"
	fi
	system=''
}
trap leave EXIT
trap 'exit 130' INT TERM HUP

# A system that debootstrap has finished, kept for the next time: SUITE
base() {
	local made="$top/$1.base"
	[ -d "$made" ] && return 0
	rm -rf --one-file-system "$made.new"
	debootstrap --variant=minbase --include=ca-certificates,git,make "$1" "$made.new" \
		"$("$root/tests/kernels/archive.py" uri "$1")" && mv "$made.new" "$made"
}

# A copy of it that can reach what this system reaches, mounted, with the tree in it: SUITE
enter() {
	local new="$top/$1.system"
	if [ -n "$(mounts_below "$new")" ]; then
		echo "something is mounted below $new"
		return 1
	fi
	rm -rf --one-file-system "$new" && cp -a "$top/$1.base" "$new" || return 1
	cp -L /etc/resolv.conf /etc/hosts "$new/etc/"
	# Proxies, limits and the like; not whole files, some of which packages there bring, too.
	apt-config dump | grep '^Acquire::' >"$new/etc/apt/apt.conf.d/90hashdist-host"
	rm -f "$new/etc/apt/sources.list"
	"$root/tests/kernels/archive.py" sources "$1" >"$new/etc/apt/sources.list.d/hashdist.sources"
	# Nothing here has to survive a crash.
	echo force-unsafe-io >"$new/etc/dpkg/dpkg.cfg.d/90hashdist-unsafe-io"
	# No package starts a service: they would run beside this system's own.
	printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d" && chmod +x "$new/usr/sbin/policy-rc.d"
	system=$new
	mount -t proc proc "$new/proc" && mount --rbind /sys "$new/sys" && mount --rbind /dev "$new/dev" ||
		return 1
	# Where others than root may look: tests become somebody else.
	git -c safe.directory='*' clone --quiet --no-local "$root" "$new/srv/hashdist"
}

inside() { # COMMAND...: in the tree, in the system, with nothing of this one's environment
	chroot "$system" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive sh -c 'cd /srv/hashdist && "$@"' sh "$@"
}

step() { # NAME COMMAND...
	local name=$1 begin=$SECONDS log="$top/$suite.logs/$1.log"
	shift
	if "$@" >"$log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		printf '   ok      %-12s %4d s  %s\n' "$name" $((SECONDS - begin)) \
			"$(grep -E '^[0-9]+ passed' "$log" | tail -n 1)"
	else
		failed=$((failed + 1))
		printf '   FAILED  %-12s %4d s; the end of %s:\n' "$name" $((SECONDS - begin)) "$log"
		tail -n 40 "$log" | sed 's/^/   | /'
		return 1
	fi
}

wanted() {
	[[ "$steps " == *" $1 "* ]]
}

check() {
	if [ -n "$full" ]; then
		inside make check
	else
		inside make check TESTS='--no-suite kernels'
	fi
}

# Another build, since the prefix of the first is that of nobody's installation. The program must
# work from where it is; of what was installed nothing may stay.
install_and_remove() {
	# shellcheck disable=SC2016
	inside sh -ec '
		make install BUILD=build-install PREFIX=/usr DESTDIR=/tmp/stage
		/tmp/stage/usr/bin/hashdist --version
		/tmp/stage/usr/bin/hashdist run -- true
		make uninstall BUILD=build-install PREFIX=/usr DESTDIR=/tmp/stage
		left=$(find /tmp/stage ! -type d 2>/dev/null || true) # some Mesons take it away, too
		[ -z "$left" ] || { echo "not uninstalled: $left"; exit 1; }'
}

# The installed packages, by their own tests. The system is thrown away: it is its own test bed.
packages_work() {
	# shellcheck disable=SC2016
	inside sh -ec '
		[ -e build/packages ] || make packages
		apt-get update -q
		apt-get install -q -y --no-install-recommends autopkgtest
		apt-get install -q -y ./build/packages/*.deb
		hashdist --version
		autopkgtest --no-built-binaries build/packages/*.deb build/packages/*.dsc -- null'
}

main() {
	[ -z "$(git -c safe.directory='*' -C "$root" status --porcelain)" ] ||
		echo "   what is not committed takes no part"
	for suite in "${suites[@]}"; do
		printf '== %s\n' "$suite"
		mkdir -p "$top/$suite.logs"
		if step debootstrap base "$suite" && step system enter "$suite"; then
			wanted report && step report inside make report
			wanted check && step check check
			wanted packages && step packages inside make packages
			wanted autopkgtest && step autopkgtest packages_work
			wanted install && step install install_and_remove
		fi
		leave
	done
	printf '%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" -eq 0 ]
}

# In one line: whoever changes this file meanwhile changes nothing of this run.
main; exit

#!/bin/sh
# Install the Debian packages that one purpose needs: build, check (with build), ci (with both and
# with cross), coverage or cross (with check), package (with build) or userlands.
# Quiet when all are there. Without root and sudo it names what is missing and stops.
set -eu

here=$(dirname "$0")
case "${1:-}" in
build) purposes='build' ;;
check) purposes='build check' ;;
ci) purposes='build check ci cross' ;;
cross) purposes='build check cross' ;;
coverage) purposes='build check coverage' ;;
userlands) purposes='userlands' ;;
package) purposes='build package' ;;
*)
	echo "usage: $0 build|check|ci|coverage|cross|package|userlands" >&2
	exit 2
	;;
esac

wanted=''
for purpose in $purposes; do
	wanted="$wanted $(awk -v p="$purpose" '$1 == p { print $2 }' "$here/packages.txt")"
done

if ! command -v dpkg-query >/dev/null 2>&1; then
	for tool in cc meson ninja pkg-config scdoc; do
		command -v "$tool" >/dev/null 2>&1 && continue
		echo "hashdist: '$tool' is missing, and this is no Debian system to install it on" >&2
		echo "  try     install the equivalents of:$wanted" >&2
		exit 1
	done
	exit 0
fi

missing=''
for package in $wanted; do
	# shellcheck disable=SC2016
	state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=''
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
	as_root='sudo -n'
elif command -v sudo >/dev/null 2>&1 && [ -t 0 ]; then
	as_root='sudo'
else
	echo "hashdist: packages are missing, and installing them needs root:$missing" >&2
	echo "  try     apt-get install$missing" >&2
	exit 1
fi

echo "hashdist: installing$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
	# Some cross compilers do not go with gcc-multilib: what is there is never taken away for them.
	# shellcheck disable=SC2086
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --no-remove \
		$missing >>"$log" 2>&1
}
if ! install; then
	$as_root apt-get update >>"$log" 2>&1 || true
	if ! install; then
		tail -n 20 "$log" >&2
		echo "hashdist: apt-get could not install$missing" >&2
		exit 1
	fi
fi

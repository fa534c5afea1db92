#!/bin/sh
# A source archive and Debian packages of what is committed: package.sh DIRECTORY
#
# The archive is the same bytes for the same commit, wherever and whenever it is made. The
# packages are built from it, not from this tree, and lintian must find no error in them.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: $0 DIRECTORY" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# git dates the members by the commit; gzip is told to note neither name nor time.
git -c safe.directory="$root" -C "$root" archive --prefix="hashdist-$version/" HEAD -- ':!debian' |
	gzip -9n >"$out/hashdist-$version.tar.gz"
cp "$out/hashdist-$version.tar.gz" "$work/hashdist_$version.orig.tar.gz"
tar -xzf "$work/hashdist_$version.orig.tar.gz" -C "$work"
git -c safe.directory="$root" -C "$root" archive HEAD -- debian | tar -x -C "$work/hashdist-$version"

if ! (cd "$work/hashdist-$version" && dpkg-buildpackage -us -uc) >"$out/build.log" 2>&1; then
	tail -n 40 "$out/build.log" >&2
	echo "hashdist: dpkg-buildpackage failed; all of it is in $out/build.log" >&2
	exit 1
fi
find "$work" -maxdepth 1 -type f -exec cp {} "$out" \;
# The project has no address of its own yet: whoever uploads puts theirs into debian/.
lintian --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog \
	"$out"/hashdist_"$version"-*.changes
for package in "$out"/*.deb; do
	printf '%s\n' "${package##*/}"
	dpkg-deb --contents "$package" | awk '$1 !~ /^d/ { print "  " $6 $7 $8 }'
done

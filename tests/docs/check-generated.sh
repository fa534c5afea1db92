#!/bin/sh
# SPDX-License-Identifier: MIT
# A page is what its generator prints: check-generated.sh GENERATOR PAGE
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$1" >"$work/page" || exit 1
if ! diff -u "$2" "$work/page"; then
	echo "$2: not what $1 prints; renew it with: $1 >$2" >&2
	exit 1
fi

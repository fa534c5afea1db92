#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check-freestanding.sh LIB.A [ROOM] - can a kernel link core/ (or another such room)?
#
# 1. The archive asks for nothing but its own hd_* and text_*, the four memory functions that
#    compilers call on their own, and libgcc's integer arithmetic; and it exports nothing else.
# 2. The same sources compile for 32 bits with the compiler's own headers alone, and ask for no more
#    there, where 64-bit division is a function.
#
# Exit: 0 fine, 1 not (stderr says what), 77 the compiler or its options do not allow the check.

set -u
LC_ALL=C
export LC_ALL

archive=${1:?usage: check-freestanding.sh LIB.A [ROOM]}
room=${2:-core}
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
cc=${CC:-cc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
wrong=0

if ! [ -r "$archive" ]; then
	echo "$archive: cannot be read" >&2
	exit 1
fi

# check_symbols WHAT FILE...: prints what is wrong with the symbols of FILE...
check_symbols() {
	what=$1
	shift
	if ! nm -g "$@" >"$work/all" 2>"$work/err"; then
		echo "$what: nm failed:" >&2
		cat "$work/err" >&2
		wrong=1
		return
	fi
	awk 'NF == 3 { print $3 }' "$work/all" | sort -u >"$work/defined"
	awk 'NF == 2 && $1 == "U" { print $2 }' "$work/all" | sort -u >"$work/undefined"
	if ! [ -s "$work/defined" ]; then
		echo "$what: defines nothing" >&2
		wrong=1
	fi
	if grep -Eq '^_*(asan|ubsan|tsan|msan|gcov|llvm_profile|sanitizer)_' "$work/undefined"; then
		echo "$what: built with a sanitizer or with coverage; nothing to check here" >&2
		exit 77
	fi
	grep -Ev '^(hd|text)_|^__x86\.get_pc_thunk\.' "$work/defined" >"$work/bad"
	while read -r symbol; do
		echo "$what: exports $symbol, which is neither hd_* nor text_*" >&2
		wrong=1
	done <"$work/bad"
	comm -23 "$work/undefined" "$work/defined" |
		grep -Ev '^mem(cpy|set|move|cmp)$' |
		grep -Ev '^__(u?div|u?mod|udivmod|divmod|mul|ashl|ashr|lshr|neg|u?cmp)[dt]i[234]$' |
		grep -Ev '^__(clz|ctz|ffs|popcount|parity|bswap)[sdt]i2$' |
		grep -Ev '^__aeabi_(u?l?divmod|u?idiv(mod)?|llsl|llsr|lasr|lmul|u?lcmp)$' |
		grep -Ev '^_GLOBAL_OFFSET_TABLE_$' >"$work/bad"
	while read -r symbol; do
		echo "$what: needs $symbol, which a kernel does not have:" >&2
		nm -gA "$@" 2>/dev/null | grep -E " U $symbol\$" | sed 's/^/  /' >&2
		wrong=1
	done <"$work/bad"
}

check_symbols "$archive" "$archive"

# From here on with no headers but those that come with the compiler.
cat >"$work/probe.c" <<'END'
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef char check[sizeof(void *) == 4 ? 1 : -1];
extern check probe;
check probe;
END
narrow() {
	$cc -m32 -std=c17 -ffreestanding -O2 -fno-stack-protector -fno-pic -w "$@" 2>"$work/err"
}
if ! narrow -c "$work/probe.c" -o "$work/probe.o"; then
	[ "$wrong" = 0 ] || exit 1
	echo "32 bits: $cc cannot compile with -m32, not checked:" >&2
	sed 's/^/  /' "$work/err" >&2
	exit 77
fi
for source in "$root/$room"/*.c; do
	object=$work/$(basename "$source" .c).o
	if ! narrow -I"$root/include" -I"$root" -c "$source" -o "$object"; then
		echo "32 bits: $source does not compile:" >&2
		sed 's/^/  /' "$work/err" >&2
		wrong=1
	fi
done
rm -f "$work/probe.o"
[ "$wrong" = 0 ] && check_symbols "32 bits" "$work"/*.o
exit $wrong

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Other architectures and another libc: tests/cross/try.sh [--full] [arm64|i386|musl...], all by default
#
#   arm64, i386   the library and the rooms up to plan/, warning-free, and their tests in qemu-user
#   --full        the program, too, and its plans of all recorded boots
#   musl          the same rooms without tests, warning-free; static programs on the library
#
# Builds below BUILD (build-cross). Libraries for another architecture are unpacked into the cache, not
# installed: see sysroot.py. The last line is "N passed, N failed, N skipped"; nothing may be skipped
# with HASHDIST_REQUIRE_ALL=1. Exit: 0 fine, 1 not, 2 wrong usage.
# shellcheck disable=SC2317 # functions are called by their names
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
root=$(cd "$here/../.." && pwd) || exit 1
build=${BUILD:-$root/build-cross}

full='' what=()
for word in "$@"; do
	case $word in
	--full) full=1 ;;
	arm64 | i386 | musl) what+=("$word") ;;
	*)
		echo "usage: $0 [--full] [arm64|i386|musl...]" >&2
		exit 2
		;;
	esac
done
[ ${#what[@]} -gt 0 ] || what=(arm64 i386 musl)
"$root/scripts/install-deps.sh" cross || exit 1
mkdir -p "$build"

passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM

result() { # NAME STATUS: 77 is a skip, whose reason is the last line of the log
	case $2 in
	0) passed=$((passed + 1)) ;;
	77)
		skipped=$((skipped + 1))
		printf 'skipped: %s: %s\n' "$1" "$(tail -n 1 "$log")"
		;;
	*)
		failed=$((failed + 1))
		printf 'failed: %s\n' "$1"
		tail -n 100 "$log" | sed 's/^/  | /'
		return 1
		;;
	esac
}

check() { # NAME COMMAND...
	local name=$1
	shift
	"$@" >"$log" 2>&1
	result "$name" $?
}

# A line `name = 'directory'` for the machine files beside this script, which say what is there.
constant() { # FILE NAME DIRECTORY
	printf "[constants]\n%s = '%s'\n" "$2" "$3" >"$1"
}

# Rooms whose tests ask nothing of the machine they run on, which lacks many system calls in qemu-user.
# The pretend memory of the suite "linux" lies beyond 32 bits.
suites=(core tlb klog ktables sim boot)

foreign() { # ARCHITECTURE
	local arch=$1 dir="$build/$1" sysroot suite options=() status counts
	sysroot=$("$here/sysroot.py" "$arch" 2>&1)
	status=$?
	if [ $status -ne 0 ]; then
		printf '%s\n' "$sysroot" >"$log"
		result "$arch" $status
		return
	fi
	constant "$build/$arch.ini" sysroot "$sysroot"
	[ -n "$full" ] || options+=(-Dprogram=false)
	check "$arch: build" "$root/scripts/build.sh" "$dir" --werror -Dtests=auto "${options[@]}" \
		--cross-file "$build/$arch.ini" --cross-file "$here/$arch.ini" || return
	options=()
	[ "$arch" = i386 ] || options+=(--suite linux)
	for suite in "${suites[@]}"; do options+=(--suite "$suite"); done
	# In the compilers for one architecture only, "-m32" is no option.
	HASHDIST_REQUIRE_ALL=0 "$root/scripts/check.sh" "$dir" "${options[@]}" >"$log" 2>&1
	status=$?
	counts=$(tail -n 1 "$log")
	if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]] && [ "${BASH_REMATCH[1]}" -gt 0 ]; then
		passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
		[ $status -eq 0 ] || sed "s/^/$arch: /" "$log"
	else
		result "$arch: tests" 1
	fi
	check "$arch: refused" refused "$arch" "$dir/lib/libhashdist.a"
	[ -n "$full" ] && program "$arch" "$dir"
}

emulate() { # ARCHITECTURE PROGRAM...
	case $1 in
	arm64) qemu-aarch64 "${@:2}" ;;
	i386) qemu-i386 "${@:2}" ;;
	esac
}

# One program on the library: what it does with numbers is its architecture's, the memory the host's.
refused() { # ARCHITECTURE LIBRARY
	local compiler=aarch64-linux-gnu-gcc made="$build/$1-refused"
	[ "$1" = i386 ] && compiler=i686-linux-gnu-gcc
	"$compiler" -static -O2 -D_GNU_SOURCE -I"$root/include" "$here/refused.c" "$2" -o "$made" && emulate "$1" "$made"
}

# The whole program, by a name that the tests of the native one can call.
program() { # ARCHITECTURE BUILD
	local arch=$1 dir=$2 emulated="$2/hashdist-emulated"
	{
		printf '#!/bin/bash\n'
		declare -f emulate
		printf 'emulate %s "%s" "$@"\n' "$arch" "$dir/cli/hashdist"
	} >"$emulated"
	chmod +x "$emulated"
	check "$arch: --version" "$emulated" --version
	check "$arch: plans of recorded boots" python3 "$root/tests/kernels/matrix.py" check --recorded "$emulated"
}

# What a compiler for musl lacks are the kernel's headers, and those of zlib, which are nobody's libc;
# all of /usr/include would bring the other libc's, too.
musl_headers() { # DIRECTORY
	local multiarch
	multiarch=$(gcc -print-multiarch)
	rm -rf "$1" && mkdir -p "$1" || return 1
	ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$multiarch/asm" \
		/usr/include/zlib.h /usr/include/zconf.h "$1/"
}

musl_program() { # NAME SOURCE LIBRARY...
	local name=$1 program="$build/musl-programs/$1"
	shift
	check "musl: $name links" musl-gcc -static -std=gnu17 -O2 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror \
		-isystem "$build/musl-headers" -I"$root/include" -I"$root" "$@" -o "$program" || return
	if ! readelf -d "$program" | grep -q 'no dynamic section'; then
		echo "$program is not static" >"$log"
		result "musl: $name" 1
	fi
}

# klog/ reads every boot log as it does on this system's libc.
musl_klog() {
	local native="$build/musl-programs/klog-native" text
	gcc -O2 -D_GNU_SOURCE -I"$root/include" -I"$root" "$here/klog.c" "$root"/klog/*.c "$root"/core/*.c -lz -o "$native" ||
		return 1
	for text in "$root"/tests/boot-logs/*.log; do
		"$native" <"$text" >"$build/musl-programs/want" || return 1
		"$build/musl-programs/klog" <"$text" | diff "$build/musl-programs/want" - || return 1
		cat "$build/musl-programs/want" >>"$build/musl-programs/all"
	done
	grep -q '^Dentry cache: ' "$build/musl-programs/all" # or both read nothing
}

musl() {
	local dir="$build/musl" lib="$build/musl/lib/libhashdist.a" made="$build/musl-programs" name
	rm -rf "$made" && mkdir "$made" || return
	check 'musl: headers' musl_headers "$build/musl-headers" || return
	constant "$build/musl.ini" headers "$build/musl-headers"
	check 'musl: build' "$root/scripts/build.sh" "$dir" --werror -Dprogram=false -Dtests=false \
		--native-file "$build/musl.ini" --native-file "$here/musl.ini" || return
	for name in tests/install/stranger tests/cross/refused examples/table examples/test_large; do
		musl_program "${name##*/}" "$root/$name.c" "$lib" && check "musl: ${name##*/}" "$made/${name##*/}"
	done
	musl_program print-tables "$root/tests/docs/print-tables.c" "$dir/core/libcore.a" &&
		check 'musl: core' "$root/tests/docs/check-generated.sh" "$made/print-tables" "$root/docs/tables.md"
	musl_program klog "$here/klog.c" "$dir/klog/libklog.a" "$dir/core/libcore.a" &&
		check 'musl: klog' musl_klog
}

main() {
	for word in "${what[@]}"; do
		if [ "$word" = musl ]; then musl; else foreign "$word"; fi
	done
	printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	[ "$failed" -eq 0 ] && { [ "$skipped" -eq 0 ] || [ "${HASHDIST_REQUIRE_ALL:-}" != 1 ]; }
}

# In one line: whoever changes this file meanwhile changes nothing of this run.
main; exit

#!/bin/sh
# Manuals and completion as their own checkers see them. HASHDIST_SOURCE is the source tree.
#
# scdoc itself writes paragraphs that mandoc finds needless ("skipping paragraph macro"); every
# other warning counts. mandoc's remarks on style (long lines, lower case title) do not.
set -u

source=${HASHDIST_SOURCE:-$(dirname "$0")/../..}
for tool in scdoc mandoc; do
	if ! command -v "$tool" >/dev/null; then
		echo "skipped: no $tool" >&2
		exit 77
	fi
done

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

status=0
pages=0
for manual in "$source"/man/*.scd; do
	page=$work/$(basename "$manual" .scd)
	pages=$((pages + 1))
	if ! scdoc <"$manual" >"$page"; then
		echo "$manual: scdoc does not take it" >&2
		status=1
		continue
	fi
	mandoc -T lint -W warning "$page" |
		grep -v ': WARNING: skipping paragraph macro: ' >"$work/found"
	if [ -s "$work/found" ]; then
		sed "s|^mandoc: $work/||" "$work/found" >&2
		status=1
	fi
	# What scdoc did not understand shows up as such in the page.
	if mandoc -T utf8 "$page" | grep -nE '\*[a-z-]+\*|\\$|\+\+$' >&2; then
		echo "$manual: formatting that was not understood, see above" >&2
		status=1
	fi
done
if [ "$pages" -lt 2 ]; then
	echo "$source/man: $pages manuals where two or more should be" >&2
	status=1
fi

if command -v shellcheck >/dev/null; then
	shellcheck --shell=bash "$source/completion/hashdist" >&2 || status=1
else
	echo "skipped: no shellcheck; the completion was not checked" >&2
fi
exit "$status"

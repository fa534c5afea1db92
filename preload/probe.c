/* SPDX-License-Identifier: MIT */
/*
 * probe.c - is it worth, and right, to collapse this block?
 *
 * At least half of its pages must be there, as the rest is filled up with zeroes
 * and becomes resident. Hardly any may be shared: after a fork() a collapse would
 * copy what parent and child have in common. A page of a file must not be among
 * them.
 *
 * The books are /proc/self/pagemap. A process that has given up privileges may not
 * open its own; then mincore(2) tells what is there, and whether it has forked
 * stands for what is shared.
 *
 * Source of the bits: Documentation/admin-guide/mm/pagemap.rst, Linux 6.12.
 */
#include "backend/linux/sys.h"
#include "preload/preload.h"
#include "preload/probe.h"

#define ENTRY_PRESENT (1ULL << 63)
#define ENTRY_FILE    (1ULL << 61) /* of a file, or shared anonymous memory */
#define ENTRY_ALONE   (1ULL << 56) /* mapped by this process only */

enum { PROBE_PAGES = 8192 }; /* pages in the largest block: of 64 KiB in 512 MiB */

static uint64_t entry[PROBE_PAGES];

static bool mostly_ours(uint64_t pages, uint64_t ours, uint64_t others)
{
	return ours * 2 >= pages && others * 8 <= pages;
}

/** Without the right to read pagemap: what is there, and nothing of it shared by a fork. */
static bool probe_resident(const struct blocks *blocks, uint64_t at, uint64_t pages)
{
	unsigned char *there = (unsigned char *)entry;
	uint64_t count = 0;

	if (preload_has_forked ||
	    HDL_SYS(SYS_mincore, (long)at, (long)(1ULL << blocks->huge_shift), (long)there))
		return false;
	for (uint64_t i = 0; i < pages; i++)
		count += there[i] & 1;
	return mostly_ours(pages, count, 0);
}

bool probe_worth_it(const struct blocks *blocks, uint64_t at)
{
	uint64_t pages = 1ULL << (blocks->huge_shift - blocks->page_shift), ours = 0, others = 0;
	long want = (long)(pages * sizeof(entry[0]));

	if (pages > PROBE_PAGES)
		return false;
	if (blocks->pagemap < 0)
		return probe_resident(blocks, at, pages);
	if (HDL_SYS(SYS_pread64, blocks->pagemap, (long)entry, want,
		    (long)((at >> blocks->page_shift) * sizeof(entry[0]))) != want)
		return false;
	for (uint64_t i = 0; i < pages; i++) {
		if (!(entry[i] & ENTRY_PRESENT))
			continue;
		if (entry[i] & ENTRY_FILE)
			return false;
		if (entry[i] & ENTRY_ALONE)
			ours++;
		else
			others++;
	}
	return mostly_ours(pages, ours, others);
}

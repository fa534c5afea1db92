/* SPDX-License-Identifier: MIT */
/*
 * boot_alloc.c - memory before there is a page allocator
 *
 * A list of what is free. Given out from the top down, wherever that is, unless a node is named:
 * so do x86 kernels, and it is why a table that is made early usually lies on the last node.
 * Nothing is ever given back; pages_init() takes what is left.
 */
#include "kernel.h"

static struct ranges free_ranges;
static uint64_t limit = UINT64_MAX;

void boot_alloc_init(void)
{
	free_ranges = ram;
}

void boot_limit(uint64_t address)
{
	limit = address;
}

void boot_reserve(uint64_t start, uint64_t end)
{
	for (unsigned i = free_ranges.count; i-- > 0;) {
		struct range *range = &free_ranges.at[i];
		uint64_t from = range->start > start ? range->start : start;
		uint64_t to = range->end < end ? range->end : end;

		if (from < to)
			ranges_cut(&free_ranges, i, from, to);
	}
}

uint64_t boot_alloc(uint64_t bytes, uint64_t align, int node)
{
	for (unsigned i = free_ranges.count; i-- > 0;) {
		struct range *range = &free_ranges.at[i];
		uint64_t end = range->end < limit ? range->end : limit;
		uint64_t start;

		if ((node != ANY_NODE && node != range->node) || end < bytes)
			continue;
		start = round_down(end - bytes, align);
		if (start < range->start)
			continue;
		ranges_cut(&free_ranges, i, start, start + bytes);
		return start;
	}
	return 0;
}

const struct ranges *boot_free(void)
{
	return &free_ranges;
}

uint64_t boot_free_pages(uint64_t below)
{
	uint64_t pages = 0;

	for (unsigned i = 0; i < free_ranges.count; i++) {
		uint64_t end = free_ranges.at[i].end < below ? free_ranges.at[i].end : below;
		uint64_t first = round_up(free_ranges.at[i].start, PAGE) >> PAGE_SHIFT;

		pages += end >> PAGE_SHIFT > first ? (end >> PAGE_SHIFT) - first : 0;
	}
	return pages;
}

/* SPDX-License-Identifier: MIT */
/*
 * count.c - the pages from which tables are sized
 *
 * Not the installed memory: each era of kernels counts differently, and core knows how. What it
 * wants from a kernel is the zones of each node (before 6.10), or what the boot allocator has
 * free once struct pages and page tables are taken (since).
 *
 * Borders of zones are x86-64's: 16 MiB for old devices, 4 GiB for those with 32 address lines.
 */
#include "kernel.h"

#define DMA_END (16UL << 20)

static const uint64_t borders[] = { 0, DMA_END, 4 * GIANT, UINT64_MAX };

enum { ZONES = sizeof(borders) / sizeof(borders[0]) - 1 };

/** The zones of @node that have memory. Return: how many. */
static size_t zones_of(int node, struct hd_zone zones[ZONES])
{
	size_t count = 0;

	for (unsigned z = 0; z < ZONES; z++) {
		uint64_t first = 0, last = 0, present = 0;

		for (unsigned i = 0; i < ram.count; i++) {
			uint64_t start = ram.at[i].start, end = ram.at[i].end;

			start = start > borders[z] ? start : borders[z];
			end = end < borders[z + 1] ? end : borders[z + 1];
			if (ram.at[i].node != node || start >= end)
				continue;
			first = present ? first : start;
			last = end;
			present += end - start;
		}
		if (present)
			zones[count++] = (struct hd_zone){ .spanned = (last - first) >> PAGE_SHIFT,
							   .present = present >> PAGE_SHIFT };
	}
	return count;
}

/** RAM below 16 MiB that is taken; pages. */
static uint64_t taken_below_16m(void)
{
	uint64_t pages = 0;

	for (unsigned i = 0; i < ram.count && ram.at[i].start < DMA_END; i++) {
		uint64_t end = ram.at[i].end < DMA_END ? ram.at[i].end : DMA_END;

		pages += (end - ram.at[i].start) >> PAGE_SHIFT;
	}
	return pages - boot_free_pages(DMA_END);
}

void count_pages(const struct hd_rules *rules, struct hd_pages *out)
{
	uint64_t reserve = taken_below_16m();

	*out = (struct hd_pages){ 0 };
	if (rules->value[HD_RULE_COUNT_ERA] == HD_ERA_C) {
		out->kernel = out->all = boot_free_pages(UINT64_MAX);
		return;
	}
	for (int node = 0; node < NODES_MAX; node++) {
		struct hd_zone zones[ZONES];
		size_t count = zones_of(node, zones);
		struct hd_pages pages;

		if (!count)
			continue;
		hd_pages_from_zones(rules, zones, count, sizeof(struct page), reserve, &pages);
		out->kernel += pages.kernel;
		out->all += pages.all;
		reserve = 0; /* only the first zone of all has it */
	}
}

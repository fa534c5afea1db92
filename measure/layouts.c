/* SPDX-License-Identifier: MIT */
/*
 * layouts.c - the layouts, and whether one was had
 *
 * A figure is worth nothing if the table was not what its label says. Only
 * what the kernel's books say of the table counts here, as `got` has it.
 */
#include <unistd.h>

#include "measure/measure.h"

enum { HAD_PERCENT = 90 };

const struct measure_layout measure_layouts[MEASURE_LAYOUTS] = {
	[MEASURE_BASE_ONE] = { "base-one", "base", "one", HD_PAGES_BASE, HD_NODES_ONE },
	[MEASURE_LARGE_ONE] = { "large-one", "large", "one", HD_PAGES_LARGE, HD_NODES_ONE },
	[MEASURE_BASE_SPREAD] = { "base-spread", "base", "spread", HD_PAGES_BASE, HD_NODES_SPREAD },
	[MEASURE_LARGE_SPREAD] = { "large-spread", "large", "spread", HD_PAGES_LARGE,
				   HD_NODES_SPREAD },
	[MEASURE_HUGETLB_ONE] = { "hugetlb-one", "hugetlb", "one", HD_PAGES_HUGETLB, HD_NODES_ONE },
	[MEASURE_HUGETLB_SPREAD] = { "hugetlb-spread", "hugetlb", "spread", HD_PAGES_HUGETLB,
				     HD_NODES_SPREAD },
	[MEASURE_1G_ONE] = { "1g-one", "1g", "one", HD_PAGES_1G, HD_NODES_ONE },
	[MEASURE_1G_SPREAD] = { "1g-spread", "1g", "spread", HD_PAGES_1G, HD_NODES_SPREAD },
};

uint64_t measure_large_bytes(const struct hd_got *got)
{
	uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE), large = 0;

	for (uint32_t p = 0; p < got->page_sizes; p++)
		if (got->page[p].page_bytes > base)
			large += got->page[p].bytes;
	return large;
}

static bool nearly(uint64_t part, const struct hd_got *got)
{
	return got->bytes && part >= got->bytes / 100 * HAD_PERCENT;
}

static bool pages_had(const struct measure_layout *layout, const struct hd_got *got)
{
	if (got->pages_why == HD_WHY_MET)
		return true;
	if (layout->want_pages == HD_PAGES_LARGE)
		return nearly(measure_large_bytes(got), got);
	/* What came instead of a pool's pages may be of their size, and not to be told apart. */
	return false;
}

static bool nodes_had(const struct measure_layout *layout, const struct hd_got *got)
{
	uint64_t most = 0;

	if (got->nodes_why == HD_WHY_MET)
		return true;
	for (uint32_t n = 0; n < got->nodes; n++)
		most = got->node[n].bytes > most ? got->node[n].bytes : most;
	if (layout->want_nodes == HD_NODES_ONE)
		return nearly(most, got);
	return most && !nearly(most, got);
}

bool measure_had(const struct measure_layout *layout, const struct hd_got *got)
{
	return pages_had(layout, got) && nodes_had(layout, got);
}

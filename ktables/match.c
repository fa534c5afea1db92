/* SPDX-License-Identifier: MIT */
/*
 * match.c - which vmalloc area is which table
 *
 * vmallocinfo names the allocator, not the table, so size is the only mark. An
 * area is the table rounded up to the page it is mapped with. Where several
 * tables have one size and their areas differ in spread, they are taken in the
 * order of the log and of the file, and the rows say so. A list of pages may have
 * a table's size, too.
 */
#include <errno.h>
#include <stdlib.h>

#include "ktables/internal.h"

static uint64_t area_bytes(const struct ktables_row *row)
{
	uint64_t unit = 1ULL << row->shift;

	return (row->bytes + unit - 1) & ~(unit - 1);
}

static bool scattered(const struct ktables_row *row)
{
	return row->mapping == HD_MAP_VMALLOC || row->mapping == HD_MAP_VMALLOC_HUGE;
}

static bool same_spread(const struct machine_area *a, const struct machine_area *b, uint32_t nodes)
{
	if (!a->node_pages || !b->node_pages)
		return false;
	for (uint32_t n = 0; n < nodes; n++)
		if (a->node_pages[n] != b->node_pages[n])
			return false;
	return true;
}

/** Areas of this size: the first not taken yet, how many, and do they lie alike? */
static const struct machine_area *pick(const struct machine *books, uint64_t bytes, bool *taken,
				       bool *alike)
{
	const struct machine_area *first = NULL, *any = NULL;

	*alike = true;
	for (uint32_t a = 0; a < books->areas; a++) {
		const struct machine_area *area = &books->area[a];

		if (area->bytes != bytes)
			continue;
		if (any && !same_spread(any, area, books->nodes))
			*alike = false;
		any = area;
		if (!taken[a] && !first) {
			first = area;
			taken[a] = true;
		}
	}
	return first;
}

/**
 * A table of many pages comes with a list of them, which is an area of its own by the
 * same caller and no table. The first area of that size is taken for it, since lists of
 * the large, early tables are made before the small tables are.
 */
static void pass_over_lists(const struct machine *books, uint64_t page, uint64_t word, bool *taken)
{
	for (uint32_t a = 0; a < books->areas; a++) {
		uint64_t list = books->area[a].pages * word;
		uint32_t at = 0;

		if (list <= page)
			continue;
		while (at < books->areas &&
		       (taken[at] || books->area[at].bytes != ((list + page - 1) & ~(page - 1))))
			at++;
		if (at < books->areas)
			taken[at] = true;
	}
}

int ktables_match_areas(struct ktables_survey *survey, const struct machine *books)
{
	bool *taken = calloc(books->areas ? books->areas : 1, sizeof(*taken));
	uint64_t page = 1ULL << survey->facts.machine.rules.value[HD_RULE_PAGE_SHIFT];

	if (!taken)
		return -ENOMEM;
	pass_over_lists(books, page,
			(uint64_t)survey->facts.machine.rules.value[HD_RULE_WORD_BYTES], taken);
	for (uint32_t r = 0; r < survey->rows; r++) {
		struct ktables_row *row = &survey->row[r];
		const struct machine_area *area;
		bool alike;

		if (!scattered(row) || !row->bytes || row->shift >= 63)
			continue;
		area = pick(books, area_bytes(row), taken, &alike);
		if (!area) {
			/* Computed only, and not where it would have to be: it is elsewhere. */
			if (row->mapping_computed) {
				row->mapping = HD_MAP_UNKNOWN;
				row->shift = 0;
			}
			continue;
		}
		if (!area->node_pages)
			continue;
		row->node_bytes = survey->node_store + (size_t)r * books->nodes;
		row->spread_assumed = !alike;
		for (uint32_t n = 0; n < books->nodes; n++)
			row->node_bytes[n] = area->node_pages[n] * page;
	}
	free(taken);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * ranges.c - sorted lists of memory, in arrays of fixed size
 *
 * Ranges of a list do not overlap. Neighbours are not joined: they may be of different nodes.
 */
#include "kernel.h"

struct ranges ram;

static void insert(struct ranges *ranges, unsigned index, struct range range)
{
	if (ranges->count == RANGES_MAX)
		panic("too many ranges of memory");
	for (unsigned i = ranges->count++; i > index; i--)
		ranges->at[i] = ranges->at[i - 1];
	ranges->at[index] = range;
}

void ranges_add(struct ranges *ranges, uint64_t start, uint64_t end, int node)
{
	unsigned index = ranges->count;

	if (start >= end)
		return;
	while (index && ranges->at[index - 1].start > start)
		index--;
	insert(ranges, index, (struct range){ start, end, node });
}

void ranges_cut(struct ranges *ranges, unsigned index, uint64_t start, uint64_t end)
{
	struct range *range = &ranges->at[index];
	struct range above = { end, range->end, range->node };

	range->end = start;
	if (above.start < above.end)
		insert(ranges, index + 1, above);
	if (range->start < range->end)
		return;
	ranges->count--;
	for (unsigned i = index; i < ranges->count; i++)
		ranges->at[i] = ranges->at[i + 1];
}

void ranges_cross(const struct ranges *memory, const struct ranges *nodes, struct ranges *out)
{
	out->count = 0;
	for (unsigned m = 0; m < memory->count; m++) {
		for (unsigned n = 0; n < nodes->count; n++) {
			const struct range *a = &memory->at[m], *b = &nodes->at[n];
			uint64_t start = a->start > b->start ? a->start : b->start;
			uint64_t end = a->end < b->end ? a->end : b->end;

			ranges_add(out, round_up(start, PAGE), round_down(end, PAGE), b->node);
		}
	}
}

int node_of(uint64_t address)
{
	for (unsigned i = 0; i < ram.count; i++)
		if (address >= ram.at[i].start && address < ram.at[i].end)
			return ram.at[i].node;
	return -1;
}

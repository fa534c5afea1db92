/* SPDX-License-Identifier: MIT */
/*
 * count.c - adds one walk to where it belongs
 */
#include "count.h"

#include <string.h>

const char *const count_kind_names[HD_TLB_KINDS] = { "load", "store" };
const char *const count_mode_names[COUNT_MODES] = { "user", "kernel" };
const char *const count_size_names[COUNT_SIZES] = { "4K", "2M", "1G" };

/* Open addressing; gives up after an eighth of the table. */
static struct count_place *place_of(struct counts *counts, uint64_t pc)
{
	uint32_t at = (uint32_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 49);

	for (uint32_t tries = 0; tries < COUNT_PLACES / 8; tries++) {
		struct count_place *place = &counts->places[(at + tries) % COUNT_PLACES];

		if (place->pc == pc || !place->pc) {
			place->pc = pc;
			return place;
		}
	}
	return NULL;
}

static enum count_size size_of(uint8_t shift)
{
	return shift >= 30 ? COUNT_1G : shift >= 21 ? COUNT_2M : COUNT_4K;
}

void count_walk(struct counts *counts, const struct count_walk *walk)
{
	enum count_mode mode = count_mode_of(walk->pc);
	struct count_place *place;

	counts->walks[walk->kind][mode][walk->region][size_of(walk->shift)]++;
	if (mode != COUNT_KERNEL)
		return;
	place = place_of(counts, walk->pc);
	if (place)
		place->walks[walk->kind]++;
	else
		counts->without_place++;
}

void count_reset(struct counts *counts)
{
	memset(counts, 0, sizeof(*counts));
}

/* SPDX-License-Identifier: MIT */
/*
 * expect.c - page walks per lookup at random buckets of one table
 *
 * Played through the model rather than worked out: sets, sizes that share an array and
 * two levels of different reach are all in it then.
 */
#include "tlb/tlb.h"

enum {
	LOOKUPS = 1 << 15,
	WARM_UP = 1 << 16, /* sixteen times what the largest TLB holds: all but surely met once */
};

/* Where no table starts otherwise, on a border of every translation. */
static const uint64_t START = 1ull << 46;

static struct hd_tlb_translation placed(void *context, uint64_t address, int kind)
{
	const struct hd_tlb_table *table = context;

	(void)kind;
	return (struct hd_tlb_translation){ .shift = address - START < table->large_bytes
							 ? table->large_shift
							 : table->small_shift };
}

/* A page below @pages, by 32 random bits. */
static uint64_t pick(uint64_t pages, uint64_t random)
{
	unsigned scale = 0;

	while (pages >> scale >> 32)
		scale++;
	return ((random >> 32) * (pages >> scale) >> 32 << scale) |
	       (random & ((1ull << scale) - 1));
}

int hd_tlb_expect(const struct hd_tlb_geometry *geometry, const struct hd_tlb_paging *paging,
		  const struct hd_tlb_table *table, uint32_t lookups, void *memory, size_t bytes,
		  uint32_t *walks_ppm)
{
	struct hd_tlb_table placement = *table;
	uint64_t pages = (table->bytes >> 12) + !!(table->bytes & 0xfff), random = 0;
	struct hd_tlb tlb;
	int err;

	if (!table->bytes || table->bytes > 1ull << 45 || table->large_bytes > table->bytes)
		return HD_TLB_EINVAL;
	err = hd_tlb_init(
	    &tlb,
	    &(struct hd_tlb_config){
		.geometry = geometry, .paging = paging, .walk = placed, .context = &placement },
	    memory, bytes);
	if (err)
		return err;
	if (!lookups)
		lookups = LOOKUPS;
	for (uint64_t i = 0; i < (uint64_t)WARM_UP + lookups; i++) {
		if (i == WARM_UP)
			hd_tlb_reset_counts(&tlb);
		random = hd_tlb_draw(random, i);
		hd_tlb_access(&tlb, START + (pick(pages, random) << 12), HD_TLB_LOAD);
	}
	*walks_ppm = (uint32_t)(hd_tlb_read_counts(&tlb).walks[HD_TLB_LOAD] * 1000000 / lookups);
	return 0;
}

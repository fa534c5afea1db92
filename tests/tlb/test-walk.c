/* SPDX-License-Identifier: MIT */
/* test-walk.c - table entries that walks read, with walk caches and in a guest */
#include "help.h"

/* One translation in all, so that every other page is a walk. */
static const struct hd_tlb_geometry tiny = {
	.arrays[0] = { .level = 1,
		       .kinds = 3,
		       .sets = 1,
		       .ways = 1,
		       .holds = { { HD_TLB_4K | HD_TLB_64K | HD_TLB_2M | HD_TLB_1G, 0, 1 } } }
};

static uint64_t references(struct model *m, uint64_t address)
{
	uint64_t before = m->tlb.counts.references[HD_TLB_LOAD];

	assert_int_equal(hd_tlb_access(&m->tlb, address, HD_TLB_LOAD), 0);
	return m->tlb.counts.references[HD_TLB_LOAD] - before;
}

static uint64_t first_references(const struct hd_tlb_config *config, unsigned shift)
{
	struct model m;
	uint64_t count;

	model_open(&m, config, shift);
	count = references(&m, 0);
	model_close(&m);
	return count;
}

static void a_walk_reads_one_entry_a_level(void **state)
{
	struct hd_tlb_config config = { .geometry = &tiny };

	(void)state;
	assert_int_equal(first_references(&config, 12), 4);
	assert_int_equal(first_references(&config, 16), 4); /* sixteen entries, one of them read */
	assert_int_equal(first_references(&config, 21), 3);
	assert_int_equal(first_references(&config, 30), 2);
	config.paging = &hd_tlb_5_levels;
	assert_int_equal(first_references(&config, 12), 5);
	config.paging = &hd_tlb_arm64_64k;
	assert_int_equal(first_references(&config, 16), 3);
	assert_int_equal(first_references(&config, 29), 2);
}

/* (n + 1)(m + 1) - 1 */
static void a_guest_pays_for_every_table_of_its_own(void **state)
{
	struct hd_tlb_config config = { .geometry = &tiny,
					.host = &hd_tlb_4_levels,
					.host_shift = 12 };

	(void)state;
	assert_int_equal(first_references(&config, 12), 24);
	assert_int_equal(first_references(&config, 21), 19);
	config.host_shift = 21;
	assert_int_equal(first_references(&config, 12), 19);
	assert_int_equal(first_references(&config, 21), 15);
	config.host_shift = 12;
	config.paging = config.host = &hd_tlb_5_levels;
	assert_int_equal(first_references(&config, 12), 35);
}

static void a_walk_cache_starts_the_walk_further_down(void **state)
{
	struct hd_tlb_geometry geometry = tiny;
	struct model m;

	(void)state;
	geometry.walk_caches[0] = (struct hd_tlb_walk_cache){ HD_TLB_2M, 2 };
	geometry.walk_caches[1] = (struct hd_tlb_walk_cache){ HD_TLB_1G, 1 };
	model_open(&m, &(struct hd_tlb_config){ .geometry = &geometry }, 12);
	assert_int_equal(references(&m, 0x0000), 4);
	assert_int_equal(references(&m, 0x1000), 1);   /* the same 2M */
	assert_int_equal(references(&m, 0x200000), 2); /* the same 1G */
	assert_int_equal(references(&m, 0x1000), 1);   /* two of 2M are kept */
	assert_int_equal(references(&m, 0x40000000), 4);
	assert_int_equal(references(&m, 0x400000), 4); /* that 1G is gone */
	assert_int_equal(references(&m, 0x401000), 1);
	hd_tlb_switch(&m.tlb, 3);
	assert_int_equal(references(&m, 0x401000), 4); /* tagged */
	hd_tlb_flush_tag(&m.tlb);
	assert_int_equal(references(&m, 0x401000), 4);
	hd_tlb_flush_page(&m.tlb, 0x401000);
	assert_int_equal(references(&m, 0x401000), 4);
	model_close(&m);
}

static void nested_translations_are_cached_too(void **state)
{
	struct hd_tlb_geometry geometry = tiny;
	struct model m;

	(void)state;
	geometry.nested_entries = 16;
	model_open(&m,
		   &(struct hd_tlb_config){
		       .geometry = &geometry, .host = &hd_tlb_4_levels, .host_shift = 12 },
		   12);
	assert_int_equal(references(&m, 0x0000), 24);
	assert_int_equal(references(&m, 0x1000),
			 8); /* the tables' places are known, the page's is not */
	assert_int_equal(references(&m, 0x0000), 4);
	model_close(&m);
}

/* What a host backs with 4K, a guest cannot have on 2M. */
static void a_host_on_4k_takes_the_gain_away(void **state)
{
	const struct hd_tlb_geometry *kaby_lake = hd_tlb_preset_named("kaby-lake");
	struct hd_tlb_config config = { .geometry = kaby_lake,
					.host = &hd_tlb_4_levels,
					.host_shift = 12 };
	struct model m;

	(void)state;
	model_open(&m, &config, 21);
	assert_int_equal(model_rounds(&m, 2048, 12, 10), 20480);
	model_close(&m);
	config.host_shift = 21;
	model_open(&m, &config, 21);
	assert_int_equal(model_rounds(&m, 2048, 12, 10), 4);
	model_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_reads_one_entry_a_level),
		cmocka_unit_test(a_guest_pays_for_every_table_of_its_own),
		cmocka_unit_test(a_walk_cache_starts_the_walk_further_down),
		cmocka_unit_test(nested_translations_are_cached_too),
		cmocka_unit_test(a_host_on_4k_takes_the_gain_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

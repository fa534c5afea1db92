/* SPDX-License-Identifier: MIT */
/* test-arrays.c - levels, sizes, ways, replacement, tags: small cases whose outcome is plain */
#include "help.h"

enum { LOAD = HD_TLB_LOAD, STORE = HD_TLB_STORE };

/* One set of @ways, one level, 4 KiB. */
static struct hd_tlb_geometry row_of(uint16_t ways, uint8_t replacement)
{
	return (struct hd_tlb_geometry){ .arrays[0] = { .level = 1,
							.kinds = 3,
							.replacement = replacement,
							.sets = 1,
							.ways = ways,
							.holds = { { HD_TLB_4K, 0, ways } } } };
}

static unsigned load(struct model *m, uint64_t page)
{
	return hd_tlb_access(&m->tlb, page << 12, LOAD);
}

static void what_fits_never_misses_twice(void **state)
{
	(void)state;
	for (unsigned i = 0; hd_tlb_preset(i); i++) {
		const struct hd_tlb_geometry *geometry = hd_tlb_preset(i);
		unsigned shifts[] = { 12, 21, 30 };

		for (unsigned s = 0; s < 3; s++) {
			uint32_t first = hd_tlb_entries(geometry, 1, shifts[s]);
			uint32_t second = hd_tlb_entries(geometry, 2, shifts[s]);
			uint32_t fits = first > second ? first : second;
			struct model m;

			model_open(&m, &(struct hd_tlb_config){ .geometry = geometry }, shifts[s]);
			assert_true(fits > 0);
			assert_int_equal(model_rounds(&m, fits, shifts[s], 10), fits);
			model_close(&m);
		}
	}
}

/* In turn through more pages than fit is the worst case of LRU: a prototype measured the same. */
static void eight_mebibytes_on_4k_miss_every_time_in_turn(void **state)
{
	struct model m;

	(void)state;
	model_of(&m, "kaby-lake", 12);
	assert_int_equal(model_rounds(&m, 1000, 12, 10), 1000);
	hd_tlb_flush_all(&m.tlb);
	assert_int_equal(model_rounds(&m, 2048, 12, 10), 20480);
	model_close(&m);
	model_of(&m, "kaby-lake", 21);
	assert_int_equal(model_rounds(&m, 4, 21, 10), 4);
	model_close(&m);
}

static void lru_forgets_what_was_not_used_longest(void **state)
{
	struct hd_tlb_geometry geometry = row_of(2, HD_TLB_LRU);
	struct model m;

	(void)state;
	model_open(&m, &(struct hd_tlb_config){ .geometry = &geometry }, 12);
	load(&m, 1), load(&m, 2), load(&m, 1), load(&m, 3);
	assert_int_equal(load(&m, 1), 1);
	assert_int_equal(load(&m, 2), 0);
	model_close(&m);
}

static void fifo_forgets_what_came_first(void **state)
{
	struct hd_tlb_geometry geometry = row_of(2, HD_TLB_FIFO);
	struct model m;

	(void)state;
	model_open(&m, &(struct hd_tlb_config){ .geometry = &geometry }, 12);
	load(&m, 1), load(&m, 2), load(&m, 1), load(&m, 3);
	assert_int_equal(load(&m, 2), 1);
	assert_int_equal(load(&m, 1), 0);
	model_close(&m);
}

static void nru_forgets_the_first_without_the_bit(void **state)
{
	struct hd_tlb_geometry geometry = row_of(3, HD_TLB_NRU);
	struct model m;

	(void)state;
	model_open(&m, &(struct hd_tlb_config){ .geometry = &geometry }, 12);
	load(&m, 1), load(&m, 2), load(&m, 3);
	load(&m, 4); /* all had it: all lose it, 1 goes */
	load(&m, 3); /* has it again */
	load(&m, 5); /* 2 goes */
	assert_int_equal(load(&m, 3), 1);
	assert_int_equal(load(&m, 4), 1);
	assert_int_equal(load(&m, 5), 1);
	assert_int_equal(load(&m, 2), 0);
	model_close(&m);
}

static void random_replacement_is_the_same_for_the_same_seed(void **state)
{
	struct hd_tlb_geometry geometry = row_of(8, HD_TLB_RANDOM);
	uint64_t walks[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct model m;

		model_open(&m, &(struct hd_tlb_config){ .geometry = &geometry, .seed = i == 2 },
			   12);
		walks[i] = model_rounds(&m, 12, 12, 200);
		model_close(&m);
	}
	assert_int_equal(walks[0], walks[1]);
	assert_int_not_equal(walks[0], walks[2]);
}

/* More ways, the same sets: under LRU what hit before hits still. */
static void walks_fall_with_ways_under_lru(void **state)
{
	uint64_t before = UINT64_MAX;

	(void)state;
	for (uint16_t ways = 1; ways <= 64; ways++) {
		struct hd_tlb_geometry geometry = row_of(ways, HD_TLB_LRU);
		struct model m;
		uint64_t walks;

		geometry.arrays[0].sets = 4;
		model_open(&m, &(struct hd_tlb_config){ .geometry = &geometry }, 12);
		for (uint64_t i = 0; i < 50000; i++)
			load(&m, hd_tlb_draw(7, i) % 64 * (hd_tlb_draw(8, i) % 4));
		walks = model_walks(&m);
		assert_true(walks <= before);
		before = walks;
		model_close(&m);
	}
}

static void pages_a_power_of_two_apart_share_a_set_unless_the_index_is_folded(void **state)
{
	struct hd_tlb_geometry geometry = row_of(4, HD_TLB_LRU);
	uint64_t walks[2];

	(void)state;
	geometry.arrays[0].sets = 16;
	for (uint8_t hash = HD_TLB_LOW_BITS; hash <= HD_TLB_XOR_FOLD; hash++) {
		struct model m;

		geometry.arrays[0].hash = hash;
		model_open(&m, &(struct hd_tlb_config){ .geometry = &geometry }, 12);
		walks[hash] = model_rounds(&m, 16, 16, 10);
		model_close(&m);
	}
	assert_int_equal(walks[HD_TLB_LOW_BITS], 160);
	assert_int_equal(walks[HD_TLB_XOR_FOLD], 16);
}

static void a_hit_in_the_second_level_is_no_walk(void **state)
{
	struct model m;
	struct hd_tlb_counts counts;

	(void)state;
	model_of(&m, "kaby-lake", 12);
	model_rounds(&m, 500, 12, 2);
	counts = hd_tlb_read_counts(&m.tlb);
	assert_int_equal(counts.accesses[LOAD], 1000);
	assert_int_equal(counts.walks[LOAD], 500);
	assert_int_equal(counts.hits[1][LOAD], 500);
	assert_int_equal(counts.hits[0][LOAD], 0);
	assert_int_equal(m.tables.asked, 500);
	model_close(&m);
}

static void loads_and_stores_are_told_apart(void **state)
{
	struct model m;
	struct hd_tlb_counts counts;

	(void)state;
	model_of(&m, "kaby-lake", 12);
	hd_tlb_access(&m.tlb, 0x1000, STORE);
	hd_tlb_access(&m.tlb, 0x1fff, LOAD);
	counts = hd_tlb_read_counts(&m.tlb);
	assert_int_equal(counts.walks[STORE], 1);
	assert_int_equal(counts.walks[LOAD], 0);
	assert_int_equal(counts.hits[0][LOAD], 1);
	model_close(&m);
}

static void ice_lake_has_a_first_level_for_stores_of_its_own(void **state)
{
	struct model m;

	(void)state;
	model_of(&m, "ice-lake", 12);
	assert_int_equal(hd_tlb_access(&m.tlb, 0x1000, LOAD), 0);
	assert_int_equal(hd_tlb_access(&m.tlb, 0x1000, STORE), 2);
	assert_int_equal(hd_tlb_access(&m.tlb, 0x1000, STORE), 1);
	model_close(&m);
}

static void ice_lake_keeps_half_of_its_second_level_for_2m(void **state)
{
	struct model m;

	(void)state;
	model_of(&m, "ice-lake", 21);
	assert_int_equal(model_rounds(&m, 1024, 21, 4), 1024);
	hd_tlb_flush_all(&m.tlb);
	assert_int_equal(model_rounds(&m, 2048, 21, 4), 4 * 2048);
	model_close(&m);
}

static void zen2_keeps_1g_whole_above_and_in_pieces_below(void **state)
{
	struct model m;

	(void)state;
	model_of(&m, "zen2", 30);
	hd_tlb_access(&m.tlb, 0x40000000, LOAD);
	assert_int_equal(hd_tlb_access(&m.tlb, 0x7fffffff, LOAD), 1);
	/* 64 others push it out of the first level; the second knows the 2M that was asked for. */
	for (uint64_t i = 2; i < 66; i++)
		hd_tlb_access(&m.tlb, i << 30 | i << 21, LOAD);
	assert_int_equal(hd_tlb_access(&m.tlb, 0x40100000, LOAD), 2);
	assert_int_equal(hd_tlb_access(&m.tlb, 0x7fffffff, LOAD), 1);
	model_close(&m);
}

static void another_address_space_does_not_see_mine_but_global_ones(void **state)
{
	struct model m;

	(void)state;
	model_of(&m, "kaby-lake", 12);
	load(&m, 1);
	m.tables.all.global = true;
	load(&m, 2);
	m.tables.all.global = false;
	hd_tlb_switch(&m.tlb, 5);
	assert_int_equal(load(&m, 2), 1);
	assert_int_equal(load(&m, 1), 0);
	hd_tlb_switch(&m.tlb, 0);
	assert_int_equal(load(&m, 1), 1);
	model_close(&m);
}

static void a_flush_forgets_what_it_says_and_no_more(void **state)
{
	struct model m;

	(void)state;
	model_of(&m, "zen3", 12);
	m.tables.all.global = true;
	load(&m, 1);
	m.tables.all.global = false;
	load(&m, 2);
	hd_tlb_switch(&m.tlb, 9);
	load(&m, 3), load(&m, 4);
	hd_tlb_flush_page(&m.tlb, 3 << 12);
	assert_int_equal(load(&m, 4), 1);
	assert_int_equal(load(&m, 3), 0);
	hd_tlb_flush_tag(&m.tlb);
	assert_int_equal(load(&m, 4), 0);
	assert_int_equal(load(&m, 1), 1);
	hd_tlb_switch(&m.tlb, 0);
	assert_int_equal(load(&m, 2), 1);
	hd_tlb_flush_page(&m.tlb, 1 << 12);
	assert_int_equal(load(&m, 1), 0);
	hd_tlb_flush_all(&m.tlb);
	assert_int_equal(load(&m, 1), 0);
	assert_int_equal(load(&m, 2), 0);
	model_close(&m);
}

static void counts_start_again_and_translations_stay(void **state)
{
	struct model m;

	(void)state;
	model_of(&m, "zen5", 12);
	load(&m, 1);
	hd_tlb_reset_counts(&m.tlb);
	load(&m, 1);
	assert_int_equal(model_walks(&m), 0);
	assert_int_equal(hd_tlb_read_counts(&m.tlb).hits[0][LOAD], 1);
	model_close(&m);
}

static void refused(const struct hd_tlb_geometry *geometry)
{
	assert_int_equal(hd_tlb_bytes(geometry), 0);
}

static void geometries_that_cannot_be_are_refused(void **state)
{
	struct hd_tlb_geometry good = row_of(4, HD_TLB_LRU), bad;

	(void)state;
	assert_true(hd_tlb_bytes(&good) > 0);
	refused(&(struct hd_tlb_geometry){ 0 });
	bad = good, bad.arrays[0].sets = 3, refused(&bad);
	bad = good, bad.arrays[0].ways = 0, refused(&bad);
	bad = good, bad.arrays[0].kinds = 0, refused(&bad);
	bad = good, bad.arrays[0].kinds = 4, refused(&bad);
	bad = good, bad.arrays[0].level = HD_TLB_LEVELS + 1, refused(&bad);
	bad = good, bad.arrays[0].replacement = HD_TLB_RANDOM + 1, refused(&bad);
	bad = good, bad.arrays[0].holds[0].sizes = 0, refused(&bad);
	bad = good, bad.arrays[0].holds[0].sizes = HD_TLB_SIZE(11), refused(&bad);
	bad = good, bad.arrays[0].holds[0].first_way = 1, refused(&bad);
	bad = good, bad.arrays[0].holds[1] = bad.arrays[0].holds[0], refused(&bad);
	bad = good, bad.arrays[0].sets = 32768, refused(&bad);
	bad = good, bad.walk_caches[0].entries = HD_TLB_WALK_SLOTS + 1, refused(&bad);
	bad = good, bad.nested_entries = HD_TLB_WALK_SLOTS + 1, refused(&bad);
}

static void settings_out_of_range_and_too_little_memory_are_refused(void **state)
{
	struct hd_tlb_geometry geometry = row_of(4, HD_TLB_LRU);
	struct hd_tlb_paging upside_down = { "", 2, { 12, 21 } };
	uint64_t memory[64];
	struct hd_tlb tlb;
	struct hd_tlb_config config = { .geometry = &geometry };

	(void)state;
	assert_true(hd_tlb_bytes(&geometry) <= sizeof(memory));
	assert_int_equal(hd_tlb_init(&tlb, &config, memory, sizeof(memory)), HD_TLB_EINVAL);
	config.walk = tables_walk;
	assert_int_equal(hd_tlb_init(&tlb, &config, memory, hd_tlb_bytes(&geometry) - 1),
			 HD_TLB_ENOMEM);
	assert_int_equal(hd_tlb_init(&tlb, &config, memory, sizeof(memory)), 0);
	config.paging = &upside_down;
	assert_int_equal(hd_tlb_init(&tlb, &config, memory, sizeof(memory)), HD_TLB_EINVAL);
	config.paging = NULL;
	config.host = &hd_tlb_4_levels;
	assert_int_equal(hd_tlb_init(&tlb, &config, memory, sizeof(memory)), HD_TLB_EINVAL);
	config.host_shift = 12;
	assert_int_equal(hd_tlb_init(&tlb, &config, memory, sizeof(memory)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_never_misses_twice),
		cmocka_unit_test(eight_mebibytes_on_4k_miss_every_time_in_turn),
		cmocka_unit_test(lru_forgets_what_was_not_used_longest),
		cmocka_unit_test(fifo_forgets_what_came_first),
		cmocka_unit_test(nru_forgets_the_first_without_the_bit),
		cmocka_unit_test(random_replacement_is_the_same_for_the_same_seed),
		cmocka_unit_test(walks_fall_with_ways_under_lru),
		cmocka_unit_test(pages_a_power_of_two_apart_share_a_set_unless_the_index_is_folded),
		cmocka_unit_test(a_hit_in_the_second_level_is_no_walk),
		cmocka_unit_test(loads_and_stores_are_told_apart),
		cmocka_unit_test(ice_lake_has_a_first_level_for_stores_of_its_own),
		cmocka_unit_test(ice_lake_keeps_half_of_its_second_level_for_2m),
		cmocka_unit_test(zen2_keeps_1g_whole_above_and_in_pieces_below),
		cmocka_unit_test(another_address_space_does_not_see_mine_but_global_ones),
		cmocka_unit_test(a_flush_forgets_what_it_says_and_no_more),
		cmocka_unit_test(counts_start_again_and_translations_stay),
		cmocka_unit_test(geometries_that_cannot_be_are_refused),
		cmocka_unit_test(settings_out_of_range_and_too_little_memory_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

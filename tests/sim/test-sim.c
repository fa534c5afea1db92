/* SPDX-License-Identifier: MIT */
/*
 * test-sim.c - the pretend machine: boot allocator, page allocator, page tables, books
 */
#include "tests/sim/machine.h"

/* ---- what is a machine ------------------------------------------------------------ */

static void what_is_no_machine_is_refused(void **state)
{
	const struct sim_ram overlap[] = { { 0, 2 * MIB, 0 }, { MIB, 3 * MIB, 0 } };
	const struct sim_ram descends[] = { { 2 * MIB, 3 * MIB, 0 }, { 0, MIB, 0 } };
	const struct sim_ram empty[] = { { MIB, MIB, 0 } };
	const struct sim_ram stray[] = { { 0, MIB, 1 } };
	const struct sim_ram good[] = { { 0, MIB, 0 } };
	struct sim_config config[] = {
		plain(overlap, 2, 1), plain(descends, 2, 1), plain(empty, 1, 1), plain(stray, 1, 1),
		plain(good, 1, 0),    plain(good, 1, 1),     plain(good, 1, 1),
	};

	(void)state;
	config[5].page_shift = 3;
	config[6].page_shift = 30;
	for (size_t i = 0; i < ARRAY_SIZE(config); i++) {
		struct sim *sim = (struct sim *)&config;

		assert_int_equal(sim_open(&config[i], &sim), -EINVAL);
		assert_ptr_equal(sim, &config);
	}
	sim_close(NULL);
}

/*
 *   node 0  |####|      node 1  |    |      node 2  |####|, behind node 0 without a gap
 */
static void ranges_may_touch_and_nodes_may_be_empty(void **state)
{
	const struct sim_ram ram[] = { { 0, MIB, 0 }, { MIB, 2 * MIB, 2 } };
	struct sim *sim = opened(plain(ram, 2, 3));

	(void)state;
	assert_int_equal(sim_bytes_total(sim), 2 * MIB);
	assert_int_equal(sim_bytes_free(sim), 2 * MIB);
	closes_empty(sim);
	sim = opened(plain(NULL, 0, 1));
	assert_null(early(sim, 1));
	sim_hand_over(sim);
	assert_null(contiguous(sim, 1));
	assert_null(scattered(sim, 1, 12, 12));
	closes_empty(sim);
}

/* ---- boot allocator --------------------------------------------------------------- */

/*
 *   node 0  |................|   node 1  |..............##|
 *
 * The boot allocator starts at the top, wherever that is.
 */
static void early_memory_is_at_the_top_of_the_highest_node(void **state)
{
	const uint64_t bytes[] = { GIB, GIB };
	struct sim *sim = machine_with(bytes, 2, plain(NULL, 0, 0));
	void *block = early(sim, 16 * MIB);

	(void)state;
	assert_int_equal(node_of(block), 1);
	assert_int_equal(address_of(block), 3 * GIB - 16 * MIB);
	assert_int_equal(look(sim, block).node_bytes[0], 0);
	assert_int_equal(look(sim, block).node_bytes[1], 16 * MIB);
	sim_release(sim, block);
	closes_empty(sim);
}

/*
 *   node 1  |....|      node 0  |..##|      node 1 starts below node 0
 */
static void the_highest_node_is_the_one_with_the_highest_address(void **state)
{
	const struct sim_ram ram[] = { { 0, GIB, 1 }, { GIB, 2 * GIB, 0 } };
	struct sim_config config = plain(ram, 2, 2);
	struct sim *sim = opened(config);
	void *block = early(sim, PAGE);

	(void)state;
	assert_int_equal(node_of(block), 0);
	sim_release(sim, block);
	closes_empty(sim);
	config.bottom_up = true;
	sim = opened(config);
	block = early(sim, PAGE);
	assert_int_equal(node_of(block), 1);
	assert_int_equal(address_of(block), 0);
	sim_release(sim, block);
	closes_empty(sim);
}

/*
 *   top-down   |.............[ 100 ][  8  ]|     both start on a cache line
 *   bottom-up  |[  8  ].[ 100 ]............|
 */
static void early_memory_is_aligned_to_a_cache_line_not_to_a_page(void **state)
{
	const struct sim_ram ram[] = { { MIB, 2 * MIB, 0 } };
	struct sim_config config = plain(ram, 1, 1);

	(void)state;
	for (int up = 0; up < 2; up++) {
		struct sim *sim;
		void *first, *second;

		config.bottom_up = up;
		sim = opened(config);
		first = early(sim, 8);
		second = early(sim, 100);
		assert_int_equal(address_of(first), up ? MIB : 2 * MIB - 64);
		assert_int_equal(address_of(second), up ? MIB + 64 : 2 * MIB - 64 - 128);
		assert_int_equal(look(sim, first).bytes, 8);
		assert_int_equal(look(sim, second).bytes, 100);
		balanced(sim, 0);
		sim_release(sim, first);
		sim_release(sim, second);
		closes_empty(sim);
	}
}

/*
 *   node 0  |............|   node 1  |####|  too small for it
 */
static void early_memory_that_does_not_fit_goes_to_the_node_below(void **state)
{
	const uint64_t bytes[] = { GIB, 4 * MIB };
	struct sim *sim = machine_with(bytes, 2, plain(NULL, 0, 0));
	void *block = early(sim, 8 * MIB);

	(void)state;
	assert_int_equal(node_of(block), 0);
	assert_int_equal(address_of(block), 2 * GIB - 8 * MIB);
	assert_null(early(sim, GIB)); /* no node has it in one piece */
	sim_release(sim, block);
	block = early(sim, GIB); /* from end to end */
	assert_int_equal(look(sim, block).node_bytes[0], GIB);
	assert_null(early(sim, GIB + 1));
	sim_release(sim, block);
	closes_empty(sim);
}

static void the_boot_allocator_ends_where_the_others_begin(void **state)
{
	const uint64_t bytes[] = { 64 * MIB };
	struct sim *sim = machine_with(bytes, 1, plain(NULL, 0, 0));
	void *block;

	(void)state;
	assert_null(contiguous(sim, PAGE));
	assert_null(scattered(sim, PAGE, 12, 12));
	block = early(sim, PAGE);
	assert_non_null(block);
	sim_release(sim, block);
	sim_hand_over(sim);
	assert_null(early(sim, PAGE));
	block = contiguous(sim, PAGE);
	assert_non_null(block);
	sim_release(sim, block);
	block = scattered(sim, PAGE, 12, 12);
	assert_non_null(block);
	sim_release(sim, block);
	closes_empty(sim);
}

/* ---- page allocator --------------------------------------------------------------- */

/*
 *          multiple of 8 pages
 *          v
 *   |......[#####...]      5 pages from an order of 8; the tail is free at once
 */
static void a_contiguous_block_is_aligned_and_gives_its_tail_back(void **state)
{
	const struct sim_ram ram[] = { { MIB, 2 * MIB - PAGE, 0 } };
	struct sim *sim = opened(plain(ram, 1, 1));
	void *block, *tail;

	(void)state;
	sim_hand_over(sim);
	block = contiguous(sim, 5 * PAGE - 100);
	assert_int_equal(address_of(block), 2 * MIB - 16 * PAGE);
	assert_int_equal(look(sim, block).bytes, 5 * PAGE);
	balanced(sim, 0);
	/* 7 pages above the block are free; the tail among them. */
	tail = contiguous(sim, 2 * PAGE);
	assert_int_equal(address_of(tail), 2 * MIB - 4 * PAGE);
	sim_release(sim, tail);
	tail = contiguous(sim, 8 * PAGE);
	assert_int_equal(address_of(tail), 2 * MIB - 24 * PAGE);
	sim_release(sim, tail);
	sim_release(sim, block);
	closes_empty(sim);
}

static void a_contiguous_block_is_at_least_a_page(void **state)
{
	const uint64_t bytes[] = { 16 * MIB };
	struct sim *sim = machine_with(bytes, 1, plain(NULL, 0, 0));
	void *block;

	(void)state;
	sim_hand_over(sim);
	block = contiguous(sim, 8);
	assert_int_equal(look(sim, block).bytes, PAGE);
	sim_release(sim, block);
	closes_empty(sim);
}

/*
 *   |.###########.|    the block fits only once what is kept of it is not all that counts
 *
 * 5 of 8 pages are wanted, 7 are free from a multiple of 8 on: the whole order
 * must be there first, so there is none.
 */
static void the_whole_order_must_be_free(void **state)
{
	const struct sim_ram ram[] = { { MIB, MIB + 7 * PAGE, 0 } };
	struct sim *sim = opened(plain(ram, 1, 1));
	void *block;

	(void)state;
	sim_hand_over(sim);
	assert_null(contiguous(sim, 5 * PAGE));
	block = contiguous(sim, 4 * PAGE);
	assert_int_equal(address_of(block), MIB);
	sim_release(sim, block);
	closes_empty(sim);
}

/*
 *   node 0  |..........|  38 MiB free, and 4 MiB is the largest order
 */
static void no_block_is_larger_than_the_largest_order(void **state)
{
	const struct sim_ram ram[] = { { 2 * MIB, 40 * MIB, 0 } };
	struct sim_config config = plain(ram, 1, 1);
	struct sim *sim;
	void *block;

	(void)state;
	config.whole_order = 63; /* not fragmented at all */
	sim = opened(config);
	sim_hand_over(sim);
	block = contiguous(sim, 4 * MIB);
	assert_int_equal(address_of(block), 36 * MIB);
	sim_release(sim, block);
	assert_null(contiguous(sim, 4 * MIB + 1));
	closes_empty(sim);
}

/*
 *   |#.#.#.#.#.#|  fragmented: no free block is larger than 16 pages
 */
static void a_fragmented_machine_has_no_large_blocks(void **state)
{
	const uint64_t bytes[] = { GIB };
	struct sim_config config = plain(NULL, 0, 0);
	struct sim *sim;
	void *block;

	(void)state;
	config.whole_order = 4;
	sim = machine_with(bytes, 1, config);
	sim_hand_over(sim);
	assert_null(contiguous(sim, 17 * PAGE));
	block = contiguous(sim, 16 * PAGE);
	assert_non_null(block);
	sim_release(sim, block);
	closes_empty(sim);
}

/*
 *   node 0  |#|.|#|      node 1  |.|#|.|      each block to the next node
 */
static void contiguous_blocks_take_turns(void **state)
{
	const uint64_t bytes[] = { GIB, 0, GIB, GIB };
	struct sim_config config = plain(NULL, 0, 0);
	struct sim *sim;
	void *block[6];

	(void)state;
	config.first_node = 2;
	sim = machine_with(bytes, 4, config);
	sim_hand_over(sim);
	for (size_t i = 0; i < ARRAY_SIZE(block); i++) {
		static const uint32_t turn[] = { 2, 3, 0 };

		block[i] = contiguous(sim, MIB);
		assert_int_equal(node_of(block[i]), turn[i % 3]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(block); i++)
		sim_release(sim, block[i]);
	closes_empty(sim);
}

/*
 *   node 0  |############|  full      node 1  |....|
 */
static void a_full_node_leaves_it_to_the_next(void **state)
{
	const uint64_t bytes[] = { 64 * MIB, 64 * MIB };
	struct sim *sim = machine_with(bytes, 2, plain(NULL, 0, 0));
	void *first, *second;

	(void)state;
	assert_int_equal(sim_reserve(sim, 0, 64 * MIB), 0);
	sim_hand_over(sim);
	first = contiguous(sim, MIB);
	second = contiguous(sim, MIB);
	assert_int_equal(node_of(first), 1);
	assert_int_equal(node_of(second), 1);
	balanced(sim, 64 * MIB);
	sim_release(sim, first);
	sim_release(sim, second);
	balanced(sim, 64 * MIB);
	sim_close(sim);
}

static void what_is_put_aside_is_not_to_be_had(void **state)
{
	const uint64_t bytes[] = { 64 * MIB, 0 };
	struct sim *sim = machine_with(bytes, 2, plain(NULL, 0, 0));
	void *block;

	(void)state;
	assert_int_equal(sim_reserve(sim, 0, 64 * MIB + 1), -ENOMEM);
	assert_int_equal(sim_reserve(sim, 1, 1), -ENOMEM);
	assert_int_equal(sim_reserve(sim, 2, 1), -ENOMEM);
	assert_int_equal(sim_reserve(sim, 0, 60 * MIB), 0);
	balanced(sim, 60 * MIB);
	assert_int_equal(sim_bytes_in_use(sim), 0);
	assert_null(early(sim, 5 * MIB));
	block = early(sim, 4 * MIB);
	assert_non_null(block);
	assert_int_equal(sim_reserve(sim, 0, 1), -ENOMEM);
	balanced(sim, 60 * MIB);
	sim_release(sim, block);
	balanced(sim, 60 * MIB);
	sim_close(sim); /* with memory put aside */
}

/* ---- page tables ------------------------------------------------------------------ */

static void pieces_are(const struct sim *sim, const void *block, uint64_t giant, uint64_t huge,
		       uint64_t base)
{
	struct sim_got got = look(sim, block);
	uint64_t bytes = 0;

	assert_int_equal(got.translations[30], giant);
	assert_int_equal(got.translations[21], huge);
	assert_int_equal(got.translations[12], base);
	for (unsigned shift = 0; shift < SIM_SHIFTS; shift++) {
		bytes += got.shift_bytes[shift];
		if (shift != 12 && shift != 21 && shift != 30)
			assert_int_equal(got.translations[shift] + got.shift_bytes[shift], 0);
		assert_true(got.shift_bytes[shift] <= got.translations[shift] << shift);
	}
	assert_int_equal(bytes, got.bytes);
}

/*
 *   0   1M   2M      1G      2G       3G-128K  hole   4G      5G      6G   +2M +3M+4K
 *       |4K4K| 2M 2M | 1 GiB | 2M 2M 2M |4K|          | 1 GiB | 1 GiB | 2M | 4K 4K|
 *
 * Each stretch of RAM is mapped by the largest pages that fit into it.
 */
static void the_linear_map_is_coarse_inside_and_fine_at_ragged_ends(void **state)
{
	const struct sim_ram ram[] = {
		{ PAGE, 0x9f000, 0 },
		{ MIB, 3 * GIB - 128 * KIB, 0 },
		{ 4 * GIB, 6 * GIB + 3 * MIB + PAGE, 0 },
	};
	struct sim *sim = opened(plain(ram, 3, 1));
	void *block[3];

	(void)state;
	block[0] = early(sim, 2 * GIB + 3 * MIB + PAGE);
	pieces_are(sim, block[0], 2, 1, 257);
	block[1] = early(sim, 3 * GIB - 128 * KIB - MIB);
	pieces_are(sim, block[1], 1, 511 + 511, 256 + 480);
	block[2] = early(sim, 0x9f000 - PAGE);
	pieces_are(sim, block[2], 0, 0, 0x9e);
	assert_int_equal(sim_bytes_free(sim), 0);
	for (int i = 0; i < 3; i++)
		sim_release(sim, block[i]);
	closes_empty(sim);
}

/*
 *   0        1G        2G            a block of 8 bytes, and one over a border
 *   |--------|--------|
 *           [##]      #
 */
static void a_block_needs_every_translation_it_touches(void **state)
{
	const struct sim_ram ram[] = { { 0, 2 * GIB + 2 * MIB, 0 } };
	struct sim *sim = opened(plain(ram, 1, 1));
	void *top, *small, *rest;

	(void)state;
	top = early(sim, 2 * MIB + 64);
	pieces_are(sim, top, 1, 1, 0);
	assert_int_equal(look(sim, top).shift_bytes[30], 64);
	small = early(sim, 8);
	pieces_are(sim, small, 1, 0, 0);
	rest = early(sim, GIB);
	pieces_are(sim, rest, 2, 0, 0);
	sim_release(sim, top);
	sim_release(sim, small);
	sim_release(sim, rest);
	closes_empty(sim);
}

/*
 *   0      1G     1.5G    2G      3G
 *   |  node 0      | node 1       |     one stretch of RAM: page tables know no nodes
 *   |  1G  |     1G       |  1G   |
 */
static void a_translation_reaches_over_the_border_of_nodes(void **state)
{
	const struct sim_ram ram[] = { { 0, 3 * GIB / 2, 0 }, { 3 * GIB / 2, 3 * GIB, 1 } };
	struct sim *sim = opened(plain(ram, 2, 2));
	void *high = early(sim, 3 * GIB / 2), *low = early(sim, 3 * GIB / 2);

	(void)state;
	assert_int_equal(node_of(high), 1);
	assert_int_equal(node_of(low), 0);
	pieces_are(sim, high, 2, 0, 0);
	pieces_are(sim, low, 2, 0, 0);
	sim_release(sim, high);
	sim_release(sim, low);
	closes_empty(sim);
}

/*
 *   |4K|4K|4K|...   an arm64 kernel maps all of it by base pages; another has 2 MiB only
 */
static void the_linear_map_may_be_fine_throughout(void **state)
{
	const struct sim_ram ram[] = { { GIB, 3 * GIB, 0 } };
	struct sim_config config = plain(ram, 1, 1);

	(void)state;
	for (int has_huge = 0; has_huge < 2; has_huge++) {
		struct sim *sim;
		void *block;

		config.linear_shift = has_huge ? 21 : 12;
		config.linear_mid_shift = 12;
		sim = opened(config);
		block = early(sim, GIB);
		pieces_are(sim, block, 0, has_huge ? 512 : 0, has_huge ? 0 : 262144);
		sim_release(sim, block);
		closes_empty(sim);
	}
}

static void vmalloc_maps_by_the_page_it_took(void **state)
{
	const uint64_t bytes[] = { GIB, GIB };
	struct sim *sim = machine_with(bytes, 2, plain(NULL, 0, 0));
	void *huge, *base;

	(void)state;
	sim_hand_over(sim);
	huge = scattered(sim, 9 * MIB, 21, 21);
	base = scattered(sim, 9 * MIB, 12, 12);
	pieces_are(sim, huge, 0, 5, 0);
	assert_int_equal(look(sim, huge).bytes, 10 * MIB); /* rounded up to the page */
	pieces_are(sim, base, 0, 0, 2304);
	sim_release(sim, huge);
	sim_release(sim, base);
	closes_empty(sim);
}

/* ---- books ------------------------------------------------------------------------ */

enum { BLOCKS = 64, STEPS = 20000 };

static void *random_block(struct sim *sim, uint64_t *random)
{
	uint64_t bytes = 1 + random_below(random, 1ULL << (3 + random_below(random, 20)));

	switch (random_below(random, 4)) {
	case 0:
		return early(sim, bytes);
	case 1:
		return contiguous(sim, bytes);
	case 2: {
		struct hd_providers p = sim_providers(sim);
		unsigned got = 0;

		return p.scattered(p.ctx, bytes, 21, &got, false);
	}
	default:
		return scattered(sim, bytes, 12, 12);
	}
}

/*
 *   node 0  |#.##..#.|   node 1  |..#|   node 2  |   |   node 3  |###...|
 *
 * Blocks come and go at random, some memory is put aside for good, half way the
 * boot allocator hands over. After every step the books balance.
 */
static void the_books_balance_after_every_step(void **state)
{
	uint64_t random = seed_of("test-sim-sim", 11);

	(void)state;
	for (int deal = HD_DEAL_PAGES; deal <= HD_DEAL_CHUNKS; deal++) {
		const uint64_t bytes[] = { 64 * MIB, 20 * MIB + 3 * PAGE, 0, 33 * MIB + 700 };
		struct sim_config config = plain(NULL, 0, 0);
		struct sim *sim;
		void *block[BLOCKS] = { NULL };
		uint64_t reserved = 0, failed = 0;

		config.deal = (enum hd_deal)deal;
		config.bottom_up = deal == HD_DEAL_ANYWHERE;
		sim = machine_with(bytes, ARRAY_SIZE(bytes), config);
		for (int step = 0; step < STEPS; step++) {
			size_t at = random_below(&random, BLOCKS);

			if (step == STEPS / 2)
				sim_hand_over(sim);
			if (step % 1000 == 500) {
				uint64_t aside = random_below(&random, 2 * PAGE);

				if (!sim_reserve(sim, (uint32_t)random_below(&random, 4), aside))
					reserved += aside;
			}
			if (block[at]) {
				sim_release(sim, block[at]);
				block[at] = NULL;
			} else {
				block[at] = random_block(sim, &random);
				failed += !block[at];
			}
			balanced(sim, reserved);
		}
		assert_true(failed < STEPS);
		for (size_t at = 0; at < BLOCKS; at++)
			if (block[at])
				sim_release(sim, block[at]);
		balanced(sim, reserved);
		assert_int_equal(sim_bytes_free(sim), sim_bytes_total(sim) - reserved);
		sim_close(sim);
	}
}

/** Blocks that nobody released go with the machine; a leak checker would tell. */
static void a_machine_takes_its_blocks_along(void **state)
{
	const uint64_t bytes[] = { 64 * MIB };
	struct sim *sim = machine_with(bytes, 1, plain(NULL, 0, 0));

	(void)state;
	assert_non_null(early(sim, MIB));
	sim_hand_over(sim);
	assert_non_null(contiguous(sim, MIB));
	assert_non_null(scattered(sim, MIB, 12, 12));
	assert_int_equal(sim_bytes_in_use(sim), 3 * MIB);
	sim_close(sim);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_machine_is_refused),
		cmocka_unit_test(ranges_may_touch_and_nodes_may_be_empty),
		cmocka_unit_test(early_memory_is_at_the_top_of_the_highest_node),
		cmocka_unit_test(the_highest_node_is_the_one_with_the_highest_address),
		cmocka_unit_test(early_memory_is_aligned_to_a_cache_line_not_to_a_page),
		cmocka_unit_test(early_memory_that_does_not_fit_goes_to_the_node_below),
		cmocka_unit_test(the_boot_allocator_ends_where_the_others_begin),
		cmocka_unit_test(a_contiguous_block_is_aligned_and_gives_its_tail_back),
		cmocka_unit_test(a_contiguous_block_is_at_least_a_page),
		cmocka_unit_test(the_whole_order_must_be_free),
		cmocka_unit_test(no_block_is_larger_than_the_largest_order),
		cmocka_unit_test(a_fragmented_machine_has_no_large_blocks),
		cmocka_unit_test(contiguous_blocks_take_turns),
		cmocka_unit_test(a_full_node_leaves_it_to_the_next),
		cmocka_unit_test(what_is_put_aside_is_not_to_be_had),
		cmocka_unit_test(the_linear_map_is_coarse_inside_and_fine_at_ragged_ends),
		cmocka_unit_test(a_block_needs_every_translation_it_touches),
		cmocka_unit_test(a_translation_reaches_over_the_border_of_nodes),
		cmocka_unit_test(the_linear_map_may_be_fine_throughout),
		cmocka_unit_test(vmalloc_maps_by_the_page_it_took),
		cmocka_unit_test(the_books_balance_after_every_step),
		cmocka_unit_test(a_machine_takes_its_blocks_along),
	};

	return cmocka_run_group_tests_name("sim: machine", tests, NULL, NULL);
}

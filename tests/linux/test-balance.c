/* SPDX-License-Identifier: MIT */
/*
 * test-balance.c - which pages are moved, on a pretend kernel that keeps a node per page
 *
 * No memory is behind the addresses. What is asked: are shares right in the end,
 * was nothing moved that need not be, and are large translations kept or given
 * up as preferred.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/linux/world.h"

#define BLOCK (1ULL << WORLD_BLOCK_SHIFT)
#define START ((char *)(1ULL << 44))

struct end {
	struct hdl_story story;
	uint64_t node[8], huge; /* bytes, of the pretend kernel */
	bool balanced;
};

static struct hdl_region region_of(uint64_t bytes, uint32_t nodes, bool huge)
{
	struct hdl_region region = { .start = START,
				     .bytes = bytes,
				     .rung = huge ? HDL_THP : HDL_BASE,
				     .shift = huge ? 21 : 12,
				     .base_shift = 12,
				     .huge = huge,
				     .sole_node = HDL_NODES_MAX };
	struct hdl_mask mask = { 0 };

	for (uint32_t n = 0; n < nodes; n++)
		hdl_mask_add(&mask, n);
	hdl_shares_even(&region.aim, &mask, true);
	region.within = mask;
	return region;
}

static int begin(void **state)
{
	(void)state;
	door_reset();
	world_begin(4);
	world.fiction = true;
	return 0;
}

static int end_all(void **state)
{
	const char *leak = door_leak();

	(void)state;
	if (leak)
		fprintf(stderr, "%s\n", leak);
	world_end();
	door_reset();
	return leak != NULL;
}

/** What was seen before (world.asked and so on) starts anew. */
static struct end balance(const struct hdl_region *region)
{
	struct end end = { 0 };
	struct hdl_books books;
	uint32_t worst;

	world.asked = world.most = world.collapses = 0;
	hdl_books_open(region, &books);
	assert_true(books.known);
	hdl_books_nodes(region, &books);
	if (!hdl_balanced(region, &books, &worst))
		hdl_balance(region, &books, &end.story);
	for (uint32_t n = 0; n < 8; n++) {
		end.node[n] = world_bytes(region->start, region->bytes, n);
		assert_int_equal(books.node[n], end.node[n]); /* the running account */
	}
	hdl_books_close(&books);
	hdl_books_open(region, &books);
	hdl_books_nodes(region, &books);
	end.balanced = hdl_balanced(region, &books, &worst);
	end.huge = world_bytes(region->start, region->bytes, HDL_NODES_MAX);
	assert_int_equal(end.huge, books.huge);
	hdl_books_close(&books);
	return end;
}

/*
 *   before   0000000000   10 blocks on node 0
 *   after    5 and 5, and 5 moves
 */
static void one_sided_blocks_are_halved_with_the_fewest_moves(void **state)
{
	struct hdl_region region = region_of(10 * BLOCK, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	end = balance(&region);
	assert_int_equal(end.node[0], 5 * BLOCK);
	assert_int_equal(end.node[1], 5 * BLOCK);
	assert_int_equal(world.asked, 5);
	assert_int_equal(end.story.moved, 5);
	assert_int_equal(end.huge, region.bytes);
	assert_true(end.balanced);
}

/* Eleven blocks are 6 and 5 at best: five moves, not a sixth that turns them round. */
static void an_odd_block_is_not_moved_to_and_fro(void **state)
{
	struct hdl_region region = region_of(11 * BLOCK, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	end = balance(&region);
	assert_true(end.balanced);
	assert_int_equal(world.asked, 5);
	end = balance(&region);
	assert_int_equal(world.asked, 0);
}

static void what_is_even_is_left_alone(void **state)
{
	struct hdl_region region = region_of(8 * BLOCK, 4, true);

	(void)state;
	for (int i = 0; i < 8; i++)
		world_put(START + (uint64_t)i * BLOCK, BLOCK, 3 - i % 4, true);
	assert_true(balance(&region).balanced);
	assert_int_equal(world.asked, 0);
	assert_int_equal(world.collapses, 0);
}

/** The fewest moves from @have blocks to shares of @low to @high each. */
static uint32_t fewest(const uint32_t *have, const uint32_t *low, const uint32_t *high,
		       uint32_t nodes)
{
	uint32_t over = 0, under = 0;

	for (uint32_t n = 0; n < nodes; n++) {
		over += have[n] > high[n] ? have[n] - high[n] : 0;
		under += have[n] < low[n] ? low[n] - have[n] : 0;
	}
	return over > under ? over : under;
}

static void random_layouts_end_even_with_the_fewest_moves(void **state)
{
	const char *given = getenv("HASHDIST_SEED");
	unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : 20240229;

	(void)state;
	print_message("again with: HASHDIST_SEED=%u\n", seed);
	srand(seed);
	for (int round = 0; round < 300; round++) {
		uint32_t nodes = 2 + (uint32_t)rand() % 3, units = 1 + (uint32_t)rand() % 90;
		uint32_t have[4] = { 0 }, low[4], high[4];
		bool huge = rand() % 2;
		uint64_t unit = huge ? BLOCK : 4096;
		struct hdl_region region = region_of(units * unit, nodes, huge);
		struct end end;

		for (uint32_t u = 0; u < units; u++) {
			uint32_t node = rand() % 3 ? (uint32_t)rand() % nodes : 0;

			world_put(START + u * unit, unit, (int)node, huge);
			have[node]++;
		}
		for (uint32_t n = 0; n < nodes; n++) {
			low[n] = units / nodes;
			high[n] = (units + nodes - 1) / nodes;
		}
		end = balance(&region);
		assert_true(end.balanced);
		assert_int_equal(world.asked, fewest(have, low, high, nodes));
		assert_int_equal(end.story.moved, world.asked);
		assert_int_equal(end.story.step, HD_STEP_NONE);
	}
}

/* 3 : 1 of the administrator's weights: 16 blocks are 12 and 4. */
static void weights_are_respected(void **state)
{
	struct hdl_region region;
	struct end end;

	(void)state;
	door_file("/sys/kernel/mm/mempolicy/weighted_interleave/node0", "3\n");
	door_file("/sys/kernel/mm/mempolicy/weighted_interleave/node1", "1\n");
	region = region_of(16 * BLOCK, 2, true);
	assert_true(region.aim.weighted);
	world_put(START, region.bytes, 1, true);
	end = balance(&region);
	assert_int_equal(end.node[0], 12 * BLOCK);
	assert_int_equal(end.node[1], 4 * BLOCK);
	assert_int_equal(world.asked, 12);
}

/* Node 1 takes three blocks and refuses the rest: it is asked once more, and no more. */
static void a_full_node_is_not_asked_again(void **state)
{
	struct hdl_region region = region_of(40 * BLOCK, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	world.free_pages[1] = 3 * WORLD_PAGES;
	world.free_blocks[1] = 3;
	end = balance(&region);
	assert_false(end.balanced);
	assert_int_equal(end.node[1], 3 * BLOCK);
	assert_int_equal(end.huge, region.bytes);
	assert_int_equal(end.story.moved, 3);
	assert_int_equal(end.story.step, HD_STEP_MOVE);
	assert_int_equal(end.story.error, ENOMEM);
	assert_true(world.asked <= 8);
}

/* Three nodes, node 2 full: the other two share what it cannot take up to their own quota. */
static void a_full_node_does_not_keep_others_from_their_share(void **state)
{
	struct hdl_region region = region_of(30 * BLOCK, 3, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	world.free_pages[2] = world.free_blocks[2] = 0;
	end = balance(&region);
	assert_int_equal(end.node[1], 10 * BLOCK);
	assert_int_equal(end.node[2], 0);
	assert_int_equal(end.node[0], 20 * BLOCK);
	assert_false(end.balanced);
}

static void pages_shared_with_a_child_are_named_as_the_reason(void **state)
{
	struct hdl_region region = region_of(8 * BLOCK, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	world.refuse[1] = -EACCES;
	end = balance(&region);
	assert_int_equal(end.story.nodes_why, HD_WHY_SHARED);
	assert_int_equal(end.story.error, EACCES);
	assert_int_equal(end.story.moved, 0);
}

/*
 *   node 1   free pages in plenty, no free huge block: a move would split
 *
 * Large translations are preferred: the first block is moved back and joined
 * again, and no other is tried.
 */
static void under_prefer_large_a_split_block_goes_back(void **state)
{
	struct hdl_region region = region_of(8 * BLOCK, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	world.free_blocks[1] = 0;
	region.wish.prefer = HD_PREFER_LARGE;
	end = balance(&region);
	assert_int_equal(end.huge, region.bytes);
	assert_int_equal(end.node[0], region.bytes);
	assert_int_equal(end.story.nodes_why, HD_WHY_PREFERENCE);
	assert_int_equal(end.story.why_node, 1);
	assert_int_equal(end.story.moved, 0);
}

/* Only two huge blocks are free over there: both are used, the third is made whole again. */
static void under_prefer_large_what_fits_whole_is_moved(void **state)
{
	struct hdl_region region = region_of(12 * BLOCK, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	world.free_blocks[1] = 2;
	region.wish.prefer = HD_PREFER_LARGE;
	end = balance(&region);
	assert_int_equal(end.huge, region.bytes);
	assert_int_equal(end.node[1], 2 * BLOCK);
	assert_int_equal(end.story.nodes_why, HD_WHY_PREFERENCE);
}

static void under_prefer_spread_shares_are_even_be_blocks_split(void **state)
{
	struct hdl_region region = region_of(8 * BLOCK, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	world.free_blocks[1] = 1;
	region.wish.prefer = HD_PREFER_SPREAD;
	end = balance(&region);
	assert_true(end.balanced);
	assert_int_equal(end.node[1], 4 * BLOCK);
	assert_int_equal(end.huge, 5 * BLOCK);
}

/* What /proc/buddyinfo tells of node 1: pages in plenty, but no block of 2 MiB. */
static void a_node_without_free_blocks_in_the_books_is_not_tried(void **state)
{
	struct hdl_region region = region_of(8 * BLOCK, 2, true);
	struct end end;

	(void)state;
	door_file("/proc/buddyinfo", "Node 0, zone   Normal  0 0 0 0 0 0 0 0 0 0 9\n"
				     "Node 1, zone   Normal  9 9 9 9 9 9 9 9 9 0 0\n");
	world_put(START, region.bytes, 0, true);
	end = balance(&region);
	assert_int_equal(world.asked, 0);
	assert_int_equal(end.huge, region.bytes);
	assert_int_equal(end.story.nodes_why, HD_WHY_PREFERENCE);
	assert_int_equal(end.story.why_node, 1);
}

/*
 *   node 2   may not be used; all of the table is there
 *   0 and 1  have no free huge block: it is split, but it goes
 */
static void what_may_not_stay_goes_whole_or_not(void **state)
{
	struct hdl_region region = region_of(8 * BLOCK, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 2, true);
	world.free_blocks[0] = world.free_blocks[1] = 0;
	end = balance(&region);
	assert_int_equal(end.node[2], 0);
	assert_true(end.balanced);
}

/* Base pages of a table on huge pages, between huge blocks: unit by unit, none lost. */
static void a_mixed_table_is_balanced_too(void **state)
{
	struct hdl_region region = region_of(9 * BLOCK + 5 * 4096, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	for (int i = 1; i < 9; i += 3)
		world_put(START + (uint64_t)i * BLOCK, BLOCK, 0, false);
	world_put(START + 9 * BLOCK, 5 * 4096, 0, false);
	end = balance(&region);
	assert_true(end.balanced);
	assert_int_equal(end.node[0] + end.node[1], region.bytes);
	assert_int_equal(end.huge, 6 * BLOCK);
}

static void many_base_pages_go_in_few_calls(void **state)
{
	struct hdl_region region = region_of(16 * BLOCK, 4, false);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, false);
	end = balance(&region);
	assert_true(end.balanced);
	assert_int_equal(world.asked, 12 * WORLD_PAGES);
	assert_true(world.most > 64);
}

/* Pages that the question finds nothing at (holes) do not stop the rest. */
static void holes_are_passed_over(void **state)
{
	struct hdl_region region = region_of(64 * 4096, 2, false);
	struct end end;

	(void)state;
	world_put(START, 32 * 4096, 0, false);
	end = balance(&region);
	assert_int_equal(end.node[0] + end.node[1], 32 * 4096);
}

static void a_call_that_is_forbidden_moves_nothing_and_is_told(void **state)
{
	struct hdl_region region = region_of(8 * BLOCK, 2, true);
	struct end end;

	(void)state;
	world_put(START, region.bytes, 0, true);
	door_ill(DOOR_MOVE_PAGES, -EPERM);
	end = balance(&region);
	assert_int_equal(end.story.moved, 0);
	assert_int_equal(end.story.step, HD_STEP_MOVE);
	assert_int_equal(end.story.error, EPERM);
	assert_int_equal(end.node[0], region.bytes);
}

/* Collapse puts a block on the node that holds most of it; afterwards moves set it right. */
static void collapse_gathers_and_balance_spreads_again(void **state)
{
	struct hdl_region region = region_of(8 * BLOCK, 2, true);
	struct hdl_story story = { 0 };
	struct hdl_books books;
	struct end end;

	(void)state;
	for (uint64_t i = 0; i < region.bytes; i += 4096)
		world_put(START + i, 4096, i >> 12 & 1, false);
	hdl_books_open(&region, &books);
	hdl_collapse(&region, &books, 0, &story);
	hdl_books_close(&books);
	assert_int_equal(story.collapsed, 8);
	assert_int_equal(world_bytes(START, region.bytes, 0), region.bytes);
	end = balance(&region);
	assert_true(end.balanced);
	assert_int_equal(end.huge, region.bytes);
	assert_int_equal(world.asked, 4);
}

static void collapse_gives_up_where_nothing_is_free(void **state)
{
	struct hdl_region region = region_of(400 * BLOCK, 2, true);
	struct hdl_story story = { 0 };
	struct hdl_books books;

	(void)state;
	world_put(START, region.bytes, 0, false);
	world.free_blocks[0] = 0;
	hdl_books_open(&region, &books);
	hdl_collapse(&region, &books, 0, &story);
	hdl_books_close(&books);
	assert_int_equal(story.collapsed, 0);
	assert_int_equal(story.step, HD_STEP_COLLAPSE);
	assert_int_equal(story.error, ENOMEM);
	assert_true(world.collapses < 40);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_sided_blocks_are_halved_with_the_fewest_moves),
		TEST(an_odd_block_is_not_moved_to_and_fro),
		TEST(what_is_even_is_left_alone),
		TEST(random_layouts_end_even_with_the_fewest_moves),
		TEST(weights_are_respected),
		TEST(a_full_node_is_not_asked_again),
		TEST(a_full_node_does_not_keep_others_from_their_share),
		TEST(pages_shared_with_a_child_are_named_as_the_reason),
		TEST(under_prefer_large_a_split_block_goes_back),
		TEST(under_prefer_large_what_fits_whole_is_moved),
		TEST(under_prefer_spread_shares_are_even_be_blocks_split),
		TEST(a_node_without_free_blocks_in_the_books_is_not_tried),
		TEST(what_may_not_stay_goes_whole_or_not),
		TEST(a_mixed_table_is_balanced_too),
		TEST(many_base_pages_go_in_few_calls),
		TEST(holes_are_passed_over),
		TEST(a_call_that_is_forbidden_moves_nothing_and_is_told),
		TEST(collapse_gathers_and_balance_spreads_again),
		TEST(collapse_gives_up_where_nothing_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

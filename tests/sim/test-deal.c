/* SPDX-License-Identifier: MIT */
/*
 * test-deal.c - how the pages of a vmalloc area are dealt to the nodes
 *
 * Shares are in pages of 4 KiB unless a test says otherwise.
 */
#include "tests/sim/machine.h"

enum { BASE = 12, HUGE = 21 };

static struct sim *dealing(const uint64_t *bytes, uint32_t nodes, enum hd_deal deal,
			   uint32_t bulk_pages)
{
	struct sim_config config = plain(NULL, 0, 0);
	struct sim *sim;

	config.deal = deal;
	config.bulk_pages = bulk_pages;
	sim = machine_with(bytes, nodes, config);
	sim_hand_over(sim);
	return sim;
}

static void shares_are(const struct sim *sim, const void *block, const uint64_t *pages)
{
	struct sim_got got;

	assert_non_null(block);
	got = look(sim, block);
	for (uint32_t n = 0; n < sim->config.nodes; n++)
		assert_int_equal(got.node_bytes[n] / PAGE, pages[n]);
	balanced(sim, 0);
}

#define SHARES(...) ((const uint64_t[]){ __VA_ARGS__ })

/** Takes, looks, gives back. */
static void deals(struct sim *sim, uint64_t bytes, unsigned shift, const uint64_t *pages)
{
	void *block = scattered(sim, bytes, shift, shift);

	shares_are(sim, block, pages);
	sim_release(sim, block);
}

/* ---- page by page ----------------------------------------------------------------- */

/*
 *   node 0  |0 3 6 ...|   node 1  |1 4 7 ...|   node 2  |2 5 8 ...|
 *
 * 512 pages: the turn stands at node 2 afterwards, and the next block starts there.
 */
static void pages_one_by_one_are_even_and_the_turn_moves_on(void **state)
{
	struct sim *sim = dealing(SHARES(GIB, GIB, GIB), 3, HD_DEAL_PAGES, 0);

	(void)state;
	deals(sim, 2 * MIB, BASE, SHARES(171, 171, 170));
	deals(sim, PAGE, BASE, SHARES(0, 0, 1));
	deals(sim, 2 * PAGE, BASE, SHARES(1, 1, 0));
	deals(sim, 5 * PAGE, BASE, SHARES(2, 1, 2));
	deals(sim, 6 * PAGE, BASE, SHARES(2, 2, 2));
	deals(sim, PAGE, BASE, SHARES(0, 1, 0));
	closes_empty(sim);
}

/*
 *   100 = 34 + 33 + 33, five times, and 12 = 4 + 4 + 4
 *
 * What is left of each hundred goes to the node whose turn it is, and that is
 * always the same one.
 */
static void the_rest_of_each_hundred_stays_with_the_same_nodes(void **state)
{
	struct sim *sim = dealing(SHARES(GIB, GIB, GIB), 3, HD_DEAL_PAGES, 100);

	(void)state;
	deals(sim, 2 * MIB, BASE, SHARES(174, 169, 169));
	deals(sim, PAGE, BASE, SHARES(1, 0, 0));
	deals(sim, PAGE, BASE, SHARES(1, 0, 0));
	deals(sim, 101 * PAGE, BASE, SHARES(35, 33, 33));
	deals(sim, 99 * PAGE, BASE, SHARES(33, 33, 33));
	closes_empty(sim);
}

/* 16 MiB on 2 nodes, as in a real boot's vmallocinfo: 2048 + 2048; 2 MiB on 4: 128 each. */
static void a_power_of_two_is_dealt_evenly(void **state)
{
	struct sim *two = dealing(SHARES(8 * GIB, 8 * GIB), 2, HD_DEAL_PAGES, 100);
	struct sim *four =
	    dealing(SHARES(512 * MIB, 512 * MIB, 512 * MIB, 512 * MIB), 4, HD_DEAL_PAGES, 100);

	(void)state;
	deals(two, 16 * MIB, HUGE, SHARES(2048, 2048));
	deals(two, 16 * MIB, BASE, SHARES(2048, 2048));
	deals(two, 2 * MIB, BASE, SHARES(256, 256));
	deals(four, 2 * MIB, BASE, SHARES(128, 128, 128, 128));
	closes_empty(two);
	closes_empty(four);
}

/*
 *   node 0  |[2M][2M][2M]|   node 1  |[2M][2M][2M]|   node 2  |[2M][2M]|
 */
static void huge_pages_are_dealt_one_by_one_whatever_the_bulk(void **state)
{
	struct sim *sim = dealing(SHARES(GIB, GIB, GIB), 3, HD_DEAL_PAGES, 100);

	(void)state;
	deals(sim, 16 * MIB, HUGE, SHARES(3 * 512, 3 * 512, 2 * 512));
	deals(sim, 2 * MIB, HUGE, SHARES(0, 0, 512));
	deals(sim, 9 * MIB, HUGE, SHARES(2 * 512, 2 * 512, 512)); /* rounded up to 10 */
	closes_empty(sim);
}

/* Where the turn stands at the start only rotates the shares. */
static void the_first_node_rotates_the_shares(void **state)
{
	static const uint64_t bytes[] = { GIB, GIB, GIB };

	(void)state;
	for (uint32_t first = 0; first < 5; first++) {
		struct sim_config config = plain(NULL, 0, 0);
		uint64_t want[3] = { 169, 169, 169 };
		struct sim *sim;

		config.first_node = first;
		want[first % 3] = 174;
		sim = machine_with(bytes, 3, config);
		sim_hand_over(sim);
		deals(sim, 2 * MIB, BASE, want);
		closes_empty(sim);
	}
}

/* ---- anywhere, chunks ------------------------------------------------------------- */

/*
 *   node 0  |##########|   node 1  |..........|      the policy was forgotten
 */
static void anywhere_is_all_on_the_first_node(void **state)
{
	struct sim *sim = dealing(SHARES(64 * MIB, GIB), 2, HD_DEAL_ANYWHERE, 0);

	(void)state;
	deals(sim, 16 * MIB, BASE, SHARES(4096, 0));
	deals(sim, 80 * MIB, BASE, SHARES(16384, 4096));      /* and what it lacks behind it */
	deals(sim, 16 * MIB, HUGE, SHARES(4 * 512, 4 * 512)); /* huge pages knew it */
	deals(sim, 2 * MIB, HUGE, SHARES(512, 0));
	deals(sim, 16 * MIB, BASE, SHARES(4096, 0)); /* wherever the turn stands */
	closes_empty(sim);
}

/*
 *   8 MiB    node 0  |[ 4 MiB ]|   node 1  |[ 4 MiB ]|
 *   4 MiB    node 0  |[ 4 MiB ]|   node 1  |         |   distributed, but not spread
 *   48 pages node 1  |[32]     |   node 0  |[16]     |
 *
 * As kernel 7.2 does on real boots.
 */
static void chunks_are_as_large_as_the_largest_order(void **state)
{
	struct sim *sim = dealing(SHARES(4 * GIB, 4 * GIB), 2, HD_DEAL_CHUNKS, 100);

	(void)state;
	deals(sim, 8 * MIB, BASE, SHARES(1024, 1024));
	deals(sim, 8 * MIB, HUGE, SHARES(1024, 1024));
	deals(sim, 4 * MIB, BASE, SHARES(1024, 0));
	deals(sim, 48 * PAGE, BASE, SHARES(16, 32));
	deals(sim, 2 * MIB, HUGE, SHARES(0, 512));
	deals(sim, MIB, BASE, SHARES(256, 0));
	deals(sim, 7 * PAGE, BASE, SHARES(2, 4 + 1));
	closes_empty(sim);
}

/* 10 MiB of huge pages: chunks of 2, 2 and 1 of them; the turn moves with each chunk. */
static void huge_pages_come_in_chunks_too(void **state)
{
	struct sim *sim = dealing(SHARES(GIB, GIB, GIB, GIB), 4, HD_DEAL_CHUNKS, 100);

	(void)state;
	deals(sim, 10 * MIB, HUGE, SHARES(1024, 1024, 512, 0));
	deals(sim, 8 * MIB, HUGE, SHARES(1024, 0, 0, 1024));
	closes_empty(sim);
}

/* A huge page larger than the largest order's block comes one at a time. */
static void a_chunk_is_at_least_one_page(void **state)
{
	struct sim_config config = plain(NULL, 0, 0);
	struct sim *sim;

	(void)state;
	config.deal = HD_DEAL_CHUNKS;
	config.top_order = 4; /* 64 KiB */
	sim = machine_with(SHARES(GIB, GIB), 2, config);
	sim_hand_over(sim);
	deals(sim, 4 * MIB, HUGE, SHARES(512, 512));
	deals(sim, 24 * PAGE, BASE, SHARES(16, 8));
	closes_empty(sim);
}

/* ---- who takes part --------------------------------------------------------------- */

/*
 *   node 0  |....|  64 MiB    node 1  |.|  under 16 MiB    node 2  |..|  16 MiB
 */
static void nodes_below_16_mib_take_no_part(void **state)
{
	struct sim *sim = dealing(SHARES(64 * MIB, 16 * MIB - PAGE, 16 * MIB), 3, HD_DEAL_PAGES, 0);

	(void)state;
	deals(sim, MIB, BASE, SHARES(128, 0, 128));
	deals(sim, PAGE, BASE, SHARES(1, 0, 0));
	deals(sim, PAGE, BASE, SHARES(0, 0, 1));
	closes_empty(sim);
}

/* They all are below: the largest does it alone. */
static void where_all_are_small_the_largest_takes_part(void **state)
{
	struct sim *sim = dealing(SHARES(4 * MIB, 8 * MIB, 6 * MIB), 3, HD_DEAL_PAGES, 0);

	(void)state;
	deals(sim, MIB, BASE, SHARES(0, 256, 0));
	deals(sim, 10 * MIB, BASE, SHARES(0, 2048, 512)); /* and what it lacks behind it */
	closes_empty(sim);
}

/*
 *   node 0  |....|   node 1  (no memory)   node 2  |....|
 */
static void memoryless_nodes_take_no_part(void **state)
{
	struct sim *sim = dealing(SHARES(GIB, 0, GIB), 3, HD_DEAL_PAGES, 100);
	void *block;

	(void)state;
	deals(sim, 2 * MIB, BASE, SHARES(256, 0, 256));
	block = contiguous(sim, MIB);
	shares_are(sim, block, SHARES(256, 0, 0));
	sim_release(sim, block);
	block = contiguous(sim, MIB);
	shares_are(sim, block, SHARES(0, 0, 256));
	sim_release(sim, block);
	closes_empty(sim);
}

/* ---- too little ------------------------------------------------------------------- */

/*
 *   node 0  |..........|   node 1  |##########.|  1 MiB left   node 2  |..........|
 *
 * Each is to give 4 MiB of 12. What node 1 lacks comes from the node behind it.
 */
static void what_a_node_lacks_comes_from_the_next(void **state)
{
	struct sim *sim = dealing(SHARES(GIB, 64 * MIB, GIB), 3, HD_DEAL_PAGES, 0);
	void *block;

	(void)state;
	assert_int_equal(sim_reserve(sim, 1, 63 * MIB), 0);
	block = scattered(sim, 12 * MIB, BASE, BASE);
	assert_int_equal(look(sim, block).node_bytes[0], 4 * MIB);
	assert_int_equal(look(sim, block).node_bytes[1], MIB);
	assert_int_equal(look(sim, block).node_bytes[2], 7 * MIB);
	balanced(sim, 63 * MIB);
	sim_release(sim, block);
	balanced(sim, 63 * MIB);
	sim_close(sim);
}

/*
 *   node 0  1G+1M      1G+18M       node 1
 *           |.[2M][2M]...[2M]|      |.[2M]...[2M].|
 *
 * 34 MiB are free, but only 15 or 16 whole huge pages. 32 MiB wanted: base pages,
 * and what was taken of huge pages is back.
 */
static void without_enough_huge_pages_it_is_all_base_pages(void **state)
{
	const struct sim_ram ram[] = { { GIB + MIB, GIB + 18 * MIB, 0 },
				       { 2 * GIB + MIB, 2 * GIB + 18 * MIB, 1 } };
	struct sim_config config = plain(ram, 2, 2);
	struct sim *sim;
	void *block;

	(void)state;
	config.bulk_pages = 0;
	sim = opened(config);
	sim_hand_over(sim);
	block = scattered(sim, 32 * MIB, HUGE, HUGE); /* 8 on each: just enough */
	shares_are(sim, block, SHARES(4096, 4096));
	sim_release(sim, block);
	block = scattered(sim, 33 * MIB, HUGE, BASE);
	shares_are(sim, block, SHARES(4224, 4224));
	assert_int_equal(look(sim, block).bytes, 33 * MIB);
	assert_int_equal(look(sim, block).translations[BASE], 33 * 256);
	sim_release(sim, block);
	closes_empty(sim);
}

/*
 *   node 0  |######.|   node 1  |######.|   node 2  |######.|     1 MiB each
 *
 * No huge page anywhere; the turn is where it was, and the base pages start there.
 */
static void a_failed_attempt_does_not_move_the_turn(void **state)
{
	struct sim *sim = dealing(SHARES(64 * MIB, 64 * MIB, 64 * MIB), 3, HD_DEAL_PAGES, 0);
	void *block;

	(void)state;
	for (uint32_t n = 0; n < 3; n++)
		assert_int_equal(sim_reserve(sim, n, 63 * MIB), 0);
	block = scattered(sim, 2 * MIB, HUGE, BASE);
	assert_int_equal(look(sim, block).node_bytes[0], 171 * PAGE);
	assert_int_equal(look(sim, block).node_bytes[1], 171 * PAGE);
	assert_int_equal(look(sim, block).node_bytes[2], 170 * PAGE);
	sim_release(sim, block);
	balanced(sim, 3 * 63 * MIB);
	sim_close(sim);
}

static void a_fragmented_machine_has_base_pages_only(void **state)
{
	struct sim_config config = plain(NULL, 0, 0);
	struct sim *sim;
	void *block;

	(void)state;
	config.whole_order = 8; /* one less than a huge page */
	sim = machine_with(SHARES(GIB, GIB), 2, config);
	sim_hand_over(sim);
	block = scattered(sim, 16 * MIB, HUGE, BASE);
	shares_are(sim, block, SHARES(2048, 2048));
	sim_release(sim, block);
	closes_empty(sim);
	config.whole_order = 9;
	sim = machine_with(SHARES(GIB, GIB), 2, config);
	sim_hand_over(sim);
	block = scattered(sim, 16 * MIB, HUGE, HUGE);
	assert_non_null(block);
	sim_release(sim, block);
	closes_empty(sim);
}

static void too_large_a_block_takes_nothing(void **state)
{
	(void)state;
	for (int deal = HD_DEAL_PAGES; deal <= HD_DEAL_CHUNKS; deal++) {
		struct sim *sim = dealing(SHARES(64 * MIB, 64 * MIB), 2, (enum hd_deal)deal, 100);
		void *all;

		assert_null(scattered(sim, 128 * MIB + 1, HUGE, BASE));
		balanced(sim, 0);
		assert_null(scattered(sim, 1ULL << 62, BASE, BASE));
		assert_null(scattered(sim, 0, BASE, BASE));
		balanced(sim, 0);
		assert_int_equal(sim_bytes_in_use(sim), 0);
		all = scattered(sim, 128 * MIB, HUGE, HUGE);
		assert_int_equal(sim_bytes_free(sim), 0);
		assert_null(scattered(sim, 1, BASE, BASE));
		sim_release(sim, all);
		closes_empty(sim);
	}
}

/* ---- whatever the machine --------------------------------------------------------- */

/*
 * Machines of 1 to 8 nodes with plenty of memory: a block holds what was asked,
 * rounded up; only those who take part have some of it; and two nodes' shares
 * differ by no more than the way of dealing explains.
 */
static void shares_differ_by_no_more_than_the_way_of_dealing_explains(void **state)
{
	uint64_t random = seed_of("test-sim-deal", 5);

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint32_t nodes = 1 + (uint32_t)random_below(&random, 8), bulk;
		enum hd_deal deal = random_below(&random, 2) ? HD_DEAL_PAGES : HD_DEAL_CHUNKS;
		unsigned shift = random_below(&random, 2) ? HUGE : BASE;
		uint64_t bytes[8], size = 1 + random_below(&random, 40 * MIB), units, most = 0;
		uint64_t least = UINT64_MAX, sum = 0, apart;
		struct sim_got got;
		struct sim *sim;
		void *block;

		bulk = (uint32_t[]){ 0, 1, 7, 100 }[random_below(&random, 4)];
		for (uint32_t n = 0; n < nodes; n++)
			bytes[n] = n ? random_below(&random, 3) * 64 * MIB : 64 * MIB;
		sim = dealing(bytes, nodes, deal, bulk);
		block = scattered(sim, size, shift, shift);
		assert_non_null(block);
		got = look(sim, block);
		units = ((size - 1) >> shift) + 1;
		for (uint32_t n = 0; n < nodes; n++) {
			uint64_t share = got.node_bytes[n] >> shift;

			sum += share;
			if (!bytes[n])
				assert_int_equal(share, 0);
			most = bytes[n] && share > most ? share : most;
			least = bytes[n] && share < least ? share : least;
		}
		assert_int_equal(sum, units);
		if (deal == HD_DEAL_CHUNKS)
			apart = (4 * MIB) >> shift;
		else
			apart = bulk && shift == BASE ? units / bulk + 1 : 1;
		assert_true(most - least <= (deal == HD_DEAL_CHUNKS ? 2 * apart : apart));
		balanced(sim, 0);
		sim_release(sim, block);
		closes_empty(sim);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_one_by_one_are_even_and_the_turn_moves_on),
		cmocka_unit_test(the_rest_of_each_hundred_stays_with_the_same_nodes),
		cmocka_unit_test(a_power_of_two_is_dealt_evenly),
		cmocka_unit_test(huge_pages_are_dealt_one_by_one_whatever_the_bulk),
		cmocka_unit_test(the_first_node_rotates_the_shares),
		cmocka_unit_test(anywhere_is_all_on_the_first_node),
		cmocka_unit_test(chunks_are_as_large_as_the_largest_order),
		cmocka_unit_test(huge_pages_come_in_chunks_too),
		cmocka_unit_test(a_chunk_is_at_least_one_page),
		cmocka_unit_test(nodes_below_16_mib_take_no_part),
		cmocka_unit_test(where_all_are_small_the_largest_takes_part),
		cmocka_unit_test(memoryless_nodes_take_no_part),
		cmocka_unit_test(what_a_node_lacks_comes_from_the_next),
		cmocka_unit_test(without_enough_huge_pages_it_is_all_base_pages),
		cmocka_unit_test(a_failed_attempt_does_not_move_the_turn),
		cmocka_unit_test(a_fragmented_machine_has_base_pages_only),
		cmocka_unit_test(too_large_a_block_takes_nothing),
		cmocka_unit_test(shares_differ_by_no_more_than_the_way_of_dealing_explains),
	};

	return cmocka_run_group_tests_name("sim: dealing", tests, NULL, NULL);
}

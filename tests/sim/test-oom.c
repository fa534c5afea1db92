/* SPDX-License-Identifier: MIT */
/*
 * test-oom.c - the host is out of memory while it pretends to be a machine
 *
 * The same life of a machine is lived again and again; each time one more call
 * for memory succeeds before one fails, or before all fail from then on. However
 * it ends: no byte of the pretend machine is missing, and none of the host's is
 * kept.
 */
#include "tests/sim/host.h"
#include "tests/sim/machine.h"

enum { LONGEST = 4000 };

/* ---- a life ----------------------------------------------------------------------- */

enum { BLOCKS = 48 };

/** Every other block goes, then the rest: the free ranges fall apart before they merge. */
static void release_all(struct sim *sim, void **block)
{
	for (size_t step = 0; step < 2; step++)
		for (size_t i = step; i < BLOCKS; i += 2) {
			if (block[i])
				sim_release(sim, block[i]);
			block[i] = NULL;
			balanced(sim, 0);
		}
}

static void live(const struct sim_config *config)
{
	void *block[BLOCKS] = { NULL };
	struct sim *sim = NULL;
	int error = sim_open(config, &sim);

	assert_true(error == 0 || error == -ENOMEM);
	if (error) {
		assert_null(sim);
		return;
	}
	for (size_t i = 0; i < BLOCKS / 2; i++) {
		block[i] = early(sim, 4000 + 100 * i);
		balanced(sim, 0);
	}
	sim_hand_over(sim);
	for (size_t i = BLOCKS / 2; i < BLOCKS; i++) {
		struct hd_providers p = sim_providers(sim);
		unsigned got = 0;

		if (i % 3)
			block[i] = contiguous(sim, (1 + i % 5) * PAGE);
		else
			block[i] = p.scattered(p.ctx, i * 97 * KIB, i % 2 ? 21 : 12, &got, true);
		balanced(sim, 0);
	}
	release_all(sim, block);
	closes_empty(sim);
}

static void lives(enum hd_deal deal, bool for_good)
{
	static const struct sim_ram ram[] = {
		{ GIB, GIB + 20 * MIB + PAGE, 0 },
		{ 2 * GIB, 2 * GIB + 17 * MIB, 2 },
		{ 3 * GIB, 3 * GIB + 40 * MIB, 0 },
	};
	struct sim_config config = plain(ram, ARRAY_SIZE(ram), 3);
	long calls;

	config.deal = deal;
	for (calls = 0; calls < LONGEST; calls++) {
		long before = host.live;

		host_allows(calls, for_good);
		live(&config);
		host_is_well();
		assert_int_equal(host.live, before);
		if (!host.failures)
			break;
	}
	/* The last life had all it asked for, the one before did not. */
	assert_true(calls > 100);
	assert_true(calls < LONGEST);
}

static void one_failure_loses_nothing(void **state)
{
	(void)state;
	for (int deal = HD_DEAL_PAGES; deal <= HD_DEAL_CHUNKS; deal++)
		lives((enum hd_deal)deal, false);
}

static void failing_for_good_loses_nothing(void **state)
{
	(void)state;
	for (int deal = HD_DEAL_PAGES; deal <= HD_DEAL_CHUNKS; deal++)
		lives((enum hd_deal)deal, true);
}

/*
 *   |#.#.#.#.#|   many blocks, each beside another one
 *
 * Giving memory back may add a range to the set of free ones. That must not fail,
 * however little memory the host has: nobody could be told.
 */
static void giving_back_needs_no_memory(void **state)
{
	const struct sim_ram ram[] = { { MIB, 64 * MIB, 0 } };
	struct sim *sim = opened(plain(ram, 1, 1));
	void *block[1000];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(block); i++)
		block[i] = early(sim, PAGE);
	host_allows(0, true);
	for (size_t step = 0; step < 2; step++)
		for (size_t i = step; i < ARRAY_SIZE(block); i += 2)
			sim_release(sim, block[i]);
	host_is_well();
	assert_int_equal(host.failures, 0);
	closes_empty(sim);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_failure_loses_nothing),
		cmocka_unit_test(failing_for_good_loses_nothing),
		cmocka_unit_test(giving_back_needs_no_memory),
	};

	return cmocka_run_group_tests_name("sim: host out of memory", tests, NULL, NULL);
}

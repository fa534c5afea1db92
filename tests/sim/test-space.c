/* SPDX-License-Identifier: MIT */
/*
 * test-space.c - sets of free ranges, against a bitmap
 *
 * The set knows ranges, the bitmap knows each byte. Whatever is added, taken or
 * looked for at random, both must answer alike; and the set must stay sorted,
 * merged, and correct in its sum.
 */
#include <errno.h>

#include "tests/core/help.h"

#include "backend/sim/space.h"

enum { BYTES = 512, ROUNDS = 200000 };

static void ranges_are(const struct space *space, const struct space_range *want, size_t count)
{
	uint64_t bytes = 0;

	assert_int_equal(space->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(space->range[i].start, want[i].start);
		assert_int_equal(space->range[i].end, want[i].end);
		bytes += want[i].end - want[i].start;
	}
	assert_int_equal(space->bytes, bytes);
}

/*
 *   |....####....|      + left   |..######....|
 *                       + right  |..########..|
 *                       + far    |..########..#|
 */
static void neighbours_merge(void **state)
{
	struct space space = { 0 };

	(void)state;
	assert_int_equal(space_add(&space, 40, 80), 0);
	assert_int_equal(space_add(&space, 20, 40), 0);
	assert_int_equal(space_add(&space, 80, 100), 0);
	ranges_are(&space, (struct space_range[]){ { 20, 100 } }, 1);
	assert_int_equal(space_add(&space, 110, 120), 0);
	ranges_are(&space, (struct space_range[]){ { 20, 100 }, { 110, 120 } }, 2);
	assert_int_equal(space_add(&space, 100, 110), 0);
	ranges_are(&space, (struct space_range[]){ { 20, 120 } }, 1);
	space_fini(&space);
	assert_int_equal(space.bytes, 0);
	assert_null(space.range);
}

/*
 *   |##########|   take the middle, the start, the end, all
 */
static void taking_splits_and_trims(void **state)
{
	struct space space = { 0 };

	(void)state;
	assert_int_equal(space_add(&space, 0, 100), 0);
	assert_int_equal(space_take(&space, 40, 60), 0);
	ranges_are(&space, (struct space_range[]){ { 0, 40 }, { 60, 100 } }, 2);
	assert_int_equal(space_take(&space, 0, 10), 0);
	assert_int_equal(space_take(&space, 90, 100), 0);
	ranges_are(&space, (struct space_range[]){ { 10, 40 }, { 60, 90 } }, 2);
	assert_int_equal(space_take(&space, 10, 40), 0);
	ranges_are(&space, (struct space_range[]){ { 60, 90 } }, 1);
	space_fini(&space);
}

static void what_is_free_or_taken_twice_is_refused(void **state)
{
	struct space space = { 0 };

	(void)state;
	assert_int_equal(space_add(&space, 10, 20), 0);
	assert_int_equal(space_add(&space, 10, 20), -EEXIST);
	assert_int_equal(space_add(&space, 19, 30), -EEXIST);
	assert_int_equal(space_add(&space, 0, 11), -EEXIST);
	assert_int_equal(space_add(&space, 0, 30), -EEXIST);
	assert_int_equal(space_take(&space, 20, 21), -ENOENT);
	assert_int_equal(space_take(&space, 9, 12), -ENOENT);
	assert_int_equal(space_take(&space, 18, 21), -ENOENT);
	assert_int_equal(space_take(&space, 0, 5), -ENOENT);
	ranges_are(&space, (struct space_range[]){ { 10, 20 } }, 1);
	space_fini(&space);
	assert_int_equal(space_take(&space, 0, 1), -ENOENT);
}

static void an_empty_range_changes_nothing(void **state)
{
	struct space space = { 0 };

	(void)state;
	assert_int_equal(space_add(&space, 10, 10), 0);
	assert_int_equal(space_take(&space, 10, 10), 0);
	assert_int_equal(space_add(&space, 10, 20), 0);
	assert_int_equal(space_take(&space, 15, 15), 0);
	assert_int_equal(space_take(&space, 15, 12), 0);
	ranges_are(&space, (struct space_range[]){ { 10, 20 } }, 1);
	space_fini(&space);
}

/*
 *   0        64       128      192      256
 *   |...#####|########|###.....|..######|
 *      24                 152      208
 */
static void a_place_is_found_from_either_end(void **state)
{
	struct space space = { 0 };
	uint64_t at = 0;

	(void)state;
	assert_int_equal(space_add(&space, 24, 152), 0);
	assert_int_equal(space_add(&space, 208, 256), 0);
	assert_true(space_find(&space, 64, 64, false, &at));
	assert_int_equal(at, 64);
	assert_true(space_find(&space, 64, 64, true, &at));
	assert_int_equal(at, 64);
	assert_true(space_find(&space, 8, 8, true, &at));
	assert_int_equal(at, 248);
	assert_true(space_find(&space, 8, 8, false, &at));
	assert_int_equal(at, 24);
	assert_true(space_find(&space, 48, 16, true, &at));
	assert_int_equal(at, 208);
	assert_true(space_find(&space, 128, 1, true, &at));
	assert_int_equal(at, 24);
	assert_false(space_find(&space, 128, 8 * 8, true, &at));
	assert_false(space_find(&space, 129, 1, true, &at)); /* enough in sum, not in one piece */
	assert_false(space_find(&space, 0, 1, true, &at));
	assert_false(space_find(&space, 177, 1, false, &at));
	space_fini(&space);
}

/* Room is kept for what was taken; it is not kept any longer once that is back. */
static void a_set_does_not_grow_without_need(void **state)
{
	struct space space = { 0 };

	(void)state;
	assert_int_equal(space_add(&space, 0, 1000), 0);
	for (int round = 0; round < 1000; round++) {
		assert_int_equal(space_take(&space, 300, 400), 0);
		assert_int_equal(space_take(&space, 500, 600), 0);
		assert_int_equal(space_add(&space, 300, 400), 0);
		assert_int_equal(space_add(&space, 500, 600), 0);
	}
	assert_true(space.room <= 16);
	ranges_are(&space, (struct space_range[]){ { 0, 1000 } }, 1);
	space_fini(&space);
}

static void addresses_at_the_end_do_not_wrap(void **state)
{
	struct space space = { 0 };
	uint64_t at = 0;

	(void)state;
	assert_int_equal(space_add(&space, UINT64_MAX - 100, UINT64_MAX), 0);
	assert_false(space_find(&space, 10, 4096, false, &at));
	assert_false(space_find(&space, 10, 4096, true, &at));
	assert_true(space_find(&space, 100, 1, true, &at));
	assert_int_equal(at, UINT64_MAX - 100);
	space_fini(&space);
}

/* ---- against a bitmap ------------------------------------------------------------- */

static bool all_are(const bool *map, uint64_t start, uint64_t end, bool free)
{
	for (uint64_t b = start; b < end; b++)
		if (map[b] != free)
			return false;
	return true;
}

static void set_all(bool *map, uint64_t start, uint64_t end, bool free)
{
	for (uint64_t b = start; b < end; b++)
		map[b] = free;
}

static void agrees(const struct space *space, const bool *map)
{
	uint64_t bytes = 0, at = 0;

	for (size_t i = 0; i < space->count; i++) {
		assert_true(space->range[i].start < space->range[i].end);
		assert_true(i == 0 || space->range[i - 1].end < space->range[i].start);
		assert_true(all_are(map, at, space->range[i].start, false));
		assert_true(all_are(map, space->range[i].start, space->range[i].end, true));
		bytes += space->range[i].end - space->range[i].start;
		at = space->range[i].end;
	}
	assert_true(all_are(map, at, BYTES, false));
	assert_int_equal(space->bytes, bytes);
}

/** The first place from either end, byte by byte. */
static bool searched(const bool *map, uint64_t bytes, uint64_t align, bool top_down, uint64_t *out)
{
	for (uint64_t i = 0; bytes && i * align + bytes <= BYTES; i++) {
		uint64_t at = i * align;

		if (!all_are(map, at, at + bytes, true))
			continue;
		*out = at;
		if (!top_down)
			return true;
		/* Keep looking: the last one counts. */
		for (at += align; at + bytes <= BYTES; at += align)
			if (all_are(map, at, at + bytes, true))
				*out = at;
		return true;
	}
	return false;
}

static void a_set_is_what_a_bitmap_says(void **state)
{
	uint64_t random = seed_of("test-sim-space", 3);
	struct space space = { 0 };
	bool map[BYTES] = { false };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = random_below(&random, BYTES), at = 0, want = 0;
		uint64_t end = start + random_below(&random, 40);
		uint64_t align = 1ULL << random_below(&random, 7);
		bool top_down = random_below(&random, 2), found;

		end = end < BYTES ? end : BYTES;
		switch (random_below(&random, 4)) {
		case 0:
			assert_int_equal(space_add(&space, start, end),
					 all_are(map, start, end, false) ? 0 : -EEXIST);
			if (all_are(map, start, end, false))
				set_all(map, start, end, true);
			break;
		case 1:
			assert_int_equal(space_take(&space, start, end),
					 all_are(map, start, end, true) ? 0 : -ENOENT);
			if (all_are(map, start, end, true))
				set_all(map, start, end, false);
			break;
		default:
			found = space_find(&space, end - start, align, top_down, &at);
			assert_int_equal(found, searched(map, end - start, align, top_down, &want));
			if (found)
				assert_int_equal(at, want);
		}
		if (round % 64 == 0)
			agrees(&space, map);
	}
	agrees(&space, map);
	space_fini(&space);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_merge),
		cmocka_unit_test(taking_splits_and_trims),
		cmocka_unit_test(what_is_free_or_taken_twice_is_refused),
		cmocka_unit_test(an_empty_range_changes_nothing),
		cmocka_unit_test(a_place_is_found_from_either_end),
		cmocka_unit_test(a_set_does_not_grow_without_need),
		cmocka_unit_test(addresses_at_the_end_do_not_wrap),
		cmocka_unit_test(a_set_is_what_a_bitmap_says),
	};

	return cmocka_run_group_tests_name("sim: space", tests, NULL, NULL);
}

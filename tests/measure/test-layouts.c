/* SPDX-License-Identifier: MIT */
/*
 * test-layouts.c - when a layout was had, by what the kernel's books say of a table
 */
#include <unistd.h>

#include "tests/measure/help.h"

static uint64_t base;

/** 100 MiB: @large of it on 2M pages, the rest on base pages; @far of it on node 1. */
static struct hd_got got_of(unsigned large, unsigned far, enum hd_why pages, enum hd_why nodes)
{
	return (struct hd_got){
		.bytes = 100 * MIB,
		.populated = 100 * MIB,
		.page_sizes = 2,
		.page = { { 2 * MIB, large * MIB }, { base, (100 - large) * MIB } },
		.nodes = 2,
		.node = { { (100 - far) * MIB, 0, 1 }, { far * MIB, 1, 1 } },
		.pages_why = pages,
		.nodes_why = nodes,
	};
}

static bool had(int layout, struct hd_got got)
{
	return measure_had(&measure_layouts[layout], &got);
}

static void what_the_library_calls_met_was_had(void **state)
{
	(void)state;
	for (int l = 0; l < MEASURE_LAYOUTS; l++)
		assert_true(had(l, got_of(100, 50, HD_WHY_MET, HD_WHY_MET)));
}

static void large_pages_are_had_from_nine_tenths_on(void **state)
{
	(void)state;
	assert_true(had(MEASURE_LARGE_ONE, got_of(99, 0, HD_WHY_FRAGMENTED, HD_WHY_MET)));
	assert_true(had(MEASURE_LARGE_ONE, got_of(90, 0, HD_WHY_FRAGMENTED, HD_WHY_MET)));
	assert_false(had(MEASURE_LARGE_ONE, got_of(89, 0, HD_WHY_FRAGMENTED, HD_WHY_MET)));
	assert_false(had(MEASURE_LARGE_ONE, got_of(0, 0, HD_WHY_THP_NEVER, HD_WHY_MET)));
}

/* A pool that is empty is made up for by transparent pages of the same size. */
static void pages_of_a_pool_are_had_all_or_not_at_all(void **state)
{
	(void)state;
	assert_false(had(MEASURE_HUGETLB_ONE, got_of(100, 0, HD_WHY_POOL_EMPTY, HD_WHY_MET)));
	assert_false(had(MEASURE_1G_ONE, got_of(100, 0, HD_WHY_NO_SUPPORT, HD_WHY_MET)));
}

static void one_node_is_had_if_nine_tenths_lie_on_one(void **state)
{
	(void)state;
	assert_true(had(MEASURE_BASE_ONE, got_of(0, 10, HD_WHY_MET, HD_WHY_NODE_FULL)));
	assert_false(had(MEASURE_BASE_ONE, got_of(0, 11, HD_WHY_MET, HD_WHY_NODE_FULL)));
	assert_true(had(MEASURE_BASE_ONE, got_of(0, 95, HD_WHY_MET, HD_WHY_NODE_FULL)));
}

static void a_spread_is_had_unless_nearly_all_lies_on_one(void **state)
{
	(void)state;
	assert_true(had(MEASURE_LARGE_SPREAD, got_of(100, 40, HD_WHY_MET, HD_WHY_NODE_FULL)));
	assert_true(had(MEASURE_LARGE_SPREAD, got_of(100, 11, HD_WHY_MET, HD_WHY_NODE_FULL)));
	assert_false(had(MEASURE_LARGE_SPREAD, got_of(100, 9, HD_WHY_MET, HD_WHY_NODE_FULL)));
	assert_false(had(MEASURE_BASE_SPREAD, got_of(0, 0, HD_WHY_MET, HD_WHY_ONE_NODE)));
}

static void weights_of_the_administrator_are_a_spread(void **state)
{
	(void)state;
	assert_true(had(MEASURE_LARGE_SPREAD, got_of(100, 5, HD_WHY_MET, HD_WHY_MET)));
}

static void both_must_be_had(void **state)
{
	(void)state;
	assert_false(had(MEASURE_LARGE_SPREAD, got_of(0, 50, HD_WHY_THP_NEVER, HD_WHY_MET)));
	assert_false(had(MEASURE_LARGE_SPREAD, got_of(100, 0, HD_WHY_MET, HD_WHY_ONE_NODE)));
}

static void what_the_books_do_not_tell_was_not_had(void **state)
{
	struct hd_got got = { .bytes = 100 * MIB, .populated = 100 * MIB };

	(void)state;
	got.pages_unknown = got.nodes_unknown = 100 * MIB;
	got.pages_why = got.nodes_why = HD_WHY_UNKNOWN;
	for (int l = 0; l < MEASURE_LAYOUTS; l++)
		assert_false(had(l, got));
}

static void names_are_those_of_pages_and_nodes(void **state)
{
	(void)state;
	for (int l = 0; l < MEASURE_LAYOUTS; l++) {
		char name[64];

		snprintf(name, sizeof(name), "%s-%s", measure_layouts[l].pages,
			 measure_layouts[l].nodes);
		assert_string_equal(measure_layouts[l].name, name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_library_calls_met_was_had),
		cmocka_unit_test(large_pages_are_had_from_nine_tenths_on),
		cmocka_unit_test(pages_of_a_pool_are_had_all_or_not_at_all),
		cmocka_unit_test(one_node_is_had_if_nine_tenths_lie_on_one),
		cmocka_unit_test(a_spread_is_had_unless_nearly_all_lies_on_one),
		cmocka_unit_test(weights_of_the_administrator_are_a_spread),
		cmocka_unit_test(both_must_be_had),
		cmocka_unit_test(what_the_books_do_not_tell_was_not_had),
		cmocka_unit_test(names_are_those_of_pages_and_nodes),
	};

	base = (uint64_t)sysconf(_SC_PAGESIZE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

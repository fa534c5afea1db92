/* SPDX-License-Identifier: MIT */
/*
 * test-runs.c - layouts of real tables on this machine: what is counted, never how long it took
 */
#include <unistd.h>

#include "tests/measure/help.h"

enum { RUNS = 3, LOOKUPS = 5000 };

static int measure(uint64_t bytes, uint32_t layouts, uint32_t threads, struct measure_row *row)
{
	const struct measure_want want = {
		.bytes = bytes,
		.bucket_bytes = 64,
		.lookups = LOOKUPS,
		.layouts = layouts,
		.runs = RUNS,
		.threads = threads,
	};

	return measure_runs(&want, row);
}

static double faults_of(const struct measure_row *row)
{
	return row->stat[MEASURE_FAULTS].median;
}

static void rows_come_in_the_order_of_the_layouts(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];
	uint32_t some = 1 << MEASURE_LARGE_SPREAD | 1 << MEASURE_BASE_ONE | 1 << MEASURE_LARGE_ONE;

	(void)state;
	assert_int_equal(measure(2 * MIB, some, 1, row), 3);
	assert_ptr_equal(row[0].layout, &measure_layouts[MEASURE_BASE_ONE]);
	assert_ptr_equal(row[1].layout, &measure_layouts[MEASURE_LARGE_ONE]);
	assert_ptr_equal(row[2].layout, &measure_layouts[MEASURE_LARGE_SPREAD]);
}

static void base_pages_on_one_node_can_be_had_anywhere(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];

	(void)state;
	assert_int_equal(measure(3 * MIB, 1 << MEASURE_BASE_ONE, 1, row), 1);
	assert_true(row->had);
	assert_int_equal(row->error, 0);
	assert_int_equal(row->runs, RUNS);
	assert_int_equal(row->got.pages_why, HD_WHY_MET);
	assert_int_equal(measure_large_bytes(&row->got), 0);
	for (int figure = 0; figure < MEASURE_FIGURES; figure++)
		assert_int_equal(row->stat[figure].samples, RUNS);
	assert_true(row->stat[MEASURE_INDEPENDENT_RATIO].median == 1);
	assert_true(row->stat[MEASURE_DEPENDENT_RATIO].median == 1);
}

/* Every base page is a fault, and next to nothing else is. */
static void base_pages_cost_a_fault_each(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];
	uint64_t pages = 16 * MIB / (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_int_equal(measure(16 * MIB, 1 << MEASURE_BASE_ONE, 1, row), 1);
	assert_true(row->had);
	assert_in_range((uint64_t)faults_of(row), pages, pages + 100);
}

static void large_pages_save_nearly_all_faults(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];

	(void)state;
	assert_int_equal(measure(64 * MIB, 1 << MEASURE_BASE_ONE | 1 << MEASURE_LARGE_ONE, 1, row),
			 2);
	if (!row[1].had || row[1].got.pages_why != HD_WHY_MET) {
		print_message("skipped: no large pages: %s\n", hd_why_name(row[1].got.pages_why));
		skip();
	}
	assert_true(row[0].had);
	assert_true(faults_of(&row[1]) * 50 < faults_of(&row[0]));
}

static void all_layouts_visit_the_same_buckets_and_as_many_as_asked_for(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];
	int rows = measure(4 * MIB, (1u << MEASURE_LAYOUTS) - 1, 2, row);

	(void)state;
	assert_int_equal(rows, MEASURE_LAYOUTS);
	for (int r = 0; r < rows; r++) {
		if (!row[r].had)
			continue;
		assert_int_equal(row[r].lookups, LOOKUPS);
		assert_true(row[r].independent_sum == row[0].independent_sum);
		assert_true(row[r].dependent_sum == row[0].dependent_sum);
	}
	assert_true(row[0].independent_sum != row[0].dependent_sum);
}

static void what_was_not_had_was_not_measured_and_has_a_reason(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];
	int rows = measure(2 * MIB, (1u << MEASURE_LAYOUTS) - 1, 1, row);

	(void)state;
	for (int r = 0; r < rows; r++) {
		if (row[r].had)
			continue;
		assert_int_equal(row[r].runs, 0);
		assert_true(row[r].got.pages_why != HD_WHY_MET ||
			    row[r].got.nodes_why != HD_WHY_MET || row[r].error);
		for (int figure = 0; figure < MEASURE_FIGURES; figure++)
			assert_int_equal(row[r].stat[figure].samples, 0);
	}
}

/* On most machines the smallest large page has 2 MiB. */
static void a_table_below_a_large_page_has_none(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];

	(void)state;
	assert_int_equal(measure(64 * KIB, 1 << MEASURE_LARGE_ONE, 1, row), 1);
	if (measure_large_bytes(&row->got)) {
		print_message("skipped: this kernel has large pages of 64K and less\n");
		skip();
	}
	assert_false(row->had);
	assert_int_not_equal(row->got.pages_why, HD_WHY_MET);
}

static void no_ratio_without_what_it_refers_to(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];

	(void)state;
	assert_int_equal(measure(4 * MIB, 1 << MEASURE_LARGE_ONE, 1, row), 1);
	assert_int_equal(row->stat[MEASURE_INDEPENDENT_RATIO].samples, 0);
	assert_int_equal(row->stat[MEASURE_DEPENDENT_RATIO].samples, 0);
}

static void a_table_beyond_all_memory_is_an_error_of_its_row(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];

	(void)state;
	if (sizeof(size_t) < 8) {
		print_message("skipped: more than all memory cannot be asked for in 32 bits\n");
		skip();
	}
	assert_int_equal(measure(GIB << 16, MEASURE_FOUR, 1, row), 4);
	for (int r = 0; r < 4; r++) {
		assert_false(row[r].had);
		assert_true(row[r].error < 0);
	}
}

/** Turns, as the progress tells of them. */
struct turns {
	int count;
	const struct measure_layout *layout[64];
	uint32_t run[64];
};

static void note_turn(void *arg, const struct measure_layout *layout, uint32_t run)
{
	struct turns *turns = arg;

	assert_true(turns->count < 64);
	turns->layout[turns->count] = layout;
	turns->run[turns->count++] = run;
}

/* A B A B A B ..., and the first round is the warm-up. */
static void layouts_take_turns(void **state)
{
	struct measure_row row[MEASURE_LAYOUTS];
	struct turns turns = { .count = 0 };
	const struct measure_want want = {
		.bytes = 4 * MIB,
		.bucket_bytes = 64,
		.lookups = 10,
		.layouts = 1 << MEASURE_BASE_ONE | 1 << MEASURE_LARGE_ONE,
		.runs = 4,
		.threads = 1,
		.progress = note_turn,
		.arg = &turns,
	};

	(void)state;
	assert_int_equal(measure_runs(&want, row), 2);
	if (!row[1].had) {
		print_message("skipped: no large pages: %s\n", hd_why_name(row[1].got.pages_why));
		skip();
	}
	assert_int_equal(turns.count, 2 * (1 + 4));
	for (int t = 0; t < turns.count; t++) {
		assert_ptr_equal(turns.layout[t], row[t % 2].layout);
		assert_int_equal(turns.run[t], t / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_in_the_order_of_the_layouts),
		cmocka_unit_test(base_pages_on_one_node_can_be_had_anywhere),
		cmocka_unit_test(base_pages_cost_a_fault_each),
		cmocka_unit_test(large_pages_save_nearly_all_faults),
		cmocka_unit_test(all_layouts_visit_the_same_buckets_and_as_many_as_asked_for),
		cmocka_unit_test(what_was_not_had_was_not_measured_and_has_a_reason),
		cmocka_unit_test(a_table_below_a_large_page_has_none),
		cmocka_unit_test(no_ratio_without_what_it_refers_to),
		cmocka_unit_test(a_table_beyond_all_memory_is_an_error_of_its_row),
		cmocka_unit_test(layouts_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

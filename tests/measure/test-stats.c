/* SPDX-License-Identifier: MIT */
/*
 * test-stats.c - medians and percentiles, exactly
 */
#include "tests/measure/help.h"

static struct measure_stat stat_of(const double *sample, uint32_t count)
{
	double copy[128];

	assert_true(count <= ARRAY_SIZE(copy));
	memcpy(copy, sample, count * sizeof(*sample));
	return measure_summary(copy, count);
}

static void stat_is(struct measure_stat stat, uint32_t samples, double low, double median,
		    double high)
{
	assert_int_equal(stat.samples, samples);
	assert_true(stat.low == low);
	assert_true(stat.median == median);
	assert_true(stat.high == high);
}

static void no_sample_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(stat_of((double[]){ 7 }, 0).samples, 0);
}

static void one_sample_is_all_there_is(void **state)
{
	(void)state;
	stat_is(stat_of((double[]){ 7 }, 1), 1, 7, 7, 7);
}

static void the_median_of_an_odd_count_was_measured(void **state)
{
	(void)state;
	stat_is(stat_of((double[]){ 9, 1, 4 }, 3), 3, 1, 4, 9);
	stat_is(stat_of((double[]){ 5, 5, 1, 100, 5 }, 5), 5, 1, 5, 100);
}

static void the_median_of_an_even_count_lies_between_the_two_in_the_middle(void **state)
{
	(void)state;
	stat_is(stat_of((double[]){ 3, 1 }, 2), 2, 1, 2, 3);
	stat_is(stat_of((double[]){ 8, 2, 4, 1 }, 4), 4, 1, 3, 8);
}

static void one_run_that_was_disturbed_does_not_move_the_median(void **state)
{
	(void)state;
	stat_is(stat_of((double[]){ 2, 2, 2, 2, 1e9 }, 5), 5, 2, 2, 1e9);
}

static void huge_samples_do_not_overflow(void **state)
{
	(void)state;
	stat_is(stat_of((double[]){ 1.5e308, 1.5e308 }, 2), 2, 1.5e308, 1.5e308, 1.5e308);
}

/* Up to nine samples the percentiles are the ends; with ten, the top one is cut off. */
static void percentiles_are_the_ends_of_a_few_samples_and_cut_off_those_of_many(void **state)
{
	double sample[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		sample[i] = 100 - i; /* 100, 99, ... 1 */
	stat_is(stat_of(sample + 91, 9), 9, 1, 5, 9);
	stat_is(stat_of(sample + 90, 10), 10, 1, 5.5, 9);
	stat_is(stat_of(sample + 80, 20), 20, 2, 10.5, 18);
	stat_is(stat_of(sample, 100), 100, 10, 50.5, 90);
}

static void percentiles_are_by_nearest_rank(void **state)
{
	static const double sorted[] = { 15, 20, 35, 40, 50 };

	(void)state;
	assert_true(measure_percentile(sorted, 5, 1) == 15);
	assert_true(measure_percentile(sorted, 5, 20) == 15);
	assert_true(measure_percentile(sorted, 5, 21) == 20);
	assert_true(measure_percentile(sorted, 5, 30) == 20);
	assert_true(measure_percentile(sorted, 5, 40) == 20);
	assert_true(measure_percentile(sorted, 5, 50) == 35);
	assert_true(measure_percentile(sorted, 5, 100) == 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_sample_is_unknown),
		cmocka_unit_test(one_sample_is_all_there_is),
		cmocka_unit_test(the_median_of_an_odd_count_was_measured),
		cmocka_unit_test(the_median_of_an_even_count_lies_between_the_two_in_the_middle),
		cmocka_unit_test(one_run_that_was_disturbed_does_not_move_the_median),
		cmocka_unit_test(huge_samples_do_not_overflow),
		cmocka_unit_test(
		    percentiles_are_the_ends_of_a_few_samples_and_cut_off_those_of_many),
		cmocka_unit_test(percentiles_are_by_nearest_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

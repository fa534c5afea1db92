/* SPDX-License-Identifier: MIT */
/*
 * test-compare.c - ratios, intervals and verdicts of data whose answer is known
 */
#include "tests/command/help.h"

enum { MOST = 64 };

static struct command_comparison compare(const double *a, const double *b, uint32_t pairs)
{
	struct command_comparison out;

	assert_int_equal(command_compare(a, b, pairs, &out), 0);
	return out;
}

/** A of 100 each, B of @b. */
static struct command_comparison against_100(const double *b, uint32_t pairs)
{
	double a[MOST];

	for (uint32_t p = 0; p < pairs; p++)
		a[p] = 100;
	return compare(a, b, pairs);
}

static void near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9 * fmax(1, fabs(wanted)))
		fail_msg("%.12g is not %.12g", value, wanted);
}

/* From tables of the sign test: rank from either end, and what the interval covers. */
static void ranks_are_those_of_the_published_table(void **state)
{
	static const struct {
		uint32_t pairs, rank;
		double confidence;
	} table[] = {
		{ 6, 1, 0.96875 },   { 7, 1, 0.984375 },   { 8, 1, 0.9921875 },
		{ 9, 2, 0.9609375 }, { 10, 2, 0.978516 },  { 15, 4, 0.964844 },
		{ 20, 6, 0.958611 }, { 30, 10, 0.957226 }, { 100, 40, 0.964800 },
	};

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(table); t++) {
		double confidence;

		assert_int_equal(command_rank(table[t].pairs, &confidence), table[t].rank);
		assert_true(confidence >= COMMAND_CONFIDENCE);
		if (fabs(confidence - table[t].confidence) >= 1e-6)
			fail_msg("%u pairs: %.6f", table[t].pairs, confidence);
	}
}

static void fewer_than_six_pairs_have_no_interval(void **state)
{
	(void)state;
	for (uint32_t pairs = 0; pairs < COMMAND_PAIRS_LEAST; pairs++) {
		double confidence = -1;

		assert_int_equal(command_rank(pairs, &confidence), 0);
		assert_true(confidence == 0);
	}
}

/* All 2^10 ways that signs may fall, each as likely: how often the interval misses 1. */
static void an_interval_misses_as_seldom_as_it_says(void **state)
{
	double confidence;
	int missed = 0;

	(void)state;
	command_rank(10, &confidence);
	for (int signs = 0; signs < 1024; signs++) {
		double a[10], b[10];
		struct command_comparison c;

		for (int p = 0; p < 10; p++) {
			a[p] = 100;
			b[p] = 100 * exp(signs >> p & 1 ? 0.01 * (p + 1) : -0.01 * (p + 1));
		}
		c = compare(a, b, 10);
		missed += c.low > 1 || c.high < 1;
	}
	near(1 - missed / 1024.0, confidence);
}

static void the_ratio_is_the_median_of_those_of_the_rounds(void **state)
{
	static const double b[] = { 50, 400, 80, 25 };
	struct command_comparison c = against_100(b, 3);

	(void)state;
	near(c.ratio, 0.8);
	near(c.difference, -20);
	c = against_100(b, 4);
	near(c.ratio, sqrt(0.5 * 0.8));
	near(c.difference, -35);
}

static void an_interval_reaches_from_one_ratio_to_another(void **state)
{
	static const double b[] = { 91, 92, 93, 94, 95, 96, 97, 98, 99, 90 };
	struct command_comparison c = against_100(b, 10);

	(void)state;
	near(c.low, 0.91);
	near(c.high, 0.98);
	near(c.difference_low, -9);
	near(c.difference_high, -2);
}

static void a_change_that_all_rounds_show_is_seen(void **state)
{
	static const double less[] = { 80, 82, 78, 81, 79, 80, 83 };
	static const double more[] = { 120, 122, 118, 121, 119, 120 };
	struct command_comparison c = against_100(less, 7);

	(void)state;
	assert_int_equal(c.verdict, COMMAND_LESS);
	assert_true(c.low > 0.77 && c.high < 0.84 && c.low < c.ratio && c.ratio < c.high);
	c = against_100(more, 6);
	assert_int_equal(c.verdict, COMMAND_MORE);
	assert_true(c.low > 1.17 && c.high < 1.23);
}

static void noise_about_1_is_no_difference(void **state)
{
	static const double b[] = { 90, 110, 95, 106, 99, 102, 93, 108 };

	(void)state;
	assert_int_equal(against_100(b, 8).verdict, COMMAND_NO_CHANGE);
}

static void one_round_that_was_disturbed_does_not_hide_a_change(void **state)
{
	static const double b[] = { 80, 80, 81, 79, 80, 81, 80, 79, 80, 1000 };

	(void)state;
	assert_int_equal(against_100(b, 10).verdict, COMMAND_LESS);
}

/* A machine that gets slower all the time, by far more than A and B differ. */
static void what_moves_both_alike_does_not_hide_a_change(void **state)
{
	double a[10], b[10];

	(void)state;
	for (int p = 0; p < 10; p++) {
		a[p] = 100 * (p + 1);
		b[p] = 97 * (p + 1) + 0.1 * (p % 3);
	}
	assert_int_equal(compare(a, b, 10).verdict, COMMAND_LESS);
}

static void less_than_a_thousandth_is_the_same(void **state)
{
	static const double same[] = { 100, 100, 100, 100, 100, 100 };
	static const double nearly[] = { 100.01, 100.02, 100.01, 100.03, 100.02, 100.01 };
	static const double beyond[] = { 100.2, 100.3, 100.2, 100.3, 100.2, 100.2 };

	(void)state;
	assert_int_equal(against_100(same, 6).verdict, COMMAND_SAME);
	assert_int_equal(against_100(nearly, 6).verdict, COMMAND_SAME);
	assert_int_equal(against_100(beyond, 6).verdict, COMMAND_MORE);
}

static void too_few_runs_have_a_ratio_and_no_verdict(void **state)
{
	static const double b[] = { 50, 50, 50, 50, 50 };
	struct command_comparison c = against_100(b, 5);

	(void)state;
	assert_int_equal(c.verdict, COMMAND_TOO_FEW);
	assert_true(c.confidence == 0);
	near(c.ratio, 0.5);
}

static void without_a_ratio_differences_are_judged(void **state)
{
	static const double none[8] = { 0 };
	static const double share[] = { 0.7, 0.8, 0.75, 0.7, 0.72, 0.74, 0.71, 0.77 };
	static const double some[] = { 0, 0, 1, 0, 0, 0, 0, 0 };
	struct command_comparison c = compare(none, share, 8);

	(void)state;
	assert_false(c.ratio_known);
	assert_int_equal(c.verdict, COMMAND_MORE);
	assert_true(c.difference_low >= 0.7 && c.difference_high <= 0.8);
	assert_int_equal(compare(share, none, 8).verdict, COMMAND_LESS);
	assert_int_equal(compare(none, none, 8).verdict, COMMAND_SAME);
	assert_int_not_equal(compare(none, some, 8).verdict, COMMAND_MORE);
}

static void rounds_in_which_one_is_unknown_do_not_count(void **state)
{
	static const double a[] = { 100, -1, 100, 100, 100, 100, 100, 100 };
	static const double b[] = { 50, 7000, -1, 50, 50, 50, 50, 50 };
	static const double unknown[] = { -1, -1, -1, -1, -1, -1, -1, -1 };
	struct command_comparison c = compare(a, b, 8);

	(void)state;
	assert_int_equal(c.pairs, 6);
	near(c.ratio, 0.5);
	near(c.high, 0.5);
	assert_int_equal(compare(a, unknown, 8).verdict, COMMAND_UNKNOWN);
	assert_int_equal(compare(a, unknown, 8).pairs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_those_of_the_published_table),
		cmocka_unit_test(fewer_than_six_pairs_have_no_interval),
		cmocka_unit_test(an_interval_misses_as_seldom_as_it_says),
		cmocka_unit_test(the_ratio_is_the_median_of_those_of_the_rounds),
		cmocka_unit_test(an_interval_reaches_from_one_ratio_to_another),
		cmocka_unit_test(a_change_that_all_rounds_show_is_seen),
		cmocka_unit_test(noise_about_1_is_no_difference),
		cmocka_unit_test(one_round_that_was_disturbed_does_not_hide_a_change),
		cmocka_unit_test(what_moves_both_alike_does_not_hide_a_change),
		cmocka_unit_test(less_than_a_thousandth_is_the_same),
		cmocka_unit_test(too_few_runs_have_a_ratio_and_no_verdict),
		cmocka_unit_test(without_a_ratio_differences_are_judged),
		cmocka_unit_test(rounds_in_which_one_is_unknown_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

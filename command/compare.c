/* SPDX-License-Identifier: MIT */
/*
 * compare.c - ratio, interval, verdict
 *
 * Of each round the ratio B to A is taken; the estimate is their median. The interval
 * reaches from one of these ratios to another, as far from either end as the binomial
 * distribution allows: if the true median lay outside, so many rounds on one side of it
 * would be a coin that falls the same way too often. So nothing is assumed of how times
 * are distributed; rounds that were disturbed do not move it while they are few; and
 * nothing is drawn at random: the same runs give the same interval.
 *
 * With n rounds the widest interval has a confidence of 1 - 2 / 2^n: fewer than 6 cannot
 * give 95 %. A figure that was 0 in a run has no ratio; then differences are judged, in
 * the same way.
 *
 * Source: H. A. David, H. N. Nagaraja, Order Statistics, 3rd edition, 7.1.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "command/command.h"

#define ALIKE 0.001 /* less than any program's owner would act upon */

const char *command_verdict_name(enum command_verdict verdict)
{
	static const char *const names[COMMAND_VERDICTS] = {
		[COMMAND_UNKNOWN] = "?",
		[COMMAND_TOO_FEW] = "too few runs",
		[COMMAND_NO_CHANGE] = "no difference seen",
		[COMMAND_SAME] = "same",
		[COMMAND_LESS] = "less",
		[COMMAND_MORE] = "more",
	};

	return names[verdict];
}

uint32_t command_rank(uint32_t pairs, double *confidence)
{
	/* Of exactly @rank of @pairs coins; logarithms, as 2^-1000 times 10^299 is about 1. */
	double below = 0, log_chance = -(double)pairs * M_LN2;
	uint32_t rank = 0;

	/* The outer half of what is left out lies at each end. */
	while (2 * rank < pairs && below + exp(log_chance) <= (1 - COMMAND_CONFIDENCE) / 2) {
		below += exp(log_chance);
		log_chance += log((double)(pairs - rank) / (rank + 1));
		rank++;
	}
	*confidence = rank ? 1 - 2 * below : 0;
	return rank;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** The median of @value, which is sorted, and the interval at @rank. */
static void middle_of(double *value, uint32_t count, uint32_t rank, double *middle, double *low,
		      double *high)
{
	qsort(value, count, sizeof(*value), by_value);
	*middle = count % 2 ? value[count / 2] : value[count / 2 - 1] / 2 + value[count / 2] / 2;
	*low = value[rank ? rank - 1 : 0];
	*high = value[count - (rank ? rank : 1)];
}

/** @low, @high: of logarithms of ratios, or of differences, which have a unit. */
static enum command_verdict verdict_of(double low, double high, bool ratios)
{
	double alike = ratios ? ALIKE : 0;

	if (low >= -alike && high <= alike)
		return COMMAND_SAME;
	if (low <= 0 && high >= 0)
		return COMMAND_NO_CHANGE;
	return low > 0 ? COMMAND_MORE : COMMAND_LESS;
}

/** Rounds in which both are known, as logarithms of ratios and as differences. */
static uint32_t pair_up(const double *a, const double *b, uint32_t pairs, double *logs,
			double *differences, bool *ratios)
{
	uint32_t known = 0;

	*ratios = true;
	for (uint32_t p = 0; p < pairs; p++) {
		if (a[p] < 0 || b[p] < 0)
			continue;
		*ratios &= a[p] > 0 && b[p] > 0;
		logs[known] = *ratios ? log(b[p] / a[p]) : 0;
		differences[known++] = b[p] - a[p];
	}
	return known;
}

static void compare(double *logs, double *differences, struct command_comparison *out)
{
	uint32_t rank = command_rank(out->pairs, &out->confidence);
	double middle, low, high;

	middle_of(differences, out->pairs, rank, &out->difference, &out->difference_low,
		  &out->difference_high);
	low = out->difference_low;
	high = out->difference_high;
	if (out->ratio_known) {
		middle_of(logs, out->pairs, rank, &middle, &low, &high);
		out->ratio = exp(middle);
		out->low = exp(low);
		out->high = exp(high);
	}
	out->verdict = rank ? verdict_of(low, high, out->ratio_known) : COMMAND_TOO_FEW;
}

int command_compare(const double *a, const double *b, uint32_t pairs,
		    struct command_comparison *out)
{
	double *logs = calloc(pairs + 1, sizeof(*logs));
	double *differences = calloc(pairs + 1, sizeof(*differences));
	int error = logs && differences ? 0 : -ENOMEM;

	*out = (struct command_comparison){ .verdict = COMMAND_UNKNOWN };
	if (!error)
		out->pairs = pair_up(a, b, pairs, logs, differences, &out->ratio_known);
	if (out->pairs)
		compare(logs, differences, out);
	free(logs);
	free(differences);
	return error;
}

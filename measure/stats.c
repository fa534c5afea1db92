/* SPDX-License-Identifier: MIT */
/*
 * stats.c - the median of a few runs, and how far they lie apart
 *
 * Percentiles are by nearest rank: always a value that was measured, never one
 * in between. Means are of no use here: one run that was disturbed moves them.
 */
#include <stdlib.h>

#include "measure/measure.h"

double measure_percentile(const double *sorted, uint32_t count, unsigned percent)
{
	uint64_t rank = ((uint64_t)count * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct measure_stat measure_summary(double *sample, uint32_t count)
{
	struct measure_stat stat = { .samples = count };

	if (!count)
		return stat;
	qsort(sample, count, sizeof(*sample), by_value);
	stat.median =
	    count % 2 ? sample[count / 2] : sample[count / 2 - 1] / 2 + sample[count / 2] / 2;
	stat.low = measure_percentile(sample, count, 10);
	stat.high = measure_percentile(sample, count, 90);
	return stat;
}

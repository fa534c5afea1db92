/* SPDX-License-Identifier: MIT */
/*
 * runs.c - all layouts of one size, in turn, run by run
 *
 * A machine gets slower and faster while it is measured. So the layouts take
 * turns, A B C D A B C D, and are compared within one run. A round before the
 * first tells which of them can be had, warms up, and is thrown away: else who
 * comes first would pay for all.
 */
#include <errno.h>
#include <stdlib.h>

#include "measure/internal.h"

struct series {
	const struct measure_want *want;
	struct measure_cpu home;
	struct measure_row *row;
	uint32_t rows;
	double base[MEASURE_FIGURES]; /* MEASURE_BASE_ONE in this run; below 0: unknown */
	double *sample;               /* of each row and figure, a place for each run */
	uint32_t samples[MEASURE_LAYOUTS][MEASURE_FIGURES];
};

static double *sample_of(const struct series *s, uint32_t r, int figure)
{
	return s->sample + ((size_t)r * MEASURE_FIGURES + (size_t)figure) * s->want->runs;
}

static void compare_with_base(struct series *s, const struct measure_layout *layout,
			      struct measure_once *once)
{
	if (layout == &measure_layouts[MEASURE_BASE_ONE])
		for (int figure = 0; figure < MEASURE_FIGURES; figure++)
			s->base[figure] = once->value[figure];
	if (s->base[MEASURE_INDEPENDENT_NS] > 0)
		once->value[MEASURE_INDEPENDENT_RATIO] =
		    once->value[MEASURE_INDEPENDENT_NS] / s->base[MEASURE_INDEPENDENT_NS];
	if (s->base[MEASURE_DEPENDENT_NS] > 0)
		once->value[MEASURE_DEPENDENT_RATIO] =
		    once->value[MEASURE_DEPENDENT_NS] / s->base[MEASURE_DEPENDENT_NS];
}

static bool fell_shorter(const struct hd_got *a, const struct hd_got *b)
{
	bool a_met = a->pages_why == HD_WHY_MET && a->nodes_why == HD_WHY_MET;
	bool b_met = b->pages_why == HD_WHY_MET && b->nodes_why == HD_WHY_MET;

	if (a_met != b_met)
		return b_met;
	return measure_large_bytes(a) < measure_large_bytes(b);
}

/** All runs of all layouts visit the same buckets, and read the same there. */
static bool sums_agree(const struct series *s, const struct measure_once *once)
{
	if (once->independent.done != s->want->lookups || once->dependent.done != s->want->lookups)
		return false;
	for (uint32_t r = 0; r < s->rows; r++)
		if (s->row[r].runs && (s->row[r].independent_sum != once->independent.sum ||
				       s->row[r].dependent_sum != once->dependent.sum))
			return false;
	return true;
}

static int keep(struct series *s, uint32_t r, struct measure_once *once)
{
	struct measure_row *row = &s->row[r];

	row->error = once->error ? once->error : row->error;
	if (!once->error && (!row->runs || fell_shorter(&once->got, &row->got)))
		row->got = once->got;
	if (!once->had)
		return 0;
	if (!sums_agree(s, once))
		return -EIO;
	row->lookups = once->independent.done;
	row->independent_sum = once->independent.sum;
	row->dependent_sum = once->dependent.sum;
	compare_with_base(s, row->layout, once);
	for (int figure = 0; figure < MEASURE_FIGURES; figure++)
		if (once->value[figure] >= 0)
			sample_of(s, r, figure)[s->samples[r][figure]++] = once->value[figure];
	row->runs++;
	return 0;
}

/** @run: from 1; 0 is the warm-up, which also tells what can be had. */
static int one_round(struct series *s, uint32_t run)
{
	struct measure_once once;
	int error = 0;

	for (int figure = 0; figure < MEASURE_FIGURES; figure++)
		s->base[figure] = -1;
	for (uint32_t r = 0; !error && r < s->rows; r++) {
		struct measure_row *row = &s->row[r];

		if (run && !row->had)
			continue;
		if (s->want->progress)
			s->want->progress(s->want->arg, row->layout, run);
		measure_once(s->want, row->layout, &s->home, run > 0, &once);
		if (once.broken)
			return -EIO;
		if (run) {
			error = keep(s, r, &once);
			continue;
		}
		row->had = once.had;
		row->error = once.error;
		row->got = once.got;
	}
	return error;
}

static void summarize(struct series *s)
{
	for (uint32_t r = 0; r < s->rows; r++) {
		s->row[r].had = s->row[r].runs > 0;
		for (int figure = 0; figure < MEASURE_FIGURES; figure++)
			s->row[r].stat[figure] =
			    measure_summary(sample_of(s, r, figure), s->samples[r][figure]);
	}
}

int measure_runs(const struct measure_want *want, struct measure_row *row)
{
	struct series s = { .want = want, .row = row };
	int error = 0;

	for (int l = 0; l < MEASURE_LAYOUTS; l++)
		if (want->layouts & 1u << l)
			row[s.rows++] = (struct measure_row){ .layout = &measure_layouts[l],
							      .bytes = want->bytes };
	s.sample = calloc((size_t)want->runs * MEASURE_FIGURES * (s.rows + 1), sizeof(*s.sample));
	if (!s.sample)
		return -ENOMEM;
	measure_cpu_init(&s.home);
	for (uint32_t run = 0; !error && run <= want->runs; run++)
		error = one_round(&s, run);
	if (!error)
		summarize(&s);
	free(s.sample);
	return error ? error : (int)s.rows;
}

/* SPDX-License-Identifier: MIT */
/*
 * measure_figures.c - what a figure is called, how its values are written, and the columns
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/table.h"

const struct ab_figure ab_figures[COMMAND_FIGURES] = {
	[COMMAND_WALL] = { "wall time", AB_NS, "_ns", "the clock" },
	[COMMAND_CPU] = { "CPU time", AB_NS, "_ns", "wait4" },
	[COMMAND_USER] = { "user time", AB_NS, "_ns", "wait4" },
	[COMMAND_SYSTEM] = { "system time", AB_NS, "_ns", "wait4" },
	[COMMAND_PLACING] = { "placing time", AB_NS, "_ns", "schedstat, when looked at" },
	[COMMAND_FAULT_TIME] = { "fault time", AB_NS, "_ns", "page-faults to minor-faults, perf" },
	[COMMAND_MINOR_FAULTS] = { "minor faults", AB_COUNT, "", "wait4" },
	[COMMAND_MAJOR_FAULTS] = { "major faults", AB_COUNT, "", "wait4" },
	[COMMAND_RESIDENT] = { "resident, peak", AB_BYTES, "_bytes", "wait4: largest process" },
	[COMMAND_TREE_RESIDENT] = { "all resident", AB_BYTES, "_bytes", "status, when looked at" },
	[COMMAND_TABLES] = { "page tables", AB_BYTES, "_bytes", "status, when looked at" },
	[COMMAND_HUGE] = { "huge pages", AB_SHARE, "", "smaps_rollup, when most was resident" },
	[COMMAND_HUGE_MEAN] = { "huge, on average", AB_SHARE, "", "smaps_rollup, when looked at" },
	[COMMAND_LOAD_MISSES] = { "load misses", AB_COUNT, "", NULL },
	[COMMAND_STORE_MISSES] = { "store misses", AB_COUNT, "", NULL },
	[COMMAND_WALKS] = { "walks", AB_COUNT, "", NULL },
	[COMMAND_WALK_CYCLES] = { "walk cycles", AB_COUNT, "", NULL },
	[COMMAND_CYCLES] = { "cycles", AB_COUNT, "", NULL },
};

/* ---- values ------------------------------------------------------------------------------ */

/** Three digits that count, but of whole numbers without a unit's prefix all. */
static void write_scaled(char *out, size_t size, double value, const char *const *units, int last)
{
	int unit = 0, digits;

	while (unit < last && fabs(value) >= 999.5) {
		value /= 1000;
		unit++;
	}
	digits = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
	if (!unit && fabs(value - floor(value)) < 1e-9)
		digits = 0;
	snprintf(out, size, "%.*f%s", digits, value, units[unit]);
}

char *ab_value(char *out, size_t size, enum ab_unit unit, double value)
{
	static const char *const times[] = { " ns", " us", " ms", " s" };
	static const char *const counts[] = { "", "k", "M", "G", "T" };

	if (unit == AB_NS)
		write_scaled(out, size, value, times, 3);
	else if (unit == AB_SHARE)
		snprintf(out, size, "%.1f %%", value * 100);
	else if (unit == AB_BYTES && value >= 0)
		cli_size(out, size, (unsigned long long)value);
	else if (fabs(value) < 1e7)
		snprintf(out, size, "%.0f", value);
	else
		write_scaled(out, size, value, counts, 4);
	return out;
}

/** A change, with its sign. */
static void write_change(char *out, size_t size, enum ab_unit unit, double value)
{
	char text[64];

	snprintf(out, size, "%s%s", value < 0 ? "-" : "+",
		 ab_value(text, sizeof(text), unit, fabs(value)));
}

/** Three digits that count, and about 1 in thousandths, as that is what matters there. */
static void write_ratio(char *out, size_t size, double ratio)
{
	if (ratio >= 0.1 && ratio < 10)
		snprintf(out, size, "%.3f", ratio);
	else
		snprintf(out, size, ratio >= 99.95 ? "%.0f" : "%#.3g", ratio);
}

/* ---- where a figure is from ---------------------------------------------------------------- */

void ab_source(const struct ab *m, enum command_figure figure, char *out, size_t size)
{
	const struct command_hardware *hardware = &m->result.hardware;
	int f = (int)figure - COMMAND_HARDWARE;

	if (f < 0)
		snprintf(out, size, "%s", ab_figures[figure].source);
	else if (!hardware->counted[f])
		snprintf(out, size, "not counted");
	else if (hardware->pmus[f] > 1)
		snprintf(out, size, "%s, %u PMUs", hardware->name[f], hardware->pmus[f]);
	else
		snprintf(out, size, "%s", hardware->name[f]);
}

/* ---- columns --------------------------------------------------------------------------------- */

static const struct measure_stat *stat_of(const struct ab_row *row, int side)
{
	return &row->m->stat[side][row->figure];
}

static const struct command_comparison *comparison_of(const struct ab_row *row)
{
	return &row->m->comparison[row->figure];
}

static void figure_cell(const void *row, char *out)
{
	strcpy(out, ab_figures[((const struct ab_row *)row)->figure].name);
}

static void key_cell(const void *row, char *out)
{
	enum command_figure figure = ((const struct ab_row *)row)->figure;

	snprintf(out, CLI_CELL_MAX, "%s%s", command_figure_key(figure),
		 ab_figures[figure].key_unit);
}

static void median_cell(const struct ab_row *row, int side, char *out)
{
	const struct measure_stat *stat = stat_of(row, side);

	strcpy(out, "?");
	if (stat->samples)
		ab_value(out, CLI_CELL_MAX, ab_figures[row->figure].unit, stat->median);
}

static void a_cell(const void *row, char *out)
{
	median_cell(row, 0, out);
}

static void b_cell(const void *row, char *out)
{
	median_cell(row, 1, out);
}

static void range_cell(const struct ab_row *row, int side, char *out)
{
	const struct measure_stat *stat = stat_of(row, side);
	enum ab_unit unit = ab_figures[row->figure].unit;
	char low[64], high[64];

	strcpy(out, "?");
	if (stat->samples)
		snprintf(out, CLI_CELL_MAX, "%s to %s", ab_value(low, sizeof(low), unit, stat->low),
			 ab_value(high, sizeof(high), unit, stat->high));
}

static void a_range_cell(const void *row, char *out)
{
	range_cell(row, 0, out);
}

static void b_range_cell(const void *row, char *out)
{
	range_cell(row, 1, out);
}

static void spread_cell(const struct ab_row *row, int side, char *out)
{
	const struct measure_stat *stat = stat_of(row, side);

	strcpy(out, stat->samples ? "-" : "?");
	if (stat->samples && stat->median > 0)
		snprintf(out, CLI_CELL_MAX, "%.1f %%",
			 100 * (stat->high - stat->low) / stat->median);
}

static void a_spread_cell(const void *row, char *out)
{
	spread_cell(row, 0, out);
}

static void b_spread_cell(const void *row, char *out)
{
	spread_cell(row, 1, out);
}

static void ratio_cell(const void *row, char *out)
{
	const struct command_comparison *c = comparison_of(row);

	strcpy(out, c->pairs ? "-" : "?");
	if (c->pairs && c->ratio_known)
		write_ratio(out, CLI_CELL_MAX, c->ratio);
}

static void difference_cell(const void *row, char *out)
{
	const struct command_comparison *c = comparison_of(row);

	strcpy(out, "?");
	if (c->pairs)
		write_change(out, CLI_CELL_MAX,
			     ab_figures[((const struct ab_row *)row)->figure].unit, c->difference);
}

/** Of the ratio; where there is none, with signs, of the difference. */
static void interval_cell(const void *row, char *out)
{
	const struct command_comparison *c = comparison_of(row);
	enum ab_unit unit = ab_figures[((const struct ab_row *)row)->figure].unit;
	char low[64], high[64];

	strcpy(out, c->pairs ? "-" : "?");
	if (!c->pairs || c->confidence <= 0)
		return;
	if (c->ratio_known) {
		write_ratio(low, sizeof(low), c->low);
		write_ratio(high, sizeof(high), c->high);
	} else {
		write_change(low, sizeof(low), unit, c->difference_low);
		write_change(high, sizeof(high), unit, c->difference_high);
	}
	snprintf(out, CLI_CELL_MAX, "%s to %s", low, high);
}

static void verdict_cell(const void *row, char *out)
{
	strcpy(out, command_verdict_name(comparison_of(row)->verdict));
}

static void runs_cell(const void *row, char *out)
{
	snprintf(out, CLI_CELL_MAX, "%u", comparison_of(row)->pairs);
}

static void source_cell(const void *row, char *out)
{
	const struct ab_row *r = row;

	ab_source(r->m, r->figure, out, CLI_CELL_MAX);
}

const struct cli_column ab_columns[] = {
	{ "FIGURE", "what was counted", false, figure_cell },
	{ "KEY", "its name in JSON", false, key_cell },
	{ "A", "median of A's runs", true, a_cell },
	{ "ASPREAD", "10th to 90th percentile of them, by the median", true, a_spread_cell },
	{ "ARANGE", "the same as values", true, a_range_cell },
	{ "B", "median of B's runs", true, b_cell },
	{ "BSPREAD", "likewise", true, b_spread_cell },
	{ "BRANGE", "likewise", true, b_range_cell },
	{ "RATIO", "B to A", true, ratio_cell },
	{ "DIFFERENCE", "B less A", true, difference_cell },
	{ "INTERVAL", "in which the ratio lies; with signs: the difference", true, interval_cell },
	{ "VERDICT", "less, more, same, no difference seen, too few runs", false, verdict_cell },
	{ "RUNS", "rounds in which both were known", true, runs_cell },
	{ "SOURCE", "who counted", false, source_cell },
	{ 0 },
};

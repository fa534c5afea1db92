/* SPDX-License-Identifier: MIT */
/*
 * bench_columns.c - what the table can show of one layout at one size
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"

#define GIB 1073741824.0

/* ---- what was had -------------------------------------------------------------------------- */

enum bench_had bench_had(const struct measure_row *row)
{
	bool met = row->got.pages_why == HD_WHY_MET && row->got.nodes_why == HD_WHY_MET;

	if (!row->had)
		return BENCH_NOT_HAD;
	return met && !row->error && row->runs ? BENCH_HAD : BENCH_HAD_PART;
}

void bench_why_text(const struct measure_row *row, char *out)
{
	bool pages = row->got.pages_why != HD_WHY_MET, nodes = row->got.nodes_why != HD_WHY_MET;

	snprintf(out, BENCH_CELL_MAX, "%s%s%s",
		 pages || !nodes ? hd_why_name(row->got.pages_why) : "", pages && nodes ? ", " : "",
		 nodes ? hd_why_name(row->got.nodes_why) : "");
	if (!pages && !nodes && row->error)
		snprintf(out, BENCH_CELL_MAX, "%s", strerror(-row->error));
}

/* ---- cells ----------------------------------------------------------------------------------- */

typedef const struct measure_row *row_t;

static row_t row_of(const void *line)
{
	return ((const struct bench_line *)line)->row;
}

/** Adds to a cell at *@used. */
__attribute__((format(printf, 3, 4))) static void add(char *out, size_t *used, const char *format,
						      ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out + *used, BENCH_CELL_MAX - *used, format, args);
	va_end(args);
	if (n > 0)
		*used += (size_t)n;
	if (*used >= BENCH_CELL_MAX)
		*used = BENCH_CELL_MAX - 1;
}

static void put(char *out, const char *text)
{
	snprintf(out, BENCH_CELL_MAX, "%s", text);
}

/** "?" and "-" where a figure has no value. Return: it has one. */
static bool has_figure(row_t row, enum measure_figure figure, char *out)
{
	put(out, row->had ? "?" : "-");
	return row->stat[figure].samples > 0;
}

/** Never "100%" of what is not whole, never "0%" of what is there. */
static void add_share(char *out, size_t *used, uint64_t part, uint64_t whole)
{
	int percent = whole ? (int)((double)part * 100 / (double)whole + 0.5) : 0;

	if (part && !percent)
		add(out, used, "<1%%");
	else
		add(out, used, "%d%%", percent == 100 && part < whole ? 99 : percent);
}

static void value_size(const void *line, char *out)
{
	row_t row = row_of(line);

	cli_size(out, BENCH_CELL_MAX, row->bytes);
}

static void value_bytes(const void *line, char *out)
{
	row_t row = row_of(line);

	snprintf(out, BENCH_CELL_MAX, "%" PRIu64, row->bytes);
}

static void value_layout(const void *line, char *out)
{
	row_t row = row_of(line);

	put(out, row->layout->name);
}

static void value_had(const void *line, char *out)
{
	row_t row = row_of(line);
	static const char *const words[] = { "yes", "part", "no" };

	put(out, words[bench_had(row)]);
}

static void value_why(const void *line, char *out)
{
	row_t row = row_of(line);

	bench_why_text(row, out);
}

static void value_pages(const void *line, char *out)
{
	row_t row = row_of(line);
	const struct hd_got *got = &row->got;
	size_t used = 0;
	char page[16];

	put(out, row->error && !row->had ? "-" : "?");
	for (uint32_t p = 0; p < got->page_sizes; p++) {
		if (!got->page[p].bytes)
			continue;
		add(out, &used, used ? " " : "");
		add_share(out, &used, got->page[p].bytes, got->bytes);
		add(out, &used, " %s",
		    cli_page(page, sizeof(page),
			     (unsigned)__builtin_ctzll(got->page[p].page_bytes)));
	}
	if (used && got->pages_unknown)
		add(out, &used, " ?");
}

/** Shares of up to four nodes one by one; of more, the range. */
static void value_nodes(const void *line, char *out)
{
	row_t row = row_of(line);
	const struct hd_got *got = &row->got;
	uint64_t least = UINT64_MAX, most = 0;
	uint32_t holding = 0;
	size_t used = 0;

	put(out, row->error && !row->had ? "-" : "?");
	for (uint32_t n = 0; n < got->nodes; n++) {
		uint64_t bytes = got->node[n].bytes;

		holding += bytes > 0;
		least = bytes && bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	for (uint32_t n = 0; holding <= 4 && n < got->nodes; n++) {
		if (!got->node[n].bytes)
			continue;
		add(out, &used, "%sN%u ", used ? " " : "", got->node[n].node);
		add_share(out, &used, got->node[n].bytes, got->bytes);
	}
	if (holding > 4)
		snprintf(out, BENCH_CELL_MAX, "%u nodes, %u-%u%%", holding,
			 (unsigned)(least * 100 / got->bytes), (unsigned)(most * 100 / got->bytes));
}

/** Seconds for 1 GiB at the pace of the whole. */
static void put_pace(row_t row, enum measure_figure figure, char *out)
{
	if (has_figure(row, figure, out))
		snprintf(out, BENCH_CELL_MAX, "%.3f s/GiB",
			 row->stat[figure].median / (double)row->bytes * GIB / 1e9);
}

/** Three digits and a unit. */
static void put_ns(row_t row, enum measure_figure figure, char *out)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double time = row->stat[figure].median;
	unsigned unit = 0;

	for (; time >= 1000 && unit < 3; unit++)
		time /= 1000;
	if (has_figure(row, figure, out))
		snprintf(out, BENCH_CELL_MAX, "%.*f %s",
			 time < 10    ? 2
			 : time < 100 ? 1
				      : 0,
			 time, units[unit]);
}

static void put_spread(row_t row, enum measure_figure figure, char *out)
{
	const struct measure_stat *stat = &row->stat[figure];
	int digits = stat->high < 10 ? 2 : stat->high < 100 ? 1 : 0;

	if (has_figure(row, figure, out))
		snprintf(out, BENCH_CELL_MAX, "%.*f-%.*f", digits, stat->low, digits, stat->high);
}

static void put_ratio(row_t row, enum measure_figure figure, char *out)
{
	if (has_figure(row, figure, out))
		snprintf(out, BENCH_CELL_MAX, "x%.2f", row->stat[figure].median);
}

static void value_alloc(const void *line, char *out)
{
	row_t row = row_of(line);

	put_pace(row, MEASURE_ALLOCATE_NS, out);
}

static void value_page(const void *line, char *out)
{
	row_t row = row_of(line);

	put_ns(row, MEASURE_PAGE_NS, out);
}

static void value_first(const void *line, char *out)
{
	row_t row = row_of(line);

	put_pace(row, MEASURE_FIRST_NS, out);
}

static void value_memset(const void *line, char *out)
{
	row_t row = row_of(line);

	put_pace(row, MEASURE_MEMSET_NS, out);
}

static void value_allocx(const void *line, char *out)
{
	row_t row = row_of(line);

	put_ratio(row, MEASURE_MEMSET_RATIO, out);
}

static void value_faults(const void *line, char *out)
{
	row_t row = row_of(line);

	if (has_figure(row, MEASURE_FAULTS, out))
		snprintf(out, BENCH_CELL_MAX, "%.0f", row->stat[MEASURE_FAULTS].median);
}

static void value_tables(const void *line, char *out)
{
	row_t row = row_of(line);

	if (has_figure(row, MEASURE_TABLE_BYTES, out))
		cli_size(out, BENCH_CELL_MAX, (uint64_t)row->stat[MEASURE_TABLE_BYTES].median);
}

static void value_indep(const void *line, char *out)
{
	row_t row = row_of(line);

	put_ns(row, MEASURE_INDEPENDENT_NS, out);
}

static void value_indeprange(const void *line, char *out)
{
	row_t row = row_of(line);

	put_spread(row, MEASURE_INDEPENDENT_NS, out);
}

static void value_indepx(const void *line, char *out)
{
	row_t row = row_of(line);

	put_ratio(row, MEASURE_INDEPENDENT_RATIO, out);
}

static void value_dep(const void *line, char *out)
{
	row_t row = row_of(line);

	put_ns(row, MEASURE_DEPENDENT_NS, out);
}

static void value_deprange(const void *line, char *out)
{
	row_t row = row_of(line);

	put_spread(row, MEASURE_DEPENDENT_NS, out);
}

static void value_depx(const void *line, char *out)
{
	row_t row = row_of(line);

	put_ratio(row, MEASURE_DEPENDENT_RATIO, out);
}

static void value_runs(const void *line, char *out)
{
	const struct bench *bench = ((const struct bench_line *)line)->bench;
	row_t row = row_of(line);

	if (row->runs == bench->opt->want.runs)
		snprintf(out, BENCH_CELL_MAX, "%u", row->runs);
	else
		snprintf(out, BENCH_CELL_MAX, "%u of %u", row->runs, bench->opt->want.runs);
}

static void value_sum(const void *line, char *out)
{
	row_t row = row_of(line);

	if (row->had)
		snprintf(out, BENCH_CELL_MAX, "%016" PRIx64,
			 row->independent_sum ^ row->dependent_sum);
	else
		put(out, "-");
}

/* ---- the columns ------------------------------------------------------------------------------ */

const struct cli_column bench_columns[] = {
	{ "SIZE", "size of the table, with a unit", true, value_size },
	{ "BYTES", "size of the table in bytes", true, value_bytes },
	{ "LAYOUT", "pages and nodes that were wanted", false, value_layout },
	{ "HAD", "was it had? yes, part or no; only what was had is measured", false, value_had },
	{ "WHY", "met, or why it was not had, or in part", false, value_why },
	{ "PAGES", "share of the table on each size of translation", true, value_pages },
	{ "NODES", "share of the table on each memory node", false, value_nodes },
	{ "ALLOC", "time to get the table, populated", true, value_alloc },
	{ "PAGE", "the same for each page it got", true, value_page },
	{ "FIRST", "time to zero it for the first time then", true, value_first },
	{ "MEMSET", "time to zero it again", true, value_memset },
	{ "ALLOCX", "ALLOC to MEMSET", true, value_allocx },
	{ "FAULTS", "page faults until it was there", true, value_faults },
	{ "TABLES", "bytes of page tables it took", true, value_tables },
	{ "INDEP", "a lookup that waits for no other", true, value_indep },
	{ "INDEPRANGE", "10th to 90th percentile of it, ns", true, value_indeprange },
	{ "INDEPX", "the same to that of base-one", true, value_indepx },
	{ "DEP", "a lookup that waits for the one before", true, value_dep },
	{ "DEPRANGE", "10th to 90th percentile of it, ns", true, value_deprange },
	{ "DEPX", "the same to that of base-one", true, value_depx },
	{ "RUNS", "runs it was had in", true, value_runs },
	{ "SUM", "of all that the lookups read; the same for all layouts of a size", false,
	  value_sum },
	{ 0 },
};

/* SPDX-License-Identifier: MIT */
/*
 * bench_options.c - the options of hashdist bench
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/plot.h"
#include "cli/table.h"

enum { RUNS_MAX = 1000, THREADS_MAX = 256 };
#define LOOKUPS_MAX (UINT64_C(1) << 40)

static const struct cli_option options[] = {
	{ "size", 's', "SIZE,...", "sizes of the table, such as 64M,1G; from 2M on to what fits" },
	{ "layout", 'l', "LAYOUT,...", "some layouts only: large-one, or all of large, one, ..." },
	{ "hugetlb", 0, NULL, "also on pages of the hugetlb pool" },
	{ "runs", 'n', "N", "runs, in which the layouts take turns; 5" },
	{ "bucket", 'b', "BYTES", "bytes from one bucket to the next; 64" },
	{ "lookups", 0, "N", "lookups of each kind in each run; 4M" },
	{ "threads", 't', "N", "threads that populate a table; 1" },
	{ "output", 'o', "COL,...", "print these columns only; 'help' lists them" },
	{ "json", 'j', NULL, "print JSON" },
	{ "plot", 0, "FILE", "also draw a lookup's time by size, as .svg or .png; with gnuplot" },
	{ "help", 'h', NULL, "show this" },
	{ 0 },
};

enum {
	OPT_SIZE,
	OPT_LAYOUT,
	OPT_HUGETLB,
	OPT_RUNS,
	OPT_BUCKET,
	OPT_LOOKUPS,
	OPT_THREADS,
	OPT_OUTPUT,
	OPT_JSON,
	OPT_PLOT,
	OPT_HELP
};

const struct cli_verb cli_bench = {
	"bench", "[OPTION...]", "what do the layouts of a table cost on this machine?",
	options, bench_run,
};

/** Figures as given, before they can be judged together. */
struct given {
	const char *layouts;
	bool hugetlb;
};

/* ---- values ------------------------------------------------------------------------------ */

/** "64M": digits, then K, M, G, T, P or nothing. Return: false: it is none, or too large. */
static bool parse_count(const char *text, size_t len, uint64_t *out)
{
	static const char units[] = "KMGTP";
	const char *unit = len ? strchr(units, text[len - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	uint64_t n = 0;

	len -= unit != NULL;
	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || n > (UINT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(text[i] - '0');
	}
	if (n > UINT64_MAX >> shift)
		return false;
	*out = n << shift;
	return true;
}

static int take_count(const char *name, const char *value, uint64_t most, uint64_t *out)
{
	if (parse_count(value, strlen(value), out) && *out && *out <= most)
		return CLI_OK;
	cli_error("--%s: '%s' is no number from 1 to %llu", name, value, (unsigned long long)most);
	return CLI_USAGE;
}

static int take_small(const char *name, const char *value, uint64_t most, uint32_t *out)
{
	uint64_t n = 0;
	int status = take_count(name, value, most, &n);

	*out = (uint32_t)n;
	return status;
}

static int take_bucket(const char *value, uint64_t *out)
{
	if (parse_count(value, strlen(value), out) && *out && *out % MEASURE_WORD == 0)
		return CLI_OK;
	cli_error("--bucket: '%s' is no multiple of %d bytes", value, MEASURE_WORD);
	return CLI_USAGE;
}

static int add_size(struct bench_options *opt, const char *text, int len)
{
	uint64_t bytes;
	uint32_t at = 0;

	if (!parse_count(text, (size_t)len, &bytes) || !bytes) {
		cli_error("--size: '%.*s' is no size such as 64M", len, text);
		return CLI_USAGE;
	}
	if (opt->sizes == BENCH_SIZES_MAX) {
		cli_error("--size: more than %d", BENCH_SIZES_MAX);
		return CLI_USAGE;
	}
	while (at < opt->sizes && opt->size[at] < bytes)
		at++;
	if (at < opt->sizes && opt->size[at] == bytes)
		return CLI_OK;
	memmove(opt->size + at + 1, opt->size + at, (opt->sizes - at) * sizeof(opt->size[0]));
	opt->size[at] = bytes;
	opt->sizes++;
	return CLI_OK;
}

static int take_sizes(struct bench_options *opt, const char *value)
{
	int status = CLI_OK;

	opt->sizes = 0;
	for (const char *at = value; status == CLI_OK; at++) {
		int len = (int)strcspn(at, ",");

		status = add_size(opt, at, len);
		at += len;
		if (!*at)
			break;
	}
	return status;
}

static bool is_word(const char *word, const char *text, size_t len)
{
	return strlen(word) == len && !strncmp(word, text, len);
}

/** A layout, or all with these pages or nodes: pools only if asked for. Return: 0 none is so. */
static uint32_t layouts_of(const char *text, size_t len, uint32_t usual)
{
	uint32_t named = 0, part = 0;

	for (int l = 0; l < MEASURE_LAYOUTS; l++) {
		const struct measure_layout *layout = &measure_layouts[l];

		if (is_word(layout->name, text, len) || is_word(layout->pages, text, len))
			named |= 1u << l;
		if (is_word(layout->nodes, text, len))
			part |= 1u << l;
	}
	return named | (part & usual);
}

static int take_layouts(const struct given *given, uint32_t *layouts)
{
	uint32_t usual = MEASURE_FOUR | (given->hugetlb ? MEASURE_POOL_2 : 0);

	*layouts = given->layouts ? 0 : usual;
	for (const char *at = given->layouts; at; at++) {
		size_t len = strcspn(at, ",");
		uint32_t more = layouts_of(at, len, usual);

		if (!more) {
			cli_error("--layout: no layout '%.*s'", (int)len, at);
			cli_hint("try", "base, large, hugetlb, 1g; one, spread; or both, as in "
					"large-spread");
			return CLI_USAGE;
		}
		*layouts |= more;
		at += len;
		if (!*at)
			break;
	}
	return CLI_OK;
}

/* ---- options ------------------------------------------------------------------------------ */

/** Return: CLI_OK to go on, CLI_USAGE; -1 done already (help). */
static int take_option(struct bench_options *opt, struct given *given, int which, const char *value)
{
	switch (which) {
	case OPT_SIZE:
		return take_sizes(opt, value);
	case OPT_LAYOUT:
		given->layouts = value;
		return CLI_OK;
	case OPT_HUGETLB:
		given->hugetlb = true;
		return CLI_OK;
	case OPT_RUNS:
		return take_small("runs", value, RUNS_MAX, &opt->want.runs);
	case OPT_BUCKET:
		return take_bucket(value, &opt->want.bucket_bytes);
	case OPT_LOOKUPS:
		return take_count("lookups", value, LOOKUPS_MAX, &opt->want.lookups);
	case OPT_THREADS:
		return take_small("threads", value, THREADS_MAX, &opt->want.threads);
	case OPT_OUTPUT:
		return cli_columns_take(bench_columns, value, &opt->columns);
	case OPT_JSON:
		opt->json = true;
		return CLI_OK;
	case OPT_PLOT:
		return plot_take(value, &opt->plot);
	default:
		cli_print_help(&cli_bench);
		return -1;
	}
}

static int check(const struct bench_options *opt)
{
	if (opt->json && opt->columns) {
		cli_error("--json and --output exclude each other");
		return CLI_USAGE;
	}
	return CLI_OK;
}

int bench_parse(int argc, char **argv, struct bench_options *opt)
{
	struct cli_args args = { .argc = argc, .argv = argv, .at = 1 };
	struct given given = { .layouts = NULL };
	int which, status = CLI_OK;

	*opt = (struct bench_options){
		.want = { .runs = 5, .bucket_bytes = 64, .lookups = 4 << 20, .threads = 1 },
	};
	while (status == CLI_OK && (which = cli_next(&args, &cli_bench)) != CLI_ARG_END) {
		if (which == CLI_ARG_WRONG)
			return CLI_USAGE;
		if (which == CLI_ARG_PLAIN) {
			cli_error("%s: a word that belongs to no option", args.value);
			cli_hint("try", "hashdist bench --help");
			return CLI_USAGE;
		}
		status = take_option(opt, &given, which, args.value);
	}
	if (status == CLI_OK)
		status = take_layouts(&given, &opt->want.layouts);
	return status == CLI_OK ? check(opt) : status;
}

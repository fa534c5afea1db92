/* SPDX-License-Identifier: MIT */
/*
 * bench_words.c - sentences that stand below a table and below a plot
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"

void bench_say(struct bench_words *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->text + w->len, sizeof(w->text) - w->len, format, args);
	va_end(args);
	if (n > 0)
		w->len += (size_t)n;
	if (w->len >= sizeof(w->text))
		w->len = sizeof(w->text) - 1;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void bench_say_machine(const struct bench *bench, struct bench_words *out)
{
	const struct bench_facts *f = &bench->facts;
	char text[32];

	bench_say(out, "%s, Linux %s", *f->arch ? f->arch : "unknown architecture",
		  *f->release ? f->release : "of unknown version");
	if (*f->cpu_model)
		bench_say(out, ", %s", f->cpu_model);
	if (f->cpus)
		bench_say(out, ", %u CPU%s", f->cpus, plural(f->cpus));
	if (f->memory_bytes)
		bench_say(out, ", %s", cli_size(text, sizeof(text), f->memory_bytes));
	if (f->memory_nodes)
		bench_say(out, ", %u memory node%s", f->memory_nodes, plural(f->memory_nodes));
	if (f->page_bytes)
		bench_say(out, ", %s pages",
			  cli_page(text, sizeof(text), (unsigned)__builtin_ctzll(f->page_bytes)));
	if (*f->transparent_huge_pages)
		bench_say(out, ", transparent huge pages: %s", f->transparent_huge_pages);
}

void bench_say_method(const struct bench *bench, struct bench_words *out)
{
	const struct measure_want *want = &bench->opt->want;

	bench_say(out, "medians of %u run%s in which the layouts took turns; ", want->runs,
		  plural(want->runs));
	bench_say(out, "tables populated by %u thread%s; ", want->threads, plural(want->threads));
	bench_say(
	    out, "%" PRIu64 " lookup%s of each kind by one thread, in buckets of %" PRIu64 " bytes",
	    want->lookups, plural(want->lookups), want->bucket_bytes);
}

static bool same_why(const struct measure_row *a, const struct measure_row *b)
{
	char one[BENCH_CELL_MAX], other[BENCH_CELL_MAX];

	bench_why_text(a, one);
	bench_why_text(b, other);
	return !strcmp(one, other);
}

/** Was this layout, for this reason, named by a row before? */
static bool named(const struct bench *bench, uint32_t until, const struct measure_row *row)
{
	for (uint32_t r = 0; r < until; r++)
		if (!bench->row[r].had && bench->row[r].layout == row->layout &&
		    same_why(&bench->row[r], row))
			return true;
	return false;
}

void bench_say_not_had(const struct bench *bench, struct bench_words *out)
{
	const char *between = "";

	for (uint32_t r = 0; r < bench->rows; r++) {
		const struct measure_row *row = &bench->row[r];
		char why[BENCH_CELL_MAX];

		if (row->had || named(bench, r, row))
			continue;
		bench_why_text(row, why);
		bench_say(out, "%s%s (%s)", between, row->layout->name, why);
		between = ", ";
	}
}

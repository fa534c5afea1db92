/* SPDX-License-Identifier: MIT */
/*
 * bench.c - hashdist bench: what do the layouts of a table cost on this machine?
 *
 * Goes through the sizes, then hands all that was measured to the views.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/plot.h"

#define MIB UINT64_C(0x100000)
#define GIB UINT64_C(0x40000000)

/* ---- sizes ----------------------------------------------------------------------------- */

/** 2M, 8M, ... and the largest power of two that a quarter of memory holds, up to 4G. */
static void choose_sizes(struct bench_options *opt, uint64_t available)
{
	uint64_t most = 2 * MIB, size;

	while (most < 4 * GIB && most * 2 <= available / 4)
		most *= 2;
	for (size = 2 * MIB; size < most; size *= 4)
		opt->size[opt->sizes++] = size;
	opt->size[opt->sizes++] = most;
}

/** A table from a pool takes nothing of the memory that is available. */
static bool all_from_pools(const struct bench_options *opt)
{
	return !(opt->want.layouts & MEASURE_FOUR);
}

static int check_sizes(const struct bench_options *opt, uint64_t available)
{
	uint64_t most = opt->size[opt->sizes - 1], fits = MIB;
	char text[32], room[32];

	if (opt->size[0] < opt->want.bucket_bytes) {
		cli_error("--size: %llu bytes hold not even one bucket of %llu",
			  (unsigned long long)opt->size[0],
			  (unsigned long long)opt->want.bucket_bytes);
		return CLI_USAGE;
	}
	if (most > SIZE_MAX / 2) {
		cli_error("--size: %s: beyond what a process can address",
			  cli_size(text, sizeof(text), most));
		return CLI_FAILED;
	}
	if (!available || most <= available || all_from_pools(opt))
		return CLI_OK;
	while (fits * 2 <= available / 2)
		fits *= 2;
	cli_error("--size: %s is beyond the %s of memory that are available",
		  cli_size(text, sizeof(text), most), cli_size(room, sizeof(room), available));
	cli_hint("try", "--size %lluM", (unsigned long long)(fits / MIB));
	return CLI_FAILED;
}

/* ---- measuring --------------------------------------------------------------------------- */

/* For who waits before a terminal; nothing of it stays. */
static void show_progress(void *arg, const struct measure_layout *layout, uint32_t run)
{
	const struct measure_want *want = arg;
	char size[32];

	fprintf(stderr, "\rhashdist: %s, %s, ", cli_size(size, sizeof(size), want->bytes),
		layout->name);
	if (run)
		fprintf(stderr, "run %u of %u\033[K", run, want->runs);
	else
		fprintf(stderr, "warming up\033[K");
}

static bool all_failed(const struct measure_row *row, int rows)
{
	for (int r = 0; r < rows; r++)
		if (!row[r].error || row[r].had)
			return false;
	return true;
}

static int failed_at(const struct measure_row *row)
{
	char size[32], why[BENCH_CELL_MAX];

	bench_why_text(row, why);
	cli_error("%s: no layout of a table of this size could be had: %s",
		  cli_size(size, sizeof(size), row->bytes), why);
	cli_hint("try", "a smaller --size");
	return CLI_FAILED;
}

/** @given: the user named the sizes; else the first one that does not fit ends it. */
static int measure_sizes(struct bench *bench, bool given)
{
	struct measure_want want = bench->opt->want;
	int status = CLI_OK;

	if (isatty(STDERR_FILENO)) {
		want.progress = show_progress;
		want.arg = &want;
	}
	for (uint32_t s = 0; status == CLI_OK && s < bench->opt->sizes; s++) {
		struct measure_row *row = bench->row + bench->rows;
		int rows;

		want.bytes = bench->opt->size[s];
		rows = measure_runs(&want, row);
		if (want.progress)
			fputs("\r\033[K", stderr);
		if (rows < 0) {
			cli_error("%s", rows == -EIO ? "a table did not hold what was put there"
						     : strerror(-rows));
			return CLI_FAILED;
		}
		if (all_failed(row, rows) && !given && s)
			break;
		if (all_failed(row, rows))
			status = failed_at(row);
		bench->rows += (uint32_t)rows;
	}
	return status;
}

/* ---- showing ------------------------------------------------------------------------------ */

static int show(const struct bench *bench)
{
	int status = bench->opt->json ? bench_print_json(bench) : bench_print_text(bench);

	/* What could not be written is all that counts then; the end of the program says it. */
	if (fflush(stdout) || ferror(stdout))
		return CLI_FAILED;
	if (status == CLI_OK && bench->opt->plot)
		status = bench_draw(bench);
	return status == CLI_OK ? bench_print_notes(bench) : status;
}

static int measure_and_show(struct bench_options *opt, const char *command)
{
	struct bench bench = { .opt = opt, .command = command };
	bool given = opt->sizes > 0;
	int status, shown;

	bench_facts_read(&bench.facts);
	if (!given)
		choose_sizes(opt, bench.facts.available_bytes);
	status = check_sizes(opt, bench.facts.available_bytes);
	if (status == CLI_OK && opt->plot)
		status = plot_ready(opt->plot);
	if (status != CLI_OK)
		return status;
	bench.row = calloc((size_t)opt->sizes * MEASURE_LAYOUTS, sizeof(*bench.row));
	if (!bench.row) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	status = measure_sizes(&bench, given);
	/* What was measured before a size that failed is worth seeing. */
	if (status == CLI_OK || bench.rows > 0) {
		shown = show(&bench);
		status = status == CLI_OK ? shown : status;
	}
	free(bench.row);
	return status;
}

int bench_run(int argc, char **argv)
{
	struct bench_options opt;
	char *command;
	int status = bench_parse(argc, argv, &opt);

	if (status != CLI_OK)
		return status == -1 ? CLI_OK : status;
	command = bench_command(argc, argv);
	if (!command) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	status = measure_and_show(&opt, command);
	free(command);
	return status;
}

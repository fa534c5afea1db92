/* SPDX-License-Identifier: MIT */
/*
 * bench_text.c - layouts and sizes for a reader: the table, and how it came about
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/bench.h"
#include "cli/cli.h"

static int print_table(const struct bench *bench, const char *columns)
{
	struct bench_line *line = calloc((size_t)bench->rows + 1, sizeof(*line));
	int status;

	if (!line) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	for (uint32_t r = 0; r < bench->rows; r++)
		line[r] = (struct bench_line){ bench, &bench->row[r] };
	status = cli_table_print(bench_columns, columns, line, bench->rows, sizeof(*line));
	free(line);
	return status;
}

int bench_print_text(const struct bench *bench)
{
	const char *columns = bench->opt->columns;
	struct bench_words machine = { .len = 0 }, method = { .len = 0 }, lacking = { .len = 0 };
	int status = print_table(bench, columns ? columns : BENCH_COLUMNS);

	if (status != CLI_OK || columns)
		return status;
	bench_say_machine(bench, &machine);
	bench_say_method(bench, &method);
	bench_say_not_had(bench, &lacking);
	putchar('\n');
	cli_print_wrapped("machine", machine.text);
	cli_print_wrapped("method", method.text);
	if (lacking.len)
		cli_print_wrapped("not had", lacking.text);
	return CLI_OK;
}

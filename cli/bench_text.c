/* SPDX-License-Identifier: MIT */
/*
 * bench_text.c - layouts and sizes for a reader: the table, and how it came about
 */
#include <libsmartcols.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/wrap.h"

static int print_table(const struct bench *bench, const char *columns)
{
	const struct bench_column *column[BENCH_COLUMNS_MAX];
	int count = bench_columns_split(columns, column);
	struct libscols_table *table = scols_new_table();
	int error = !table || count < 0;

	/* Never cut what a script reads; a terminal wraps. */
	if (!error && !isatty(STDOUT_FILENO))
		error = scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	for (int c = 0; !error && c < count; c++)
		error = !scols_table_new_column(table, column[c]->name, 0,
						column[c]->right ? SCOLS_FL_RIGHT : 0);
	for (uint32_t r = 0; !error && r < bench->rows; r++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);

		error = !line;
		for (int c = 0; !error && c < count; c++) {
			char cell[BENCH_CELL_MAX];

			column[c]->value(bench, &bench->row[r], cell);
			error = scols_line_set_data(line, (size_t)c, cell);
		}
	}
	if (!error && bench->rows)
		error = scols_print_table(table);
	scols_unref_table(table);
	if (error)
		cli_error("out of memory");
	return error ? CLI_FAILED : CLI_OK;
}

static void print_sentence(const char *head, const char *text)
{
	enum { WIDTH = 100, INDENT = 10 };

	printf("%-*s", INDENT, head);
	while (*text) {
		size_t take = cli_wrap(text, WIDTH - INDENT);

		printf("%.*s\n", (int)take, text);
		text += take;
		text += strspn(text, " ");
		if (*text)
			printf("%*s", INDENT, "");
	}
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
	print_sentence("machine", machine.text);
	print_sentence("method", method.text);
	if (lacking.len)
		print_sentence("not had", lacking.text);
	return CLI_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * measure_text.c - both settings for a reader: the table, and how it came about
 */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/table.h"

static void print_machine(const struct ab *m)
{
	struct bench shown = { .facts = m->facts };
	struct bench_words words = { .len = 0 };

	bench_say_machine(&shown, &words);
	cli_print_wrapped("machine", words.text);
}

static void print(const char *head, void (*say)(const struct ab *, struct bench_words *),
		  const struct ab *m)
{
	struct bench_words words = { .len = 0 };

	say(m, &words);
	if (words.len)
		cli_print_wrapped(head, words.text);
}

int ab_print_text(const struct ab *m)
{
	const char *columns = m->opt->columns;
	struct ab_row row[COMMAND_FIGURES];
	uint32_t rows = 0;
	int status;

	for (int f = 0; f < COMMAND_FIGURES; f++)
		/* What is not known under either has a sentence below. */
		if (columns || m->stat[0][f].samples || m->stat[1][f].samples)
			row[rows++] = (struct ab_row){ m, (enum command_figure)f };
	status =
	    cli_table_print(ab_columns, columns ? columns : AB_COLUMNS, row, rows, sizeof(row[0]));
	if (status != CLI_OK || columns)
		return status;
	putchar('\n');
	cli_print_wrapped("A", m->opt->setting[0].name);
	cli_print_wrapped("B", m->opt->setting[1].name);
	print("method", ab_say_method, m);
	print("overhead", ab_say_overhead, m);
	print("note", ab_say_notes, m);
	print("missing", ab_say_missing, m);
	print_machine(m);
	return CLI_OK;
}

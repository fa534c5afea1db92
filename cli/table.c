/* SPDX-License-Identifier: MIT */
/*
 * table.c - rows and named columns of any kind, as --output chooses them
 */
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "cli/wrap.h"

enum { COLUMNS_MAX = 32 };

void cli_columns_list(const struct cli_column *all)
{
	for (const struct cli_column *column = all; column->name; column++)
		printf("  %-10s %s\n", column->name, column->help);
}

/** Splits "COL,..." into columns. Return: how many; -1: *@bad is none of ours. */
static int split(const struct cli_column *all, const char *names, const struct cli_column **out,
		 const char **bad, int *bad_len)
{
	int count = 0;

	for (const char *at = names;; at++) {
		size_t len = strcspn(at, ",");
		const struct cli_column *column = all;

		while (column->name &&
		       (strlen(column->name) != len || strncasecmp(column->name, at, len)))
			column++;
		if (!column->name || count == COLUMNS_MAX) {
			*bad = at;
			*bad_len = (int)len;
			return -1;
		}
		out[count++] = column;
		at += len;
		if (!*at)
			return count;
	}
}

bool cli_columns_ok(const struct cli_column *all, const char *names)
{
	const struct cli_column *column[COLUMNS_MAX];
	const char *bad;
	int bad_len;
	char list[512] = "";

	if (split(all, names, column, &bad, &bad_len) > 0)
		return true;
	for (const struct cli_column *c = all; c->name; c++) {
		strcat(list, c == all ? "" : ",");
		strcat(list, c->name);
	}
	cli_error("--output: no column '%.*s'", bad_len, bad);
	cli_hint("try", "%s", list);
	return false;
}

int cli_columns_take(const struct cli_column *all, const char *value, const char **names)
{
	if (!strcmp(value, "help")) {
		cli_columns_list(all);
		return -1;
	}
	*names = value;
	return cli_columns_ok(all, value) ? CLI_OK : CLI_USAGE;
}

struct libscols_table *cli_table_new(void)
{
	struct libscols_table *table = scols_new_table();

	/* Never cut what a script reads; a terminal wraps. */
	if (table && !isatty(STDOUT_FILENO) &&
	    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER)) {
		scols_unref_table(table);
		return NULL;
	}
	return table;
}

/* libsmartcols forgets that the heads failed once the lines have not. */
static bool begins_with_heads(struct libscols_table *table, const char *text)
{
	const char *head = scols_column_get_name(scols_table_get_column(table, 0));

	return !strncmp(text + strspn(text, " "), head, strlen(head));
}

bool cli_table_show(struct libscols_table *table)
{
	char *text = NULL;
	bool whole =
	    !scols_print_table_to_string(table, &text) && text && begins_with_heads(table, text);

	if (whole)
		puts(text); /* the last line has no end */
	free(text);
	return whole;
}

int cli_table_print(const struct cli_column *all, const char *names, const void *rows,
		    uint32_t count, uint32_t row_bytes)
{
	const struct cli_column *column[COLUMNS_MAX];
	const char *bad;
	int bad_len, columns = split(all, names, column, &bad, &bad_len);
	struct libscols_table *table = cli_table_new();
	int error = !table || columns < 0;

	for (int c = 0; !error && c < columns; c++)
		error = !scols_table_new_column(table, column[c]->name, 0,
						column[c]->right ? SCOLS_FL_RIGHT : 0);
	for (uint32_t r = 0; !error && r < count; r++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);

		error = !line;
		for (int c = 0; !error && c < columns; c++) {
			char cell[CLI_CELL_MAX];

			column[c]->value((const char *)rows + (size_t)r * row_bytes, cell);
			error = scols_line_set_data(line, (size_t)c, cell);
		}
	}
	if (!error && count)
		error = !cli_table_show(table);
	scols_unref_table(table);
	if (error)
		cli_error("out of memory");
	return error ? CLI_FAILED : CLI_OK;
}

void cli_print_wrapped(const char *head, const char *text)
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

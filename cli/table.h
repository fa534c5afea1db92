/* SPDX-License-Identifier: MIT */
/*
 * table.h - rows and named columns of any kind, as --output chooses them
 */
#ifndef HASHDIST_CLI_TABLE_H
#define HASHDIST_CLI_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct libscols_table;

enum { CLI_CELL_MAX = 256 };

/** One column; a cell is text, "?" unknown, "-" does not apply. @out has CLI_CELL_MAX bytes. */
struct cli_column {
	const char *name;
	const char *help;
	bool right;
	void (*value)(const void *row, char *out);
};

/** Columns of @all, which ends with name NULL, with what they mean. */
void cli_columns_list(const struct cli_column *all);
/** Is each name of "COL,..." one of @all? Else says which is not. */
bool cli_columns_ok(const struct cli_column *all, const char *names);
/** Of --output: as cli_columns_ok(), into *@names. Return: CLI_OK; CLI_USAGE; -1: 'help' was printed. */
int cli_columns_take(const struct cli_column *all, const char *value, const char **names);
/** Print @count rows; @rows is their array, @row_bytes apart. Return: enum cli_exit. */
int cli_table_print(const struct cli_column *all, const char *names, const void *rows,
		    uint32_t count, uint32_t row_bytes);
/** One to be filled by libsmartcols, which a terminal breaks where it ends. Return: NULL, no memory. */
struct libscols_table *cli_table_new(void);
/** Print it, and all of it. Return: is there memory for that? Else nothing is printed. */
bool cli_table_show(struct libscols_table *table);
/** @text behind @head, broken at blanks, so that a terminal need not; an empty @head goes on. */
void cli_print_wrapped(const char *head, const char *text);

#endif

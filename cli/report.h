/* SPDX-License-Identifier: MIT */
/*
 * report.h - between the files of the verb report
 */
#ifndef HASHDIST_CLI_REPORT_H
#define HASHDIST_CLI_REPORT_H

#include <jansson.h>

#include "cli/table.h"
#include "cli/walks.h"
#include "ktables/ktables.h"

enum { REPORT_CELL_MAX = 192 };

/** One boot, ready to be shown. */
struct report {
	const struct ktables_survey *survey;
	const struct klog_boot *boot; /* NULL: no log */
	const struct machine *books;  /* NULL: only a log */
	const struct ktables_advice *advice;
	uint32_t advices;
	const char *log_note;      /* why the log is missing or cut; NULL it is there */
	const char *log_remedy;    /* what would show it; NULL nothing */
	const struct walks *walks; /* NULL: not asked for */
};

/** One row of the table. */
struct report_line {
	const struct report *report;
	const struct ktables_row *row;
};
/** What can be shown of a line; ends with name NULL. */
extern const struct cli_column report_columns[];
/** What is shown unless --output says otherwise. */
#define REPORT_COLUMNS(walks) "TABLE,ENTRIES,SIZE,MAPPING,PAGES," walks "NODES,USED,VERDICT"

/** Print the table, the machine and the advice. @columns: "COL,..." Return: enum cli_exit. */
int report_print_text(const struct report *report, const char *columns);

/** One boot as a JSON object; NULL when out of memory. Steals nothing. */
json_t *report_json(const struct report *report);
/** @text as a JSON string, with ? for what is not UTF-8. */
json_t *report_json_text(const char *text);
int report_print_json(const struct report *report);
int report_print_metrics(const struct report *report);

/** A sentence with reason and figure. */
void report_advice_text(const struct report *report, const struct ktables_advice *advice, char *out,
			size_t size);
/** "hashdist=0" for advice that one parameter answers, else an empty text. */
void report_advice_param(const struct ktables_advice *advice, char *out, size_t size);
/** Key of a table for scripts; the printed name when it is not in the catalogue. */
const char *report_key(const struct ktables_row *row);
/** What translates a table, for the model. Return: false: not known. */
bool report_translated(const struct ktables_row *row, struct hd_tlb_table *out);
/** Verdict shown first. */
enum hd_verdict_code report_verdict(const struct ktables_row *row);
/** Why hashdist has its value, in words. */
const char *report_reason(enum hd_hashdist_reason reason);

struct report_logs_options {
	bool json, metrics, damaged;
	const char *columns; /* NULL: the default ones */
	const struct ktables_given *given;
};
/** --log FILE...: any number of boots. Return: enum cli_exit. */
int report_logs(char *const *files, int count, const struct report_logs_options *options);

#endif

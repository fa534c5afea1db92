/* SPDX-License-Identifier: MIT */
/*
 * process_view.h - mappings of processes as tables, JSON and metrics
 *
 * Who reads processes, and why, is not known here.
 */
#ifndef HASHDIST_CLI_PROCESS_VIEW_H
#define HASHDIST_CLI_PROCESS_VIEW_H

#include <jansson.h>

#include "cli/table.h"
#include "process/process.h"

/** One row of a table. */
struct process_row {
	const struct process *process;
	const struct process_mapping *mapping;
};
/** What can be shown of a row; ends with name NULL. */
extern const struct cli_column process_columns[];
/** What is shown unless --output says otherwise; of several processes, with their names. */
#define PROCESS_COLUMNS     "ADDRESS,KIND,NAME,SIZE,RESIDENT,PAGES,NODES,TABLES,HINDERS,VERDICT"
#define PROCESS_COLUMNS_ALL "PID,COMM,KIND,SIZE,RESIDENT,GAIN,PAGES,NODES,HINDERS,VERDICT"

/** @comm with ? for what is not printable; @out has 64 bytes. Returns @out. */
char *process_comm(const struct process *process, char *out);
/** "12 x 4K, 510 x 2M" in @out, which has CLI_CELL_MAX bytes. */
void process_pages_text(const struct process_mapping *mapping, unsigned base_shift, char *out);
/** The worst verdict of all rows; HD_V_UNKNOWN where none could be judged. */
enum hd_verdict_code process_verdict(const struct process *process);

/** A line about the process, one about the machine. */
void process_print_summary(const struct process *process);
/** A sentence for each hinder of @hinders: what it means and what to do. */
void process_print_hinders(uint32_t hinders);
/** A sentence for one: what it means and what to do. */
const char *process_hinder_text(enum process_hinder hinder);
/** What was not read of @process, and what would show it; to stderr. */
void process_print_blind(const struct process *process);

/** Keys with units, null for unknown; NULL when out of memory. */
json_t *process_mapping_json(const struct process *process, const struct process_mapping *mapping);
json_t *process_json(const struct process *process);

/** OpenMetrics: sums of each kind of memory, of all processes. */
void process_print_metrics(const struct process *const *processes, uint32_t count);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * pid_show.c - processes that were read, for a reader or a program, and what is missing
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/pid_reading.h"
#include "cli/process_view.h"
#include "cli/report.h"

enum { NAMED = 3 };

/** Within one process; among processes the order is there already. */
static int row_with_most_to_gain_first(const void *a, const void *b)
{
	const struct process_row *left = a, *right = b;
	uint64_t gain[2] = { process_mapping_gain(left->mapping),
			     process_mapping_gain(right->mapping) };

	if (gain[0] != gain[1])
		return gain[0] < gain[1] ? 1 : -1;
	return (left->mapping->start > right->mapping->start) -
	       (left->mapping->start < right->mapping->start);
}

/** Rows of all processes; of --all only what is judged. Return: false: out of memory. */
static bool gather(const struct pid_reading *reading, struct process_row **rows, uint32_t *count)
{
	bool all = reading->options->all;
	uint32_t most = 0, first;

	for (uint32_t p = 0; p < reading->processes; p++)
		most += reading->process[p]->mappings;
	*rows = calloc((size_t)most + 1, sizeof(**rows));
	*count = 0;
	for (uint32_t p = 0; *rows && p < reading->processes; p++) {
		const struct process *process = reading->process[p];

		first = *count;
		for (uint32_t m = 0; m < process->mappings; m++)
			if (!all || process_placeable(&process->mapping[m]))
				(*rows)[(*count)++] =
				    (struct process_row){ process, &process->mapping[m] };
		if (all)
			qsort(*rows + first, *count - first, sizeof(**rows),
			      row_with_most_to_gain_first);
	}
	return *rows;
}

static int show_text(const struct pid_reading *reading)
{
	const char *columns = reading->options->columns;
	bool one = !reading->options->all && reading->options->pids == 1;
	struct process_row *rows;
	uint32_t count, hinders = 0;
	int status;

	if (!gather(reading, &rows, &count)) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	for (uint32_t r = 0; r < count; r++)
		hinders |= rows[r].mapping->hinders;
	status = cli_table_print(process_columns,
				 columns ? columns
				 : one   ? PROCESS_COLUMNS
					 : PROCESS_COLUMNS_ALL,
				 rows, count, sizeof(*rows));
	for (uint32_t p = 0; one && !columns && !status && p < reading->processes; p++)
		process_print_summary(reading->process[p]);
	if (!columns && !status)
		process_print_hinders(hinders);
	free(rows);
	return status;
}

static json_t *unread_json(const struct pid_reading *reading)
{
	json_t *out = json_array();

	for (uint32_t u = 0; u < reading->unreads; u++) {
		const struct pid_unread *unread = &reading->unread[u];

		json_array_append_new(
		    out, json_pack("{s:i, s:o, s:o, s:s}", "pid", (int)unread->pid, "comm",
				   unread->comm[0] ? report_json_text(unread->comm) : json_null(),
				   "uid", unread->comm[0] ? json_integer(unread->uid) : json_null(),
				   "error", strerror(-unread->error)));
	}
	return out;
}

static json_t *machine_json(const struct process *process)
{
	static const char *const settings[] = { [HDL_THP_NONE] = "none",
						[HDL_THP_UNKNOWN] = "unknown",
						[HDL_THP_NEVER] = "never",
						[HDL_THP_MADVISE] = "madvise",
						[HDL_THP_ALWAYS] = "always" };

	if (!process)
		return json_null();
	return json_pack(
	    "{s:i, s:i, s:o, s:s, s:s}", "memory_nodes", (int)process->nodes, "page_bytes",
	    1 << process->pages.base_shift, "huge_page_bytes",
	    process->pages.thp_shift ? json_integer((json_int_t)1 << process->pages.thp_shift)
				     : json_null(),
	    "thp", settings[process->pages.thp], "thp_shmem", settings[process->thp_shmem]);
}

static int show_json(const struct pid_reading *reading)
{
	json_t *processes = json_array(), *json;

	for (uint32_t p = 0; p < reading->processes; p++)
		json_array_append_new(processes, process_json(reading->process[p]));
	json = json_pack("{s:s, s:o, s:I, s:i, s:o, s:o}", "version", HASHDIST_VERSION, "machine",
			 machine_json(reading->processes ? reading->process[0] : NULL), "min_bytes",
			 (json_int_t)reading->limits.min_bytes, "budget_ms",
			 (int)reading->limits.budget_ms, "processes", processes, "not_seen",
			 unread_json(reading));
	return cli_json_print(json, 0);
}

int pid_reading_show(const struct pid_reading *reading)
{
	if (reading->options->json)
		return show_json(reading);
	if (!reading->options->metrics)
		return show_text(reading);
	process_print_metrics((const struct process *const *)reading->process, reading->processes);
	return CLI_OK;
}

/* ---- what was not seen --------------------------------------------------------------------------- */

/** One line for all that may not be read, with the names of the first. */
static void say_unread(const struct pid_reading *reading)
{
	char names[NAMED * 80] = "";
	uint32_t named = 0;

	for (uint32_t u = 0; u < reading->unreads && named < NAMED; u++) {
		size_t used = strlen(names);

		if (!reading->unread[u].comm[0])
			continue;
		snprintf(names + used, sizeof(names) - used, "%s%s (%d)", named ? ", " : ": ",
			 reading->unread[u].comm, (int)reading->unread[u].pid);
		named++;
	}
	cli_error("%u process%s may have large mappings, but may not be read%s%s", reading->unreads,
		  reading->unreads == 1 ? "" : "es", names,
		  named && named < reading->unreads ? ", ..." : "");
	cli_hint("try", geteuid() ? "run as root" : "run outside of a container");
}

void pid_reading_say_blind(const struct pid_reading *reading)
{
	fflush(stdout);
	for (uint32_t p = 0; !reading->options->all && p < reading->processes; p++)
		process_print_blind(reading->process[p]);
	if (!reading->options->all)
		return;
	if (reading->unreads)
		say_unread(reading);
	if (reading->cut) {
		cli_error("of %u process%s not all details were read within the time limit; ? "
			  "marks what is missing",
			  reading->cut, reading->cut == 1 ? "" : "es");
		cli_hint("try", "a larger --budget");
	}
}

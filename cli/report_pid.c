/* SPDX-License-Identifier: MIT */
/*
 * report_pid.c - hashdist report --pid, --all: which processes, and what became of each
 *
 * Of all processes those are read that have as much memory as one large mapping
 * has, the largest first: if the time limit ends the reading, little is lost.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/process_view.h"
#include "cli/report.h"
#include "cli/report_pid.h"

enum { MIN_MIB = 8, BUDGET_MS = 2000, NAMED = 3 };

/** Not read, and why. */
struct unread {
	pid_t pid;
	char comm[64];
	uid_t uid;
	int error;
};

struct reading {
	const struct report_pid_options *options;
	struct process_limits limits;
	struct process **process; /* that were read */
	struct unread *unread;
	uint32_t processes, unreads, cut;
	struct timespec start;
	bool failed;
};

/* ---- options ------------------------------------------------------------------------------ */

int report_pid_add(struct report_pid_options *options, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || pid < 1 || pid > INT32_MAX) {
		cli_error("--pid: '%s' is not the number of a process", text);
		cli_hint("try", "pgrep -l NAME");
		return CLI_USAGE;
	}
	options->pid[options->pids++] = (pid_t)pid;
	return CLI_OK;
}

static int take_limits(struct reading *reading)
{
	const struct report_pid_options *options = reading->options;
	char *end;
	unsigned long ms;

	reading->limits = (struct process_limits){ MIN_MIB << 20, BUDGET_MS };
	if (options->min && !cli_parse_size(options->min, &reading->limits.min_bytes)) {
		cli_error("--min: '%s' is no size", options->min);
		cli_hint("try", "--min 2M");
		return CLI_USAGE;
	}
	if (!options->budget)
		return CLI_OK;
	ms = strtoul(options->budget, &end, 10);
	if (*options->budget < '0' || *options->budget > '9' || *end || ms > 24 * 3600 * 1000) {
		cli_error("--budget: '%s' is no number of milliseconds up to a day",
			  options->budget);
		cli_hint("try", "--budget 10000");
		return CLI_USAGE;
	}
	reading->limits.budget_ms = (uint32_t)ms;
	return CLI_OK;
}

/* ---- reading ------------------------------------------------------------------------------- */

/** What is left of the time for all of them. */
static struct process_limits limits_now(const struct reading *reading)
{
	struct process_limits limits = reading->limits;
	struct timespec now;
	int64_t gone;

	clock_gettime(CLOCK_MONOTONIC, &now);
	gone = (now.tv_sec - reading->start.tv_sec) * 1000 +
	       (now.tv_nsec - reading->start.tv_nsec) / 1000000;
	limits.budget_ms = gone < limits.budget_ms ? limits.budget_ms - (uint32_t)gone : 0;
	return limits;
}

static void note_unread(struct reading *reading, const struct process *process, int error)
{
	struct unread *unread = &reading->unread[reading->unreads++];

	*unread = (struct unread){ .pid = process->pid, .uid = process->uid, .error = error };
	process_comm(process, unread->comm);
}

static void say_no_right(const struct process *process)
{
	char comm[64];

	if (process->ours && geteuid()) {
		cli_error("%d %s: protected from its own user (set-user-ID, or not dumpable)",
			  (int)process->pid, process_comm(process, comm));
		cli_hint("try", "run as root");
	} else if (geteuid()) {
		cli_error("%d %s: belongs to user %u; its mappings are not for others to see",
			  (int)process->pid, process_comm(process, comm), process->uid);
		cli_hint("try", "run as root, or as that user");
	} else {
		cli_error("%d %s: this container may not look into it", (int)process->pid,
			  process_comm(process, comm));
		cli_hint("try", "run with CAP_SYS_PTRACE");
	}
}

static void say_failed(const struct process *process, pid_t pid, int error)
{
	char comm[64];

	process_comm(process, comm);
	if (error == -ESRCH && comm[0])
		cli_error("%d %s: has ended while it was read", (int)pid, comm);
	else if (error == -ESRCH)
		cli_error("%d: no such process", (int)pid);
	else if (error == -EINVAL) {
		cli_error("%d %s: a thread of process %d", (int)pid, comm, (int)process->tgid);
		cli_hint("try", "hashdist report --pid %d", (int)process->tgid);
	} else if (!comm[0] && error == -EACCES) {
		cli_error("%d: exists, but /proc hides it (hidepid)", (int)pid);
		cli_hint("try", "run as root");
	} else if (error == -EACCES || error == -EPERM) {
		say_no_right(process);
	} else if (error == -ENOMEM) {
		cli_error("out of memory");
	} else {
		cli_error("%d %s: %s", (int)pid, comm, strerror(-error));
	}
}

/** Has it memory of its own? Else says why not. */
static bool has_memory(const struct process *process)
{
	char comm[64];

	if (process->kernel_thread)
		cli_error("%d %s: a kernel thread; it has no memory of its own", (int)process->pid,
			  process_comm(process, comm));
	else if (process->zombie)
		cli_error("%d %s: has ended and waits for its parent (zombie); its memory is gone",
			  (int)process->pid, process_comm(process, comm));
	return !process->kernel_thread && !process->zombie;
}

static void keep(struct reading *reading, struct process *process)
{
	process_let_go(process);
	reading->cut += process->cut;
	reading->process[reading->processes++] = process;
}

/** One that was asked for by number. */
static void read_named(struct reading *reading, pid_t pid)
{
	struct process *process = calloc(1, sizeof(*process));
	struct process_limits limits = limits_now(reading);
	bool memory = false;
	int error = process ? process_open(pid, process) : -ENOMEM;
	bool opened = !error;

	if (opened)
		memory = has_memory(process);
	if (memory)
		error = process_read(process, &limits);
	if (memory && !error) {
		keep(reading, process);
		return;
	}
	reading->failed = true;
	if (!process)
		cli_error("out of memory");
	else if (error)
		say_failed(process, pid, error);
	if (process && error)
		note_unread(reading, process, error);
	if (opened)
		process_close(process);
	free(process);
}

/** One of all: what has ended, or has nothing large, is no failure. */
static void read_any(struct reading *reading, pid_t pid)
{
	struct process *process = calloc(1, sizeof(*process));
	struct process_limits limits = limits_now(reading);
	int error = process ? process_open(pid, process) : -ENOMEM;
	bool opened = !error;

	if (opened)
		error = process_read(process, &limits);
	if (opened && !error && process->mappings) {
		keep(reading, process);
		return;
	}
	if (process && error && error != -ESRCH)
		note_unread(reading, process, error);
	if (opened)
		process_close(process);
	free(process);
}

/* ---- all of them ------------------------------------------------------------------------------ */

struct candidate {
	pid_t pid;
	uint64_t resident;
};

static int larger_first(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->resident != right->resident)
		return left->resident < right->resident ? 1 : -1;
	return (left->pid > right->pid) - (left->pid < right->pid);
}

/** May it have something large? What /proc hides may. */
static bool is_candidate(pid_t pid, uint64_t min_bytes, struct candidate *out)
{
	struct process process;
	int error = process_open(pid, &process);

	*out = (struct candidate){ .pid = pid };
	if (error)
		return error == -EACCES;
	out->resident = process.resident;
	process_close(&process);
	return !process.kernel_thread && !process.zombie && process.resident >= min_bytes;
}

static int make_room(struct reading *reading, uint32_t count)
{
	reading->process = calloc((size_t)count + 1, sizeof(*reading->process));
	reading->unread = calloc((size_t)count + 1, sizeof(*reading->unread));
	if (reading->process && reading->unread)
		return CLI_OK;
	cli_error("out of memory");
	return CLI_FAILED;
}

static int read_all(struct reading *reading)
{
	struct candidate *candidate = NULL;
	uint32_t count, candidates = 0;
	pid_t *pids;
	int error = process_list(&pids, &count);

	if (error) {
		cli_error("/proc: %s", strerror(-error));
		return CLI_FAILED;
	}
	candidate = calloc((size_t)count + 1, sizeof(*candidate));
	if (!candidate || make_room(reading, count)) {
		free(candidate);
		free(pids);
		return CLI_FAILED;
	}
	for (uint32_t p = 0; p < count; p++)
		candidates +=
		    is_candidate(pids[p], reading->limits.min_bytes, &candidate[candidates]);
	qsort(candidate, candidates, sizeof(*candidate), larger_first);
	for (uint32_t c = 0; c < candidates; c++)
		read_any(reading, candidate[c].pid);
	free(candidate);
	free(pids);
	return CLI_OK;
}

static int most_to_gain_first(const void *a, const void *b)
{
	const struct process *left = *(struct process *const *)a;
	const struct process *right = *(struct process *const *)b;
	uint64_t gain[2] = { process_gain(left), process_gain(right) };

	if (gain[0] != gain[1])
		return gain[0] < gain[1] ? 1 : -1;
	return (left->pid > right->pid) - (left->pid < right->pid);
}

/* ---- showing ----------------------------------------------------------------------------------- */

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
static bool gather(const struct reading *reading, struct process_row **rows, uint32_t *count)
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

static int show_text(const struct reading *reading)
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

static json_t *unread_json(const struct reading *reading)
{
	json_t *out = json_array();

	for (uint32_t u = 0; u < reading->unreads; u++) {
		const struct unread *unread = &reading->unread[u];

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
	static const char *const settings[] = { "none", "never", "madvise", "always" };

	if (!process)
		return json_null();
	return json_pack(
	    "{s:i, s:i, s:o, s:s, s:s}", "memory_nodes", (int)process->nodes, "page_bytes",
	    1 << process->pages.base_shift, "huge_page_bytes",
	    process->pages.thp_shift ? json_integer((json_int_t)1 << process->pages.thp_shift)
				     : json_null(),
	    "thp", settings[process->pages.thp], "thp_shmem", settings[process->thp_shmem]);
}

static int show_json(const struct reading *reading)
{
	json_t *processes = json_array(), *json;
	int error;

	for (uint32_t p = 0; p < reading->processes; p++)
		json_array_append_new(processes, process_json(reading->process[p]));
	json = json_pack("{s:s, s:o, s:I, s:i, s:o, s:o}", "version", HASHDIST_VERSION, "machine",
			 machine_json(reading->processes ? reading->process[0] : NULL), "min_bytes",
			 (json_int_t)reading->limits.min_bytes, "budget_ms",
			 (int)reading->limits.budget_ms, "processes", processes, "not_seen",
			 unread_json(reading));
	error = !json || json_dumpf(json, stdout, JSON_INDENT(2)) || putchar('\n') == EOF;
	json_decref(json);
	if (error && !ferror(stdout)) { /* main() tells of what could not be written */
		cli_error("out of memory");
		return CLI_FAILED;
	}
	return CLI_OK;
}

static int show(const struct reading *reading)
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
static void say_unread(const struct reading *reading)
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

static void say_blind(const struct reading *reading)
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

static int worst(const struct reading *reading)
{
	if (reading->failed)
		return CLI_FAILED;
	for (uint32_t p = 0; p < reading->processes; p++)
		if (process_verdict(reading->process[p]) > HD_V_UNKNOWN)
			return CLI_VERDICT;
	return CLI_OK;
}

int report_pid(const struct report_pid_options *options)
{
	struct reading reading = { .options = options };
	int status = take_limits(&reading);

	clock_gettime(CLOCK_MONOTONIC, &reading.start);
	if (!status && options->all) {
		status = read_all(&reading);
	} else if (!status) {
		status = make_room(&reading, (uint32_t)options->pids);
		for (int p = 0; !status && p < options->pids; p++)
			read_named(&reading, options->pid[p]);
	}
	if (options->all && reading.processes)
		qsort(reading.process, reading.processes, sizeof(struct process *),
		      most_to_gain_first);
	if (!status && (reading.processes || options->all || options->json || options->metrics))
		status = show(&reading);
	if (!status) {
		say_blind(&reading);
		status = worst(&reading);
	}
	for (uint32_t p = 0; p < reading.processes; p++) {
		process_close(reading.process[p]);
		free(reading.process[p]);
	}
	free(reading.process);
	free(reading.unread);
	return status;
}

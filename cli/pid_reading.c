/* SPDX-License-Identifier: MIT */
/*
 * pid_reading.c - which processes are read, and what became of each
 *
 * Of all processes those are read that have as much memory as one large mapping
 * has, the largest first: if the time limit ends the reading, little is lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/pid_reading.h"
#include "cli/process_view.h"

/* ---- one that cannot be read -------------------------------------------------------------- */

static void note_unread(struct pid_reading *reading, const struct process *process, int error)
{
	struct pid_unread *unread = &reading->unread[reading->unreads++];

	*unread = (struct pid_unread){ .pid = process->pid, .uid = process->uid, .error = error };
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

/* ---- one by one ----------------------------------------------------------------------------- */

/** What is left of the time for all of them. */
static struct process_limits limits_now(const struct pid_reading *reading)
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

static void keep(struct pid_reading *reading, struct process *process)
{
	process_let_go(process);
	reading->cut += process->cut;
	reading->process[reading->processes++] = process;
}

/** One that was asked for by number. */
static void read_named(struct pid_reading *reading, pid_t pid)
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
static void read_any(struct pid_reading *reading, pid_t pid)
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

static int make_room(struct pid_reading *reading, uint32_t count)
{
	reading->process = calloc((size_t)count + 1, sizeof(*reading->process));
	reading->unread = calloc((size_t)count + 1, sizeof(*reading->unread));
	if (reading->process && reading->unread)
		return CLI_OK;
	cli_error("out of memory");
	return CLI_FAILED;
}

static int read_all(struct pid_reading *reading)
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
	if (!candidate)
		cli_error("out of memory");
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

int pid_reading_make(struct pid_reading *reading)
{
	const struct report_pid_options *options = reading->options;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &reading->start);
	if (options->all) {
		status = read_all(reading);
	} else {
		status = make_room(reading, (uint32_t)options->pids);
		for (int p = 0; !status && p < options->pids; p++)
			read_named(reading, options->pid[p]);
	}
	if (options->all && reading->processes)
		qsort(reading->process, reading->processes, sizeof(struct process *),
		      most_to_gain_first);
	return status;
}

void pid_reading_free(struct pid_reading *reading)
{
	for (uint32_t p = 0; p < reading->processes; p++) {
		process_close(reading->process[p]);
		free(reading->process[p]);
	}
	free(reading->process);
	free(reading->unread);
}

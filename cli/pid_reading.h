/* SPDX-License-Identifier: MIT */
/* pid_reading.h - processes as hashdist report --pid, --all has read them */
#ifndef HASHDIST_CLI_PID_READING_H
#define HASHDIST_CLI_PID_READING_H

#include <time.h>

#include "cli/report_pid.h"
#include "process/process.h"

/** Not read, and why. */
struct pid_unread {
	pid_t pid;
	char comm[64];
	uid_t uid;
	int error;
};

struct pid_reading {
	const struct report_pid_options *options;
	struct process_limits limits;
	struct process **process; /* that were read; of --all, most to gain first */
	struct pid_unread *unread;
	uint32_t processes, unreads, cut;
	struct timespec start;
	bool failed; /* one that was asked for by number */
};

/**
 * pid_reading_make() - read those that options and limits say
 * Why one that was asked for could not be read is said at once.
 * Free it, also after failure. Return: enum cli_exit.
 */
int pid_reading_make(struct pid_reading *reading);
void pid_reading_free(struct pid_reading *reading);

/** As text, JSON or metrics. Return: enum cli_exit. */
int pid_reading_show(const struct pid_reading *reading);
/** What was not seen, and what would show it; to stderr. */
void pid_reading_say_blind(const struct pid_reading *reading);

#endif

/* SPDX-License-Identifier: MIT */
/* report_pid.h - hashdist report --pid, --all */
#ifndef HASHDIST_CLI_REPORT_PID_H
#define HASHDIST_CLI_REPORT_PID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct report_pid_options {
	pid_t *pid; /* in order; room for as many as there are words */
	int pids;
	bool all, json, metrics;
	const char *min, *budget; /* as given; NULL the default */
	const char *columns;      /* likewise */
};

/** "1234". Return: enum cli_exit; after having said what is wrong. */
int report_pid_add(struct report_pid_options *options, const char *text);
int report_pid(const struct report_pid_options *options);

#endif

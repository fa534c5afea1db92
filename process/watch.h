/* SPDX-License-Identifier: MIT */
/* watch.h - keep a growing process right until it ends */
#ifndef HASHDIST_PROCESS_WATCH_H
#define HASHDIST_PROCESS_WATCH_H

#include "process/place.h"

struct process_watch_options {
	struct place_options place;
	struct process_limits limits;
	uint32_t interval_ms; /* between two passes; 0: 1000. Grows while nothing changes. */
	/** Before a pass, for instance to record it; not 0 ends the watch. May be NULL. */
	int (*before)(void *ctx, const struct process *process);
	/** After a pass that did something; may be NULL. */
	void (*after)(void *ctx, const struct process *process, const struct place_result *result);
	/** Something forbids a whole part; told once, and again when it changes. May be NULL. */
	void (*hindered)(void *ctx, const struct process *process, enum place_obstacle obstacle);
	void *ctx;
};

/**
 * process_watch() - pass after pass until @pid ends or place.stop is set
 * Return: 0: it ended, or we were stopped; -ESRCH: no such process; -EACCES, -EPERM:
 * no right to look; what before() returned; -ENOMEM.
 */
int process_watch(pid_t pid, const struct process_watch_options *options);

#endif

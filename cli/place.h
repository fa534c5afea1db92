/* SPDX-License-Identifier: MIT */
/* place.h - one call of hashdist place, and how it is shown */
#ifndef HASHDIST_CLI_PLACE_H
#define HASHDIST_CLI_PLACE_H

#include "process/watch.h"

struct place_job {
	pid_t pid;
	struct process_watch_options place;
	const char *record_path; /* NULL: the usual one */
	bool watch, undo, json;
	bool failed; /* watching, a pass could not be told */
};

/** Sums over the mappings that may be placed. */
struct place_state {
	uint64_t bytes, resident, huge; /* huge: of the resident */
	uint64_t gain;                  /* on base pages where huge ones would fit */
	uint32_t mappings, unknown;     /* unknown: pages could not be read */
	unsigned shift;
	uint32_t node[HDL_NODES_MAX], nodes;
	uint64_t node_bytes[HDL_NODES_MAX];
	bool nodes_known, sampled;
};

void place_state(const struct process *process, const struct place_options *options,
		 struct place_state *out);

/** Look, do, look again, tell. Return: enum cli_exit. */
int place_job_run(struct place_job *job);

/** Everything that is told at the end. */
struct place_tale {
	const struct process *process; /* as it is now */
	const struct place_job *job;
	const struct place_state *before, *after; /* after NULL: the process is gone */
	const struct place_result *result;
	int record_error; /* -errno; undo will not be possible */
};

/** "thp-never: ... what to do"; NULL where there is nothing to tell. */
const char *place_obstacle_text(enum place_obstacle obstacle);
void place_print_text(const struct place_tale *tale);
int place_print_json(const struct place_tale *tale);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * place.h - mend the large mappings of a running process
 *
 *   keep       the process takes advice and policy itself, so that it lasts; first,
 *              or NUMA balancing would take pages back while others are moved
 *   collapse   blocks at least half full onto huge pages, one at a time, while
 *              the kernel has free huge blocks
 *   spread     whole blocks over the nodes its cpuset allows
 *
 * In this order: collapse gathers a block on one node. Each step is one call of
 * the kernel's, timed; between two the target has the time to itself. A stop
 * between any two leaves it whole.
 */
#ifndef HASHDIST_PROCESS_PLACE_H
#define HASHDIST_PROCESS_PLACE_H

#include <signal.h>

#include "process/process.h"

/** Why a block was left as it is. */
enum place_refusal {
	PLACE_SPARSE,       /* less than half full: it would take memory to fill it */
	PLACE_NO_HUGE_FREE, /* no free huge block, and no compaction was asked for */
	PLACE_SHARED,       /* shared with another process since a fork */
	PLACE_BUSY,         /* in use by the kernel, also when tried again */
	PLACE_REFUSED,      /* the kernel does not do it here: advice against, read only */
	PLACE_NODE_FULL,    /* the node it should go to has no room */
	PLACE_SPLIT,        /* moved, but the kernel split it on the way */
	PLACE_RIGHT,        /* no right to: CAP_SYS_NICE */
	PLACE_CPUSET,       /* the target's cpuset forbids that node */
	PLACE_OTHER,
	PLACE_REFUSALS,
};

/** What a whole pass could not do, and why; one of each at most. */
enum place_obstacle {
	PLACE_CLEAR,
	PLACE_THP_NEVER,   /* the administrator's setting; --despite-never overrules it */
	PLACE_THP_OFF,     /* the process has switched huge pages off for itself */
	PLACE_NO_COLLAPSE, /* this kernel has no such call (before 6.1) */
	PLACE_NO_RIGHT,    /* CAP_SYS_NICE, and no way through the process itself */
	PLACE_FILTERED,    /* a filter (seccomp) on this program refuses it the calls */
	PLACE_ONE_NODE,    /* nothing to spread over: one memory node */
	PLACE_ONE_ALLOWED, /* its cpuset leaves one */
	PLACE_NOT_ASKED,
	PLACE_OBSTACLES,
};

struct place_progress {
	const char *doing;  /* "collapse", "spread", "keep" */
	uint64_t done, all; /* blocks */
};

struct place_options {
	uint64_t min_bytes;    /* smaller mappings are left alone */
	uint64_t from, to;     /* only this range; 0 0: everything */
	uint32_t step_ms;      /* a step should not take longer; 0: 20 */
	uint32_t busy_percent; /* share of time spent in steps; 0: 25 */
	bool dry_run;          /* look, do nothing */
	bool once;             /* do not make it last: the process is never stopped */
	bool compact;          /* let the kernel make free huge blocks where it has none */
	bool despite_never;    /* overrule the administrator's "never" */
	bool no_collapse, no_spread;
	const struct hdl_mask *nodes; /* spread over these of its cpuset; NULL: over all of them */
	const volatile sig_atomic_t *stop; /* not 0: end after this step; may be NULL */
	void (*progress)(void *ctx, const struct place_progress *progress); /* may be NULL */
	void *ctx;
};

struct place_result {
	uint64_t blocks; /* looked at */
	uint64_t collapse_wanted, collapsed;
	uint64_t move_wanted, moved;
	uint64_t refused[PLACE_REFUSALS]; /* blocks */
	enum place_obstacle collapse_obstacle, spread_obstacle;
	uint64_t steps, slow_steps; /* slow: longer than step_ms */
	uint64_t longest_us, busy_us, wall_us;
	bool through_target; /* collapse calls were made by the process itself */
	bool stopped;        /* by @stop or a vanished process */
	bool gone;           /* the process ended */
	bool kept_advice, kept_policy;
	int keep_error; /* -errno of inject_calls() or of the call; 0 */
	uint64_t keep_stop_us;
};

/**
 * place_process() - one pass over the mappings that @process holds
 * @process: as process_read() left it; it is not read again
 *
 * Return: 0: the pass was made (look at @out for what it could do); -ESRCH: gone
 * before anything was done; -EACCES, -EPERM: no right to look; -ENOMEM.
 */
int place_process(const struct process *process, const struct place_options *options,
		  struct place_result *out);

struct place_record;

/**
 * place_remember() - record where the blocks are that place_process() would treat
 * What is recorded already stands. Return: 0; -ENOMEM; -errno of the books.
 */
int place_remember(const struct process *process, const struct place_options *options,
		   struct place_record *record);
/**
 * place_undo() - bytes back on the nodes they came from, policies taken back
 * Huge pages stay huge. Return: as place_process().
 */
int place_undo(const struct process *process, const struct place_options *options,
	       const struct place_record *record, struct place_result *out);

/** "sparse", ... */
const char *place_refusal_name(enum place_refusal refusal);
/** "thp-never", ... */
const char *place_obstacle_name(enum place_obstacle obstacle);
/** Could this mapping be placed at all: private anonymous memory of a program's? */
bool place_may(const struct process_mapping *mapping);

#endif

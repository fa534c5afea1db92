/* SPDX-License-Identifier: MIT */
/*
 * watch.c - pass after pass
 *
 * The pause between two grows to eight times the interval while there is
 * nothing to do, and is over at once when the process ends.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "process/watch.h"

enum { INTERVAL_MS = 1000, LAZY = 8 };

/** Return: true when the process ended meanwhile. */
static bool rest(const struct process *process, uint32_t ms)
{
	struct pollfd ended = { .fd = process->pidfd, .events = POLLIN };

	if (process->pidfd < 0) {
		struct timespec pause = { ms / 1000, (long)(ms % 1000) * 1000000 };

		nanosleep(&pause, NULL);
		return !process_alive(process);
	}
	return poll(&ended, 1, (int)ms) > 0;
}

/** What was told of collapse and spread. */
struct told {
	enum place_obstacle collapse, spread;
};

static void tell(const struct process *process, const struct process_watch_options *options,
		 enum place_obstacle now, enum place_obstacle *told)
{
	bool fine = now == PLACE_CLEAR || now == PLACE_NOT_ASKED || now == PLACE_ONE_NODE;

	if (!fine && now != *told && options->hindered)
		options->hindered(options->ctx, process, now);
	*told = now;
}

static int one_pass(struct process *process, const struct process_watch_options *options,
		    struct told *told, bool *changed)
{
	struct place_result result;
	int error = process_read(process, &options->limits);

	if (!error && options->before)
		error = options->before(options->ctx, process);
	if (!error)
		error = place_process(process, &options->place, &result);
	*changed = !error && (result.collapsed || result.moved);
	if (*changed && options->after)
		options->after(options->ctx, process, &result);
	if (!error) {
		tell(process, options, result.collapse_obstacle, &told->collapse);
		if (result.spread_obstacle != result.collapse_obstacle)
			tell(process, options, result.spread_obstacle, &told->spread);
	}
	return error;
}

int process_watch(pid_t pid, const struct process_watch_options *options)
{
	uint32_t interval = options->interval_ms ? options->interval_ms : INTERVAL_MS;
	uint32_t pause = interval;
	struct told told = { PLACE_CLEAR, PLACE_CLEAR };
	struct process process;
	int error = process_open(pid, &process);
	bool changed;

	if (error)
		return error;
	for (;;) {
		error = one_pass(&process, options, &told, &changed);
		if (error)
			break;
		pause = changed ? interval : pause * 2;
		if (pause > interval * LAZY)
			pause = interval * LAZY;
		if ((options->place.stop && *options->place.stop) || rest(&process, pause) ||
		    (options->place.stop && *options->place.stop))
			break;
	}
	if (error == -ESRCH)
		error = 0; /* it ended in the middle of a pass */
	process_close(&process);
	return error;
}

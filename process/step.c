/* SPDX-License-Identifier: MIT */
/*
 * step.c - pace: how long a step took, and how long the target is left alone after it
 *
 * The share of time spent on the target stays below a limit; after a slow step
 * the pause grows, up to a second, and shrinks again when steps are fast.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/linux/sys.h"
#include "process/step.h"

enum { STEP_MS = 20, BUSY_PERCENT = 25, PAUSE_MAX_US = 1000000 };

uint64_t pass_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void pass_begin(struct pass *pass)
{
	pass->begin_us = pass_now_us();
}

static uint32_t step_limit_us(const struct pass *pass)
{
	return (pass->options->step_ms ? pass->options->step_ms : STEP_MS) * 1000;
}

void pass_end(struct pass *pass)
{
	uint32_t percent = pass->options->busy_percent ? pass->options->busy_percent : BUSY_PERCENT;
	uint64_t took = pass_now_us() - pass->begin_us, pause = 0;
	struct timespec rest;

	pass->result->steps++;
	pass->result->busy_us += took;
	if (took > pass->result->longest_us)
		pass->result->longest_us = took;
	if (percent < 100)
		pause = took * (100 - percent) / percent;
	if (took > step_limit_us(pass)) {
		pass->result->slow_steps++;
		pass->pause_us = pass->pause_us ? pass->pause_us * 2 : took;
		if (pass->pause_us > PAUSE_MAX_US)
			pass->pause_us = PAUSE_MAX_US;
	} else {
		pass->pause_us /= 2;
	}
	pause += pass->pause_us;
	if (pause > PAUSE_MAX_US)
		pause = PAUSE_MAX_US;
	rest = (struct timespec){ (time_t)(pause / 1000000), (long)(pause % 1000000) * 1000 };
	if (pause)
		nanosleep(&rest, NULL); /* a signal ends it early: somebody wants us to stop */
}

bool pass_stopped(struct pass *pass)
{
	if (pass->options->stop && *pass->options->stop)
		pass->result->stopped = true;
	return pass->result->stopped;
}

void pass_progress(struct pass *pass, const char *doing)
{
	struct place_progress progress = { doing, pass->progress_done, pass->progress_all };

	if (pass->options->progress)
		pass->options->progress(pass->options->ctx, &progress);
}

enum place_obstacle pass_forbidden(long number)
{
	long answer = HDL_SYS(number, -1, 0, 0, 0, 0, 0);

	return answer == -EBADF || answer == -ESRCH ? PLACE_NO_RIGHT : PLACE_FILTERED;
}

/* "Node 0, zone   Normal   4 3 2 ..." : a count for each order. */
uint64_t pass_free_huge(const struct process *process, uint32_t node)
{
	unsigned order_wanted = process->pages.thp_shift - process->pages.base_shift;
	struct hdl_lines lines;
	const char *at;
	uint64_t sum = 0;

	if (hdl_lines_open(&lines, "/proc/buddyinfo"))
		return UINT64_MAX;
	while ((at = hdl_lines_next(&lines))) {
		uint64_t id, count;
		unsigned order = 0;

		if (strncmp(at, "Node ", 5))
			continue;
		at += 5;
		if (!hdl_number(&at, &id) || (node != HDL_NODES_MAX && id != node))
			continue;
		at = strstr(at, "zone");
		if (!at)
			continue;
		at += 4;
		at += strspn(at, " ");
		at += strcspn(at, " ");
		for (; hdl_number(&at, &count); order++)
			if (order >= order_wanted)
				sum += count << (order - order_wanted);
	}
	hdl_lines_close(&lines);
	return sum;
}

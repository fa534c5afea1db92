/* SPDX-License-Identifier: MIT */
/*
 * cpu.c - keeps the loops on one CPU
 *
 * A table on one node is near or far, depending on where the scheduler puts
 * the thread that reads it. So the thread goes home before it asks for a
 * table, which then lies on its own node, and is held there while it looks
 * things up. In between it may roam: threads that populate inherit where we
 * may run. Where this is forbidden, it is left undone.
 */
#include <sched.h>

#include "measure/measure.h"

enum { SET_BYTES = sizeof(((struct measure_cpu *)0)->before) };

void measure_cpu_init(struct measure_cpu *home)
{
	home->cpu = sched_getcpu();
	if (home->cpu >= SET_BYTES * 8 ||
	    sched_getaffinity(0, SET_BYTES, (cpu_set_t *)home->before))
		home->cpu = -1;
}

void measure_cpu_hold(const struct measure_cpu *home)
{
	unsigned long one[SET_BYTES / sizeof(long)] = { 0 };

	if (home->cpu < 0)
		return;
	CPU_SET_S((size_t)home->cpu, SET_BYTES, (cpu_set_t *)one);
	sched_setaffinity(0, SET_BYTES, (const cpu_set_t *)one);
}

void measure_cpu_release(const struct measure_cpu *home)
{
	if (home->cpu >= 0)
		sched_setaffinity(0, SET_BYTES, (const cpu_set_t *)home->before);
}

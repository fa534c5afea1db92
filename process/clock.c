/* SPDX-License-Identifier: MIT */
/*
 * clock.c - the time limit for details
 *
 * Books like smaps walk the page tables page by page, and hold the target's
 * map of memory while they do: it cannot map or unmap meanwhile. One mapping is
 * one step that nobody can interrupt, so its cost is estimated beforehand.
 */
#include <time.h>

#include "process/internal.h"

enum {
	NS_PER_PAGE = 60,      /* measured: 22 to 31 ms for 2 GiB on 4K pages */
	NS_PER_MAPPING = 5000, /* a mapping without memory, some 700 bytes of text */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct process_clock process_clock_start(uint32_t budget_ms)
{
	return (struct process_clock){ now_ns() + budget_ms * UINT64_C(1000000) };
}

uint64_t process_clock_left(const struct process_clock *clock)
{
	uint64_t now = now_ns();

	return now < clock->end_ns ? clock->end_ns - now : 0;
}

bool process_affords_walk(const struct process *process, const struct process_clock *clock)
{
	uint64_t base = process->resident, cost;

	for (uint32_t m = 0; m < process->mappings; m++) {
		const struct process_mapping *mapping = &process->mapping[m];

		if (mapping->pages_known)
			base -= mapping->huge < base ? mapping->huge : base;
	}
	cost = (base >> process->pages.base_shift) * NS_PER_PAGE + process->seen * NS_PER_MAPPING;
	return cost < process_clock_left(clock);
}

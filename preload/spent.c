/* SPDX-License-Identifier: MIT */
/*
 * spent.c - every few MiB that a thread asks for: is there something large now?
 *
 * A count of bytes rather than of calls: 1 MiB blocks make a large program with
 * few calls, and small ones with many. It is per thread, as a count that all share
 * would be passed from core to core with every malloc().
 */
#include <errno.h>
#include <stdatomic.h>

#include "preload/next.h"
#include "preload/preload.h"

__thread size_t preload_left;

static void handed_out(void *block, size_t bytes, bool inside)
{
	bool large = bytes >= preload_options.min_bytes;

	if (!block)
		return;
	if (large && block != PRELOAD_MAPPED && preload_options.hooks &&
	    preload_next.malloc_is_libc)
		preload_advise(block, bytes, "malloc");
	if (preload_options.scan_ms && !preload_scanner_wanted(large, inside))
		preload_left = 0;
}

void preload_spent(void *block, size_t bytes, bool inside)
{
	int saved = errno;

	preload_start();
	switch (atomic_load(&preload_state)) {
	case PRELOAD_OFF:
		preload_left = SIZE_MAX;
		break;
	case PRELOAD_ON:
		/* First: what follows may itself ask for memory. */
		preload_left = preload_options.min_bytes;
		handed_out(block, bytes, inside);
		break;
	default:
		break;
	}
	errno = saved;
}

/* SPDX-License-Identifier: MIT */
/*
 * providers.c - the three ways to get memory, as core asks for them
 *
 * All that core needs from a kernel. NULL means "not so large"; core halves and asks again.
 */
#include "kernel.h"

enum { CACHE_LINE = 64 };

static void *early(void *ctx, uint64_t bytes, bool zero)
{
	uint64_t at = pages_ready() ? 0 : boot_alloc(bytes, CACHE_LINE, ANY_NODE);

	(void)ctx;
	if (!at)
		return NULL;
	return zero ? memset(linear(at), 0, bytes) : linear(at);
}

static void *contiguous(void *ctx, uint64_t bytes, unsigned order, bool zero)
{
	uint64_t at = pages_ready() ? pages_alloc(deal_turn(), order) : 0;

	(void)ctx;
	if (!at)
		return NULL;
	pages_trim(at, order, round_up(bytes, PAGE) >> PAGE_SHIFT);
	return zero ? memset(linear(at), 0, bytes) : linear(at);
}

static void *scattered(void *ctx, uint64_t bytes, unsigned shift, unsigned *got_shift, bool zero)
{
	void *start;

	(void)ctx;
	*got_shift = shift;
	start = pages_ready() ? vmalloc(bytes, got_shift) : NULL;
	return start && zero ? memset(start, 0, bytes) : start;
}

const struct hd_providers providers = { NULL, early, contiguous, scattered };

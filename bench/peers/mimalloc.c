/* SPDX-License-Identifier: MIT */
/*
 * mimalloc.c - by its own interface; the environment says whether it wants large pages
 */
#include "bench/peers/measure.h"

#include <errno.h>
#include <mimalloc.h>

enum { BASE_PAGE = 4096 };

static int by_zalloc(size_t bytes, unsigned threads, void **start)
{
	(void)threads;
	*start = mi_zalloc(bytes);
	if (!*start)
		return -ENOMEM;
	touch(*start, bytes, BASE_PAGE);
	return 0;
}

const struct method methods[] = {
	{ .name = "mimalloc", .get = by_zalloc },
	{ .name = NULL },
};

/* SPDX-License-Identifier: MIT */
/*
 * jemalloc.c - by its own interface; MALLOC_CONF says whether it advises huge pages
 */
#include "bench/peers/measure.h"

#include <errno.h>
#include <jemalloc/jemalloc.h>

enum { BASE_PAGE = 4096 };

static int by_mallocx(size_t bytes, unsigned threads, void **start)
{
	(void)threads;
	*start = mallocx(bytes, MALLOCX_ZERO);
	if (!*start)
		return -ENOMEM;
	touch(*start, bytes, BASE_PAGE);
	return 0;
}

const struct method methods[] = {
	{ .name = "jemalloc", .get = by_mallocx },
	{ .name = NULL },
};

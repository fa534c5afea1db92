/* SPDX-License-Identifier: MIT */
/*
 * numa.c - libnuma: spread over all nodes, with and without advice for huge pages
 */
#include "bench/peers/measure.h"

#include <errno.h>
#include <numa.h>
#include <sys/mman.h>

enum { BASE_PAGE = 4096 };

static int interleaved(size_t bytes, int advice, void **start)
{
	if (numa_available() < 0)
		return -ENOSYS;
	*start = numa_alloc_interleaved(bytes);
	if (!*start)
		return -ENOMEM;
	if (advice && madvise(*start, bytes, advice))
		return -errno;
	touch(*start, bytes, BASE_PAGE);
	return 0;
}

static int by_numa(size_t bytes, unsigned threads, void **start)
{
	(void)threads;
	return interleaved(bytes, 0, start);
}

static int by_numa_thp(size_t bytes, unsigned threads, void **start)
{
	(void)threads;
	return interleaved(bytes, MADV_HUGEPAGE, start);
}

const struct method methods[] = {
	{ .name = "libnuma", .get = by_numa },
	{ .name = "libnuma-thp", .get = by_numa_thp },
	{ .name = NULL },
};

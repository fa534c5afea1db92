/* SPDX-License-Identifier: MIT */
/*
 * plain.c - what libc and the kernel give without any other library
 *
 * "limit" and its like are no way to get memory but what the others are held against: one pass
 * of memset() over memory of that kind which is there already. "limit-steps" writes one base page
 * at a time, as kernels (6.18 still) clear a huge page: what it takes longer than "limit" no
 * program can save. "thp-populate" and "hugetlb-populate" are the least that can be done by hand: the system calls and nothing else,
 * no look at limits, no fall-back, no word on what came of it.
 */
#include "bench/peers/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { BASE_PAGE = 4096 };

static int by_calloc(size_t bytes, unsigned threads, void **start)
{
	(void)threads;
	*start = calloc(1, bytes);
	if (!*start)
		return -ENOMEM;
	touch(*start, bytes, BASE_PAGE);
	return 0;
}

static int advised(size_t bytes, int advice, void **start)
{
	*start = map_aligned(bytes);
	if (!*start)
		return -errno;
	return madvise(*start, bytes, advice) ? -errno : 0;
}

static int by_mmap(size_t bytes, unsigned threads, void **start)
{
	int error = advised(bytes, MADV_NOHUGEPAGE, start);

	(void)threads;
	if (!error)
		touch(*start, bytes, BASE_PAGE);
	return error;
}

/** Any block may have come out on base pages, so every base page has to be touched. */
static int by_thp(size_t bytes, unsigned threads, void **start)
{
	int error = advised(bytes, MADV_HUGEPAGE, start);

	(void)threads;
	if (!error)
		touch(*start, bytes, BASE_PAGE);
	return error;
}

static int by_thp_populate(size_t bytes, unsigned threads, void **start)
{
	int error = advised(bytes, MADV_HUGEPAGE, start);

	(void)threads;
	if (!error && madvise(*start, bytes, MADV_POPULATE_WRITE))
		error = -errno;
	return error;
}

static int map_hugetlb(size_t bytes, int flags, void **start)
{
	*start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | flags, -1, 0);
	return *start == MAP_FAILED ? -errno : 0;
}

static int by_hugetlb(size_t bytes, unsigned threads, void **start)
{
	size_t step = default_hugetlb_bytes();
	int error = map_hugetlb(bytes, 0, start);

	(void)threads;
	if (!error)
		touch(*start, bytes, step ? step : BASE_PAGE);
	return error;
}

static int by_hugetlb_populate(size_t bytes, unsigned threads, void **start)
{
	(void)threads;
	return map_hugetlb(bytes, MAP_POPULATE, start);
}

const struct method methods[] = {
	{ .name = "limit", .get = by_thp_populate, .over = true },
	{ .name = "limit-steps", .get = by_thp_populate, .over = true, .step = BASE_PAGE },
	{ .name = "limit-hugetlb", .get = by_hugetlb_populate, .over = true },
	{ .name = "calloc", .get = by_calloc },
	{ .name = "mmap", .get = by_mmap },
	{ .name = "thp", .get = by_thp },
	{ .name = "thp-populate", .get = by_thp_populate },
	{ .name = "hugetlb", .get = by_hugetlb },
	{ .name = "hugetlb-populate", .get = by_hugetlb_populate },
	{ .name = NULL },
};

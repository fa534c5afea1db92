/* SPDX-License-Identifier: MIT */
/*
 * hugetlbfs.c - libhugetlbfs: huge pages or nothing, and huge pages if there are any
 */
#include "bench/peers/measure.h"

#include <errno.h>
#include <hugetlbfs.h>

enum { BASE_PAGE = 4096 };

static int by_pages(size_t bytes, unsigned threads, void **start)
{
	long step = gethugepagesize();

	(void)threads;
	if (step <= 0)
		return -ENOSYS;
	*start = get_huge_pages(bytes, GHP_DEFAULT);
	if (!*start)
		return -ENOMEM;
	touch(*start, bytes, (size_t)step);
	return 0;
}

/** May have come out on base pages without a word, so every base page has to be touched. */
static int by_region(size_t bytes, unsigned threads, void **start)
{
	(void)threads;
	*start = get_hugepage_region(bytes, GHR_DEFAULT);
	if (!*start)
		return -ENOMEM;
	touch(*start, bytes, BASE_PAGE);
	return 0;
}

const struct method methods[] = {
	{ .name = "libhugetlbfs-pages", .get = by_pages },
	{ .name = "libhugetlbfs-region", .get = by_region },
	{ .name = NULL },
};

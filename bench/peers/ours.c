/* SPDX-License-Identifier: MIT */
/*
 * ours.c - libhashdist, as a program calls it
 */
#include "bench/peers/measure.h"

#include "hashdist/hashdist.h"

static int with(size_t bytes, unsigned threads, enum hd_want_pages pages, void **start)
{
	struct hd_want want = { .pages = (uint8_t)pages, .threads = threads };
	struct hd_got got;

	return hd_alloc(bytes, &want, start, &got);
}

static int by_default(size_t bytes, unsigned threads, void **start)
{
	return with(bytes, threads, HD_PAGES_AUTO, start);
}

static int by_hugetlb(size_t bytes, unsigned threads, void **start)
{
	return with(bytes, threads, HD_PAGES_HUGETLB, start);
}

static int repair(void *start)
{
	struct hd_got got;

	return hd_repair(start, &got);
}

static size_t claim(const void *start)
{
	struct hd_got got;
	size_t huge = 0;

	if (hd_read_got(start, &got))
		return 0;
	for (uint32_t i = 0; i < got.page_sizes; i++)
		if (got.page[i].page_bytes >= 2 << 20)
			huge += got.page[i].bytes;
	return huge;
}

const struct method methods[] = {
	{ .name = "hashdist", .get = by_default, .repair = repair, .claim = claim },
	{ .name = "hashdist-hugetlb", .get = by_hugetlb, .repair = repair, .claim = claim },
	{ .name = NULL },
};

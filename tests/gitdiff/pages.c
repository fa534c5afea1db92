/* SPDX-License-Identifier: MIT */
/*
 * pages.c - reads one byte of each of so many pages, round after round, between two marks
 *
 *	pages PAGES ROUNDS
 *
 * How many walks that costs is known without a model: pages that fit the TLB are walked to
 * once, and under LRU pages that do not fit are walked to each time. Other pages are read
 * before, so that none of these is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench/gitdiff/guest/handover.h"
#include "bench/gitdiff/guest/mark.h"

enum { PAGE_BYTES = 4096, OTHERS = 8192 };

static volatile char *get(long pages)
{
	char *at = mmap(NULL, (size_t)pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void read_each(volatile char *at, long pages)
{
	for (long page = 0; page < pages; page++)
		(void)at[page * PAGE_BYTES];
}

static void count(long number, volatile char *at, volatile char *others, long pages, long rounds)
{
	read_each(others, OTHERS);
	MARK(MARK_BEGIN, number, 0L);
	for (long round = 0; round < rounds; round++)
		read_each(at, pages);
	MARK(MARK_END, number, 0L);
}

int main(int argc, char **argv)
{
	long pages = argc == 3 ? atol(argv[1]) : 0, rounds = pages ? atol(argv[2]) : 0;
	volatile char *at = get(pages), *others = get(OTHERS);

	if (pages < 1 || rounds < 1 || !at || !others || hand_over_symbols()) {
		fprintf(stderr, "pages: cannot be done\n");
		return 1;
	}
	for (long number = 0; number < 3; number++)
		count(number, at, others, pages, rounds);
	return 0;
}

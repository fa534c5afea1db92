/* SPDX-License-Identifier: MIT */
/*
 * measure.h - ways to get zeroed memory that is ready for use, one table of them per program
 *
 * Allocators that replace malloc() cannot share a program with each other or with glibc's, so
 * every peer library has a program of its own: measure.c and one file with its methods.
 */
#ifndef BENCH_PEERS_MEASURE_H
#define BENCH_PEERS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

struct method {
	const char *name;
	/** Zeroed and ready: nothing is left to fault in. Returns 0 or a negative errno. */
	int (*get)(size_t bytes, unsigned threads, void **start);
	/** Second try for large pages, in place; NULL if there is no such call. */
	int (*repair)(void *start);
	/** What the method itself says it got, on huge pages; NULL if it says nothing. */
	size_t (*claim)(const void *start);
	/** A limit: what counts is writing over the memory once it is there, not getting it. */
	bool over;
	/** By so many bytes at a time; 0: in one go. */
	size_t step;
};

/** The methods of this program; the last has no name. */
extern const struct method methods[];

/** Writes a zero every @step bytes. */
void touch(void *start, size_t bytes, size_t step);

/** At a multiple of 2 MiB, nothing populated; NULL with errno set if there is no room. */
void *map_aligned(size_t bytes);

/** Size of a page of the default hugetlb pool; 0 if the kernel has none. */
size_t default_hugetlb_bytes(void);

#endif

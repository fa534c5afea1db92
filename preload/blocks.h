/* SPDX-License-Identifier: MIT */
/* blocks.h - bring the filled blocks of a mapping onto huge pages */
#ifndef HASHDIST_PRELOAD_BLOCKS_H
#define HASHDIST_PRELOAD_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/** What a scan knows, from round to round. One thread's. */
struct blocks {
	int pagemap;       /* open for as long as the thread lives; -1: may not be read */
	bool can_collapse; /* Linux 6.1 */
	bool can_scan;     /* Linux 6.7 */
	unsigned page_shift, huge_shift;
	uint64_t worked_ns;                   /* since the last pause */
	uint32_t collapsed, refused, lacking; /* blocks of this round; lacking: no huge page free */
	uint32_t failed;                      /* of the lacking ones, in a row */
	int error;                            /* of the last that was not collapsed */
	bool (*stop)(void);
};

void blocks_open(struct blocks *blocks, unsigned huge_shift, bool (*stop)(void));
/** A new round begins. */
void blocks_begin(struct blocks *blocks);
/** Has the program, or the user with numactl, a plan for the nodes of this mapping? */
bool blocks_placed_by_others(uint64_t start);
/** One stretch of private anonymous memory; all of it, or nothing, is placed by others. */
void blocks_mend(struct blocks *blocks, uint64_t start, uint64_t bytes);
/** Too few free huge pages: no use to go on now. */
bool blocks_exhausted(const struct blocks *blocks);

#endif

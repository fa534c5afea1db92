/* SPDX-License-Identifier: MIT */
/* blocks.h - one mapping of another process, huge page by huge page */
#ifndef HASHDIST_PROCESS_BLOCKS_H
#define HASHDIST_PROCESS_BLOCKS_H

#include "process/process.h"

struct block {
	uint32_t populated; /* base pages that have memory */
	bool huge;
	int16_t node; /* of its first page that has memory; -1 unknown */
};

/** The whole aligned blocks of a mapping; edges that are no whole block are left out. */
struct blocks {
	uint64_t start; /* address of the first */
	uint64_t count;
	unsigned shift, base_shift;
	bool huge_known; /* which are huge; kernels before 6.7 do not tell */
	struct block *block;
};

/** Return: 0; -ENOMEM; -ESRCH, -EACCES, another -errno of the books. */
int blocks_read(const struct process *process, uint64_t start, uint64_t end, struct blocks *out);
/** Ask where each block is. Return: 0, or the -errno of the question. */
int blocks_ask_nodes(const struct process *process, struct blocks *blocks);
void blocks_free(struct blocks *blocks);

static inline uint64_t blocks_address(const struct blocks *blocks, uint64_t index)
{
	return blocks->start + (index << blocks->shift);
}

static inline bool blocks_half_full(const struct blocks *blocks, uint64_t index)
{
	return blocks->block[index].populated >= 1u << (blocks->shift - blocks->base_shift - 1);
}

#endif

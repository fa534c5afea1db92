/* SPDX-License-Identifier: MIT */
/*
 * sim.h - a pretend machine that large hash tables can be allocated on
 *
 * The same door as a real one: three providers for hd_table_alloc(), and a look
 * at where the memory really is. It has memory in ranges on nodes, a boot
 * allocator, a page allocator, vmalloc, and page tables that know by how large a
 * translation each byte is mapped. It knows nothing of tables or policy.
 *
 * Every byte is accounted for: what is not free is in a block, and a machine
 * whose blocks are all released is empty again.
 */
#ifndef HASHDIST_SIM_H
#define HASHDIST_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hashdist/core.h"

enum { SIM_SHIFTS = 64 };

/** RAM of one node; bytes, end exclusive. */
struct sim_ram {
	uint64_t start, end;
	uint32_t node; /* an index from 0, not an id */
};

struct sim_config {
	const struct sim_ram *ram; /* ascending, not overlapping */
	size_t rams;
	uint32_t nodes; /* as many as any index in ram, plus memoryless ones */
	unsigned page_shift;
	unsigned top_order;        /* of the page allocator */
	unsigned whole_order;      /* no free block is larger: fragmented; top_order: it is not */
	unsigned linear_shift;     /* largest translation of the linear map */
	unsigned linear_mid_shift; /* the next smaller one; page_shift where there is none */
	enum hd_deal deal;
	uint32_t bulk_pages; /* vmalloc asks for so many pages at once; 0: one by one */
	uint32_t first_node; /* where interleaving stands at the start */
	bool bottom_up;      /* the boot allocator starts at the bottom */
};

struct sim;

/** Return: 0; -EINVAL for ranges that overlap or do not ascend; -ENOMEM. */
int sim_open(const struct sim_config *config, struct sim **out);
void sim_close(struct sim *sim);

/**
 * sim_reserve() - let something else hold @bytes of @node from now on
 * Return: 0; -ENOMEM when the node has not so much.
 */
int sim_reserve(struct sim *sim, uint32_t node, uint64_t bytes);
/** The boot allocator hands over: from now on early allocation fails, the others work. */
void sim_hand_over(struct sim *sim);

/** Providers whose blocks are this machine's; valid until sim_close(). */
struct hd_providers sim_providers(struct sim *sim);

/** Where a block is. */
struct sim_got {
	uint64_t bytes;                    /* held, with what rounding up took */
	uint64_t shift_bytes[SIM_SHIFTS];  /* of them by log2 of the translation */
	uint64_t translations[SIM_SHIFTS]; /* TLB entries that cover it, by log2 of their size */
	const uint64_t *node_bytes;        /* by node; valid until the block is released */
};

/** @block is what a provider returned. */
void sim_got(const struct sim *sim, const void *block, struct sim_got *got);
void sim_release(struct sim *sim, void *block);

/**
 * sim_starved() - has it ever failed for want of this process's own memory?
 * Then a provider's refusal was not the pretend machine's, and nothing since is its answer.
 */
bool sim_starved(const struct sim *sim);

uint64_t sim_bytes_total(const struct sim *sim);
uint64_t sim_bytes_free(const struct sim *sim);
/** Held by blocks that were not released; sim_reserve() does not count. */
uint64_t sim_bytes_in_use(const struct sim *sim);

#endif

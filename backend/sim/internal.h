/* SPDX-License-Identifier: MIT */
/* internal.h - between the files of backend/sim/ */
#ifndef HASHDIST_SIM_INTERNAL_H
#define HASHDIST_SIM_INTERNAL_H

#include "backend/sim/sim.h"
#include "backend/sim/space.h"

/** Physical memory of a block; bytes. */
struct sim_piece {
	uint64_t start, bytes;
	uint32_t node;
};

struct sim_block {
	struct sim_block *next, **link;
	struct sim_piece *piece;
	size_t pieces, room;
	uint64_t *node_bytes;
	uint64_t bytes;
	unsigned shift; /* of its vmalloc mapping; 0: in the linear map */
};

struct sim {
	struct sim_config config;
	struct sim_ram *ram;
	struct space *space; /* free memory, by node */
	bool *takes_part;    /* in interleaving, by node */
	struct sim_block *blocks;
	uint64_t total, in_use, reserved;
	uint32_t next_node; /* where interleaving stands */
	bool handed_over;
	bool starved; /* see sim_starved() */
};

struct sim_block *sim_block_new(struct sim *sim, unsigned shift);
/** Return: 0, -ENOMEM, -ENOENT when it is not free. */
int sim_block_take(struct sim *sim, struct sim_block *block, uint32_t node, uint64_t start,
		   uint64_t bytes);
/** Into the list of blocks in use. Return: the block, as providers hand it out. */
void *sim_block_done(struct sim *sim, struct sim_block *block);
void sim_block_cancel(struct sim *sim, struct sim_block *block);

/** deal.c: which nodes interleaving deals to. */
void sim_choose_nodes(struct sim *sim);
/** deal.c: the node whose turn it is; moves on. */
uint32_t sim_interleave(struct sim *sim);
/** deal.c: the provider for scattered memory. */
void *sim_scattered(void *ctx, uint64_t bytes, unsigned shift, unsigned *got_shift, bool zero);

#endif

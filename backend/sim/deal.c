/* SPDX-License-Identifier: MIT */
/*
 * deal.c - vmalloc: how the pages of a scattered block are dealt to the nodes
 *
 *   pages     each page to the next node. Kernels from 5.13 on ask for up to 100
 *             at once and split those evenly; what is left of a hundred goes to
 *             the nodes whose turn it is, which stays with the same ones.
 *   anywhere  the policy is forgotten: all from the first node that has them
 *   chunks    the largest power of two of pages that is still needed, up to the
 *             largest order, to the next node; then the next chunk
 *
 * Huge pages are dealt one by one, or in chunks. When huge pages cannot be had
 * for all of a block it is made of base pages.
 *
 * Source: vm_area_alloc_pages(), alloc_pages_bulk_interleave(), Linux 5.13 to 7.1.
 */
#include "backend/sim/internal.h"

/** Nodes below this take no part in interleaving during boot, unless all are: then the largest. */
enum { INTERLEAVE_MIN = 16 << 20 };

void sim_choose_nodes(struct sim *sim)
{
	uint32_t largest = 0, count = 0;

	for (uint32_t n = 0; n < sim->config.nodes; n++) {
		sim->takes_part[n] = sim->space[n].bytes >= INTERLEAVE_MIN;
		count += sim->takes_part[n];
		if (sim->space[n].bytes > sim->space[largest].bytes)
			largest = n;
	}
	if (!count)
		sim->takes_part[largest] = true;
}

uint32_t sim_interleave(struct sim *sim)
{
	uint32_t node = sim->next_node;

	for (uint32_t i = 0; i < sim->config.nodes && !sim->takes_part[node]; i++)
		node = (node + 1) % sim->config.nodes;
	sim->next_node = (node + 1) % sim->config.nodes;
	return node;
}

/** Takes up to @units of 2^@shift bytes from one node. Return: how many it got. */
static uint64_t take_units(struct sim *sim, struct sim_block *block, uint32_t node, uint64_t units,
			   unsigned shift)
{
	uint64_t unit = 1ULL << shift, got = 0;

	while (got < units) {
		const struct space *space = &sim->space[node];
		uint64_t best = 0, start = 0;

		/* The highest range that holds a unit; as much of it as is wanted. */
		for (size_t i = space->count; i-- > 0 && !best;) {
			uint64_t low = (space->range[i].start + unit - 1) & ~(unit - 1);
			uint64_t high = space->range[i].end & ~(unit - 1);

			if (low >= high)
				continue;
			best = (high - low) >> shift;
			if (best > units - got)
				best = units - got;
			start = high - (best << shift);
		}
		if (!best || sim_block_take(sim, block, node, start, best << shift))
			break;
		got += best;
	}
	return got;
}

/** From @node, and what it lacks from the nodes after it. Return: whether all was had. */
static bool take_from(struct sim *sim, struct sim_block *block, uint32_t node, uint64_t units,
		      unsigned shift)
{
	for (uint32_t i = 0; i < sim->config.nodes && units; i++)
		units -= take_units(sim, block, (node + i) % sim->config.nodes, units, shift);
	return !units;
}

static uint32_t participants(const struct sim *sim)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < sim->config.nodes; n++)
		count += sim->takes_part[n];
	return count;
}

/** Dealt one by one: each node gets its share; who gets the rest depends on the era. */
static bool deal_pages(struct sim *sim, struct sim_block *block, uint64_t units, unsigned shift,
		       uint32_t bulk)
{
	uint32_t nodes = participants(sim);
	uint64_t rounds = bulk ? units / bulk : 0, tail = bulk ? units % bulk : units;
	uint32_t stays = sim->next_node;

	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t node = sim_interleave(sim);
		uint64_t share = tail / nodes + (i < tail % nodes);

		if (bulk)
			share += rounds * (bulk / nodes + (i < bulk % nodes));
		if (!take_from(sim, block, node, share, shift))
			return false;
		if (!bulk && i + 1 == tail % nodes)
			stays = sim->next_node;
	}
	sim->next_node = stays;
	return true;
}

/** A whole aligned chunk of 2^@shift bytes, from @node or the next after it that has one. */
static bool take_chunk(struct sim *sim, struct sim_block *block, uint32_t node, unsigned shift)
{
	for (uint32_t i = 0; i < sim->config.nodes; i++)
		if (take_units(sim, block, (node + i) % sim->config.nodes, 1, shift))
			return true;
	return false;
}

/**
 * A chunk is never split over nodes. When no node has one of its size left, smaller
 * ones are asked for from then on. What is left for single base pages, at the end or
 * because nothing larger is to be had, is asked for in bulk.
 */
static bool deal_chunks(struct sim *sim, struct sim_block *block, uint64_t units, unsigned shift)
{
	unsigned whole = sim->config.whole_order < sim->config.top_order ? sim->config.whole_order
									 : sim->config.top_order;
	unsigned most = sim->config.page_shift + whole;

	while (units) {
		unsigned chunk = most > shift ? most : shift;

		while (1ULL << (chunk - shift) > units)
			chunk--;
		if (chunk == sim->config.page_shift)
			return deal_pages(sim, block, units, shift, sim->config.bulk_pages);
		if (take_chunk(sim, block, sim_interleave(sim), chunk))
			units -= 1ULL << (chunk - shift);
		else if (chunk > shift)
			most = chunk - 1;
		else
			return false;
	}
	return true;
}

static bool deal(struct sim *sim, struct sim_block *block, uint64_t units, unsigned shift)
{
	switch (sim->config.deal) {
	case HD_DEAL_CHUNKS:
		return deal_chunks(sim, block, units, shift);
	case HD_DEAL_ANYWHERE:
		if (shift == sim->config.page_shift)
			return take_from(sim, block, 0, units, shift);
		return deal_pages(sim, block, units, shift, 0);
	default:
		return deal_pages(sim, block, units, shift,
				  shift == sim->config.page_shift ? sim->config.bulk_pages : 0);
	}
}

static struct sim_block *try_shift(struct sim *sim, uint64_t bytes, unsigned shift)
{
	struct sim_block *block = sim_block_new(sim, shift);
	uint32_t stood = sim->next_node;

	if (!block)
		return NULL;
	if (deal(sim, block, ((bytes - 1) >> shift) + 1, shift))
		return block;
	sim->next_node = stood;
	sim_block_cancel(sim, block);
	return NULL;
}

void *sim_scattered(void *ctx, uint64_t bytes, unsigned shift, unsigned *got_shift, bool zero)
{
	struct sim *sim = ctx;
	struct sim_block *block = NULL;

	(void)zero;
	if (!sim->handed_over || !bytes)
		return NULL;
	if (shift > sim->config.page_shift &&
	    shift - sim->config.page_shift <= sim->config.whole_order)
		block = try_shift(sim, bytes, shift);
	if (!block) {
		shift = sim->config.page_shift;
		block = try_shift(sim, bytes, shift);
	}
	*got_shift = shift;
	return block ? sim_block_done(sim, block) : NULL;
}

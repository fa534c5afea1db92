/* SPDX-License-Identifier: MIT */
/*
 * sim.c - a pretend machine: its memory, and blocks of it
 *
 *   early       boot allocator: any address, aligned to a cache line, top-down
 *   contiguous  page allocator: 2^order pages at a multiple of that, the tail
 *               given back; on the node where interleaving stands, else another
 *   scattered   vmalloc: pieces dealt to the nodes, see deal.c
 *
 * Source of the behaviour: memblock_alloc_range_nid(), alloc_pages_exact(),
 * __vmalloc_area_node(), Linux 5.3 to 7.1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sim/internal.h"

enum { CACHE_LINE = 64 };

static int check(const struct sim_config *c)
{
	for (size_t r = 0; r < c->rams; r++) {
		if (c->ram[r].start >= c->ram[r].end || c->ram[r].node >= c->nodes)
			return -EINVAL;
		if (r && c->ram[r].start < c->ram[r - 1].end)
			return -EINVAL;
	}
	return c->nodes && c->page_shift >= 4 && c->page_shift < 30 ? 0 : -EINVAL;
}

int sim_open(const struct sim_config *config, struct sim **out)
{
	struct sim *sim;
	int error = check(config);

	if (error)
		return error;
	sim = calloc(1, sizeof(*sim));
	if (!sim)
		return -ENOMEM;
	sim->config = *config;
	sim->next_node = config->first_node % config->nodes;
	sim->space = calloc(config->nodes, sizeof(*sim->space));
	sim->ram = malloc((config->rams ? config->rams : 1) * sizeof(*sim->ram));
	sim->takes_part = calloc(config->nodes, sizeof(*sim->takes_part));
	error = sim->space && sim->ram && sim->takes_part ? 0 : -ENOMEM;
	for (size_t r = 0; !error && r < config->rams; r++) {
		sim->ram[r] = config->ram[r];
		sim->total += config->ram[r].end - config->ram[r].start;
		error = space_add(&sim->space[config->ram[r].node], config->ram[r].start,
				  config->ram[r].end);
	}
	if (error) {
		sim_close(sim);
		return error;
	}
	sim->config.ram = sim->ram;
	sim_choose_nodes(sim);
	*out = sim;
	return 0;
}

static void free_block(struct sim_block *block)
{
	free(block->piece);
	free(block->node_bytes);
	free(block);
}

void sim_close(struct sim *sim)
{
	if (!sim)
		return;
	while (sim->blocks) {
		struct sim_block *next = sim->blocks->next;

		free_block(sim->blocks);
		sim->blocks = next;
	}
	for (uint32_t n = 0; sim->space && n < sim->config.nodes; n++)
		space_fini(&sim->space[n]);
	free(sim->space);
	free(sim->takes_part);
	free(sim->ram);
	free(sim);
}

int sim_reserve(struct sim *sim, uint32_t node, uint64_t bytes)
{
	struct space *space;

	if (node >= sim->config.nodes || bytes > sim->space[node].bytes)
		return -ENOMEM;
	space = &sim->space[node];
	while (bytes) {
		struct space_range range = space->range[0];
		uint64_t take = range.end - range.start < bytes ? range.end - range.start : bytes;

		if (space_take(space, range.start, range.start + take))
			return -ENOMEM;
		space->taken--; /* it stays away */
		bytes -= take;
		sim->reserved += take;
	}
	return 0;
}

void sim_hand_over(struct sim *sim)
{
	sim->handed_over = true;
}

/* ---- blocks ------------------------------------------------------------------------- */

struct sim_block *sim_block_new(struct sim *sim, unsigned shift)
{
	struct sim_block *block = calloc(1, sizeof(*block));

	if (block)
		block->node_bytes = calloc(sim->config.nodes, sizeof(*block->node_bytes));
	if (!block || !block->node_bytes) {
		sim->starved = true;
		free(block);
		return NULL;
	}
	block->shift = shift;
	return block;
}

int sim_block_take(struct sim *sim, struct sim_block *block, uint32_t node, uint64_t start,
		   uint64_t bytes)
{
	int error;

	if (block->pieces == block->room) {
		size_t room = block->room ? 2 * block->room : 4;
		struct sim_piece *more = realloc(block->piece, room * sizeof(*more));

		if (!more) {
			sim->starved = true;
			return -ENOMEM;
		}
		block->piece = more;
		block->room = room;
	}
	error = space_take(&sim->space[node], start, start + bytes);
	sim->starved |= error == -ENOMEM;
	if (error)
		return error;
	block->piece[block->pieces++] = (struct sim_piece){ start, bytes, node };
	block->node_bytes[node] += bytes;
	block->bytes += bytes;
	return 0;
}

/** Gives back everything a block holds. */
static void empty(struct sim *sim, struct sim_block *block)
{
	for (size_t p = 0; p < block->pieces; p++)
		(void)space_add(&sim->space[block->piece[p].node], block->piece[p].start,
				block->piece[p].start + block->piece[p].bytes);
}

void sim_block_cancel(struct sim *sim, struct sim_block *block)
{
	empty(sim, block);
	free_block(block);
}

void *sim_block_done(struct sim *sim, struct sim_block *block)
{
	block->next = sim->blocks;
	if (block->next)
		block->next->link = &block->next;
	block->link = &sim->blocks;
	sim->blocks = block;
	sim->in_use += block->bytes;
	return block;
}

void sim_release(struct sim *sim, void *start)
{
	struct sim_block *block = start;

	*block->link = block->next;
	if (block->next)
		block->next->link = block->link;
	sim->in_use -= block->bytes;
	empty(sim, block);
	free_block(block);
}

bool sim_starved(const struct sim *sim)
{
	return sim->starved;
}

uint64_t sim_bytes_total(const struct sim *sim)
{
	return sim->total;
}

uint64_t sim_bytes_free(const struct sim *sim)
{
	uint64_t bytes = 0;

	for (uint32_t n = 0; n < sim->config.nodes; n++)
		bytes += sim->space[n].bytes;
	return bytes;
}

uint64_t sim_bytes_in_use(const struct sim *sim)
{
	return sim->in_use;
}

/* ---- providers ------------------------------------------------------------------------ */

static void *early(void *ctx, uint64_t bytes, bool zero)
{
	struct sim *sim = ctx;
	struct sim_block *block;
	uint64_t best = 0, start;
	uint32_t node = sim->config.nodes;

	(void)zero;
	if (sim->handed_over)
		return NULL;
	for (uint32_t n = 0; n < sim->config.nodes; n++) {
		if (!space_find(&sim->space[n], bytes, CACHE_LINE, !sim->config.bottom_up, &start))
			continue;
		if (node == sim->config.nodes ||
		    (sim->config.bottom_up ? start < best : start > best)) {
			best = start;
			node = n;
		}
	}
	block = node < sim->config.nodes ? sim_block_new(sim, 0) : NULL;
	if (!block)
		return NULL;
	if (sim_block_take(sim, block, node, best, bytes)) {
		sim_block_cancel(sim, block);
		return NULL;
	}
	return sim_block_done(sim, block);
}

static void *contiguous(void *ctx, uint64_t bytes, unsigned order, bool zero)
{
	struct sim *sim = ctx;
	uint64_t page = 1ULL << sim->config.page_shift;
	uint64_t whole = page << order, kept = (bytes + page - 1) & ~(page - 1);
	uint32_t first = sim_interleave(sim);
	struct sim_block *block;
	uint64_t start;

	(void)zero;
	if (!sim->handed_over || order > sim->config.top_order || order > sim->config.whole_order)
		return NULL;
	for (uint32_t i = 0; i < sim->config.nodes; i++) {
		uint32_t node = (first + i) % sim->config.nodes;

		/* The whole block must be there, though its tail is given back at once. */
		if (!space_find(&sim->space[node], whole, whole, true, &start))
			continue;
		block = sim_block_new(sim, 0);
		if (!block)
			return NULL;
		if (!sim_block_take(sim, block, node, start, kept))
			return sim_block_done(sim, block);
		sim_block_cancel(sim, block);
	}
	return NULL;
}

struct hd_providers sim_providers(struct sim *sim)
{
	return (struct hd_providers){ sim, early, contiguous, sim_scattered };
}

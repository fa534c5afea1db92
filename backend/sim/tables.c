/* SPDX-License-Identifier: MIT */
/*
 * tables.c - page tables: by how large a translation is each byte mapped?
 *
 * vmalloc maps a block with pages of one size. The linear map covers RAM with
 * the largest pages that fit: where a 1 GiB page would reach beyond the end of a
 * stretch of RAM it is made of 2 MiB pages, and its ragged ends of base pages.
 *
 * Source: init_memory_mapping(), split_mem_range(), Linux 5.3 to 7.1, x86.
 */
#include "backend/sim/internal.h"

/** The stretch of RAM around @at, over the borders of nodes. */
static struct space_range stretch(const struct sim *sim, uint64_t at)
{
	struct space_range range = { 0, 0 };

	for (size_t r = 0; r < sim->config.rams; r++) {
		if (r == 0 || sim->ram[r].start != range.end) {
			if (at < range.end && at >= range.start)
				break;
			range.start = sim->ram[r].start;
		}
		range.end = sim->ram[r].end;
	}
	return range;
}

/** log2 of the translation that maps @at. */
static unsigned linear_shift(const struct sim *sim, struct space_range ram, uint64_t at)
{
	const unsigned shifts[] = { sim->config.linear_shift, sim->config.linear_mid_shift };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t size, start;

		if (shifts[i] <= sim->config.page_shift)
			continue;
		size = 1ULL << shifts[i];
		start = at & ~(size - 1);
		if (start >= ram.start && ram.end - start >= size)
			return shifts[i];
	}
	return sim->config.page_shift;
}

static void count_linear(const struct sim *sim, const struct sim_piece *piece, struct sim_got *got)
{
	uint64_t at = piece->start, end = piece->start + piece->bytes;
	struct space_range ram = stretch(sim, at);

	while (at < end) {
		unsigned shift = linear_shift(sim, ram, at);
		uint64_t next = (at | ((1ULL << shift) - 1)) + 1;

		if (next > end)
			next = end;
		got->shift_bytes[shift] += next - at;
		got->translations[shift]++;
		at = next;
	}
}

void sim_got(const struct sim *sim, const void *start, struct sim_got *got)
{
	const struct sim_block *block = start;

	*got = (struct sim_got){ .bytes = block->bytes, .node_bytes = block->node_bytes };
	if (block->shift) {
		got->shift_bytes[block->shift] = block->bytes;
		got->translations[block->shift] = block->bytes >> block->shift;
		return;
	}
	for (size_t p = 0; p < block->pieces; p++)
		count_linear(sim, &block->piece[p], got);
}

/* SPDX-License-Identifier: MIT */
/*
 * machine.h - pretend machines for these tests, and the book-keeper who checks them
 */
#ifndef HASHDIST_TESTS_SIM_MACHINE_H
#define HASHDIST_TESTS_SIM_MACHINE_H

#include <errno.h>

#include "tests/core/help.h"

#include "backend/sim/internal.h"

enum { PAGE = 4096 };

/** An x86-64 machine: pages of 4 KiB, 2 MiB and 1 GiB, largest order 10, bulks of 100. */
static inline struct sim_config plain(const struct sim_ram *ram, size_t rams, uint32_t nodes)
{
	return (struct sim_config){
		.ram = ram,
		.rams = rams,
		.nodes = nodes,
		.page_shift = 12,
		.top_order = 10,
		.whole_order = 10,
		.linear_shift = 30,
		.linear_mid_shift = 21,
		.deal = HD_DEAL_PAGES,
		.bulk_pages = 100,
	};
}

static inline struct sim *opened(struct sim_config config)
{
	struct sim *sim = NULL;

	assert_int_equal(sim_open(&config, &sim), 0);
	assert_non_null(sim);
	return sim;
}

/** Nodes of so many bytes each, one behind the other from 1 GiB on; 0: memoryless. */
static inline struct sim *machine_with(const uint64_t *bytes, uint32_t nodes,
				       struct sim_config config)
{
	struct sim_ram ram[16];
	uint64_t at = GIB;

	assert_true(nodes <= ARRAY_SIZE(ram));
	config.rams = 0;
	for (uint32_t n = 0; n < nodes; n++) {
		if (bytes[n])
			ram[config.rams++] = (struct sim_ram){ at, at + bytes[n], n };
		at += bytes[n];
	}
	config.ram = ram;
	config.nodes = nodes;
	return opened(config);
}

/** What is not free is in a block or put aside, and each node's ranges are sorted and merged. */
static inline void balanced(const struct sim *sim, uint64_t reserved)
{
	uint64_t held = 0;

	for (const struct sim_block *b = sim->blocks; b; b = b->next) {
		uint64_t by_node = 0, by_piece = 0;

		for (uint32_t n = 0; n < sim->config.nodes; n++)
			by_node += b->node_bytes[n];
		for (size_t p = 0; p < b->pieces; p++)
			by_piece += b->piece[p].bytes;
		assert_int_equal(by_node, b->bytes);
		assert_int_equal(by_piece, b->bytes);
		held += b->bytes;
	}
	assert_int_equal(held, sim_bytes_in_use(sim));
	assert_int_equal(sim->reserved, reserved);
	assert_int_equal(sim_bytes_total(sim), sim_bytes_free(sim) + held + reserved);
	for (uint32_t n = 0; n < sim->config.nodes; n++)
		for (size_t i = 1; i < sim->space[n].count; i++)
			assert_true(sim->space[n].range[i - 1].end < sim->space[n].range[i].start);
}

/** All was released: not a byte is missing. */
static inline void closes_empty(struct sim *sim)
{
	balanced(sim, 0);
	assert_int_equal(sim_bytes_in_use(sim), 0);
	assert_int_equal(sim_bytes_free(sim), sim_bytes_total(sim));
	sim_close(sim);
}

static inline void *early(struct sim *sim, uint64_t bytes)
{
	struct hd_providers p = sim_providers(sim);

	return p.early(p.ctx, bytes, true);
}

/** In the smallest order that holds it. */
static inline void *contiguous(struct sim *sim, uint64_t bytes)
{
	struct hd_providers p = sim_providers(sim);
	unsigned order = 0;

	while ((uint64_t)PAGE << order < bytes)
		order++;
	return p.contiguous(p.ctx, bytes, order, true);
}

/** Fails the test when it got pages of another size. */
static inline void *scattered(struct sim *sim, uint64_t bytes, unsigned shift, unsigned want_shift)
{
	struct hd_providers p = sim_providers(sim);
	unsigned got = 0;
	void *block = p.scattered(p.ctx, bytes, shift, &got, true);

	if (block)
		assert_int_equal(got, want_shift);
	return block;
}

static inline struct sim_got look(const struct sim *sim, const void *block)
{
	struct sim_got got;

	sim_got(sim, block, &got);
	return got;
}

/** Address of the first byte of a block in one piece. */
static inline uint64_t address_of(const void *block)
{
	const struct sim_block *b = block;

	assert_int_equal(b->pieces, 1);
	return b->piece[0].start;
}

static inline uint32_t node_of(const void *block)
{
	const struct sim_block *b = block;

	assert_int_equal(b->pieces, 1);
	return b->piece[0].node;
}

#endif

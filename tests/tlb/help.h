/* SPDX-License-Identifier: MIT */
/* help.h - a TLB whose page tables are a function, for the tests of tlb/ */
#ifndef TESTS_TLB_HELP_H
#define TESTS_TLB_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tlb/tlb.h"

struct tables {
	struct hd_tlb_translation all; /* every address */
	uint64_t asked;                /* how often */
};

static inline struct hd_tlb_translation tables_walk(void *context, uint64_t address, int kind)
{
	struct tables *tables = context;

	(void)address, (void)kind;
	tables->asked++;
	return tables->all;
}

struct model {
	struct hd_tlb tlb;
	struct tables tables;
	void *memory;
};

static inline void model_open(struct model *m, const struct hd_tlb_config *config, unsigned shift)
{
	struct hd_tlb_config with = *config;
	size_t bytes = hd_tlb_bytes(config->geometry);

	*m = (struct model){ .tables.all.shift = (uint8_t)shift };
	m->memory = malloc(bytes);
	with.walk = tables_walk;
	with.context = &m->tables;
	assert_non_null(m->memory);
	assert_int_equal(hd_tlb_init(&m->tlb, &with, m->memory, bytes), 0);
}

static inline void model_of(struct model *m, const char *preset, unsigned shift)
{
	const struct hd_tlb_geometry *geometry = hd_tlb_preset_named(preset);

	assert_non_null(geometry);
	model_open(m, &(struct hd_tlb_config){ .geometry = geometry }, shift);
}

static inline void model_close(struct model *m)
{
	free(m->memory);
}

static inline uint64_t model_walks(const struct model *m)
{
	struct hd_tlb_counts counts = hd_tlb_read_counts(&m->tlb);

	return counts.walks[HD_TLB_LOAD] + counts.walks[HD_TLB_STORE];
}

/* Loads from @pages translations of 2^@shift in a row, @rounds times; the walks it took. */
static inline uint64_t model_rounds(struct model *m, uint64_t pages, unsigned shift,
				    unsigned rounds)
{
	uint64_t before = model_walks(m);

	for (unsigned r = 0; r < rounds; r++)
		for (uint64_t p = 0; p < pages; p++)
			hd_tlb_access(&m->tlb, 0x100000000000 + (p << shift), HD_TLB_LOAD);
	return model_walks(m) - before;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * walk.h - how page tables of x86-64 translate an address
 *
 * Source: Intel SDM volume 3, 4.5 "4-level paging and 5-level paging".
 */
#ifndef GITDIFF_WALK_H
#define GITDIFF_WALK_H

#include <stdbool.h>
#include <stdint.h>

/** The registers that rule it. */
struct walk_root {
	uint64_t cr3;
	bool five_levels; /* CR4.LA57 */
	bool global;      /* CR4.PGE: entries may be global */
};

/** Reads 8 bytes of physical memory; false: there is none. */
typedef bool walk_read_fn(void *context, uint64_t physical, uint64_t *entry);

struct walk_result {
	uint64_t physical; /* of the address itself */
	uint8_t shift;     /* the translation covers 2^shift bytes: 12, 21 or 30 */
	bool global;
};

/** walk_tables() - false: nothing translates @address */
bool walk_tables(const struct walk_root *root, walk_read_fn *read, void *context, uint64_t address,
		 struct walk_result *out);

#endif

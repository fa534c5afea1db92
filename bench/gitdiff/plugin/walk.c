/* SPDX-License-Identifier: MIT */
/*
 * walk.c - from the top table down to the entry that is present and maps a page
 *
 *   cr3 -> [57..48] -> [47..39] -> [38..30] -> [29..21] -> [20..12]
 *          only with               1 GiB if    2 MiB if    4 KiB
 *          5 levels                bit 7       bit 7
 *
 * Reserved bits and rights are not looked at: what asks has already accessed the address.
 */
#include "walk.h"

enum { ENTRY_PRESENT = 1 << 0, ENTRY_LARGE = 1 << 7, ENTRY_GLOBAL = 1 << 8 };
enum { TABLE_BITS = 9, LEAF_SHIFT = 12, LARGEST_SHIFT = 30 };

static const uint64_t ENTRY_ADDRESS = 0x000ffffffffff000;

static bool is_canonical(const struct walk_root *root, uint64_t address)
{
	unsigned unused = root->five_levels ? 7 : 16;

	return (uint64_t)((int64_t)(address << unused) >> unused) == address;
}

bool walk_tables(const struct walk_root *root, walk_read_fn *read, void *context, uint64_t address,
		 struct walk_result *out)
{
	uint64_t entry = root->cr3;

	if (!is_canonical(root, address))
		return false;
	for (unsigned shift = root->five_levels ? 48 : 39;; shift -= TABLE_BITS) {
		uint64_t index = address >> shift & ((1u << TABLE_BITS) - 1);
		uint64_t within = (UINT64_C(1) << shift) - 1;

		if (!read(context, (entry & ENTRY_ADDRESS) + 8 * index, &entry) ||
		    !(entry & ENTRY_PRESENT))
			return false;
		if (shift > LARGEST_SHIFT || (shift > LEAF_SHIFT && !(entry & ENTRY_LARGE)))
			continue;
		*out = (struct walk_result){
			.physical = (entry & ENTRY_ADDRESS & ~within) | (address & within),
			.shift = (uint8_t)shift,
			.global = root->global && entry & ENTRY_GLOBAL,
		};
		return true;
	}
}

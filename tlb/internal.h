/* SPDX-License-Identifier: MIT */
/* internal.h - what the files of tlb/ share */
#ifndef HASHDIST_TLB_INTERNAL_H
#define HASHDIST_TLB_INTERNAL_H

#include "tlb/tlb.h"

/* One walk: what the page tables say, as far as the TLB can cache it; counted. */
struct hd_tlb_translation hd_tlb_walk(struct hd_tlb *tlb, uint64_t address, int kind);
void hd_tlb_walk_init(struct hd_tlb *tlb);
/* Table entries that were cached under the current tag; @everything: under all. */
void hd_tlb_walk_forget(struct hd_tlb *tlb, bool everything);
bool hd_tlb_walk_fits(const struct hd_tlb_geometry *geometry);
bool hd_tlb_paging_fits(const struct hd_tlb_paging *paging);

/* The largest size of @sizes that is not above @shift; 0: none. */
static inline unsigned hd_tlb_largest(uint64_t sizes, unsigned shift)
{
	while (shift && !(sizes >> shift & 1))
		shift--;
	return shift;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * reference.h - the rules of tlb/tlb.h once more, slow and obvious
 *
 * Entries are written out in full, their recency is a list, nothing is hinted, packed or
 * precomputed, and the size of a translation is known before it is looked up. Shares with
 * tlb/ the geometry and the random numbers only. Out of memory ends the test.
 */
#ifndef TESTS_TLB_REFERENCE_H
#define TESTS_TLB_REFERENCE_H

#include "tlb/tlb.h"

struct reference;

struct reference *reference_open(const struct hd_tlb_geometry *geometry, uint64_t seed);
void reference_close(struct reference *reference);
/* As hd_tlb_access(), with what translates the address. */
unsigned reference_access(struct reference *reference, uint64_t address, int kind,
			  struct hd_tlb_translation translation);
void reference_switch(struct reference *reference, uint64_t tag);
void reference_flush_tag(struct reference *reference);
void reference_flush_all(struct reference *reference);
void reference_flush_page(struct reference *reference, uint64_t address);

#endif

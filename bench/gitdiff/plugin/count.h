/* SPDX-License-Identifier: MIT */
/*
 * count.h - page walks by where they went, who caused them, and how large the translation was
 */
#ifndef GITDIFF_COUNT_H
#define GITDIFF_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "regions.h"
#include "tlb/tlb.h"

enum count_mode { COUNT_USER, COUNT_KERNEL, COUNT_MODES };
enum count_size { COUNT_4K, COUNT_2M, COUNT_1G, COUNT_SIZES };

extern const char *const count_kind_names[HD_TLB_KINDS];
extern const char *const count_mode_names[COUNT_MODES];
extern const char *const count_size_names[COUNT_SIZES];

/** An instruction of the kernel and the walks its accesses caused. */
struct count_place {
	uint64_t pc; /* 0: free */
	uint64_t walks[HD_TLB_KINDS];
};

enum { COUNT_PLACES = 1 << 15 };

struct counts {
	uint64_t walks[HD_TLB_KINDS][COUNT_MODES][REGIONS][COUNT_SIZES];
	uint64_t untranslated[HD_TLB_KINDS]; /* walks that found nothing: not in the above */
	uint64_t without_place;              /* when all of the following are taken */
	struct count_place places[COUNT_PLACES];
};

struct count_walk {
	uint64_t pc;
	enum region region;
	int kind;
	uint8_t shift;
};

/** By its address: the kernel has the upper half. */
static inline enum count_mode count_mode_of(uint64_t pc)
{
	return pc >> 63 ? COUNT_KERNEL : COUNT_USER;
}

void count_walk(struct counts *counts, const struct count_walk *walk);
void count_reset(struct counts *counts);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * models.h - the TLBs that are fed: one per processor of the guest and kind of processor asked for
 *
 * All are fed the same accesses in the same boot, so that they differ in nothing else.
 */
#ifndef GITDIFF_MODELS_H
#define GITDIFF_MODELS_H

#include <stdbool.h>
#include <stdint.h>

#include "count.h"
#include "tlb/tlb.h"

enum { MODELS_MAX = 8, MODELS_CPUS_MAX = 16 };

struct model;

/** A TLB and what its walks need to know. */
struct model_tlb {
	struct hd_tlb tlb;
	struct model *model;
	unsigned cpu;
};

struct model {
	char name[32];      /* as asked for: "kaby-lake", "kaby-lake@4k" */
	uint8_t host_shift; /* 0: not in a guest */
	struct model_tlb *cpus[MODELS_CPUS_MAX];
	struct counts counts; /* of all processors */
};

extern struct model *models[MODELS_MAX];
extern unsigned models_count;

/** The instruction that accesses memory now. */
extern uint64_t models_pc;

/**
 * models_add() - a kind of processor, before anything is fed
 * @name: a preset of tlb/presets.c; "NAME@4k", "NAME@2m", "NAME@1g": as a guest whose host
 *        backs it with pages of that size
 *
 * Return: 0; -EINVAL: no such name; -ENOSPC: too many; -ENOMEM.
 */
int models_add(const char *name, unsigned cpus);

/** Where the tables are, for the counts. */
void models_set_regions(const struct regions *regions);

/** One access on all of them. */
static inline void models_access(unsigned cpu, uint64_t address, int kind, uint64_t pc)
{
	models_pc = pc;
	for (unsigned i = 0; i < models_count; i++)
		hd_tlb_access(&models[i]->cpus[cpu]->tlb, address, kind);
}

void models_switch(unsigned cpu, unsigned tag);
void models_flush_tag(unsigned cpu);
void models_flush_all(unsigned cpu);
void models_flush_page(unsigned cpu, uint64_t address);

/** Counts from 0; translations stay. */
void models_reset_counts(void);
/** The sum over all processors. */
struct hd_tlb_counts models_tlb_counts(const struct model *model);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * events.h - what changes translations: other address spaces, flushes, page faults
 */
#ifndef GITDIFF_EVENTS_H
#define GITDIFF_EVENTS_H

#include <stdint.h>

#include "count.h"
#include "decode.h"

enum fault_kind { FAULT_LOAD, FAULT_STORE, FAULT_FETCH, FAULT_KINDS };

struct events {
	uint64_t cr3_writes, cr3_flushes; /* the latter without those that asked for none */
	uint64_t page_flushes, whole_flushes;
	uint64_t unknown_operands,
	    invpcids; /* of the whole flushes: where less may have been meant */
	/* By who faulted, and whether there was a translation, without the right to do that. */
	uint64_t faults[FAULT_KINDS][COUNT_MODES][2];
};

extern struct events events;

void events_reset(void);

/** Right before the instruction is executed. */
void events_instruction(unsigned cpu, const struct decoded *instruction);

/** At the first instruction of the kernel's page fault handler. */
void events_page_fault(unsigned cpu);

#endif

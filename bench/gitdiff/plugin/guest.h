/* SPDX-License-Identifier: MIT */
/*
 * guest.h - registers and memory of the emulated machine, as its emulator has them now
 *
 * Only from a callback that runs on the processor asked about.
 */
#ifndef GITDIFF_GUEST_H
#define GITDIFF_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "walk.h"

enum guest_control { GUEST_CR2 = 2, GUEST_CR3, GUEST_CR4 };

enum {
	GUEST_CR4_PGE = 1 << 7,
	GUEST_CR4_LA57 = 1 << 12,
	GUEST_CR4_PCIDE = 1 << 17,
};

/** A general register, as instructions number them: 0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp, ... */
uint64_t guest_register(unsigned cpu, unsigned number);
uint64_t guest_control(unsigned cpu, enum guest_control which);

/** What the page tables in use say of an address; false: nothing. */
bool guest_translate(unsigned cpu, uint64_t address, struct walk_result *out);

/** Reads memory by its virtual address; false if not all of it is there. */
bool guest_read(unsigned cpu, uint64_t address, void *out, size_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * marks.h - what the plugin does at a mark of the guest
 */
#ifndef GITDIFF_MARKS_H
#define GITDIFF_MARKS_H

#include <stdint.h>

#include "../guest/mark.h"

/** Where the text of the guest's /proc/kallsyms goes. Nowhere without this call. */
void marks_keep_symbols(const char *path);

/** Called at the instruction. */
void marks_handle(unsigned cpu, enum mark mark);

/** The kernel's page fault handler; 0: not known. Known after MARK_SYMBOLS. */
uint64_t marks_fault_handler(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * record.h - writes what the first processor's TLB goes through, as words of tlb/stream.h
 *
 * Only what is counted, no warm-up, and only as many words as asked for. Slow: every access is
 * looked up in the guest's page tables, or in a memory of earlier answers.
 */
#ifndef GITDIFF_RECORD_H
#define GITDIFF_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/** Return: 0, or a negative errno. Nothing is recorded without this call. */
int record_open(const char *path, uint64_t limit);
bool record_is_open(void);

void record_begin(void);
void record_end(void);

void record_access(unsigned cpu, uint64_t address, int kind);
/** Any other enum hd_tlb_event. @value: the address, or the tag shifted by 12. */
void record_event(unsigned cpu, int what, uint64_t value);

/** Return: 0, or a negative errno if not all could be written. */
int record_close(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * record.c - a file of events, and the translations of pages that were seen before
 *
 * A translation once seen is kept until anything is flushed, which is what the hardware would
 * be allowed to do.
 */
#include "record.h"

#include <errno.h>
#include <stdio.h>

#include "guest.h"
#include "tlb/stream.h"

enum { SEEN = 1 << 14 };

struct seen {
	uint64_t page, epoch;
	struct hd_tlb_translation translation;
};

static FILE *file;
static uint64_t words_left;
static bool recording;

static struct seen seen[SEEN];
static uint64_t epoch = 1; /* what was seen before a flush has an older one */

int record_open(const char *path, uint64_t limit)
{
	file = fopen(path, "wb");
	words_left = limit;
	return file ? 0 : -errno;
}

bool record_is_open(void)
{
	return file != NULL;
}

void record_begin(void)
{
	recording = file && words_left;
}

void record_end(void)
{
	recording = false;
}

static void put(uint64_t word)
{
	fwrite(&word, sizeof(word), 1, file); /* x86-64 only: little-endian as it is */
	if (!--words_left)
		recording = false;
}

static bool translation_of(unsigned cpu, uint64_t address, struct hd_tlb_translation *out)
{
	uint64_t page = address >> HD_TLB_BASE_SHIFT;
	struct seen *at = &seen[(page ^ page >> 14) % SEEN];
	struct walk_result found;

	if (at->page != page || at->epoch != epoch) {
		if (!guest_translate(cpu, address, &found))
			return false;
		*at =
		    (struct seen){ page, epoch, { .shift = found.shift, .global = found.global } };
	}
	*out = at->translation;
	return true;
}

void record_access(unsigned cpu, uint64_t address, int kind)
{
	struct hd_tlb_translation translation;

	if (recording && cpu == 0 && translation_of(cpu, address, &translation))
		put(hd_tlb_event(HD_TLB_EVENT_ACCESS, address, kind, translation));
}

void record_event(unsigned cpu, int what, uint64_t value)
{
	if (cpu)
		return;
	epoch++;
	if (recording)
		put(hd_tlb_event(what, value, 0, (struct hd_tlb_translation){ 0 }));
}

int record_close(void)
{
	int failed = file && (ferror(file) | fclose(file)) ? -EIO : 0;

	recording = false;
	file = NULL;
	return failed;
}

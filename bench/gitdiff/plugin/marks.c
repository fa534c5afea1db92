/* SPDX-License-Identifier: MIT */
/*
 * marks.c - takes the guest's symbols; begins to count, and writes down what was counted
 */
#include "marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "guest.h"
#include "models.h"
#include "output.h"
#include "record.h"
#include "regions.h"
#include "symbols.h"

enum { RSI = 6, RDI = 7, SYMBOLS_MAX = 64 << 20 };

static char *symbols_path;
static uint64_t fault_handler;

void marks_keep_symbols(const char *path)
{
	symbols_path = strdup(path); /* the emulator's own copy may go */
}

uint64_t marks_fault_handler(void)
{
	return fault_handler;
}

static bool read_kernel(void *context, uint64_t address, void *out, size_t bytes)
{
	return guest_read(*(unsigned *)context, address, out, bytes);
}

static void keep(const char *text, size_t bytes)
{
	FILE *file = symbols_path ? fopen(symbols_path, "w") : NULL;

	if (!file)
		return;
	if (fwrite(text, 1, bytes, file) != bytes)
		fprintf(stderr, "gitdiff: %s: not written\n", symbols_path);
	fclose(file);
}

static void take_symbols(unsigned cpu, uint64_t address, uint64_t bytes)
{
	char *text = bytes <= SYMBOLS_MAX ? malloc(bytes) : NULL;
	struct regions regions;

	if (!text || !guest_read(cpu, address, text, bytes)) {
		fprintf(stderr, "gitdiff: the guest's symbols cannot be read\n");
		free(text);
		return;
	}
	regions_find(&regions, text, bytes, read_kernel, &cpu);
	models_set_regions(&regions);
	output_regions(&regions);
	fault_handler = symbols_find(text, bytes, "asm_exc_page_fault");
	keep(text, bytes);
	free(text);
}

void marks_handle(unsigned cpu, enum mark mark)
{
	uint64_t first = guest_register(cpu, RDI), second = guest_register(cpu, RSI);

	switch (mark) {
	case MARK_SYMBOLS:
		take_symbols(cpu, first, second);
		break;
	case MARK_BEGIN:
		models_reset_counts();
		events_reset();
		if (first) /* not the warm-up */
			record_begin();
		break;
	case MARK_END:
		record_end();
		output_repetition(first, second);
		break;
	case MARKS:
		break;
	}
}

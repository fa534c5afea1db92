/* SPDX-License-Identifier: MIT */
/*
 * touched.c - which pages there are, page tables read by the kernel's scanning call
 *
 * PAGEMAP_SCAN (Linux 6.7) takes a range, so only the large mappings are
 * walked, and it tells which huge page's worth of addresses is touched. It
 * counts the zero page, which smaps does not: where both are read, smaps wins.
 *
 * Tables of the last level are computed: one for each huge page's worth of
 * addresses that has a base page. A transparent huge page of anonymous memory
 * keeps one in reserve for the day it is split; hugetlb and huge pages of shared
 * memory keep none.
 */
#include <errno.h>

#include "backend/linux/scan.h"
#include "process/internal.h"

enum { STEP_SHIFT = 34 }; /* between two looks at the clock: some 50 ms where it is full */

struct counting {
	uint64_t resident, huge, spans;
	uint64_t next_span; /* the first that is not counted yet */
	unsigned span_shift;
	bool reserve; /* huge pages keep a table */
};

static void count_run(void *ctx, uint64_t start, uint64_t end, bool huge)
{
	struct counting *counting = ctx;
	uint64_t first, behind;

	counting->resident += end - start;
	if (huge)
		counting->huge += end - start;
	if (!counting->span_shift || (huge && !counting->reserve))
		return;
	first = start >> counting->span_shift;
	behind = ((end - 1) >> counting->span_shift) + 1;
	if (first < counting->next_span)
		first = counting->next_span;
	if (behind <= first)
		return;
	counting->spans += behind - first;
	counting->next_span = behind;
}

/** Bytes of addresses that one table of the last level covers. */
static unsigned span_shift_of(const struct process *process)
{
	/* A table is a page of entries of 8 bytes, on the systems that scan. */
	return process->pages.thp_shift ? process->pages.thp_shift
					: 2 * process->pages.base_shift - 3;
}

static bool anonymous(const struct process_mapping *mapping)
{
	return mapping->kind != PROCESS_SHMEM && mapping->kind != PROCESS_HUGETLB &&
	       mapping->kind != PROCESS_FILE;
}

static int count_mapping(const struct process *process, struct process_mapping *mapping,
			 const struct process_clock *clock)
{
	struct counting counting = { .span_shift = span_shift_of(process),
				     .reserve = anonymous(mapping) };
	uint64_t at = mapping->start;
	int error = 0;

	while (!error && at < mapping->end) {
		uint64_t bytes = mapping->end - at;

		if (bytes > UINT64_C(1) << STEP_SHIFT)
			bytes = UINT64_C(1) << STEP_SHIFT;
		error = process_clock_left(clock)
			    ? hdl_scan(process->pid, at, bytes, count_run, &counting)
			    : -ETIME;
		at += bytes;
	}
	if (error)
		return error;
	mapping->resident = counting.resident;
	mapping->huge = counting.huge;
	mapping->spans = counting.spans;
	mapping->pages_known = mapping->spans_known = true;
	return 0;
}

int process_touched_read(struct process *process, const struct process_clock *clock)
{
	int error = 0;

	for (uint32_t m = 0; !error && m < process->mappings; m++)
		error = count_mapping(process, &process->mapping[m], clock);
	return error;
}

void process_page_tables(const struct process *process, struct process_mapping *mapping)
{
	unsigned shift = span_shift_of(process);
	uint64_t base = mapping->resident - mapping->huge, spans = mapping->spans;

	mapping->page_table_bytes = 0;
	mapping->page_tables_least = false;
	if (!mapping->pages_known || mapping->kind == PROCESS_HUGETLB)
		return;
	if (!mapping->spans_known) {
		spans = (base + (UINT64_C(1) << shift) - 1) >> shift;
		if (anonymous(mapping))
			spans += mapping->huge >> shift;
		mapping->page_tables_least = base > 0;
	}
	mapping->page_table_bytes = spans << process->pages.base_shift;
}

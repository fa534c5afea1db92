/* SPDX-License-Identifier: MIT */
/*
 * sample.c - shares of the nodes from some of a mapping's pages
 *
 * move_pages without target nodes is a question: where is the page at this
 * address? SAMPLES of them, half a microsecond each, evenly over the huge pages'
 * worths of it. The place within changes from one to the next: memory that is
 * interleaved page by page would else seem to lie on one node. Where nothing is
 * found that way, the first page of each is tried.
 */
#include <errno.h>
#include <string.h>

#include "process/internal.h"

enum { SAMPLES = 1024, BATCH = 256 };

struct sampling {
	const struct process *process;
	struct process_mapping *mapping;
	unsigned shift; /* log2 bytes of a block */
	uint64_t blocks, samples;
	bool heads;
	uint64_t found;
};

static uint64_t address_of(const struct sampling *sampling, uint64_t index)
{
	unsigned base = sampling->process->pages.base_shift;
	uint64_t block = index * sampling->blocks / sampling->samples;
	uint64_t at = sampling->mapping->start + (block << sampling->shift);
	uint64_t page = (index * 0x9e3779b97f4a7c15) >> (64 - (sampling->shift - base));

	if (!sampling->heads && at + (page << base) < sampling->mapping->end)
		at += page << base;
	return at;
}

static int ask(struct sampling *sampling, uint64_t first, uint64_t count)
{
	const struct process *process = sampling->process;
	void *at[BATCH];
	int node[BATCH];
	long error;

	for (uint64_t i = 0; i < count; i++) {
		at[i] = (void *)(uintptr_t)address_of(sampling, first + i);
		node[i] = -ENOENT;
	}
	error = HDL_SYS(SYS_move_pages, process->pid, (long)count, (long)at, 0, (long)node, 0);
	if (error < 0)
		return (int)error;
	for (uint64_t i = 0; i < count; i++)
		for (uint32_t n = 0; node[i] >= 0 && n < process->nodes; n++)
			if (process->node[n] == (uint32_t)node[i]) {
				sampling->mapping->node_bytes[n]++;
				sampling->found++;
			}
	return 0;
}

static int ask_all(struct sampling *sampling, const struct process_clock *clock)
{
	int error = 0;

	for (uint64_t i = 0; !error && i < sampling->samples; i += BATCH) {
		uint64_t left = sampling->samples - i;

		error = process_clock_left(clock) ? ask(sampling, i, left < BATCH ? left : BATCH)
						  : -ETIME;
	}
	return error;
}

int process_sample(const struct process *process, struct process_mapping *mapping,
		   const struct process_clock *clock)
{
	struct sampling sampling = { .process = process,
				     .mapping = mapping,
				     .shift =
					 process->pages.thp_shift ? process->pages.thp_shift : 21 };
	size_t bytes = process->nodes * sizeof(*mapping->node_bytes);
	uint64_t pages;
	int error;

	sampling.blocks = ((mapping->end - mapping->start - 1) >> sampling.shift) + 1;
	pages = (mapping->end - mapping->start) >> process->pages.base_shift;
	sampling.samples = pages < SAMPLES ? pages : SAMPLES;
	memset(mapping->node_bytes, 0, bytes);
	error = ask_all(&sampling, clock);
	if (!error && !sampling.found) {
		sampling.heads = true;
		error = ask_all(&sampling, clock);
	}
	if (error || !sampling.found) {
		memset(mapping->node_bytes, 0, bytes);
		return error ? error : -ENOENT;
	}
	for (uint32_t n = 0; n < process->nodes; n++) {
		uint64_t hits = mapping->node_bytes[n];

		mapping->node_bytes[n] = mapping->resident / sampling.found * hits +
					 mapping->resident % sampling.found * hits / sampling.found;
	}
	mapping->sampled = mapping->nodes_known = true;
	return 0;
}

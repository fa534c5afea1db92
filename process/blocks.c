/* SPDX-License-Identifier: MIT */
/*
 * blocks.c - which blocks of a mapping have memory, are huge, and where they are
 *
 * By the scanning call (Linux 6.7); before it from the plain page map, which
 * tells what has memory but not what is huge.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend/linux/scan.h"
#include "backend/linux/sys.h"
#include "process/blocks.h"

static void count_run(void *ctx, uint64_t start, uint64_t end, bool huge)
{
	struct blocks *blocks = ctx;
	uint64_t size = 1ULL << blocks->shift;

	while (start < end) {
		uint64_t index = (start - blocks->start) >> blocks->shift;
		uint64_t edge = blocks_address(blocks, index) + size;
		uint64_t stop = end < edge ? end : edge;

		if (index >= blocks->count)
			return;
		blocks->block[index].populated += (uint32_t)((stop - start) >> blocks->base_shift);
		if (huge)
			blocks->block[index].huge = true;
		start = stop;
	}
}

/** Bit 63 of an entry: the page is there. Bits 61 and 62 are something else. */
static int read_page_map(pid_t pid, struct blocks *blocks)
{
	enum { ENTRIES = 512, PRESENT = 63 };
	uint64_t entry[ENTRIES], at = blocks->start;
	uint64_t end = blocks_address(blocks, blocks->count);
	char path[32];
	long got = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = (int)HDL_SYS(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	while (at < end) {
		uint64_t pages = (end - at) >> blocks->base_shift;

		if (pages > ENTRIES)
			pages = ENTRIES;
		got = HDL_SYS(SYS_pread64, fd, (long)entry, (long)(pages * sizeof(entry[0])),
			      (long)((at >> blocks->base_shift) * sizeof(entry[0])));
		if (got < (long)sizeof(entry[0]))
			break;
		for (long i = 0; i < got / (long)sizeof(entry[0]); i++)
			if (entry[i] >> PRESENT & 1)
				count_run(blocks, at + ((uint64_t)i << blocks->base_shift),
					  at + ((uint64_t)(i + 1) << blocks->base_shift), false);
		at += (uint64_t)got / sizeof(entry[0]) << blocks->base_shift;
	}
	HDL_SYS(SYS_close, fd);
	return got < 0 ? (int)got : 0;
}

int blocks_read(const struct process *process, uint64_t start, uint64_t end, struct blocks *out)
{
	/* Without huge pages: what one page of entries of 8 bytes maps. */
	unsigned shift =
	    process->pages.thp_shift ? process->pages.thp_shift : 2 * process->pages.base_shift - 3;
	uint64_t size = 1ULL << shift;
	int error;

	*out = (struct blocks){ .start = (start + size - 1) & ~(size - 1),
				.shift = shift,
				.base_shift = process->pages.base_shift,
				.huge_known = true };
	if (end > out->start)
		out->count = (end - out->start) >> out->shift;
	if (!out->count)
		return 0;
	out->block = calloc(out->count, sizeof(*out->block));
	if (!out->block)
		return -ENOMEM;
	for (uint64_t i = 0; i < out->count; i++)
		out->block[i].node = -1;
	error = hdl_scan(process->pid, out->start, out->count << out->shift, count_run, out);
	if (error == -ENOTTY || error == -EINVAL) {
		out->huge_known = false;
		error = read_page_map(process->pid, out);
	}
	if (error)
		blocks_free(out);
	return error == -ENOENT ? -ESRCH : error;
}

int blocks_ask_nodes(const struct process *process, struct blocks *blocks)
{
	enum { BATCH = 512 };
	uint64_t at[BATCH], next = 0;
	int status[BATCH];

	while (next < blocks->count) {
		uint64_t count = blocks->count - next < BATCH ? blocks->count - next : BATCH;
		long error;

		for (uint64_t i = 0; i < count; i++)
			at[i] = blocks_address(blocks, next + i);
		error = HDL_SYS(SYS_move_pages, process->pid, (long)count, (long)at, 0,
				(long)status, 0);
		if (error < 0)
			return (int)error;
		for (uint64_t i = 0; i < count; i++)
			blocks->block[next + i].node = (int16_t)(status[i] < 0 ? -1 : status[i]);
		next += count;
	}
	return 0;
}

void blocks_free(struct blocks *blocks)
{
	free(blocks->block);
	blocks->block = NULL;
	blocks->count = 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * scan.c - which addresses have memory, and which of it is on huge pages
 *
 * The scanning call of /proc/PID/pagemap, Linux 6.7: exact, for any range, and
 * much faster than smaps. Older kernels answer -ENOTTY. The shared page of zeroes
 * is no memory of ours: kernels since 6.12 put it in place of what is all zero
 * when they split a huge page, and the next write is a page fault.
 * Source: include/uapi/linux/fs.h, Documentation/admin-guide/mm/pagemap.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "backend/linux/scan.h"
#include "backend/linux/sys.h"

struct scan {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t inverted, mask, any, result;
};

struct scan_run {
	uint64_t start, end, kinds;
};

#define SCAN_CALL _IOWR('f', 16, struct scan)
enum { SCAN_PRESENT = 1 << 3, SCAN_ZERO = 1 << 5, SCAN_HUGE = 1 << 6, SCAN_RUNS = 64 };

static int open_pagemap(pid_t pid)
{
	char path[32] = "/proc/self/pagemap";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	return (int)HDL_SYS(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC);
}

int hdl_scan_file(int fd, uint64_t from, uint64_t bytes, hdl_scan_fn each, void *ctx)
{
	struct scan_run runs[SCAN_RUNS];
	struct scan arg = { .size = sizeof(arg),
			    .start = from,
			    .end = from + bytes,
			    .vec = (uintptr_t)runs,
			    .vec_len = SCAN_RUNS,
			    .mask = SCAN_PRESENT | SCAN_ZERO,
			    .inverted = SCAN_ZERO,
			    .result = SCAN_PRESENT | SCAN_HUGE };
	long found = 0;

	while (arg.start < arg.end) {
		found = HDL_SYS(SYS_ioctl, fd, (long)SCAN_CALL, (long)&arg);
		if (found < 0 || arg.walk_end <= arg.start)
			break;
		for (long i = 0; each && i < found; i++)
			each(ctx, runs[i].start, runs[i].end, runs[i].kinds & SCAN_HUGE);
		arg.start = arg.walk_end;
	}
	if (found < 0)
		return (int)found;
	return arg.start < arg.end ? -EPROTO : 0;
}

int hdl_scan(pid_t pid, uint64_t from, uint64_t bytes, hdl_scan_fn each, void *ctx)
{
	int fd = open_pagemap(pid), error;

	if (fd < 0)
		return fd;
	error = hdl_scan_file(fd, from, bytes, each, ctx);
	HDL_SYS(SYS_close, fd);
	return error;
}

static void add_huge(void *ctx, uint64_t start, uint64_t end, bool huge)
{
	if (huge)
		*(uint64_t *)ctx += end - start;
}

int hdl_scan_huge(char *at, uint64_t bytes, uint64_t *huge)
{
	*huge = 0;
	return hdl_scan(0, (uintptr_t)at, bytes, add_huge, huge);
}

/* SPDX-License-Identifier: MIT */
/*
 * reserve.c - address space for a region, and what is told the kernel about it
 *
 *   |guard|  start, aligned to the huge page ... bytes  |guard|
 *
 * Reserved without access, opened afterwards: what alignment needs more is never
 * charged, and the guards on both sides keep other mappings from merging with it
 * and stop a write past its end.
 *
 * hugetlb mappings are reserved in the pool at mmap only if it holds them already:
 * overcommitted pages would be taken there, before the policy, all from one node.
 * Unreserved, a write while a child of fork() lives is a SIGBUS when the pool is empty.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "backend/linux/reserve.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41 /* Linux 5.17 */
#define PR_SET_VMA_ANON_NAME 0
#endif

static int reserve_hugetlb(struct hdl_region *region)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE |
		    (int)(region->shift << MAP_HUGE_SHIFT);
	int error = 0;

	/* Promised to us, a page is taken from a child when we write while it lives; else it kills. */
	region->start = NULL;
	if (hdl_pool_has(region->shift, region->bytes >> region->shift))
		region->start = hdl_mmap(NULL, region->bytes, PROT_READ | PROT_WRITE,
					 flags & ~MAP_NORESERVE, &error);
	if (!region->start)
		region->start =
		    hdl_mmap(NULL, region->bytes, PROT_READ | PROT_WRITE, flags, &error);
	region->map = region->start;
	region->map_bytes = region->bytes;
	return region->start ? 0 : error;
}

/** Give back what lies outside the guards; what cannot be given back stays ours. */
static void trim(struct hdl_region *region, uint64_t guard)
{
	char *begin = region->start - guard, *end = region->start + region->bytes + guard;
	char *map_end = region->map + region->map_bytes;

	if (end < map_end && !hdl_munmap(end, (size_t)(map_end - end)))
		region->map_bytes -= (uint64_t)(map_end - end);
	if (begin > region->map && !hdl_munmap(region->map, (size_t)(begin - region->map))) {
		region->map_bytes -= (uint64_t)(begin - region->map);
		region->map = begin;
	}
}

int hdl_reserve(struct hdl_region *region, unsigned align_shift)
{
	uint64_t guard = 1ULL << region->base_shift;
	uint64_t least = region->bytes + 2 * guard, slack = (1ULL << align_shift) - guard;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, error = 0;

	if (region->rung == HDL_HUGETLB)
		return reserve_hugetlb(region);
	region->map_bytes = least + slack;
	region->map = hdl_mmap(NULL, region->map_bytes, PROT_NONE, flags, &error);
	if (!region->map && slack) {
		/* Near a limit of address space: a block at either end is better lost than all. */
		align_shift = region->base_shift;
		if (region->huge && !region->pages_why)
			region->pages_why = HD_WHY_ADDRESS_LIMIT;
		region->map_bytes = least;
		region->map = hdl_mmap(NULL, region->map_bytes, PROT_NONE, flags, &error);
	}
	if (!region->map)
		return error;
	region->start =
	    (char *)(uintptr_t)hdl_round_up((uintptr_t)region->map + guard, align_shift);
	trim(region, guard);
	return 0;
}

bool hdl_is_reserved(const char *at, uint64_t bytes, bool hugetlb)
{
	struct hdl_lines lines;
	const char *line;
	bool ours = false;

	if (hdl_lines_open(&lines, "/proc/self/maps"))
		return false;
	while ((line = hdl_lines_next(&lines))) {
		char *rest;
		uint64_t from = strtoull(line, &rest, 16), to = 0;

		if (*rest == '-')
			to = strtoull(rest + 1, &rest, 16);
		if (from > (uintptr_t)at || to <= (uintptr_t)at)
			continue;
		/* hugetlb is open from the start, and one mapping with what lies behind. */
		if (hugetlb)
			ours = to > (uintptr_t)at + bytes && strstr(rest, "/anon_hugepage");
		else
			ours = to >= (uintptr_t)at + bytes && !strncmp(rest, " ---p", 5);
		break;
	}
	hdl_lines_close(&lines);
	return ours;
}

int hdl_map_hole(char *at, uint64_t bytes)
{
	int error = 0;
	void *got = hdl_mmap(at, bytes, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, &error);

	if (!got || got == at)
		return error;
	hdl_munmap(got, bytes);
	return -EEXIST;
}

int hdl_open_access(const struct hdl_region *region, uint64_t from)
{
	if (region->rung == HDL_HUGETLB)
		return 0;
	return hdl_mprotect(region->start + from, region->bytes - from, PROT_READ | PROT_WRITE);
}

int hdl_set_policy(const struct hdl_region *region, uint64_t from)
{
	const struct hdl_shares *aim = &region->aim;
	int mode = HDL_MPOL_PREFERRED;

	if (region->sole_node != HDL_NODES_MAX || region->guessed)
		return 0;
	if (aim->nodes > 1)
		mode = aim->weighted ? HDL_MPOL_WEIGHTED : HDL_MPOL_INTERLEAVE;
	else if (hdl_mask_count(&region->within) == 1)
		mode =
		    HDL_MPOL_BIND; /* a huge page elsewhere would be preferred to base pages here */
	return (int)HDL_SYS(SYS_mbind, (long)(region->start + from), (long)(region->bytes - from),
			    mode, (long)aim->node.word, HDL_NODES_MAX + 1, 0);
}

int hdl_set_advice(const struct hdl_region *region, uint64_t from)
{
	int advice = region->rung == HDL_THP ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
	int error;

	if (region->rung == HDL_HUGETLB)
		return 0;
	error = hdl_madvise(region->start + from, region->bytes - from, advice);
	/* A kernel without huge pages refuses to refuse them. */
	return region->rung == HDL_BASE && error == -EINVAL ? 0 : error;
}

int hdl_set_options(const struct hdl_region *region, uint64_t from)
{
	const struct hdl_wish *wish = &region->wish;
	char *at = region->start + from;
	uint64_t bytes = region->bytes - from;
	int error = 0;

	if (wish->fork != HD_FORK_COPY)
		error = hdl_madvise(at, bytes,
				    wish->fork == HD_FORK_DROP ? MADV_DONTFORK : MADV_WIPEONFORK);
	if (!error && wish->flags & HD_NO_DUMP)
		error = hdl_madvise(at, bytes, MADV_DONTDUMP);
	return error;
}

void hdl_set_name(const struct hdl_region *region)
{
	if (region->wish.name[0] && region->rung != HDL_HUGETLB)
		HDL_SYS(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, (long)region->start,
			(long)region->bytes, (long)region->wish.name);
}

int hdl_lock(struct hdl_region *region)
{
	int error = 0;

	if (region->wish.flags & HD_LOCK)
		error = (int)HDL_SYS(SYS_mlock, (long)region->start, (long)region->bytes);
	region->locked = region->wish.flags & HD_LOCK && !error;
	return error;
}

void hdl_region_release(struct hdl_region *region)
{
	if (region->map)
		hdl_munmap(region->map, region->map_bytes);
	region->map = region->start = NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * advise.c - a block just handed out: advice and policy before its first touch
 *
 * Only whole huge pages' worth inside of it, so that every border between what
 * is advised and what is not lies between two huge pages: a huge page cannot
 * straddle mappings, and mappings once touched apart stay apart. Memory that was
 * never touched gets no page by this.
 *
 * A block that this machine could not fill is a reservation of addresses. Its
 * pages would come 2 MiB at a time wherever it is touched, so it is left to the
 * scanner, which goes by what is there.
 */
#include <sys/mman.h>

#include "backend/linux/facts.h"
#include "backend/linux/sys.h"
#include "preload/preload.h"

_Atomic bool preload_program_refuses;

int preload_spread(uint64_t start, uint64_t bytes)
{
	int mode = preload_options.weighted ? HDL_MPOL_WEIGHTED : HDL_MPOL_INTERLEAVE;

	if (hdl_mask_count(&preload_options.nodes) < 2)
		return 0;
	return (int)HDL_SYS(SYS_mbind, (long)start, (long)bytes, mode,
			    (long)preload_options.nodes.word, HDL_NODES_MAX + 1, 0);
}

void preload_advise(const void *at, size_t bytes, const char *what)
{
	uint64_t huge = 1ULL << preload_options.huge_shift, start = (uintptr_t)at;
	uint64_t end = (start + bytes) & ~(huge - 1);
	int error;

	if (bytes > preload_options.most_bytes) {
		preload_explain(start, bytes, what, 0,
				"too large to be filled: left to the scanner", 0);
		return;
	}
	start = (start + huge - 1) & ~(huge - 1);
	if (start >= end || !preload_options.huge_shift)
		return;
	if (!preload_program_refuses) {
		error = hdl_madvise((void *)(uintptr_t)start, end - start, MADV_HUGEPAGE);
		preload_explain(start, end - start, what, 0, "huge page advice", error);
	}
	if (hdl_mask_count(&preload_options.nodes) > 1) {
		error = preload_spread(start, end - start);
		preload_explain(start, end - start, what, 0, "spread over nodes", error);
	}
}

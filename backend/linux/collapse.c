/* SPDX-License-Identifier: MIT */
/*
 * collapse.c - blocks that came on base pages, onto huge ones
 *
 * Before blocks are moved, never after: collapse gathers a block on the node
 * that holds most of it and looks at no policy; after an even spread of base pages
 * it would put all of them on one node.
 *
 * An administrator's "never" is not overruled, though collapse would do it.
 */
#include <errno.h>

#include "backend/linux/internal.h"

enum { STUBBORN = 16, AGAIN = 3 };

int hdl_collapse_block(char *at, uint64_t bytes)
{
	int error;

	for (int tries = 0; tries < AGAIN; tries++) {
		error = hdl_madvise(at, bytes, MADV_COLLAPSE);
		if (error != -EAGAIN)
			break;
	}
	return error;
}

bool hdl_can_collapse(void)
{
	return hdl_madvise(NULL, 0, MADV_COLLAPSE) != -EINVAL;
}

/** One pass over the blocks. @busy: some may give in when asked again; NULL: no more of that. */
static bool one_pass(const struct hdl_region *region, struct hdl_books *books, uint64_t from,
		     unsigned *failed, bool *busy, struct hdl_story *story)
{
	uint64_t bytes = 1ULL << books->shift;
	bool changed = false;

	for (uint64_t b = from >> books->shift; b < books->blocks && *failed < STUBBORN; b++) {
		bool was_base = books->block[b] == HDL_BLOCK_BASE;
		int error;

		if (books->block[b] == HDL_BLOCK_HUGE)
			continue;
		error = hdl_collapse_block(region->start + b * bytes, bytes);
		if (!error) {
			books->block[b] = HDL_BLOCK_HUGE;
			story->collapsed += was_base;
			changed = true;
			*failed = 0;
		} else if (error == -EAGAIN && busy) {
			*busy = true;
		} else {
			hdl_story_step(story, HD_STEP_COLLAPSE, error);
			++*failed;
		}
	}
	return changed;
}

bool hdl_collapse(const struct hdl_region *region, struct hdl_books *books, uint64_t from,
		  struct hdl_story *story)
{
	bool changed = false, busy = true;
	unsigned failed = 0;

	if (region->rung != HDL_THP || !region->huge || !books->block)
		return false;
	if (!hdl_can_collapse()) {
		hdl_story_step(story, HD_STEP_COLLAPSE, -EINVAL);
		return false;
	}
	for (int pass = 0; busy && pass <= AGAIN; pass++) {
		busy = false;
		changed |=
		    one_pass(region, books, from, &failed, pass < AGAIN ? &busy : NULL, story);
	}
	return changed;
}

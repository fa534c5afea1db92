/* SPDX-License-Identifier: MIT */
/*
 * layout.c - on which nodes and on what translations a region is to lie
 *
 * Nothing is asked of memory here, only of the books: which rungs of the ladder
 * there are, how a size is rounded for one, and whether there is room.
 */
#include <errno.h>

#include "backend/linux/layout.h"

/** Most bytes that rounding up to whole large pages may add: an eighth. */
static bool worth_rounding(uint64_t bytes, unsigned shift)
{
	return hdl_round_up(bytes, shift) - bytes <= bytes / 8;
}

/* ---- where ---------------------------------------------------------------------------- */

/** The calling thread's node if it may be used and has room, else the one with most room. */
static uint32_t choose_node(const struct hdl_nodes *nodes, uint64_t bytes)
{
	unsigned cpu = 0, here = HDL_NODES_MAX;
	uint32_t best = hdl_mask_next(&nodes->usable, 0);
	uint64_t most = 0;

	if (hdl_mask_count(&nodes->usable) == 1)
		return best;
	if (HDL_SYS(SYS_getcpu, (long)&cpu, (long)&here, 0))
		here = HDL_NODES_MAX;
	if (hdl_mask_has(&nodes->usable, here) && hdl_room_node(here) >= bytes)
		return here;
	HDL_FOR_EACH_NODE(node, &nodes->usable)
	{
		uint64_t room = hdl_room_node(node);

		if (room != UINT64_MAX && room > most) {
			most = room;
			best = node;
		}
	}
	return best;
}

void hdl_set_aim(struct hdl_region *region, const struct hdl_nodes *nodes)
{
	bool spread = region->wish.spread && !nodes->prefers_one;
	struct hdl_mask one = { 0 };

	region->guessed = nodes->guessed;
	region->sole_node = hdl_mask_count(&nodes->memory) == 1 && !nodes->guessed
				? hdl_mask_next(&nodes->memory, 0)
				: HDL_NODES_MAX;
	if (!spread)
		hdl_mask_add(&one, choose_node(nodes, region->bytes));
	region->within = nodes->within;
	hdl_shares_even(&region->aim, spread ? &nodes->usable : &one, true);
	region->nodes_why = HD_WHY_MET;
	if (region->wish.spread && region->aim.nodes == 1)
		region->nodes_why = nodes->prefers_one ? HD_WHY_TASK_POLICY : nodes->why;
}

/* ---- on what --------------------------------------------------------------------------- */

unsigned hdl_ladder(const struct hdl_wish *wish, const struct hdl_pages *pages,
		    struct hdl_choice rungs[3])
{
	unsigned n = 0;

	if (wish->pages == HD_PAGES_1G)
		rungs[n++] = (struct hdl_choice){ HDL_HUGETLB, 30 };
	if (wish->pages >= HD_PAGES_HUGETLB && pages->hugetlb_shift != 30)
		rungs[n++] = (struct hdl_choice){ HDL_HUGETLB, pages->hugetlb_shift };
	if (wish->pages == HD_PAGES_BASE)
		rungs[n++] = (struct hdl_choice){ HDL_BASE, pages->base_shift };
	else
		rungs[n++] = (struct hdl_choice){ HDL_THP, pages->thp_shift };
	return n;
}

/** Huge pages by advice: the unit they come in here, and why not the largest. */
static void plan_thp(struct hdl_region *region, const struct hdl_pages *pages, uint64_t bytes)
{
	enum hd_why why = hdl_thp_why(pages);

	region->shift = region->base_shift;
	region->huge = false;
	region->pages_why = (uint8_t)why;
	if (why != HD_WHY_MET)
		return;
	if (bytes >> pages->thp_shift || worth_rounding(bytes, pages->thp_shift)) {
		region->shift = pages->thp_shift;
		region->huge = true;
		return;
	}
	region->pages_why = HD_WHY_TOO_SMALL;
	if (pages->small_shift && bytes >> pages->small_shift)
		region->shift = pages->small_shift;
}

int hdl_plan(struct hdl_region *region, const struct hdl_choice *rung,
	     const struct hdl_pages *pages, uint64_t bytes)
{
	region->rung = rung->kind;
	region->base_shift = pages->base_shift;
	region->shift = rung->shift;
	region->huge = rung->kind == HDL_HUGETLB;
	region->pages_why = HD_WHY_MET;
	if (rung->kind == HDL_THP)
		plan_thp(region, pages, bytes);
	if (rung->kind == HDL_HUGETLB && (!rung->shift || (rung->shift == 30 && !pages->has_1g))) {
		region->pages_why = HD_WHY_NO_SUPPORT;
		return -ENOENT;
	}
	if (rung->kind == HDL_HUGETLB && !worth_rounding(bytes, rung->shift)) {
		region->pages_why = HD_WHY_TOO_SMALL;
		return -EINVAL;
	}
	region->bytes = hdl_round_up(
	    bytes, worth_rounding(bytes, region->shift) ? region->shift : region->base_shift);
	if (region->bytes >= bytes)
		return 0;
	region->pages_why = HD_WHY_MEMORY_SHORT;
	return -ENOMEM;
}

/* ---- is there room ------------------------------------------------------------------------ */

static bool pool_uneven(const struct hdl_region *region, uint64_t units, uint32_t *node)
{
	HDL_FOR_EACH_NODE(n, &region->aim.node)
	{
		uint64_t pages;

		*node = n;
		if (!hdl_pool_free(region->shift, n, &pages) &&
		    pages < units * region->aim.weight[n] / region->aim.round)
			return true;
	}
	return false;
}

static int pool_room(const struct hdl_region *region, uint64_t bytes, struct hdl_story *story)
{
	uint64_t units = bytes >> region->shift, free_pages = 0;
	int error = hdl_pool_free(region->shift, HDL_NODES_MAX, &free_pages);

	if (error) {
		story->pages_why = HD_WHY_NO_SUPPORT;
		return error;
	}
	if (free_pages < units) {
		story->pages_why = HD_WHY_POOL_EMPTY;
		return -ENOMEM;
	}
	if (hdl_cgroup_hugetlb_room(region->shift) < bytes) {
		story->pages_why = HD_WHY_HUGETLB_LIMIT;
		return -ENOMEM;
	}
	if (region->aim.nodes > 1 && pool_uneven(region, units, &story->why_node)) {
		story->nodes_why = HD_WHY_POOL_UNEVEN;
		if (region->wish.prefer == HD_PREFER_SPREAD) {
			story->pages_why = HD_WHY_POOL_UNEVEN;
			return -ENOMEM;
		}
	}
	return 0;
}

int hdl_room(const struct hdl_region *region, uint64_t bytes, const struct hdl_nodes *nodes,
	     struct hdl_story *story)
{
	int error;

	if (region->rung == HDL_HUGETLB)
		error = pool_room(region, bytes, story);
	else
		error = hdl_room_check(bytes, nodes, &story->pages_why);
	if (error)
		hdl_story_step(story, HD_STEP_LIMITS, error);
	return error;
}

unsigned hdl_alignment(const struct hdl_region *region, const struct hdl_pages *pages)
{
	if (region->rung == HDL_THP && pages->thp_shift && region->bytes >> pages->thp_shift)
		return pages->thp_shift;
	return region->shift;
}

/* SPDX-License-Identifier: MIT */
/*
 * got.c - from the books to what the caller is told
 *
 * What was reached comes from the books alone. Why something was not reached is
 * the first of: what was known before any page was asked for, what a step said,
 * what the books show.
 */
#include "backend/linux/internal.h"

void hdl_story_step(struct hdl_story *story, enum hd_step step, int error)
{
	if (story->step != HD_STEP_NONE)
		return;
	story->step = (uint8_t)step;
	story->error = -error;
}

static void add_pages(struct hd_got *got, unsigned shift, uint64_t bytes)
{
	if (!bytes || got->page_sizes >= HD_GOT_PAGES_MAX)
		return;
	got->page[got->page_sizes++] = (struct hd_got_pages){ 1ULL << shift, bytes };
}

/* Base pages that advice may have put into contiguous-PTE blocks: the books do not say. */
static bool may_be_contiguous(const struct hdl_region *region)
{
#if defined(__aarch64__) || defined(__riscv)
	struct hdl_pages pages;

	hdl_pages_read(&pages);
	return region->rung == HDL_THP && pages.small_shift && hdl_thp_why(&pages) == HD_WHY_MET;
#else
	(void)region;
	return false;
#endif
}

static void fill_pages(const struct hdl_region *region, const struct hdl_books *books,
		       struct hd_got *got)
{
	uint64_t base = books->populated - books->huge;

	got->populated = books->populated;
	if (!books->known) {
		got->pages_unknown = region->bytes;
		return;
	}
	add_pages(got, region->huge ? region->shift : books->shift, books->huge);
	if (may_be_contiguous(region))
		got->pages_unknown = base;
	else
		add_pages(got, region->base_shift, base);
}

static void fill_nodes(const struct hdl_region *region, const struct hdl_books *books,
		       struct hd_got *got)
{
	got->nodes_unknown = books->node_unknown;
	for (uint32_t node = 0; node < HDL_NODES_MAX; node++) {
		bool aimed = !region->guessed && hdl_mask_has(&region->aim.node, node);

		if (!books->node[node] && !aimed)
			continue;
		if (got->nodes < HD_GOT_NODES_MAX)
			got->node[got->nodes++] =
			    (struct hd_got_node){ books->node[node], node, aimed };
		else
			got->nodes_unknown += books->node[node];
	}
}

static uint32_t pages_why(const struct hdl_region *region, const struct hdl_books *books,
			  const struct hdl_story *story)
{
	if (region->pages_why != HD_WHY_MET)
		return region->pages_why;
	if (books->known && books->populated >= region->bytes &&
	    (!region->huge || books->huge >= books->blocks << books->shift))
		return HD_WHY_MET;
	if (story->pages_why != HD_WHY_MET)
		return story->pages_why;
	if (!books->known)
		return HD_WHY_UNKNOWN;
	if (!region->huge || books->huge >= books->blocks << books->shift)
		return HD_WHY_MET;
	return region->wish.prefer == HD_PREFER_SPREAD && story->moved ? HD_WHY_PREFERENCE
								       : HD_WHY_FRAGMENTED;
}

static uint32_t nodes_why(const struct hdl_region *region, struct hdl_books *books,
			  const struct hdl_story *story, uint32_t *node)
{
	uint32_t worst = hdl_mask_next(&region->aim.node, 0);

	if (region->nodes_why != HD_WHY_MET)
		return region->nodes_why;
	if (region->guessed)
		return HD_WHY_UNKNOWN;
	if (books->node_unknown || !books->known)
		return HD_WHY_UNKNOWN;
	if (hdl_balanced(region, books, &worst) || hdl_near_balanced(region, books))
		return HD_WHY_MET;
	*node = worst;
	if (story->nodes_why == HD_WHY_PREFERENCE || story->nodes_why == HD_WHY_POOL_UNEVEN)
		*node = story->why_node;
	if (story->nodes_why != HD_WHY_MET)
		return story->nodes_why;
	return story->policy_refused ? HD_WHY_CALL_FORBIDDEN : HD_WHY_NODE_FULL;
}

void hdl_got_fill(const struct hdl_region *region, struct hdl_books *books,
		  const struct hdl_story *story, struct hd_got *got)
{
	struct hdl_story told = *story;

	if (books->error)
		hdl_story_step(&told, HD_STEP_VERIFY, books->error);
	*got = (struct hd_got){ .bytes = region->bytes,
				.unit = 1ULL << region->shift,
				.spread = region->aim.nodes > 1,
				.collapsed = told.collapsed,
				.moved = told.moved,
				.locked = region->locked,
				.step = told.step,
				.error = told.error };
	fill_pages(region, books, got);
	fill_nodes(region, books, got);
	got->pages_why = pages_why(region, books, &told);
	got->nodes_why = nodes_why(region, books, &told, &got->why_node);
	if (got->pages_why == HD_WHY_POOL_UNEVEN)
		got->why_node = told.why_node;
}

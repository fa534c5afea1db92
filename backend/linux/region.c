/* SPDX-License-Identifier: MIT */
/*
 * region.c - one region from limits to verified, rung by rung of the ladder
 *
 * A rung that cannot be had costs nothing: its mapping is gone before the next
 * is tried. The first failure is the one that is told; the last rung's error is
 * returned when none is left.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/linux/layout.h"
#include "backend/linux/reserve.h"

/** Tell the kernel about [from, end), then populate it. Nobody uses it yet. */
static int furnish(struct hdl_region *region, uint64_t from, const struct hdl_nodes *nodes,
		   struct hdl_story *story)
{
	int error = hdl_open_access(region, from);

	if (error) {
		story->pages_why = (uint8_t)hdl_room_access_why(region->bytes - from, error);
		hdl_story_step(story, HD_STEP_RESERVE, error);
		return error;
	}
	error = hdl_set_options(region, from);
	if (error) {
		if (region->rung == HDL_HUGETLB)
			story->pages_why = HD_WHY_NO_SUPPORT;
		hdl_story_step(story, HD_STEP_OPTIONS, error);
		return error;
	}
	error = hdl_set_policy(region, from);
	if (error) {
		hdl_story_step(story, HD_STEP_POLICY, error);
		story->policy_refused = true;
		story->by_cpu = region->aim.nodes > 1;
	}
	error = hdl_set_advice(region, from);
	if (error)
		hdl_story_step(story, HD_STEP_ADVICE, error);
	error = hdl_populate(region, from, region->bytes - from, nodes, story);
	if (error && region->rung == HDL_HUGETLB && !story->pages_why)
		story->pages_why = error == -EINVAL ? HD_WHY_NO_SUPPORT : HD_WHY_POOL_EMPTY;
	return error;
}

/**
 * One round of mending. Blocks are collapsed in the first only: later it would undo
 * what moving was for. Moving may leave holes where all was zero; they are filled.
 * Pages that the kernel itself is moving look like holes: filling waits for them.
 * Return: whether anything was tried, so that the books are old.
 */
static bool mend(struct hdl_region *region, struct hdl_books *books, unsigned round,
		 struct hdl_story *story)
{
	bool refilled = books->known && books->populated < region->bytes && !story->no_room;
	bool tried = refilled;
	uint32_t worst;

	if (refilled)
		hdl_refill(region, 0, region->bytes);
	if (round == 0 && region->huge && books->huge < books->blocks << books->shift)
		tried |= hdl_collapse(region, books, 0, story);
	if (tried)
		hdl_books_nodes(region, books);
	if ((round == 0 || refilled) && region->sole_node == HDL_NODES_MAX &&
	    (refilled || !books->node_unknown) && !hdl_balanced(region, books, &worst))
		tried |= hdl_balance(region, books, story);
	return tried;
}

/** Read the books; mend; read them again. */
static void verify_and_mend(struct hdl_region *region, struct hdl_story *story, struct hd_got *got)
{
	enum { ROUNDS = 4 };
	struct hdl_books books;

	for (unsigned round = 0;; round++) {
		hdl_books_open(region, &books);
		hdl_books_nodes(region, &books);
		if (round == ROUNDS || !mend(region, &books, round, story))
			break;
		hdl_books_close(&books);
	}
	hdl_got_fill(region, &books, story, got);
	hdl_books_close(&books);
}

static void finish(struct hdl_region *region, struct hdl_story *story, struct hd_got *got)
{
	int error = hdl_lock(region);

	if (error)
		hdl_story_step(story, HD_STEP_LOCK, error);
	hdl_set_name(region);
	verify_and_mend(region, story, got);
}

static int attempt(struct hdl_region *region, const struct hdl_nodes *nodes,
		   struct hdl_story *story, unsigned align_shift)
{
	int error = hdl_room(region, region->bytes, nodes, story);

	if (error)
		return error;
	error = hdl_reserve(region, align_shift);
	if (error) {
		story->pages_why = (uint8_t)hdl_room_mmap_why(region->bytes, error);
		hdl_story_step(story, HD_STEP_RESERVE, error);
		return error;
	}
	error = furnish(region, 0, nodes, story);
	if (error)
		hdl_region_release(region);
	return error;
}

/** What is told when nothing was had. */
static void failed(const struct hdl_story *story, uint32_t pages_why, uint32_t nodes_why,
		   struct hd_got *got)
{
	*got = (struct hd_got){ .pages_why = pages_why,
				.nodes_why = nodes_why,
				.step = story->step,
				.error = story->error };
}

int hdl_region_make(uint64_t bytes, const struct hdl_wish *wish, struct hdl_region *out,
		    struct hd_got *got)
{
	struct hdl_region region = { .wish = *wish };
	struct hdl_story story = { 0 };
	struct hdl_nodes nodes;
	struct hdl_pages pages;
	struct hdl_choice rungs[3];
	uint8_t first_why = HD_WHY_MET;
	unsigned count;
	int error = hdl_nodes_read(wish, &nodes);

	if (error) {
		hdl_story_step(&story, HD_STEP_LIMITS, error);
		failed(&story, HD_WHY_UNKNOWN, nodes.why, got);
		return error;
	}
	hdl_pages_read(&pages);
	count = hdl_ladder(wish, &pages, rungs);
	for (unsigned r = 0; r < count; r++) {
		story.pages_why = story.nodes_why = HD_WHY_MET;
		error = hdl_plan(&region, &rungs[r], &pages, bytes);
		if (error)
			hdl_story_step(&story, HD_STEP_LIMITS, error);
		hdl_set_aim(&region, &nodes);
		if (!error)
			error = attempt(&region, &nodes, &story, hdl_alignment(&region, &pages));
		if (!error)
			break;
		if (!first_why)
			first_why = region.pages_why ? region.pages_why : story.pages_why;
		if (!first_why)
			first_why = HD_WHY_UNKNOWN;
	}
	if (error) {
		/* What stopped the last rung, not why the first was left. */
		failed(&story, story.pages_why ? story.pages_why : first_why, region.nodes_why,
		       got);
		return error;
	}
	if (first_why)
		region.pages_why = first_why;
	finish(&region, &story, got);
	*out = region;
	return 0;
}

void hdl_region_read(const struct hdl_region *region, struct hd_got *got)
{
	struct hdl_story story = { 0 };
	struct hdl_books books;

	hdl_books_open(region, &books);
	hdl_books_nodes(region, &books);
	hdl_got_fill(region, &books, &story, got);
	hdl_books_close(&books);
}

/* ---- repair ---------------------------------------------------------------------------- */

/** What was read when it was made may have changed since: settings, cpuset, policy. */
static void read_again(struct hdl_region *region, const struct hdl_nodes *nodes)
{
	struct hdl_choice thp = { HDL_THP, 0 };
	struct hdl_region fresh = *region;
	struct hdl_pages pages;

	hdl_pages_read(&pages);
	thp.shift = pages.thp_shift;
	if (region->rung == HDL_THP && !hdl_plan(&fresh, &thp, &pages, region->bytes)) {
		region->shift = fresh.shift;
		region->huge = fresh.huge;
		if (region->wish.pages < HD_PAGES_HUGETLB)
			region->pages_why = fresh.pages_why;
	}
	if (region->wish.spread)
		hdl_set_aim(region, nodes);
}

void hdl_region_repair(struct hdl_region *region, struct hd_got *got)
{
	struct hdl_story story = { 0 };
	struct hdl_nodes nodes;
	struct hdl_books books;
	int error = hdl_nodes_read(&region->wish, &nodes);

	if (error)
		hdl_story_step(&story, HD_STEP_LIMITS, error);
	else
		read_again(region, &nodes);
	error = hdl_set_policy(region, 0);
	if (error)
		hdl_story_step(&story, HD_STEP_POLICY, error);
	story.policy_refused = error != 0;
	error = hdl_set_advice(region, 0);
	if (error)
		hdl_story_step(&story, HD_STEP_ADVICE, error);
	hdl_books_open(region, &books);
	if (books.known && books.populated < region->bytes) {
		if (hdl_room(region, region->bytes - books.populated, &nodes, &story))
			story.no_room = true;
		else
			hdl_populate(region, 0, region->bytes, &nodes, &story);
	}
	hdl_books_close(&books);
	if (!hdl_can_collapse())
		story.pages_why = HD_WHY_NO_SUPPORT;
	finish(region, &story, got);
}

/* ---- resize ---------------------------------------------------------------------------- */

/** A wider reservation whose new part is populated; the old part is still without access. */
static int make_wider(const struct hdl_region *old, uint64_t bytes, const struct hdl_nodes *nodes,
		      struct hdl_region *out, struct hdl_story *story)
{
	struct hdl_choice rung = { old->rung, old->shift };
	struct hdl_pages pages;
	int error;

	*out = *old;
	hdl_pages_read(&pages);
	if (old->rung == HDL_THP)
		rung.shift = pages.thp_shift;
	error = hdl_plan(out, &rung, &pages, bytes);
	if (error) {
		hdl_story_step(story, HD_STEP_LIMITS, error);
		return error;
	}
	if (old->rung == HDL_THP && old->wish.pages >= HD_PAGES_HUGETLB)
		out->pages_why = old->pages_why;
	if (old->wish.spread)
		hdl_set_aim(out, nodes);
	error = hdl_room(out, out->bytes - old->bytes, nodes, story);
	if (error)
		return error;
	error = hdl_reserve(out, hdl_alignment(out, &pages));
	if (error) {
		story->pages_why = (uint8_t)hdl_room_mmap_why(out->bytes, error);
		hdl_story_step(story, HD_STEP_RESERVE, error);
		return error;
	}
	error = furnish(out, old->bytes, nodes, story);
	if (error)
		hdl_region_release(out);
	return error;
}

/** End of the mapping that holds @at, at most @end. */
static char *mapping_end(char *at, char *end)
{
	struct hdl_lines lines;
	char *line, *rest;

	if (hdl_lines_open(&lines, "/proc/self/maps"))
		return end;
	while ((line = hdl_lines_next(&lines))) {
		uint64_t from = strtoull(line, &rest, 16),
			 to = strtoull(rest + (*rest == '-'), NULL, 16);

		if (from <= (uintptr_t)at && (uintptr_t)at < to) {
			end = to < (uintptr_t)end ? (char *)(uintptr_t)to : end;
			break;
		}
	}
	hdl_lines_close(&lines);
	return end;
}

/** Tables that have grown are several mappings, and each moves alone. Return: bytes moved. */
static uint64_t move_mappings(char *from, uint64_t bytes, char *to)
{
	uint64_t at = 0;

	while (at < bytes) {
		uint64_t piece = (uint64_t)(mapping_end(from + at, from + bytes) - (from + at));
		long moved = HDL_SYS(SYS_mremap, (long)(from + at), (long)piece, (long)piece,
				     MREMAP_MAYMOVE | MREMAP_FIXED, (long)(to + at));

		if (moved != (long)(to + at))
			break;
		at += piece;
	}
	return at;
}

/**
 * What could not be moved, from @moved on, is copied. A call that failed may have
 * unmapped its target (@ours tells), and by now that may be somebody else's.
 */
static int copy_rest(struct hdl_region *old, struct hdl_region *wider, uint64_t moved, bool *ours,
		     const struct hdl_nodes *nodes, struct hdl_story *story)
{
	uint64_t bytes = old->bytes - moved;
	int error = 0;

	if (wider->rung == HDL_HUGETLB)
		return -ENOMEM; /* remade as a whole */
	if (!*ours)
		error = hdl_map_hole(wider->start + moved, bytes);
	if (error)
		return error;
	*ours = true;
	error = hdl_room(wider, bytes, nodes, story);
	if (!error)
		error = furnish(wider, moved, nodes, story);
	if (!error)
		memcpy(wider->start + moved, old->start + moved, bytes);
	return error;
}

static void unmap_between(char *from, char *to)
{
	if (from < to)
		hdl_munmap(from, (size_t)(to - from));
}

/** The old pages in front of the new ones; where the kernel cannot move them, their bytes. */
static int join(struct hdl_region *old, struct hdl_region *wider, const struct hdl_nodes *nodes,
		struct hdl_story *story)
{
	uint64_t moved = move_mappings(old->start, old->bytes, wider->start);
	bool ours = moved < old->bytes && hdl_is_reserved(wider->start + moved, old->bytes - moved,
							  wider->rung == HDL_HUGETLB);
	int error = 0;

	if (moved < old->bytes)
		error = copy_rest(old, wider, moved, &ours, nodes, story);
	/* Never the holes that pages have left: somebody else may live there by now. */
	if (error) {
		move_mappings(wider->start, moved, old->start);
		unmap_between(wider->map, wider->start);
		if (ours)
			unmap_between(wider->start + moved, wider->start + old->bytes);
		unmap_between(wider->start + old->bytes, wider->map + wider->map_bytes);
		return error;
	}
	unmap_between(old->map, old->start);
	unmap_between(old->start + moved, old->map + old->map_bytes);
	return 0;
}

/** Anew, by the whole ladder: the pool that the old pages came from may be empty. */
static int remake(struct hdl_region *region, uint64_t bytes, struct hd_got *got)
{
	struct hdl_region fresh;
	int error = hdl_region_make(bytes, &region->wish, &fresh, got);

	if (error)
		return error;
	memcpy(fresh.start, region->start, region->bytes);
	hdl_region_release(region);
	*region = fresh;
	return 0;
}

static int grow(struct hdl_region *region, uint64_t bytes, struct hd_got *got)
{
	struct hdl_story story = { 0 };
	struct hdl_region wider;
	struct hdl_nodes nodes;
	int error = hdl_nodes_read(&region->wish, &nodes);

	if (error)
		hdl_story_step(&story, HD_STEP_LIMITS, error);
	else
		error = make_wider(region, bytes, &nodes, &wider, &story);
	if (!error)
		error = join(region, &wider, &nodes, &story);
	if (error && (region->rung == HDL_HUGETLB || error == -EEXIST))
		return remake(region, bytes, got);
	if (error) {
		failed(&story, story.pages_why ? story.pages_why : HD_WHY_UNKNOWN,
		       region->nodes_why, got);
		return error;
	}
	*region = wider;
	finish(region, &story, got);
	return 0;
}

/** The tail becomes a part of the guard behind it, in one call. */
static int shrink(struct hdl_region *region, uint64_t bytes, struct hd_got *got)
{
	char *tail = region->start + bytes;
	size_t len = (size_t)(region->bytes - bytes);
	int error = 0;

	if (region->rung == HDL_HUGETLB) {
		error = hdl_munmap(tail, len);
		if (!error)
			region->map_bytes -= len;
	} else if (hdl_mmap(tail, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			    &error)) {
		error = 0;
	}
	if (error) {
		struct hdl_story story = { .step = HD_STEP_RESERVE, .error = -error };

		failed(&story, HD_WHY_UNKNOWN, region->nodes_why, got);
		return error;
	}
	region->bytes = bytes;
	hdl_region_read(region, got);
	return 0;
}

int hdl_region_resize(struct hdl_region *region, uint64_t bytes, struct hd_got *got)
{
	unsigned shift = region->rung == HDL_HUGETLB ? region->shift : region->base_shift;
	uint64_t least = hdl_round_up(bytes, shift);

	if (least < bytes)
		return -ENOMEM;
	if (least > region->bytes)
		return grow(region, bytes, got);
	if (least < region->bytes)
		return shrink(region, least, got);
	hdl_region_read(region, got);
	return 0;
}

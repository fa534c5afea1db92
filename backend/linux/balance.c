/* SPDX-License-Identifier: MIT */
/*
 * balance.c - pieces from nodes that hold too much to nodes that hold too little
 *
 * A whole huge page moves when the address of its head is moved; but where the
 * other node has no free huge block, the kernel splits it, moves the pieces and
 * reports success. So free blocks are counted before, and the moved ones after.
 */
#include <errno.h>

#include "backend/linux/internal.h"
#include "backend/linux/ledger.h"

enum { MOVE_FLAG = 1 << 1, HUNGRY_NODE = 16 << 20 };

/* ---- shares ------------------------------------------------------------------------- */

static struct hdl_ledger ledger_of(const struct hdl_region *region, struct hdl_books *books)
{
	return (struct hdl_ledger){ .aim = &region->aim,
				    .bytes = region->bytes,
				    .shift = region->shift,
				    .node = books->node };
}

bool hdl_near_balanced(const struct hdl_region *region, struct hdl_books *books)
{
	struct hdl_ledger ledger = ledger_of(region, books);

	return hdl_near_even(&ledger);
}

bool hdl_balanced(const struct hdl_region *region, struct hdl_books *books, uint32_t *worst)
{
	struct hdl_ledger ledger = ledger_of(region, books);

	return hdl_even(&ledger, worst);
}

struct moving {
	uint32_t count, limit; /* pieces gathered, and how many to risk at once */
	char *at[HDL_WINDOW];
	int to[HDL_WINDOW], from[HDL_WINDOW], status[HDL_WINDOW];
	bool full[HDL_NODES_MAX]; /* has refused; it would again */
	bool keep;                /* rather uneven than split */
	bool counted[HDL_NODES_MAX];
	uint64_t blocks[HDL_NODES_MAX]; /* free huge blocks, once counted */
};

static long move_pages(struct moving *moving)
{
	return HDL_SYS(SYS_move_pages, 0, moving->count, (long)moving->at, (long)moving->to,
		       (long)moving->status, MOVE_FLAG);
}

static void refused(struct moving *moving, uint32_t i, int now, uint64_t bytes,
		    struct hdl_books *books, struct hdl_story *story)
{
	/* The books were credited when it was gathered. */
	books->node[moving->to[i]] -= bytes;
	books->node[moving->from[i]] += bytes;
	moving->full[moving->to[i]] = true;
	if (now == -EACCES)
		story->nodes_why = HD_WHY_SHARED;
	hdl_story_step(story, HD_STEP_MOVE, now < 0 ? now : -ENOMEM);
}

/** One call for all that is gathered; the books follow what came true. */
static void move_gathered(struct moving *moving, uint64_t bytes, struct hdl_books *books,
			  struct hdl_story *story)
{
	long error;

	for (uint32_t i = 0; i < moving->count; i++)
		moving->status[i] = -EBUSY;
	error = move_pages(moving);
	for (uint32_t i = 0; i < moving->count; i++) {
		int now = error < 0 ? (int)error : moving->status[i];

		if (now == moving->to[i])
			story->moved++;
		else
			refused(moving, i, now, bytes, books, story);
	}
}

/** Its memory may suffice, but huge pages are preferred to even shares. */
static void no_block(struct moving *moving, uint32_t node, struct hdl_story *story)
{
	moving->full[node] = true;
	if (hdl_room_node(node) > (uint64_t)HUNGRY_NODE) {
		story->nodes_why = HD_WHY_PREFERENCE;
		story->why_node = node;
	}
	hdl_story_step(story, HD_STEP_MOVE, -ENOMEM);
}

/** Every base page of a block to one node. */
static void move_block(const struct hdl_region *region, char *at, uint64_t bytes, int node)
{
	struct moving *back = hdl_malloc(sizeof(*back));
	uint64_t offset = 0;

	while (back && offset < bytes) {
		for (back->count = 0; back->count < HDL_WINDOW && offset < bytes;
		     offset += 1ULL << region->base_shift) {
			back->at[back->count] = at + offset;
			back->to[back->count++] = node;
		}
		move_pages(back);
	}
	hdl_mfree(back);
}

/** Is the block that begins at @at on @node? */
static bool is_on(char *at, int node)
{
	int status = -ENOENT;

	HDL_SYS(SYS_move_pages, 0, 1, (long)&at, 0, (long)&status, 0);
	return status == node;
}

/**
 * A block that a move has split: whole again over there, or back where it was.
 * What was all zero has lost its memory when it was split, see scan.c; then
 * collapsing may succeed on the old node. Return: whether it is whole over there.
 */
static bool rejoin(const struct hdl_region *region, struct hdl_books *books, struct moving *moving,
		   uint32_t i, struct hdl_story *story)
{
	char *at = moving->at[i];
	uint64_t offset = (uint64_t)(at - region->start), bytes = 1ULL << books->shift;
	bool whole = !hdl_collapse_block(at, bytes);

	if (whole && is_on(at, moving->to[i]))
		return true;
	books->node[moving->to[i]] -= bytes;
	books->node[moving->from[i]] += bytes;
	story->moved--;
	if (!whole) {
		hdl_refill(region, offset, bytes);
		move_block(region, at, bytes, moving->from[i]);
		whole = !hdl_collapse_block(at, bytes);
	}
	books->block[offset >> books->shift] = whole ? HDL_BLOCK_HUGE : HDL_BLOCK_BASE;
	if (!whole)
		hdl_story_step(story, HD_STEP_COLLAPSE, -ENOMEM);
	return false;
}

/** Bytes of the region on huge pages now. */
static uint64_t count_huge(const struct hdl_region *region)
{
	struct hdl_books books;

	hdl_books_open(region, &books);
	hdl_books_close(&books);
	return books.huge;
}

/**
 * After huge blocks were moved: those that were split on the way, when large
 * translations are preferred, are made whole and their node is left alone.
 * Before Linux 6.7 only the sum tells that some were split: then all are tried.
 */
static void keep_whole(const struct hdl_region *region, struct hdl_books *books,
		       struct moving *moving, struct hdl_story *story)
{
	uint64_t bytes = 1ULL << books->shift, huge;
	bool some_split = false, refused_one = false;

	if (hdl_scan_huge(moving->at[0], bytes, &huge))
		some_split = count_huge(region) < books->huge;
	for (uint32_t i = 0; i < moving->count; i++) {
		if (moving->status[i] != moving->to[i] ||
		    (hdl_scan_huge(moving->at[i], bytes, &huge) ? !some_split : huge >= bytes))
			continue;
		if (!hdl_mask_has(&region->within, (uint32_t)moving->from[i]) ||
		    rejoin(region, books, moving, i, story))
			continue; /* it had to go, whole or not */
		refused_one = true;
		no_block(moving, (uint32_t)moving->to[i], story);
	}
	if (some_split)
		books->huge = count_huge(region);
	if (!refused_one && moving->limit < HDL_WINDOW / 8)
		moving->limit *= 2;
}

/** Is there a whole block for one more? What cannot be known is tried. */
static bool has_block(struct moving *moving, uint32_t node, unsigned order, uint64_t bytes)
{
	if (!moving->counted[node]) {
		uint64_t room = hdl_room_node(node);

		moving->blocks[node] = hdl_room_blocks(node, order);
		if (room / bytes < moving->blocks[node])
			moving->blocks[node] = room / bytes;
		moving->counted[node] = true;
	}
	return moving->blocks[node] > 0;
}

/** Pieces of the window from *@next on that should move, up to the limit. */
static void gather(const struct hdl_region *region, struct hdl_books *books,
		   const struct hdl_window *window, uint32_t *next, bool surplus,
		   struct moving *moving, struct hdl_story *story)
{
	struct hdl_ledger ledger = ledger_of(region, books);
	uint64_t bytes = 1ULL << window->piece_shift;

	moving->count = 0;
	for (; *next < window->count && moving->count < moving->limit; ++*next) {
		uint32_t from = (uint32_t)window->node[*next], to;

		if (window->node[*next] < 0 || from >= HDL_NODES_MAX)
			continue;
		/* From where it may not stay it goes to any node that lacks some. */
		ledger.full = hdl_mask_has(&region->within, from) ? moving->full : NULL;
		to = hdl_destination(&ledger, from,
				     (uint64_t)(window->at[*next] - region->start) >> region->shift,
				     bytes, surplus);
		if (to == HDL_NODES_MAX)
			continue;
		if (hdl_mask_has(&region->within, from)) {
			if (moving->keep && bytes > 1ULL << region->base_shift) {
				if (!has_block(moving, to, window->piece_shift - region->base_shift,
					       bytes)) {
					no_block(moving, to, story);
					continue;
				}
				moving->blocks[to]--;
			}
		}
		moving->at[moving->count] = window->at[*next];
		moving->from[moving->count] = (int)from;
		moving->to[moving->count++] = (int)to;
		books->node[from] -= bytes;
		books->node[to] += bytes;
	}
}

/** One walk over the region. Return: whether anything was to be moved. */
static bool walk(const struct hdl_region *region, struct hdl_books *books, bool surplus,
		 struct hdl_window *window, struct moving *moving, struct hdl_story *story)
{
	uint64_t offset = 0;
	bool tried = false;

	while (hdl_window_next(region, books, &offset, window)) {
		bool huge = window->piece_shift > region->base_shift;

		for (uint32_t next = 0; next < window->count;) {
			gather(region, books, window, &next, surplus, moving, story);
			if (!moving->count)
				break;
			tried = true;
			move_gathered(moving, 1ULL << window->piece_shift, books, story);
			if (huge && moving->keep)
				keep_whole(region, books, moving, story);
		}
	}
	return tried;
}

bool hdl_balance(const struct hdl_region *region, struct hdl_books *books, struct hdl_story *story)
{
	bool keep =
	    region->rung == HDL_THP && region->huge && region->wish.prefer == HD_PREFER_LARGE;
	struct moving *moving = hdl_malloc(sizeof(*moving));
	struct hdl_window *window = hdl_malloc(sizeof(*window));
	bool tried = false;
	uint32_t worst;

	if (!moving || !window || !books->block) {
		/* Without the blocks' states huge ones would be moved piece by piece. */
		hdl_story_step(story, HD_STEP_MOVE, -ENOMEM);
	} else {
		moving->limit = keep ? 1 : HDL_WINDOW;
		moving->keep = keep;
		tried = walk(region, books, true, window, moving, story);
		if (!hdl_balanced(region, books, &worst))
			tried |= walk(region, books, false, window, moving, story);
	}
	hdl_mfree(window);
	hdl_mfree(moving);
	return tried;
}

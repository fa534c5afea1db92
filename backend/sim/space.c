/* SPDX-License-Identifier: MIT */
/*
 * space.c - a set of free address ranges
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sim/space.h"

void space_fini(struct space *space)
{
	free(space->range);
	*space = (struct space){ 0 };
}

static int make_room(struct space *space, size_t ranges)
{
	size_t room = space->room ? 2 * space->room : 8;
	struct space_range *more;

	if (ranges <= space->room)
		return 0;
	if (room < ranges)
		room = ranges;
	more = realloc(space->range, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	space->range = more;
	space->room = room;
	return 0;
}

static int insert(struct space *space, size_t at, struct space_range range)
{
	if (make_room(space, space->count + 1))
		return -ENOMEM;
	memmove(&space->range[at + 1], &space->range[at],
		(space->count - at) * sizeof(*space->range));
	space->range[at] = range;
	space->count++;
	return 0;
}

static void drop(struct space *space, size_t at)
{
	space->count--;
	memmove(&space->range[at], &space->range[at + 1],
		(space->count - at) * sizeof(*space->range));
}

/** First range that ends behind @address; count when there is none. */
static size_t behind(const struct space *space, uint64_t address)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (space->range[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

int space_add(struct space *space, uint64_t start, uint64_t end)
{
	size_t at = behind(space, start);
	bool joins_left, joins_right;
	int error = 0;

	if (start >= end)
		return 0;
	if (at < space->count && space->range[at].start < end)
		return -EEXIST;
	joins_left = at > 0 && space->range[at - 1].end == start;
	joins_right = at < space->count && space->range[at].start == end;
	if (joins_left && joins_right) {
		space->range[at - 1].end = space->range[at].end;
		drop(space, at);
	} else if (joins_left) {
		space->range[at - 1].end = end;
	} else if (joins_right) {
		space->range[at].start = start;
	} else {
		error = insert(space, at, (struct space_range){ start, end });
	}
	if (error)
		return error;
	space->bytes += end - start;
	if (space->taken)
		space->taken--;
	return 0;
}

int space_take(struct space *space, uint64_t start, uint64_t end)
{
	size_t at = behind(space, start);
	struct space_range *range;

	if (start >= end)
		return 0;
	if (at == space->count || space->range[at].start > start || space->range[at].end < end)
		return -ENOENT;
	/* One range may become two, and giving this piece back must not need memory. */
	if (make_room(space, space->count + space->taken + 2))
		return -ENOMEM;
	range = &space->range[at];
	if (range->start == start && range->end == end) {
		drop(space, at);
	} else if (range->start == start) {
		range->start = end;
	} else if (range->end == end) {
		range->end = start;
	} else {
		(void)insert(space, at + 1, (struct space_range){ end, range->end });
		range->end = start;
	}
	space->bytes -= end - start;
	space->taken++;
	return 0;
}

static bool fits_bottom(const struct space_range *range, uint64_t bytes, uint64_t align,
			uint64_t *start)
{
	uint64_t at = (range->start + align - 1) & ~(align - 1);

	if (at < range->start || at >= range->end || range->end - at < bytes)
		return false;
	*start = at;
	return true;
}

static bool fits_top(const struct space_range *range, uint64_t bytes, uint64_t align,
		     uint64_t *start)
{
	uint64_t at;

	if (range->end - range->start < bytes)
		return false;
	at = (range->end - bytes) & ~(align - 1);
	if (at < range->start)
		return false;
	*start = at;
	return true;
}

bool space_find(const struct space *space, uint64_t bytes, uint64_t align, bool top_down,
		uint64_t *start)
{
	if (!bytes || bytes > space->bytes)
		return false;
	for (size_t i = 0; i < space->count; i++) {
		size_t at = top_down ? space->count - 1 - i : i;

		if (top_down ? fits_top(&space->range[at], bytes, align, start)
			     : fits_bottom(&space->range[at], bytes, align, start))
			return true;
	}
	return false;
}

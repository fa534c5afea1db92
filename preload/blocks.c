/* SPDX-License-Identifier: MIT */
/*
 * blocks.c - bring the filled blocks of a mapping onto huge pages
 *
 * A block is one huge page's worth of addresses. It is collapsed when at least
 * half of its pages are there and hardly any is shared (probe.c). The kernel keeps what the
 * program said: advice against huge pages, or on a locked-down mapping, makes a
 * collapse fail, and the rest of that stretch is left alone.
 *
 * Collapse gathers a block on one node whatever the policy, so on several nodes
 * its head is moved to the node that its address says, if that has free huge pages,
 * and looked at again: others may have taken them, and the move have split it.
 *
 * Work is followed by pauses of four times its length.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/linux/facts.h"
#include "backend/linux/scan.h"
#include "backend/linux/sys.h"
#include "core/bits.h"
#include "preload/blocks.h"
#include "preload/preload.h"
#include "preload/probe.h"
#include "preload/uneven.h"

enum {
	AGAIN = 3,              /* times a block is tried that the program is writing to */
	STUBBORN = 8,           /* blocks without a free huge page that end a round */
	REFUSALS = 2,           /* of one stretch, until it is left alone */
	PAUSE_TIMES = 4,        /* of the time worked */
	PAUSE_FROM_NS = 500000, /* shorter work is added up first */
	WINDOW = 8192,          /* blocks whose pages are counted at once */
	BLIND_BLOCKS = 65536,   /* of one stretch, where each must be looked at by itself */
	ROUNDS_DONE = 32,       /* until blocks are tried again that did not change */
	RESERVE = 2, /* free huge pages that stay: below its watermarks a node gives none */
	MOVE_FLAG = 1 << 1,
	POLICY_OF_ADDRESS = 1 << 1,
};

static uint16_t filled[WINDOW]; /* base pages in each block */
/*
 * Blocks, by hash, that need no second try for a while: those for which the kernel
 * claimed success and did nothing, as they lie across two mappings; and all that
 * were tried where the books do not show what is huge.
 */
static uint64_t done[1 << 10];
static uint32_t rounds;

void blocks_open(struct blocks *blocks, unsigned huge_shift, bool (*stop)(void))
{
	long page = sysconf(_SC_PAGESIZE);

	*blocks = (struct blocks){ .huge_shift = huge_shift, .stop = stop };
	blocks->page_shift = log2_floor(page > 0 ? (uint64_t)page : 4096);
	blocks->pagemap =
	    (int)HDL_SYS(SYS_openat, AT_FDCWD, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	blocks->can_collapse = !hdl_madvise(NULL, 0, MADV_COLLAPSE);
	blocks->can_scan =
	    blocks->pagemap >= 0 &&
	    !hdl_scan_file(blocks->pagemap, 0, 1ULL << blocks->page_shift, NULL, NULL);
}

void blocks_begin(struct blocks *blocks)
{
	blocks->collapsed = blocks->refused = blocks->lacking = blocks->failed = 0;
	blocks->error = 0;
	if (++rounds % ROUNDS_DONE == 0)
		memset(done, 0, sizeof(done));
}

bool blocks_exhausted(const struct blocks *blocks)
{
	return blocks->failed >= STUBBORN;
}

/* ---- pace ---------------------------------------------------------------------------- */

/** Processor time, not the clock: on a busy machine waiting is no work. */
static uint64_t worked_ns(void)
{
	struct timespec now = { 0 };

	HDL_SYS(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/** Work began at @since; rest in proportion. */
static void rest(struct blocks *blocks, uint64_t since)
{
	struct timespec pause;

	blocks->worked_ns += worked_ns() - since;
	if (blocks->worked_ns < PAUSE_FROM_NS)
		return;
	blocks->worked_ns *= PAUSE_TIMES;
	pause.tv_sec = (time_t)(blocks->worked_ns / 1000000000);
	pause.tv_nsec = (long)(blocks->worked_ns % 1000000000);
	HDL_SYS(SYS_nanosleep, (long)&pause, 0);
	blocks->worked_ns = 0;
}

/* ---- one block --------------------------------------------------------------------------- */

static int collapse(const struct blocks *blocks, uint64_t at)
{
	int error = -EAGAIN;

	for (int tries = 0; tries < AGAIN && error == -EAGAIN; tries++)
		error =
		    hdl_madvise((void *)(uintptr_t)at, 1ULL << blocks->huge_shift, MADV_COLLAPSE);
	return error;
}

static bool is_huge(const struct blocks *blocks, uint64_t at)
{
	uint64_t huge;

	return hdl_scan_huge((char *)(uintptr_t)at, 1ULL << blocks->huge_shift, &huge) ||
	       huge == 1ULL << blocks->huge_shift; /* unknown: believed */
}

/** Where the other node has no free huge page, a move splits the block; 6.7 is the first to tell. */
static void settle(const struct blocks *blocks, uint64_t at)
{
	struct hdl_shares shares;
	int to, now = -1;

	hdl_shares_even(&shares, &preload_options.nodes, preload_options.weighted);
	to = (int)hdl_shares_node(&shares, at >> blocks->huge_shift);
	if (hdl_room_blocks((uint32_t)to, blocks->huge_shift - blocks->page_shift) <= RESERVE)
		return;
	HDL_SYS(SYS_move_pages, 0, 1, (long)&at, (long)&to, (long)&now, MOVE_FLAG);
	if (!is_huge(blocks, at))
		collapse(blocks, at);
}

/** Return: is it not worth a second try? */
static bool mend_block(struct blocks *blocks, uint64_t at, bool spread)
{
	int error = collapse(blocks, at);

	if (!error && !is_huge(blocks, at))
		return true;
	if (!error) {
		blocks->collapsed++;
		blocks->failed = 0;
		if (spread)
			settle(blocks, at);
		return !blocks->can_scan;
	}
	blocks->error = error;
	if (error == -ENOMEM) {
		blocks->failed++;
		blocks->lacking++;
	} else if (error != -EAGAIN) {
		blocks->refused++;
	}
	return false;
}

/* ---- one stretch --------------------------------------------------------------------------- */

struct window {
	const struct blocks *blocks;
	uint64_t start;
	uint64_t filled_pages, huge_pages;
};

static void count_filled(void *ctx, uint64_t start, uint64_t end, bool huge)
{
	struct window *window = ctx;
	unsigned shift = window->blocks->huge_shift, page = window->blocks->page_shift;

	window->filled_pages += huge ? 0 : (end - start) >> page;
	window->huge_pages += huge ? (end - start) >> page : 0;
	while (!huge && start < end) {
		uint64_t stop = ((start >> shift) + 1) << shift;

		stop = stop < end ? stop : end;
		filled[(start - window->start) >> shift] += (uint16_t)((stop - start) >> page);
		start = stop;
	}
}

bool blocks_placed_by_others(uint64_t start)
{
	int mode = HDL_MPOL_DEFAULT;

	if (HDL_SYS(SYS_get_mempolicy, (long)&mode, 0, 0, (long)start, POLICY_OF_ADDRESS))
		return true;
	mode &= ~HDL_MPOL_FLAGS;
	return mode != HDL_MPOL_DEFAULT && mode != HDL_MPOL_INTERLEAVE && mode != HDL_MPOL_WEIGHTED;
}

static uint64_t *done_bit(const struct blocks *blocks, uint64_t at, uint64_t *bit)
{
	uint64_t hash = (at >> blocks->huge_shift) * 0x9e3779b97f4a7c15ULL >> 48;

	*bit = 1ULL << hash % 64;
	return &done[hash / 64];
}

/** One window of a stretch. Return: false when the rest of the stretch is to be left alone. */
static bool mend_window(struct blocks *blocks, struct window *window, uint64_t count, bool spread)
{
	uint64_t pages = 1ULL << (blocks->huge_shift - blocks->page_shift), bit;
	uint32_t refused_before = blocks->refused;

	for (uint64_t b = 0; b < count && !blocks_exhausted(blocks); b++) {
		uint64_t at = window->start + (b << blocks->huge_shift), since;
		uint64_t *seen = done_bit(blocks, at, &bit);

		if (*seen & bit || (blocks->can_scan && filled[b] * 2ULL < pages))
			continue;
		if (blocks->stop())
			return false;
		since = worked_ns();
		if (probe_worth_it(blocks, at)) {
			*seen |= mend_block(blocks, at, spread) ? bit : 0;
		}
		if (blocks->refused - refused_before >= REFUSALS)
			return false;
		rest(blocks, since);
	}
	return !blocks_exhausted(blocks);
}

static bool read_window(const struct blocks *blocks, struct window *window, uint64_t count)
{
	if (!blocks->can_scan)
		return true;
	memset(filled, 0, count * sizeof(filled[0]));
	return !hdl_scan_file(blocks->pagemap, window->start, count << blocks->huge_shift,
			      count_filled, window);
}

/** What the stretch grows by later should be huge from the first touch on. */
static void advise_stretch(uint64_t start, uint64_t end, const struct window *window,
			   unsigned page_shift)
{
	uint64_t there = (window->filled_pages + window->huge_pages) << page_shift;

	if (there * 2 >= end - start && !preload_program_refuses)
		hdl_madvise((void *)(uintptr_t)start, end - start, MADV_HUGEPAGE);
}

void blocks_mend(struct blocks *blocks, uint64_t start, uint64_t bytes)
{
	uint64_t unit = 1ULL << blocks->huge_shift, end = (start + bytes) & ~(unit - 1);
	uint64_t first = (start + unit - 1) & ~(unit - 1), at = first;
	struct window window = { .blocks = blocks };
	uint32_t before = blocks->collapsed, refused = blocks->refused, lacking = blocks->lacking;
	bool spread = hdl_mask_count(&preload_options.nodes) > 1 && !blocks_placed_by_others(start);

	if (at >= end || (!blocks->can_scan && (end - at) >> blocks->huge_shift > BLIND_BLOCKS))
		return;
	if (spread)
		preload_spread(first, end - first);
	while (at < end && !blocks_exhausted(blocks)) {
		uint64_t count = (end - at) >> blocks->huge_shift, since = worked_ns();

		window.start = at;
		count = count < WINDOW ? count : WINDOW;
		if (!read_window(blocks, &window, count))
			return;
		rest(blocks, since);
		if (!mend_window(blocks, &window, count, spread))
			break;
		at += count << blocks->huge_shift;
	}
	if (blocks->refused != refused)
		preload_explain(start, bytes, "scan", blocks->refused - refused, "blocks",
				blocks->error);
	if (blocks->lacking != lacking)
		preload_explain(start, bytes, "scan", blocks->lacking - lacking,
				"blocks, no free huge page", -ENOMEM);
	if (spread)
		uneven_explain(first, end, blocks);
	if (blocks->collapsed == before)
		return;
	preload_explain(start, bytes, "scan", blocks->collapsed - before, "blocks onto huge pages",
			0);
	advise_stretch(first, end, &window, blocks->page_shift);
}

/* SPDX-License-Identifier: MIT */
/*
 * books.c - what the kernel's own books say of a region
 *
 *   which blocks are huge   PAGEMAP_SCAN (Linux 6.7), exact and fast; before it
 *                           smaps, which tells how many but not which
 *   on which node           move_pages as a question, a head address per huge
 *                           block; where it answers "fault" (pages that NUMA
 *                           balancing has hidden) or is forbidden, numa_maps
 *
 * The region lies between guard pages, so that no mapping merges with it and
 * the lines of smaps and numa_maps that begin in it are all of it.
 * numa_maps counts a huge block as base pages; for hugetlb it counts huge ones.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/linux/internal.h"

struct marking {
	const struct hdl_region *region;
	struct hdl_books *books;
};

/** A region that was laid out for smaller pages may have huge ones that begin elsewhere. */
static bool blocks_are_pages(const struct hdl_region *region, const struct hdl_books *books)
{
	return !((uintptr_t)region->start & ((1ULL << books->shift) - 1));
}

static void mark_run(void *ctx, uint64_t start, uint64_t end, bool huge)
{
	struct marking *marking = ctx;
	struct hdl_books *books = marking->books;
	uint64_t base = (uintptr_t)marking->region->start;

	books->populated += end - start;
	if (!huge)
		return;
	books->huge += end - start;
	if (books->block && blocks_are_pages(marking->region, books))
		for (uint64_t b = (start - base) >> books->shift; b < (end - base) >> books->shift;
		     b++)
			if (b < books->blocks)
				books->block[b] = HDL_BLOCK_HUGE;
}

/** "START-END ..." or "START policy ...": does the mapping begin in the region? */
static bool line_begins_in(const char *line, const struct hdl_region *region)
{
	char *end;
	unsigned long long at = strtoull(line, &end, 16);

	return end > line && (*end == '-' || *end == ' ') && at >= (uintptr_t)region->start &&
	       at < (uintptr_t)region->start + region->bytes;
}

/** Sums of smaps over the region's mappings; each block's state is told only if all agree. */
static int read_smaps(const struct hdl_region *region, struct hdl_books *books)
{
	struct hdl_lines lines;
	const char *line;
	bool ours = false;
	uint64_t kib;
	int error = hdl_lines_open(&lines, "/proc/self/smaps");

	if (error)
		return error;
	while ((line = hdl_lines_next(&lines))) {
		if (strchr("0123456789abcdef", line[0]))
			ours = line_begins_in(line, region);
		else if (ours &&
			 (!strncmp(line, "Rss:", 4) || !strncmp(line, "Private_Hugetlb:", 16) ||
			  !strncmp(line, "Shared_Hugetlb:", 15)) &&
			 hdl_field(line, ":", &kib))
			books->populated += kib << 10;
		else if (ours && !strncmp(line, "AnonHugePages:", 14) && hdl_field(line, ":", &kib))
			books->huge += kib << 10;
	}
	hdl_lines_close(&lines);
	if (lines.error) {
		books->populated = books->huge = 0;
		return lines.error;
	}
	if (region->rung == HDL_HUGETLB)
		books->huge = books->populated;
	if (!blocks_are_pages(region, books))
		return 0;
	if (books->block && books->huge >= books->blocks << books->shift)
		memset(books->block, HDL_BLOCK_HUGE, books->blocks);
	else if (books->block && books->huge)
		memset(books->block, HDL_BLOCK_UNKNOWN, books->blocks);
	return 0;
}

static void forget(struct hdl_books *books)
{
	books->populated = books->huge = 0;
	if (books->block)
		memset(books->block, HDL_BLOCK_BASE, books->blocks);
}

/** A page that the kernel is moving just now (compaction) is missing in the scan, not in smaps. */
static void count_moving(const struct hdl_region *region, struct hdl_books *books)
{
	struct hdl_books sums = { .shift = books->shift };

	if (read_smaps(region, &sums))
		return;
	if (sums.populated > books->populated)
		books->populated = sums.populated;
	if (sums.huge > books->huge)
		books->huge = sums.huge;
}

void hdl_books_open(const struct hdl_region *region, struct hdl_books *out)
{
	struct marking marking = { .region = region, .books = out };
	int error;

	*out = (struct hdl_books){ .shift = region->huge ? region->shift : region->base_shift + 9 };
	/* Where it could not be aligned, blocks of addresses are none of the region's. */
	if (((uintptr_t)region->start & ((1ULL << out->shift) - 1)) == 0)
		out->blocks = region->bytes >> out->shift;
	out->block = hdl_malloc(out->blocks + 1);
	if (!out->block)
		out->error = -ENOMEM;
	forget(out);
	error = hdl_scan(0, (uintptr_t)region->start, region->bytes, mark_run, &marking);
	if (error) {
		forget(out);
		error = read_smaps(region, out);
	} else if (out->populated < region->bytes) {
		count_moving(region, out);
	}
	out->known = !error;
	if (error && !out->error)
		out->error = error;
}

void hdl_books_close(struct hdl_books *books)
{
	hdl_mfree(books->block);
	books->block = NULL;
}

bool hdl_window_next(const struct hdl_region *region, const struct hdl_books *books,
		     uint64_t *offset, struct hdl_window *window)
{
	uint64_t at = *offset;
	bool huge = false;
	long error;

	window->count = 0;
	while (at < region->bytes && window->count < HDL_WINDOW) {
		uint64_t block = at >> books->shift;
		bool this_huge =
		    books->block && block < books->blocks && books->block[block] == HDL_BLOCK_HUGE;

		if (!window->count)
			huge = this_huge;
		else if (this_huge != huge)
			break;
		window->at[window->count] = region->start + at;
		window->node[window->count++] = -ENOENT;
		at += 1ULL << (huge ? books->shift : region->base_shift);
	}
	*offset = at;
	window->piece_shift = huge ? books->shift : region->base_shift;
	if (!window->count)
		return false;
	error =
	    HDL_SYS(SYS_move_pages, 0, window->count, (long)window->at, 0, (long)window->node, 0);
	for (uint32_t i = 0; error < 0 && i < window->count; i++)
		window->node[i] = (int)error;
	return true;
}

/** Node bytes out of " N0=12 N1=3 kernelpagesize_kB=4". */
static void add_numa_line(const char *line, unsigned base_shift, struct hdl_books *books)
{
	uint64_t page = 1ULL << base_shift, kib;

	if (hdl_field(line, "kernelpagesize_kB=", &kib))
		page = kib << 10;
	for (const char *at = line; (at = strstr(at, " N"));) {
		uint64_t node, pages;

		at += 2;
		if (!hdl_number(&at, &node) || *at != '=')
			continue;
		at++;
		if (hdl_number(&at, &pages) && node < HDL_NODES_MAX)
			books->node[node] += pages * page;
	}
}

static int read_numa_maps(const struct hdl_region *region, struct hdl_books *books)
{
	struct hdl_lines lines;
	const char *line;
	int error = hdl_lines_open(&lines, "/proc/self/numa_maps");

	if (error)
		return error;
	while ((line = hdl_lines_next(&lines)))
		if (line_begins_in(line, region))
			add_numa_line(line, region->base_shift, books);
	hdl_lines_close(&lines);
	if (lines.error)
		memset(books->node, 0, sizeof(books->node));
	return lines.error;
}

/** Ask piece by piece. Return: false when some piece's answer is no answer. */
static bool ask_nodes(const struct hdl_region *region, struct hdl_books *books)
{
	struct hdl_window window;
	uint64_t offset = 0;

	while (hdl_window_next(region, books, &offset, &window))
		for (uint32_t i = 0; i < window.count; i++) {
			if (window.node[i] >= 0 && window.node[i] < HDL_NODES_MAX)
				books->node[window.node[i]] += 1ULL << window.piece_shift;
			else if (window.node[i] != -ENOENT)
				return false;
		}
	return true;
}

void hdl_books_nodes(const struct hdl_region *region, struct hdl_books *books)
{
	uint64_t sum = 0;
	int error;

	memset(books->node, 0, sizeof(books->node));
	books->node_unknown = 0;
	if (region->sole_node != HDL_NODES_MAX) {
		books->node[region->sole_node] = books->populated;
		return;
	}
	if (!ask_nodes(region, books)) {
		memset(books->node, 0, sizeof(books->node));
		error = read_numa_maps(region, books);
		if (error && !books->error)
			books->error = error;
	}
	for (uint32_t node = 0; node < HDL_NODES_MAX; node++)
		sum += books->node[node];
	if (books->known && books->populated > sum)
		books->node_unknown = books->populated - sum;
}

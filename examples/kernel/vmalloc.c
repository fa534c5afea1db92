/* SPDX-License-Identifier: MIT */
/*
 * vmalloc.c - memory in one piece of virtual addresses, from pieces that lie anywhere
 *
 * Which pieces is deal.c's; here they get translations, of 4 KiB or 2 MiB. If one cannot be had
 * all go back, and huge pages are tried again as small ones. Addresses are never used twice: what
 * a page table held before does not matter then.
 */
#include "kernel.h"

static uint64_t next = VMALLOC_BASE;

/** A piece of virtual addresses, and how much of it is there. */
struct area {
	uint64_t start, end;
	unsigned shift;
};

/** Puts 2^@order pages at the end of an area. */
static bool put(void *ctx, uint64_t address, unsigned order)
{
	struct area *area = ctx;
	uint64_t end = area->end;

	for (uint64_t at = 0; at < PAGE << order; at += 1UL << area->shift) {
		if (!map(end + at, address + at, area->shift)) {
			while (at) /* the caller frees the block */
				unmap(end + (at -= 1UL << area->shift));
			return false;
		}
	}
	area->end += PAGE << order;
	return true;
}

/** A chunk was taken whole and goes back page by page, which joins them again. */
static void release(struct area *area)
{
	uint64_t address;
	unsigned shift;

	for (uint64_t virt = area->start; virt < area->end; virt += 1UL << area->shift) {
		if (!walk(virt, &address, &shift))
			panic("a page of ours is not mapped");
		unmap(virt);
		pages_free(address, shift - PAGE_SHIFT);
	}
}

void *vmalloc(uint64_t bytes, unsigned *shift)
{
	for (;;) {
		uint64_t units = ((bytes - 1) >> *shift) + 1;
		struct area area = { .shift = *shift };

		area.start = area.end = round_up(next, 1UL << *shift);
		next = area.start + (units << *shift) + PAGE; /* a page that faults, behind it */
		if (deal(units, *shift, put, &area))
			return (void *)area.start;
		release(&area);
		if (*shift == PAGE_SHIFT)
			return NULL;
		*shift = PAGE_SHIFT;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * pages.c - the page allocator: free blocks of 2^order pages, by node and order
 *
 * A block that is asked for is split off a larger one; one that comes back joins its other half if
 * that is free. Only the struct page of a block's first page means anything, and none is touched
 * before its block is split: a large machine starts as fast as a small one. Where a block of the
 * largest order is not all free at the beginning, its struct pages are cleared instead.
 */
#include "kernel.h"

_Static_assert(sizeof(struct page) == 64, "one cache line, and what sizing counts on");

enum { TOP_SHIFT = PAGE_SHIFT + TOP_ORDER };

static struct page *lists[NODES_MAX][TOP_ORDER + 1];
static bool ready;

static struct page *page_at(uint64_t address)
{
	return (struct page *)MEMMAP_BASE + (address >> PAGE_SHIFT);
}

static uint64_t address_of(const struct page *page)
{
	return (uint64_t)(page - (struct page *)MEMMAP_BASE) << PAGE_SHIFT;
}

static void push(uint64_t address, unsigned order, int node)
{
	struct page *page = page_at(address), **list = &lists[node][order];

	*page = (struct page){ .next = *list, .node = node, .order = (uint8_t)order, .free = true };
	if (*list)
		(*list)->prev = page;
	*list = page;
}

static void pull(struct page *page)
{
	if (page->prev)
		page->prev->next = page->next;
	else
		lists[page->node][page->order] = page->next;
	if (page->next)
		page->next->prev = page->prev;
	page->free = false;
}

void memmap_init(void)
{
	for (unsigned i = 0; i < ram.count; i++) {
		uint64_t section = ram.at[i].start >> SECTION_SHIFT, found;
		unsigned shift;

		for (; section <= (ram.at[i].end - 1) >> SECTION_SHIFT; section++) {
			uint64_t virt = MEMMAP_BASE + (section << HUGE_SHIFT);
			uint64_t at;

			if (walk(virt, &found, &shift))
				continue;
			at = boot_alloc(HUGE, HUGE, ram.at[i].node);
			if (!at)
				at = boot_alloc(HUGE, HUGE, ANY_NODE);
			if (!at || !map(virt, at, HUGE_SHIFT))
				panic("no memory for struct pages");
		}
	}
}

/** Struct pages of the largest block around @address. */
static void clear_around(uint64_t address)
{
	uint64_t first = round_down(address, 1UL << TOP_SHIFT);

	if (address != first)
		memset(page_at(first), 0, sizeof(struct page) << TOP_ORDER);
}

void pages_init(void)
{
	const struct ranges *left = boot_free();

	for (unsigned i = 0; i < left->count; i++) {
		clear_around(left->at[i].start);
		clear_around(left->at[i].end);
	}
	for (unsigned i = 0; i < left->count; i++) {
		uint64_t at = round_up(left->at[i].start, PAGE);
		uint64_t end = round_down(left->at[i].end, PAGE);

		while (at < end) {
			unsigned order = TOP_ORDER;

			while (at & ((PAGE << order) - 1) || at + (PAGE << order) > end)
				order--;
			push(at, order, left->at[i].node);
			at += PAGE << order;
		}
	}
	ready = true;
}

bool pages_ready(void)
{
	return ready;
}

static uint64_t alloc_on(int node, unsigned order)
{
	unsigned from = order;
	struct page *page;
	uint64_t address;

	while (from <= TOP_ORDER && !lists[node][from])
		from++;
	if (from > TOP_ORDER)
		return 0;
	page = lists[node][from];
	pull(page);
	address = address_of(page);
	while (from-- > order)
		push(address + (PAGE << from), from, node);
	memset(page, 0, sizeof(struct page) << order); /* it may come back in parts */
	return address;
}

uint64_t pages_alloc(int node, unsigned order)
{
	uint64_t address = 0;

	for (int i = 0; i < NODES_MAX && !address && order <= TOP_ORDER; i++)
		address = alloc_on((node + i) % NODES_MAX, order);
	return address;
}

void pages_free(uint64_t address, unsigned order)
{
	int node = node_of(address);

	for (; order < TOP_ORDER; order++) {
		struct page *half = page_at(address ^ (PAGE << order));

		if (!half->free || half->order != order || half->node != node)
			break;
		pull(half);
		address &= ~(PAGE << order);
	}
	push(address, order, node);
}

void pages_trim(uint64_t address, unsigned order, uint64_t pages)
{
	for (; pages < 1UL << order; pages++)
		pages_free(address + (pages << PAGE_SHIFT), 0);
}

/* SPDX-License-Identifier: MIT */
/*
 * paging.c - page tables: the linear map, single translations, and a walk that reads them back
 *
 * Four levels, of 512 entries each; an entry of the middle two is either a table or a translation
 * of 2 MiB or 1 GiB. The walk is the only source of what the kernel says about where a table is.
 *
 * The linear map has 1 GiB translations where the processor knows them and all of the GiB is RAM,
 * 2 MiB elsewhere. A ragged end is rounded outwards: on a PC firmware's own RAM lies there. A
 * kernel for machines with devices there maps ragged ends by 4 KiB, as Linux does.
 */
#include "kernel.h"

enum {
	PRESENT = 1,
	WRITE = 2,
	LARGE = 0x80, /* in the middle two levels */
	TOP_SHIFT = 39,
	LEVEL_BITS = 9,
};

#define NO_EXECUTE (1UL << 63)
#define ADDRESS    0x000ffffffffff000UL

extern char kernel_end[]; /* kernel.ld */

static uint64_t root;

static uint64_t *slot(uint64_t table, uint64_t virt, unsigned shift)
{
	return (uint64_t *)linear(table) + (virt >> shift & ((1 << LEVEL_BITS) - 1));
}

/** An empty table. Return: its address, 0 when there is no memory. */
static uint64_t new_table(void)
{
	uint64_t table = pages_ready() ? pages_alloc(0, 0) : boot_alloc(PAGE, PAGE, ANY_NODE);

	if (table)
		memset(linear(table), 0, PAGE);
	return table;
}

bool map(uint64_t virt, uint64_t address, unsigned shift)
{
	uint64_t table = root, *entry;
	unsigned level = TOP_SHIFT;

	for (;; level -= LEVEL_BITS) {
		entry = slot(table, virt, level);
		if (level == shift)
			break;
		if (!(*entry & PRESENT)) {
			uint64_t below = new_table();

			if (!below)
				return false;
			*entry = below | PRESENT | WRITE;
		}
		if (*entry & LARGE)
			panic("mapped twice");
		table = *entry & ADDRESS;
	}
	if (*entry & PRESENT)
		panic("mapped twice");
	*entry = address | PRESENT | WRITE | (shift > PAGE_SHIFT ? LARGE : 0) |
		 (virt < KERNEL_BASE ? NO_EXECUTE : 0);
	return true;
}

/** The entry that translates @virt, and log2 of its bytes; NULL where there is none. */
static uint64_t *find(uint64_t virt, unsigned *shift)
{
	uint64_t table = root;

	for (*shift = TOP_SHIFT;; *shift -= LEVEL_BITS) {
		uint64_t *entry = slot(table, virt, *shift);

		if (!(*entry & PRESENT))
			return NULL;
		if (*shift == PAGE_SHIFT || *entry & LARGE)
			return entry;
		table = *entry & ADDRESS;
	}
}

bool walk(uint64_t virt, uint64_t *address, unsigned *shift)
{
	const uint64_t *entry = find(virt, shift);

	if (!entry)
		return false;
	*address = round_down(*entry & ADDRESS, 1UL << *shift) | (virt & ((1UL << *shift) - 1));
	return true;
}

void unmap(uint64_t virt)
{
	unsigned shift;
	uint64_t *entry = find(virt, &shift);

	if (entry)
		*entry = 0;
	__asm__ volatile("invlpg (%0)" : : "r"(virt) : "memory");
}

static bool has_giant_pages(void)
{
	uint32_t a = 0x80000001, b, c, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return d >> 26 & 1;
}

static void map_linear(const struct range *range, bool giant)
{
	uint64_t at = round_down(range->start, HUGE), found;
	unsigned shift;

	while (at < round_up(range->end, HUGE)) {
		shift = HUGE_SHIFT;
		if (giant && !(at & (GIANT - 1)) && at >= range->start && at + GIANT <= range->end)
			shift = GIANT_SHIFT;
		/* The range before may have been rounded up to here. */
		if (!walk(LINEAR_BASE + at, &found, &(unsigned){ 0 }) &&
		    !map(LINEAR_BASE + at, at, shift))
			panic("no memory for the linear map");
		at += 1UL << shift;
	}
}

void paging_init(void)
{
	bool giant = has_giant_pages();

	/* boot.S has mapped that much, so only there can a new table be written. */
	boot_limit(4 * GIANT);
	root = new_table();
	if (!root)
		panic("no memory for page tables");
	for (unsigned i = 0; i < ram.count; i++)
		map_linear(&ram.at[i], giant);
	for (uint64_t virt = KERNEL_BASE; virt < (uint64_t)kernel_end; virt += HUGE)
		if (!map(virt, virt - KERNEL_BASE, HUGE_SHIFT))
			panic("no memory for the kernel's own map");
	__asm__ volatile("mov %0, %%cr3" : : "r"(root) : "memory");
	boot_limit(UINT64_MAX);
}

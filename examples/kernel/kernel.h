/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - what the files of the example kernel know of each other
 *
 * One section per file, in the order of a boot. Addresses are physical unless a name or a pointer
 * says otherwise; sizes are bytes.
 */
#ifndef EXAMPLE_KERNEL_H
#define EXAMPLE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hashdist/core.h"

enum {
	PAGE_SHIFT = 12,
	HUGE_SHIFT = 21,    /* a translation of the second level */
	GIANT_SHIFT = 30,   /* of the third */
	SECTION_SHIFT = 27, /* memory whose struct pages fill one huge page */
	TOP_ORDER = 10,     /* largest block of the page allocator: 4 MiB */
	NODES_MAX = 64,
	RANGES_MAX = 256,
	ANY_NODE = -1,
};

#define PAGE  (1UL << PAGE_SHIFT)
#define HUGE  (1UL << HUGE_SHIFT)
#define GIANT (1UL << GIANT_SHIFT)

/* Where the kernel's address space has what: as Linux with four levels and nothing randomised. */
#define LINEAR_BASE  0xffff888000000000UL
#define VMALLOC_BASE 0xffffc90000000000UL
#define MEMMAP_BASE  0xffffea0000000000UL
#define KERNEL_BASE  0xffffffff80000000UL

/** @address in the linear map. */
static inline void *linear(uint64_t address)
{
	return (void *)(LINEAR_BASE + address);
}

static inline uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static inline uint64_t round_down(uint64_t n, uint64_t to)
{
	return n & ~(to - 1);
}

/** Memory from @start up to, not including, @end. */
struct range {
	uint64_t start, end;
	int node;
};

struct ranges {
	struct range at[RANGES_MAX];
	unsigned count;
};

/* ---- string.c: what a compiler takes for granted ---------------------------------------- */

void *memset(void *to, int byte, size_t bytes);
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);

/* ---- serial.c --------------------------------------------------------------------------- */

/** Knows %s %u %lu %lx %%, without widths. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Says why, and ends the machine. */
_Noreturn void panic(const char *why);
_Noreturn void power_off(void);

/* ---- fault.c ----------------------------------------------------------------------------- */

/** Says so when the processor meets a fault, and ends the machine. */
void fault_init(void);

/* ---- ranges.c: sorted lists of memory, and which of it is this machine's ------------------ */

/** What is RAM, by node, from start.c and acpi.c; whole pages, sorted. */
extern struct ranges ram;

void ranges_add(struct ranges *ranges, uint64_t start, uint64_t end, int node);
/** Takes [start, end) out of the range with that index, in which it lies. */
void ranges_cut(struct ranges *ranges, unsigned index, uint64_t start, uint64_t end);
/** What lies in both lists, with the nodes of @nodes. */
void ranges_cross(const struct ranges *memory, const struct ranges *nodes, struct ranges *out);
/** The node that has @address, or -1. */
int node_of(uint64_t address);

/* ---- start.c: what the loader hands over -------------------------------------------------- */

struct start {
	const char *cmdline;
	struct ranges memory; /* as firmware tells it */
	uint64_t rsdp;
};

void start_read(uint64_t start_info, struct start *out);
/** The value of the last @name=VALUE on a command line; *@len 0 where there is none. */
const char *cmdline_value(const char *cmdline, const char *name, size_t *len);

/* ---- acpi.c: nodes and processors --------------------------------------------------------- */

struct topology {
	struct ranges affinity; /* memory of each node, installed or not */
	unsigned nodes;         /* domains met, each a node */
	uint64_t with_cpu;      /* bit per node */
	unsigned cpus;          /* that are there */
	unsigned cpus_later;    /* that may be plugged in */
	unsigned cpus_capable;  /* of these, said to be able to come online */
};

void acpi_read(uint64_t rsdp, struct topology *out);

/* ---- boot_alloc.c: memory before there is a page allocator -------------------------------- */

void boot_alloc_init(void);
void boot_reserve(uint64_t start, uint64_t end);
/** Nothing at or above @limit from now on. */
void boot_limit(uint64_t limit);
/** From the top down. Return: address, 0 when there is none. */
uint64_t boot_alloc(uint64_t bytes, uint64_t align, int node);
/** What is free. */
const struct ranges *boot_free(void);
/** Free whole pages below @limit. */
uint64_t boot_free_pages(uint64_t limit);

/* ---- paging.c: page tables ---------------------------------------------------------------- */

/** The linear map and the kernel's image, by page tables of our own. */
void paging_init(void);
/** Return: false when there is no memory for a page table. */
bool map(uint64_t virt, uint64_t address, unsigned shift);
void unmap(uint64_t virt);
/** Walks the page tables. Return: whether there is a translation; its place, and log2 bytes. */
bool walk(uint64_t virt, uint64_t *address, unsigned *shift);

/* ---- pages.c: the page allocator ----------------------------------------------------------- */

/** One for each page; 64 bytes, as in Linux, because sizing counts them. */
struct page {
	struct page *next, *prev;
	int32_t node;
	uint8_t order;
	bool free; /* first page of a free block of that order */
	uint8_t unused[42];
};

/** Room for the struct pages of all RAM; then pages_init() hands over what the boot left. */
void memmap_init(void);
void pages_init(void);
bool pages_ready(void);
/** 2^@order pages of @node, or of one after it. Return: address, 0 when there are none. */
uint64_t pages_alloc(int node, unsigned order);
void pages_free(uint64_t address, unsigned order);
/** Keeps the first @pages of a block of 2^@order, gives back the rest. */
void pages_trim(uint64_t address, unsigned order, uint64_t pages);

/* ---- deal.c: which node's turn it is -------------------------------------------------------- */

/** Which nodes take turns, and how this kernel deals to them. */
void deal_init(const struct hd_machine *machine);
/** The node whose turn it is; moves on. */
int deal_turn(void);
/** A block's pages, dealt one after the other; @put returns false when it cannot take one. */
bool deal(uint64_t units, unsigned shift, bool (*put)(void *ctx, uint64_t address, unsigned order),
	  void *ctx);

/* ---- vmalloc.c, providers.c ------------------------------------------------------------------ */

/** @bytes in one piece of virtual addresses. *@shift: asked for, and what it got. NULL: none. */
void *vmalloc(uint64_t bytes, unsigned *shift);

/** The three ways to get memory that core asks for. */
extern const struct hd_providers providers;

/* ---- count.c, tables.c, got.c, lookups.c ------------------------------------------------------ */

/** The pages from which tables are sized, as the kernel of @rules counts them. */
void count_pages(const struct hd_rules *rules, struct hd_pages *out);

struct row {
	const char *key; /* "dentry" */
	struct hd_table table;
};

/** Makes the tables of one half of the boot and prints their lines. */
void tables_make(const struct hd_machine *machine, bool early);
/** One that is in nobody's catalogue; @entries 0: by memory. */
void tables_make_own(const struct hd_machine *machine, uint64_t entries);
/** All tables made so far. */
const struct row *tables_rows(unsigned *count);

/** Prints where each byte of each table is, by the page tables. */
void got_print(unsigned nodes);

/** Writes all tables, reads them back, then looks up @count random buckets of the largest. */
void lookups_run(uint64_t count);
/** Reads a byte behind the first scattered table, which must not be there. */
void lookups_overrun(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * help.h - logs and books by hand, for the tests of ktables/
 *
 * No text is parsed: a boot and a machine are filled in as klog/ and machine/ hand
 * them out. What a test does not name is unknown.
 */
#ifndef HASHDIST_TESTS_KTABLES_HELP_H
#define HASHDIST_TESTS_KTABLES_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ktables/ktables.h"

#define KIB           (1ULL << 10)
#define MIB           (1ULL << 20)
#define GIB           (1ULL << 30)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- a boot ------------------------------------------------------------------------- */

static inline void boot_init(struct klog_boot *boot, const char *release, enum hd_arch arch)
{
	memset(boot, 0, sizeof(*boot));
	boot->head_seen = true;
	boot->arch = arch;
	snprintf(boot->version, sizeof(boot->version), "%s", release);
	snprintf(boot->banner, sizeof(boot->banner), "Linux version %s", release);
}

/** The head is gone: no version, no architecture. */
static inline void lose_head(struct klog_boot *boot)
{
	boot->head_seen = false;
	boot->version[0] = boot->banner[0] = '\0';
	boot->arch = HD_ARCH_UNKNOWN;
}

static inline void boot_cmdline(struct klog_boot *boot, const char *cmdline)
{
	snprintf(boot->cmdline, sizeof(boot->cmdline), "%s", cmdline);
	boot->has |= KLOG_HAS_CMDLINE;
}

/** "Built @lists zonelists, ...  Total pages: @pages", and the nodes that have memory. */
static inline void boot_zonelists(struct klog_boot *boot, uint32_t lists, uint32_t memory_nodes,
				  uint64_t pages)
{
	boot->zonelists = lists;
	boot->zonelist_pages = pages;
	boot->nodes_with_memory = memory_nodes;
	boot->has |= KLOG_HAS_ZONELISTS | KLOG_HAS_ZONELIST_PAGES;
}

static inline void boot_memory(struct klog_boot *boot, uint64_t total_kib, uint64_t reserved_kib)
{
	boot->total_kib = total_kib;
	boot->reserved_kib = reserved_kib;
	boot->has |= KLOG_HAS_MEMORY | KLOG_HAS_RESERVED;
}

static inline struct klog_table *boot_table(struct klog_boot *boot, const char *name,
					    uint64_t entries, int order, uint64_t bytes,
					    enum hd_mapping mapping)
{
	struct klog_table *table = &boot->table[boot->tables++];

	assert_true(boot->tables <= KLOG_TABLES_MAX);
	*table = (struct klog_table){ .entries = entries,
				      .bytes = bytes,
				      .order = order,
				      .mapping = (uint8_t)mapping,
				      .has_bytes = true,
				      .has_order = true };
	snprintf(table->name, sizeof(table->name), "%s", name);
	table->id = (uint8_t)hd_table_by_name(table->name, strlen(table->name));
	return table;
}

/* ---- a machine's books ---------------------------------------------------------------- */

enum { DESK_NODES = 8, DESK_ZONES = 80, DESK_AREAS = 16 };

/** The books and what they point to. */
struct desk {
	struct machine books;
	struct machine_node node[DESK_NODES];
	struct machine_zone zone[DESK_ZONES];
	struct machine_area area[DESK_AREAS];
	uint64_t pages[DESK_AREAS][DESK_NODES];
};

static inline void desk_init(struct desk *desk, const char *release, enum hd_arch arch)
{
	memset(desk, 0, sizeof(*desk));
	desk->books.arch = arch;
	snprintf(desk->books.release, sizeof(desk->books.release), "%s", release);
	desk->books.node = desk->node;
	desk->books.zone = desk->zone;
	desk->books.area = desk->area;
}

static inline void desk_node(struct desk *desk, uint32_t id, bool has_memory)
{
	struct machine *books = &desk->books;

	assert_true(books->nodes < DESK_NODES);
	desk->node[books->nodes++] =
	    (struct machine_node){ .id = id, .online = true, .has_memory = has_memory };
	books->numa_books = true;
	books->online_nodes++;
	books->possible_nodes++;
	books->memory_nodes += has_memory;
}

static inline void desk_zone(struct desk *desk, const char *name, uint64_t present,
			     uint64_t managed)
{
	struct machine_zone *zone = &desk->zone[desk->books.zones++];

	assert_true(desk->books.zones <= DESK_ZONES);
	*zone = (struct machine_zone){ .spanned = present, .present = present, .managed = managed };
	snprintf(zone->name, sizeof(zone->name), "%s", name);
}

/** An area without node counts. */
static inline uint32_t desk_plain_area(struct desk *desk, uint64_t bytes)
{
	uint32_t at = desk->books.areas++;

	assert_true(desk->books.areas <= DESK_AREAS);
	desk->books.has_areas = true;
	desk->area[at] = (struct machine_area){ .bytes = bytes, .pages = bytes / 4096 };
	return at;
}

/** An area with @n0 and @n1 pages on the first two nodes that the books list. */
static inline uint32_t desk_area(struct desk *desk, uint64_t bytes, uint64_t n0, uint64_t n1)
{
	uint32_t at = desk_plain_area(desk, bytes);

	desk->pages[at][0] = n0;
	desk->pages[at][1] = n1;
	desk->area[at].node_pages = desk->pages[at];
	return at;
}

static inline void desk_cmdline(struct desk *desk, const char *cmdline)
{
	snprintf(desk->books.cmdline, sizeof(desk->books.cmdline), "%s", cmdline);
	desk->books.has_cmdline = true;
}

static inline struct machine_count known(uint64_t value)
{
	return (struct machine_count){ true, value };
}

#endif

/* SPDX-License-Identifier: MIT */
/* maps.h - which mappings of this process a scan may look at */
#ifndef HASHDIST_PRELOAD_MAPS_H
#define HASHDIST_PRELOAD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One line of /proc/PID/maps, as far as it matters here. */
struct maps_line {
	uint64_t start, end;
	bool table_like; /* private, anonymous, writable, not executable, no stack */
	bool forbidden;  /* no access at all: a guard, or a reservation */
};

/** Return: false when it is no such line. */
bool maps_parse(const char *text, struct maps_line *out);

typedef void (*maps_fn)(void *ctx, uint64_t start, uint64_t bytes);
/** May the mapping at @start count together with a neighbour of the same answer? */
typedef bool (*maps_same_fn)(uint64_t start);

/**
 * maps_each() - stretches of at least @min_bytes that may hold a table, by address
 * @guards: leave out what has a small forbidden mapping right below it: a thread's stack
 * @same: neighbours for which it answers alike count together; NULL: all do
 * @each may take its time, and change mappings.
 *
 * Return: 0; -errno: the file could not be opened.
 */
int maps_each(uint64_t min_bytes, bool guards, maps_same_fn same, maps_fn each, void *ctx);

#endif

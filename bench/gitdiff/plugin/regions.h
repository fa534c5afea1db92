/* SPDX-License-Identifier: MIT */
/*
 * regions.h - what an address of the guest belongs to
 *
 *   user | linear map      | vmalloc         | other: memmap, kernel image, modules
 *        |   [dentry hash] |   [or here]     |
 */
#ifndef GITDIFF_REGIONS_H
#define GITDIFF_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum region {
	REGION_DENTRY,
	REGION_INODE,
	REGION_TCP, /* established connections */
	REGION_TABLES,
	REGION_USER = REGION_TABLES,
	REGION_LINEAR,
	REGION_VMALLOC,
	REGION_OTHER,
	REGIONS
};

extern const char *const region_names[REGIONS];

struct regions {
	struct {
		uint64_t start, bytes; /* 0, 0: not found */
	} tables[REGION_TABLES];
	uint64_t linear, vmalloc, memmap; /* where they begin; each ends where the next begins */
};

enum region region_of(const struct regions *regions, uint64_t address);

/** Reads memory of the kernel; false: cannot be read. */
typedef bool region_read_fn(void *context, uint64_t address, void *out, size_t bytes);

/**
 * regions_find() - from the kernel's own variables
 *
 * A table whose variables are missing is left out, and addresses in it count for the map they
 * lie in. Without the variables that say where the maps begin, the kernel was built with
 * constants for them: those of four-level page tables are taken.
 *
 * Source: fs/dcache.c, fs/inode.c, struct inet_hashinfo in include/net/inet_hashtables.h;
 * Documentation/arch/x86/x86_64/mm.rst. Linux 5.10 to 7.2.
 */
void regions_find(struct regions *out, const char *symbols, size_t bytes, region_read_fn *read,
		  void *context);

#endif

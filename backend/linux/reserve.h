/* SPDX-License-Identifier: MIT */
/*
 * reserve.h - address space of a region, and what the kernel is told about it
 *
 * All take the part from @from to the region's end, bytes. Return: 0 or -errno.
 */
#ifndef HASHDIST_LINUX_RESERVE_H
#define HASHDIST_LINUX_RESERVE_H

#include "backend/linux/internal.h"

/** Fills start, map and map_bytes; no access yet but for hugetlb. */
int hdl_reserve(struct hdl_region *region, unsigned align_shift);
/** Is all of it still what hdl_reserve() made: without access, in one mapping? */
bool hdl_is_reserved(const char *at, uint64_t bytes, bool hugetlb);
/** Take addresses that nobody else has. -EEXIST: somebody has. */
int hdl_map_hole(char *at, uint64_t bytes);
int hdl_open_access(const struct hdl_region *region, uint64_t from);
int hdl_set_policy(const struct hdl_region *region, uint64_t from);
int hdl_set_advice(const struct hdl_region *region, uint64_t from);
/** What children and core dumps see of it. */
int hdl_set_options(const struct hdl_region *region, uint64_t from);
/** Where this kernel can: it is built with names or it is not, and nothing depends on them. */
void hdl_set_name(const struct hdl_region *region);
/** Sets region->locked. */
int hdl_lock(struct hdl_region *region);

#endif

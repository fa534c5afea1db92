/* SPDX-License-Identifier: MIT */
/* registry.h - which tables there are, by the address a program knows them by */
#ifndef HASHDIST_LIB_REGISTRY_H
#define HASHDIST_LIB_REGISTRY_H

#include "backend/linux/linux.h"

struct lib_table {
	void *start; /* key; region.start, kept while the region is in the making */
	struct hdl_region region;
	uint64_t entries; /* 0: no hash table */
	uint32_t halvings;
	struct lib_table *next; /* of its bucket */
};

/** The registry owns nothing but the pointer. */
void registry_add(struct lib_table *table);
/** A copy of the table that begins at @start. Return: false when none does. */
bool registry_read(const void *start, struct lib_table *out);
/** What a copy has learnt goes back, if the table is still there. */
void registry_update(const struct lib_table *table);
/** Take it out: the caller owns it now. NULL when none begins there. */
struct lib_table *registry_take(const void *start);

#endif

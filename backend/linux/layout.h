/* SPDX-License-Identifier: MIT */
/* layout.h - where a region is to lie, before anything is asked of memory */
#ifndef HASHDIST_LINUX_LAYOUT_H
#define HASHDIST_LINUX_LAYOUT_H

#include "backend/linux/internal.h"

/** One rung of the ladder. */
struct hdl_choice {
	enum hdl_rung kind;
	unsigned shift; /* log2 bytes of its translations; 0: this kernel has none */
};

/** The rungs that @wish allows, best first. Return: how many. */
unsigned hdl_ladder(const struct hdl_wish *wish, const struct hdl_pages *pages,
		    struct hdl_choice rungs[3]);
/**
 * hdl_plan() - lay @bytes out on one rung: rung, shift, bytes, pages_why
 * Return: 0; -errno with region->pages_why when this rung is not to be had.
 */
int hdl_plan(struct hdl_region *region, const struct hdl_choice *rung,
	     const struct hdl_pages *pages, uint64_t bytes);
/** Nodes and their shares, nodes_why; needs region->bytes. */
void hdl_set_aim(struct hdl_region *region, const struct hdl_nodes *nodes);
/** log2 of what start is aligned to: huge blocks may be switched on later. */
unsigned hdl_alignment(const struct hdl_region *region, const struct hdl_pages *pages);
/** Is there room for @bytes more on this rung? Return: 0 or -errno, told in @story. */
int hdl_room(const struct hdl_region *region, uint64_t bytes, const struct hdl_nodes *nodes,
	     struct hdl_story *story);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of this room share
 */
#ifndef HASHDIST_LINUX_INTERNAL_H
#define HASHDIST_LINUX_INTERNAL_H

#include "backend/linux/facts.h"
#include "backend/linux/linux.h"
#include "backend/linux/scan.h"
#include "backend/linux/sys.h"

static inline uint64_t hdl_round_up(uint64_t bytes, unsigned shift)
{
	uint64_t unit = 1ULL << shift;

	return (bytes + unit - 1) & ~(unit - 1);
}

/* ---- books.c: what the kernel says is there ---------------------------------------- */

enum hdl_block { HDL_BLOCK_UNKNOWN, HDL_BLOCK_BASE, HDL_BLOCK_HUGE };

/** State of a region, block by block of its huge page size. */
struct hdl_books {
	uint64_t populated, huge;     /* bytes */
	bool known;                   /* both of them */
	uint8_t *block;               /* enum hdl_block each; NULL out of memory */
	uint64_t blocks;              /* whole ones; a tail is on base pages */
	unsigned shift;               /* log2 bytes of a block */
	uint64_t node[HDL_NODES_MAX]; /* bytes */
	uint64_t node_unknown;
	int error; /* of the first book that could not be read */
};

enum { HDL_WINDOW = 512 };

/** One stretch of a region whose pieces are equally large. */
struct hdl_window {
	uint32_t count, piece_shift;
	char *at[HDL_WINDOW];
	int node[HDL_WINDOW]; /* or -errno */
};

/** Huge and base pages only; block[] stays with @out: release with hdl_books_close(). */
void hdl_books_open(const struct hdl_region *region, struct hdl_books *out);
void hdl_books_nodes(const struct hdl_region *region, struct hdl_books *books);
void hdl_books_close(struct hdl_books *books);
/**
 * hdl_window_next() - the node of each piece, from *@offset on
 * *@offset moves behind it. Return: false at the end.
 */
bool hdl_window_next(const struct hdl_region *region, const struct hdl_books *books,
		     uint64_t *offset, struct hdl_window *window);

/* ---- populate.c, collapse.c, balance.c ------------------------------------------------------------ */

/** What happened on the way; goes into got. */
struct hdl_story {
	uint8_t step;                 /* enum hd_step, first that failed */
	int error;                    /* positive */
	uint8_t pages_why, nodes_why; /* enum hd_why; MET: nothing is known against it */
	uint32_t why_node;
	uint32_t collapsed, moved;
	bool policy_refused;
	bool no_room; /* for pages that are missing */
	bool by_cpu;  /* spread by first touch, as the policy call was refused */
};

/** Note a failure, unless an earlier one is noted. @error is negative. */
void hdl_story_step(struct hdl_story *story, enum hd_step step, int error);

/** All of [@from, @from + @bytes) of the region. Return: 0, -errno of what stopped it. */
int hdl_populate(const struct hdl_region *region, uint64_t from, uint64_t bytes,
		 const struct hdl_nodes *nodes, struct hdl_story *story);

/** The same for a table in use, where pages are missing: no collapsing, contents are kept. */
int hdl_refill(const struct hdl_region *region, uint64_t from, uint64_t bytes);

/** One block; tried again while it is busy. Return: 0 or -errno. */
int hdl_collapse_block(char *at, uint64_t bytes);
/** Does this kernel collapse on request? Linux 6.1. */
bool hdl_can_collapse(void);
/**
 * hdl_collapse() - blocks that are not on huge pages are brought there, as far as @books tell
 * Return: whether any was, so that the books are old.
 */
bool hdl_collapse(const struct hdl_region *region, struct hdl_books *books, uint64_t from,
		  struct hdl_story *story);
/**
 * hdl_balance() - pieces on nodes that hold too much go to nodes that hold too little
 * Return: whether it was tried, so that the books are old.
 */
bool hdl_balance(const struct hdl_region *region, struct hdl_books *books, struct hdl_story *story);
/** Is no share a whole unit away from what it should be? */
bool hdl_near_balanced(const struct hdl_region *region, struct hdl_books *books);
/** Is every share what it should be? */
bool hdl_balanced(const struct hdl_region *region, struct hdl_books *books, uint32_t *worst);

/* ---- got.c ---------------------------------------------------------------------------- */

void hdl_got_fill(const struct hdl_region *region, struct hdl_books *books,
		  const struct hdl_story *story, struct hd_got *got);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * linux.h - real memory of this machine: one region, placed and read back
 *
 * The order matters, and was found by trying (see docs/library-inside.md):
 *
 *   limits     is there room at all: an overrun would kill, not fail
 *   reserve    address space, aligned to the translation
 *   policy     before any page exists; moving pages later splits them
 *   advice     then the kernel may use large pages
 *   populate   in chunks, each looked at
 *   verify     count, never trust a return code
 *   repair     collapse block by block, which gathers them on one node; then
 *              move whole blocks by the address of their head
 *   verify     both properties again
 *
 * Tables' sizes, counts and the choice whether to spread come from above.
 */
#ifndef HASHDIST_LINUX_LINUX_H
#define HASHDIST_LINUX_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/linux/mask.h"
#include "hashdist/core.h"
#include "hashdist/hashdist.h"

/** What is wanted of a region, with all defaults filled in. */
struct hdl_wish {
	uint8_t pages;  /* enum hd_want_pages, not AUTO */
	uint8_t prefer; /* enum hd_want_prefer */
	uint8_t fork;   /* enum hd_want_fork */
	bool spread;    /* over the nodes that may be used; else on one */
	uint32_t flags; /* enum hd_want_flags */
	uint32_t threads;
	bool has_set; /* node_set limits the nodes */
	struct hdl_mask node_set;
	char name[80]; /* "" none */
};

/** Which page table entries a region was laid out for. */
enum hdl_rung { HDL_BASE, HDL_THP, HDL_HUGETLB };

/** Several nodes, and how many units of a round each gets. */
struct hdl_shares {
	struct hdl_mask node;
	uint32_t nodes;
	bool weighted;
	uint32_t round;                /* sum of weights */
	uint8_t weight[HDL_NODES_MAX]; /* 1 each unless weighted */
};

struct hdl_region {
	char *start;    /* what the user sees */
	uint64_t bytes; /* of it; whole base pages, for hugetlb whole units */
	char *map;      /* with guard pages and what alignment left over */
	uint64_t map_bytes;
	enum hdl_rung rung;
	unsigned shift; /* log2 bytes of its unit */
	unsigned base_shift;
	bool huge; /* the unit is a huge page of the page tables: the books can see it */
	struct hdl_wish wish;
	struct hdl_shares aim;
	struct hdl_mask within; /* pages elsewhere are against somebody's will */
	uint32_t sole_node;     /* the machine's only memory node, or HDL_NODES_MAX */
	bool guessed;           /* which nodes there are is not known: none is aimed at */
	bool locked;
	uint8_t pages_why, nodes_why; /* enum hd_why, known before any page was asked for */
};

/**
 * hdl_region_make() - reserve, place, populate, verify
 * @out: filled on success only
 * @got: filled always
 *
 * Return: 0; -ENOMEM, -ENODEV, another -errno with got->step.
 */
int hdl_region_make(uint64_t bytes, const struct hdl_wish *wish, struct hdl_region *out,
		    struct hd_got *got);
void hdl_region_release(struct hdl_region *region);
/** On failure the region is as before. @got as for hdl_region_make(). */
int hdl_region_resize(struct hdl_region *region, uint64_t bytes, struct hd_got *got);
void hdl_region_repair(struct hdl_region *region, struct hd_got *got);
void hdl_region_read(const struct hdl_region *region, struct hd_got *got);

/** What a table is sized from, and whether there is anything to spread over. */
struct hdl_memory {
	uint64_t bytes; /* the smallest of machine, allowed nodes and control groups */
	unsigned base_shift, huge_shift; /* log2 bytes; huge 0: none */
	uint32_t nodes;                  /* of this machine that have memory */
};

/** Return: 0; -ENODEV: no node may be used; another -errno: nothing could be read. */
int hdl_memory_read(const struct hdl_wish *wish, struct hdl_memory *out);

/** The context of hdl_providers(): one table in the making. */
struct hdl_maker {
	struct hdl_wish wish;
	struct hdl_region region;
	struct hd_got got;
	int error;       /* of the last attempt */
	bool made, once; /* once: no second attempt */
};

/**
 * hdl_providers() - this machine behind the engine of core/
 * contiguous is one node, scattered all of them; early does not exist any more.
 */
struct hd_providers hdl_providers(struct hdl_maker *maker);

#endif

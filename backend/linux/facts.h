/* SPDX-License-Identifier: MIT */
/*
 * facts.h - what this machine allows right now: nodes, translations, limits
 */
#ifndef HASHDIST_LINUX_FACTS_H
#define HASHDIST_LINUX_FACTS_H

#include "backend/linux/linux.h"

/* Memory policies, numbers of the kernel's interface. */
enum {
	HDL_MPOL_DEFAULT = 0,
	HDL_MPOL_PREFERRED = 1,
	HDL_MPOL_BIND = 2,
	HDL_MPOL_INTERLEAVE = 3,
	HDL_MPOL_LOCAL = 4,
	HDL_MPOL_PREFERRED_MANY = 5,
	HDL_MPOL_WEIGHTED = 6, /* Linux 6.9 */
	HDL_MPOL_FLAGS = 7 << 13,
	HDL_MPOL_F_MEMS_ALLOWED = 1 << 2,
};

/* ---- nodes.c: which nodes may be used ------------------------------------------- */

struct hdl_nodes {
	struct hdl_mask memory; /* have memory */
	bool guessed;           /* they could not be read, and node 0 stands for all */
	struct hdl_mask within; /* memory may come from: cpuset, binding policy, the caller's set */
	struct hdl_mask usable; /* a table may be laid out on */
	int policy;             /* the task's, without flags */
	bool prefers_one;       /* that policy asks for one node or the local one */
	uint8_t why;            /* enum hd_why: what left one node, or none */
};

/** Read afresh. Return: 0; -ENODEV: none is usable (why tells); -errno. */
int hdl_nodes_read(const struct hdl_wish *wish, struct hdl_nodes *out);
/** Even shares of @node, or the administrator's where they differ. */
void hdl_shares_even(struct hdl_shares *shares, const struct hdl_mask *node, bool ask_weights);
/** The node that unit number @index of a region belongs to. */
uint32_t hdl_shares_node(const struct hdl_shares *shares, uint64_t index);
/** CPUs of @node that this thread may run on; bits in @cpus. Return: their count, or -errno. */
int hdl_node_cpus(uint32_t node, unsigned long *cpus, size_t bytes);

/* ---- pages.c: which translations there are --------------------------------------- */

enum hdl_thp { HDL_THP_NONE, HDL_THP_UNKNOWN, HDL_THP_NEVER, HDL_THP_MADVISE, HDL_THP_ALWAYS };

struct hdl_pages {
	unsigned base_shift;
	unsigned thp_shift;     /* of the huge page of the page tables; 0: kernel has none */
	unsigned small_shift;   /* largest smaller one that advice may give (mTHP); 0 none */
	enum hdl_thp thp;       /* what the administrator set */
	bool off;               /* for this process */
	unsigned hugetlb_shift; /* default pool; 0 none */
	bool has_1g;            /* a pool of 1 GiB pages exists, perhaps empty */
};

void hdl_pages_read(struct hdl_pages *out);
/** HD_WHY_MET when advice may bring huge pages here, or why not. */
enum hd_why hdl_thp_why(const struct hdl_pages *pages);
/** Does a pool hold that many pages, promised to nobody, none of them yet to be made? */
bool hdl_pool_has(unsigned shift, uint64_t pages);
/** Free pages of a hugetlb pool, on @node or (HDL_NODES_MAX) in all. Return: 0 or -errno. */
int hdl_pool_free(unsigned shift, uint32_t node, uint64_t *pages);

/* ---- buddy.c: what is free in one piece ------------------------------------------- */

/** Free blocks of 2^@order base pages on a node; UINT64_MAX unknown. */
uint64_t hdl_room_blocks(uint32_t node, unsigned order);

/* ---- cgroup.c: limits up the hierarchy -------------------------------------------- */

enum { HDL_UNLIMITED_SHIFT = 62 }; /* limits from 2^62 bytes on are none */

/** Bytes of memory that may still be charged; UINT64_MAX unlimited or unknown. */
uint64_t hdl_cgroup_room(void);
/** The smallest limit; UINT64_MAX none. */
uint64_t hdl_cgroup_limit(void);
/** The same as hdl_cgroup_room() for hugetlb pages of 2^@shift bytes. */
uint64_t hdl_cgroup_hugetlb_room(unsigned shift);

/* ---- room.c: is there memory for it ----------------------------------------------- */

/** 0 when @bytes may be populated on nodes of @within; -ENOMEM and @why otherwise. */
int hdl_room_check(uint64_t bytes, const struct hdl_nodes *nodes, uint8_t *why);
/** Bytes of one node that can be had without swapping; UINT64_MAX unknown. */
uint64_t hdl_room_node(uint32_t node);
/** Bytes that sizing starts from: nodes within reach and control groups. 0 unknown. */
uint64_t hdl_room_total(const struct hdl_nodes *nodes);
/** Why an mmap of @bytes failed with @error. */
enum hd_why hdl_room_mmap_why(uint64_t bytes, int error);
/** Why @bytes that were reserved without access could not be made writable: @error. */
enum hd_why hdl_room_access_why(uint64_t bytes, int error);

#endif

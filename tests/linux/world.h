/* SPDX-License-Identifier: MIT */
/*
 * world.h - a pretend kernel of several memory nodes, behind door.h
 *
 *   files     has_memory, has_cpu, node meminfo, cpuset, policies, weights
 *   calls     mbind, get_mempolicy, getcpu, move_pages, sched_setaffinity
 *   pages     a node for each, given when they are populated: by the region's
 *             policy, else by the task's, else the local node's
 *
 * With world.fiction set no memory is behind the pages at all: the scan of huge
 * pages and collapse are answered too, by the rules that were measured. A block
 * collapses onto the node that holds most of it, if a huge block is free there.
 * A huge block moves whole if one is free, else it is split, moved in pieces,
 * and success is reported.
 */
#ifndef TESTS_LINUX_WORLD_H
#define TESTS_LINUX_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/linux/internal.h"
#include "tests/linux/door.h"

enum { WORLD_BLOCK_SHIFT = 21, WORLD_PAGES = 512, WORLD_HIDDEN = -100 };

struct world {
	uint32_t nodes;   /* 0 up to this */
	bool fiction;     /* no real memory */
	int policy_error; /* of mbind and get_mempolicy, negative */
	int local;        /* node of the CPU that runs */
	int task_mode;    /* the task's memory policy, with flags */
	struct hdl_mask task_nodes;
	int64_t free_pages[HDL_NODES_MAX];  /* below 0: endless */
	int64_t free_blocks[HDL_NODES_MAX]; /* huge ones; below 0: endless */
	int refuse[HDL_NODES_MAX];          /* a status that meets pages that are sent there */

	/* what was seen */
	uint32_t asked;     /* pieces in calls that move */
	uint32_t most;      /* in one call */
	uint32_t collapses; /* asked for */
	uint32_t bound;     /* calls of mbind */
	int last_mode;      /* of the last one */
	struct hdl_mask last_nodes;
};

extern struct world world;

/** Endless nodes 0 to @nodes - 1, all with CPUs and memory, and their files. */
void world_begin(uint32_t nodes);
/** Back to the real machine. */
void world_end(void);

/** Node of the page at @at, or -ENOENT. */
int world_node(const void *at);
void world_put(const void *at, uint64_t bytes, int node, bool huge);
bool world_huge(const void *at);
/** Bytes of [@at, @at + @bytes) on @node; on huge pages, node HDL_NODES_MAX. */
uint64_t world_bytes(const void *at, uint64_t bytes, uint32_t node);

#endif

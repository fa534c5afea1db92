/* SPDX-License-Identifier: MIT */
/* world.c - see world.h. Called by the door with its lock held. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/linux/world.h"

enum { BLOCKS_MAX = 8192, POLICIES_MAX = 16 };

struct block {
	uintptr_t key; /* address >> WORLD_BLOCK_SHIFT; 0 none */
	bool huge;
	int16_t node[WORLD_PAGES]; /* -1: nothing there */
};

struct bound {
	uintptr_t start, end;
	int mode;
	struct hdl_mask nodes;
};

struct world world;
static struct block blocks[BLOCKS_MAX];
static struct bound policies[POLICIES_MAX];
static uint32_t policy_count;
static unsigned turn; /* whose turn it is when pages are dealt */
static bool huge_advised;
static _Thread_local int sent_to = -1; /* the node this thread was sent to */

static struct block *block_of(uintptr_t at, bool make)
{
	uintptr_t key = at >> WORLD_BLOCK_SHIFT;

	for (size_t i = key % BLOCKS_MAX, tries = 0; tries < BLOCKS_MAX;
	     i = (i + 1) % BLOCKS_MAX, tries++) {
		if (blocks[i].key == key)
			return &blocks[i];
		if (blocks[i].key)
			continue;
		if (!make)
			return NULL;
		blocks[i].key = key;
		blocks[i].huge = false;
		memset(blocks[i].node, -1, sizeof(blocks[i].node));
		return &blocks[i];
	}
	abort();
}

static int16_t *page_of(uintptr_t at, bool make)
{
	struct block *block = block_of(at, make);

	return block ? &block->node[at >> 12 & (WORLD_PAGES - 1)] : NULL;
}

int world_node(const void *at)
{
	int16_t *page = page_of((uintptr_t)at, false);

	return page && *page != -1 ? *page : -ENOENT;
}

bool world_huge(const void *at)
{
	struct block *block = block_of((uintptr_t)at, false);

	return block && block->huge;
}

void world_put(const void *at, uint64_t bytes, int node, bool huge)
{
	for (uint64_t i = 0; i < bytes; i += 4096) {
		*page_of((uintptr_t)at + i, true) = (int16_t)node;
		block_of((uintptr_t)at + i, true)->huge = huge;
	}
}

uint64_t world_bytes(const void *at, uint64_t bytes, uint32_t node)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < bytes; i += 4096) {
		const char *page = (const char *)at + i;

		sum += node == HDL_NODES_MAX ? world_huge(page) : world_node(page) == (int)node;
	}
	return sum << 12;
}

/* ---- memory of nodes -------------------------------------------------------------------- */

static bool take_pages(int node, int64_t pages, bool whole)
{
	int64_t *left = &world.free_pages[node], *whole_left = &world.free_blocks[node];

	if (whole && *whole_left == 0)
		return false;
	if (*left >= 0 && *left < pages)
		return false;
	if (*left >= 0)
		*left -= pages;
	if (whole && *whole_left > 0)
		--*whole_left;
	return true;
}

static void give_pages(int node, int64_t pages, bool whole)
{
	if (node < 0)
		return;
	if (world.free_pages[node] >= 0)
		world.free_pages[node] += pages;
	if (whole && world.free_blocks[node] >= 0)
		world.free_blocks[node]++;
}

/* ---- populate --------------------------------------------------------------------------- */

static int next_node(const struct bound *policy)
{
	if (!policy)
		return sent_to >= 0 ? sent_to : world.local;
	if (policy->mode == HDL_MPOL_PREFERRED)
		return (int)hdl_mask_next(&policy->nodes, 0);
	for (;;) {
		uint32_t node = turn++ % world.nodes;

		if (hdl_mask_has(&policy->nodes, node))
			return (int)node;
	}
}

static void populate(uintptr_t at, uint64_t bytes)
{
	const struct bound *policy = NULL;

	for (uint32_t i = 0; i < policy_count; i++)
		if (policies[i].start <= at && at < policies[i].end)
			policy = &policies[i];
	for (uint64_t i = 0; i < bytes; i += 4096) {
		int16_t *page = page_of(at + i, true);
		int node;

		if (*page != -1)
			continue;
		/* A unit of the policy is a huge block where a whole one is populated. */
		if (!((at + i) % (1 << WORLD_BLOCK_SHIFT)) && bytes - i >= 1 << WORLD_BLOCK_SHIFT) {
			node = next_node(policy);
			for (int p = 0; p < WORLD_PAGES; p++)
				page[p] = page[p] == -1 ? (int16_t)node : page[p];
			block_of(at + i, true)->huge = huge_advised;
			continue;
		}
		*page = (int16_t)next_node(policy);
	}
}

static void forget(uintptr_t at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 4096) {
		int16_t *page = page_of(at + i, false);

		if (page)
			*page = -1;
	}
}

static void follow(uintptr_t from, uintptr_t to, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 4096) {
		int node = world_node((char *)from + i);

		*page_of(to + i, true) = (int16_t)(node == -ENOENT ? -1 : node);
	}
	forget(from, bytes);
}

/* ---- calls ---------------------------------------------------------------------------- */

static long bind(const long *args)
{
	struct bound policy = { .start = (uintptr_t)args[0],
				.end = (uintptr_t)args[0] + (uintptr_t)args[1],
				.mode = (int)args[2] };

	if (world.policy_error)
		return world.policy_error;
	memcpy(&policy.nodes, (const void *)args[3], sizeof(policy.nodes));
	world.bound++;
	world.last_mode = policy.mode;
	world.last_nodes = policy.nodes;
	policies[policy_count++ % POLICIES_MAX] = policy;
	policy_count = policy_count > POLICIES_MAX ? POLICIES_MAX : policy_count;
	return 0;
}

static long move_whole(struct block *block, int from, int to)
{
	if (take_pages(to, WORLD_PAGES, true)) {
		give_pages(from, WORLD_PAGES, true);
	} else {
		if (!take_pages(to, WORLD_PAGES, false))
			return -ENOMEM;
		give_pages(from, WORLD_PAGES, false);
		block->huge = false;
	}
	for (int i = 0; i < WORLD_PAGES; i++)
		block->node[i] = (int16_t)to;
	return to;
}

static int move_one(void *at, int to)
{
	int16_t *page = page_of((uintptr_t)at, false);
	struct block *block = block_of((uintptr_t)at, false);
	int from = page ? *page : -1;

	if (from == WORLD_HIDDEN)
		return -EFAULT;
	if (from < 0)
		return -ENOENT;
	if (to < 0 || (uint32_t)to >= world.nodes)
		return -ENODEV;
	if (from == to)
		return to;
	if (world.refuse[to])
		return world.refuse[to];
	if (block->huge)
		return (int)move_whole(block, from, to);
	if (!take_pages(to, 1, false))
		return -ENOMEM;
	give_pages(from, 1, false);
	*page = (int16_t)to;
	return to;
}

static long move_pages(const long *args)
{
	uint32_t count = (uint32_t)args[1], failed = 0;
	void **at = (void **)args[2];
	const int *to = (const int *)args[3];
	int *status = (int *)args[4];

	for (uint32_t i = 0; i < count; i++) {
		int node = to ? move_one(at[i], to[i]) : world_node(at[i]);

		status[i] = node == WORLD_HIDDEN ? -EFAULT : node;
		failed += node < 0;
	}
	if (to) {
		world.asked += count;
		world.most = world.most > count ? world.most : count;
	}
	return to ? (long)failed : 0;
}

static long get_policy(const long *args)
{
	if (world.policy_error)
		return world.policy_error;
	if (args[4] & 4) { /* MPOL_F_MEMS_ALLOWED */
		memset((void *)args[1], 0, sizeof(world.task_nodes));
		for (uint32_t n = 0; n < world.nodes; n++)
			hdl_mask_add((struct hdl_mask *)args[1], n);
		return 0;
	}
	*(int *)args[0] = world.task_mode;
	memcpy((void *)args[1], &world.task_nodes, sizeof(world.task_nodes));
	return 0;
}

static long collapse(uintptr_t at)
{
	struct block *block = block_of(at, false);
	uint32_t held[HDL_NODES_MAX] = { 0 };
	int best = 0;

	world.collapses++;
	if (!block)
		return -EINVAL;
	for (int i = 0; i < WORLD_PAGES; i++)
		if (block->node[i] >= 0)
			held[block->node[i]]++;
	for (uint32_t n = 0; n < world.nodes; n++)
		if (held[n] > held[best])
			best = (int)n;
	if (!take_pages(best, WORLD_PAGES, true))
		return -ENOMEM;
	for (int i = 0; i < WORLD_PAGES; i++) {
		give_pages(block->node[i], 1, false);
		block->node[i] = (int16_t)best;
	}
	block->huge = true;
	return 0;
}

static void witness(long number, const long *args, enum door_kind kind, long result)
{
	(void)number;
	if (kind == DOOR_ADVICE)
		huge_advised = args[2] == MADV_HUGEPAGE && !result;
	else if (kind == DOOR_COLLAPSE && !result)
		collapse((uintptr_t)args[0]);
	else if (kind == DOOR_POPULATE && !result)
		populate((uintptr_t)args[0], (uint64_t)args[1]);
	else if (kind == DOOR_MUNMAP && !result)
		forget((uintptr_t)args[0], (uint64_t)args[1]);
	else if (kind == DOOR_MMAP && result > 0)
		forget((uintptr_t)result, (uint64_t)args[1]);
	else if (kind == DOOR_MREMAP && result > 0)
		follow((uintptr_t)args[0], (uintptr_t)result, (uint64_t)args[1]);
}

/** The kernel's answer to PAGEMAP_SCAN: one run per block. */
static long scan(uint64_t *arg)
{
	struct {
		uint64_t start, end, kinds;
	} *run = (void *)(uintptr_t)arg[5];
	uint64_t at = arg[2], n = 0;

	for (; at < arg[3] && n < arg[6]; at += 4096) {
		bool huge = world_huge((void *)(uintptr_t)at);

		if (world_node((void *)(uintptr_t)at) == -ENOENT)
			continue;
		if (n && run[n - 1].end == at && run[n - 1].kinds >> 6 == huge) {
			run[n - 1].end += 4096;
			continue;
		}
		run[n].start = at;
		run[n].end = at + 4096;
		run[n++].kinds = 8 | (uint64_t)huge << 6;
	}
	arg[4] = at;
	return (long)n;
}

static bool kernel(long number, const long *args, enum door_kind kind, long *result)
{
	(void)number;
	*result = 0;
	switch (kind) {
	case DOOR_MBIND:
		*result = bind(args);
		return true;
	case DOOR_GET_POLICY:
		*result = get_policy(args);
		return true;
	case DOOR_ASK_NODES:
	case DOOR_MOVE_PAGES:
		*result = move_pages(args);
		return true;
	case DOOR_GETCPU:
		*(unsigned *)args[1] = (unsigned)world.local;
		return true;
	case DOOR_AFFINITY:
		sent_to = __builtin_ctzl(*(const unsigned long *)args[2] | ~(~0UL >> 1));
		return true;
	case DOOR_SCAN:
		if (world.fiction)
			*result = scan((uint64_t *)args[2]);
		return world.fiction;
	case DOOR_COLLAPSE:
		if (world.fiction)
			*result = collapse((uintptr_t)args[0]);
		return world.fiction;
	case DOOR_ADVICE:
	case DOOR_OPTION:
		return world.fiction;
	default:
		return false;
	}
}

void world_begin(uint32_t nodes)
{
	char path[96], list[32];

	world = (struct world){ .nodes = nodes };
	memset(world.free_pages, -1, sizeof(world.free_pages));
	memset(world.free_blocks, -1, sizeof(world.free_blocks));
	memset(blocks, 0, sizeof(blocks));
	policy_count = turn = 0;
	huge_advised = false;
	door_set_kernel(kernel, witness);
	snprintf(list, sizeof(list), nodes > 1 ? "0-%u\n" : "%u\n", nodes - 1);
	door_file("/sys/devices/system/node/has_memory", list);
	door_file("/sys/devices/system/node/has_cpu", list);
	door_file("/proc/buddyinfo", NULL);
	door_file("/proc/zoneinfo", NULL);
	door_file("/proc/self/numa_maps", NULL); /* the real one knows one node */
	snprintf(path, sizeof(path), "Name:\tx\nMems_allowed_list:\t%s", list);
	door_file("/proc/thread-self/status", path);
	for (uint32_t n = 0; n < nodes && n < 16; n++) {
		char text[160];

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", n);
		snprintf(text, sizeof(text),
			 "Node %u MemTotal: 8388608 kB\nNode %u MemFree: 4194304 kB\n"
			 "Node %u Active(file): 0 kB\nNode %u Inactive(file): 0 kB\n",
			 n, n, n, n);
		door_file(path, text);
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", n);
		snprintf(text, sizeof(text), "%u\n", n);
		door_file(path, text);
		snprintf(path, sizeof(path), "/sys/kernel/mm/mempolicy/weighted_interleave/node%u",
			 n);
		door_file(path, NULL);
	}
}

void world_end(void)
{
	door_set_kernel(NULL, NULL);
}

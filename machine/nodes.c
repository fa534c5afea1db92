/* SPDX-License-Identifier: MIT */
/*
 * nodes.c - NUMA nodes and CPUs
 *
 * From the lists in /sys/devices/system/node and .../cpu, and from each online
 * node's own directory. Old kernels may lack has_memory: then a node has
 * memory if its meminfo says so. A list with ids beyond any kernel's is
 * unknown as a whole. Whether a node is real or emulated is not told here.
 */
#include "machine/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_DIR "sys/devices/system/node"

enum { POSSIBLE, ONLINE, HAS_MEMORY, HAS_NORMAL_MEMORY, HAS_CPU, LISTS };

static const char *const list_names[LISTS] = {
	[POSSIBLE] = "possible",     [ONLINE] = "online",
	[HAS_MEMORY] = "has_memory", [HAS_NORMAL_MEMORY] = "has_normal_memory",
	[HAS_CPU] = "has_cpu",
};

struct lists {
	struct mach_ids ids[LISTS];
	bool known[LISTS];
};

static int read_ids(const struct mach_root *root, const char *path, uint32_t max,
		    struct mach_ids *out)
{
	char *text = malloc(MACH_LINE_MAX);
	int ret;

	if (!text)
		return -ENOMEM;
	ret = mach_root_text(root, path, text, MACH_LINE_MAX);
	if (ret >= 0)
		ret = mach_ids_parse(text, max, out);
	free(text);
	return ret;
}

static void read_lists(const struct mach_root *root, struct machine *m, struct lists *lists)
{
	for (int i = 0; i < LISTS; i++) {
		char path[64];
		int ret;

		snprintf(path, sizeof(path), NODE_DIR "/%s", list_names[i]);
		ret = read_ids(root, path, MACH_NODE_ID_MAX, &lists->ids[i]);
		lists->known[i] = ret == 0;
		/* The others came later than these two, and others stand in for them. */
		if (ret && (i <= ONLINE || ret != -ENOENT)) {
			snprintf(path, sizeof(path), "/" NODE_DIR "/%s", list_names[i]);
			mach_blind(m, path, ret, "which nodes there are", "mount /sys");
		}
	}
}

/* "Node 0 MemTotal:  4417312 kB" */
static void read_node_meminfo(const struct mach_root *root, struct machine *m,
			      struct machine_node *node)
{
	struct mach_lines lines;
	char path[64], *line;
	int ret;

	snprintf(path, sizeof(path), NODE_DIR "/node%u/meminfo", node->id);
	ret = mach_lines_open(&lines, root, path, MACH_SMALL);
	while (!ret && (line = mach_lines_next(&lines))) {
		struct machine_count total = mach_field(line, "MemTotal:");
		struct machine_count free_now = mach_field(line, "MemFree:");

		if (total.known)
			node->total_kib = total;
		if (free_now.known)
			node->free_kib = free_now;
	}
	if (!ret)
		ret = mach_lines_close(&lines);
	if (ret) {
		snprintf(path, sizeof(path), "/" NODE_DIR "/node%u/meminfo", node->id);
		mach_blind(m, path, ret, "how much memory this node has", NULL);
	}
}

/* Return: 1 has CPUs, 0 has none, -1 unknown. */
static int read_node_cpus(const struct mach_root *root, uint32_t id, struct mach_ids *scratch)
{
	char path[64];

	snprintf(path, sizeof(path), NODE_DIR "/node%u/cpulist", id);
	return read_ids(root, path, MACH_ID_MAX, scratch) ? -1 : scratch->count > 0;
}

static void read_node(const struct mach_root *root, struct machine *m, struct lists *lists,
		      struct machine_node *node)
{
	int cpus = -1;

	node->online = mach_ids_has(&lists->ids[ONLINE], node->id);
	if (node->online)
		read_node_meminfo(root, m, node);
	if (lists->known[HAS_MEMORY])
		node->has_memory = mach_ids_has(&lists->ids[HAS_MEMORY], node->id);
	else if (node->total_kib.known)
		node->has_memory = node->total_kib.value > 0;
	else
		node->has_memory = mach_ids_has(&lists->ids[HAS_NORMAL_MEMORY], node->id);
	if (lists->known[HAS_CPU])
		cpus = mach_ids_has(&lists->ids[HAS_CPU], node->id);
	else if (node->online)
		cpus = read_node_cpus(root, node->id, &lists->ids[HAS_CPU]);
	node->has_cpu = cpus == 1;
	m->online_nodes += node->online;
	m->memory_nodes += node->has_memory;
	m->memory_only_nodes += node->has_memory && cpus == 0;
}

static int read_all_nodes(const struct mach_root *root, struct machine *m, struct lists *lists)
{
	struct mach_ids *all = &lists->ids[POSSIBLE];

	read_lists(root, m, lists);
	m->possible_nodes = lists->known[POSSIBLE] ? all->count : 0;
	for (int i = 0; i < LISTS; i++)
		if (!lists->known[i])
			memset(&lists->ids[i], 0, sizeof(lists->ids[i]));
	for (int i = ONLINE; i < LISTS; i++)
		for (uint32_t id = 0; id < MACH_NODE_ID_MAX; id++)
			if (mach_ids_has(&lists->ids[i], id))
				mach_ids_add(all, id);
	if (all->count == 0)
		return 0;
	m->node = calloc(all->count, sizeof(*m->node));
	if (!m->node)
		return -ENOMEM;
	for (uint32_t id = 0; id < MACH_NODE_ID_MAX; id++) {
		if (!mach_ids_has(all, id))
			continue;
		m->node[m->nodes].id = id;
		read_node(root, m, lists, &m->node[m->nodes++]);
	}
	return 0;
}

static int read_cpus(const struct mach_root *root, struct machine *m, struct mach_ids *scratch)
{
	const struct {
		const char *path;
		struct machine_count *count;
	} lists[] = {
		{ "/sys/devices/system/cpu/possible", &m->possible_cpus },
		{ "/sys/devices/system/cpu/online", &m->online_cpus },
	};

	for (size_t i = 0; i < 2; i++) {
		int ret = read_ids(root, lists[i].path + 1, MACH_ID_MAX, scratch);

		if (ret == -ENOMEM)
			return ret;
		if (ret)
			mach_blind(m, lists[i].path, ret, "how many CPUs there are", "mount /sys");
		else if (scratch->count)
			*lists[i].count = (struct machine_count){ true, scratch->count };
	}
	return 0;
}

int mach_read_nodes(const struct mach_root *root, struct machine *m)
{
	struct lists *lists = calloc(1, sizeof(*lists));
	int ret, there;

	if (!lists)
		return -ENOMEM;
	ret = read_cpus(root, m, &lists->ids[0]);
	there = mach_root_dir(root, NODE_DIR);
	m->numa_books = there == 0;
	mach_blind_if_there(m, NODE_DIR, there, "which nodes there are");
	if (!ret && m->numa_books)
		ret = read_all_nodes(root, m, lists);
	/* With the CPU directory there, a kernel without NUMA is all there is to it. */
	else if (!ret && mach_root_dir(root, "sys/devices/system/cpu"))
		mach_blind(m, "/" NODE_DIR, -ENOENT, "which nodes there are", "mount /sys");
	free(lists);
	return ret;
}

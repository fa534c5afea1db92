/* SPDX-License-Identifier: MIT */
/*
 * nodes.c - the nodes a table may be laid out on, read afresh for each
 *
 *   have memory     /sys/devices/system/node/has_memory
 *   - cpuset        Mems_allowed_list of this thread
 *   - asked for     the caller's set
 *   - memory only   nodes without CPUs, unless somebody named them
 *   - task policy   what the user said with numactl(8) or set_mempolicy(2)
 *
 * A policy on the region would override the task's, so the two are intersected
 * here. A binding policy also limits where memory may spill to.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/linux/internal.h"

#define NODE_DIR   "/sys/devices/system/node/"
#define WEIGHT_DIR "/sys/kernel/mm/mempolicy/weighted_interleave/"

static int read_list(const char *path, struct hdl_mask *out)
{
	char text[HDL_TEXT_MAX];
	int len = hdl_read_text(path, text, sizeof(text));

	if (len < 0)
		return len;
	return hdl_mask_parse(out, text) ? 0 : -EPROTO;
}

static int read_cpuset(struct hdl_mask *out)
{
	static const char key[] = "Mems_allowed_list:";
	struct hdl_lines lines;
	const char *line;
	int error = hdl_lines_open(&lines, "/proc/thread-self/status");

	if (error)
		return error;
	error = -ENOENT;
	while (error && (line = hdl_lines_next(&lines)))
		if (!strncmp(line, key, sizeof(key) - 1))
			error = hdl_mask_parse(out, line + sizeof(key) - 1) ? 0 : -EPROTO;
	hdl_lines_close(&lines);
	return error;
}

/** Return: the mode, or -errno. */
static int read_policy(struct hdl_mask *nodes)
{
	int mode = 0;
	long error;

	*nodes = (struct hdl_mask){ 0 };
	error = HDL_SYS(SYS_get_mempolicy, (long)&mode, (long)nodes->word, HDL_NODES_MAX + 1);
	return error ? (int)error : mode & ~HDL_MPOL_FLAGS;
}

/** Take away what @by lacks; remember @why if that left at most one node. */
static void narrow(struct hdl_nodes *nodes, const struct hdl_mask *by, enum hd_why why)
{
	uint32_t before = hdl_mask_count(&nodes->usable);

	hdl_mask_and(&nodes->usable, by);
	if (before > 1 && hdl_mask_count(&nodes->usable) <= 1)
		nodes->why = (uint8_t)why;
}

static void apply_policy(struct hdl_nodes *nodes, int mode, const struct hdl_mask *mask)
{
	bool named = hdl_mask_count(mask) > 0;

	nodes->policy = mode;
	if (mode == HDL_MPOL_LOCAL || (mode == HDL_MPOL_PREFERRED && !named)) {
		nodes->prefers_one = true;
	} else if (mode == HDL_MPOL_PREFERRED) {
		nodes->prefers_one = true;
		narrow(nodes, mask, HD_WHY_TASK_POLICY);
	} else if (mode != HDL_MPOL_DEFAULT && named) {
		narrow(nodes, mask, HD_WHY_TASK_POLICY);
		if (mode == HDL_MPOL_BIND)
			hdl_mask_and(&nodes->within, mask);
	}
}

/**
 * Nodes with memory: the file, or where it cannot be read (no /sys, no descriptor left)
 * those that the kernel allows this task. A kernel without NUMA has neither.
 */
static void read_memory_nodes(struct hdl_nodes *out)
{
	long error;

	if (!read_list(NODE_DIR "has_memory", &out->memory) && hdl_mask_count(&out->memory))
		return;
	out->memory = (struct hdl_mask){ 0 };
	error = HDL_SYS(SYS_get_mempolicy, 0, (long)out->memory.word, HDL_NODES_MAX + 1, 0,
			HDL_MPOL_F_MEMS_ALLOWED);
	if (!error && hdl_mask_count(&out->memory))
		return;
	out->memory = (struct hdl_mask){ 0 };
	hdl_mask_add(&out->memory, 0);
	out->guessed = error != -ENOSYS;
}

int hdl_nodes_read(const struct hdl_wish *wish, struct hdl_nodes *out)
{
	struct hdl_mask cpuset, cpus, policy;
	int mode = HDL_MPOL_DEFAULT;

	*out = (struct hdl_nodes){ .why = HD_WHY_MET };
	read_memory_nodes(out);
	if (hdl_mask_count(&out->memory) == 1)
		out->why = out->guessed ? HD_WHY_UNKNOWN : HD_WHY_ONE_NODE;
	if (out->guessed) {
		out->usable = out->within = out->memory;
		return 0;
	}
	out->usable = out->within = out->memory;
	if (!read_cpuset(&cpuset)) {
		narrow(out, &cpuset, HD_WHY_CPUSET);
		hdl_mask_and(&out->within, &cpuset);
	}
	if (wish->has_set) {
		narrow(out, &wish->node_set, HD_WHY_ONE_NODE);
		hdl_mask_and(&out->within, &wish->node_set);
	}
	if (!(wish->flags & HD_IGNORE_POLICY) && hdl_mask_count(&out->memory) > 1)
		mode = read_policy(&policy);
	if (mode > HDL_MPOL_DEFAULT)
		apply_policy(out, mode, &policy);
	if (!(wish->flags & HD_MEMORY_ONLY_NODES) && !wish->has_set &&
	    (mode <= HDL_MPOL_DEFAULT || out->prefers_one) &&
	    !read_list(NODE_DIR "has_cpu", &cpus)) {
		struct hdl_mask with_cpus = out->usable;

		hdl_mask_and(&with_cpus, &cpus);
		if (hdl_mask_count(&with_cpus))
			narrow(out, &cpus, HD_WHY_ONE_NODE);
	}
	if (hdl_mask_count(&out->usable))
		return 0;
	out->why = HD_WHY_NO_NODE;
	return -ENODEV;
}

static bool read_weights(struct hdl_shares *shares)
{
	uint32_t first = 0;
	bool differ = false;

	HDL_FOR_EACH_NODE(node, &shares->node)
	{
		char path[sizeof(WEIGHT_DIR) + 16];
		uint64_t weight;

		snprintf(path, sizeof(path), WEIGHT_DIR "node%u", node);
		if (hdl_read_number(path, &weight) || weight < 1 || weight > UINT8_MAX)
			return false;
		shares->weight[node] = (uint8_t)weight;
		if (!first)
			first = (uint32_t)weight;
		differ |= weight != first;
	}
	return differ;
}

void hdl_shares_even(struct hdl_shares *shares, const struct hdl_mask *node, bool ask_weights)
{
	*shares = (struct hdl_shares){ .node = *node, .nodes = hdl_mask_count(node) };
	shares->weighted = ask_weights && shares->nodes > 1 && read_weights(shares);
	HDL_FOR_EACH_NODE(n, node)
	{
		if (!shares->weighted)
			shares->weight[n] = 1;
		shares->round += shares->weight[n];
	}
}

uint32_t hdl_shares_node(const struct hdl_shares *shares, uint64_t index)
{
	uint64_t at = index % shares->round;

	HDL_FOR_EACH_NODE(node, &shares->node)
	{
		if (at < shares->weight[node])
			return node;
		at -= shares->weight[node];
	}
	return hdl_mask_next(&shares->node, 0);
}

int hdl_node_cpus(uint32_t node, unsigned long *cpus, size_t bytes)
{
	char path[sizeof(NODE_DIR) + 32], text[HDL_TEXT_MAX];
	const char *at = text;
	uint64_t first, last;
	int count = 0, len;

	snprintf(path, sizeof(path), NODE_DIR "node%u/cpulist", node);
	len = hdl_read_text(path, text, sizeof(text));
	if (len < 0)
		return len;
	memset(cpus, 0, bytes);
	while (hdl_number(&at, &first)) {
		last = first;
		if (*at == '-') {
			at++;
			if (!hdl_number(&at, &last))
				return -EPROTO;
		}
		for (uint64_t cpu = first; cpu <= last && cpu < bytes * CHAR_BIT; cpu++, count++)
			cpus[cpu / HDL_WORD_BITS] |= 1UL << cpu % HDL_WORD_BITS;
		if (*at == ',')
			at++;
	}
	return count;
}

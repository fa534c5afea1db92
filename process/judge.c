/* SPDX-License-Identifier: MIT */
/*
 * judge.c - is a mapping on large pages, and spread over the nodes it may use?
 *
 * The same words as for the kernel's own tables, so that a reader has one
 * vocabulary; the same bounds for a spread as core/judge.c. What cannot become
 * huge is not missed: the ends of a mapping that are no whole huge page.
 */
#include <string.h>

#include "process/internal.h"

enum {
	MISSED_PART = 10, /* up to one part in so many may be on base pages */
	FAIR_PIECES = 4,  /* pieces per node from which shares can be fair */
};

bool process_placeable(const struct process_mapping *mapping)
{
	return !mapping->executable &&
	       (mapping->kind == PROCESS_HEAP || mapping->kind == PROCESS_ANON ||
		mapping->kind == PROCESS_SHMEM || mapping->kind == PROCESS_HUGETLB);
}

uint64_t process_mapping_gain(const struct process_mapping *mapping)
{
	uint64_t page = UINT64_C(1) << mapping->huge_shift;
	uint64_t first = (mapping->start + page - 1) & ~(page - 1),
		 last = mapping->end & ~(page - 1);
	uint64_t base, ends;

	if (!mapping->pages_known || !mapping->huge_shift || !process_placeable(mapping) ||
	    mapping->kind == PROCESS_HUGETLB || first >= last)
		return 0;
	base = mapping->resident - mapping->huge;
	ends = first - mapping->start + (mapping->end - last);
	return base > ends ? base - ends : 0;
}

uint64_t process_gain(const struct process *process)
{
	uint64_t sum = 0;

	for (uint32_t m = 0; m < process->mappings; m++)
		sum += process_mapping_gain(&process->mapping[m]);
	return sum;
}

bool process_gain_known(const struct process *process)
{
	for (uint32_t m = 0; m < process->mappings; m++)
		if (process_placeable(&process->mapping[m]) && !process->mapping[m].pages_known)
			return false;
	return true;
}

/* "bind:0-1", "prefer:1", "prefer=relative:0", "prefer (many):0"; others confine nothing. */
bool process_policy_nodes(const char *policy, struct hdl_mask *out)
{
	const char *nodes = strrchr(policy, ':');

	if (!nodes || (strncmp(policy, "bind", 4) && strncmp(policy, "prefer", 6)))
		return false;
	return hdl_mask_parse(out, nodes + 1) && hdl_mask_count(out) > 0;
}

void process_nodes_allowed(const struct process *process, const struct process_mapping *mapping,
			   struct hdl_mask *out)
{
	struct hdl_mask policy;

	*out = process->memory;
	if (process->allowed_known)
		hdl_mask_and(out, &process->allowed);
	if (process_policy_nodes(mapping->policy, &policy))
		hdl_mask_and(out, &policy);
}

static void judge_pages(struct process_mapping *mapping)
{
	uint64_t gain = process_mapping_gain(mapping);

	if (!mapping->pages_known)
		mapping->verdicts |= 1 << HD_V_UNKNOWN;
	else if (gain && gain >> mapping->huge_shift && gain > mapping->resident / MISSED_PART)
		mapping->verdicts |= 1 << HD_V_SMALL_PAGES;
}

static void judge_nodes(const struct process *process, struct process_mapping *mapping)
{
	struct hdl_mask allowed;
	uint64_t total = 0, most = 0, pieces;
	uint32_t count;

	process_nodes_allowed(process, mapping, &allowed);
	count = hdl_mask_count(&allowed);
	if (count < 2)
		return;
	if (!mapping->nodes_known) {
		mapping->verdicts |= 1 << HD_V_UNKNOWN;
		return;
	}
	for (uint32_t n = 0; n < process->nodes; n++) {
		total += mapping->node_bytes[n];
		if (mapping->node_bytes[n] > most)
			most = mapping->node_bytes[n];
	}
	pieces = total >> (mapping->huge_shift ? mapping->huge_shift : process->pages.base_shift);
	if (pieces < count)
		return;
	if (most == total)
		mapping->verdicts |= 1 << HD_V_ONE_NODE;
	else if (pieces >= (uint64_t)FAIR_PIECES * count && most / 3 * 2 > total / count)
		mapping->verdicts |= 1 << HD_V_LOPSIDED;
}

void process_judge(const struct process *process, struct process_mapping *mapping)
{
	mapping->verdicts = 0;
	mapping->verdict = HD_OK;
	if (!process_placeable(mapping))
		return;
	judge_pages(mapping);
	judge_nodes(process, mapping);
	for (uint8_t code = 0; code < HD_V_COUNT; code++)
		if (mapping->verdicts >> code & 1)
			mapping->verdict = code;
}

/* SPDX-License-Identifier: MIT */
/*
 * hinder.c - what stands in the way of large pages, or of a spread
 *
 * Hinders of large pages are named where a mapping has base pages that could be
 * huge, hinders of a spread where it lies on fewer nodes than the machine has:
 * what is as it should be is not hindered. What cannot be seen is not named.
 *
 * Source of the rules for huge pages: prctl(2), madvise(2),
 * Documentation/admin-guide/mm/transhuge.rst, Linux 6.12.
 */
#include "process/internal.h"

const char *process_hinder_name(enum process_hinder hinder)
{
	static const char *const names[] = { "thp-never", "thp-off",   "not-advised", "refused",
					     "too-small", "pinned",    "shared",      "policy",
					     "cpuset",    "node-full", "kind",        "sparse" };

	for (unsigned bit = 0; bit < sizeof(names) / sizeof(names[0]); bit++)
		if (hinder == 1U << bit)
			return names[bit];
	return "unknown";
}

static bool holds_huge_page(const struct process_mapping *mapping)
{
	uint64_t page = UINT64_C(1) << mapping->huge_shift;

	return ((mapping->start + page - 1) & ~(page - 1)) + page <= mapping->end;
}

/** Base pages that are no huge page for a reason that can be named. */
static uint32_t page_hinders(const struct process *process, const struct process_mapping *mapping)
{
	uint64_t bytes = mapping->end - mapping->start;
	uint32_t found = 0;

	if (mapping->kind == PROCESS_HUGETLB)
		return 0;
	if (!mapping->huge_shift)
		return HINDER_THP_NEVER;
	if (!holds_huge_page(mapping))
		return HINDER_TOO_SMALL;
	if (mapping->pages_known && !process_mapping_gain(mapping) && mapping->resident)
		return 0;
	if (mapping->thp <= HDL_THP_NEVER)
		found |= HINDER_THP_NEVER;
	if (process->thp_off_known && process->thp_off)
		found |= HINDER_THP_OFF;
	if (mapping->details_known && mapping->refused)
		found |= HINDER_REFUSED;
	if (mapping->details_known && mapping->thp == HDL_THP_MADVISE &&
	    mapping->advised + mapping->refused < bytes)
		found |= HINDER_NOT_ADVISED;
	if (process->pinned)
		found |= HINDER_PINNED;
	return found;
}

/** A node that has not its share, nor the room for the rest of it. */
static bool node_full(const struct process *process, const struct process_mapping *mapping,
		      const struct hdl_mask *allowed)
{
	uint64_t share = mapping->resident / hdl_mask_count(allowed);

	for (uint32_t n = 0; process->node_room && n < process->nodes; n++)
		if (hdl_mask_has(allowed, process->node[n]) && mapping->node_bytes[n] < share &&
		    process->node_room[n] < share - mapping->node_bytes[n])
			return true;
	return false;
}

static uint32_t node_hinders(const struct process *process, const struct process_mapping *mapping)
{
	struct hdl_mask cpuset = process->memory, policy, allowed;
	uint32_t found = 0;

	if (process->nodes < 2)
		return 0;
	if (process->allowed_known)
		hdl_mask_and(&cpuset, &process->allowed);
	if (hdl_mask_count(&cpuset) == 1)
		found |= HINDER_CPUSET;
	if (process_policy_nodes(mapping->policy, &policy) && hdl_mask_count(&policy) == 1)
		found |= HINDER_POLICY;
	process_nodes_allowed(process, mapping, &allowed);
	if (mapping->nodes_known && hdl_mask_count(&allowed) > 1 &&
	    mapping->verdicts & (1 << HD_V_ONE_NODE | 1 << HD_V_LOPSIDED) &&
	    node_full(process, mapping, &allowed))
		found |= HINDER_NODE_FULL;
	return found;
}

void process_hinders(const struct process *process, struct process_mapping *mapping)
{
	uint64_t bytes = mapping->end - mapping->start;

	mapping->hinders = 0;
	if (!process_placeable(mapping)) {
		mapping->hinders = HINDER_KIND;
		return;
	}
	mapping->hinders = page_hinders(process, mapping) | node_hinders(process, mapping);
	if (mapping->details_known && mapping->twice && !mapping->shared)
		mapping->hinders |= HINDER_SHARED;
	if (mapping->pages_known && mapping->resident + mapping->swapped < bytes / 2)
		mapping->hinders |= HINDER_SPARSE;
}

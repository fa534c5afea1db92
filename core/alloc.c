/* SPDX-License-Identifier: MIT */
/*
 * alloc.c - the engine: choose the provider, halve and retry, give up loudly
 *
 *   early       the table is wanted before the page allocator runs
 *   contiguous  it fits the largest order, and is not to be distributed
 *   scattered   it is to be distributed, or is beyond the largest order
 *
 * Kernels before 5.3 had no third case for large tables: beyond the largest
 * order the attempt failed and the table was halved until it fitted.
 *
 * Source: alloc_large_system_hash(), __vmalloc_node_range(), Linux 2.6.11 to 7.1.
 */
#include "hashdist/core.h"

unsigned hd_vmalloc_shift(const struct hd_rules *rules, const struct hd_facts *facts,
			  bool nohugevmalloc, uint64_t bytes)
{
	unsigned page_shift = (unsigned)rules->value[HD_RULE_PAGE_SHIFT];
	unsigned pmd_shift = (unsigned)rules->value[HD_RULE_PMD_SHIFT];
	unsigned pte_shift = (unsigned)rules->value[HD_RULE_PTE_SHIFT];
	uint64_t judged = bytes;

	if (rules->value[HD_RULE_HUGE_VMALLOC] == HD_HUGE_NEVER || nohugevmalloc)
		return page_shift;
	if (rules->value[HD_RULE_HUGE_VMALLOC] == HD_HUGE_NODE_SHARE && facts->online_nodes)
		judged = bytes / facts->online_nodes;
	if (pmd_shift && judged >> pmd_shift)
		return pmd_shift;
	return pte_shift && judged >> pte_shift ? pte_shift : page_shift;
}

static bool wants_early(const struct hd_machine *machine, const struct hd_request *request)
{
	return request->when == HD_WHEN_EARLY ||
	       (request->when == HD_WHEN_EARLY_UNLESS && !machine->hashdist);
}

/** One attempt at @out->bytes. Fills start, mapping, early and shift. */
static bool attempt(const struct hd_machine *machine, const struct hd_request *request,
		    const struct hd_providers *providers, struct hd_table *out)
{
	const struct hd_rules *rules = &machine->rules;
	unsigned order = hd_order(rules, out->bytes);
	bool beyond = order > (unsigned)rules->value[HD_RULE_TOP_ORDER];

	out->early = wants_early(machine, request);
	out->mapping = HD_MAP_LINEAR;
	out->shift = 0;
	if (out->early) {
		out->start = providers->early(providers->ctx, out->bytes, request->zero);
	} else if (machine->hashdist || (beyond && rules->value[HD_RULE_FALLBACK_VMALLOC])) {
		out->shift = hd_vmalloc_shift(rules, &machine->facts, machine->params.nohugevmalloc,
					      out->bytes);
		out->start = providers->scattered(providers->ctx, out->bytes, out->shift,
						  &out->shift, request->zero);
		out->mapping = out->shift > (unsigned)rules->value[HD_RULE_PAGE_SHIFT]
				   ? HD_MAP_VMALLOC_HUGE
				   : HD_MAP_VMALLOC;
	} else {
		out->start = beyond ? NULL
				    : providers->contiguous(providers->ctx, out->bytes, order,
							    request->zero);
	}
	return out->start != NULL;
}

int hd_table_alloc(const struct hd_machine *machine, const struct hd_request *request,
		   const struct hd_providers *providers, struct hd_table *out)
{
	uint64_t page = 1ULL << machine->rules.value[HD_RULE_PAGE_SHIFT];
	struct hd_table table = { 0 };
	int error = hd_table_size(&machine->rules, &machine->facts.pages, request, &table.sizing);

	if (error)
		return error;
	table.entries = table.sizing.entries;
	for (;;) {
		table.bytes = table.entries * request->bucket_bytes;
		if (attempt(machine, request, providers, &table))
			break;
		if (table.bytes <= page || table.entries <= 2)
			return HD_ENOMEM;
		table.entries >>= 1;
		table.halvings++;
	}
	*out = table;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* ledger.c - shares of nodes: what they should hold, who gives, who takes */
#include "backend/linux/facts.h"
#include "backend/linux/ledger.h"

uint64_t hdl_quota(const struct hdl_ledger *ledger, uint32_t node, bool most)
{
	const struct hdl_shares *aim = ledger->aim;
	uint64_t units = (ledger->bytes + (1ULL << ledger->shift) - 1) >> ledger->shift;
	uint64_t share;

	if (!hdl_mask_has(&aim->node, node))
		return 0;
	share = units * aim->weight[node];
	share = most ? (share + aim->round - 1) / aim->round : share / aim->round;
	return share << ledger->shift;
}

static bool has_room(const struct hdl_ledger *ledger, uint32_t node, uint64_t bytes, bool most)
{
	return !(ledger->full && ledger->full[node]) &&
	       ledger->node[node] + bytes <= hdl_quota(ledger, node, most);
}

uint32_t hdl_destination(const struct hdl_ledger *ledger, uint32_t from, uint64_t index,
			 uint64_t bytes, bool surplus)
{
	uint32_t pattern = hdl_shares_node(ledger->aim, index);
	uint64_t have = ledger->node[from];
	bool beyond = have > hdl_quota(ledger, from, true);

	if (have < bytes || have - bytes < hdl_quota(ledger, from, false) || (surplus && !beyond))
		return HDL_NODES_MAX;
	for (int most = 0; most <= beyond; most++) {
		if (has_room(ledger, pattern, bytes, most))
			return pattern;
		HDL_FOR_EACH_NODE(node, &ledger->aim->node)
		if (has_room(ledger, node, bytes, most))
			return node;
	}
	return HDL_NODES_MAX;
}

bool hdl_even(const struct hdl_ledger *ledger, uint32_t *worst)
{
	uint64_t unit = 1ULL << ledger->shift, largest = 0;
	bool even = true;

	for (uint32_t node = 0; node < HDL_NODES_MAX; node++) {
		uint64_t have = ledger->node[node], low = hdl_quota(ledger, node, false), off = 0;

		if (have > hdl_quota(ledger, node, true))
			even = false;
		/* A tail that is no whole unit may be missing from one share. */
		if (have + unit <= low || (have < low && ledger->bytes % unit == 0))
			off = low - have;
		if (!off)
			continue;
		even = false;
		if (off > largest) {
			largest = off;
			*worst = node;
		}
	}
	return even;
}

bool hdl_near_even(const struct hdl_ledger *ledger)
{
	uint64_t unit = 1ULL << ledger->shift;

	for (uint32_t node = 0; node < HDL_NODES_MAX; node++) {
		uint64_t have = ledger->node[node], most = hdl_quota(ledger, node, true);

		if (have && !hdl_mask_has(&ledger->aim->node, node))
			return false;
		if ((have && have >= most + unit) || have + unit <= hdl_quota(ledger, node, false))
			return false;
	}
	return true;
}

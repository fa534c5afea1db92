/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - how much each node holds, and how much it should
 *
 * Shares are counted in units and may differ by one: of five units two nodes
 * get two and three. Bytes throughout.
 */
#ifndef HASHDIST_LINUX_LEDGER_H
#define HASHDIST_LINUX_LEDGER_H

#include "backend/linux/linux.h"

struct hdl_ledger {
	const struct hdl_shares *aim;
	uint64_t bytes;   /* in all */
	unsigned shift;   /* log2 bytes of a unit */
	uint64_t *node;   /* what each holds now, by node number; HDL_NODES_MAX long */
	const bool *full; /* nodes that take nothing more, HDL_NODES_MAX long; NULL none */
};

/** What @node should hold, at least or at most. */
uint64_t hdl_quota(const struct hdl_ledger *ledger, uint32_t node, bool most);
/**
 * hdl_destination() - where @bytes of unit @index, which @from holds, should go
 * @surplus: only what @from holds beyond its share at most
 *
 * A move is worth it only if it takes from a surplus or fills a lack, and is best
 * when it does both. Ask for surplus of all units first, then without: then no
 * layout is mended with fewer moves.
 * Return: the unit's node in the pattern if that will do, else another node;
 * HDL_NODES_MAX: it should stay.
 */
uint32_t hdl_destination(const struct hdl_ledger *ledger, uint32_t from, uint64_t index,
			 uint64_t bytes, bool surplus);
/** Is no share a whole unit or more away from what it should be? Nodes not aimed at hold nothing. */
bool hdl_near_even(const struct hdl_ledger *ledger);
/** Are all shares met? If not, *@worst is the node that lacks most. */
bool hdl_even(const struct hdl_ledger *ledger, uint32_t *worst);

#endif

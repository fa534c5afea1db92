/* SPDX-License-Identifier: MIT */
/*
 * deal.c - which node's turn it is, and how the pages of a scattered block are dealt
 *
 * Kernels differ here, and core's rules say how (HD_RULE_DEAL):
 *
 *   pages     each to the next node; later kernels ask for 100 at once and split those evenly
 *   anywhere  the turn is forgotten
 *   chunks    blocks as large as still fit, up to the largest order, each to the next node
 *
 * Huge pages are dealt one by one, or in chunks. Nodes below 16 MiB take no part.
 */
#include "kernel.h"

#define LEAST_BYTES (16UL << 20)

static int takers[NODES_MAX];
static unsigned count, turn;
static enum hd_deal how;
static uint64_t bulk; /* pages asked for at once; 1: each by itself */

/** Where dealt blocks go. */
struct taker {
	bool (*put)(void *ctx, uint64_t address, unsigned order);
	void *ctx;
};

void deal_init(const struct hd_machine *machine)
{
	uint64_t bytes[NODES_MAX] = { 0 };
	int largest = 0;

	for (unsigned i = 0; i < ram.count; i++)
		bytes[ram.at[i].node] += ram.at[i].end - ram.at[i].start;
	for (int n = 0; n < NODES_MAX; n++) {
		if (bytes[n] >= LEAST_BYTES)
			takers[count++] = n;
		if (bytes[n] > bytes[largest])
			largest = n;
	}
	if (!count)
		takers[count++] = largest;
	how = (enum hd_deal)machine->rules.value[HD_RULE_DEAL];
	/* The kernel whose lists of 100 obey the turn is 5.16. */
	bulk = !machine->rules.version || machine->rules.version >= HD_VERSION(5, 16, 0) ? 100 : 1;
}

int deal_turn(void)
{
	int node = takers[turn];

	turn = (turn + 1) % count;
	return node;
}

/** One block of @node's, or of one after it, put away. */
static bool give(const struct taker *to, int node, unsigned order)
{
	uint64_t address = pages_alloc(node, order);

	if (!address)
		return false;
	if (to->put(to->ctx, address, order))
		return true;
	pages_free(address, order);
	return false;
}

/** @units of 2^@order pages, @at_once of them split over the nodes at a time. */
static bool deal_even(const struct taker *to, uint64_t units, unsigned order, uint64_t at_once)
{
	while (units) {
		uint64_t some = units < at_once ? units : at_once;
		unsigned turns = at_once > 1 ? count : 1;

		for (unsigned i = 0; i < turns; i++) {
			uint64_t share = some / turns + (i < some % turns);
			int node = deal_turn();

			while (share--)
				if (!give(to, node, order))
					return false;
		}
		units -= some;
	}
	return true;
}

/** What is left for single base pages is asked for in bulk. */
static bool deal_chunks(const struct taker *to, uint64_t units, unsigned order)
{
	unsigned most = TOP_ORDER;

	while (units) {
		unsigned chunk = most;

		while (1UL << (chunk - order) > units)
			chunk--;
		if (!chunk)
			return deal_even(to, units, order, bulk);
		if (give(to, deal_turn(), chunk))
			units -= 1UL << (chunk - order);
		else if (chunk > order)
			most = chunk - 1;
		else
			return false;
	}
	return true;
}

bool deal(uint64_t units, unsigned shift, bool (*put)(void *ctx, uint64_t address, unsigned order),
	  void *ctx)
{
	const struct taker to = { put, ctx };
	unsigned order = shift - PAGE_SHIFT;

	if (how == HD_DEAL_CHUNKS)
		return deal_chunks(&to, units, order);
	if (how == HD_DEAL_ANYWHERE && !order) {
		while (units && give(&to, takers[0], 0))
			units--;
		return !units;
	}
	return deal_even(&to, units, order, order ? 1 : bulk);
}

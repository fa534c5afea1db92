/* SPDX-License-Identifier: MIT */
/*
 * uneven.c - do the huge pages of a stretch lie where they should?
 *
 * A node without a free huge page gets none: the kernel takes one of another node
 * and says nothing. So where they lie is asked of the kernel, for --explain.
 *
 * The head of a block and the page behind it are on one node if the block is huge;
 * of base pages, which are dealt one by one, they are not, and that block is not
 * counted. All kernels can be asked so.
 */
#include <stdio.h>
#include <string.h>

#include "backend/linux/facts.h"
#include "backend/linux/sys.h"
#include "preload/preload.h"
#include "preload/uneven.h"

enum { BATCH = 128, TOLD = 64 };

static uint64_t held[HDL_NODES_MAX]; /* blocks */
/* By hash of stretch and node: the lack that was told last. */
static uint64_t told[TOLD];

/** One batch. Return: how many blocks were counted. */
static uint64_t count_batch(uint64_t start, uint64_t count, const struct blocks *blocks)
{
	uint64_t page[2 * BATCH], found = 0;
	int node[2 * BATCH];

	for (uint64_t i = 0; i < count; i++) {
		page[2 * i] = start + (i << blocks->huge_shift);
		page[2 * i + 1] = page[2 * i] + (1ULL << blocks->page_shift);
	}
	if (HDL_SYS(SYS_move_pages, 0, (long)(2 * count), (long)page, 0, (long)node, 0))
		return 0;
	for (uint64_t i = 0; i < count; i++)
		if (node[2 * i] >= 0 && node[2 * i] == node[2 * i + 1] &&
		    node[2 * i] < HDL_NODES_MAX) {
			held[node[2 * i]]++;
			found++;
		}
	return found;
}

static bool is_news(uint64_t start, uint32_t node, uint64_t lack)
{
	uint64_t *last = &told[((start >> 21) + node) * 0x9e3779b97f4a7c15ULL >> 58];
	bool news = *last != lack;

	*last = lack;
	return news;
}

void uneven_explain(uint64_t start, uint64_t end, const struct blocks *blocks)
{
	struct hdl_shares shares;
	uint64_t found = 0;
	char text[64];

	if (!preload_options.explain)
		return;
	memset(held, 0, sizeof(held));
	for (uint64_t at = start; at < end;) {
		uint64_t count = (end - at) >> blocks->huge_shift;

		count = count < BATCH ? count : BATCH;
		found += count_batch(at, count, blocks);
		at += count << blocks->huge_shift;
	}
	hdl_shares_even(&shares, &preload_options.nodes, preload_options.weighted);
	HDL_FOR_EACH_NODE(node, &shares.node)
	{
		uint64_t share = found * shares.weight[node] / shares.round;
		uint64_t lack = share > held[node] ? share - held[node] : 0;

		if (!is_news(start, node, lack) || !lack)
			continue;
		snprintf(text, sizeof(text), "blocks less than its share on node %u: node-full",
			 node);
		preload_explain(start, end - start, "scan", lack, text, 0);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * providers.c - this machine behind the door of core/
 *
 * What the kernel calls contiguous, one block of the linear map, is here one
 * node's memory on large pages; scattered is memory of all nodes. There is no
 * boot allocator any more.
 */
#include <errno.h>

#include "backend/linux/internal.h"

static void *make(struct hdl_maker *maker, uint64_t bytes, bool spread)
{
	if (maker->error && (maker->once || maker->error != -ENOMEM))
		return NULL; /* halving would not help, or is not wanted */
	maker->wish.spread = spread;
	maker->error = hdl_region_make(bytes, &maker->wish, &maker->region, &maker->got);
	maker->made = !maker->error;
	return maker->made ? maker->region.start : NULL;
}

static void *contiguous(void *ctx, uint64_t bytes, unsigned order, bool zero)
{
	(void)order;
	(void)zero; /* fresh memory is */
	return make(ctx, bytes, false);
}

static void *scattered(void *ctx, uint64_t bytes, unsigned shift, unsigned *got_shift, bool zero)
{
	struct hdl_maker *maker = ctx;
	void *start = make(maker, bytes, true);

	(void)shift; /* the ladder of the running kernel has more rungs than this */
	(void)zero;
	if (start)
		*got_shift = maker->region.shift;
	return start;
}

static void *early(void *ctx, uint64_t bytes, bool zero)
{
	return contiguous(ctx, bytes, 0, zero);
}

struct hd_providers hdl_providers(struct hdl_maker *maker)
{
	return (struct hd_providers){
		.ctx = maker, .early = early, .contiguous = contiguous, .scattered = scattered
	};
}

int hdl_memory_read(const struct hdl_wish *wish, struct hdl_memory *out)
{
	struct hdl_nodes nodes;
	struct hdl_pages pages;
	int error = hdl_nodes_read(wish, &nodes);

	if (error)
		return error;
	hdl_pages_read(&pages);
	*out = (struct hdl_memory){ .bytes = hdl_room_total(&nodes),
				    .base_shift = pages.base_shift,
				    .huge_shift = pages.thp_shift,
				    .nodes = hdl_mask_count(&nodes.memory) };
	return 0;
}

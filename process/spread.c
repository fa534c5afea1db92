/* SPDX-License-Identifier: MIT */
/*
 * spread.c - whole blocks of another process over its nodes
 *
 * A huge page moves when the address of its head is moved. Where the other node
 * has no free huge block, the kernel would split it and report success: the
 * books are asked before. Batches grow while they are fast.
 *
 * A target in a cpuset that lacks a node makes the whole call fail with EACCES,
 * so only nodes its cpuset allows are aimed at.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/linux/ledger.h"
#include "backend/linux/scan.h"
#include "backend/linux/sys.h"
#include "process/record.h"
#include "process/step.h"

/* RESERVE: free blocks that stay, for below its watermarks the kernel gives none. */
enum { BATCH = 64, MOVE_FLAG = 1 << 1, RESERVE = 2 };

enum place_obstacle spread_aim(const struct pass *pass, struct hdl_shares *out)
{
	const struct process *process = pass->process;
	struct hdl_mask nodes = { 0 };

	for (uint32_t i = 0; i < process->nodes; i++)
		hdl_mask_add(&nodes, process->node[i]);
	if (process->nodes < 2)
		return PLACE_ONE_NODE;
	if (process->allowed_known)
		hdl_mask_and(&nodes, &process->allowed);
	if (pass->options->nodes)
		hdl_mask_and(&nodes, pass->options->nodes);
	if (hdl_mask_count(&nodes) < 2)
		return PLACE_ONE_ALLOWED;
	hdl_shares_even(out, &nodes, true);
	return PLACE_CLEAR;
}

struct batch {
	uint32_t count, limit;
	uint64_t index[BATCH];
	int from[BATCH], to[BATCH];
	bool full[HDL_NODES_MAX]; /* has refused; it would again */
};

/** All pages of a batch's blocks, head by head, or page by page where one is not huge. */
static int move(const struct process *process, const struct blocks *blocks, const uint64_t *index,
		const int *to, uint32_t count, int *status)
{
	uint64_t at[BATCH];

	for (uint32_t i = 0; i < count; i++) {
		at[i] = blocks_address(blocks, index[i]);
		status[i] = -EBUSY;
	}
	return (int)HDL_SYS(SYS_move_pages, process->pid, count, (long)at, (long)to, (long)status,
			    MOVE_FLAG);
}

/** Where a page in the middle of a block is: with the head if the block is huge. */
static int middle_node(const struct process *process, const struct blocks *blocks, uint64_t index)
{
	uint64_t at = blocks_address(blocks, index) + (1ULL << (blocks->shift - 1));
	int node = -ENOENT;

	HDL_SYS(SYS_move_pages, process->pid, 1, (long)&at, 0, (long)&node, 0);
	return node;
}

/** A block of base pages; the worst answer of its pages is the block's. */
static int move_base(const struct process *process, const struct blocks *blocks, uint64_t index,
		     int to)
{
	enum { PAGES = 512 };
	uint64_t at = blocks_address(blocks, index), end = at + (1ULL << blocks->shift);
	int worst = to;

	while (at < end) {
		uint64_t page[PAGES];
		int node[PAGES], status[PAGES];
		long count = 0, error;

		for (; count < PAGES && at < end; count++, at += 1ULL << blocks->base_shift) {
			page[count] = at;
			node[count] = to;
			status[count] = -EBUSY;
		}
		error = HDL_SYS(SYS_move_pages, process->pid, count, (long)page, (long)node,
				(long)status, MOVE_FLAG);
		if (error < 0)
			return (int)error;
		for (long i = 0; i < count; i++)
			if (status[i] < 0 && status[i] != -ENOENT)
				worst = status[i];
	}
	return worst;
}

static enum place_refusal meaning(int answer)
{
	switch (answer) {
	case -ENOMEM:
		return PLACE_NODE_FULL;
	case -EACCES:
		return PLACE_SHARED;
	case -EBUSY:
	case -EAGAIN:
	case -EFAULT:
		return PLACE_BUSY;
	case -EPERM:
		return PLACE_RIGHT;
	default:
		return answer >= 0 ? PLACE_NODE_FULL : PLACE_OTHER;
	}
}

/** A block changes sides in the ledger; where it came from has none, undo has no ledger. */
static void book(struct hdl_ledger *ledger, const struct blocks *blocks, int from, int to)
{
	if (!ledger)
		return;
	ledger->node[from] -= 1ULL << blocks->shift;
	ledger->node[to] += 1ULL << blocks->shift;
}

static void settle(struct pass *pass, struct blocks *blocks, struct hdl_ledger *ledger,
		   struct batch *batch, uint32_t i, int answer)
{
	struct block *block = &blocks->block[batch->index[i]];

	if (answer == batch->to[i]) {
		block->node = (int16_t)answer;
		pass->result->moved++;
		return;
	}
	/* The ledger was written when it was gathered. */
	book(ledger, blocks, batch->to[i], block->node);
	if (answer == -ENOMEM || answer >= 0)
		batch->full[batch->to[i]] = true;
	pass->result->refused[meaning(answer)]++;
}

static void add_huge(void *ctx, uint64_t start, uint64_t end, bool huge)
{
	if (huge)
		*(uint64_t *)ctx += end - start;
}

/**
 * Has a block that was huge come through as one? Before Linux 6.7 nobody tells; then one
 * that was @refused may be in pieces, on either node, and is taken to be.
 */
static bool still_whole(const struct process *process, const struct blocks *blocks, uint64_t index,
			bool refused)
{
	uint64_t at = blocks_address(blocks, index), huge = 0;
	int head = -ENOENT;

	if (!hdl_scan(process->pid, at, 1ULL << blocks->shift, add_huge, &huge))
		return huge == 1ULL << blocks->shift;
	HDL_SYS(SYS_move_pages, process->pid, 1, (long)&at, 0, (long)&head, 0);
	return !refused && head == middle_node(process, blocks, index);
}

/**
 * The kernel may split a block on its way; what it has split is gathered again: over there,
 * or, where most of it is by now but no huge block is free, back where it came from.
 */
static void rejoin(struct pass *pass, struct blocks *blocks, struct batch *batch)
{
	uint64_t bytes = 1ULL << blocks->shift;

	for (uint32_t i = 0; i < batch->count; i++) {
		struct block *block = &blocks->block[batch->index[i]];

		if (!block->huge || still_whole(pass->process, blocks, batch->index[i],
						block->node != batch->to[i]))
			continue;
		batch->full[batch->to[i]] = true;
		if (!pass_collapse_block(pass, blocks_address(blocks, batch->index[i]), bytes))
			continue;
		move_base(pass->process, blocks, batch->index[i], batch->from[i]);
		block->node = (int16_t)batch->from[i];
		if (pass_collapse_block(pass, blocks_address(blocks, batch->index[i]), bytes)) {
			block->huge = false;
			pass->result->refused[PLACE_SPLIT]++;
		}
	}
}

static void move_batch(struct pass *pass, struct blocks *blocks, struct hdl_ledger *ledger,
		       struct batch *batch)
{
	uint64_t limit_us = (pass->options->step_ms ? pass->options->step_ms : 20) * 1000u;
	int status[BATCH], error = 0;
	bool huge;

	if (!batch->count)
		return;
	huge = blocks->block[batch->index[0]].huge;
	pass_begin(pass);
	if (huge || !blocks->huge_known)
		error = move(pass->process, blocks, batch->index, batch->to, batch->count, status);
	/* Nobody knows whether it was huge: if it was not, only its first page has moved. */
	if (!huge && (blocks->huge_known ||
		      (status[0] == batch->to[0] &&
		       middle_node(pass->process, blocks, batch->index[0]) != batch->to[0]))) {
		status[0] = move_base(pass->process, blocks, batch->index[0], batch->to[0]);
		error = status[0] == -ESRCH || status[0] == -EPERM ? status[0] : 0;
	}
	if (pass_now_us() - pass->begin_us > limit_us / 2)
		batch->limit = batch->limit > 1 ? batch->limit / 2 : 1;
	else if (batch->limit < BATCH)
		batch->limit *= 2;
	pass_end(pass);
	if (error == -ESRCH)
		pass->result->stopped = pass->result->gone = true;
	for (uint32_t i = 0; i < batch->count; i++)
		settle(pass, blocks, ledger, batch, i, error < 0 ? error : status[i]);
	if (huge && !pass->result->gone)
		rejoin(pass, blocks, batch);
	pass->progress_done += batch->count;
	pass_progress(pass, "spread");
	batch->count = 0;
}

/** Where block @i should go, or -1 when it is well where it is. */
static int wanted_node(const struct blocks *blocks, uint64_t i, const struct hdl_ledger *ledger,
		       const struct place_record *record, bool surplus)
{
	const struct block *block = &blocks->block[i];
	uint64_t bytes = 1ULL << blocks->shift;
	uint32_t to;

	if (!block->populated || block->node < 0)
		return -1;
	if (record) {
		int was = record_node(record, blocks_address(blocks, i));

		return was == block->node ? -1 : was;
	}
	to = hdl_destination(ledger, (uint32_t)block->node,
			     blocks_address(blocks, i) >> blocks->shift, bytes, surplus);
	return to == HDL_NODES_MAX ? -1 : (int)to;
}

/** Is there room for one more huge block over there? Base pages find theirs. */
static bool room_for(const struct pass *pass, const struct blocks *blocks, uint64_t i,
		     const struct batch *batch, int to)
{
	uint64_t before = 0;

	if (batch->full[to])
		return false;
	if (!blocks->block[i].huge && blocks->huge_known)
		return true;
	for (uint32_t k = 0; k < batch->count; k++)
		before += batch->to[k] == to;
	return pass->options->compact ||
	       pass_free_huge(pass->process, (uint32_t)to) > before + RESERVE;
}

static void move_blocks(struct pass *pass, struct blocks *blocks, struct hdl_ledger *ledger,
			const struct place_record *record, bool surplus, struct batch *batch)
{
	for (uint64_t i = 0; i < blocks->count && !pass_stopped(pass); i++) {
		int to = wanted_node(blocks, i, ledger, record, surplus);
		bool base = !blocks->block[i].huge;

		if (to < 0)
			continue;
		pass->result->move_wanted++;
		book(ledger, blocks, blocks->block[i].node, to);
		if (pass->options->dry_run)
			continue;
		if (!room_for(pass, blocks, i, batch, to)) {
			book(ledger, blocks, to, blocks->block[i].node);
			batch->full[to] = true;
			pass->result->refused[PLACE_NODE_FULL]++;
			continue;
		}
		if (base)
			move_batch(pass, blocks, ledger, batch);
		batch->index[batch->count] = i;
		batch->from[batch->count] = blocks->block[i].node;
		batch->to[batch->count++] = to;
		if (base || batch->count >= batch->limit)
			move_batch(pass, blocks, ledger, batch);
	}
	move_batch(pass, blocks, ledger, batch);
}

void pass_spread(struct pass *pass, struct blocks *blocks, const struct hdl_shares *aim)
{
	uint64_t *held = calloc(HDL_NODES_MAX, sizeof(*held));
	struct batch *batch = calloc(1, sizeof(*batch));
	struct hdl_ledger ledger = { .aim = aim, .shift = blocks->shift, .node = held };
	int error = held && batch ? blocks_ask_nodes(pass->process, blocks) : -ENOMEM;

	if (error == -EPERM || error == -EACCES || error == -ENOSYS)
		pass->result->spread_obstacle = pass_forbidden(SYS_move_pages);
	if (!error) {
		for (uint64_t i = 0; i < blocks->count; i++)
			if (blocks->block[i].populated && blocks->block[i].node >= 0) {
				held[blocks->block[i].node] += 1ULL << blocks->shift;
				ledger.bytes += 1ULL << blocks->shift;
			}
		batch->limit = 1;
		ledger.full = batch->full;
		move_blocks(pass, blocks, &ledger, NULL, true, batch);
		move_blocks(pass, blocks, &ledger, NULL, false, batch);
	}
	free(batch);
	free(held);
}

void pass_move_back(struct pass *pass, struct blocks *blocks, const struct place_record *record)
{
	struct batch *batch = calloc(1, sizeof(*batch));

	if (batch && !blocks_ask_nodes(pass->process, blocks)) {
		batch->limit = 1;
		move_blocks(pass, blocks, NULL, record, false, batch);
	}
	free(batch);
}

/* SPDX-License-Identifier: MIT */
/*
 * place.c - one pass: which mappings, in which order, what stands in the way
 */
#include <errno.h>
#include <string.h>

#include "process/record.h"
#include "process/step.h"

bool place_may(const struct process_mapping *mapping)
{
	return (mapping->kind == PROCESS_HEAP || mapping->kind == PROCESS_ANON) &&
	       mapping->writable && !mapping->executable && !mapping->shared;
}

bool pass_range(const struct pass *pass, const struct process_mapping *mapping, uint64_t *start,
		uint64_t *end)
{
	const struct place_options *options = pass->options;

	*start = mapping->start;
	*end = mapping->end;
	if (!place_may(mapping))
		return false;
	if (options->to) {
		if (*start < options->from)
			*start = options->from;
		if (*end > options->to)
			*end = options->to;
	} else if (*end - *start < options->min_bytes) {
		return false;
	}
	/* Their own wish, which advice would overrule. */
	if (mapping->details_known && mapping->refused >= *end - *start)
		return false;
	return *start < *end;
}

/** What forbids collapse for the whole process. */
static enum place_obstacle collapse_obstacle(const struct process *process,
					     const struct place_options *options)
{
	if (options->no_collapse)
		return PLACE_NOT_ASKED;
	if (process->thp_off_known && process->thp_off)
		return PLACE_THP_OFF;
	if (process->pages.thp == HDL_THP_NONE)
		return PLACE_NO_COLLAPSE;
	if (process->pages.thp == HDL_THP_NEVER && !options->despite_never)
		return PLACE_THP_NEVER;
	return PLACE_CLEAR;
}

/** Where no block tells, the sum of all may: none is huge, or every one. */
static void learn_from_sum(const struct process_mapping *mapping, struct blocks *blocks)
{
	if (blocks->huge_known || !mapping->pages_known)
		return;
	if (mapping->huge == 0)
		blocks->huge_known = true;
	if (mapping->huge && mapping->huge >= mapping->resident >> blocks->shift << blocks->shift)
		for (uint64_t i = 0; i < blocks->count; i++)
			blocks->block[i].huge = blocks->huge_known = true;
}

static int treat_mapping(struct pass *pass, const struct process_mapping *mapping, uint64_t start,
			 uint64_t end, const struct hdl_shares *aim)
{
	struct place_result *result = pass->result;
	struct blocks blocks;
	int error = blocks_read(pass->process, start, end, &blocks);

	if (error)
		return error;
	learn_from_sum(mapping, &blocks);
	result->blocks += blocks.count;
	pass->progress_all += blocks.count;
	if (blocks.count && pass->process->nodes > 1)
		blocks_ask_nodes(pass->process, &blocks); /* where a free huge block is needed */
	if (result->collapse_obstacle == PLACE_CLEAR)
		pass_collapse(pass, &blocks);
	if (aim && blocks.count && !pass_stopped(pass))
		pass_spread(pass, &blocks, aim);
	blocks_free(&blocks);
	return 0;
}

int place_process(const struct process *process, const struct place_options *options,
		  struct place_result *out)
{
	struct pass pass = { .process = process, .options = options, .result = out };
	struct hdl_shares aim;
	uint64_t begin = pass_now_us();
	int error = 0;

	memset(out, 0, sizeof(*out));
	out->collapse_obstacle = collapse_obstacle(process, options);
	out->spread_obstacle = options->no_spread ? PLACE_NOT_ASKED : spread_aim(&pass, &aim);
	if (!options->once && !options->dry_run)
		pass_keep(&pass, out->spread_obstacle == PLACE_CLEAR ? &aim : NULL);
	for (uint32_t i = 0; i < process->mappings && !pass_stopped(&pass); i++) {
		uint64_t start, end;

		if (!pass_range(&pass, &process->mapping[i], &start, &end))
			continue;
		error = treat_mapping(&pass, &process->mapping[i], start, end,
				      out->spread_obstacle == PLACE_CLEAR ? &aim : NULL);
		if (error == -ESRCH)
			out->gone = out->stopped = true;
		if (error)
			break;
	}
	out->wall_us = pass_now_us() - begin;
	return out->steps ? 0 : error;
}

/** Policies are recorded for whole mappings: keep.c gives them to those. */
static int remember_mapping(const struct process *process, uint64_t start, uint64_t end,
			    struct place_record *record)
{
	struct blocks blocks;
	int error = blocks_read(process, start, end, &blocks);

	if (!error && process->nodes > 1) {
		blocks_ask_nodes(process, &blocks);
		error = record_stretch(record, start, end);
	}
	for (uint64_t i = 0; !error && i < blocks.count; i++)
		if (blocks.block[i].populated)
			error = record_block(record, blocks_address(&blocks, i),
					     blocks.block[i].node, blocks.block[i].huge);
	blocks_free(&blocks);
	return error;
}

int place_remember(const struct process *process, const struct place_options *options,
		   struct place_record *record)
{
	struct pass pass = { .process = process, .options = options };
	int error = 0;

	for (uint32_t i = 0; i < process->mappings && !error; i++) {
		uint64_t start, end;

		if (pass_range(&pass, &process->mapping[i], &start, &end))
			error = remember_mapping(process, start, end, record);
	}
	return error;
}

int place_undo(const struct process *process, const struct place_options *options,
	       const struct place_record *record, struct place_result *out)
{
	struct pass pass = { .process = process, .options = options, .result = out };
	uint64_t begin = pass_now_us();
	int error = 0;

	memset(out, 0, sizeof(*out));
	out->collapse_obstacle = PLACE_NOT_ASKED;
	out->spread_obstacle = process->nodes < 2 ? PLACE_ONE_NODE : PLACE_CLEAR;
	/* The policy first: under it, memory that is touched anew would go astray again. */
	if (!options->once && !options->dry_run)
		pass_forget(&pass, record);
	for (uint32_t i = 0; i < process->mappings && !error && !pass_stopped(&pass); i++) {
		struct blocks blocks;

		if (!place_may(&process->mapping[i]))
			continue;
		error = blocks_read(process, process->mapping[i].start, process->mapping[i].end,
				    &blocks);
		if (error)
			break;
		out->blocks += blocks.count;
		if (process->nodes > 1)
			pass_move_back(&pass, &blocks, record);
		blocks_free(&blocks);
	}
	if (error == -ESRCH)
		out->gone = out->stopped = true;
	out->wall_us = pass_now_us() - begin;
	return out->steps ? 0 : error;
}

const char *place_refusal_name(enum place_refusal refusal)
{
	static const char *const names[PLACE_REFUSALS] = {
		[PLACE_SPARSE] = "sparse",   [PLACE_NO_HUGE_FREE] = "no-huge-free",
		[PLACE_SHARED] = "shared",   [PLACE_BUSY] = "busy",
		[PLACE_REFUSED] = "refused", [PLACE_NODE_FULL] = "node-full",
		[PLACE_SPLIT] = "split",     [PLACE_RIGHT] = "no-right",
		[PLACE_CPUSET] = "cpuset",   [PLACE_OTHER] = "other",
	};

	return refusal < PLACE_REFUSALS ? names[refusal] : "?";
}

const char *place_obstacle_name(enum place_obstacle obstacle)
{
	static const char *const names[PLACE_OBSTACLES] = {
		[PLACE_CLEAR] = "clear",         [PLACE_THP_NEVER] = "thp-never",
		[PLACE_THP_OFF] = "thp-off",     [PLACE_NO_COLLAPSE] = "no-support",
		[PLACE_NO_RIGHT] = "no-right",   [PLACE_FILTERED] = "filtered",
		[PLACE_ONE_NODE] = "one-node",   [PLACE_ONE_ALLOWED] = "cpuset",
		[PLACE_NOT_ASKED] = "not-asked",
	};

	return obstacle < PLACE_OBSTACLES ? names[obstacle] : "?";
}

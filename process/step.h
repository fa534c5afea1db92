/* SPDX-License-Identifier: MIT */
/*
 * step.h - one pass in the making: steps, their time, what they did
 */
#ifndef HASHDIST_PROCESS_STEP_H
#define HASHDIST_PROCESS_STEP_H

#include "process/blocks.h"
#include "process/place.h"

struct pass {
	const struct process *process;
	const struct place_options *options;
	struct place_result *result;
	uint64_t begin_us;       /* of the step that runs */
	uint64_t pause_us;       /* after a slow step, longer ones */
	unsigned failures;       /* in a row, for want of free huge blocks */
	bool collapse_over;      /* no more of it in this pass */
	enum place_refusal over; /* why */
	uint64_t progress_done, progress_all;
};

uint64_t pass_now_us(void);
/** Around each step: measures it, then leaves the target its time. */
void pass_begin(struct pass *pass);
void pass_end(struct pass *pass);
/** Has somebody asked us to stop, or did the process end? */
bool pass_stopped(struct pass *pass);
void pass_progress(struct pass *pass, const char *doing);
/** Free blocks of huge page size on @node, or on all (HDL_NODES_MAX); UINT64_MAX unknown. */
uint64_t pass_free_huge(const struct process *process, uint32_t node);

/**
 * pass_forbidden() - who refuses us call @number: the kernel, or a filter (seccomp) on us?
 * Made for a process that cannot be, the kernel looks for that first and rights later.
 */
enum place_obstacle pass_forbidden(long number);

void pass_collapse(struct pass *pass, struct blocks *blocks);
/** One block, as one step. Return: 0 or -errno. */
int pass_collapse_block(struct pass *pass, uint64_t at, uint64_t bytes);
/** May pages of this process be spread, and over what? */
enum place_obstacle spread_aim(const struct pass *pass, struct hdl_shares *out);
void pass_spread(struct pass *pass, struct blocks *blocks, const struct hdl_shares *aim);
/** To the nodes @record names. */
void pass_move_back(struct pass *pass, struct blocks *blocks, const struct place_record *record);
/** Make it last for all mappings that were treated. */
void pass_keep(struct pass *pass, const struct hdl_shares *aim);
/** Take back policies that pass_keep() has set. */
void pass_forget(struct pass *pass, const struct place_record *record);
/** Is this mapping, or which part of it, to be treated? */
bool pass_range(const struct pass *pass, const struct process_mapping *mapping, uint64_t *start,
		uint64_t *end);

#endif

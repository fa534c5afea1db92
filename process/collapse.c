/* SPDX-License-Identifier: MIT */
/*
 * collapse.c - blocks of another process onto huge pages, one at a time
 *
 * One call per block: a call for a range stops at the first block that cannot be
 * had. From outside it needs CAP_SYS_NICE; without it the process is stopped for
 * the length of a call and makes it itself, if that is allowed.
 * The call may compact memory to make a free huge block, which hurts everybody;
 * so the books are asked first whether there is one.
 *
 * Answers, 6.1 to 6.18: ENOMEM: no free huge block, or a hole; EINVAL: advice
 * against, shared (older), too small; EAGAIN: shared or written just now.
 */
#include <errno.h>
#include <sys/uio.h>

#include "backend/linux/sys.h"
#include "process/inject.h"
#include "process/step.h"

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif

enum { HUNGRY = 8, AGAIN = 3 };

static int from_outside(const struct process *process, uint64_t at, uint64_t bytes)
{
	struct iovec range = { (void *)(uintptr_t)at, bytes };
	long done = HDL_SYS(SYS_process_madvise, process->pidfd, (long)&range, 1, MADV_COLLAPSE, 0);

	return done < 0 ? (int)done : 0;
}

static int through_target(const struct process *process, uint64_t at, uint64_t bytes)
{
	struct inject_call call = { .number = SYS_madvise,
				    .args = { (long)at, (long)bytes, MADV_COLLAPSE } };
	int error = inject_calls(process->pid, &call, 1, NULL, 0, NULL);

	return error ? error : (int)call.result;
}

/** May the process do it where we may not? A filter may answer as if there were no such call. */
static bool refused_from_outside(int error)
{
	return error == -EPERM || (error == -ENOSYS && !hdl_madvise(NULL, 0, MADV_COLLAPSE));
}

int pass_collapse_block(struct pass *pass, uint64_t at, uint64_t bytes)
{
	int error = -EAGAIN;

	for (int tries = 0; error == -EAGAIN && tries < AGAIN; tries++) {
		pass_begin(pass);
		if (!pass->result->through_target)
			error = from_outside(pass->process, at, bytes);
		if (refused_from_outside(error) && !pass->options->once)
			pass->result->through_target = true;
		if (pass->result->through_target)
			error = through_target(pass->process, at, bytes);
		pass_end(pass);
	}
	return error;
}

/** No right to, from outside, and neither through the process; see inject_calls(). */
static bool is_forbidden(int error)
{
	return refused_from_outside(error) || error == -EACCES || error == -ECANCELED ||
	       error == -EOPNOTSUPP;
}

static enum place_refusal meaning(const struct process_mapping *mapping, int error)
{
	switch (error) {
	case -ENOMEM:
		return PLACE_NO_HUGE_FREE;
	case -EAGAIN:
	case -EBUSY:
		return mapping && mapping->details_known && mapping->twice ? PLACE_SHARED
									   : PLACE_BUSY;
	case -EINVAL:
		return mapping && mapping->details_known && mapping->twice ? PLACE_SHARED
									   : PLACE_REFUSED;
	default:
		return is_forbidden(error) ? PLACE_RIGHT : PLACE_OTHER;
	}
}

static const struct process_mapping *mapping_at(const struct process *process, uint64_t at)
{
	for (uint32_t i = 0; i < process->mappings; i++)
		if (at >= process->mapping[i].start && at < process->mapping[i].end)
			return &process->mapping[i];
	return NULL;
}

/** Will the blocks that follow fare no better? Notes what forbids them all. */
static bool is_over(struct pass *pass, int error)
{
	if (is_forbidden(error))
		pass->result->collapse_obstacle = pass_forbidden(SYS_process_madvise);
	else if (error == -ENOSYS || (error == -EINVAL && hdl_madvise(NULL, 0, MADV_COLLAPSE)))
		pass->result->collapse_obstacle = PLACE_NO_COLLAPSE;
	else
		return (error == -ENOMEM || (error == -EINVAL && !pass->result->collapsed)) &&
		       ++pass->failures >= HUNGRY;
	return true;
}

/** One block; what came of it goes into the result. */
static void treat(struct pass *pass, struct blocks *blocks, uint64_t index)
{
	uint64_t at = blocks_address(blocks, index), bytes = 1ULL << blocks->shift;
	int16_t node = blocks->block[index].node;
	int error = -ENOMEM;

	/* Without leave to compact: only where a free block waits already. */
	if (pass->options->compact ||
	    pass_free_huge(pass->process, node < 0 ? HDL_NODES_MAX : (uint32_t)node) > 0)
		error = pass_collapse_block(pass, at, bytes);
	if (!error) {
		blocks->block[index].huge = true;
		pass->result->collapsed++;
		pass->failures = 0;
		return;
	}
	if (error == -ESRCH) {
		pass->result->stopped = pass->result->gone = true;
		return;
	}
	pass->over = meaning(mapping_at(pass->process, at), error);
	pass->result->refused[pass->over]++;
	pass->collapse_over = is_over(pass, error);
}

void pass_collapse(struct pass *pass, struct blocks *blocks)
{
	for (uint64_t i = 0; i < blocks->count && !pass_stopped(pass); i++) {
		const struct block *block = &blocks->block[i];

		if (block->huge || !block->populated)
			continue;
		if (!blocks_half_full(blocks, i)) {
			pass->result->refused[PLACE_SPARSE]++;
			continue;
		}
		pass->result->collapse_wanted++;
		if (pass->options->dry_run)
			continue;
		if (pass->collapse_over)
			pass->result->refused[pass->over]++;
		else
			treat(pass, blocks, i);
		pass->progress_done++;
		pass_progress(pass, "collapse");
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * keep.c - make a placement last
 *
 * Without more, growth comes on base pages again, and NUMA balancing brings moved
 * pages back to the node that uses them. Advice and a policy on the mappings
 * prevent both; only the process itself can set them, so it is made to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/linux/sys.h"
#include "process/inject.h"
#include "process/record.h"
#include "process/step.h"

enum { CALLS_MAX = 64 };

static unsigned add_calls(const struct pass *pass, const struct process_mapping *mapping,
			  const struct hdl_shares *aim, struct inject_call *calls)
{
	uint64_t start, end;
	unsigned count = 0;

	if (!pass_range(pass, mapping, &start, &end))
		return 0;
	if (!pass->options->no_collapse)
		calls[count++] = (struct inject_call){ .number = SYS_madvise,
						       .args = { (long)start, (long)(end - start),
								 MADV_HUGEPAGE } };
	if (aim)
		calls[count++] = (struct inject_call){
			.number = SYS_mbind,
			.args = { (long)start, (long)(end - start),
				  aim->weighted ? HDL_MPOL_WEIGHTED : HDL_MPOL_INTERLEAVE,
				  INJECT_DATA, HDL_NODES_MAX + 1, 0 }
		};
	return count;
}

static void note(struct place_result *result, const struct inject_call *calls, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (calls[i].result < 0 && !result->keep_error)
			result->keep_error = (int)calls[i].result;
		else if (calls[i].result == 0 && calls[i].number == SYS_madvise)
			result->kept_advice = true;
		else if (calls[i].result == 0)
			result->kept_policy = true;
	}
}

/** What is gathered, in one stop. */
static void send(struct pass *pass, const struct hdl_shares *aim, struct inject_call *calls,
		 unsigned *count)
{
	uint64_t stopped = 0;
	int error;

	if (!*count)
		return;
	pass_begin(pass);
	error = inject_calls(pass->process->pid, calls, *count, aim ? aim->node.word : NULL,
			     aim ? sizeof(aim->node.word) : 0, &stopped);
	pass_end(pass);
	if (stopped > pass->result->keep_stop_us)
		pass->result->keep_stop_us = stopped;
	if (error && !pass->result->keep_error)
		pass->result->keep_error = error;
	if (error == -ESRCH)
		pass->result->stopped = pass->result->gone = true;
	if (!error)
		note(pass->result, calls, *count);
	*count = 0;
}

void pass_keep(struct pass *pass, const struct hdl_shares *aim)
{
	struct inject_call calls[CALLS_MAX];
	unsigned count = 0;

	for (uint32_t i = 0; i < pass->process->mappings && !pass_stopped(pass); i++) {
		const struct process_mapping *mapping = &pass->process->mapping[i];

		count += add_calls(pass, mapping, aim, calls + count);
		if (count + 2 > CALLS_MAX)
			send(pass, aim, calls, &count);
		if (pass->result->keep_error)
			return;
	}
	send(pass, aim, calls, &count);
}

void pass_forget(struct pass *pass, const struct place_record *record)
{
	struct inject_call calls[CALLS_MAX];
	unsigned count = 0;

	for (uint32_t i = 0; i < record->stretches && !pass_stopped(pass); i++) {
		const struct record_stretch *stretch = &record->stretch[i];

		calls[count++] =
		    (struct inject_call){ .number = SYS_mbind,
					  .args = { (long)stretch->start,
						    (long)(stretch->end - stretch->start),
						    HDL_MPOL_DEFAULT, 0, 0, 0 } };
		if (count == CALLS_MAX)
			send(pass, NULL, calls, &count);
	}
	send(pass, NULL, calls, &count);
}

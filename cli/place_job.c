/* SPDX-License-Identifier: MIT */
/*
 * place_job.c - look, record, place, look again
 *
 * The record is on disk before the first step, so that undo works however this
 * ends. A process that ends meanwhile is no failure: there is nothing left to do.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/place.h"
#include "process/record.h"

/* ---- what there is ------------------------------------------------------------------- */

static bool counts(const struct process_mapping *mapping, const struct place_options *options)
{
	if (!place_may(mapping))
		return false;
	if (options->to)
		return mapping->start < options->to && mapping->end > options->from;
	return mapping->end - mapping->start >= options->min_bytes;
}

void place_state(const struct process *process, const struct place_options *options,
		 struct place_state *out)
{
	*out = (struct place_state){ .nodes = process->nodes,
				     .nodes_known = true,
				     .shift = process->pages.thp_shift };
	memcpy(out->node, process->node, process->nodes * sizeof(out->node[0]));
	for (uint32_t i = 0; i < process->mappings; i++) {
		const struct process_mapping *mapping = &process->mapping[i];

		if (!counts(mapping, options))
			continue;
		out->mappings++;
		out->bytes += mapping->end - mapping->start;
		out->resident += mapping->resident;
		out->huge += mapping->huge;
		out->gain += process_mapping_gain(mapping);
		out->unknown += !mapping->pages_known;
		out->sampled |= mapping->sampled;
		out->nodes_known &= mapping->nodes_known;
		for (uint32_t n = 0; mapping->nodes_known && n < process->nodes; n++)
			out->node_bytes[n] += mapping->node_bytes[n];
	}
}

/* ---- failing ------------------------------------------------------------------------- */

static int no_process(pid_t pid, int error)
{
	if (error == -ESRCH) {
		cli_error("process %d: there is none", (int)pid);
		cli_hint("try", "pgrep -a NAME");
	} else if (error == -EINVAL) {
		cli_error("process %d: the number of a thread, not of a process", (int)pid);
		cli_hint("try", "the process: grep Tgid /proc/%d/status", (int)pid);
	} else if (error == -EACCES || error == -EPERM) {
		cli_error("process %d: no right to look into it", (int)pid);
		cli_hint("try", "as its user, or as root");
	} else {
		cli_error("process %d: %s", (int)pid, strerror(-error));
	}
	return CLI_FAILED;
}

static int no_record(const struct place_job *job, int error)
{
	cli_error("process %d: %s", (int)job->pid,
		  error == -ENOENT   ? "no record of an earlier placement"
		  : error == -ESTALE ? "the record is of another process"
		  : error == -EPROTO ? "the record is damaged"
				     : strerror(-error));
	cli_hint("note",
		 "a record is kept in /run/hashdist (root) or $XDG_RUNTIME_DIR/hashdist, or "
		 "where --record says");
	return CLI_FAILED;
}

/* ---- progress ------------------------------------------------------------------------ */

static void show_progress(void *ctx, const struct place_progress *progress)
{
	(void)ctx;
	fprintf(stderr, "\r%s: %llu of %llu blocks ", progress->doing,
		(unsigned long long)progress->done, (unsigned long long)progress->all);
}

static void end_progress(const struct place_job *job)
{
	if (job->place.place.progress)
		fputs("\r\033[K", stderr);
}

/* ---- one pass, undo, watch -------------------------------------------------------------- */

static int tell(struct place_job *job, struct process *process, struct place_tale *tale)
{
	struct place_state after;
	int error = tale->result->gone ? -ESRCH : process_read(process, &job->place.limits);

	if (!error) {
		place_state(process, &job->place.place, &after);
		tale->after = &after;
	}
	tale->process = process;
	if (!job->json)
		place_print_text(tale);
	else if (place_print_json(tale))
		return CLI_FAILED;
	if (!tale->after || tale->result->gone)
		return CLI_OK;
	/* Where the size of a huge page is not known nothing can be said to fit into one. */
	return after.unknown || after.gain || !after.shift ? CLI_VERDICT : CLI_OK;
}

static int place_once(struct place_job *job, struct process *process)
{
	const struct place_options *options = &job->place.place;
	struct place_result result;
	struct place_record record;
	struct place_state before;
	struct place_tale tale = { .job = job, .before = &before, .result = &result };
	int error;

	place_state(process, options, &before);
	record_init(&record, process);
	if (!options->dry_run) {
		/* An earlier placement's record stands: bytes came from there. */
		record_load(&record, process, job->record_path);
		error = place_remember(process, options, &record);
		if (!error)
			error = record_save(&record, process, job->record_path);
		tale.record_error = error;
		if (error && job->record_path) {
			record_free(&record);
			cli_error("%s: %s", job->record_path, strerror(-error));
			return CLI_FAILED;
		}
	}
	error = place_process(process, options, &result);
	record_free(&record);
	end_progress(job);
	return error && !result.steps ? no_process(job->pid, error) : tell(job, process, &tale);
}

static int undo(struct place_job *job, struct process *process)
{
	struct place_result result;
	struct place_record record;
	struct place_state before;
	struct place_tale tale = { .job = job, .before = &before, .result = &result };
	int error = record_load(&record, process, job->record_path), status;

	if (error)
		return no_record(job, error);
	place_state(process, &job->place.place, &before);
	error = place_undo(process, &job->place.place, &record, &result);
	record_free(&record);
	end_progress(job);
	if (error && !result.steps)
		return no_process(job->pid, error);
	if (!result.stopped && !job->place.place.dry_run)
		record_remove(process, job->record_path);
	status = tell(job, process, &tale);
	return status == CLI_VERDICT ? CLI_OK : status;
}

/** Watching: the record grows with what there is. */
static int before_pass(void *ctx, const struct process *process)
{
	struct place_job *job = ctx;
	struct place_record record;
	int error;

	record_init(&record, process);
	record_load(&record, process, job->record_path);
	error = place_remember(process, &job->place.place, &record);
	if (!error)
		error = record_save(&record, process, job->record_path);
	record_free(&record);
	return job->record_path ? error : 0;
}

static void after_pass(void *ctx, const struct process *process, const struct place_result *result)
{
	struct place_job *job = ctx;
	struct place_state state;

	(void)result;
	place_state(process, &job->place.place, &state);
	end_progress(job);
	if (job->json)
		job->failed |=
		    place_print_json(&(struct place_tale){
			.process = process, .job = job, .before = &state, .result = result }) !=
		    CLI_OK;
	else
		printf("%llu blocks collapsed, %llu moved\n", (unsigned long long)result->collapsed,
		       (unsigned long long)result->moved);
	fflush(stdout);
}

static void hindered(void *ctx, const struct process *process, enum place_obstacle obstacle)
{
	end_progress(ctx);
	cli_error("process %d: %s", (int)process->pid, place_obstacle_text(obstacle));
}

static int watch(struct place_job *job)
{
	int error;

	job->place.before = before_pass;
	job->place.after = after_pass;
	job->place.hindered = hindered;
	job->place.ctx = job;
	error = process_watch(job->pid, &job->place);
	end_progress(job);
	if (error)
		return no_process(job->pid, error);
	return job->failed ? CLI_FAILED : CLI_OK;
}

int place_job_run(struct place_job *job)
{
	struct process process;
	int error, status;

	if (isatty(STDERR_FILENO) && !job->json)
		job->place.place.progress = show_progress;
	if (job->watch)
		return watch(job);
	error = process_open(job->pid, &process);
	if (error == -EACCES) {
		cli_error("process %d: exists, but /proc hides it (hidepid)", (int)job->pid);
		cli_hint("try", "as its user, or as root");
		return CLI_FAILED;
	}
	if (error)
		return no_process(job->pid, error);
	error = process_read(&process, &job->place.limits);
	if (error)
		status = no_process(job->pid, error);
	else if (process.zombie) {
		cli_error("process %d: it has ended; only its exit status is left", (int)job->pid);
		status = CLI_FAILED;
	} else if (process.kernel_thread) {
		cli_error("process %d: a thread of the kernel, which has no memory of its own",
			  (int)job->pid);
		status = CLI_FAILED;
	} else {
		status = job->undo ? undo(job, &process) : place_once(job, &process);
	}
	process_close(&process);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * rounds.c - run by run, both settings in turn
 *
 * A machine gets slower and faster while it is measured, so the settings are compared
 * within a round only. Who goes first alternates, A B, B A, A B: else one of them would
 * always find the other's files in the cache. Rounds ahead of the first warm up and are
 * thrown away. Timing page faults slows a command down that causes many: it has rounds of
 * its own, after all others.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/internal.h"

static double *place_of(const struct command_result *result, int setting,
			enum command_figure figure, uint32_t round)
{
	return result->sample +
	       ((size_t)setting * COMMAND_FIGURES + (size_t)figure) * result->room + round;
}

uint32_t command_samples(const struct command_result *result, enum command_figure figure)
{
	return figure == COMMAND_FAULT_TIME ? result->fault_runs : result->runs;
}

double command_sample(const struct command_result *result, int setting, enum command_figure figure,
		      uint32_t round)
{
	return *place_of(result, setting, figure, round);
}

/* ---- before each run ------------------------------------------------------------------- */

/** Return: 0 to go on; 1: out->end tells why not; -errno. */
static int prepare(const struct command_want *want, struct command_result *out)
{
	char shell[] = "sh", flag[] = "-c";
	char *argv[] = { shell, flag, (char *)(uintptr_t)want->prepare, NULL };
	const struct command_want plain = {
		.argv = argv,
		.setting = { command_as_is },
		.show_output = want->show_output,
		.no_counters = true,
	};
	int error;

	if (!want->prepare)
		return 0;
	error = command_once(&plain, 0, &out->last);
	if (error || command_fine(&out->last))
		return error;
	out->end = out->last.signal ? COMMAND_INTERRUPTED : COMMAND_PREPARE_FAILED;
	return 1;
}

/* ---- one run --------------------------------------------------------------------------- */

static void keep(const struct command_once *once, int setting, struct command_result *out)
{
	double wall = once->value[COMMAND_WALL], share;

	for (int f = 0; f < COMMAND_FIGURES; f++)
		*place_of(out, setting, (enum command_figure)f, out->round - 1) = once->value[f];
	out->share = once->share < out->share ? once->share : out->share;
	if (once->looks < out->least_looks[setting])
		out->least_looks[setting] = once->looks;
	share = wall > 0 ? once->look_ns / wall : 0;
	if (share > out->look_share[setting])
		out->look_share[setting] = share;
}

/** Of a round in which page faults were timed: that, and nothing else. */
static void keep_faults(const struct command_want *want, const struct command_once *once,
			int setting, struct command_result *out)
{
	struct command_fault_time *all = &out->faults;

	*place_of(out, setting, COMMAND_FAULT_TIME, out->round - want->runs - 1) = once->faults.ns;
	all->share = once->faults.share < all->share ? once->faults.share : all->share;
	all->user_only |= once->faults.user_only;
	all->error = all->error ? all->error : once->faults.error;
}

/** Return: 0 to go on; 1: out->end tells why not. */
static int judge(const struct command_want *want, const struct command_once *once, int setting,
		 struct command_result *out)
{
	if (command_fine(once))
		return 0;
	if (once->signal)
		out->end = COMMAND_INTERRUPTED;
	else if (once->ready_status)
		out->end = COMMAND_NOT_READY;
	else if (once->exec_error)
		out->end = COMMAND_NOT_STARTED;
	else if (want->ignore_failure)
		out->failures[setting] += out->round > 0;
	else
		out->end = COMMAND_FAILED;
	return out->end != COMMAND_DONE;
}

/** Return: 0 to go on; 1: out->end tells why not; -errno. */
static int one_run(const struct command_want *want, int setting, struct command_result *out)
{
	int stop;

	out->setting = setting;
	if (want->progress)
		want->progress(want->arg, out->round, setting);
	stop = prepare(want, out);
	if (!stop)
		stop = command_once(want, setting, &out->last);
	if (stop)
		return stop;
	out->left += out->last.left;
	stop = judge(want, &out->last, setting, out);
	if (!stop && want->time_faults)
		keep_faults(want, &out->last, setting, out);
	else
		out->hardware = out->last.hardware;
	if (!stop && out->round && !want->time_faults)
		keep(&out->last, setting, out);
	return stop;
}

/* ---- all of them ------------------------------------------------------------------------ */

/** Both settings, number @nth of all that take turns. */
static int one_round(const struct command_want *want, uint32_t nth, struct command_result *out)
{
	int first = nth % 2, stop = one_run(want, first, out);

	return stop ? stop : one_run(want, !first, out);
}

/** With as little else as possible beside the command. */
static int run_fault_rounds(const struct command_want *want, struct command_result *out)
{
	struct command_want timed = *want;
	int stop = 0;

	if (want->fault_runs)
		out->faults.error = command_faults_possible();
	timed.time_faults = timed.no_counters = true;
	timed.interval_ms = 0;
	for (uint32_t r = 0; !stop && !out->faults.error && r < want->fault_runs; r++) {
		out->round = want->runs + r + 1;
		stop = one_round(&timed, r, out);
		if (!stop && !out->faults.error)
			out->fault_runs = r + 1;
	}
	return stop;
}

static int run_rounds(const struct command_want *want, struct command_result *out)
{
	int stop = 0;

	for (uint32_t r = 0; !stop && r < want->warmups + want->runs; r++) {
		out->round = r < want->warmups ? 0 : r - want->warmups + 1;
		stop = one_round(want, r, out);
		if (!stop)
			out->runs = out->round;
	}
	if (!stop)
		stop = run_fault_rounds(want, out);
	return stop < 0 ? stop : 0;
}

int command_rounds(const struct command_want *want, struct command_result *out)
{
	int error;

	*out = (struct command_result){
		.share = 1,
		.room = want->runs > want->fault_runs ? want->runs : want->fault_runs,
		.least_looks = { UINT32_MAX, UINT32_MAX },
		.faults = { .share = 1 },
	};
	out->sample = calloc((size_t)2 * COMMAND_FIGURES * out->room, sizeof(*out->sample));
	if (!out->sample)
		return -ENOMEM;
	command_signals_take();
	error = run_rounds(want, out);
	command_signals_give_back();
	return error;
}

void command_free(struct command_result *result)
{
	free(result->sample);
	result->sample = NULL;
}

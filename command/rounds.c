/* SPDX-License-Identifier: MIT */
/*
 * rounds.c - run by run, both settings in turn
 *
 * A machine gets slower and faster while it is measured, so the settings are compared
 * within a round only. Who goes first alternates, A B, B A, A B: else one of them would
 * always find the other's files in the cache. Rounds ahead of the first warm up and are
 * thrown away.
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
	out->hardware = out->last.hardware;
	out->left += out->last.left;
	stop = judge(want, &out->last, setting, out);
	if (!stop && out->round)
		keep(&out->last, setting, out);
	return stop;
}

/* ---- all of them ------------------------------------------------------------------------ */

static int run_rounds(const struct command_want *want, struct command_result *out)
{
	int stop = 0;

	for (uint32_t r = 0; !stop && r < want->warmups + want->runs; r++) {
		int first = r % 2;

		out->round = r < want->warmups ? 0 : r - want->warmups + 1;
		stop = one_run(want, first, out);
		if (!stop)
			stop = one_run(want, !first, out);
		if (!stop)
			out->runs = out->round;
	}
	return stop < 0 ? stop : 0;
}

int command_rounds(const struct command_want *want, struct command_result *out)
{
	int error;

	*out = (struct command_result){
		.share = 1,
		.room = want->runs,
		.least_looks = { UINT32_MAX, UINT32_MAX },
	};
	out->sample = calloc((size_t)2 * COMMAND_FIGURES * want->runs, sizeof(*out->sample));
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

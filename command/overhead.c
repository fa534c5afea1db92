/* SPDX-License-Identifier: MIT */
/*
 * overhead.c - what the measuring itself costs
 *
 * The shortest program there is, true(1), by the shortest way and as we measure it, in
 * turn. A program that runs for long pays beside that for the looks at its books, which
 * each run tells for itself.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/internal.h"

enum { RUNS = 11 };

extern char **environ;

/** Return: ns; below 0: it could not be started, or failed. */
static double bare(char **argv)
{
	double began = measure_now_ns();
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ))
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status ? -1 : measure_now_ns() - began;
}

int command_overhead(const struct command_want *want, struct command_overhead *out)
{
	char word[] = "true";
	char *argv[] = { word, NULL };
	const struct command_want measured = {
		.argv = argv,
		.setting = { command_as_is },
		.interval_ms = want->interval_ms,
		.no_counters = want->no_counters,
	};
	double bare_ns[RUNS], inside_ns[RUNS], all_ns[RUNS];

	*out = (struct command_overhead){ 0 };
	for (int r = -1; r < RUNS; r++) {
		int to = r < 0 ? 0 : r; /* the first one warms up */
		struct command_once once;
		double began;
		int error;

		bare_ns[to] = bare(argv);
		began = measure_now_ns();
		error = command_once(&measured, 0, &once);
		if (error || once.signal)
			return error ? error : -EINTR;
		if (bare_ns[to] < 0 || !command_fine(&once))
			return 0;
		all_ns[to] = measure_now_ns() - began;
		inside_ns[to] = once.value[COMMAND_WALL];
	}
	out->runs = RUNS;
	out->bare_ns = measure_summary(bare_ns, RUNS).median;
	out->inside_ns = measure_summary(inside_ns, RUNS).median;
	out->all_ns = measure_summary(all_ns, RUNS).median;
	return 0;
}

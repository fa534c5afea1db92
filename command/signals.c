/* SPDX-License-Identifier: MIT */
/*
 * signals.c - the end of a child, and being told to end ourselves
 *
 * These signals are blocked and waited for, so that each comes at a moment of our
 * choosing: no handler, nothing interrupted. What was ignored stays ignored, but for
 * SIGCHLD.
 */
#include <signal.h>

#include "command/internal.h"

static sigset_t mask_before, waited;
static struct sigaction child_before;
static int taken; /* a run is within a series of them */

void command_signals_take(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction usual = { .sa_handler = SIG_DFL };

	if (taken++)
		return;
	sigemptyset(&waited);
	sigaddset(&waited, SIGCHLD);
	for (size_t s = 0; s < sizeof(ends) / sizeof(ends[0]); s++) {
		struct sigaction action;

		/* As nohup(1) and shells leave it: this one is not to end us. */
		if (!sigaction(ends[s], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&waited, ends[s]);
	}
	/* Where it is ignored children vanish before they could be waited for. */
	sigaction(SIGCHLD, &usual, &child_before);
	sigprocmask(SIG_BLOCK, &waited, &mask_before);
}

void command_signals_give_back(void)
{
	if (!--taken)
		command_signals_as_before();
}

void command_signals_as_before(void)
{
	sigaction(SIGCHLD, &child_before, NULL);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

int command_signals_wait(void)
{
	int signal;

	do
		signal = sigwaitinfo(&waited, NULL);
	while (signal < 0);
	return signal;
}

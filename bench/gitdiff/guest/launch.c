/* SPDX-License-Identifier: MIT */
/*
 * launch.c - runs a command several times in a guest, with marks around each run
 *
 *	launch REPETITIONS COMMAND [ARGUMENT...]
 *
 * Repetition 0 is a warm-up and comes in addition. Counting begins right before the execve()
 * and ends when the command was waited for. Static, and small: its own memory should not be
 * seen in what is counted.
 *
 * Ends with 0 if every run did, with 1 otherwise.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handover.h"
#include "mark.h"

/* What the kernel has put off is done by then. An emulator that counts instructions does not wait. */
enum { REST_S = 2 };

static int fail(const char *what)
{
	fprintf(stderr, "launch: %s: %s\n", what, strerror(errno));
	return 1;
}

static int run(long number, char **argv)
{
	int status = 0;
	pid_t child;

	sleep(REST_S);
	child = fork();
	if (child < 0)
		return fail("fork");
	if (child == 0) {
		MARK(MARK_BEGIN, number, 0L);
		execv(argv[0], argv);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return fail("waitpid");
	MARK(MARK_END, number, (long)status);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "launch: repetition %ld: wait status 0x%x\n", number, status);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long repetitions = argc > 2 ? atol(argv[1]) : 0;

	if (repetitions < 1) {
		fprintf(stderr, "usage: launch REPETITIONS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	if (hand_over_symbols())
		return fail("/proc/kallsyms");
	for (long number = 0; number <= repetitions; number++)
		if (run(number, argv + 2))
			return 1;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * run_outside.c - look after the command from outside
 *
 * This process becomes the command, so that its number, its parent, its exit status
 * and its terminal are as without us. The one that looks after it is forked twice:
 * it is no child that the command could wait for. It holds none of the command's
 * files but standard error, and ends when the command does.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/place.h"
#include "cli/run.h"
#include "process/watch.h"

enum { INTERVAL_MS = 1000, BUDGET_MS = 2000 };

/** Only @keep and standard error stay open. */
static void close_files(int keep)
{
	long most = sysconf(_SC_OPEN_MAX);

	close(STDIN_FILENO);
	close(STDOUT_FILENO);
#ifdef SYS_close_range
	if ((keep == STDERR_FILENO + 1 ||
	     !syscall(SYS_close_range, STDERR_FILENO + 1, keep - 1, 0)) &&
	    !syscall(SYS_close_range, keep + 1, ~0U, 0))
		return;
#endif
	for (int fd = STDERR_FILENO + 1; fd < most && fd < 65536; fd++)
		if (fd != keep)
			close(fd);
}

/** A line per pass, as the preloaded library writes one per decision. */
static void explain(void *ctx, const struct process *process, const struct place_result *result)
{
	run_explain(ctx, (int)process->pid, "from outside",
		    "%llu blocks onto huge pages, %llu to their nodes",
		    (unsigned long long)result->collapsed, (unsigned long long)result->moved);
}

/** The starter has said "never" already. */
static void hindered(void *ctx, const struct process *process, enum place_obstacle obstacle)
{
	const char *text = place_obstacle_text(obstacle);

	run_explain(ctx, (int)process->pid, "from outside", "%s", text);
	if (obstacle != PLACE_THP_NEVER)
		cli_error("process %d: not placed from outside: %s", (int)process->pid, text);
}

static void look_after(pid_t pid, int started, const struct preload_options *options, bool spread)
{
	struct process_watch_options watch = {
		.place = { .min_bytes = options->min_bytes,
			   .no_spread = !spread,
			   .nodes = &options->nodes },
		.limits = { .min_bytes = options->min_bytes, .budget_ms = BUDGET_MS },
		.interval_ms = options->scan_ms ? (uint32_t)options->scan_ms : INTERVAL_MS,
		.after = options->explain ? explain : NULL,
		.hindered = hindered,
		.ctx = (void *)(uintptr_t)options,
	};
	char unused;
	int error;

	setsid();
	close_files(started);
	/* The other end closes by itself when the command has begun, or could not. */
	if (read(started, &unused, 1) < 0)
		_exit(CLI_FAILED);
	close(started);
	error = process_watch(pid, &watch);
	if (error && error != -ESRCH)
		cli_error("process %d could not be placed from outside: %s", (int)pid,
			  strerror(-error));
	_exit(error ? CLI_FAILED : CLI_OK);
}

/** Return: 0, or an errno. */
static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return status ? EAGAIN : 0;
}

bool run_outside(const struct preload_options *options, bool spread)
{
	pid_t command = getpid(), child;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC)) {
		cli_error("%s", strerror(errno));
		return false;
	}
	child = fork();
	if (child == 0) {
		/* In between: ends at once, so that the next is nobody's child. */
		child = fork();
		if (child)
			_exit(child < 0 ? CLI_FAILED : CLI_OK);
		close(ends[1]);
		look_after(command, ends[0], options, spread);
	}
	error = child < 0 ? errno : wait_for(child);
	close(ends[0]);
	if (error) {
		cli_error("no process to look after the command: %s", strerror(error));
		close(ends[1]);
		return false;
	}
	/* ends[1] stays open until the command begins. */
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * run_explain.c - lines of --explain that are not the preloaded library's
 *
 *   1718000000.123 4242 0-0 0 start: not spread: cpuset: its cpuset leaves it one memory node
 *
 * What the starter found of the machine, and what is done from outside. The starter
 * becomes the command, so its number is the command's.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/run.h"

void run_explain(const struct preload_options *options, int pid, const char *what,
		 const char *format, ...)
{
	struct timespec now = { 0 };
	char text[512];
	va_list args;
	int to = STDERR_FILENO;

	if (!options->explain)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (options->explain_path[0])
		to = open(options->explain_path,
			  O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (to < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	dprintf(to, "%lld.%03ld %d %s: %s\n", (long long)now.tv_sec, now.tv_nsec / 1000000, pid,
		what, text);
	if (to != STDERR_FILENO)
		close(to);
}

/* SPDX-License-Identifier: MIT */
/*
 * help.h - what the tests of command/ share
 */
#ifndef HASHDIST_TESTS_COMMAND_HELP_H
#define HASHDIST_TESTS_COMMAND_HELP_H

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "command/internal.h"

#define MIB           (UINT64_C(1) << 20)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline int become_plain(void *arg, char **argv)
{
	(void)arg;
	execvp(argv[0], argv);
	return -errno;
}

/** Words of a command line, split at blanks; two words or more in one have a '_' each. */
static inline char **split(const char *line)
{
	static char text[4096], *word[64];
	char *rest = NULL;
	int words = 0;

	snprintf(text, sizeof(text), "%s", line);
	for (char *at = strtok_r(text, " ", &rest); at; at = strtok_r(NULL, " ", &rest)) {
		for (char *c = at; *c; c++)
			*c = *c == '_' ? ' ' : *c;
		word[words++] = at;
	}
	word[words] = NULL;
	return word;
}

/** What tests want unless they say otherwise. */
static inline struct command_want plain_want(const char *line)
{
	return (struct command_want){
		.argv = split(line),
		.setting = { { .become = become_plain }, { .become = become_plain } },
		.runs = 1,
		.interval_ms = 10,
	};
}

/** Once, as A; it could be tried. */
static inline struct command_once run_line(const char *line)
{
	struct command_want want = plain_want(line);
	struct command_once once;

	assert_int_equal(command_once(&want, 0, &once), 0);
	return once;
}

/** tests/command/target.c with these words. */
static inline struct command_once run_target(const char *words)
{
	const char *target = getenv("HASHDIST_COMMAND_TARGET");
	char line[1024];

	if (!target)
		fail_msg("HASHDIST_COMMAND_TARGET is not set");
	snprintf(line, sizeof(line), "%s %s", target, words);
	return run_line(line);
}

/** A shell that starts us in the background has them ignored, and so would our children. */
static inline void signals_as_usual(void)
{
	static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

	for (size_t s = 0; s < ARRAY_SIZE(ends); s++)
		signal(ends[s], SIG_DFL);
}

/** Skips; fails where nothing may be missing. */
static inline void lacks(const char *what)
{
	const char *all = getenv("HASHDIST_REQUIRE_ALL");

	print_message("skipped: %s\n", what);
	if (all && !strcmp(all, "1"))
		fail_msg("must be present: %s", what);
	skip();
}

#endif

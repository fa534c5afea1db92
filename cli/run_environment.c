/* SPDX-License-Identifier: MIT */
/*
 * run_environment.c - the library that is preloaded, and how it learns what is wanted
 *
 * Where it is: HASHDIST_PRELOAD if set; beside this program in the tree it was
 * built in; where it was installed, also below another root.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run.h"

/** Directory of this program, without a slash behind it. */
static bool own_directory(char *out, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", out, size - 1);
	char *slash;

	if (len <= 0)
		return false;
	out[len] = '\0';
	slash = strrchr(out, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static bool is_there(const char *dir, const char *below, char *out, size_t size)
{
	return (size_t)snprintf(out, size, "%s/%s", dir, below) < size && !access(out, R_OK);
}

bool run_find_library(char *out, size_t size)
{
	const char *given = getenv("HASHDIST_PRELOAD");
	char dir[PATH_MAX];

	if (given && *given)
		return (size_t)snprintf(out, size, "%s", given) < size && !access(out, R_OK);
	if (own_directory(dir, sizeof(dir)) &&
	    (is_there(dir, "../preload/" PRELOAD_LIBRARY, out, size) ||
	     is_there(dir, HASHDIST_PRELOAD_FROM_BIN "/" PRELOAD_LIBRARY, out, size)))
		return true;
	return is_there(HASHDIST_PRELOAD_DIR, PRELOAD_LIBRARY, out, size);
}

bool run_set_environment(const struct preload_options *options, const char *library)
{
	static char text[PRELOAD_TEXT_MAX], preload[2 * PATH_MAX + 65536], real[PATH_MAX];
	const char *before = getenv("LD_PRELOAD");

	/* The list is split at blanks and colons; there is no way to quote them. */
	if (!realpath(library, real) || strpbrk(real, " \t:")) {
		cli_error("%s: a path with a blank or a colon cannot be preloaded", library);
		cli_hint("try", "HASHDIST_PRELOAD=PATH, a copy without");
		return false;
	}
	if ((size_t)preload_options_print(options, text, sizeof(text)) >= sizeof(text) ||
	    (size_t)snprintf(preload, sizeof(preload), "%s%s%s", real, before && *before ? ":" : "",
			     before ? before : "") >= sizeof(preload)) {
		cli_error("LD_PRELOAD or a path is too long");
		return false;
	}
	if (setenv(PRELOAD_VARIABLE, text, 1) || setenv("LD_PRELOAD", preload, 1)) {
		cli_error("out of memory");
		return false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * hooks_exec.c - a program that takes this one's place
 *
 * Wrappers end in exec: the process that was asked for goes on under another
 * program, which must find the variables again. A child, also one of vfork(),
 * has another pid and gets none, unless --children says so.
 *
 * execl() and its kin are not hooked: shells and wrappers use none of them.
 */
#include <alloca.h>
#include <string.h>
#include <unistd.h>

#include "preload/next.h"
#include "preload/preload.h"

enum { ENTRIES_MAX = 8192, PRELOAD_LINE_MAX = 4 * PATH_MAX };

typedef int (*exec_fn)(const char *, char *const *, char *const *);

static const char *value_of(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(entry, name, len) && entry[len] == '=' ? entry + len + 1 : NULL;
}

static size_t count(char *const *envp)
{
	size_t n = 0;

	while (envp && envp[n])
		n++;
	return n;
}

/** "LD_PRELOAD=ours" before what @other names. Return: false when it does not fit. */
static bool preload_line(char *line, const char *library, const char *other)
{
	static const char key[] = "LD_PRELOAD=";
	size_t len = strlen(library), more = other ? strlen(other) : 0;

	if (sizeof(key) + len + 1 + more >= PRELOAD_LINE_MAX)
		return false;
	memcpy(line, key, sizeof(key) - 1);
	memcpy(line + sizeof(key) - 1, library, len + 1);
	if (more) {
		line[sizeof(key) - 1 + len] = ':';
		memcpy(line + sizeof(key) + len, other, more + 1);
	}
	return true;
}

static int pass(exec_fn next, const char *file, char *const *argv, char *const *envp)
{
	char line[PRELOAD_LINE_MAX], **copy;
	const char *run, *library, *other = NULL;
	size_t entries = count(envp), n = 0;

	if (entries > ENTRIES_MAX || !preload_environment(&run, &library))
		return next(file, argv, envp);
	copy = alloca((entries + 3) * sizeof(*copy));
	for (size_t i = 0; i < entries; i++) {
		if (value_of(envp[i], "LD_PRELOAD"))
			other = value_of(envp[i], "LD_PRELOAD");
		else if (!value_of(envp[i], PRELOAD_VARIABLE))
			copy[n++] = envp[i];
	}
	if (other && !strncmp(other, library, strlen(library)))
		return next(file, argv, envp); /* it is there already */
	if (!preload_line(line, library, other))
		return next(file, argv, envp);
	copy[n++] = line;
	copy[n++] = (char *)(uintptr_t)run;
	copy[n] = NULL;
	return next(file, argv, copy);
}

PRELOAD_HOOK int execve(const char *path, char *const argv[], char *const envp[])
{
	if (!preload_next.execve)
		preload_next_find();
	return pass(preload_next.execve, path, argv, envp);
}

PRELOAD_HOOK int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

PRELOAD_HOOK int execvpe(const char *file, char *const argv[], char *const envp[])
{
	if (!preload_next.execvpe)
		preload_next_find();
	return pass(preload_next.execvpe, file, argv, envp);
}

PRELOAD_HOOK int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* SPDX-License-Identifier: MIT */
/*
 * start.c - before main(), and after fork()
 *
 * Reads what the starter has put into the environment and takes it out again, so
 * that the program finds the environment that it would have had, and programs it
 * starts know nothing of us. With --children it stays in.
 *
 * Nothing is opened, mapped or started here, as most programs are small and short;
 * but for those whose malloc() is in the program itself.
 */
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backend/linux/sys.h"
#include "preload/next.h"
#include "preload/preload.h"

_Atomic int preload_state;
struct preload_options preload_options;
_Atomic pid_t preload_pid;
_Atomic uint64_t preload_base_faults;

static char run_text[PRELOAD_TEXT_MAX]; /* "HASHDIST_RUN=..." */
static char library[PATH_MAX];          /* where we were loaded from */

extern char **environ;

/** The entry "@name=...", or NULL. */
static char **entry(const char *name)
{
	size_t len = strlen(name);

	for (char **at = environ; at && *at; at++)
		if (!strncmp(*at, name, len) && (*at)[len] == '=')
			return at;
	return NULL;
}

static void drop(char **at)
{
	do
		at[0] = at[1];
	while (*at++);
}

/** Is the word of @len bytes the path of our library? */
static bool is_ours(const char *word, size_t len)
{
	size_t name = strlen(PRELOAD_LIBRARY);

	return len >= name && !strncmp(word + len - name, PRELOAD_LIBRARY, name) &&
	       (len == name || word[len - name - 1] == '/');
}

/** Ours is the first word of LD_PRELOAD; note it, and take it out unless it stays. */
static void take_library(bool keep)
{
	char **at = entry("LD_PRELOAD");
	char *value = at ? strchr(*at, '=') + 1 : NULL;
	size_t len = value ? strcspn(value, ": ") : 0;

	if (!value || !is_ours(value, len) || len >= sizeof(library))
		return;
	memcpy(library, value, len);
	library[len] = '\0';
	if (keep)
		return;
	if (!value[len])
		drop(at);
	else
		memmove(value, value + len + 1, strlen(value + len + 1) + 1);
}

static void in_child(void)
{
	preload_pid = (pid_t)HDL_SYS(SYS_getpid, 0);
	preload_base_faults = 0;
	preload_scanner_forked();
	if (preload_state == PRELOAD_ON)
		preload_left = 0;
}

static void in_parent(void)
{
	preload_has_forked = true;
}

void preload_start(void)
{
	struct rusage usage;
	char **at;
	bool fine;

	if (preload_state != PRELOAD_UNKNOWN || !environ)
		return;
	preload_pid = (pid_t)HDL_SYS(SYS_getpid, 0);
	at = entry(PRELOAD_VARIABLE);
	fine = at && strlen(*at) < sizeof(run_text) &&
	       preload_options_parse(*at + sizeof(PRELOAD_VARIABLE), &preload_options);
	if (fine && !preload_options.children)
		fine = preload_options.pid == (uint64_t)preload_pid;
	if (fine)
		memcpy(run_text, *at, strlen(*at) + 1);
	take_library(fine && preload_options.children);
	if (at && !(fine && preload_options.children))
		drop(at);
	if (fine && preload_options.explain)
		preload_explain_start();
	if (fine && !getrusage(RUSAGE_SELF, &usage))
		preload_base_faults = (uint64_t)usage.ru_minflt;
	preload_state = fine ? PRELOAD_ON : PRELOAD_OFF;
}

bool preload_environment(const char **run, const char **path)
{
	*run = run_text;
	*path = library;
	/* A program that takes this one's place is still the one that was asked for. */
	return run_text[0] && library[0] &&
	       (preload_options.children || HDL_SYS(SYS_getpid, 0) == (long)preload_options.pid);
}

void preload_stand_down(void)
{
	preload_state = PRELOAD_OFF;
	preload_left = SIZE_MAX;
	preload_scanner_stop();
}

__attribute__((constructor)) static void loaded(void)
{
	preload_next_find();
	preload_start();
	if (preload_state == PRELOAD_UNKNOWN)
		preload_state = PRELOAD_OFF; /* no environment at all */
	if (preload_state != PRELOAD_ON)
		return;
	pthread_atfork(NULL, in_parent, in_child);
	/* No call to malloc() will tell when; who brings an allocator along has a use for it. */
	if (preload_options.scan_ms && !preload_next_is_hooked())
		preload_scanner_wanted(true, false);
}

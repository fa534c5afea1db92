/* SPDX-License-Identifier: MIT */
/*
 * preload.h - what the files of the preloaded library share
 *
 *   hooks_*.c    the program's calls pass through here, and pass on unchanged
 *   spent.c      every few MiB of them: is there something large now?
 *   advise.c     a block just handed out: advice and policy, before its first touch
 *   scanner.c    the thread that looks after what hooks cannot see
 *   maps.c       which mappings it may look at
 *   blocks.c     which of their blocks it brings onto huge pages
 *   uneven.c     whether they lie on the nodes they should
 *   explain.c    a line per decision
 *   start.c      before main(), and after fork()
 *
 * Inside a hook nothing may be allocated, nothing printed, no lock taken, and
 * errno stays what it was.
 */
#ifndef HASHDIST_PRELOAD_PRELOAD_H
#define HASHDIST_PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/options.h"

/* Everything else is hidden: a program's own names must not meet ours. */
#define PRELOAD_HOOK __attribute__((visibility("default")))

/* ---- start.c --------------------------------------------------------------------- */

enum preload_state {
	PRELOAD_UNKNOWN, /* too early to tell */
	PRELOAD_OFF,     /* not for this process, or it has locked itself in: hooks pass on */
	PRELOAD_ON,
};

extern _Atomic int preload_state; /* enum preload_state */
extern struct preload_options preload_options;
/** This process; a child of vfork() has another one, but the same memory. */
extern _Atomic pid_t preload_pid;
/** Page faults so far when we were loaded: they are counted across exec. */
extern _Atomic uint64_t preload_base_faults;

/** Read the environment, if it is there yet. Harmless again. */
void preload_start(void);
/** For good: no more calls on the program's account, no thread. */
void preload_stand_down(void);
/**
 * preload_environment() - the variables a program started now must find
 * @run, @preload: set to "HASHDIST_RUN=..." and the library's path
 * Return: false when it is to find none.
 */
bool preload_environment(const char **run, const char **library);

/* ---- spent.c --------------------------------------------------------------------- */

/**
 * Bytes this thread may still ask for before somebody looks again; never more than
 * the threshold, so that one comparison finds large blocks and growth alike. 0 at
 * first. In the static part of thread memory, which is one instruction away.
 */
extern __thread size_t preload_left;

/** In the place of a block: memory that is not to be advised. */
#define PRELOAD_MAPPED ((void *)-1)

/**
 * @block: from malloc() and its kin, of at least @bytes; NULL: there was none.
 * @inside: perhaps called by an allocator, or by the C library as it makes a thread:
 * no thread may be made now, as that asks for memory. The next call will.
 */
void preload_spent(void *block, size_t bytes, bool inside);

static inline void preload_count(void *block, size_t bytes, bool inside)
{
	if (__builtin_expect(bytes >= preload_left, 0))
		preload_spent(block, bytes, inside);
	else
		preload_left -= bytes;
}

/* ---- advise.c -------------------------------------------------------------------- */

/** Fresh memory of at least the threshold. @what names who gave it, for --explain. */
void preload_advise(const void *at, size_t bytes, const char *what);
/** Interleave policy on whole pages. Return: 0, or -errno; 0 also when nothing is spread. */
int preload_spread(uint64_t start, uint64_t bytes);
/** The program advises against huge pages itself. */
extern _Atomic bool preload_program_refuses;

/* ---- scanner.c ------------------------------------------------------------------- */

/**
 * There may be work; starts the thread when there is none, wakes it when it sleeps long.
 * Return: false when it should be started, but not @inside an allocator.
 */
bool preload_scanner_wanted(bool large, bool inside);
/** In a child of fork(): the thread is gone. */
void preload_scanner_forked(void);
/** Stops it and waits until it has. */
void preload_scanner_stop(void);
/** Has this process forked? Then pages may be shared. */
extern _Atomic bool preload_has_forked;

/* ---- explain.c ------------------------------------------------------------------- */

/** Remember which file standard error is. Before main(). */
void preload_explain_start(void);
/**
 * preload_explain() - one line: time, pid, range, bytes, @what
 * @count: printed behind @what with @unit, unless @unit is NULL
 * @error: -errno, printed last, or 0
 */
void preload_explain(uint64_t start, uint64_t bytes, const char *what, uint64_t count,
		     const char *unit, int error);
/** The calling thread has a table of open files of its own: the scanner. */
void preload_explain_own_files(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * next.h - the functions behind our hooks: those of whoever comes next in the
 * order of symbols, be it the C library or an allocator between us and it
 *
 * Never the C library's internal names: a program with an allocator of its own
 * would free with the one what the other gave out.
 */
#ifndef HASHDIST_PRELOAD_NEXT_H
#define HASHDIST_PRELOAD_NEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct preload_next {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*reallocarray)(void *, size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	size_t (*malloc_usable_size)(void *);
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	int (*madvise)(void *, size_t, int);
	int (*prctl)(int, ...);
	int (*execve)(const char *, char *const *, char *const *);
	int (*execvpe)(const char *, char *const *, char *const *);
	bool malloc_is_libc; /* nobody's allocator stands between us and the C library's */
};

extern struct preload_next preload_next;

/** Resolves all of them; again is harmless. Single-threaded: called before main(). */
void preload_next_find(void);
/** False when the program itself holds another malloc(), so that ours is never called. */
bool preload_next_is_hooked(void);

#endif

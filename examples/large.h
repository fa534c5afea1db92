/* SPDX-License-Identifier: MIT */
/*
 * large.h - the calls of malloc(3), with large blocks from libhashdist
 *
 * For libraries that let their user name the functions that allocate: hash tables do,
 * mostly. Copy it into your program; the other examples show the lines that are needed.
 *
 * Small blocks come from malloc() as before. A large one that cannot be placed is NULL,
 * which its library reports; malloc() would promise it, and the program be killed later.
 */
#ifndef LARGE_H
#define LARGE_H

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <hashdist/hashdist.h>

enum { LARGE_BYTES = 2 << 20 }; /* what is smaller fills no large page */

/* Tables begin on a page. Blocks of malloc() hardly ever do, and need no second look. */
static inline bool large_maybe(const void *start)
{
	return (uintptr_t)start % 4096 == 0;
}

static inline void *large_malloc(size_t bytes)
{
	void *start = NULL;
	int error;

	if (bytes < LARGE_BYTES)
		return malloc(bytes);
	error = hd_alloc(bytes, NULL, &start, NULL);
	if (error)
		errno = -error;
	return start;
}

static inline void *large_calloc(size_t n, size_t bytes)
{
	if (bytes && n > SIZE_MAX / bytes) {
		errno = ENOMEM;
		return NULL;
	}
	if (n * bytes < LARGE_BYTES)
		return calloc(n, bytes);
	return large_malloc(n * bytes); /* tables are zeroed */
}

static inline void large_free(void *start)
{
	if (!large_maybe(start) || hd_free(start) == -EINVAL)
		free(start);
}

/* A table stays one, and is moved rather than copied; a block that grows large becomes one. */
static inline void *large_realloc(void *start, size_t bytes)
{
	int error = -EINVAL;
	void *grown;
	size_t had;

	if (start && !bytes) {
		large_free(start);
		return NULL;
	}
	if (start && large_maybe(start))
		error = hd_resize(&start, bytes, NULL);
	if (!error)
		return start;
	if (error != -EINVAL) {
		errno = -error;
		return NULL;
	}
	if (bytes < LARGE_BYTES)
		return realloc(start, bytes);
	grown = large_malloc(bytes);
	if (!grown || !start)
		return grown;
	had = malloc_usable_size(start);
	memcpy(grown, start, had < bytes ? had : bytes);
	free(start);
	return grown;
}

#endif

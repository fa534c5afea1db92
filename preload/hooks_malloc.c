/* SPDX-License-Identifier: MIT */
/*
 * hooks_malloc.c - malloc() and its kin, passed on to the next in line
 *
 * Nothing is allocated otherwise than it would have been, so free() needs no hook
 * and a block may be given back to whoever gave it. A small block costs one
 * comparison more.
 *
 * The C library calls calloc() while it makes a thread: see preload_spent().
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "preload/next.h"
#include "preload/preload.h"

PRELOAD_HOOK void *malloc(size_t bytes)
{
	void *block = preload_next.malloc(bytes);

	preload_count(block, bytes, false);
	return block;
}

PRELOAD_HOOK void *calloc(size_t count, size_t bytes)
{
	void *block = preload_next.calloc(count, bytes);
	size_t all;

	if (!__builtin_mul_overflow(count, bytes, &all))
		preload_count(block, all, true);
	return block;
}

/**
 * A large block that grows keeps the advice it had, for or against, where it was
 * moved by remapping; only what was small before is new here.
 */
static void resized(void *block, size_t before, size_t bytes)
{
	bool fresh = before < preload_options.min_bytes && !preload_program_refuses;

	preload_count(block && !fresh ? PRELOAD_MAPPED : block, bytes, false);
}

static size_t size_before(void *block, size_t bytes)
{
	if (!block || bytes < preload_left || preload_state != PRELOAD_ON ||
	    !preload_next.malloc_is_libc || !preload_next.malloc_usable_size)
		return 0;
	return preload_next.malloc_usable_size(block);
}

PRELOAD_HOOK void *realloc(void *block, size_t bytes)
{
	size_t before = size_before(block, bytes);
	void *now = preload_next.realloc(block, bytes);

	resized(now, before, bytes);
	return now;
}

PRELOAD_HOOK void *reallocarray(void *block, size_t count, size_t bytes)
{
	size_t all = 0, before = 0;
	void *now;

	if (!__builtin_mul_overflow(count, bytes, &all))
		before = size_before(block, all);
	now = preload_next.reallocarray(block, count, bytes);
	if (now)
		resized(now, before, all);
	return now;
}

PRELOAD_HOOK int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	int error = preload_next.posix_memalign(out, alignment, bytes);

	if (!error)
		preload_count(*out, bytes, false);
	return error;
}

PRELOAD_HOOK void *aligned_alloc(size_t alignment, size_t bytes)
{
	void *block = preload_next.aligned_alloc(alignment, bytes);

	preload_count(block, bytes, false);
	return block;
}

PRELOAD_HOOK void *memalign(size_t alignment, size_t bytes)
{
	void *block = preload_next.memalign(alignment, bytes);

	preload_count(block, bytes, false);
	return block;
}

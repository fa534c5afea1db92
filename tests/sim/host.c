/* SPDX-License-Identifier: MIT */
/*
 * host.c - malloc() and its kin, wrapped by the linker
 */
#include <stddef.h>

#include "tests/sim/host.h"

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *block);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *block);

struct host host;

void host_allows(long calls, bool for_good)
{
	host.on = true;
	host.for_good = for_good;
	host.left = calls;
	host.failures = 0;
}

void host_is_well(void)
{
	host.on = false;
}

static bool fails(void)
{
	if (!host.on || host.left-- > 0)
		return false;
	if (!host.for_good)
		host.on = false;
	host.failures++;
	return true;
}

static void *counted(void *block)
{
	host.live += block != NULL;
	return block;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	void *block;

	if (fails())
		return NULL;
	block = __real_realloc(old, size);
	host.live += block && !old;
	return block;
}

void __wrap_free(void *block)
{
	host.live -= block != NULL;
	__real_free(block);
}

/* SPDX-License-Identifier: MIT */
/*
 * next.c - find the functions behind our hooks
 *
 * Every pointer starts at a stand-in that resolves all of them at its first
 * call, so that a hook needs no question "are we ready?". The dynamic linker may
 * itself ask for memory while it looks (older C libraries: for its error
 * message); that comes from a small room of our own, which is never given back.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/next.h"

static bool finding;
static _Alignas(16) char room[4096];
static size_t room_used;

static void *take_room(size_t bytes)
{
	size_t at = (room_used + 15) & ~(size_t)15;

	if (bytes > sizeof(room) - at) {
		errno = ENOMEM;
		return NULL;
	}
	room_used = at + bytes;
	return room + at;
}

static void *first_malloc(size_t bytes)
{
	preload_next_find();
	return preload_next.malloc == first_malloc ? take_room(bytes) : preload_next.malloc(bytes);
}

static void *first_calloc(size_t count, size_t bytes)
{
	preload_next_find();
	if (preload_next.calloc != first_calloc)
		return preload_next.calloc(count, bytes);
	return count && bytes > sizeof(room) / count ? NULL : take_room(count * bytes);
}

static void *first_realloc(void *block, size_t bytes)
{
	uintptr_t offset = (uintptr_t)block - (uintptr_t)room;
	void *to;

	preload_next_find();
	if (preload_next.realloc != first_realloc)
		return preload_next.realloc(block, bytes);
	to = take_room(bytes);
	if (to && offset < sizeof(room)) {
		size_t most = room_used - offset;

		memmove(to, block, most < bytes ? most : bytes);
	}
	return to;
}

static void *first_reallocarray(void *block, size_t count, size_t bytes)
{
	preload_next_find();
	if (preload_next.reallocarray != first_reallocarray)
		return preload_next.reallocarray(block, count, bytes);
	errno = ENOMEM;
	return NULL;
}

static int first_posix_memalign(void **out, size_t alignment, size_t bytes)
{
	preload_next_find();
	if (preload_next.posix_memalign != first_posix_memalign)
		return preload_next.posix_memalign(out, alignment, bytes);
	return ENOMEM;
}

static void *first_aligned_alloc(size_t alignment, size_t bytes)
{
	preload_next_find();
	if (preload_next.aligned_alloc != first_aligned_alloc)
		return preload_next.aligned_alloc(alignment, bytes);
	errno = ENOMEM;
	return NULL;
}

static void *first_memalign(size_t alignment, size_t bytes)
{
	preload_next_find();
	if (preload_next.memalign != first_memalign)
		return preload_next.memalign(alignment, bytes);
	errno = ENOMEM;
	return NULL;
}

static void *first_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	preload_next_find();
	if (preload_next.mmap != first_mmap)
		return preload_next.mmap(at, bytes, prot, flags, fd, offset);
	errno = ENOMEM;
	return MAP_FAILED;
}

struct preload_next preload_next = {
	.malloc = first_malloc,
	.calloc = first_calloc,
	.realloc = first_realloc,
	.reallocarray = first_reallocarray,
	.posix_memalign = first_posix_memalign,
	.aligned_alloc = first_aligned_alloc,
	.memalign = first_memalign,
	.mmap = first_mmap,
};

/** Leaves @*slot as it is when there is none. */
static void find(const char *name, void *slot)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (found)
		memcpy(slot, &found, sizeof(found));
}

/** Are both in the same library, or program? */
static bool together(void *one, void *other)
{
	Dl_info ones, others;

	return one && other && dladdr(one, &ones) && dladdr(other, &others) &&
	       ones.dli_fbase == others.dli_fbase;
}

bool preload_next_is_hooked(void)
{
	return together(dlsym(RTLD_DEFAULT, "malloc"), room);
}

void preload_next_find(void)
{
	void *function;

	if (finding)
		return;
	finding = true;
	find("malloc", &preload_next.malloc);
	find("calloc", &preload_next.calloc);
	find("realloc", &preload_next.realloc);
	find("reallocarray", &preload_next.reallocarray);
	find("posix_memalign", &preload_next.posix_memalign);
	find("aligned_alloc", &preload_next.aligned_alloc);
	find("memalign", &preload_next.memalign);
	find("malloc_usable_size", &preload_next.malloc_usable_size);
	find("mmap", &preload_next.mmap);
	find("mremap", &preload_next.mremap);
	find("madvise", &preload_next.madvise);
	find("prctl", &preload_next.prctl);
	find("execve", &preload_next.execve);
	find("execvpe", &preload_next.execvpe);
	memcpy(&function, &preload_next.malloc, sizeof(function));
	preload_next.malloc_is_libc = together(function, dlsym(RTLD_NEXT, "gnu_get_libc_version"));
	finding = false;
}

/* SPDX-License-Identifier: MIT */
/*
 * hooks_map.c - mappings that programs and their allocators make for themselves
 *
 * Only private, anonymous, writable memory is advised: no file, no stack, nothing
 * that runs, nothing that is shared. A fixed address is fine: what was there is
 * gone by then, and the new mapping is as fresh as any; allocators that reserve
 * first and fill later work so.
 *
 * mremap() does not tell what it moved, and advice goes with the mapping: it only
 * counts as growth.
 */
/* Or <sys/mman.h> would give mmap() the name of mmap64(). */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "backend/linux/sys.h"
#include "preload/next.h"
#include "preload/preload.h"

static bool is_table_like(int prot, int flags)
{
	const int never = MAP_SHARED | MAP_HUGETLB | MAP_GROWSDOWN | MAP_STACK;

	return flags & MAP_PRIVATE && flags & MAP_ANONYMOUS && !(flags & never) &&
	       prot & PROT_WRITE && !(prot & PROT_EXEC);
}

static void mapped(void *at, size_t bytes, int prot, int flags)
{
	int saved = errno;

	if (at == MAP_FAILED || !is_table_like(prot, flags))
		return;
	if (bytes >= preload_left)
		preload_start();
	if (preload_state == PRELOAD_ON && preload_options.hooks &&
	    bytes >= preload_options.min_bytes)
		preload_advise(at, bytes, "mmap");
	errno = saved;
	preload_count(PRELOAD_MAPPED, bytes, true);
}

PRELOAD_HOOK void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *got = preload_next.mmap(at, bytes, prot, flags, fd, offset);

	mapped(got, bytes, prot, flags);
	return got;
}

/* Where off_t has 64 bits the two are one. */
#if __SIZEOF_LONG__ == 8
PRELOAD_HOOK void *mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	return mmap(at, bytes, prot, flags, fd, offset);
}
#endif

PRELOAD_HOOK void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	void *to = NULL, *got;
	va_list args;

	va_start(args, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(args, void *);
	va_end(args);
	if (!preload_next.mremap)
		preload_next_find();
	got = preload_next.mremap(old, old_bytes, bytes, flags, to);
	if (got != MAP_FAILED)
		preload_count(PRELOAD_MAPPED, bytes, true);
	return got;
}

/** The program's advice is passed on; one against huge pages is remembered. */
PRELOAD_HOOK int madvise(void *at, size_t bytes, int advice)
{
	if (!preload_next.madvise)
		preload_next_find();
	if (advice == MADV_NOHUGEPAGE)
		preload_program_refuses = true;
	return preload_next.madvise(at, bytes, advice);
}

/* SPDX-License-Identifier: MIT */
/* calls.c - memory mapping calls, past the C library, with raw results */
#include <errno.h>

#include "backend/linux/sys.h"

#ifdef SYS_mmap2
#define MMAP_CALL SYS_mmap2
#else
#define MMAP_CALL SYS_mmap
#endif

void *hdl_mmap(void *at, uint64_t bytes, int prot, int flags, int *error)
{
	long result;

	if (bytes != (size_t)bytes) { /* more than 32 bits can address */
		*error = -ENOMEM;
		return NULL;
	}
	result = HDL_SYS(MMAP_CALL, (long)at, (long)bytes, prot, flags, -1, 0);

	if (result < 0 && result >= -4095) {
		*error = (int)result;
		return NULL;
	}
	return (void *)result;
}

int hdl_munmap(void *at, size_t bytes)
{
	return (int)HDL_SYS(SYS_munmap, (long)at, (long)bytes);
}

int hdl_mprotect(void *at, size_t bytes, int prot)
{
	return (int)HDL_SYS(SYS_mprotect, (long)at, (long)bytes, prot);
}

int hdl_madvise(void *at, size_t bytes, int advice)
{
	return (int)HDL_SYS(SYS_madvise, (long)at, (long)bytes, advice);
}

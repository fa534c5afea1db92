/* SPDX-License-Identifier: MIT */
/*
 * hooks_lock.c - a program that locks itself in
 *
 * Sandboxes end a program for a system call it did not announce, and ours are not
 * announced. Before a filter can be set without privilege the program must call
 * prctl(PR_SET_NO_NEW_PRIVS); from then on nothing more is done on its account,
 * and the thread is gone before the call returns.
 *
 * A privileged program may set a filter by seccomp(2) alone; that is not seen.
 */
#include <stdarg.h>
#include <sys/prctl.h>

#include "preload/next.h"
#include "preload/preload.h"

PRELOAD_HOOK int prctl(int option, ...)
{
	unsigned long arg[4];
	va_list args;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP)
		preload_stand_down();
	if (!preload_next.prctl)
		preload_next_find();
	return preload_next.prctl(option, arg[0], arg[1], arg[2], arg[3]);
}

/* SPDX-License-Identifier: MIT */
/*
 * inject.h - let a stopped process make a system call itself
 *
 * Advice and policy can be given to a process by nobody but itself. One of its
 * threads is stopped for as long as the calls take, makes them, and goes on
 * where it was; its code and its stack are not touched.
 */
#ifndef HASHDIST_PROCESS_INJECT_H
#define HASHDIST_PROCESS_INJECT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** As an argument: the address of the data, in the target. */
#define INJECT_DATA ((long)0x6864646174610000)

struct inject_call {
	long number, args[6];
	long result; /* the call's, or -errno */
};

/**
 * inject_calls() - stop the main thread of @pid, let it make @count calls, let it go
 * @data: what pointers among the arguments point to, see INJECT_DATA; it lies in a
 *        page of its own in the target meanwhile. NULL none; at most a page
 * @stopped_us: how long it stood still, microseconds; may be NULL
 *
 * Done by a process of its own in a session of its own, so that the end of this
 * one, by whatever signal, does not leave the target between two steps. Calls
 * behind one that could not be made have -ECANCELED as their result.
 *
 * Return: 0: all were made (look at each result); -EPERM: no right to trace it
 * (another user, Yama, a debugger has it); -EOPNOTSUPP: a filter (seccomp) on us
 * forbids to trace anything; -EBUSY: stopped by job control;
 * -ECANCELED: it filters system calls and might be killed by one it does not
 * expect; -ETIMEDOUT: it does not stop, since it waits in the kernel; -ENOSYS: not
 * on this architecture; -ENOEXEC: no system call instruction found; -ESRCH: gone;
 * -ENOMEM, -EAGAIN: no memory or process for it.
 */
int inject_calls(pid_t pid, struct inject_call *calls, unsigned count, const void *data,
		 size_t bytes, uint64_t *stopped_us);

#endif

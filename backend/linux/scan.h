/* SPDX-License-Identifier: MIT */
/* scan.h - which addresses have memory, and which of it is on huge pages */
#ifndef HASHDIST_LINUX_SCAN_H
#define HASHDIST_LINUX_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** A stretch with memory behind it. */
typedef void (*hdl_scan_fn)(void *ctx, uint64_t start, uint64_t end, bool huge);

/**
 * hdl_scan() - all stretches of [@from, @from + @bytes) that have memory
 * @pid: 0 this process; another one needs the right to read it (ptrace)
 *
 * Return: 0; -ENOTTY: the kernel is older than 6.7; another -errno.
 */
int hdl_scan(pid_t pid, uint64_t from, uint64_t bytes, hdl_scan_fn each, void *ctx);
/** The same through a /proc/PID/pagemap that is open already. @each may be NULL. */
int hdl_scan_file(int fd, uint64_t from, uint64_t bytes, hdl_scan_fn each, void *ctx);
/** Bytes on huge pages in a range of this process. Return: 0 or -errno. */
int hdl_scan_huge(char *at, uint64_t bytes, uint64_t *huge);

#endif

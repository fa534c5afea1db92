/* SPDX-License-Identifier: MIT */
/*
 * sys.h - every request this room makes of the kernel, and of malloc
 *
 * One door, so that a test can fail any of them: hdl_sys(), hdl_malloc() and
 * hdl_thread() are the only ways out of backend/linux. Results are raw: 0 or more, or -errno.
 */
#ifndef HASHDIST_LINUX_SYS_H
#define HASHDIST_LINUX_SYS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Younger than the C library's headers may be. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* Linux 4.17; older kernels take it for a hint */
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

/** Any system call with its six arguments. Return: its result, or -errno. */
long hdl_sys(long number, const long *args);
void *hdl_malloc(size_t bytes); /* zeroed */
void hdl_mfree(void *memory);
/** pthread_create() with -errno. */
int hdl_thread(pthread_t *thread, void *(*run)(void *), void *ctx);

#define HDL_SYS(number, ...) hdl_sys(number, (const long[6]){ __VA_ARGS__ })

/** Return: the address, or NULL with *@error = -errno. */
void *hdl_mmap(void *at, uint64_t bytes, int prot, int flags, int *error);
int hdl_munmap(void *at, size_t bytes);
int hdl_mprotect(void *at, size_t bytes, int prot);
int hdl_madvise(void *at, size_t bytes, int advice);

enum { HDL_TEXT_MAX = 4096 };

/**
 * hdl_read_text() - a small file, with a 0 behind it
 * Cut at @size - 1 bytes. Return: its length, or -errno.
 */
int hdl_read_text(const char *path, char *text, size_t size);
/** A file that begins with a number; "max" is UINT64_MAX. Return: 0; -EPROTO: no number; -errno. */
int hdl_read_number(const char *path, uint64_t *value);

/** A file line by line; lines longer than the buffer are cut. */
struct hdl_lines {
	int fd;
	bool end;
	int error; /* that ended it early, or 0 */
	uint32_t at, filled;
	char buffer[8192];
};

int hdl_lines_open(struct hdl_lines *lines, const char *path);
/** The next line without its end, or NULL. Valid until the next call. */
char *hdl_lines_next(struct hdl_lines *lines);
void hdl_lines_close(struct hdl_lines *lines);

/** The number behind @key in @text ("MemFree:  12 kB"), or false. */
bool hdl_field(const char *text, const char *key, uint64_t *value);
/** A decimal number at *@text, which moves behind it. */
bool hdl_number(const char **text, uint64_t *value);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * files.c - small files of /proc and /sys
 *
 * No stdio: a file is read without the C library's buffers and locks, so that
 * every read can be failed in a test, and nothing is allocated.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "backend/linux/sys.h"

static int open_file(const char *path)
{
	int fd;

	do
		fd = (int)HDL_SYS(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC);
	while (fd == -EINTR);
	return fd;
}

static long read_some(int fd, char *to, size_t size)
{
	long got;

	do
		got = HDL_SYS(SYS_read, fd, (long)to, (long)size);
	while (got == -EINTR);
	return got;
}

int hdl_read_text(const char *path, char *text, size_t size)
{
	size_t len = 0;
	long got = 0;
	int fd = open_file(path);

	if (fd < 0)
		return fd;
	while (len < size - 1 && (got = read_some(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)got;
	HDL_SYS(SYS_close, fd);
	text[len] = '\0';
	return got < 0 ? (int)got : (int)len;
}

bool hdl_number(const char **text, uint64_t *value)
{
	const char *p = *text + strspn(*text, " \t");
	uint64_t sum = 0;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*p - '0'), &sum))
			return false;
	*text = p;
	*value = sum;
	return true;
}

int hdl_read_number(const char *path, uint64_t *value)
{
	char text[64];
	const char *at = text;
	int len = hdl_read_text(path, text, sizeof(text));

	if (len < 0)
		return len;
	if (!strncmp(text, "max", 3)) {
		*value = UINT64_MAX;
		return 0;
	}
	return hdl_number(&at, value) ? 0 : -EPROTO;
}

bool hdl_field(const char *text, const char *key, uint64_t *value)
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += strlen(key);
	return hdl_number(&at, value);
}

int hdl_lines_open(struct hdl_lines *lines, const char *path)
{
	lines->fd = open_file(path);
	lines->at = lines->filled = 0;
	lines->end = false;
	lines->error = 0;
	return lines->fd < 0 ? lines->fd : 0;
}

void hdl_lines_close(struct hdl_lines *lines)
{
	HDL_SYS(SYS_close, lines->fd);
}

/** Make room and read on. Returns false when nothing more comes. */
static bool refill(struct hdl_lines *lines)
{
	long got;

	memmove(lines->buffer, lines->buffer + lines->at, lines->filled - lines->at);
	lines->filled -= lines->at;
	lines->at = 0;
	if (lines->end || lines->filled == sizeof(lines->buffer) - 1)
		return false;
	got = read_some(lines->fd, lines->buffer + lines->filled,
			sizeof(lines->buffer) - 1 - lines->filled);
	if (got <= 0) {
		lines->error = (int)got;
		lines->end = true;
		return false;
	}
	lines->filled += (uint32_t)got;
	return true;
}

char *hdl_lines_next(struct hdl_lines *lines)
{
	char *line, *end;
	bool cut = false;

	for (;;) {
		line = lines->buffer + lines->at;
		end = memchr(line, '\n', lines->filled - lines->at);
		if (end)
			break;
		if (refill(lines))
			continue;
		/* The last line, or one longer than the buffer: take what is there. */
		line = lines->buffer;
		if (!lines->filled)
			return NULL;
		end = line + lines->filled;
		cut = true;
		break;
	}
	*end = '\0';
	lines->at = (uint32_t)(end - lines->buffer) + (cut ? 0 : 1);
	return line;
}

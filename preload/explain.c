/* SPDX-License-Identifier: MIT */
/*
 * explain.c - one line per decision, for hashdist run --explain
 *
 *   1718000000.123 4242 7f12a0000000-7f12a4000000 67108864 malloc: huge page advice
 *
 * One write(2) each, so that lines of several threads stay whole. A file is opened
 * for each line and closed again: nothing stays in the program's table of open
 * files. Standard error is written to only while it is the file that it was at
 * start: a program may close it and open something else under its number. The
 * scanner, with a table of its own, takes the program's by pidfd_getfd(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/linux/sys.h"
#include "preload/preload.h"

enum { LINE_MAX_BYTES = 320 };

static struct stat standard_error;
static bool has_standard_error;
static __thread bool own_files;

void preload_explain_start(void)
{
	has_standard_error = fstat(STDERR_FILENO, &standard_error) == 0;
}

void preload_explain_own_files(void)
{
	own_files = true;
}

struct text {
	size_t len;
	char at[LINE_MAX_BYTES];
};

static void put(struct text *text, const char *word)
{
	while (*word && text->len < sizeof(text->at) - 1)
		text->at[text->len++] = *word++;
}

static void put_number(struct text *text, uint64_t value, unsigned base, unsigned digits)
{
	char buffer[24], *at = buffer + sizeof(buffer) - 1;

	*at = '\0';
	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
		digits -= digits > 0;
	} while (value || digits);
	put(text, at);
}

static void compose(struct text *text, uint64_t start, uint64_t bytes, const char *what,
		    uint64_t count, const char *unit, int error)
{
	struct timespec now = { 0 };

	HDL_SYS(SYS_clock_gettime, CLOCK_REALTIME, (long)&now);
	put_number(text, (uint64_t)now.tv_sec, 10, 0);
	put(text, ".");
	put_number(text, (uint64_t)now.tv_nsec / 1000000, 10, 3);
	put(text, " ");
	put_number(text, (uint64_t)HDL_SYS(SYS_getpid, 0), 10, 0);
	put(text, " ");
	put_number(text, start, 16, 0);
	put(text, "-");
	put_number(text, start + bytes, 16, 0);
	put(text, " ");
	put_number(text, bytes, 10, 0);
	put(text, " ");
	put(text, what);
	put(text, ": ");
	if (count) {
		put_number(text, count, 10, 0);
		put(text, " ");
	}
	put(text, unit);
	if (error) {
		put(text, ": refused, errno ");
		put_number(text, (uint64_t)-error, 10, 0);
		if (error == -EPERM)
			put(text, ", not permitted, as by a container's filter");
	}
	text->at[text->len++] = '\n';
}

/** The program's standard error in the scanner's own table. */
static int borrow_standard_error(void)
{
	long pidfd = HDL_SYS(SYS_pidfd_open, HDL_SYS(SYS_getpid, 0), 0), fd = pidfd;

	if (pidfd >= 0) {
		fd = HDL_SYS(SYS_pidfd_getfd, pidfd, STDERR_FILENO, 0);
		HDL_SYS(SYS_close, pidfd);
	}
	return (int)fd;
}

static void write_standard_error(const struct text *text)
{
	int fd = own_files ? borrow_standard_error() : STDERR_FILENO;
	struct stat now;

	if (fd < 0)
		return;
	if (has_standard_error && !fstat(fd, &now) && now.st_dev == standard_error.st_dev &&
	    now.st_ino == standard_error.st_ino)
		HDL_SYS(SYS_write, fd, (long)text->at, (long)text->len);
	if (own_files)
		HDL_SYS(SYS_close, fd);
}

void preload_explain(uint64_t start, uint64_t bytes, const char *what, uint64_t count,
		     const char *unit, int error)
{
	struct text text = { 0 };
	long fd;

	if (!preload_options.explain)
		return;
	compose(&text, start, bytes, what, count, unit, error);
	if (!preload_options.explain_path[0]) {
		write_standard_error(&text);
		return;
	}
	fd = HDL_SYS(SYS_openat, AT_FDCWD, (long)preload_options.explain_path,
		     O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return;
	HDL_SYS(SYS_write, fd, (long)text.at, (long)text.len);
	HDL_SYS(SYS_close, fd);
}

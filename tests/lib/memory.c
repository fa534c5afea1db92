/* SPDX-License-Identifier: MIT */
/* memory.c - see memory.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/memory.h"

/* One buffer, no allocation: reading must not change what is read. */
static char text[1 << 20];

static bool read_all(const char *path)
{
	size_t len = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (len < sizeof(text) - 1 && (got = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	close(fd);
	text[len] = '\0';
	return len < sizeof(text) - 1;
}

static uint64_t kib(const char *line)
{
	return strtoull(strchr(line, ':') + 1, NULL, 10) << 10;
}

bool memory_truth(const void *start, uint64_t bytes, struct truth *out)
{
	char *rest = NULL;
	bool ours = false;

	*out = (struct truth){ .dump_off = true, .no_fork = true, .wipe = true, .locked = true };
	if (!read_all("/proc/self/smaps"))
		return false;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strchr("0123456789abcdef", line[0])) {
			uintptr_t at = strtoull(line, NULL, 16);
			const char *name = strstr(line, "[anon:");

			ours = at >= (uintptr_t)start && at < (uintptr_t)start + bytes;
			out->mappings += ours;
			if (ours && name)
				snprintf(out->name, sizeof(out->name), "%s", name);
		} else if (!ours) {
			continue;
		} else if (!strncmp(line, "Rss:", 4)) {
			out->populated += kib(line);
		} else if (!strncmp(line, "AnonHugePages:", 14)) {
			out->huge += kib(line);
		} else if (!strncmp(line, "Private_Hugetlb:", 16) ||
			   !strncmp(line, "Shared_Hugetlb:", 15)) {
			out->populated += kib(line);
			out->huge += kib(line);
		} else if (!strncmp(line, "VmFlags:", 8)) {
			out->dump_off &= strstr(line, " dd") != NULL;
			out->no_fork &= strstr(line, " dc") != NULL;
			out->wipe &= strstr(line, " wf") != NULL;
			out->locked &= strstr(line, " lo") != NULL;
		}
	}
	return true;
}

bool memory_is_zero(const void *start, uint64_t bytes)
{
	const char *at = start;

	return !bytes || (!at[0] && !memcmp(at, at + 1, bytes - 1));
}

static uint64_t word_of(uint64_t index, uint32_t seed)
{
	return (index + 1) * 0x9e3779b97f4a7c15ULL ^ seed;
}

void memory_fill(void *start, uint64_t bytes, uint32_t seed)
{
	uint64_t *word = start;

	for (uint64_t i = 0; i < bytes / 8; i++)
		word[i] = word_of(i, seed);
}

bool memory_is_filled(const void *start, uint64_t bytes, uint32_t seed)
{
	const uint64_t *word = start;

	for (uint64_t i = 0; i < bytes / 8; i++)
		if (word[i] != word_of(i, seed))
			return false;
	return true;
}

unsigned memory_mappings(void)
{
	unsigned lines = 0;
	char *rest = NULL;

	if (!read_all("/proc/self/maps"))
		return 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		lines += !strstr(line, "[heap]") && !strstr(line, "[stack]");
	return lines;
}

unsigned memory_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

bool memory_is_mapped(const void *at)
{
	unsigned char vec;

	return !mincore((void *)((uintptr_t)at & ~4095UL), 4096, &vec);
}

uint64_t memory_read_number(const char *path)
{
	char *end;
	uint64_t value;

	if (!read_all(path))
		return UINT64_MAX;
	value = strtoull(text, &end, 10);
	return end > text ? value : UINT64_MAX;
}

bool memory_write_text(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool fine = fd >= 0 && write(fd, what, strlen(what)) == (ssize_t)strlen(what);

	if (fd >= 0)
		close(fd);
	return fine;
}

void lacks(const char *what, bool must)
{
	const char *all = getenv("HASHDIST_REQUIRE_ALL");

	if (must && all && !strcmp(all, "1"))
		fail_msg("must be present: %s", what);
	print_message("skipped, this machine lacks: %s\n", what);
	skip();
}

enum { LACKS = 77, LACKS_MUST, CHILD_SECONDS = 100 };

static int told; /* where a child tells what it lacks */

void child_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so in the child: %s\n", file, line, what);
	_exit(1);
}

void child_lacks(const char *what, bool must)
{
	if (write(told, what, strlen(what)) < 0)
		_exit(1);
	_exit(must ? LACKS_MUST : LACKS);
}

void in_child(void (*body)(void))
{
	static const int caught[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	char what[200] = "";
	int status = -1, pipes[2];
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		told = pipes[1];
		alarm(CHILD_SECONDS);
		/* cmocka's handlers would go on with the tests from here. */
		if (!memory_sanitized())
			for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
				signal(caught[i], SIG_DFL);
		body();
		_exit(0);
	}
	close(pipes[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (read(pipes[0], what, sizeof(what) - 1) < 0)
		what[0] = '\0';
	close(pipes[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) >= LACKS)
		lacks(what, WEXITSTATUS(status) == LACKS_MUST);
	if (WIFSIGNALED(status))
		fail_msg("the child was ended by signal %d", WTERMSIG(status));
	assert_int_equal(status, 0);
}

void memory_check_table(char *start, const struct hd_got *got)
{
	struct truth truth;
	uint64_t huge = 0;

	CHECK(memory_is_zero(start, got->bytes));
	CHECK(memory_truth(start, got->bytes, &truth));
	for (uint32_t i = 0; i < got->page_sizes; i++)
		huge += got->page[i].page_bytes > 4096 ? got->page[i].bytes : 0;
	CHECK(got->populated == got->bytes && truth.populated == got->bytes);
	CHECK(huge == truth.huge);
	memory_fill(start, got->bytes, 5);
	CHECK(memory_is_filled(start, got->bytes, 5));
}

bool memory_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#else
	return false;
#endif
#else
	return false;
#endif
}

/* SPDX-License-Identifier: MIT */
/*
 * books.c - what the kernel counts for this process, and the clock
 *
 * Read with plain system calls into the stack: a buffer from malloc() could
 * itself be a page fault, or a page table, between two readings.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "measure/measure.h"

double measure_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

uint64_t measure_faults(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

/** Return: what follows "FIELD:" at the begin of a line; NULL there is none. */
static const char *find_field(const char *text, const char *field)
{
	size_t len = strlen(field);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, field, len) && line[len] == ':')
			return line + len + 1;
	}
	return NULL;
}

int64_t measure_book_bytes(const char *path, const char *field)
{
	char text[8192], *end;
	const char *value;
	size_t used = 0;
	ssize_t n;
	unsigned long long kib;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	while ((n = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	text[used] = '\0';
	value = find_field(text, field);
	if (!value)
		return -1;
	kib = strtoull(value, &end, 10);
	if (end == value || strncmp(end, " kB", 3) != 0 || kib > INT64_MAX >> 10)
		return -1;
	return (int64_t)kib << 10;
}

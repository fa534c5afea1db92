/* SPDX-License-Identifier: MIT */
/* list.c - which processes there are: the numbers in /proc */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "process/internal.h"

static int by_number(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

/** Room for one more. Return: false: out of memory. */
static bool grow(pid_t **pids, uint32_t count)
{
	pid_t *more;

	if (count & (count + 1) || count < 255)
		return true;
	more = realloc(*pids, (2 * (size_t)count + 2) * sizeof(**pids));
	if (more)
		*pids = more;
	return more;
}

int process_list(pid_t **pids, uint32_t *count)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	*count = 0;
	*pids = directory ? malloc(256 * sizeof(**pids)) : NULL;
	if (!directory)
		return -errno;
	while (*pids && (entry = readdir(directory))) {
		const char *at = entry->d_name;
		uint64_t pid;

		if (!hdl_number(&at, &pid) || *at)
			continue;
		if (!grow(pids, *count)) {
			free(*pids);
			*pids = NULL;
			break;
		}
		(*pids)[(*count)++] = (pid_t)pid;
	}
	closedir(directory);
	if (!*pids)
		return -ENOMEM;
	qsort(*pids, *count, sizeof(**pids), by_number);
	return 0;
}

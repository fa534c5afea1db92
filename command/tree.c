/* SPDX-License-Identifier: MIT */
/*
 * tree.c - which processes belong to the command
 *
 * All that are below this process: what the command leaves without a parent comes to us
 * (PR_SET_CHILD_SUBREAPER). The kernel lists children thread by thread. A process that
 * begins or ends meanwhile may be missed, or be there no more when it is looked at.
 *
 * Source: proc_pid_children(5): /proc/PID/task/TID/children, with CONFIG_PROC_CHILDREN.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/internal.h"

enum { GROW = 32 };

static bool has(const struct command_pids *pids, pid_t pid)
{
	for (uint32_t p = 0; pids && p < pids->count; p++)
		if (pids->pid[p] == pid)
			return true;
	return false;
}

static int push(struct command_pids *pids, pid_t pid)
{
	if (pids->count == pids->room) {
		uint32_t room = pids->room + pids->room / 2 + GROW;
		pid_t *bigger = realloc(pids->pid, room * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		pids->pid = bigger;
		pids->room = room;
	}
	pids->pid[pids->count++] = pid;
	return 0;
}

/** Numbers with blanks behind them, read in pieces: there may be many. */
static int take_children(int fd, const struct command_pids *except, struct command_pids *out)
{
	char text[4096];
	long pid = 0;
	int error = 0;
	ssize_t n;

	while (!error && (n = read(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; !error && i < n; i++) {
			if (isdigit((unsigned char)text[i])) {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (pid && !has(except, (pid_t)pid))
				error = push(out, (pid_t)pid);
			pid = 0;
		}
	return error;
}

static int children_of(pid_t pid, const struct command_pids *except, struct command_pids *out)
{
	char path[64];
	struct dirent *task;
	int error = 0, fd;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && !error && (task = readdir(tasks))) {
		char file[320];

		if (!isdigit((unsigned char)task->d_name[0]))
			continue;
		snprintf(file, sizeof(file), "%s/children", task->d_name);
		fd = openat(dirfd(tasks), file, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		error = take_children(fd, except, out);
		close(fd);
	}
	if (tasks)
		closedir(tasks);
	return error;
}

int command_tree(const struct command_pids *except, struct command_pids *out)
{
	int error;

	out->count = 0;
	out->blind = access("/proc/thread-self/children", R_OK) != 0;
	error = children_of(getpid(), except, out);
	/* Those found are asked in turn; each process is below one other only. */
	for (uint32_t p = 0; !error && p < out->count; p++)
		error = children_of(out->pid[p], except, out);
	return error;
}

/* SPDX-License-Identifier: MIT */
/*
 * open.c - find a process, and know it again
 *
 * A number may be given to another process once the first has ended; the time
 * of its start tells them apart. /proc may hide what exists (hidepid=), which
 * a pidfd (Linux 5.3) tells from what does not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/internal.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
enum { FLAG_KERNEL_THREAD = 0x200000 }; /* PF_KTHREAD */

const char *process_path(const struct process *process, const char *file, char *path)
{
	snprintf(path, PROCESS_PATH_MAX, "%s/%s", process->books, file);
	return path;
}

bool process_kib(const char *line, const char *key, uint64_t *bytes)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len) || line[len] != ':')
		return false;
	line += len + 1;
	if (!hdl_number(&line, bytes))
		return false;
	*bytes <<= 10;
	return true;
}

/* "12 (a name) S 1 12 ...": the name may hold anything, parentheses and line ends too. */
bool process_stat_parse(const char *text, struct process *out)
{
	enum { STATE = 3, FLAGS = 9, START = 22 };
	const char *open = strchr(text, '('), *close = strrchr(text, ')'), *at;
	uint64_t value[START + 1] = { 0 };

	if (!open || !close || close < open || close[1] != ' ')
		return false;
	snprintf(out->comm, sizeof(out->comm), "%.*s", (int)(close - open - 1), open + 1);
	at = close + 2;
	if (!*at)
		return false;
	out->zombie = *at == 'Z' || *at == 'X';
	at++;
	for (int field = STATE + 1; field <= START; field++) {
		at += strspn(at, " -");
		if (!hdl_number(&at, &value[field]))
			return false;
	}
	out->kernel_thread = value[FLAGS] & FLAG_KERNEL_THREAD;
	out->start_time = value[START];
	return true;
}

static void take_status_line(struct process *process, const char *line)
{
	uint64_t bytes, number;
	const char *at;

	if (process_kib(line, "VmRSS", &bytes) || process_kib(line, "HugetlbPages", &bytes))
		process->resident += bytes;
	else if (process_kib(line, "VmPTE", &bytes))
		process->page_tables = bytes;
	else if (process_kib(line, "VmPin", &bytes))
		process->pinned = bytes;
	else if (!strncmp(line, "Tgid:", 5) && (at = line + 5, hdl_number(&at, &number)))
		process->tgid = (pid_t)number;
	else if (!strncmp(line, "Uid:", 4) && (at = line + 4, hdl_number(&at, &number)))
		process->uid = (uid_t)number;
	else if (!strncmp(line, "THP_enabled:", 12) && (at = line + 12, hdl_number(&at, &number))) {
		process->thp_off_known = true;
		process->thp_off = number == 0;
	} else if (!strncmp(line, "Mems_allowed_list:", 18)) {
		at = line + 18 + strspn(line + 18, " \t");
		process->allowed_known = hdl_mask_parse(&process->allowed, at);
	}
}

int process_status_read(struct process *process)
{
	char path[PROCESS_PATH_MAX];
	struct hdl_lines lines;
	const char *line;
	int error = hdl_lines_open(&lines, process_path(process, "status", path));

	if (error)
		return error;
	process->resident = process->page_tables = process->pinned = 0;
	process->thp_off_known = process->thp_off = process->allowed_known = false;
	while ((line = hdl_lines_next(&lines)))
		take_status_line(process, line);
	hdl_lines_close(&lines);
	process->ours = process->uid == geteuid();
	return 0;
}

static int read_stat(const struct process *process, struct process *out)
{
	char path[PROCESS_PATH_MAX], text[HDL_TEXT_MAX];
	int len = hdl_read_text(process_path(process, "stat", path), text, sizeof(text));

	if (len < 0)
		return len;
	return process_stat_parse(text, out) ? 0 : -EPROTO;
}

/** By the pidfd, which no other process can take over. Without one, nothing speaks for it. */
static bool is_gone(const struct process *process)
{
	return process->pidfd >= 0 &&
	       HDL_SYS(SYS_pidfd_send_signal, process->pidfd, 0, 0, 0) == -ESRCH;
}

int process_open(pid_t pid, struct process *out)
{
	int error;

	*out = (struct process){ .pid = pid, .tgid = pid };
	snprintf(out->books, sizeof(out->books), "/proc/%d", (int)pid);
	out->pidfd = (int)HDL_SYS(SYS_pidfd_open, pid, 0);
	if (out->pidfd == -ESRCH)
		return -ESRCH;
	if (out->pidfd < 0)
		out->pidfd = -1;
	error = read_stat(out, out);
	if (!error)
		error = process_status_read(out);
	if (error == -ENOENT && out->pidfd >= 0 && !is_gone(out))
		error = -EACCES;
	else if (error == -ENOENT)
		error = -ESRCH;
	if (!error && out->tgid != pid)
		error = -EINVAL;
	if (error)
		process_close(out);
	return error;
}

void process_let_go(struct process *process)
{
	if (process->pidfd >= 0)
		HDL_SYS(SYS_close, process->pidfd);
	process->pidfd = -1;
}

void process_close(struct process *process)
{
	process_let_go(process);
	free(process->mapping);
	free(process->node_bytes);
	free(process->node_room);
	process->mapping = NULL;
	process->node_bytes = process->node_room = NULL;
	process->mappings = 0;
}

bool process_alive(const struct process *process)
{
	struct process now;
	int error = read_stat(process, &now);

	if (!error)
		return now.start_time == process->start_time && !now.zombie;
	/* One whose books could not be read just now has not ended for that. */
	return error != -ENOENT && error != -ESRCH && !is_gone(process);
}

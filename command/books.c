/* SPDX-License-Identifier: MIT */
/*
 * books.c - what the kernel's books say of the command's processes meanwhile
 *
 *   status        resident memory, its high-water mark, page tables; cheap
 *   smaps_rollup  bytes on huge pages; the kernel walks all page tables for it
 *   task/TID      the CPU time of the thread that hashdist run puts into a program
 *
 * Looked at again and again, as nothing is left of it when a process has ended. So
 * peaks are those that were seen: what comes and goes between two looks, or grows after
 * the last, is missed, and the figures are lower bounds. Memory that processes share is
 * counted for each of them. The high-water mark is the kernel's own and misses nothing
 * up to the last look.
 *
 * Without the right to look at a process (it has changed its user) its smaps_rollup is
 * closed to us: its memory then counts as resident, and not as huge.
 *
 * Source: proc_pid_status(5), proc_pid_smaps(5), Documentation/scheduler/sched-stats.rst.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/linux/sys.h"
#include "command/internal.h"

bool command_field(const char *text, const char *name, uint64_t *bytes)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		char *end;
		unsigned long long kib;

		line += *line == '\n';
		if (strncmp(line, name, len) != 0 || line[len] != ':')
			continue;
		kib = strtoull(line + len + 1, &end, 10);
		if (end == line + len + 1 || strncmp(end, " kB", 3) != 0 || kib > UINT64_MAX >> 10)
			return false;
		*bytes = kib << 10;
		return true;
	}
	return false;
}

/** All processes at one look. */
struct look {
	uint64_t resident, tables, huge, high_water;
	double placing_ns;
	bool any, any_placing;
};

static uint64_t field_or_0(const char *text, const char *name)
{
	uint64_t bytes = 0;

	return command_field(text, name, &bytes) ? bytes : 0;
}

/** Return: false: the process has given its memory back since its status was read. */
static bool look_at_huge(pid_t pid, uint64_t *huge)
{
	static const char *const lines[] = { "AnonHugePages", "ShmemPmdMapped", "FilePmdMapped",
					     "Shared_Hugetlb", "Private_Hugetlb" };
	char path[64], text[4096];
	int len;

	*huge = 0;
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	len = hdl_read_text(path, text, sizeof(text));
	if (len == 0 || len == -ESRCH)
		return false;
	for (size_t l = 0; len > 0 && l < sizeof(lines) / sizeof(lines[0]); l++)
		*huge += field_or_0(text, lines[l]);
	return true;
}

/** The library that hashdist run preloads calls its thread so. */
static bool places(const char *task)
{
	char path[352], name[32];

	snprintf(path, sizeof(path), "%s/comm", task);
	return hdl_read_text(path, name, sizeof(name)) > 0 && !strncmp(name, "hashdist\n", 9);
}

static void look_at_threads(pid_t pid, struct look *look)
{
	char path[64];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		char task[330], file[352], text[128];

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(task, sizeof(task), "%s/%s", path, entry->d_name);
		snprintf(file, sizeof(file), "%s/schedstat", task);
		if (!places(task) || hdl_read_text(file, text, sizeof(text)) <= 0)
			continue;
		look->placing_ns += strtod(text, NULL);
		look->any_placing = true;
	}
	if (tasks)
		closedir(tasks);
}

static void look_at(pid_t pid, struct look *look)
{
	char path[64], text[8192];
	uint64_t resident, high, huge;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	/* A process that has given its memory back has no such lines. */
	if (hdl_read_text(path, text, sizeof(text)) <= 0 ||
	    !command_field(text, "VmRSS", &resident) || !look_at_huge(pid, &huge))
		return;
	look->any = true;
	look->huge += huge;
	look->resident += resident + field_or_0(text, "HugetlbPages");
	look->tables += field_or_0(text, "VmPTE");
	high = field_or_0(text, "VmHWM");
	look->high_water = high > look->high_water ? high : look->high_water;
	look_at_threads(pid, look);
}

static void keep(struct command_books *books, const struct look *look, double now)
{
	double resident = (double)look->resident, huge = (double)look->huge;
	double since = books->looks ? now - books->last_ns : 0;

	/* The books are of two moments: more cannot be huge than is there. */
	huge = huge < resident ? huge : resident;
	if (resident >= books->resident_most) {
		books->resident_most = resident;
		books->huge_then = huge;
	}
	if ((double)look->tables > books->tables_most)
		books->tables_most = (double)look->tables;
	if ((double)look->high_water > books->high_water)
		books->high_water = (double)look->high_water;
	if (look->any_placing && look->placing_ns > books->placing_ns)
		books->placing_ns = look->placing_ns;
	books->resident_time += resident * since;
	books->huge_time += huge * since;
	books->looks++;
}

void command_books_begin(struct command_books *books, pid_t command,
			 const struct command_pids *except)
{
	*books = (struct command_books){
		.command = command,
		.except = except,
		.resident_most = -1,
		.tables_most = -1,
		.huge_then = -1,
		.high_water = -1,
		.placing_ns = -1,
	};
}

/** Of this thread: what it waits for a processor is no burden to the command. */
static double cpu_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double command_books_look(struct command_books *books)
{
	double now = measure_now_ns(), began = cpu_ns(), took;
	struct look look = { 0 };

	/* Without memory for the whole list what is in it counts. */
	command_tree(books->except, &books->tree);
	if (books->tree.blind)
		look_at(books->command, &look);
	for (uint32_t p = 0; p < books->tree.count; p++)
		look_at(books->tree.pid[p], &look);
	if (look.any)
		keep(books, &look, now);
	books->last_ns = now;
	took = cpu_ns() - began;
	books->look_ns += took;
	return took;
}

void command_books_end(struct command_books *books)
{
	free(books->tree.pid);
	books->tree.pid = NULL;
}

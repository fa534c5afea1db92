/* SPDX-License-Identifier: MIT */
/*
 * maps.c - which mappings there are, from /proc/PID/maps
 *
 *   7fc372600000-7fc372e00000 rw-s 00000000 00:01 1024      /dev/zero (deleted)
 *
 * Read as a stream: a program may have a hundred thousand of them, and only
 * large ones are kept. Neighbours that touch and are alike are one, before it is
 * judged whether that is large. Memory without access is address space that an
 * allocator or a guard keeps, and makes no row.
 *
 * Source: proc_pid_maps(5); show_map_vma(), Linux fs/proc/task_mmu.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/internal.h"

enum { GUARD_MOST = 256 << 10 }; /* bytes of no access that may guard a stack */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/** A hexadecimal number and the character behind it, which is skipped. */
static bool take_hex(const char **at, char behind, uint64_t *out)
{
	const char *p = *at;
	uint64_t sum = 0;
	int digits = 0;

	for (; hex_digit(*p) >= 0 && digits < 16; p++, digits++)
		sum = sum << 4 | (uint64_t)hex_digit(*p);
	if (!digits || *p != behind)
		return false;
	*at = p + 1;
	*out = sum;
	return true;
}

bool process_line_parse(const char *line, struct process_line *out)
{
	uint64_t major, minor;

	if (!take_hex(&line, '-', &out->start) || !take_hex(&line, ' ', &out->end) ||
	    strnlen(line, 5) < 5 || line[4] != ' ' || out->end <= out->start)
		return false;
	out->readable = line[0] == 'r';
	out->writable = line[1] == 'w';
	out->executable = line[2] == 'x';
	out->shared = line[3] == 's';
	line += 5;
	if (!take_hex(&line, ' ', &out->offset) || !take_hex(&line, ':', &major) ||
	    !take_hex(&line, ' ', &minor) || !hdl_number(&line, &out->inode))
		return false;
	out->major = (uint32_t)major;
	out->minor = (uint32_t)minor;
	out->name = line + strspn(line, " ");
	return true;
}

/** A row in the making, and what the next line must be like to belong to it. */
struct run {
	bool open;
	struct process_mapping mapping;
	uint64_t device, inode, next_offset;
};

struct reading {
	struct process *process;
	uint64_t min_bytes, stack_bytes;
	uint64_t *device; /* of each row, for the mounts */
	uint32_t room;
	uint64_t guard_start, guard_end; /* the last stretch without access */
	struct run run;
};

/** "[anon:NAME]" is NAME, what the kernel calls [heap] has none; of a long path the end stays. */
static void take_name(char *out, size_t size, const char *name)
{
	size_t len = strlen(name);

	out[0] = '\0';
	if (!strncmp(name, "[anon:", 6) || !strncmp(name, "[anon_shmem:", 12)) {
		name = strchr(name, ':') + 1;
		len = strlen(name);
		if (len && name[len - 1] == ']')
			len--;
	} else if (!strcmp(name, "[heap]") || !strcmp(name, "[stack]")) {
		return;
	}
	if (len < size)
		snprintf(out, size, "%.*s", (int)len, name);
	else
		snprintf(out, size, "...%.*s", (int)(size - 4), name + len - (size - 4));
}

static bool belongs(const struct run *run, const struct process_line *line, enum process_kind kind,
		    const char *name)
{
	const struct process_mapping *mapping = &run->mapping;

	return run->open && mapping->end == line->start && mapping->kind == kind &&
	       kind != PROCESS_STACK && mapping->readable == line->readable &&
	       mapping->writable == line->writable && mapping->executable == line->executable &&
	       mapping->shared == line->shared &&
	       run->device == process_device(line->major, line->minor) &&
	       run->inode == line->inode && (!line->inode || run->next_offset == line->offset) &&
	       !strcmp(mapping->name, name);
}

static int keep(struct reading *reading)
{
	struct process *process = reading->process;

	if (process->mappings == reading->room) {
		uint32_t room = reading->room ? reading->room * 2 : 64;
		void *rows = realloc(process->mapping, room * sizeof(*process->mapping)), *device;

		if (!rows)
			return -ENOMEM;
		process->mapping = rows;
		device = realloc(reading->device, room * sizeof(*reading->device));
		if (!device)
			return -ENOMEM;
		reading->device = device;
		reading->room = room;
	}
	reading->device[process->mappings] = reading->run.device;
	process->mapping[process->mappings++] = reading->run.mapping;
	return 0;
}

static int close_run(struct reading *reading)
{
	const struct process_mapping *mapping = &reading->run.mapping;
	bool large = reading->run.open && mapping->end - mapping->start >= reading->min_bytes;

	reading->run.open = false;
	return large ? keep(reading) : 0;
}

/** Anonymous, of the size threads get, above a guard: most likely a thread's stack. */
static bool looks_like_stack(const struct reading *reading, const struct process_line *line)
{
	uint64_t bytes = line->end - line->start;
	uint64_t guard = reading->guard_end - reading->guard_start;

	return !*line->name && !line->shared && guard && guard <= GUARD_MOST &&
	       reading->guard_end == line->start &&
	       (bytes == reading->stack_bytes || bytes + guard == reading->stack_bytes);
}

static int take_line(struct reading *reading, const struct process_line *line)
{
	struct run *run = &reading->run;
	enum process_kind kind = process_kind_of(line);
	char name[sizeof(run->mapping.name)];
	bool guessed = kind == PROCESS_ANON && looks_like_stack(reading, line);
	int error;

	if (guessed)
		kind = PROCESS_STACK;
	if (!line->readable && !line->writable && !line->executable) {
		reading->guard_start = line->start;
		reading->guard_end = line->end;
		return close_run(reading);
	}
	take_name(name, sizeof(name), line->name);
	if (!belongs(run, line, kind, name)) {
		error = close_run(reading);
		if (error)
			return error;
		*run = (struct run){ .open = true,
				     .device = process_device(line->major, line->minor),
				     .inode = line->inode };
		run->mapping = (struct process_mapping){ .start = line->start,
							 .kind = kind,
							 .kind_guessed = guessed,
							 .readable = line->readable,
							 .writable = line->writable,
							 .executable = line->executable,
							 .shared = line->shared };
		memcpy(run->mapping.name, name, sizeof(name));
	}
	run->mapping.end = line->end;
	run->mapping.parts++;
	run->next_offset = line->offset + (line->end - line->start);
	return 0;
}

/** The size that the C library gives to stacks of threads. */
static uint64_t stack_limit(const struct process *process)
{
	char path[PROCESS_PATH_MAX];
	struct hdl_lines lines;
	const char *line;
	uint64_t bytes = 0;

	if (hdl_lines_open(&lines, process_path(process, "limits", path)))
		return 0;
	while (!bytes && (line = hdl_lines_next(&lines)))
		hdl_field(line, "Max stack size", &bytes);
	hdl_lines_close(&lines);
	return bytes;
}

static int read_lines(struct reading *reading)
{
	struct process *process = reading->process;
	char path[PROCESS_PATH_MAX];
	struct process_line line;
	struct hdl_lines lines;
	const char *text;
	int error = hdl_lines_open(&lines, process_path(process, "maps", path));

	if (error)
		return error;
	while (!error && (text = hdl_lines_next(&lines))) {
		if (!process_line_parse(text, &line))
			continue;
		process->seen++;
		error = take_line(reading, &line);
	}
	hdl_lines_close(&lines);
	return error ? error : close_run(reading);
}

int process_maps_read(struct process *process, uint64_t min_bytes)
{
	struct reading reading = { .process = process,
				   .min_bytes = min_bytes,
				   .stack_bytes = stack_limit(process) };
	int error;

	process->mappings = 0;
	process->seen = 0;
	error = read_lines(&reading);
	if (!error)
		process_kinds_by_mount(process, reading.device);
	free(reading.device);
	return error;
}

/* SPDX-License-Identifier: MIT */
/*
 * maps.c - which mappings of this process a scan may look at
 *
 *   7f3c40000000-7f3c44000000 rw-p 00000000 00:00 0            may
 *   55d0c4a3a000-55d0c8a3a000 rw-p 00000000 00:00 0    [heap]  may
 *   7f3c50000000-7f3c50800000 rw-p 00000000 00:00 0    [anon: of its program]  may
 *   7ffd3b2d1000-7ffd3b2f2000 rw-p 00000000 00:00 0    [stack] not
 *   7f3c60000000-7f3c60400000 rw-s 00000000 00:01 1024 /dev/zero (deleted) not
 *
 * Stacks of threads look like tables. Linux refuses huge pages for them itself
 * from 6.7 on (MAP_STACK); before, a small mapping without access right below is
 * taken for a stack's guard.
 *
 * Source: Documentation/filesystems/proc.rst, Linux 6.12.
 */
#include <string.h>

#include "backend/linux/sys.h"
#include "preload/maps.h"

enum { GUARD_MAX = 64 << 10 };

static bool hexadecimal(const char **text, uint64_t *value)
{
	const char *at = *text;

	for (*value = 0; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
		*value = *value << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	if (at == *text)
		return false;
	*text = at;
	return true;
}

static const char *word(const char *text)
{
	text += strspn(text, " ");
	return text;
}

static const char *after(const char *text)
{
	text = word(text);
	return text + strcspn(text, " ");
}

static bool fine_name(const char *name)
{
	if (!*name || !strcmp(name, "[heap]"))
		return true;
	return !strncmp(name, "[anon:", 6) && !strstr(name, "stack");
}

bool maps_parse(const char *text, struct maps_line *out)
{
	const char *rights, *device, *inode;

	if (!hexadecimal(&text, &out->start) || *text++ != '-' || !hexadecimal(&text, &out->end) ||
	    *text != ' ' || out->end <= out->start)
		return false;
	rights = word(text);
	device = word(after(after(rights)));
	inode = word(after(device));
	if (strcspn(rights, " ") != 4 || !*inode)
		return false;
	out->forbidden = !strncmp(rights, "---p", 4);
	out->table_like = !strncmp(rights, "rw-p ", 5) && !strncmp(device, "00:00 ", 6) &&
			  inode[0] == '0' && fine_name(word(after(inode)));
	return true;
}

struct stretch {
	uint64_t start, end;
	bool answer; /* of maps_same_fn */
};

static void finish(struct stretch *stretch, uint64_t min_bytes, maps_fn each, void *ctx)
{
	if (stretch->end - stretch->start >= min_bytes)
		each(ctx, stretch->start, stretch->end - stretch->start);
	stretch->start = stretch->end = 0;
}

int maps_each(uint64_t min_bytes, bool guards, maps_same_fn same, maps_fn each, void *ctx)
{
	struct maps_line line, before = { 0 };
	struct stretch stretch = { 0 };
	struct hdl_lines lines;
	const char *text;
	int error = hdl_lines_open(&lines, "/proc/self/maps");

	if (error)
		return error;
	while ((text = hdl_lines_next(&lines))) {
		bool answer;

		if (!maps_parse(text, &line))
			continue;
		if (guards && before.forbidden && before.end == line.start &&
		    before.end - before.start <= GUARD_MAX)
			line.table_like = false;
		answer = line.table_like && same && same(line.start);
		if (stretch.end != line.start || !line.table_like || stretch.answer != answer)
			finish(&stretch, min_bytes, each, ctx);
		if (line.table_like) {
			stretch.start = stretch.end ? stretch.start : line.start;
			stretch.end = line.end;
			stretch.answer = answer;
		}
		before = line;
	}
	finish(&stretch, min_bytes, each, ctx);
	hdl_lines_close(&lines);
	return 0;
}

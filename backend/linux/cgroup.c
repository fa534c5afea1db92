/* SPDX-License-Identifier: MIT */
/*
 * cgroup.c - limits of the control groups this process is in, up to the root
 *
 * Version 2 and the controllers of version 1, side by side as systemd's hybrid
 * layout has them. Where the mounted hierarchy begins below the root (a
 * container's namespace), paths that do not lie below it mean its top.
 * Page cache charged to a group counts as room: the kernel drops it before it kills.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, Linux 6.12.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/linux/internal.h"

enum { PATH_MAX_OURS = 1024 };

struct hierarchy {
	bool v2;
	char top[PATH_MAX_OURS]; /* where it is mounted */
	char dir[PATH_MAX_OURS]; /* our group, as a path of this mount */
};

static bool word_in_list(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ',') && strchr(",: \n", at[len]))
			return true;
	return false;
}

/** Our path in one hierarchy: "0::/a/b", or "4:memory:/a/b" for a controller of version 1. */
static bool own_path(const char *controller, bool v2, char *path)
{
	struct hdl_lines lines;
	char *line;
	bool found = false;

	if (hdl_lines_open(&lines, "/proc/self/cgroup"))
		return false;
	while (!found && (line = hdl_lines_next(&lines))) {
		char *names = strchr(line, ':');
		char *where = names ? strchr(names + 1, ':') : NULL;

		if (!where)
			continue;
		*where = '\0';
		found = v2 ? names[1] == '\0' : word_in_list(names + 1, controller);
		if (found)
			snprintf(path, PATH_MAX_OURS, "%s", where + 1);
	}
	hdl_lines_close(&lines);
	return found;
}

/** "36 25 0:32 ROOT TOP rw,... - cgroup cgroup rw,memory": is it the hierarchy we look for? */
static bool mount_line(char *line, const char *controller, bool v2, char **root, char **top)
{
	char *field[6], *rest = NULL, *tail = strstr(line, " - ");
	unsigned n = 0;

	if (!tail)
		return false;
	*tail = '\0';
	for (char *word = strtok_r(line, " ", &rest); word && n < 6;
	     word = strtok_r(NULL, " ", &rest))
		field[n++] = word;
	if (n < 5)
		return false;
	*root = field[3];
	*top = field[4];
	tail += 3;
	if (v2)
		return !strncmp(tail, "cgroup2 ", 8);
	if (strncmp(tail, "cgroup ", 7))
		return false;
	tail = strrchr(tail, ' ');
	return tail && word_in_list(tail + 1, controller);
}

static bool find(const char *controller, bool v2, struct hierarchy *out)
{
	struct hdl_lines lines;
	char path[PATH_MAX_OURS], *line, *root = NULL, *top = NULL;
	bool found = false;

	out->v2 = v2;
	if (!own_path(controller, v2, path) || hdl_lines_open(&lines, "/proc/self/mountinfo"))
		return false;
	while (!found && (line = hdl_lines_next(&lines)))
		found = mount_line(line, controller, v2, &root, &top);
	if (found) {
		size_t len = strcmp(root, "/") ? strlen(root) : 0;
		const char *below = strncmp(path, root, len) ? "" : path + len;

		if (below[0] != '/' || !strncmp(below, "/..", 3) || !below[1])
			below = "";
		snprintf(out->top, sizeof(out->top), "%s", top);
		found = snprintf(out->dir, sizeof(out->dir), "%s%s", top, below) <
			(int)sizeof(out->dir);
	}
	hdl_lines_close(&lines);
	return found;
}

/** To the parent group. Return: false at the top. */
static bool ascend(struct hierarchy *h)
{
	char *slash = strrchr(h->dir, '/');

	if (strlen(h->dir) <= strlen(h->top) || !slash)
		return false;
	*slash = '\0';
	return true;
}

static int group_number(const struct hierarchy *h, const char *name, uint64_t *value)
{
	char path[PATH_MAX_OURS + 64];

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	return hdl_read_number(path, value);
}

static uint64_t page_cache(const struct hierarchy *h)
{
	char path[PATH_MAX_OURS + 64], text[2 * HDL_TEXT_MAX];
	uint64_t inactive = 0, active = 0;

	snprintf(path, sizeof(path), "%s/memory.stat", h->dir);
	if (hdl_read_text(path, text, sizeof(text)) < 0)
		return 0;
	hdl_field(text, h->v2 ? "\ninactive_file " : "\ntotal_inactive_file ", &inactive);
	hdl_field(text, h->v2 ? "\nactive_file " : "\ntotal_active_file ", &active);
	return inactive + active / 2;
}

static uint64_t memory_limit(const struct hierarchy *h)
{
	uint64_t limit;

	if (group_number(h, h->v2 ? "memory.max" : "memory.limit_in_bytes", &limit) ||
	    limit >> HDL_UNLIMITED_SHIFT)
		return UINT64_MAX;
	return limit;
}

static uint64_t memory_room(const struct hierarchy *h, unsigned shift)
{
	uint64_t limit = memory_limit(h), used, cache;

	(void)shift;
	if (limit == UINT64_MAX ||
	    group_number(h, h->v2 ? "memory.current" : "memory.usage_in_bytes", &used))
		return UINT64_MAX;
	cache = page_cache(h);
	used = used > cache ? used - cache : 0;
	return limit > used ? limit - used : 0;
}

/** The smallest of @ask over all levels of both versions. */
static uint64_t smallest(const char *controller, unsigned shift,
			 uint64_t (*ask)(const struct hierarchy *, unsigned shift))
{
	uint64_t least = UINT64_MAX;

	for (int v2 = 0; v2 <= 1; v2++) {
		struct hierarchy h;

		if (!find(controller, v2, &h))
			continue;
		do {
			uint64_t here = ask(&h, shift);

			least = here < least ? here : least;
		} while (ascend(&h));
	}
	return least;
}

uint64_t hdl_cgroup_room(void)
{
	return smallest("memory", 0, memory_room);
}

static uint64_t memory_limit_or_high(const struct hierarchy *h, unsigned shift)
{
	uint64_t limit = memory_limit(h), high;

	(void)shift;
	if (h->v2 && !group_number(h, "memory.high", &high) && high < limit)
		limit = high;
	return limit;
}

uint64_t hdl_cgroup_limit(void)
{
	return smallest("memory", 0, memory_limit_or_high);
}

static uint64_t hugetlb_room(const struct hierarchy *h, unsigned shift)
{
	char size[16], name[64];
	uint64_t limit, used;

	snprintf(size, sizeof(size), "%u%cB", 1u << shift % 10, "BKMGT"[shift / 10 % 5]);
	snprintf(name, sizeof(name), "hugetlb.%s.%s", size, h->v2 ? "max" : "limit_in_bytes");
	if (group_number(h, name, &limit) || limit >> HDL_UNLIMITED_SHIFT)
		return UINT64_MAX;
	snprintf(name, sizeof(name), "hugetlb.%s.%s", size, h->v2 ? "current" : "usage_in_bytes");
	if (group_number(h, name, &used))
		return UINT64_MAX;
	return limit > used ? limit - used : 0;
}

uint64_t hdl_cgroup_hugetlb_room(unsigned shift)
{
	return smallest("hugetlb", shift, hugetlb_room);
}

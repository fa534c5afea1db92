/* SPDX-License-Identifier: MIT */
/*
 * memory.c - how much memory, in which zones, mapped how
 *
 * From /proc/meminfo (KiB) and /proc/zoneinfo (pages). Zoneinfo grows with
 * zones times CPUs, to megabytes on large machines, so it is read line by
 * line; old kernels do not print "managed". A figure that is absent or does
 * not fit is unknown (0 for a zone).
 */
#include "machine/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *key;
	size_t offset;
} meminfo_fields[] = {
	{ "MemTotal:", offsetof(struct machine, mem_total_kib) },
	{ "VmallocTotal:", offsetof(struct machine, vmalloc_total_kib) },
	{ "Hugepagesize:", offsetof(struct machine, huge_page_kib) },
	{ "DirectMap4k:", offsetof(struct machine, direct_4k_kib) },
	{ "DirectMap2M:", offsetof(struct machine, direct_2m_kib) },
	{ "DirectMap4M:", offsetof(struct machine, direct_4m_kib) },
	{ "DirectMap1G:", offsetof(struct machine, direct_1g_kib) },
};

static void read_meminfo(const struct mach_root *root, struct machine *m)
{
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, "proc/meminfo", MACH_SMALL);
	char *line;

	while (!ret && (line = mach_lines_next(&lines))) {
		for (size_t i = 0; i < sizeof(meminfo_fields) / sizeof(meminfo_fields[0]); i++) {
			const char *rest = mach_after(line, meminfo_fields[i].key);
			void *field = (char *)m + meminfo_fields[i].offset;

			if (rest)
				*(struct machine_count *)field = mach_count(rest);
		}
	}
	if (!ret)
		ret = mach_lines_close(&lines);
	if (ret)
		mach_blind(m, "/proc/meminfo", ret, "how much memory there is", "mount /proc");
}

/* "Node 0, zone   Normal" */
static int add_zone(struct machine *m, const char *line, uint32_t *room)
{
	struct machine_zone *zone;
	const char *name;
	uint64_t node;
	size_t len;

	line = mach_after(line, "Node ");
	if (!line || !mach_number(&line, &node) || node >= MACH_NODE_ID_MAX)
		return 0;
	line = mach_after(line, ", zone ");
	if (!line)
		return 0;
	name = mach_word(&line, &len);
	if (len == 0 || len >= sizeof(zone->name))
		return 0;
	if (m->zones == MACH_ZONES_MAX)
		return -EFBIG;
	if (m->zones == *room) {
		uint32_t more = *room ? 2 * *room : 16;

		zone = realloc(m->zone, more * sizeof(*zone));
		if (!zone)
			return -ENOMEM;
		m->zone = zone;
		*room = more;
	}
	zone = &m->zone[m->zones++];
	*zone = (struct machine_zone){ .node = (uint32_t)node };
	memcpy(zone->name, name, len);
	mach_plain(zone->name);
	return 0;
}

static void zone_figure(struct machine_zone *zone, const char *line)
{
	const struct {
		const char *key;
		uint64_t *value;
	} figures[] = {
		{ "spanned", &zone->spanned },
		{ "present", &zone->present },
		{ "managed", &zone->managed },
	};
	size_t len;
	const char *word = mach_word(&line, &len);

	for (size_t i = 0; i < 3; i++)
		if (len == 7 && memcmp(word, figures[i].key, 7) == 0)
			*figures[i].value = mach_count(line).value;
}

static int read_zoneinfo(const struct mach_root *root, struct machine *m)
{
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, "proc/zoneinfo", MACH_LARGE);
	uint32_t room = 0;
	char *line;

	if (!ret) {
		while (!ret && (line = mach_lines_next(&lines))) {
			if (mach_after(line, "Node "))
				ret = add_zone(m, line, &room);
			else if (m->zones)
				zone_figure(&m->zone[m->zones - 1], line);
		}
		if (mach_lines_close(&lines) && !ret)
			ret = lines.error;
	}
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		free(m->zone);
		m->zone = NULL;
		m->zones = 0;
		mach_blind(m, "/proc/zoneinfo", ret, "how memory divides into zones",
			   "mount /proc");
	}
	return 0;
}

static void read_uptime(const struct mach_root *root, struct machine *m)
{
	char text[64];
	int ret = mach_root_text(root, "proc/uptime", text, sizeof(text));

	if (ret > 0)
		m->uptime_seconds = mach_count(text);
	else
		mach_blind_if_there(m, "proc/uptime", ret, "how long it has been up");
}

int mach_read_memory(const struct mach_root *root, struct machine *m)
{
	read_meminfo(root, m);
	read_uptime(root, m);
	return read_zoneinfo(root, m);
}

/* SPDX-License-Identifier: MIT */
/*
 * room.c - is there memory for it, before any is taken
 *
 * Populating beyond a limit does not fail: the OOM killer ends the program. So
 * three books are asked first: the machine (MemAvailable), the nodes memory may
 * come from, and the control groups. Memory that would have to be swapped out
 * is no room for a table. A book that cannot be read does not limit.
 *
 * Source: si_mem_available(), Linux 6.12 mm/show_mem.c, for what counts as available.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "backend/linux/internal.h"

/* Page tables take 1/512 of a populated region; other programs go on living. */
enum { MARGIN_SHIFT = 8, MARGIN_FLOOR = 4 << 20 };

struct node_books {
	uint64_t total, free, cache, slab; /* bytes */
};

static bool node_books_read(uint32_t node, struct node_books *out)
{
	char path[64], text[HDL_TEXT_MAX];
	uint64_t active = 0, inactive = 0;

	*out = (struct node_books){ 0 };
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", node);
	if (hdl_read_text(path, text, sizeof(text)) < 0 ||
	    !hdl_field(text, "MemTotal:", &out->total) || !hdl_field(text, "MemFree:", &out->free))
		return false;
	hdl_field(text, "Active(file):", &active);
	hdl_field(text, "Inactive(file):", &inactive);
	hdl_field(text, "SReclaimable:", &out->slab);
	out->total <<= 10;
	out->free <<= 10;
	out->cache = (active + inactive) << 10;
	out->slab <<= 10;
	return true;
}

/**
 * What the kernel does not give away: below its zones' watermarks it reclaims, and where
 * nothing can be reclaimed it kills. 0 when it cannot be read.
 */
static uint64_t node_reserve(uint32_t node)
{
	struct hdl_lines lines;
	const char *line;
	uint64_t pages = 0, value;
	bool ours = false;

	if (hdl_lines_open(&lines, "/proc/zoneinfo"))
		return 0;
	while ((line = hdl_lines_next(&lines))) {
		if (!strncmp(line, "Node ", 5))
			ours = hdl_field(line, "Node", &value) && value == node;
		line += strspn(line, " ");
		if (ours && !strncmp(line, "high ", 5) && hdl_field(line, "high", &value))
			pages += value;
	}
	hdl_lines_close(&lines);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t hdl_room_node(uint32_t node)
{
	struct node_books books;
	uint64_t room, reserve;

	if (!node_books_read(node, &books))
		return UINT64_MAX;
	/* The kernel keeps reserves and some of the cache; half of the cache is a safe part. */
	room = books.free + books.cache / 2 + books.slab / 2;
	reserve = node_reserve(node);
	return room > reserve ? room - reserve : 0;
}

static uint64_t machine_field(const char *key)
{
	char text[HDL_TEXT_MAX];
	uint64_t kib;

	if (hdl_read_text("/proc/meminfo", text, sizeof(text)) < 0 || !hdl_field(text, key, &kib))
		return UINT64_MAX;
	return kib << 10;
}

static uint64_t sum_of_rooms(const struct hdl_mask *nodes)
{
	uint64_t sum = 0;

	HDL_FOR_EACH_NODE(node, nodes)
	{
		uint64_t room = hdl_room_node(node);

		if (room == UINT64_MAX)
			return UINT64_MAX;
		sum += room;
	}
	return sum;
}

int hdl_room_check(uint64_t bytes, const struct hdl_nodes *nodes, uint8_t *why)
{
	uint64_t margin = bytes >> MARGIN_SHIFT;
	uint64_t need = bytes + (margin > MARGIN_FLOOR ? margin : MARGIN_FLOOR);

	if (need < bytes || machine_field("MemAvailable:") < need) {
		*why = HD_WHY_MEMORY_SHORT;
		return -ENOMEM;
	}
	if (hdl_cgroup_room() < need) {
		*why = HD_WHY_MEMORY_LIMIT;
		return -ENOMEM;
	}
	if (hdl_mask_count(&nodes->memory) > 1 && sum_of_rooms(&nodes->within) < need) {
		*why = HD_WHY_MEMORY_SHORT;
		return -ENOMEM;
	}
	return 0;
}

/** Without /proc, too: a sandbox may lack it. */
static uint64_t machine_total(void)
{
	uint64_t total = machine_field("MemTotal:");
	struct sysinfo info = { 0 };

	if (total == UINT64_MAX && !HDL_SYS(SYS_sysinfo, (long)&info) && info.totalram)
		total = (uint64_t)info.totalram * info.mem_unit;
	return total;
}

uint64_t hdl_room_total(const struct hdl_nodes *nodes)
{
	uint64_t total = machine_total(), limit = hdl_cgroup_limit(), reach = 0;

	HDL_FOR_EACH_NODE(node, &nodes->within)
	{
		struct node_books books;

		if (!node_books_read(node, &books)) {
			reach = UINT64_MAX;
			break;
		}
		reach += books.total;
	}
	total = total < reach ? total : reach;
	total = total < limit ? total : limit;
	return total == UINT64_MAX ? 0 : total;
}

/** Would more bytes than the task has, by that field of its status, pass this limit? */
static bool passes_limit(int which, const char *key, uint64_t bytes)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	struct hdl_lines lines;
	const char *line;
	uint64_t kib = 0;

	HDL_SYS(SYS_prlimit64, 0, which, 0, (long)&limit);
	if (limit.rlim_cur == RLIM_INFINITY || hdl_lines_open(&lines, "/proc/self/status"))
		return false;
	while (!kib && (line = hdl_lines_next(&lines)))
		hdl_field(line, key, &kib);
	hdl_lines_close(&lines);
	return (kib << 10) + bytes > limit.rlim_cur;
}

enum hd_why hdl_room_access_why(uint64_t bytes, int error)
{
	uint64_t mode = 0;

	if (error != -ENOMEM)
		return HD_WHY_UNKNOWN;
	if (passes_limit(RLIMIT_DATA, "VmData:", bytes))
		return HD_WHY_ADDRESS_LIMIT;
	if (!hdl_read_number("/proc/sys/vm/overcommit_memory", &mode) && mode == 2)
		return HD_WHY_OVERCOMMIT;
	return HD_WHY_MEMORY_SHORT;
}

enum hd_why hdl_room_mmap_why(uint64_t bytes, int error)
{
	if (error == -ENOMEM && passes_limit(RLIMIT_AS, "VmSize:", bytes))
		return HD_WHY_ADDRESS_LIMIT;
	return hdl_room_access_why(bytes, error);
}

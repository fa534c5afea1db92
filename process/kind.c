/* SPDX-License-Identifier: MIT */
/*
 * kind.c - what a mapping is, and which setting for huge pages governs it
 *
 * The name in maps tells most. Files on tmpfs and hugetlbfs are memory: their
 * device stands in mountinfo, with the mount's own huge= option. Shared memory
 * without a mount (memfd, SysV, MAP_SHARED | MAP_ANONYMOUS) follows
 * shmem_enabled. That memory of a memfd or SysV segment is hugetlb, only smaps
 * and numa_maps know.
 *
 * Source: Documentation/admin-guide/mm/transhuge.rst and
 * Documentation/filesystems/tmpfs.rst, Linux 6.12.
 */
#include <stdio.h>
#include <string.h>

#include "process/internal.h"

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum process_kind bracket_kind(const char *name)
{
	if (begins(name, "[heap]"))
		return PROCESS_HEAP;
	if (begins(name, "[stack"))
		return PROCESS_STACK;
	if (begins(name, "[anon:"))
		return PROCESS_ANON;
	if (begins(name, "[anon_shmem:"))
		return PROCESS_SHMEM;
	return PROCESS_OTHER;
}

enum process_kind process_kind_of(const struct process_line *line)
{
	const char *name = line->name;

	if (!*name)
		return line->inode ? PROCESS_FILE : PROCESS_ANON;
	if (*name == '[')
		return bracket_kind(name);
	if (begins(name, "/dev/zero"))
		return line->shared ? PROCESS_SHMEM : PROCESS_ANON;
	if (begins(name, "/memfd:") || begins(name, "/SYSV") || begins(name, "/dev/shm/"))
		return PROCESS_SHMEM;
	if (begins(name, "/anon_hugepage") || begins(name, "/dev/hugepages/"))
		return PROCESS_HUGETLB;
	if (begins(name, "/dev/") || *name != '/')
		return PROCESS_OTHER;
	return PROCESS_FILE;
}

/** One line of mountinfo. */
struct mount {
	uint64_t device;
	const char *type;
	uint8_t thp;
};

static enum hdl_thp mount_thp(const char *options)
{
	const char *huge = strstr(options, "huge=");

	if (!huge)
		return HDL_THP_NEVER;
	huge += 5;
	if (begins(huge, "always") || begins(huge, "within_size"))
		return HDL_THP_ALWAYS;
	return begins(huge, "advise") ? HDL_THP_MADVISE : HDL_THP_NEVER;
}

/* "30 28 0:26 / /dev/shm rw,relatime - tmpfs tmpfs rw,huge=advise" */
static bool parse_mount(const char *line, struct mount *out)
{
	const char *type = strstr(line, " - ");
	uint64_t id, parent, major, minor;

	if (!type || !hdl_number(&line, &id) || !hdl_number(&line, &parent) ||
	    !hdl_number(&line, &major) || *line++ != ':' || !hdl_number(&line, &minor))
		return false;
	out->device = process_device((uint32_t)major, (uint32_t)minor);
	out->type = type + 3;
	out->thp = mount_thp(type);
	return true;
}

static void take_mount(struct process *process, const uint64_t *device, const struct mount *mount)
{
	bool tmpfs = begins(mount->type, "tmpfs ") || begins(mount->type, "ramfs ");
	bool hugetlb = begins(mount->type, "hugetlbfs ");

	if (!tmpfs && !hugetlb)
		return;
	for (uint32_t m = 0; m < process->mappings; m++) {
		struct process_mapping *mapping = &process->mapping[m];

		if (device[m] != mount->device ||
		    (mapping->kind != PROCESS_FILE && mapping->kind != PROCESS_SHMEM))
			continue;
		mapping->kind = hugetlb ? PROCESS_HUGETLB : PROCESS_SHMEM;
		mapping->thp = mount->thp;
	}
}

void process_kinds_by_mount(struct process *process, const uint64_t *device)
{
	char path[PROCESS_PATH_MAX];
	struct hdl_lines lines;
	struct mount mount;
	const char *line;
	bool any = false;

	for (uint32_t m = 0; m < process->mappings; m++) {
		struct process_mapping *mapping = &process->mapping[m];

		any |= mapping->kind == PROCESS_FILE || mapping->kind == PROCESS_SHMEM;
		mapping->thp = (uint8_t)(mapping->kind == PROCESS_SHMEM ? process->thp_shmem
									: process->pages.thp);
	}
	if (!any || hdl_lines_open(&lines, process_path(process, "mountinfo", path)))
		return;
	while ((line = hdl_lines_next(&lines)))
		if (parse_mount(line, &mount))
			take_mount(process, device, &mount);
	hdl_lines_close(&lines);
}

void process_kinds_by_pages(struct process *process)
{
	for (uint32_t m = 0; m < process->mappings; m++) {
		struct process_mapping *mapping = &process->mapping[m];

		if (mapping->kind_guessed && mapping->pages_known &&
		    mapping->resident > (mapping->end - mapping->start) / 2) {
			mapping->kind = PROCESS_ANON;
			mapping->kind_guessed = false;
		}
	}
}

const char *process_kind_name(enum process_kind kind)
{
	static const char *const names[PROCESS_KINDS] = {
		[PROCESS_HEAP] = "heap",   [PROCESS_ANON] = "anonymous",
		[PROCESS_SHMEM] = "shmem", [PROCESS_HUGETLB] = "hugetlb",
		[PROCESS_FILE] = "file",   [PROCESS_STACK] = "stack",
		[PROCESS_OTHER] = "other",
	};

	return kind < PROCESS_KINDS ? names[kind] : "other";
}

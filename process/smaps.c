/* SPDX-License-Identifier: MIT */
/*
 * smaps.c - pages, sharing and advice of each mapping, from /proc/PID/smaps
 *
 * The kernel walks the page tables of every mapping, the small ones too, for
 * this text; so it is read within a time limit, and rows behind the end of it
 * stay unknown. Lines have been added over the years and their order is not
 * promised: they are found by name, unknown ones are passed over.
 *
 * hugetlb is not in Rss, but in lines of its own. VmFlags: "hg" huge pages
 * advised for, "nh" against, "ht" hugetlb, "pf" and "io" no ordinary memory.
 *
 * Source: proc_pid_smaps(5); Documentation/filesystems/proc.rst, Linux 6.12.
 */
#include <errno.h>
#include <string.h>

#include "core/bits.h"
#include "process/internal.h"

/** What the parts of one row add up to. */
struct sums {
	uint64_t resident, huge, twice, swapped, advised, refused, page;
	uint64_t part; /* bytes of the mapping whose lines are being read */
	bool any, hugetlb, device;
};

struct smaps {
	struct process *process;
	uint32_t row;                    /* the first that ends behind the last head */
	struct process_mapping *mapping; /* that the lines are about; NULL none of ours */
	struct sums sums;
};

static void commit(struct smaps *smaps)
{
	struct sums *sums = &smaps->sums;
	struct process_mapping *mapping = &smaps->process->mapping[smaps->row];

	if (sums->any) {
		mapping->pages_known = mapping->details_known = true;
		mapping->resident = sums->resident;
		mapping->huge = sums->huge < sums->resident ? sums->huge : sums->resident;
		mapping->twice = sums->twice;
		mapping->swapped = sums->swapped;
		mapping->advised = sums->advised;
		mapping->refused = sums->refused;
		if (sums->hugetlb)
			mapping->kind = PROCESS_HUGETLB;
		else if (sums->device)
			mapping->kind = PROCESS_OTHER;
		if (sums->hugetlb && sums->page)
			mapping->huge_shift = log2_floor(sums->page);
	}
	*sums = (struct sums){ 0 };
}

static void take_head(struct smaps *smaps, const struct process_line *line)
{
	const struct process *process = smaps->process;

	while (smaps->row < process->mappings && process->mapping[smaps->row].end <= line->start) {
		commit(smaps);
		smaps->row++;
	}
	smaps->mapping = NULL;
	if (smaps->row == process->mappings || line->start < process->mapping[smaps->row].start)
		return;
	smaps->mapping = &process->mapping[smaps->row];
	smaps->sums.part = line->end - line->start;
	smaps->sums.any = true;
}

static void take_flags(struct sums *sums, const char *flags)
{
	for (const char *at = flags; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");

		if (len == 2 && !strncmp(at, "hg", 2))
			sums->advised += sums->part;
		else if (len == 2 && !strncmp(at, "nh", 2))
			sums->refused += sums->part;
		else if (len == 2 && !strncmp(at, "ht", 2))
			sums->hugetlb = true;
		else if (len == 2 && (!strncmp(at, "pf", 2) || !strncmp(at, "io", 2)))
			sums->device = true;
		at += len;
	}
}

static void take_line(struct sums *sums, const char *line)
{
	uint64_t bytes;

	if (process_kib(line, "Rss", &bytes))
		sums->resident += bytes;
	else if (process_kib(line, "Shared_Clean", &bytes) ||
		 process_kib(line, "Shared_Dirty", &bytes))
		sums->twice += bytes;
	else if (process_kib(line, "AnonHugePages", &bytes) ||
		 process_kib(line, "ShmemPmdMapped", &bytes) ||
		 process_kib(line, "FilePmdMapped", &bytes))
		sums->huge += bytes;
	else if (process_kib(line, "Private_Hugetlb", &bytes)) {
		sums->resident += bytes;
		sums->huge += bytes;
	} else if (process_kib(line, "Shared_Hugetlb", &bytes)) {
		sums->resident += bytes;
		sums->huge += bytes;
		sums->twice += bytes;
	} else if (process_kib(line, "Swap", &bytes))
		sums->swapped += bytes;
	else if (process_kib(line, "KernelPageSize", &bytes))
		sums->page = bytes > sums->page ? bytes : sums->page;
	else if (!strncmp(line, "VmFlags:", 8))
		take_flags(sums, line + 8 + strspn(line + 8, " "));
}

int process_smaps_read(struct process *process, const struct process_clock *clock)
{
	struct smaps smaps = { .process = process };
	char path[PROCESS_PATH_MAX];
	struct process_line head;
	struct hdl_lines lines;
	const char *line;
	int error = hdl_lines_open(&lines, process_path(process, "smaps", path));

	if (error)
		return error;
	while (!error && (line = hdl_lines_next(&lines)) && smaps.row < process->mappings) {
		if (*line >= 'A' && *line <= 'Z') {
			if (smaps.mapping)
				take_line(&smaps.sums, line);
		} else if (process_line_parse(line, &head)) {
			take_head(&smaps, &head);
			if (!process_clock_left(clock))
				error = -ETIME;
		}
	}
	if (!error && smaps.row < process->mappings)
		commit(&smaps);
	hdl_lines_close(&lines);
	return error;
}

/* SPDX-License-Identifier: MIT */
/*
 * fuzz-process.c - any bytes at all as the books of a process
 *
 * The input is maps, smaps, numa_maps, status, mountinfo, stat and limits, with NUL bytes between
 * them. Whatever they say: rows stay in order, parts do not exceed the whole, names end.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/bundle.h"
#include "process/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = { "maps",      "smaps", "numa_maps", "status",
				     "mountinfo", "stat",  "limits" };
static const struct process_clock forever = { UINT64_MAX };

static void check(const struct process *process)
{
	for (uint32_t m = 0; m < process->mappings; m++) {
		const struct process_mapping *mapping = &process->mapping[m];

		CHECK(mapping->start < mapping->end && mapping->parts);
		CHECK(mapping->huge <= mapping->resident);
		CHECK(mapping->verdict < HD_V_COUNT);
		CHECK(memchr(mapping->name, '\0', sizeof(mapping->name)));
	}
}

static void read_all(struct process *process, uint64_t min_bytes)
{
	process_status_read(process);
	if (process_maps_read(process, min_bytes) || process_rows_prepare(process))
		return;
	process_smaps_read(process, &forever);
	process_numa_read(process, &forever);
	process_kinds_by_pages(process);
	for (uint32_t m = 0; m < process->mappings; m++) {
		process_page_tables(process, &process->mapping[m]);
		process_judge(process, &process->mapping[m]);
		process_hinders(process, &process->mapping[m]);
	}
	check(process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct process process = { .pid = getpid(), .pidfd = -1, .nodes = 2, .node = { 0, 1 } };

	process.pages = (struct hdl_pages){
		.base_shift = 12, .thp_shift = 21, .thp = HDL_THP_MADVISE, .hugetlb_shift = 21
	};
	process.thp_shmem = HDL_THP_NEVER;
	hdl_mask_add(&process.memory, 0);
	hdl_mask_add(&process.memory, 1);
	bundle_write(data, size, files, sizeof(files) / sizeof(*files));
	strcpy(process.books, bundle_directory());
	read_all(&process, size & 1 ? 0 : 4 << 20);
	process_close(&process);
	return 0;
}

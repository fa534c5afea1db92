/* SPDX-License-Identifier: MIT */
/* books.c - a process whose books are files of ours */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/process/books.h"

static const char *const names[] = { "maps",   "smaps", "numa_maps", "status",
				     "limits", "stat",  "mountinfo" };

void books_open(struct process *process, const char *directory)
{
	*process = (struct process){ .pid = getpid(), .pidfd = -1, .nodes = 2, .node = { 0, 1 } };
	process->pages = (struct hdl_pages){
		.base_shift = 12, .thp_shift = 21, .thp = HDL_THP_MADVISE, .hugetlb_shift = 21
	};
	process->thp_shmem = HDL_THP_NEVER;
	hdl_mask_add(&process->memory, 0);
	hdl_mask_add(&process->memory, 1);
	snprintf(process->books, sizeof(process->books), "%s", directory);
}

void books_make(struct process *process)
{
	char directory[] = "/tmp/hashdist-books-XXXXXX";

	assert_non_null(mkdtemp(directory));
	books_open(process, directory);
}

void books_write(const struct process *process, const char *name, const char *text)
{
	char path[PROCESS_PATH_MAX];
	FILE *file = fopen(process_path(process, name, path), "w");

	assert_non_null(file);
	assert_int_equal(fputs(text, file) < 0, 0);
	assert_int_equal(fclose(file), 0);
}

void books_remove(struct process *process)
{
	char path[PROCESS_PATH_MAX];

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		unlink(process_path(process, names[n], path));
	assert_int_equal(rmdir(process->books), 0);
	process_close(process);
}

void books_read_maps(struct process *process, uint64_t min_bytes)
{
	assert_int_equal(process_maps_read(process, min_bytes), 0);
	assert_int_equal(process_rows_prepare(process), 0);
}

struct process_mapping *books_row(const struct process *process, uint64_t at)
{
	for (uint32_t m = 0; m < process->mappings; m++)
		if (process->mapping[m].start <= at && at < process->mapping[m].end)
			return &process->mapping[m];
	return NULL;
}

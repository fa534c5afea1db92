/* SPDX-License-Identifier: MIT */
/*
 * read.c - a reading of a process, book by book
 *
 *   status     resident, page tables, "THP off", cpuset
 *   maps       which mappings are large
 *   scan       which pages they have (Linux 6.7): cheap, large mappings only
 *   smaps      the same, sharing and advice: walks everything, so within the
 *              time limit, and not begun when it would end it
 *   numa_maps  shares of the nodes, likewise; or samples
 *
 * A process changes while it is read; each book is of its own moment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process/internal.h"

#define SHMEM_ENABLED "/sys/kernel/mm/transparent_hugepage/shmem_enabled"

/* "always within_size advise [never] deny force" */
static uint8_t read_thp_shmem(void)
{
	static const struct {
		const char *word;
		enum hdl_thp meaning;
	} words[] = { { "[always]", HDL_THP_ALWAYS },      { "[force]", HDL_THP_ALWAYS },
		      { "[within_size]", HDL_THP_ALWAYS }, { "[advise]", HDL_THP_MADVISE },
		      { "[never]", HDL_THP_NEVER },        { "[deny]", HDL_THP_NEVER } };
	char text[256];

	if (hdl_read_text(SHMEM_ENABLED, text, sizeof(text)) < 0)
		return HDL_THP_NONE;
	for (unsigned w = 0; w < sizeof(words) / sizeof(words[0]); w++)
		if (strstr(text, words[w].word))
			return (uint8_t)words[w].meaning;
	return HDL_THP_NONE;
}

static int read_machine(struct process *process)
{
	struct hdl_wish wish = { .flags = HD_IGNORE_POLICY };
	struct hdl_nodes nodes;

	hdl_pages_read(&process->pages);
	process->thp_shmem = read_thp_shmem();
	hdl_nodes_read(&wish, &nodes); /* -ENODEV is about us, not about the machine */
	process->memory = nodes.memory;
	process->nodes = 0;
	HDL_FOR_EACH_NODE(node, &nodes.memory)
	process->node[process->nodes++] = node;
	free(process->node_room);
	process->node_room = NULL;
	if (process->nodes < 2)
		return 0;
	process->node_room = calloc(process->nodes, sizeof(*process->node_room));
	if (!process->node_room)
		return -ENOMEM;
	for (uint32_t n = 0; n < process->nodes; n++)
		process->node_room[n] = hdl_room_node(process->node[n]);
	return 0;
}

int process_rows_prepare(struct process *process)
{
	free(process->node_bytes);
	process->node_bytes =
	    calloc((size_t)process->mappings * process->nodes + 1, sizeof(*process->node_bytes));
	if (!process->node_bytes)
		return -ENOMEM;
	for (uint32_t m = 0; m < process->mappings; m++) {
		struct process_mapping *mapping = &process->mapping[m];

		mapping->node_bytes = process->node_bytes + (size_t)m * process->nodes;
		mapping->huge_shift = mapping->kind == PROCESS_HUGETLB
					  ? process->pages.hugetlb_shift
					  : process->pages.thp_shift;
	}
	return 0;
}

static void read_pages(struct process *process, const struct process_clock *clock)
{
	int error = process_touched_read(process, clock);

	process->cut |= error == -ETIME;
	error = -ETIME;
	if (process_affords_walk(process, clock))
		error = process_smaps_read(process, clock);
	process->cut |= error == -ETIME;
	if (error && error != -ETIME)
		process->smaps_error = error;
	process_kinds_by_pages(process);
}

static void judge_rows(struct process *process)
{
	for (uint32_t m = 0; m < process->mappings; m++) {
		process_page_tables(process, &process->mapping[m]);
		process_judge(process, &process->mapping[m]);
		process_hinders(process, &process->mapping[m]);
	}
}

int process_read(struct process *process, const struct process_limits *limits)
{
	struct process_clock clock = process_clock_start(limits->budget_ms);
	int error = process_status_read(process);

	process->cut = false;
	process->smaps_error = process->numa_error = 0;
	if (!error)
		error = read_machine(process);
	if (!error)
		error = process_maps_read(process, limits->min_bytes);
	if (!error)
		error = process_rows_prepare(process);
	if (!error && process->mappings) {
		read_pages(process, &clock);
		process_shares_read(process, &clock, limits->budget_ms);
		judge_rows(process);
	}
	if (error == -ENOENT || error == -ESRCH || !process_alive(process))
		return -ESRCH;
	return error;
}

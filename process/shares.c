/* SPDX-License-Identifier: MIT */
/*
 * shares.c - how much of each mapping lies on which node
 *
 *   7f31eec00000 interleave:0-1 anon=4096 dirty=4096 N0=2048 N1=2048 kernelpagesize_kB=4
 *
 * With one memory node there is nothing to ask. Else numa_maps tells exactly,
 * but walks all page tables as smaps does: within the time limit. Rows that it
 * has not reached are sampled.
 *
 * Transparent huge pages are counted there in base pages, hugetlb in its own.
 * While NUMA balancing looks at a huge page, kernels before 6.7 leave it out of
 * smaps, but not out of numa_maps: what is there in whole huge pages is added.
 *
 * Source: proc_pid_numa_maps(5); show_numa_map(), Linux fs/proc/task_mmu.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "core/bits.h"
#include "process/internal.h"

/** One line. */
struct numa_line {
	uint64_t start, page_kib;
	const char *policy, *rest;
	size_t policy_len;
	bool hugetlb;
};

/* Policies of two words: "prefer (many):0-1", "weighted interleave:0-1". */
static size_t policy_length(const char *policy)
{
	size_t len = strcspn(policy, " ");

	if (!strncmp(policy, "prefer (", 8) || !strncmp(policy, "weighted ", 9))
		len += 1 + strcspn(policy + len + 1, " ");
	return len;
}

static bool parse_line(const char *line, struct numa_line *out)
{
	char *end;
	const char *page;

	out->start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return false;
	out->policy = end + 1;
	out->policy_len = policy_length(out->policy);
	out->rest = out->policy + out->policy_len;
	page = strstr(out->rest, " kernelpagesize_kB=");
	out->page_kib = page ? strtoull(page + 19, NULL, 10) : 0;
	out->hugetlb = strstr(out->rest, " huge ") || strstr(out->rest, " huge\n");
	return true;
}

static void add_nodes(const struct process *process, struct process_mapping *mapping,
		      const struct numa_line *line)
{
	for (const char *at = strstr(line->rest, " N"); at; at = strstr(at, " N")) {
		uint64_t node, pages;

		at += 2;
		if (!hdl_number(&at, &node) || *at != '=')
			continue;
		at++;
		if (!hdl_number(&at, &pages))
			continue;
		for (uint32_t n = 0; n < process->nodes; n++)
			if (process->node[n] == node)
				mapping->node_bytes[n] += (pages * line->page_kib) << 10;
	}
}

static void add_policy(struct process_mapping *mapping, const struct numa_line *line)
{
	char policy[sizeof(mapping->policy)];

	snprintf(policy, sizeof(policy), "%.*s", (int)line->policy_len, line->policy);
	if (!mapping->policy[0])
		memcpy(mapping->policy, policy, sizeof(policy));
	else if (strcmp(mapping->policy, policy))
		snprintf(mapping->policy, sizeof(mapping->policy), "several");
}

static uint64_t node_total(const struct process *process, const struct process_mapping *mapping)
{
	uint64_t total = 0;

	for (uint32_t n = 0; n < process->nodes; n++)
		total += mapping->node_bytes[n];
	return total;
}

void process_add_hidden(const struct process *process, struct process_mapping *mapping)
{
	uint64_t total = node_total(process, mapping), hidden;

	if (!mapping->details_known || mapping->spans_known || !process->pages.thp_shift ||
	    (mapping->kind != PROCESS_ANON && mapping->kind != PROCESS_HEAP) ||
	    total <= mapping->resident)
		return;
	hidden = (total - mapping->resident) >> process->pages.thp_shift
						    << process->pages.thp_shift;
	mapping->resident += hidden;
	mapping->huge += hidden;
}

/** No more lines will be about it. */
static void finish(struct process *process, uint32_t row, bool balancing)
{
	struct process_mapping *mapping = &process->mapping[row];

	mapping->nodes_known = mapping->policy[0];
	if (balancing)
		process_add_hidden(process, mapping);
}

static void forget(struct process *process, uint32_t row)
{
	struct process_mapping *mapping = &process->mapping[row];

	memset(mapping->node_bytes, 0, process->nodes * sizeof(*mapping->node_bytes));
	mapping->policy[0] = '\0';
}

static void take_line(struct process *process, struct process_mapping *mapping,
		      const struct numa_line *line)
{
	add_nodes(process, mapping, line);
	add_policy(mapping, line);
	if (!line->hugetlb)
		return;
	mapping->kind = PROCESS_HUGETLB;
	if (line->page_kib)
		mapping->huge_shift = log2_floor(line->page_kib << 10);
}

int process_numa_read(struct process *process, const struct process_clock *clock)
{
	char path[PROCESS_PATH_MAX];
	struct hdl_lines lines;
	struct numa_line line;
	const char *text;
	uint64_t balancing = 0;
	uint32_t row = 0;
	int error = hdl_lines_open(&lines, process_path(process, "numa_maps", path));

	if (error)
		return error;
	hdl_read_number("/proc/sys/kernel/numa_balancing", &balancing);
	while (!error && row < process->mappings && (text = hdl_lines_next(&lines))) {
		if (!parse_line(text, &line))
			continue;
		while (row < process->mappings && process->mapping[row].end <= line.start)
			finish(process, row++, balancing);
		if (row < process->mappings && process->mapping[row].start <= line.start)
			take_line(process, &process->mapping[row], &line);
		if (!process_clock_left(clock))
			error = -ETIME;
	}
	hdl_lines_close(&lines);
	if (error && row < process->mappings)
		forget(process, row);
	for (; !error && row < process->mappings; row++)
		finish(process, row, balancing);
	return error;
}

static void sample_rest(struct process *process, uint32_t budget_ms)
{
	struct process_clock clock = process_clock_start(budget_ms);
	int error = 0;

	for (uint32_t m = 0; error != -ETIME && m < process->mappings; m++)
		if (!process->mapping[m].nodes_known && process->mapping[m].pages_known)
			error = process_sample(process, &process->mapping[m], &clock);
	process->cut |= error == -ETIME;
}

void process_shares_read(struct process *process, const struct process_clock *clock,
			 uint32_t budget_ms)
{
	int error = -ETIME;

	for (uint32_t m = 0; process->nodes == 1 && m < process->mappings; m++) {
		process->mapping[m].nodes_known = process->mapping[m].pages_known;
		process->mapping[m].node_bytes[0] = process->mapping[m].resident;
	}
	if (process->nodes == 1)
		return;
	if (process_affords_walk(process, clock))
		error = process_numa_read(process, clock);
	process->cut |= error == -ETIME;
	if (error && error != -ETIME)
		process->numa_error = error;
	sample_rest(process, budget_ms);
}

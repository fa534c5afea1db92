/* SPDX-License-Identifier: MIT */
/*
 * process_metrics.c - processes for a monitoring system, as OpenMetrics text
 *
 * Sums for each kind of memory of a process: addresses as labels would make new
 * series without end. Gauges only: what is unknown has no sample.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/process_view.h"

typedef bool (*sum_fn)(const struct process_mapping *mapping, uint64_t *bytes);

static void head(const char *name, const char *help)
{
	size_t len = strlen(name);

	printf("# TYPE hashdist_process_%s gauge\n", name);
	if (len > 6 && !strcmp(name + len - 6, "_bytes"))
		printf("# UNIT hashdist_process_%s bytes\n", name);
	printf("# HELP hashdist_process_%s %s\n", name, help);
}

/** The labels that each sample has; names of processes may be anything. */
static void labels(const char *metric, const struct process *process)
{
	printf("hashdist_process_%s{pid=\"%d\",comm=\"", metric, (int)process->pid);
	for (const char *c = process->comm; *c; c++) {
		if (*c == '"' || *c == '\\')
			printf("\\%c", *c);
		else
			putchar((unsigned char)*c < ' ' || (unsigned char)*c > '~' ? '?' : *c);
	}
	putchar('"');
}

static bool size_of(const struct process_mapping *mapping, uint64_t *bytes)
{
	*bytes = mapping->end - mapping->start;
	return true;
}

static bool resident_of(const struct process_mapping *mapping, uint64_t *bytes)
{
	*bytes = mapping->resident;
	return mapping->pages_known;
}

static bool huge_of(const struct process_mapping *mapping, uint64_t *bytes)
{
	*bytes = mapping->huge;
	return mapping->pages_known;
}

static bool gain_of(const struct process_mapping *mapping, uint64_t *bytes)
{
	*bytes = process_mapping_gain(mapping);
	return mapping->pages_known && process_placeable(mapping);
}

static bool tables_of(const struct process_mapping *mapping, uint64_t *bytes)
{
	*bytes = mapping->page_table_bytes;
	return mapping->pages_known;
}

static void print_kinds(const char *metric, const struct process *process, sum_fn value)
{
	for (int kind = 0; kind < PROCESS_KINDS; kind++) {
		uint64_t sum = 0, bytes;
		bool any = false, all = true;

		for (uint32_t m = 0; m < process->mappings; m++) {
			if (process->mapping[m].kind != (enum process_kind)kind)
				continue;
			any = true;
			all &= value(&process->mapping[m], &bytes);
			sum += bytes;
		}
		if (!any || !all)
			continue;
		labels(metric, process);
		printf(",kind=\"%s\"} %" PRIu64 "\n", process_kind_name((enum process_kind)kind),
		       sum);
	}
}

static void print_nodes(const struct process *process)
{
	for (uint32_t n = 0; n < process->nodes; n++) {
		uint64_t sum = 0;
		bool any = false, all = true;

		for (uint32_t m = 0; m < process->mappings; m++) {
			const struct process_mapping *mapping = &process->mapping[m];

			if (!process_placeable(mapping))
				continue;
			any = true;
			all &= mapping->nodes_known;
			sum += mapping->nodes_known ? mapping->node_bytes[n] : 0;
		}
		if (!any || !all)
			continue;
		labels("node_bytes", process);
		printf(",node=\"%u\"} %" PRIu64 "\n", process->node[n], sum);
	}
}

static void print_hindered(const struct process *process)
{
	for (uint32_t bit = 1; bit < HINDER_ALL; bit <<= 1) {
		uint64_t sum = 0;

		for (uint32_t m = 0; bit != HINDER_KIND && m < process->mappings; m++)
			if (process->mapping[m].hinders & bit)
				sum += process->mapping[m].end - process->mapping[m].start;
		if (!sum)
			continue;
		labels("hindered_bytes", process);
		printf(",hinder=\"%s\"} %" PRIu64 "\n",
		       process_hinder_name((enum process_hinder)bit), sum);
	}
}

static void print_ok(const struct process *process)
{
	enum hd_verdict_code verdict = process_verdict(process);

	if (verdict == HD_V_UNKNOWN)
		return;
	labels("ok", process);
	printf("} %d\n", verdict == HD_OK);
}

static void print_page_tables(const struct process *process)
{
	labels("all_page_tables_bytes", process);
	printf("} %" PRIu64 "\n", process->page_tables);
}

static void each(const struct process *const *processes, uint32_t count,
		 void (*print)(const struct process *process))
{
	for (uint32_t p = 0; p < count; p++)
		print(processes[p]);
}

void process_print_metrics(const struct process *const *processes, uint32_t count)
{
	static const struct {
		const char *name, *help;
		sum_fn value;
	} sums[] = {
		{ "large_bytes", "Size of the large mappings.", size_of },
		{ "resident_bytes", "Of these in memory.", resident_of },
		{ "huge_bytes", "Of these on huge pages.", huge_of },
		{ "gain_bytes", "On base pages where huge ones would fit.", gain_of },
		{ "page_tables_bytes", "Page tables of the large mappings.", tables_of },
	};

	for (unsigned s = 0; s < sizeof(sums) / sizeof(sums[0]); s++) {
		head(sums[s].name, sums[s].help);
		for (uint32_t p = 0; p < count; p++)
			print_kinds(sums[s].name, processes[p], sums[s].value);
	}
	head("node_bytes", "Large mappings on each memory node.");
	each(processes, count, print_nodes);
	head("hindered_bytes", "Size of the large mappings that something stands in the way of.");
	each(processes, count, print_hindered);
	head("all_page_tables_bytes", "Page tables of the whole process.");
	each(processes, count, print_page_tables);
	head("ok", "1 where all large mappings are as they should be, 0 where not.");
	each(processes, count, print_ok);
	puts("# EOF");
}

/* SPDX-License-Identifier: MIT */
/*
 * process_columns.c - what the table can show of one mapping of a process
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/process_view.h"

static void put(char *out, const char *text)
{
	snprintf(out, CLI_CELL_MAX, "%s", text);
}

static void put_size(char *out, bool known, uint64_t bytes)
{
	if (known)
		cli_size(out, CLI_CELL_MAX, bytes);
	else
		put(out, "?");
}

/** Add a word to a list. */
static void add(char *out, const char *between, const char *text)
{
	size_t used = strlen(out);

	snprintf(out + used, CLI_CELL_MAX - used, "%s%s", used ? between : "", text);
}

char *process_comm(const struct process *process, char *out)
{
	size_t at = 0;

	for (const char *c = process->comm; *c && at < 63; c++)
		out[at++] = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
	out[at] = '\0';
	return out;
}

static void value_pid(const void *row, char *out)
{
	snprintf(out, CLI_CELL_MAX, "%d", (int)((const struct process_row *)row)->process->pid);
}

static void value_comm(const void *row, char *out)
{
	process_comm(((const struct process_row *)row)->process, out);
}

static void value_uid(const void *row, char *out)
{
	snprintf(out, CLI_CELL_MAX, "%u", ((const struct process_row *)row)->process->uid);
}

static void value_address(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	snprintf(out, CLI_CELL_MAX, "%" PRIx64 "-%" PRIx64, mapping->start, mapping->end);
}

static void value_kind(const void *row, char *out)
{
	put(out, process_kind_name(((const struct process_row *)row)->mapping->kind));
}

static void value_name(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	put(out, mapping->name[0] ? mapping->name : "-");
}

static void value_parts(const void *row, char *out)
{
	snprintf(out, CLI_CELL_MAX, "%u", ((const struct process_row *)row)->mapping->parts);
}

static void value_access(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	snprintf(out, CLI_CELL_MAX, "%s%s%s%s", mapping->readable ? "r" : "-",
		 mapping->writable ? "w" : "-", mapping->executable ? "x" : "-",
		 mapping->shared ? "s" : "p");
}

static void value_size(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	put_size(out, true, mapping->end - mapping->start);
}

static void value_bytes(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	snprintf(out, CLI_CELL_MAX, "%" PRIu64, mapping->end - mapping->start);
}

static void value_resident(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	put_size(out, mapping->pages_known, mapping->resident);
}

static void value_huge(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;
	uint64_t part;

	if (!mapping->pages_known) {
		put(out, "?");
		return;
	}
	part = mapping->resident ? mapping->huge * 100 / mapping->resident : 0;
	snprintf(out, CLI_CELL_MAX, "%" PRIu64 "%%", part);
}

static void value_gain(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	if (process_placeable(mapping))
		put_size(out, mapping->pages_known, process_mapping_gain(mapping));
	else
		put(out, "-");
}

void process_pages_text(const struct process_mapping *mapping, unsigned base_shift, char *out)
{
	uint64_t base = mapping->resident - mapping->huge;
	char page[16], part[64];

	out[0] = '\0';
	if (!mapping->pages_known) {
		put(out, "?");
		return;
	}
	if (base) {
		snprintf(part, sizeof(part), "%" PRIu64 " x %s", base >> base_shift,
			 cli_page(page, sizeof(page), base_shift));
		add(out, ", ", part);
	}
	if (mapping->huge) {
		snprintf(part, sizeof(part), "%" PRIu64 " x %s",
			 mapping->huge >> mapping->huge_shift,
			 cli_page(page, sizeof(page), mapping->huge_shift));
		add(out, ", ", part);
	}
	if (!out[0])
		put(out, "-");
}

static void value_pages(const void *row, char *out)
{
	const struct process_row *it = row;

	process_pages_text(it->mapping, it->process->pages.base_shift, out);
}

/** Shares of up to four nodes one by one; of more, the range. */
static void put_shares(const struct process_row *row, uint64_t total, char *out)
{
	const struct process_mapping *mapping = row->mapping;
	uint64_t least = UINT64_MAX, most = 0;
	uint32_t holding = 0;
	char part[64];

	for (uint32_t n = 0; n < row->process->nodes; n++) {
		uint64_t bytes = mapping->node_bytes[n];

		holding += bytes > 0;
		least = bytes && bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	if (holding > 4) {
		snprintf(out, CLI_CELL_MAX, "%u nodes, %u-%u%%", holding,
			 (unsigned)(least * 100 / total), (unsigned)(most * 100 / total));
		return;
	}
	for (uint32_t n = 0; n < row->process->nodes; n++) {
		if (!mapping->node_bytes[n])
			continue;
		snprintf(part, sizeof(part), "N%u %u%%", row->process->node[n],
			 (unsigned)((mapping->node_bytes[n] * 100 + total / 2) / total));
		add(out, " ", part);
	}
}

static void value_nodes(const void *row, char *out)
{
	const struct process_row *it = row;
	uint64_t total = 0;

	out[0] = '\0';
	for (uint32_t n = 0; it->mapping->nodes_known && n < it->process->nodes; n++)
		total += it->mapping->node_bytes[n];
	if (!it->mapping->nodes_known)
		put(out, "?");
	else if (!total)
		put(out, "-");
	else
		put_shares(it, total, out);
	if (it->mapping->sampled)
		add(out, " ", "(sampled)");
}

static void value_policy(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	put(out, mapping->policy[0] ? mapping->policy : "?");
}

static void value_tables(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	put_size(out, mapping->pages_known, mapping->page_table_bytes);
	if (mapping->pages_known && mapping->page_tables_least)
		add(out, "", "+");
}

static void value_swapped(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	put_size(out, mapping->details_known, mapping->swapped);
}

static void value_twice(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	put_size(out, mapping->details_known, mapping->twice);
}

static void value_advice(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;
	uint64_t bytes = mapping->end - mapping->start;

	out[0] = '\0';
	if (!mapping->details_known) {
		put(out, "?");
		return;
	}
	if (mapping->advised)
		add(out, ", ", mapping->advised < bytes ? "for, in part" : "for");
	if (mapping->refused)
		add(out, ", ", mapping->refused < bytes ? "against, in part" : "against");
	if (!out[0])
		put(out, "none");
}

static void value_hinders(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	out[0] = '\0';
	for (uint32_t bit = 1; bit < HINDER_ALL; bit <<= 1)
		if (mapping->hinders & bit)
			add(out, ", ", process_hinder_name((enum process_hinder)bit));
	if (!out[0])
		put(out, "-");
}

static void value_verdict(const void *row, char *out)
{
	const struct process_mapping *mapping = ((const struct process_row *)row)->mapping;

	out[0] = '\0';
	for (int code = HD_V_COUNT - 1; code > HD_OK; code--)
		if (mapping->verdicts >> code & 1)
			add(out, ", ", hd_verdict_name((enum hd_verdict_code)code));
	if (!out[0])
		put(out, process_placeable(mapping) ? hd_verdict_name(HD_OK) : "-");
}

const struct cli_column process_columns[] = {
	{ "PID", "number of the process", true, value_pid },
	{ "COMM", "its name", false, value_comm },
	{ "UID", "number of its user", true, value_uid },
	{ "ADDRESS", "where the mapping begins and ends", false, value_address },
	{ "KIND", "heap, anonymous, shmem, hugetlb, file, stack or other", false, value_kind },
	{ "NAME", "path, or the name the program gave it", false, value_name },
	{ "PARTS", "mappings of the kernel that touch and are this one", true, value_parts },
	{ "ACCESS", "read, write, execute; private or shared", false, value_access },
	{ "SIZE", "size, with a unit", true, value_size },
	{ "BYTES", "size in bytes", true, value_bytes },
	{ "RESIDENT", "of this in memory", true, value_resident },
	{ "HUGE", "of this on huge pages", true, value_huge },
	{ "GAIN", "on base pages where huge ones would fit", true, value_gain },
	{ "PAGES", "translations it needs, and their sizes", true, value_pages },
	{ "NODES", "share on each memory node", false, value_nodes },
	{ "POLICY", "memory policy, as the kernel prints it", false, value_policy },
	{ "TABLES", "page tables of the last level; + at least", true, value_tables },
	{ "SWAPPED", "not in memory, but in swap", true, value_swapped },
	{ "TWICE", "mapped by another process too", true, value_twice },
	{ "ADVICE", "huge page advice: for, against, none", false, value_advice },
	{ "HINDERS", "what stands in the way", false, value_hinders },
	{ "VERDICT", "ok, or what is wrong", false, value_verdict },
	{ 0 },
};

/* SPDX-License-Identifier: MIT */
/*
 * report_columns.c - what the table can show of one kernel table
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report.h"

const char *report_key(const struct ktables_row *row)
{
	const struct hd_table_info *info = hd_table_info(row->id);

	return info ? info->key : row->name;
}

enum hd_verdict_code report_verdict(const struct ktables_row *row)
{
	return row->judgement.count ? row->judgement.verdict[0].code : HD_OK;
}

static const struct ktables_row *row_of(const void *line)
{
	return ((const struct report_line *)line)->row;
}

static void put(char *out, const char *text)
{
	snprintf(out, REPORT_CELL_MAX, "%s", text);
}

static void put_count(char *out, uint64_t n)
{
	if (n)
		snprintf(out, REPORT_CELL_MAX, "%" PRIu64, n);
	else
		put(out, "?");
}

static void value_table(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);

	put(out, report_key(row));
}

static void value_name(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);

	put(out, row->name);
}

static void value_entries(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);

	put_count(out, row->entries);
}

static void value_bytes(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);

	put_count(out, row->bytes * row->copies);
}

static void value_size(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);
	char one[32];

	if (!row->bytes)
		put(out, "?");
	else if (row->copies > 1)
		snprintf(out, REPORT_CELL_MAX, "%u x %s", row->copies,
			 cli_size(one, sizeof(one), row->bytes));
	else
		cli_size(out, REPORT_CELL_MAX, row->bytes);
}

static void value_bucket(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);

	put_count(out, row->entries ? row->bytes / row->entries : 0);
}

static void value_mapping(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);

	if (row->mapping == HD_MAP_UNKNOWN)
		put(out, "?");
	else if (row->early)
		put(out, "linear, early");
	else
		put(out, hd_mapping_name(row->mapping));
}

static void value_pages(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);
	char page[16];

	if (row->shift && row->bytes)
		snprintf(out, REPORT_CELL_MAX, "%" PRIu64 " x %s",
			 hd_translations(row->bytes, row->shift) * row->copies,
			 cli_page(page, sizeof(page), row->shift));
	else
		put(out, "?");
}

bool report_translated(const struct ktables_row *row, struct hd_tlb_table *out)
{
	if (!row->shift || !row->bytes)
		return false;
	*out = (struct hd_tlb_table){ row->bytes, row->bytes, (uint8_t)row->shift,
				      (uint8_t)row->shift };
	return true;
}

static void value_walks(const void *line, char *out)
{
	const struct report_line *at = line;
	struct hd_tlb_table table;

	if (at->report->walks && report_translated(at->row, &table))
		walks_cell(at->report->walks, &table, out, REPORT_CELL_MAX);
	else
		put(out, "?");
}

/** Shares of up to four nodes one by one; of more, the range. */
static void value_nodes(const void *line, char *out)
{
	const struct report *report = ((const struct report_line *)line)->report;
	const struct ktables_row *row = row_of(line);
	uint64_t total = 0, least = UINT64_MAX, most = 0;
	uint32_t holding = 0;
	size_t used = 0;

	put(out, "?");
	if (!row->node_bytes) {
		if (report->survey->facts.machine.facts.memory_nodes == 1)
			put(out, "only node");
		return;
	}
	for (uint32_t n = 0; n < report->books->nodes; n++) {
		uint64_t bytes = row->node_bytes[n];

		total += bytes;
		if (!bytes)
			continue;
		holding++;
		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	if (!total)
		return;
	if (holding > 4) {
		snprintf(out, REPORT_CELL_MAX, "%u nodes, %u-%u%%%s", holding,
			 (unsigned)(least * 100 / total), (unsigned)(most * 100 / total),
			 row->spread_assumed ? " (assumed)" : "");
		return;
	}
	for (uint32_t n = 0; n < report->books->nodes; n++)
		if (row->node_bytes[n])
			used += (size_t)snprintf(
			    out + used, REPORT_CELL_MAX - used, "%sN%u %u%%", used ? " " : "",
			    report->books->node[n].id,
			    (unsigned)((row->node_bytes[n] * 100 + total / 2) / total));
	if (row->spread_assumed)
		snprintf(out + used, REPORT_CELL_MAX - used, " (assumed)");
}

static void value_used(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);
	const struct hd_table_info *info = hd_table_info(row->id);

	if (info && !info->hashed)
		put(out, "-");
	else if (row->used_known)
		snprintf(out, REPORT_CELL_MAX, "%" PRIu64, row->used);
	else
		put(out, "?");
}

static void value_fill(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);

	if (!row->used_known || !row->entries) {
		value_used(line, out);
		return;
	}
	if (row->used && row->used * 100 < row->entries)
		put(out, "<1%");
	else
		snprintf(out, REPORT_CELL_MAX, "%" PRIu64 "%%", row->used * 100 / row->entries);
}

static void value_verdict(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);
	size_t used = 0;

	put(out, hd_verdict_name(HD_OK));
	for (unsigned v = 0; v < row->judgement.count; v++)
		used +=
		    (size_t)snprintf(out + used, REPORT_CELL_MAX - used, "%s%s", used ? ", " : "",
				     hd_verdict_name(row->judgement.verdict[v].code));
}

static void value_source(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);

	put(out, row->source == KTABLES_FROM_LOG ? "log" : "computed");
}

static void value_want(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);

	if (!row->want_known)
		put(out, "?");
	else if (row->want.exact)
		put_count(out, row->want.low.entries);
	else
		snprintf(out, REPORT_CELL_MAX, "%" PRIu64 "-%" PRIu64, row->want.low.entries,
			 row->want.high.entries);
}

static void value_param(const void *line, char *out)
{
	const struct ktables_row *row = row_of(line);
	const struct hd_table_info *info = hd_table_info(row->id);
	const char *name = info ? hd_param_name(info->param) : NULL;

	put(out, name ? name : "-");
}

const struct cli_column report_columns[] = {
	{ "TABLE", "short name of the table", false, value_table },
	{ "NAME", "name as the kernel prints it", false, value_name },
	{ "ENTRIES", "buckets", true, value_entries },
	{ "SIZE", "size, with a unit", true, value_size },
	{ "BYTES", "size in bytes", true, value_bytes },
	{ "BUCKET", "bytes per bucket", true, value_bucket },
	{ "MAPPING", "linear, vmalloc or vmalloc hugepage; early: from the boot allocator", false,
	  value_mapping },
	{ "PAGES", "translations it needs, and their size", true, value_pages },
	{ "WALKS",
	  "page walks per lookup at a random bucket, as a model of the processor's TLB expects",
	  true, value_walks },
	{ "NODES", "share on each memory node", false, value_nodes },
	{ "USED", "objects it holds", true, value_used },
	{ "FILL", "objects per hundred buckets", true, value_fill },
	{ "WANT", "buckets that the rules of this kernel give on this machine", true, value_want },
	{ "PARAM", "boot parameter that sizes it", false, value_param },
	{ "SOURCE", "log, or computed where the log has lost it", false, value_source },
	{ "VERDICT", "ok, or what is wrong", false, value_verdict },
	{ 0 },
};

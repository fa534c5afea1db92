/* SPDX-License-Identifier: MIT */
/*
 * plan_text.c - a plan for a reader: lines, placement, steps, two settings, a check
 */
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/plan.h"
#include "cli/report.h"
#include "cli/table.h"

uint64_t plan_translations(const struct boot_row *row)
{
	uint64_t sum = 0;

	for (unsigned shift = 0; shift < SIM_SHIFTS; shift++)
		sum += row->got.translations[shift];
	return sum;
}

/* Tables with several sizes have most on the largest; all others count as the smallest. */
bool plan_translated(const struct boot_row *row, struct hd_tlb_table *out)
{
	*out = (struct hd_tlb_table){ .bytes = row->table.bytes };
	for (unsigned shift = 0; shift < SIM_SHIFTS; shift++) {
		if (!row->got.translations[shift])
			continue;
		if (!out->small_shift)
			out->small_shift = (uint8_t)shift;
		out->large_shift = (uint8_t)shift;
		out->large_bytes = row->got.translations[shift] << shift;
	}
	if (out->large_bytes > out->bytes)
		out->large_bytes = out->bytes;
	return !row->failed && out->large_shift && out->bytes;
}

uint32_t plan_wrong(const struct plan_checked *checked)
{
	uint32_t wrong = 0;

	/* A table that is planned and not printed may not be built in, or the log may be cut. */
	for (uint32_t d = 0; d < checked->differences; d++)
		wrong += !checked->difference[d].within && checked->difference[d].printed;
	return wrong;
}

static const char *key_of(enum hd_table_id id)
{
	return hd_table_info(id) ? hd_table_info(id)->key : "?";
}

/** Where the count may lie on either side of a border, both results are shown. */
static void print_other_end(const struct plan *plan, const struct boot_row *row)
{
	char line[BOOT_LINE_MAX];

	if (row->exact || row->failed)
		return;
	hd_table_line(&plan->result.machine.rules, hd_table_info(row->id)->name, &row->table_high,
		      line, sizeof(line));
	printf("  or %s\n", line);
}

static void print_slack(const struct plan *plan)
{
	const struct hd_pages *pages = &plan->result.machine.facts.pages;

	for (uint32_t r = 0; r < plan->result.rows; r++) {
		if (plan->result.row[r].exact)
			continue;
		printf("\nThe kernel will count between %" PRIu64 " and %" PRIu64
		       " pages, and a border lies between them.\n",
		       pages->kernel, pages->kernel + 2 * pages->slack);
		return;
	}
}

void plan_print_lines(const struct plan *plan)
{
	for (uint32_t r = 0; r < plan->result.rows; r++) {
		const struct boot_row *row = &plan->result.row[r];

		if (row->failed)
			printf("Failed to allocate %s hash table\n", hd_table_info(row->id)->name);
		else
			puts(row->line);
		print_other_end(plan, row);
	}
	print_slack(plan);
}

/* ---- placement ------------------------------------------------------------------------- */

static void pages_cell(const struct boot_row *row, char *out, size_t size)
{
	size_t used = 0;
	char page[16];

	snprintf(out, size, "?");
	for (int shift = SIM_SHIFTS - 1; shift >= 0 && used < size; shift--)
		if (row->got.translations[shift])
			used += (size_t)snprintf(out + used, size - used, "%s%" PRIu64 " x %s",
						 used ? ", " : "", row->got.translations[shift],
						 cli_page(page, sizeof(page), (unsigned)shift));
}

static void nodes_cell(const struct plan *plan, const struct boot_row *row, char *out, size_t size)
{
	uint64_t least = UINT64_MAX, most = 0;
	uint32_t holding = 0;
	size_t used = 0;
	char bytes[32];

	for (uint32_t n = 0; row->node_bytes && n < plan->layout.nodes; n++) {
		if (!row->node_bytes[n])
			continue;
		holding++;
		least = row->node_bytes[n] < least ? row->node_bytes[n] : least;
		most = row->node_bytes[n] > most ? row->node_bytes[n] : most;
	}
	snprintf(out, size, "?");
	if (holding > 4) {
		char other[32];

		snprintf(out, size, "%u nodes, %s to %s", holding,
			 cli_size(bytes, sizeof(bytes), least),
			 cli_size(other, sizeof(other), most));
		return;
	}
	for (uint32_t n = 0; row->node_bytes && n < plan->layout.nodes && used < size; n++)
		if (row->node_bytes[n])
			used +=
			    (size_t)snprintf(out + used, size - used, "%sN%u %s", used ? ", " : "",
					     plan->layout.node_id[n],
					     cli_size(bytes, sizeof(bytes), row->node_bytes[n]));
}

enum { CELL = 96, CELLS_MAX = 12 };

/** A table with these heads ('>' in front: to the right), filled row by row. */
static struct libscols_table *new_table(const char *const *heads, int count)
{
	struct libscols_table *table = cli_table_new();
	bool fine = table != NULL;

	for (int c = 0; fine && c < count; c++)
		fine = scols_table_new_column(table, heads[c] + (*heads[c] == '>'), 0,
					      *heads[c] == '>' ? SCOLS_FL_RIGHT : 0);
	if (!fine) {
		scols_unref_table(table);
		return NULL;
	}
	return table;
}

static bool add_row(struct libscols_table *table, char cells[][CELL], int count)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	bool fine = line != NULL;

	for (int c = 0; fine && c < count; c++)
		fine = !scols_line_set_data(line, (size_t)c, cells[c]);
	return fine;
}

static bool print_and_free(struct libscols_table *table, bool fine)
{
	if (table && fine)
		fine = cli_table_show(table);
	scols_unref_table(table);
	return table && fine;
}

static void print_flag(const struct plan *plan)
{
	printf("\nhashdist  %s: %s\n", plan->result.machine.hashdist ? "on" : "off",
	       report_reason(plan->result.reason));
}

static void walks_of(const struct boot_row *row, const struct walks *walks, char *out, size_t size)
{
	struct hd_tlb_table table;

	if (plan_translated(row, &table))
		walks_cell(walks, &table, out, size);
	else
		snprintf(out, size, "-");
}

bool plan_print_table(const struct plan *plan, const struct walks *walks)
{
	static const char *const heads[] = { "TABLE",  ">ENTRIES", ">SIZE", "MAPPING",
					     ">PAGES", "NODES",    ">WALKS" };
	int columns = walks->processor ? 7 : 6;
	struct libscols_table *table = new_table(heads, columns);
	bool fine = table != NULL;

	for (uint32_t r = 0; fine && r < plan->result.rows; r++) {
		const struct boot_row *row = &plan->result.row[r];
		char cells[7][CELL];

		snprintf(cells[0], CELL, "%s", key_of(row->id));
		snprintf(cells[1], CELL, "%" PRIu64 "%s", row->table.entries,
			 row->exact ? "" : "*");
		cli_size(cells[2], CELL, row->table.bytes);
		snprintf(cells[3], CELL, "%s%s",
			 row->failed ? "none fits" : hd_mapping_name(row->table.mapping),
			 row->table.early ? ", early" : "");
		pages_cell(row, cells[4], CELL);
		nodes_cell(plan, row, cells[5], CELL);
		walks_of(row, walks, cells[6], CELL);
		fine = add_row(table, cells, columns);
	}
	fine = print_and_free(table, fine);
	if (fine) {
		print_flag(plan);
		if (walks->processor)
			walks_print_note(walks);
		print_slack(plan);
	}
	return fine;
}

bool plan_print_compare(const struct plan *a, const struct plan *b, const char *added)
{
	static const char *const heads[] = { "TABLE",    ">SIZE",   "MAPPING", ">PAGES", "NODES",
					     ">-> SIZE", "MAPPING", ">PAGES",  "NODES" };
	struct libscols_table *table = new_table(heads, 9);
	uint64_t before = 0, after = 0;
	bool fine = table != NULL;

	for (uint32_t r = 0; fine && r < a->result.rows; r++) {
		const struct plan *const plans[] = { a, b };
		char cells[9][CELL];

		snprintf(cells[0], CELL, "%s", key_of(a->result.row[r].id));
		for (int side = 0; side < 2; side++) {
			const struct boot_row *row = NULL;
			int at = 1 + 4 * side;

			for (uint32_t o = 0; o < plans[side]->result.rows; o++)
				if (plans[side]->result.row[o].id == a->result.row[r].id)
					row = &plans[side]->result.row[o];
			if (!row) {
				for (int c = 0; c < 4; c++)
					snprintf(cells[at + c], CELL, "-");
				continue;
			}
			*(side ? &after : &before) += plan_translations(row);
			cli_size(cells[at], CELL, row->table.bytes);
			snprintf(cells[at + 1], CELL, "%s", hd_mapping_name(row->table.mapping));
			pages_cell(row, cells[at + 2], CELL);
			nodes_cell(plans[side], row, cells[at + 3], CELL);
		}
		fine = add_row(table, cells, 9);
	}
	fine = print_and_free(table, fine);
	if (fine)
		printf("\ntranslations  %" PRIu64 " -> %" PRIu64 "\nhashdist      %s -> %s\n"
		       "added         %s\n",
		       before, after, a->result.machine.hashdist ? "on" : "off",
		       b->result.machine.hashdist ? "on" : "off", added);
	return fine;
}

/* ---- steps -------------------------------------------------------------------------------- */

static void explain_count(const struct plan *plan, const struct boot_row *row)
{
	const struct hd_sizing *s = &row->table.sizing;
	uint64_t page = 1ULL << plan->result.machine.rules.value[HD_RULE_PAGE_SHIFT];

	if (row->request.entries) {
		printf("  asked      %" PRIu64 " entries\n", row->request.entries);
	} else {
		printf("  pages      %" PRIu64 ", to a whole MiB %" PRIu64 "\n", s->start_pages,
		       s->rounded_pages);
		printf("  scale      one entry per 2^%u bytes%s: %" PRIu64 "\n", s->scale,
		       s->scale != row->request.scale ? " (grown with memory beyond 64 GiB)" : "",
		       s->derived);
	}
	if (!row->request.entries && s->derived * row->request.bucket_bytes < page &&
	    s->power != s->derived)
		printf("  a page     at least one of %" PRIu64 " bytes\n", page);
	printf("  power of 2 %" PRIu64 "\n", s->power);
	if (s->raised)
		printf("  at least   %" PRIu64 "\n", row->request.low);
	printf("  at most    %" PRIu64 "%s%s\n", s->cap,
	       row->request.high ? "" : " (a sixteenth of memory)",
	       s->capped ? ", which it meets" : "");
	printf("  entries    %" PRIu64 " of %" PRIu64 " bytes: %" PRIu64 " bytes, fits order %u\n",
	       row->table.entries, row->request.bucket_bytes, row->table.bytes,
	       hd_order(&plan->result.machine.rules, row->table.bytes));
}

static void explain_place(const struct plan *plan, const struct boot_row *row)
{
	const struct hd_machine *machine = &plan->result.machine;
	const struct hd_rules *rules = &machine->rules;
	unsigned top = (unsigned)rules->value[HD_RULE_TOP_ORDER];
	char pages[CELL], nodes[CELL];

	if (row->table.halvings)
		printf("  halved     %u times, for want of memory\n", row->table.halvings);
	if (row->table.early)
		printf("  early      from the boot allocator%s\n",
		       row->request.when == HD_WHEN_EARLY_UNLESS ? ", since hashdist is off" : "");
	else if (row->table.mapping == HD_MAP_LINEAR)
		printf("  contiguous hashdist is off and the order is not above %u\n", top);
	else
		printf("  scattered  %s\n",
		       machine->hashdist ? "hashdist is on" : "the order is above the largest");
	if (row->table.mapping != HD_MAP_LINEAR &&
	    rules->value[HD_RULE_HUGE_VMALLOC] != HD_HUGE_NEVER)
		printf("  huge pages %s: %s of %" PRIu64 " bytes against 2^%d\n",
		       row->table.mapping == HD_MAP_VMALLOC_HUGE ? "yes" : "no",
		       rules->value[HD_RULE_HUGE_VMALLOC] == HD_HUGE_NODE_SHARE
			   ? "each online node's share"
			   : "the whole table",
		       rules->value[HD_RULE_HUGE_VMALLOC] == HD_HUGE_NODE_SHARE
			   ? row->table.bytes / machine->facts.online_nodes
			   : row->table.bytes,
		       rules->value[HD_RULE_PMD_SHIFT]);
	pages_cell(row, pages, sizeof(pages));
	nodes_cell(plan, row, nodes, sizeof(nodes));
	printf("  got        %s on %s%s\n", pages, nodes,
	       row->table.mapping != HD_MAP_LINEAR && plan->layout.memory_nodes > 1
		   ? " (up to rotation of the nodes)"
		   : "");
}

void plan_print_explain(const struct plan *plan)
{
	static const char *const origins[] = { "the log's own count", "the zones of this machine",
					       "the description" };
	const struct hd_machine *machine = &plan->result.machine;

	printf("hashdist is %s: %s\n", machine->hashdist ? "on" : "off",
	       report_reason(plan->result.reason));
	printf("%u memory nodes of %u online, %u possible CPUs\n", machine->facts.memory_nodes,
	       machine->facts.online_nodes, machine->facts.possible_cpus);
	printf("pages counted: %" PRIu64 " to %" PRIu64 ", from %s\n", machine->facts.pages.kernel,
	       machine->facts.pages.kernel + 2 * machine->facts.pages.slack,
	       origins[plan->pages_from]);
	for (uint32_t r = 0; r < plan->result.rows; r++) {
		const struct boot_row *row = &plan->result.row[r];

		printf("\n%s\n", row->failed ? hd_table_info(row->id)->name : row->line);
		print_other_end(plan, row);
		explain_count(plan, row);
		if (row->failed)
			printf("  failed     no memory for even a page of it\n");
		else
			explain_place(plan, row);
	}
}

/* ---- check --------------------------------------------------------------------------------- */

void plan_print_check(const struct plan *plan, const struct plan_checked *checked)
{
	for (uint32_t d = 0; d < checked->differences; d++) {
		const struct plan_difference *diff = &checked->difference[d];

		printf("%s%s\n", key_of(diff->id), diff->within ? ": within the stated range" : "");
		if (diff->planned)
			printf("  planned  %s\n", diff->planned->line);
		else
			printf("  planned  nothing: this kernel has no such table\n");
		if (diff->printed)
			printf("  printed  %s hash table entries: %" PRIu64 " (%" PRIu64
			       " bytes, %s)\n",
			       diff->printed->name, diff->printed->entries, diff->printed->bytes,
			       hd_mapping_name(diff->printed->mapping));
		else
			printf("  printed  nothing: it is not built in, or the log is cut\n");
	}
	printf("%s%u of %u lines as planned\n", checked->differences ? "\n" : "", checked->same,
	       checked->same + checked->differences);
	print_slack(plan);
}

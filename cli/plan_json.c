/* SPDX-License-Identifier: MIT */
/*
 * plan_json.c - a plan for programs: stable keys, units in the keys, null for unknown
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/plan.h"
#include "cli/report.h"

static json_t *node_bytes_json(const struct plan *plan, const struct boot_row *row)
{
	json_t *nodes = json_object();

	for (uint32_t n = 0; row->node_bytes && n < plan->layout.nodes; n++) {
		char id[16];

		snprintf(id, sizeof(id), "%u", plan->layout.node_id[n]);
		json_object_set_new(nodes, id, json_integer((json_int_t)row->node_bytes[n]));
	}
	return nodes;
}

/** {"4096": 12, "2097152": 3}: translations by their bytes. */
static json_t *translations_json(const struct boot_row *row)
{
	json_t *sizes = json_object();

	for (unsigned shift = 0; shift < SIM_SHIFTS; shift++) {
		char bytes[32];

		if (!row->got.translations[shift])
			continue;
		snprintf(bytes, sizeof(bytes), "%llu", 1ULL << shift);
		json_object_set_new(sizes, bytes,
				    json_integer((json_int_t)row->got.translations[shift]));
	}
	return sizes;
}

static json_t *walks_json(const struct boot_row *row, const struct walks *walks)
{
	struct hd_tlb_table table;
	double expected;

	if (plan_translated(row, &table) && walks_expected(walks, &table, &expected))
		return json_real(expected);
	return json_null();
}

static json_t *row_json(const struct plan *plan, const struct boot_row *row,
			const struct walks *walks)
{
	const struct hd_table *t = &row->table;

	return json_pack(
	    "{s:s, s:s, s:b, s:I, s:I, s:I, s:s, s:b, s:I, s:o, s:o, s:o, s:i, s:b}", "table",
	    hd_table_info(row->id)->key, "line", row->line, "exact", row->exact, "entries",
	    (json_int_t)t->entries, "entries_high", (json_int_t)row->table_high.entries, "bytes",
	    (json_int_t)t->bytes, "mapping", hd_mapping_name(t->mapping), "early", t->early,
	    "translations", (json_int_t)plan_translations(row), "translations_by_bytes",
	    translations_json(row), "model_walks_per_lookup", walks_json(row, walks), "node_bytes",
	    node_bytes_json(plan, row), "halvings", (int)t->halvings, "failed", row->failed);
}

static json_t *plan_object(const struct plan *plan, const struct walks *walks)
{
	const struct hd_machine *m = &plan->result.machine;
	json_t *tables = json_array();
	char version[32], *text = plan_description_text(&plan->description);
	json_t *json;

	for (uint32_t r = 0; r < plan->result.rows; r++)
		json_array_append_new(tables, row_json(plan, &plan->result.row[r], walks));
	snprintf(version, sizeof(version), "%u.%u.%u", HD_VERSION_MAJOR(m->rules.version),
		 HD_VERSION_MINOR(m->rules.version), HD_VERSION_PATCH(m->rules.version));
	json = json_pack(
	    "{s:s, s:s, s:s, s:o, s:{s:b, s:s}, s:i, s:i, s:I, s:I, s:o, s:o}", "version",
	    HASHDIST_VERSION, "machine", text, "rules_of", version, "cmdline",
	    report_json_text(plan->cmdline), "hashdist", "value", m->hashdist, "reason",
	    report_reason(plan->result.reason), "memory_nodes", (int)m->facts.memory_nodes,
	    "online_nodes", (int)m->facts.online_nodes, "sizing_pages_low",
	    (json_int_t)m->facts.pages.kernel, "sizing_pages_high",
	    (json_int_t)(m->facts.pages.kernel + 2 * m->facts.pages.slack), "model_processor",
	    walks->processor ? json_string(walks->processor->name) : json_null(), "tables", tables);
	free(text);
	return json;
}

static json_t *check_json(const struct plan_checked *checked)
{
	json_t *list = json_array();

	for (uint32_t d = 0; d < checked->differences; d++) {
		const struct plan_difference *diff = &checked->difference[d];

		json_array_append_new(
		    list,
		    json_pack("{s:o, s:o, s:o, s:b}", "table",
			      hd_table_info(diff->id) ? json_string(hd_table_info(diff->id)->key)
						      : json_null(),
			      "planned_entries",
			      diff->planned ? json_integer((json_int_t)diff->planned->table.entries)
					    : json_null(),
			      "printed_entries",
			      diff->printed ? json_integer((json_int_t)diff->printed->entries)
					    : json_null(),
			      "within_range", diff->within));
	}
	return json_pack("{s:i, s:o}", "same", (int)checked->same, "differences", list);
}

bool plan_print_json(const struct plan *plan, const struct plan *b,
		     const struct plan_checked *checked, const struct walks *walks)
{
	json_t *json = plan_object(plan, walks);

	if (json && b)
		json_object_set_new(json, "compared", plan_object(b, walks));
	if (json && checked->done)
		json_object_set_new(json, "check", check_json(checked));
	return cli_json_dump(json, JSON_INDENT(2)) && (putchar('\n') != EOF || ferror(stdout));
}

/* SPDX-License-Identifier: MIT */
/*
 * report_json.c - one boot for programs: stable keys, units in the keys, null for unknown
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/report.h"

static json_t *count_or_null(bool known, uint64_t value)
{
	return known ? json_integer((json_int_t)value) : json_null();
}

/* Logs and file names are not always UTF-8. */
json_t *report_json_text(const char *text)
{
	json_t *string = json_string(text);
	char *plain = string ? NULL : strdup(text);

	for (char *c = plain; c && *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	if (plain)
		string = json_string(plain);
	free(plain);
	return string ? string : json_null();
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? report_json_text(text) : json_null();
}

static json_t *count_json(struct machine_count count)
{
	return count_or_null(count.known, count.value);
}

static json_t *node_bytes_json(const struct report *report, const struct ktables_row *row)
{
	json_t *nodes;

	if (!row->node_bytes)
		return json_null();
	nodes = json_object();
	for (uint32_t n = 0; n < report->books->nodes; n++) {
		char id[16];

		if (!report->books->node[n].has_memory)
			continue;
		snprintf(id, sizeof(id), "%u", report->books->node[n].id);
		json_object_set_new(nodes, id, json_integer((json_int_t)row->node_bytes[n]));
	}
	return nodes;
}

static json_t *verdict_names(const struct ktables_row *row)
{
	json_t *names = json_array();

	for (unsigned v = 0; v < row->judgement.count; v++)
		json_array_append_new(names,
				      json_string(hd_verdict_name(row->judgement.verdict[v].code)));
	return names;
}

static json_t *walks_json(const struct report *report, const struct ktables_row *row)
{
	struct hd_tlb_table table;
	double walks;

	if (report->walks && report_translated(row, &table) &&
	    walks_expected(report->walks, &table, &walks))
		return json_real(walks);
	return json_null();
}

static json_t *row_json(const struct report *report, const struct ktables_row *row)
{
	bool mapped = row->mapping != HD_MAP_UNKNOWN;

	return json_pack(
	    "{s:s, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:s, s:o, s:s}",
	    "table", report_key(row), "name", text_or_null(row->name), "entries",
	    count_or_null(row->entries, row->entries), "bytes",
	    count_or_null(row->bytes, row->bytes), "copies", (int)row->copies, "mapping",
	    mapped ? json_string(hd_mapping_name(row->mapping)) : json_null(), "early",
	    mapped ? json_boolean(row->early) : json_null(), "translation_bytes",
	    count_or_null(row->shift, 1ULL << row->shift), "translations",
	    count_or_null(row->shift && row->bytes, hd_translations(row->bytes, row->shift)),
	    "model_walks_per_lookup", walks_json(report, row), "node_bytes",
	    node_bytes_json(report, row), "node_bytes_assumed", row->spread_assumed, "used_entries",
	    count_or_null(row->used_known, row->used), "expected_entries",
	    count_or_null(row->want_known && row->want.exact, row->want.low.entries), "verdict",
	    hd_verdict_name(report_verdict(row)), "verdicts", verdict_names(row), "source",
	    row->source == KTABLES_FROM_LOG ? "log" : "computed");
}

static json_t *advice_json(const struct report *report, const struct ktables_advice *advice)
{
	static const char *const kinds[] = { "table", "parameter-ignored", "parameter-misspelt",
					     "log-lost" };
	bool table = advice->kind == KTABLES_ADVICE_TABLE;
	const struct hd_verdict *verdict = &advice->verdict;
	bool pages = table && verdict->then_shift;
	char text[768], param[64];

	report_advice_text(report, advice, text, sizeof(text));
	report_advice_param(advice, param, sizeof(param));
	return json_pack(
	    "{s:s, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "kind", kinds[advice->kind], "verdict",
	    table ? json_string(hd_verdict_name(verdict->code)) : json_null(), "table",
	    table ? text_or_null(report_key(&report->survey->row[advice->row])) : json_null(),
	    "tables", (int)advice->tables, "parameter", text_or_null(param), "translations_now",
	    count_or_null(pages, verdict->now), "translations_then",
	    count_or_null(pages, verdict->then), "translation_bytes_then",
	    count_or_null(pages, 1ULL << verdict->then_shift), "text", text_or_null(text));
}

static json_t *rules_json(const struct hd_rules *rules)
{
	static const char *const origins[] = { "version", "configuration", "detected", "given" };
	json_t *out = json_object();

	for (int rule = 0; rule < HD_RULE_COUNT; rule++) {
		const char *word = hd_rule_word(rule, rules->value[rule]);

		json_object_set_new(
		    out, hd_rule_name(rule),
		    json_pack("{s:o, s:s}", "value",
			      word ? json_string(word) : json_integer(rules->value[rule]), "origin",
			      origins[rules->origin[rule]]));
	}
	return out;
}

static json_t *kernel_json(const struct report *report)
{
	const struct ktables_facts *facts = &report->survey->facts;
	const char *release = report->books && report->books->release[0] ? report->books->release
			      : report->boot                             ? report->boot->version
									 : NULL;
	uint32_t version = facts->machine.rules.version;
	char number[32] = "";

	if (facts->has_version)
		snprintf(number, sizeof(number), "%u.%u.%u", HD_VERSION_MAJOR(version),
			 HD_VERSION_MINOR(version), HD_VERSION_PATCH(version));
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o}", "release", text_or_null(release), "rules_of",
	    text_or_null(number), "architecture",
	    facts->has_arch ? json_string(hd_arch_name(facts->machine.rules.arch)) : json_null(),
	    "distribution", text_or_null(report->books ? report->books->distribution : NULL),
	    "rules", rules_json(&facts->machine.rules));
}

static json_t *machine_json(const struct report *report)
{
	const struct ktables_facts *facts = &report->survey->facts;
	const struct hd_facts *f = &facts->machine.facts;
	const struct machine none = { 0 };
	const struct machine *books = report->books ? report->books : &none;

	return json_pack(
	    "{s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "memory_kib",
	    count_json(books->mem_total_kib), "page_bytes",
	    1 << facts->machine.rules.value[HD_RULE_PAGE_SHIFT], "memory_nodes",
	    count_or_null(facts->has_nodes, f->memory_nodes), "online_nodes",
	    count_or_null(f->online_nodes, f->online_nodes), "emulated_nodes",
	    count_or_null(facts->has_nodes, facts->emulated_nodes), "memory_only_nodes",
	    count_or_null(books->numa_books, books->memory_only_nodes), "possible_cpus",
	    count_or_null(f->possible_cpus, f->possible_cpus), "sizing_pages",
	    count_or_null(facts->has_pages, f->pages.kernel), "sizing_pages_slack",
	    count_or_null(facts->has_pages, f->pages.slack), "direct_map_4k_kib",
	    count_json(books->direct_4k_kib), "direct_map_2m_kib", count_json(books->direct_2m_kib),
	    "direct_map_1g_kib", count_json(books->direct_1g_kib), "uptime_s",
	    count_json(books->uptime_seconds));
}

static json_t *blind_json(const struct report *report)
{
	json_t *out = json_array();

	for (uint32_t b = 0; report->books && b < report->books->blinds; b++) {
		const struct machine_blind *blind = &report->books->blind[b];

		json_array_append_new(out, json_pack("{s:s, s:s, s:o, s:o}", "path", blind->path,
						     "error", strerror(blind->error), "lost",
						     text_or_null(blind->lost), "remedy",
						     text_or_null(blind->remedy)));
	}
	return out;
}

json_t *report_json(const struct report *report)
{
	const struct ktables_facts *facts = &report->survey->facts;
	json_t *tables = json_array(), *advice = json_array();

	for (uint32_t r = 0; r < report->survey->rows; r++)
		json_array_append_new(tables, row_json(report, &report->survey->row[r]));
	for (uint32_t a = 0; a < report->advices; a++)
		json_array_append_new(advice, advice_json(report, &report->advice[a]));
	return json_pack(
	    "{s:s, s:o, s:o, s:{s:o, s:s}, s:o, s:o, s:o, s:{s:b, s:b, s:i, s:o}, s:o}", "version",
	    HASHDIST_VERSION, "kernel", kernel_json(report), "machine", machine_json(report),
	    "hashdist", "value",
	    facts->has_nodes && facts->has_version ? json_boolean(facts->machine.hashdist)
						   : json_null(),
	    "reason", report_reason(facts->reason), "model_processor",
	    text_or_null(report->walks && report->walks->processor ? report->walks->processor->name
								   : NULL),
	    "tables", tables, "advice", advice, "log", "seen", report->survey->log_seen, "complete",
	    report->survey->log_complete, "damaged_lines",
	    report->boot ? (int)report->boot->damaged : 0, "note", text_or_null(report->log_note),
	    "not_seen", blind_json(report));
}

int report_print_json(const struct report *report)
{
	if (cli_json_print(report_json(report), 0) != CLI_OK)
		return CLI_FAILED;
	return ktables_wants_attention(report->survey) ? CLI_VERDICT : CLI_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * process_json.c - processes for programs: stable keys, units in the keys, null for unknown
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/process_view.h"
#include "cli/report.h"

static json_t *count_or_null(bool known, uint64_t value)
{
	return known ? json_integer((json_int_t)value) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return text[0] ? report_json_text(text) : json_null();
}

/* Addresses are text: not every reader of JSON keeps 57 bits. */
static json_t *address(uint64_t at)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, at);
	return json_string(text);
}

static json_t *translations(const struct process *process, const struct process_mapping *mapping)
{
	const struct {
		uint64_t bytes;
		unsigned shift;
	} part[] = { { mapping->resident - mapping->huge, process->pages.base_shift },
		     { mapping->huge, mapping->huge_shift } };
	json_t *out;

	if (!mapping->pages_known)
		return json_null();
	out = json_array();
	for (int p = 0; p < 2; p++)
		if (part[p].bytes)
			json_array_append_new(
			    out, json_pack("{s:I, s:I}", "translation_bytes",
					   (json_int_t)1 << part[p].shift, "translations",
					   (json_int_t)(part[p].bytes >> part[p].shift)));
	return out;
}

static json_t *node_bytes(const struct process *process, const struct process_mapping *mapping)
{
	json_t *out;

	if (!mapping->nodes_known)
		return json_null();
	out = json_object();
	for (uint32_t n = 0; n < process->nodes; n++) {
		char id[16];

		snprintf(id, sizeof(id), "%u", process->node[n]);
		json_object_set_new(out, id, json_integer((json_int_t)mapping->node_bytes[n]));
	}
	return out;
}

static json_t *hinders(const struct process_mapping *mapping)
{
	json_t *out = json_array();

	for (uint32_t bit = 1; bit < HINDER_ALL; bit <<= 1)
		if (mapping->hinders & bit)
			json_array_append_new(
			    out, json_string(process_hinder_name((enum process_hinder)bit)));
	return out;
}

static json_t *verdicts(const struct process_mapping *mapping)
{
	json_t *out = json_array();

	for (int code = HD_V_COUNT - 1; code > HD_OK; code--)
		if (mapping->verdicts >> code & 1)
			json_array_append_new(
			    out, json_string(hd_verdict_name((enum hd_verdict_code)code)));
	return out;
}

json_t *process_mapping_json(const struct process *process, const struct process_mapping *mapping)
{
	bool pages = mapping->pages_known, details = mapping->details_known;
	bool judged = process_placeable(mapping);
	json_t *out = json_pack(
	    "{s:o, s:o, s:I, s:s, s:o, s:i, s:b, s:b, s:b, s:b}", "start", address(mapping->start),
	    "end", address(mapping->end), "bytes", (json_int_t)(mapping->end - mapping->start),
	    "kind", process_kind_name(mapping->kind), "name", text_or_null(mapping->name), "parts",
	    (int)mapping->parts, "readable", mapping->readable, "writable", mapping->writable,
	    "executable", mapping->executable, "shared", mapping->shared);
	json_t *more = json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "resident_bytes",
	    count_or_null(pages, mapping->resident), "huge_bytes",
	    count_or_null(pages, mapping->huge), "translations", translations(process, mapping),
	    "gain_bytes", count_or_null(pages && judged, process_mapping_gain(mapping)),
	    "page_table_bytes", count_or_null(pages, mapping->page_table_bytes),
	    "page_table_bytes_at_least", mapping->page_tables_least, "swapped_bytes",
	    count_or_null(details, mapping->swapped), "twice_mapped_bytes",
	    count_or_null(details, mapping->twice), "advised_bytes",
	    count_or_null(details, mapping->advised), "refused_bytes",
	    count_or_null(details, mapping->refused));
	json_t *rest =
	    json_pack("{s:o, s:b, s:o, s:o, s:o, s:o}", "node_bytes", node_bytes(process, mapping),
		      "node_bytes_sampled", mapping->sampled, "policy",
		      text_or_null(mapping->policy), "hinders", hinders(mapping), "verdict",
		      judged ? json_string(hd_verdict_name(mapping->verdict)) : json_null(),
		      "verdicts", verdicts(mapping));

	json_object_update(out, more);
	json_object_update(out, rest);
	json_decref(more);
	json_decref(rest);
	return out;
}

static json_t *allowed_nodes(const struct process *process)
{
	json_t *out;

	if (!process->allowed_known)
		return json_null();
	out = json_array();
	for (uint32_t n = 0; n < process->nodes; n++)
		if (hdl_mask_has(&process->allowed, process->node[n]))
			json_array_append_new(out, json_integer(process->node[n]));
	return out;
}

json_t *process_json(const struct process *process)
{
	json_t *mappings = json_array();

	for (uint32_t m = 0; m < process->mappings; m++)
		json_array_append_new(mappings,
				      process_mapping_json(process, &process->mapping[m]));
	return json_pack(
	    "{s:i, s:o, s:i, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:b, s:s, s:o}", "pid",
	    (int)process->pid, "comm", report_json_text(process->comm), "uid", (int)process->uid,
	    "resident_bytes", (json_int_t)process->resident, "page_table_bytes",
	    (json_int_t)process->page_tables, "pinned_bytes", (json_int_t)process->pinned,
	    "thp_off", process->thp_off_known ? json_boolean(process->thp_off) : json_null(),
	    "allowed_nodes", allowed_nodes(process), "kernel_mappings", (json_int_t)process->seen,
	    "gain_bytes", count_or_null(process_gain_known(process), process_gain(process)), "cut",
	    process->cut, "verdict", hd_verdict_name(process_verdict(process)), "mappings",
	    mappings);
}

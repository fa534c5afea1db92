/* SPDX-License-Identifier: MIT */
/*
 * bench_json.c - layouts and sizes for programs: stable keys, units in them, null for unknown
 *
 * Enough of the machine to repeat it, and nothing that tells whose it is: of
 * the command line the figures stand here, not its words.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/report.h"

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *number_or_null(uint64_t value)
{
	return value ? number(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return *text ? report_json_text(text) : json_null();
}

/** A sum has 64 bits, the integers of JSON as others read them 53. */
static json_t *sum_or_null(bool known, uint64_t sum)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016" PRIx64, sum);
	return known ? json_string(text) : json_null();
}

enum unit { AS_IT_IS, PER_GIB, COUNT };

static const struct {
	const char *key;
	enum measure_figure figure;
	enum unit unit;
} figures[] = {
	{ "allocate_seconds_per_gib", MEASURE_ALLOCATE_NS, PER_GIB },
	{ "allocate_ns_per_page", MEASURE_PAGE_NS, AS_IT_IS },
	{ "first_memset_seconds_per_gib", MEASURE_FIRST_NS, PER_GIB },
	{ "memset_seconds_per_gib", MEASURE_MEMSET_NS, PER_GIB },
	{ "allocate_to_memset_ratio", MEASURE_MEMSET_RATIO, AS_IT_IS },
	{ "page_faults", MEASURE_FAULTS, COUNT },
	{ "page_table_bytes", MEASURE_TABLE_BYTES, COUNT },
	{ "independent_ns", MEASURE_INDEPENDENT_NS, AS_IT_IS },
	{ "independent_to_base_one_ratio", MEASURE_INDEPENDENT_RATIO, AS_IT_IS },
	{ "dependent_ns", MEASURE_DEPENDENT_NS, AS_IT_IS },
	{ "dependent_to_base_one_ratio", MEASURE_DEPENDENT_RATIO, AS_IT_IS },
};
enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

static json_t *value_json(double value, enum unit unit, uint64_t bytes)
{
	if (unit == COUNT)
		return number((uint64_t)value);
	return json_real(unit == PER_GIB ? value * 1e-9 * 1073741824.0 / (double)bytes : value);
}

static json_t *stat_json(const struct measure_stat *stat, enum unit unit, uint64_t bytes)
{
	if (!stat->samples)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "median", value_json(stat->median, unit, bytes), "low",
			 value_json(stat->low, unit, bytes), "high",
			 value_json(stat->high, unit, bytes));
}

static json_t *got_json(const struct hd_got *got)
{
	json_t *pages = json_object(), *nodes = json_object();
	char key[32];

	for (uint32_t p = 0; p < got->page_sizes; p++) {
		snprintf(key, sizeof(key), "%" PRIu64, got->page[p].page_bytes);
		json_object_set_new(pages, key, number(got->page[p].bytes));
	}
	for (uint32_t n = 0; n < got->nodes; n++) {
		snprintf(key, sizeof(key), "%u", got->node[n].node);
		json_object_set_new(nodes, key, number(got->node[n].bytes));
	}
	return json_pack("{s:I, s:I, s:o, s:I, s:o, s:I}", "bytes", (json_int_t)got->bytes,
			 "populated_bytes", (json_int_t)got->populated, "bytes_by_page_bytes",
			 pages, "pages_unknown_bytes", (json_int_t)got->pages_unknown,
			 "bytes_by_node", nodes, "nodes_unknown_bytes",
			 (json_int_t)got->nodes_unknown);
}

static json_t *had_json(const struct measure_row *row)
{
	static const char *const words[] = { "yes", "part", "no" };

	return json_pack("{s:s, s:s, s:s, s:I, s:s, s:s, s:s, s:o, s:i, s:o}", "layout",
			 row->layout->name, "want_pages", row->layout->pages, "want_nodes",
			 row->layout->nodes, "bytes", (json_int_t)row->bytes, "had",
			 words[bench_had(row)], "pages_why", hd_why_name(row->got.pages_why),
			 "nodes_why", hd_why_name(row->got.nodes_why), "errno",
			 number_or_null((uint64_t)-row->error), "runs", (int)row->runs, "got",
			 row->error && !row->had ? json_null() : got_json(&row->got));
}

static json_t *row_json(const struct measure_row *row)
{
	json_t *json = had_json(row);

	for (int f = 0; f < FIGURES; f++)
		json_object_set_new(
		    json, figures[f].key,
		    stat_json(&row->stat[figures[f].figure], figures[f].unit, row->bytes));
	json_object_set_new(json, "lookups", number_or_null(row->lookups));
	json_object_set_new(json, "independent_sum", sum_or_null(row->had, row->independent_sum));
	json_object_set_new(json, "dependent_sum", sum_or_null(row->had, row->dependent_sum));
	return json;
}

json_t *bench_machine_json(const struct bench_facts *f)
{
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "architecture", text_or_null(f->arch),
	    "kernel_release", text_or_null(f->release), "cpu_model", text_or_null(f->cpu_model),
	    "cpus", number_or_null(f->cpus), "memory_bytes", number_or_null(f->memory_bytes),
	    "memory_nodes", number_or_null(f->memory_nodes), "page_bytes",
	    number_or_null(f->page_bytes), "hugetlb_page_bytes", number_or_null(f->huge_page_bytes),
	    "transparent_huge_pages", text_or_null(f->transparent_huge_pages));
}

static json_t *options_json(const struct bench_options *opt)
{
	json_t *sizes = json_array();

	for (uint32_t s = 0; s < opt->sizes; s++)
		json_array_append_new(sizes, number(opt->size[s]));
	return json_pack("{s:o, s:i, s:I, s:I, s:i}", "sizes_bytes", sizes, "runs",
			 (int)opt->want.runs, "bucket_bytes", (json_int_t)opt->want.bucket_bytes,
			 "lookups", (json_int_t)opt->want.lookups, "threads",
			 (int)opt->want.threads);
}

int bench_print_json(const struct bench *bench)
{
	json_t *rows = json_array(), *json;

	for (uint32_t r = 0; r < bench->rows; r++)
		json_array_append_new(rows, row_json(&bench->row[r]));
	json =
	    json_pack("{s:s, s:s, s:o, s:o, s:o}", "version", HASHDIST_VERSION, "library_version",
		      hd_library_version(), "machine", bench_machine_json(&bench->facts), "options",
		      options_json(bench->opt), "results", rows);
	return cli_json_print(json, JSON_REAL_PRECISION(6));
}

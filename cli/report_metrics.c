/* SPDX-License-Identifier: MIT */
/*
 * report_metrics.c - one boot for a monitoring system, as OpenMetrics text
 *
 * Gauges only: what is unknown has no sample. The text is also what
 * node_exporter's textfile collector takes, which knows no type "info".
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report.h"

static void head(const char *name, const char *unit, const char *help)
{
	printf("# TYPE hashdist_%s gauge\n", name);
	if (unit)
		printf("# UNIT hashdist_%s %s\n", name, unit);
	printf("# HELP hashdist_%s %s\n", name, help);
}

/** A label's value, with what the format wants escaped. */
static void label(const char *name, const char *value)
{
	printf("%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", stdout);
		else if ((unsigned char)*value >= ' ')
			printf("%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
	}
	putchar('"');
}

/** A mail that quotes two logs may have a table twice; a sample may not come twice. */
static bool repeated(const struct ktables_survey *survey, uint32_t r)
{
	for (uint32_t earlier = 0; earlier < r; earlier++)
		if (!strcmp(report_key(&survey->row[earlier]), report_key(&survey->row[r])))
			return true;
	return false;
}

static void sample(const char *metric, const struct ktables_row *row, uint64_t value)
{
	printf("hashdist_%s{", metric);
	label("table", report_key(row));
	printf("} %" PRIu64 "\n", value);
}

static void print_rows(const struct report *report)
{
	const struct ktables_survey *survey = report->survey;

	head("table_entries", NULL, "Buckets of a kernel hash table.");
	for (uint32_t r = 0; r < survey->rows; r++)
		if (!repeated(survey, r) && survey->row[r].entries)
			sample("table_entries", &survey->row[r], survey->row[r].entries);
	head("table_size_bytes", "bytes", "Size of a kernel hash table.");
	for (uint32_t r = 0; r < survey->rows; r++)
		if (!repeated(survey, r) && survey->row[r].bytes)
			sample("table_size_bytes", &survey->row[r],
			       survey->row[r].bytes * survey->row[r].copies);
	head("table_translations", NULL, "Translations that map the table.");
	for (uint32_t r = 0; r < survey->rows; r++)
		if (!repeated(survey, r) && survey->row[r].bytes && survey->row[r].shift)
			sample("table_translations", &survey->row[r],
			       hd_translations(survey->row[r].bytes, survey->row[r].shift) *
				   survey->row[r].copies);
	head("table_used_entries", NULL, "Objects that the table holds.");
	for (uint32_t r = 0; r < survey->rows; r++)
		if (!repeated(survey, r) && survey->row[r].used_known)
			sample("table_used_entries", &survey->row[r], survey->row[r].used);
	head("table_ok", NULL, "1 where the table is as it should be, 0 where it is not.");
	for (uint32_t r = 0; r < survey->rows; r++)
		if (!repeated(survey, r) && report_verdict(&survey->row[r]) != HD_V_UNKNOWN)
			sample("table_ok", &survey->row[r],
			       report_verdict(&survey->row[r]) == HD_OK);
}

static void print_nodes(const struct report *report)
{
	const struct ktables_survey *survey = report->survey;

	head("table_node_bytes", "bytes", "Bytes of the table on each memory node.");
	for (uint32_t r = 0; r < survey->rows; r++) {
		if (repeated(survey, r))
			continue;
		for (uint32_t n = 0; survey->row[r].node_bytes && n < report->books->nodes; n++) {
			if (!report->books->node[n].has_memory)
				continue;
			printf("hashdist_table_node_bytes{");
			label("table", report_key(&survey->row[r]));
			printf(",node=\"%u\"} %" PRIu64 "\n", report->books->node[n].id,
			       survey->row[r].node_bytes[n]);
		}
	}
}

static void print_mappings(const struct report *report)
{
	const struct ktables_survey *survey = report->survey;

	head("table_mapping", NULL, "1, with how the table is mapped and the verdict on it.");
	for (uint32_t r = 0; r < survey->rows; r++) {
		const struct ktables_row *row = &survey->row[r];

		if (repeated(survey, r))
			continue;
		printf("hashdist_table_mapping{");
		label("table", report_key(row));
		putchar(',');
		label("mapping", hd_mapping_name(row->mapping));
		putchar(',');
		label("verdict", hd_verdict_name(report_verdict(row)));
		printf("} 1\n");
	}
}

/** As the JSON has it: where a sample is missing, this tells why. */
static void print_not_seen(const struct report *report)
{
	head("not_seen", NULL, "1 for each of the kernel's books that could not be read.");
	for (uint32_t b = 0; report->books && b < report->books->blinds; b++) {
		printf("hashdist_not_seen{");
		label("path", report->books->blind[b].path);
		printf("} 1\n");
	}
}

int report_print_metrics(const struct report *report)
{
	const struct ktables_facts *facts = &report->survey->facts;

	print_rows(report);
	print_nodes(report);
	print_mappings(report);
	if (facts->has_nodes) {
		head("memory_nodes", NULL, "Nodes that have memory.");
		printf("hashdist_memory_nodes %u\n", facts->machine.facts.memory_nodes);
		if (facts->has_version) {
			head("distributed", NULL,
			     "1 where the kernel distributes its large hashes.");
			printf("hashdist_distributed %d\n", facts->machine.hashdist);
		}
	}
	print_not_seen(report);
	head("log_complete", NULL, "1 where the kernel log reaches back to the boot.");
	printf("hashdist_log_complete %d\n# EOF\n", report->survey->log_complete);
	return ktables_wants_attention(report->survey) ? CLI_VERDICT : CLI_OK;
}

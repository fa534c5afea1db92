/* SPDX-License-Identifier: MIT */
/*
 * survey.c - one row per table: what it is, where it lies, how full, how right
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ktables/internal.h"

static const struct hd_table_info *info_of(const struct ktables_row *row)
{
	return hd_table_info(row->id);
}

/** Rows are large and reused for every boot of a fleet's logs: only what is read is set. */
static struct ktables_row *new_row(struct ktables_survey *survey, enum hd_table_id id)
{
	struct ktables_row *row = &survey->row[survey->rows++];

	row->id = id;
	row->copies = 1;
	row->entries = row->bytes = row->used = 0;
	row->mapping = HD_MAP_UNKNOWN;
	row->shift = 0;
	row->node_bytes = NULL;
	row->mapping_computed = false;
	row->early = row->spread_assumed = row->used_known = row->want_known = false;
	row->judgement.count = 0;
	return row;
}

static void rows_from_log(struct ktables_survey *survey, const struct klog_boot *boot)
{
	for (uint32_t t = 0; t < boot->tables; t++) {
		const struct klog_table *table = &boot->table[t];
		struct ktables_row *row = new_row(survey, table->id);

		memcpy(row->name, table->name, sizeof(row->name));
		row->source = KTABLES_FROM_LOG;
		row->entries = table->entries;
		row->bytes = table->has_bytes ? table->bytes : 0;
		row->copies = table->nodes ? table->nodes : 1;
		row->mapping = table->mapping;
		if (row->id == HD_TABLE_DQUOT)
			row->mapping = HD_MAP_LINEAR; /* one block of pages, whatever the kernel */
	}
}

static bool has_row(const struct ktables_survey *survey, enum hd_table_id id)
{
	for (uint32_t r = 0; r < survey->rows; r++)
		if (survey->row[r].id == id)
			return true;
	return false;
}

static uint64_t established_entries(const struct ktables_survey *survey)
{
	for (uint32_t r = 0; r < survey->rows; r++)
		if (survey->row[r].id == HD_TABLE_TCP_ESTABLISHED)
			return survey->row[r].entries;
	return 0;
}

/** Tables that only debugging options or some guests have: never guessed. */
static bool optional(enum hd_table_id id)
{
	return id == HD_TABLE_STACKDEPOT || id == HD_TABLE_PV_QSPINLOCK;
}

/** A log that has lost its beginning: what it should have said. */
static void rows_from_prediction(struct ktables_survey *survey)
{
	for (int id = 0; id < HD_TABLE_COUNT; id++) {
		struct ktables_range want;
		struct ktables_row *row;

		if (has_row(survey, id) || optional(id) || survey->rows == KTABLES_ROWS_MAX ||
		    ktables_predict(&survey->facts, id, established_entries(survey), &want))
			continue;
		row = new_row(survey, id);
		strcpy(row->name, info_of(row)->name);
		row->source = KTABLES_PREDICTED;
		row->mapping = want.mapping_known ? want.low.mapping : HD_MAP_UNKNOWN;
		row->mapping_computed = true;
		if (!want.exact)
			continue;
		row->entries = want.low.entries;
		row->bytes = want.low.bytes;
	}
}

/** One memory node: there is nowhere else to lie. */
static void fill_only_node(struct ktables_survey *survey, const struct machine *books)
{
	uint32_t only = 0;

	if (books->memory_nodes != 1)
		return;
	while (only < books->nodes && !books->node[only].has_memory)
		only++;
	for (uint32_t r = 0; r < survey->rows && only < books->nodes; r++) {
		struct ktables_row *row = &survey->row[r];

		if (!row->bytes)
			continue;
		row->node_bytes = survey->node_store + (size_t)r * books->nodes;
		row->node_bytes[only] = row->bytes * row->copies;
	}
}

/** What the log leaves unsaid (kernels before 5.3), and what can be compared with it. */
static void lay_beside_prediction(struct ktables_survey *survey)
{
	uint64_t established = established_entries(survey);

	for (uint32_t r = 0; r < survey->rows; r++) {
		struct ktables_row *row = &survey->row[r];

		if (row->id >= HD_TABLE_COUNT ||
		    ktables_predict(&survey->facts, row->id, established, &row->want))
			continue;
		row->want_known = true;
		if (row->mapping == HD_MAP_UNKNOWN && row->want.mapping_known) {
			row->mapping = row->want.low.mapping;
			row->mapping_computed = true;
		}
		row->early =
		    row->mapping == HD_MAP_LINEAR && row->want.mapping_known && row->want.low.early;
		if (!row->bytes && row->entries && row->want.low.entries)
			row->bytes = row->entries * (row->want.low.bytes / row->want.low.entries);
	}
}

static void fill_translations(struct ktables_survey *survey)
{
	const struct hd_machine *machine = &survey->facts.machine;

	for (uint32_t r = 0; r < survey->rows; r++) {
		struct ktables_row *row = &survey->row[r];
		unsigned page = (unsigned)machine->rules.value[HD_RULE_PAGE_SHIFT];

		switch (row->mapping) {
		case HD_MAP_VMALLOC:
			row->shift = page;
			break;
		case HD_MAP_VMALLOC_HUGE:
			row->shift =
			    hd_vmalloc_shift(&machine->rules, &machine->facts, false, row->bytes);
			if (row->shift == page)
				row->shift = (unsigned)machine->rules.value[HD_RULE_PMD_SHIFT];
			break;
		case HD_MAP_LINEAR:
			row->shift = survey->env.linear_shift;
			break;
		default:
			break;
		}
	}
}

static void fill_env(struct ktables_survey *survey, const struct machine *books)
{
	const struct hd_rules *rules = &survey->facts.machine.rules;

	survey->env = (struct hd_judge_env){
		.emulated_nodes = survey->facts.emulated_nodes,
		.uptime_seconds =
		    books && books->uptime_seconds.known ? books->uptime_seconds.value : 0,
		.linear_shift = books ? ktables_linear_shift(books) : 0,
	};
	/* 64-bit x86 always builds its linear map of 2 MiB pages and larger. */
	if (!survey->env.linear_shift && rules->arch == HD_ARCH_X86_64)
		survey->env.linear_shift = 21;
}

/** The first thing known to be wrong: "unknown" may stand before it. */
static void note_worst(struct ktables_survey *survey, const struct hd_judgement *judgement)
{
	unsigned v = 0;

	while (v < judgement->count && judgement->verdict[v].code == HD_V_UNKNOWN)
		v++;
	if (v < judgement->count && judgement->verdict[v].code > survey->worst)
		survey->worst = judgement->verdict[v].code;
}

/**
 * A row's bytes by memory node at boot, in @out. Nodes without memory, and those that
 * came later, had no share to take.
 */
static uint32_t shares(const struct ktables_survey *survey, const struct ktables_row *row,
		       uint32_t nodes, uint64_t *out)
{
	uint32_t memory_nodes = survey->facts.machine.facts.memory_nodes, count = 0;

	for (uint32_t n = 0; n < nodes; n++)
		if (row->node_bytes[n])
			out[count++] = row->node_bytes[n];
	while (count < memory_nodes && count < nodes)
		out[count++] = 0;
	return count;
}

/** Back from a share to the node's position. */
static uint32_t position(const struct ktables_row *row, uint32_t nodes, uint32_t share)
{
	for (uint32_t n = 0; n < nodes; n++)
		if (row->node_bytes[n] && !share--)
			return n;
	return 0;
}

static void judge_rows(struct ktables_survey *survey, const struct machine *books)
{
	uint32_t nodes = books ? books->nodes : 0;
	uint64_t *share =
	    survey->node_store ? survey->node_store + (size_t)KTABLES_ROWS_MAX * nodes : NULL;

	for (uint32_t r = 0; r < survey->rows; r++) {
		struct ktables_row *row = &survey->row[r];
		struct hd_seen seen = {
			.id = row->id,
			.entries = row->entries,
			.bytes = row->bytes,
			.mapping = row->mapping,
			.shift = row->shift,
			.node_bytes = row->node_bytes ? share : NULL,
			.nodes = row->node_bytes ? shares(survey, row, nodes, share) : 0,
			.used_known = row->used_known,
			.used = row->used,
		};
		bool compare = row->want_known && row->want.exact &&
			       row->source == KTABLES_FROM_LOG && row->entries;

		hd_judge(&survey->facts.machine, &survey->env, &seen,
			 compare ? &row->want.low : NULL, &row->judgement);
		for (unsigned v = 0; row->node_bytes && v < row->judgement.count; v++)
			row->judgement.verdict[v].node =
			    position(row, nodes, row->judgement.verdict[v].node);
		note_worst(survey, &row->judgement);
	}
}

/** What the machine's own books tell of each row. */
static int add_books(struct ktables_survey *survey, const struct machine *books)
{
	if (books->nodes) {
		survey->node_store = calloc((size_t)(KTABLES_ROWS_MAX + 1) * books->nodes,
					    sizeof(*survey->node_store));
		if (!survey->node_store)
			return -ENOMEM;
		fill_only_node(survey, books);
		if (books->has_areas && ktables_match_areas(survey, books))
			return -ENOMEM;
	}
	ktables_fill_usage(survey, books);
	return 0;
}

int ktables_survey(struct ktables_survey *survey, const struct klog_boot *boot,
		   const struct machine *books, const struct ktables_given *given)
{
	survey->rows = 0;
	survey->worst = HD_OK;
	survey->node_store = NULL;
	survey->log_seen = boot != NULL;
	survey->log_complete = boot && boot->head_seen && !boot->ring_wrapped;
	ktables_infer(boot, books, given, KTABLES_DETECT_RULES, &survey->facts);
	fill_env(survey, books);
	if (boot)
		rows_from_log(survey, boot);
	if (books && !survey->log_complete)
		rows_from_prediction(survey);
	lay_beside_prediction(survey);
	fill_translations(survey);
	if (books && add_books(survey, books)) {
		ktables_survey_fini(survey);
		return -ENOMEM;
	}
	judge_rows(survey, books);
	return 0;
}

void ktables_survey_fini(struct ktables_survey *survey)
{
	free(survey->node_store);
	survey->node_store = NULL;
}

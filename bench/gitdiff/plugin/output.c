/* SPDX-License-Identifier: MIT */
/*
 * output.c - what the counts hold, without what is 0 in large lists
 */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "events.h"
#include "models.h"

static FILE *file;

int output_open(const char *path)
{
	file = fopen(path, "w");
	return file ? 0 : -errno;
}

void output_regions(const struct regions *regions)
{
	fprintf(file,
		"{\"linear\": %" PRIu64 ", \"vmalloc\": %" PRIu64 ", \"memmap\": %" PRIu64
		", \"tables\": {",
		regions->linear, regions->vmalloc, regions->memmap);
	for (enum region i = 0; i < REGION_TABLES; i++)
		fprintf(file, "%s\"%s\": {\"start\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
			i ? ", " : "", region_names[i], regions->tables[i].start,
			regions->tables[i].bytes);
	fprintf(file, "}}\n");
	fflush(file);
}

static void pair(const char *name, const uint64_t values[HD_TLB_KINDS])
{
	fprintf(file, ", \"%s\": [%" PRIu64 ", %" PRIu64 "]", name, values[HD_TLB_LOAD],
		values[HD_TLB_STORE]);
}

/* Rows of a list are told apart by commas between them. */
static const char *between(bool *first)
{
	const char *comma = *first ? "" : ", ";

	*first = false;
	return comma;
}

static void where(const struct counts *counts)
{
	const int cells = HD_TLB_KINDS * COUNT_MODES * REGIONS * COUNT_SIZES;
	bool first = true;

	fprintf(file, ", \"where\": [");
	for (int cell = 0; cell < cells; cell++) {
		int size = cell % COUNT_SIZES, region = cell / COUNT_SIZES % REGIONS;
		int mode = cell / COUNT_SIZES / REGIONS % COUNT_MODES;
		int kind = cell / COUNT_SIZES / REGIONS / COUNT_MODES;
		uint64_t walks = counts->walks[kind][mode][region][size];

		if (walks)
			fprintf(file, "%s[\"%s\", \"%s\", \"%s\", \"%s\", %" PRIu64 "]",
				between(&first), count_kind_names[kind], count_mode_names[mode],
				region_names[region], count_size_names[size], walks);
	}
	fprintf(file, "]");
}

static void places(const struct counts *counts)
{
	bool first = true;

	fprintf(file, ", \"without_place\": %" PRIu64 ", \"places\": [", counts->without_place);
	for (size_t i = 0; i < COUNT_PLACES; i++) {
		const struct count_place *place = &counts->places[i];

		if (place->pc)
			fprintf(file, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", between(&first),
				place->pc, place->walks[HD_TLB_LOAD], place->walks[HD_TLB_STORE]);
	}
	fprintf(file, "]");
}

static void model(const struct model *model)
{
	struct hd_tlb_counts sum = models_tlb_counts(model);

	fprintf(file, "{\"tlb\": \"%s\"", model->name);
	pair("accesses", sum.accesses);
	pair("walks", sum.walks);
	pair("references", sum.references);
	pair("untranslated", model->counts.untranslated);
	where(&model->counts);
	places(&model->counts);
	fprintf(file, "}");
}

static void faults(void)
{
	static const char *const kinds[FAULT_KINDS] = { "load", "store", "fetch" };
	bool first = true;

	fprintf(file, ", \"faults\": [");
	for (int cell = 0; cell < FAULT_KINDS * COUNT_MODES * 2; cell++) {
		int present = cell % 2, mode = cell / 2 % COUNT_MODES,
		    kind = cell / 2 / COUNT_MODES;

		fprintf(file, "%s[\"%s\", \"%s\", %s, %" PRIu64 "]", between(&first), kinds[kind],
			count_mode_names[mode], present ? "true" : "false",
			events.faults[kind][mode][present]);
	}
	fprintf(file, "]");
}

void output_repetition(uint64_t number, uint64_t status)
{
	fprintf(file, "{\"repetition\": %" PRIu64 ", \"status\": %" PRIu64, number, status);
	fprintf(file, ", \"cr3_writes\": %" PRIu64 ", \"cr3_flushes\": %" PRIu64, events.cr3_writes,
		events.cr3_flushes);
	fprintf(file, ", \"page_flushes\": %" PRIu64 ", \"whole_flushes\": %" PRIu64,
		events.page_flushes, events.whole_flushes);
	fprintf(file, ", \"unknown_operands\": %" PRIu64 ", \"invpcids\": %" PRIu64,
		events.unknown_operands, events.invpcids);
	faults();
	fprintf(file, ", \"models\": [");
	for (unsigned i = 0; i < models_count; i++) {
		fprintf(file, "%s", i ? ", " : "");
		model(models[i]);
	}
	fprintf(file, "]}\n");
	fflush(file);
}

/* SPDX-License-Identifier: MIT */
/*
 * bench_notes.c - which layouts were not had, or in part, and what would help
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"

/** Nothing one could mend: this machine has nothing to spread over. */
static bool is_no_news(const struct measure_row *row)
{
	return !row->error && row->got.pages_why == HD_WHY_MET &&
	       row->got.nodes_why == HD_WHY_ONE_NODE;
}

static bool is_worth_a_note(const struct measure_row *row)
{
	return bench_had(row) != BENCH_HAD && !is_no_news(row);
}

/** What was said last: several layouts may lack the same. */
struct notes {
	const struct bench *bench;
	char hint[160];
};

static void hint_once(struct notes *notes, const char *text)
{
	if (!*text || !strcmp(notes->hint, text))
		return;
	snprintf(notes->hint, sizeof(notes->hint), "%s", text);
	cli_hint("try", "%s", text);
}

/** Pages a pool must hold for @row. */
static void hint_pool(struct notes *notes, const struct measure_row *row)
{
	uint64_t page = row->layout->want_pages == HD_PAGES_1G
			    ? UINT64_C(1) << 30
			    : notes->bench->facts.huge_page_bytes;
	char text[sizeof(notes->hint)] = "";

	if (page)
		snprintf(text, sizeof(text),
			 "echo %" PRIu64 " > /sys/kernel/mm/hugepages/hugepages-%" PRIu64
			 "kB/nr_hugepages",
			 (row->bytes + page - 1) / page, page >> 10);
	hint_once(notes, text);
}

static const char *remedy_for_pages(uint32_t why)
{
	switch (why) {
	case HD_WHY_TOO_SMALL:
		return "a larger --size";
	case HD_WHY_THP_NEVER:
		return "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
	case HD_WHY_THP_OFF:
		return "start it from elsewhere: what started it has switched huge pages off";
	case HD_WHY_FRAGMENTED:
		return "echo 1 > /proc/sys/vm/compact_memory";
	case HD_WHY_MEMORY_LIMIT:
	case HD_WHY_MEMORY_SHORT:
	case HD_WHY_ADDRESS_LIMIT:
	case HD_WHY_OVERCOMMIT:
		return "a smaller --size";
	default:
		return "";
	}
}

static const char *remedy_for_nodes(uint32_t why)
{
	switch (why) {
	case HD_WHY_CPUSET:
		return "run it in a cpuset with more nodes";
	case HD_WHY_TASK_POLICY:
		return "run it without numactl";
	case HD_WHY_TOO_SMALL:
		return "a larger --size";
	case HD_WHY_MEMORY_SHORT:
	case HD_WHY_NODE_FULL:
		return "a smaller --size";
	default:
		return "";
	}
}

static void hint(struct notes *notes, const struct measure_row *row)
{
	if (row->got.pages_why == HD_WHY_POOL_EMPTY || row->got.pages_why == HD_WHY_POOL_UNEVEN)
		hint_pool(notes, row);
	else
		hint_once(notes, remedy_for_pages(row->got.pages_why));
	hint_once(notes, remedy_for_nodes(row->got.nodes_why));
}

/** One message for a layout, after its largest size that is worth one. */
static bool note(struct notes *notes, const struct measure_layout *layout)
{
	const struct bench *bench = notes->bench;
	const struct measure_row *worst = NULL;
	uint32_t sizes = 0, noted = 0, missing = 0;
	char why[BENCH_CELL_MAX];

	for (uint32_t r = 0; r < bench->rows; r++) {
		const struct measure_row *row = &bench->row[r];

		if (row->layout != layout)
			continue;
		sizes++;
		if (!is_worth_a_note(row))
			continue;
		worst = row;
		noted++;
		missing += !row->had;
	}
	if (!worst)
		return false;
	bench_why_text(worst, why);
	cli_error("%s: %s at %u of %u size%s: %s", layout->name,
		  missing == noted ? "not had"
		  : missing        ? "not had, or in part,"
				   : "had in part",
		  noted, sizes, sizes == 1 ? "" : "s", why);
	hint(notes, worst);
	return true;
}

int bench_print_notes(const struct bench *bench)
{
	struct notes notes = { .bench = bench };
	bool noted = false, measured = false;

	for (int l = 0; l < MEASURE_LAYOUTS; l++)
		noted |= note(&notes, &measure_layouts[l]);
	for (uint32_t r = 0; r < bench->rows; r++)
		measured |= bench->row[r].had;
	return noted || !measured ? CLI_VERDICT : CLI_OK;
}

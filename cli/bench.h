/* SPDX-License-Identifier: MIT */
/*
 * bench.h - between the files of the verb bench
 */
#ifndef HASHDIST_CLI_BENCH_H
#define HASHDIST_CLI_BENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/table.h"
#include "measure/measure.h"

enum {
	BENCH_SIZES_MAX = 64,
	BENCH_CELL_MAX = 192,
};

struct bench_options {
	uint64_t size[BENCH_SIZES_MAX]; /* bytes, ascending, each once */
	uint32_t sizes;                 /* 0: from the memory that is available */
	struct measure_want want;       /* but for bytes, which go from size to size */
	const char *columns;            /* NULL: the default ones */
	const char *plot;               /* NULL: none */
	bool json;
};

/** What one must know of this machine to repeat it. Empty and 0: unknown. */
struct bench_facts {
	char arch[32], release[128], cpu_model[128];
	char transparent_huge_pages[32]; /* "always", "madvise", "never" */
	uint64_t page_bytes, memory_bytes, available_bytes;
	uint64_t huge_page_bytes; /* of the default hugetlb pool */
	uint32_t memory_nodes, cpus;
};

/** All that was measured, ready to be shown. */
struct bench {
	const struct bench_options *opt;
	struct bench_facts facts;
	struct measure_row *row; /* size by size, layout by layout */
	uint32_t rows;
	const char *command; /* as it could be typed again */
};

enum bench_had { BENCH_HAD, BENCH_HAD_PART, BENCH_NOT_HAD };

/** One row of the table. */
struct bench_line {
	const struct bench *bench;
	const struct measure_row *row;
};
/** What can be shown of a line; ends with name NULL. */
extern const struct cli_column bench_columns[];
/** What is shown unless --output says otherwise. */
#define BENCH_COLUMNS                                                                              \
	"SIZE,LAYOUT,HAD,PAGES,NODES,ALLOC,ALLOCX,PAGE,FAULTS,TABLES,INDEP,INDEPX,DEP,DEPX"

int bench_run(int argc, char **argv);

/* ---- bench_options.c, bench_command.c --------------------------------------------------- */

/** Return: CLI_OK; -1: done (help); another exit status, having said why. */
int bench_parse(int argc, char **argv, struct bench_options *out);
/** The command line as a shell takes it, the plot's file without its directory; NULL: no memory. */
char *bench_command(int argc, char **argv);

/* ---- bench_facts.c -------------------------------------------------------------------- */

/** What cannot be read is left unknown. */
void bench_facts_read(struct bench_facts *out);

/* ---- bench_columns.c ------------------------------------------------------------------ */

/** "one-node", "thp-never, one-node", "met"; of one that failed also an errno's text. */
void bench_why_text(const struct measure_row *row, char *out);
enum bench_had bench_had(const struct measure_row *row);

/* ---- bench_words.c --------------------------------------------------------------------- */

/** A sentence that grows; begins as { .len = 0 }. */
struct bench_words {
	size_t len;
	char text[1024];
};

void bench_say(struct bench_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bench_say_machine(const struct bench *bench, struct bench_words *out);
void bench_say_method(const struct bench *bench, struct bench_words *out);
/** "base-spread (one-node), ..."; empty when all was had. */
void bench_say_not_had(const struct bench *bench, struct bench_words *out);

/* ---- the views ------------------------------------------------------------------------ */

/** Return: enum cli_exit. */
int bench_print_text(const struct bench *bench);
int bench_print_json(const struct bench *bench);
json_t *bench_machine_json(const struct bench_facts *facts);
/** Into bench->opt->plot. */
int bench_draw(const struct bench *bench);

/**
 * bench_print_notes() - to stderr: which layouts were not had, or in part, and what to do
 *
 * A spread on a machine with one memory node is no news: it is in the table.
 * Return: CLI_OK; CLI_VERDICT: there were some, or nothing at all was measured.
 */
int bench_print_notes(const struct bench *bench);

#endif

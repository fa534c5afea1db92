/* SPDX-License-Identifier: MIT */
/*
 * measure.h - between the files of the verb measure
 *
 * measure_options.c   its options
 * measure_setting.c   the words of a setting, and what they do to the command's process
 * measure.c           rehearses, measures, shows
 * measure_figures.c   what a figure is called, and how its values are written
 * measure_words.c     sentences below the table
 * measure_text.c, measure_json.c, measure_draw.c   the views
 *
 * Names begin with ab_, for A and B: measure_ are those of the room below.
 */
#ifndef HASHDIST_CLI_MEASURE_H
#define HASHDIST_CLI_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/bench.h"
#include "cli/run.h"
#include "cli/table.h"
#include "command/command.h"

/* ---- measure_setting.c ---------------------------------------------------------------- */

enum { AB_WORDS_MAX = 16 };

/** How one side starts the command: words that were given by --a or --b. */
struct ab_setting {
	const char *word[AB_WORDS_MAX];
	uint32_t words;  /* 0: not given */
	const char *run; /* options of hashdist run, "" none; NULL: without it */
	char name[256];  /* all words, for who reads */

	struct run_start start; /* in the process that becomes the command */
};

/** One more word. Return: enum cli_exit, having said what is wrong. */
int ab_setting_add(struct ab_setting *setting, const char *option, const char *word);
/** Give it @word if nothing was given; write its name. */
void ab_setting_finish(struct ab_setting *setting, const char *word);
/** For command.h; @arg is the setting. */
int ab_setting_ready(void *arg, char **argv);
int ab_setting_become(void *arg, char **argv);

/* ---- measure_options.c ------------------------------------------------------------------ */

struct ab_options {
	struct command_want want;
	struct ab_setting setting[2];
	const char *columns; /* NULL: the default ones */
	const char *plot;    /* NULL: none */
	bool json;
};

/** Return: CLI_OK; -1: done (help); another exit status, having said why. */
int ab_parse(int argc, char **argv, struct ab_options *out);

/* ---- all that was measured ---------------------------------------------------------------- */

struct ab {
	const struct ab_options *opt;
	const char *command; /* as it could be typed again */
	struct bench_facts facts;
	struct command_overhead overhead;
	struct command_result result;
	struct measure_stat stat[2][COMMAND_FIGURES];
	struct command_comparison comparison[COMMAND_FIGURES];
};

/* ---- measure_figures.c --------------------------------------------------------------------- */

enum ab_unit { AB_NS, AB_BYTES, AB_COUNT, AB_SHARE };

struct ab_figure {
	const char *name; /* "wall time" */
	enum ab_unit unit;
	const char *key_unit; /* behind the key in JSON: "_ns", "" for counts */
	const char *source;
};

extern const struct ab_figure ab_figures[COMMAND_FIGURES];
/** "1.23 s", "64 MiB", "12.5M", "98 %" into @out; returns @out. */
char *ab_value(char *out, size_t size, enum ab_unit unit, double value);
/** Where it is from: of the processor's the event, or why it is not counted. */
void ab_source(const struct ab *m, enum command_figure figure, char *out, size_t size);

/** A row of the table. */
struct ab_row {
	const struct ab *m;
	enum command_figure figure;
};
extern const struct cli_column ab_columns[]; /* ends with name NULL */
/** What is shown unless --output says otherwise. */
#define AB_COLUMNS "FIGURE,A,ASPREAD,B,BSPREAD,RATIO,INTERVAL,VERDICT"

/* ---- measure_words.c ------------------------------------------------------------------------ */

void ab_say_method(const struct ab *m, struct bench_words *out);
void ab_say_overhead(const struct ab *m, struct bench_words *out);
/** Which figures are missing, and why; empty when none is. */
void ab_say_missing(const struct ab *m, struct bench_words *out);
/** What one must know to read the figures that are there. */
void ab_say_notes(const struct ab *m, struct bench_words *out);
/** "B takes less wall time: 0.62 (0.60 to 0.64)"; what else differs. */
void ab_say_outcome(const struct ab *m, struct bench_words *out);

/* ---- the views --------------------------------------------------------------------------------- */

/** Return: enum cli_exit. */
int ab_print_text(const struct ab *m);
int ab_print_json(const struct ab *m);
int ab_draw(const struct ab *m);

int ab_run(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * fuzz-options.c - any words at all as a command line
 *
 * The input is a verb and its words, with NUL bytes between them. The whole verb runs, but all
 * that does its work is replaced here, by --wrap of the linker: no file is opened, no process
 * looked at, nothing started, and the name of a file of rules is also what stands in it. Only
 * machines that are described are planned. Who refuses says why, on standard error, and nothing
 * is leaked.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/pid_reading.h"
#include "cli/place.h"
#include "cli/report.h"
#include "cli/run.h"
#include "cli/source.h"
#include "fuzz/bundle.h"
#include "fuzz/quiet.h"
#include "plan/plan.h"

enum { WORDS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct cli_verb *const verbs[] = { &cli_report, &cli_plan,    &cli_run,
						&cli_place,  &cli_measure, &cli_bench };
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static bool in_verb;

/* ---- instead of doing it ------------------------------------------------------------------- */

static int not_here(const char *what)
{
	cli_error("%s: not here", what);
	return CLI_FAILED;
}

int __wrap_machine_save(const char *dir, int log_fd, const struct machine_left_out *left_out);
int __wrap_machine_save(const char *dir, int log_fd, const struct machine_left_out *left_out)
{
	(void)dir, (void)log_fd, (void)left_out;
	return -EEXIST;
}

int __wrap_pid_reading_make(struct pid_reading *reading);
int __wrap_pid_reading_make(struct pid_reading *reading)
{
	CHECK(reading->limits.min_bytes > 0);
	return not_here("processes");
}

int __wrap_report_logs(char *const *files, int count, const struct report_logs_options *options);
int __wrap_report_logs(char *const *files, int count, const struct report_logs_options *options)
{
	CHECK(options->given);
	for (int f = 0; f < count; f++)
		CHECK(files[f]);
	return not_here("logs");
}

bool __wrap_cli_source_machine(struct cli_source *source, const char *sysroot);
bool __wrap_cli_source_machine(struct cli_source *source, const char *sysroot)
{
	(void)source, (void)sysroot;
	not_here("machine");
	return false;
}

bool __wrap_cli_source_log(struct cli_source *source, const char *file);
bool __wrap_cli_source_log(struct cli_source *source, const char *file)
{
	(void)source, (void)file;
	not_here("log");
	return false;
}

int __real_plan_make(const struct plan_source *source, const struct plan_wish *wish,
		     struct plan *out, const char **lack);
int __wrap_plan_make(const struct plan_source *source, const struct plan_wish *wish,
		     struct plan *out, const char **lack);
int __wrap_plan_make(const struct plan_source *source, const struct plan_wish *wish,
		     struct plan *out, const char **lack)
{
	/* Each translation of a table is counted: beyond this it takes its seconds. */
	for (uint32_t n = 0; n < source->description->nodes; n++)
		if (source->description->node[n].bytes >> 42)
			return -ENOMEM;
	return __real_plan_make(source, wish, out, lack);
}

/* The model takes its seconds, and reads nothing that was typed. */
int __wrap_hd_tlb_expect(const struct hd_tlb_geometry *geometry, const struct hd_tlb_paging *paging,
			 const struct hd_tlb_table *table, uint32_t lookups, void *memory,
			 size_t bytes, uint32_t *walks_ppm);
int __wrap_hd_tlb_expect(const struct hd_tlb_geometry *geometry, const struct hd_tlb_paging *paging,
			 const struct hd_tlb_table *table, uint32_t lookups, void *memory,
			 size_t bytes, uint32_t *walks_ppm)
{
	(void)paging, (void)lookups;
	CHECK(geometry && table && memory && bytes);
	*walks_ppm = 250000;
	return 0;
}

int __wrap_place_job_run(struct place_job *job);
int __wrap_place_job_run(struct place_job *job)
{
	const struct place_options *place = &job->place.place;

	CHECK(job->pid > 0 && place->min_bytes > 0);
	CHECK(!place->to || place->from < place->to);
	CHECK(place->busy_percent <= 100 && !(job->watch && job->undo));
	return not_here("placing");
}

int __wrap_run_look(const char *command, struct run_program *out);
int __wrap_run_look(const char *command, struct run_program *out)
{
	CHECK(command);
	(void)out;
	return -ENOENT;
}

int __wrap_measure_runs(const struct measure_want *want, struct measure_row *row);
int __wrap_measure_runs(const struct measure_want *want, struct measure_row *row)
{
	CHECK(row && want->runs > 0 && want->layouts);
	CHECK(want->bytes >= want->bucket_bytes && want->bucket_bytes % MEASURE_WORD == 0);
	return -EIO;
}

int __wrap_plot_ready(const char *file);
int __wrap_plot_ready(const char *file)
{
	CHECK(file && *file);
	return not_here("plot");
}

int __real_sigaction(int number, const struct sigaction *action, struct sigaction *old);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *old);
int __wrap_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	/* The fuzzer's own stay as they are. */
	return in_verb ? 0 : __real_sigaction(number, action, old);
}

int __wrap_setenv(const char *name, const char *value, int replace);
int __wrap_setenv(const char *name, const char *value, int replace)
{
	CHECK(name && *name && value && replace);
	return 0;
}

int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
	(void)option;
	return 0;
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	/* How plan reads rules; all others are the fuzzer's own. */
	if (strcmp(mode, "re") != 0)
		return __real_fopen(path, mode);
	return fmemopen((char *)path, strlen(path), "r");
}

/* ---- a command line ------------------------------------------------------------------------- */

struct words {
	int count;
	char *word[WORDS_MAX + 1];
};

/** Each in a block of its own, so that the sanitizer sees a read beyond it. */
static void split(const uint8_t *data, size_t size, struct words *out)
{
	out->count = 0;
	while (size && out->count < WORDS_MAX) {
		size_t len = strnlen((const char *)data, size);

		out->word[out->count] = strndup((const char *)data, len);
		CHECK(out->word[out->count++]);
		len += len < size;
		data += len;
		size -= len;
	}
	out->word[out->count] = NULL;
}

static const struct cli_verb *verb_of(const char *name)
{
	for (int v = 0; v < VERBS; v++)
		if (!strcmp(name, verbs[v]->name))
			return verbs[v];
	return verbs[(unsigned char)*name % VERBS];
}

/** How a setting of measure would get its process ready: it reads options of run. */
static void get_ready(struct words *words)
{
	struct ab_options opt;

	if (ab_parse(words->count, words->word, &opt) != CLI_OK)
		return;
	CHECK(opt.want.runs > 0 && opt.want.argv[0]);
	for (int side = 0; side < 2; side++)
		ab_setting_ready(&opt.setting[side], opt.want.argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cli_verb *verb;
	struct words words;
	size_t len;
	char *said;
	int status;

	split(data, size, &words);
	if (!words.count)
		return 0;
	verb = verb_of(words.word[0]);
	quiet_begin();
	in_verb = true;
	status = verb->run(words.count, words.word);
	if (verb == &cli_measure)
		get_ready(&words);
	in_verb = false;
	said = quiet_end(&len);
	CHECK(status == CLI_OK || status == CLI_FAILED || status == CLI_USAGE ||
	      status == CLI_VERDICT || status == 127);
	CHECK(status == CLI_OK || status == CLI_VERDICT || !strncmp(said, "hashdist: ", 10));
	free(said);
	for (int w = 0; w < words.count; w++)
		free(words.word[w]);
	return 0;
}

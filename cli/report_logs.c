/* SPDX-License-Identifier: MIT */
/*
 * report_logs.c - hashdist report --log FILE...
 *
 * One boot in all of them: shown in full. Several: one row each as they come,
 * and a summary. Nothing is kept but the first boot and sums, so a year of logs
 * takes no more memory than one. A large file that makes rows is read by all
 * processors; anything else by one, while another one judges.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/boot_queue.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/log_segments.h"
#include "cli/report.h"
#include "cli/report_rows.h"
#include "cli/source.h"

struct logs {
	const struct report_logs_options *options;
	const char *file;        /* being read */
	struct klog_boot *first; /* until a second one comes */
	const char *first_file;
	struct ktables_survey *survey;
	uint64_t boots, tables, damaged;
	uint64_t verdicts[HD_V_COUNT]; /* boots by worst verdict */
	bool attention, several_metrics, failed;
	bool rows_begun;          /* there is a second boot */
	struct boot_queue *queue; /* from then on, but not while a file is read in segments */
};

/** What is kept of a boot that makes a row. */
struct row {
	uint64_t line;
	uint32_t tables;
	uint16_t len;
	uint8_t verdict; /* enum hd_verdict_code */
	bool attention;
	char text[REPORT_ROW_MAX];
};

/* ---- boots as they come -------------------------------------------------------------------- */

static void print_json_boot(struct logs *logs, const char *file, const struct klog_boot *boot)
{
	struct ktables_advice advice[KTABLES_ADVICE_MAX];
	struct report report = { .survey = logs->survey, .boot = boot, .advice = advice };
	json_t *json;

	report.advices = ktables_advise(logs->survey, advice, KTABLES_ADVICE_MAX);
	json = report_json(&report);
	json_object_set_new(json, "file", report_json_text(file));
	json_object_set_new(json, "line", json_integer((json_int_t)boot->first_line));
	fputs(logs->boots > 1 ? ",\n" : "{\"boots\":[\n", stdout);
	logs->failed |= !cli_json_dump(json, JSON_COMPACT);
}

/** Return: false: nothing can be said, which cannot be without books. */
static bool judge(struct ktables_survey *survey, const struct ktables_given *given,
		  const struct klog_boot *boot, struct row *row)
{
	if (ktables_survey(survey, boot, NULL, given))
		return false;
	row->line = boot->first_line;
	row->tables = survey->rows;
	row->verdict = (uint8_t)report_rows_verdict(survey);
	row->attention = ktables_wants_attention(survey);
	return true;
}

static void add(struct logs *logs, const struct row *row)
{
	logs->boots++;
	logs->tables += row->tables;
	logs->verdicts[row->verdict]++;
	logs->attention |= row->attention;
}

/** In the other thread; until the queue is freed the sums are its own. */
static void take_boot(void *ctx, const char *file, const struct klog_boot *boot)
{
	struct logs *logs = ctx;
	struct row row;

	if (!judge(logs->survey, logs->options->given, boot, &row))
		return;
	add(logs, &row);
	if (logs->options->json) {
		print_json_boot(logs, file, boot);
		return;
	}
	row.len = (uint16_t)report_rows_format(boot, logs->survey, row.text);
	report_rows_print(file, row.line, row.text, row.len);
}

static bool open_queue(struct logs *logs)
{
	if (logs->queue)
		return true;
	logs->queue = boot_queue_new(take_boot, logs);
	if (!logs->queue) {
		logs->failed = true;
		return false;
	}
	if (!logs->rows_begun && !logs->options->json) {
		report_rows_head();
		boot_queue_put(logs->queue, logs->first_file, logs->first);
	}
	logs->rows_begun = true;
	return true;
}

/** From the reading thread: the first boot waits, for it may be the only one. */
static void on_boot(void *ctx, const struct klog_boot *boot)
{
	struct logs *logs = ctx;
	bool first = !logs->first_file;

	if (first) {
		klog_boot_copy(logs->first, boot);
		logs->first_file = logs->file;
		if (!logs->options->json)
			return;
	}
	if (logs->options->metrics) {
		logs->several_metrics = true;
		return;
	}
	if (open_queue(logs))
		boot_queue_put(logs->queue, logs->file, boot);
}

static void on_damaged(void *ctx, const char *line, size_t len, uint64_t number)
{
	struct logs *logs = ctx;

	logs->damaged++;
	if (!logs->options->damaged)
		return;
	fprintf(stderr, "%s:%" PRIu64 ": ", logs->file, number);
	for (size_t i = 0; i < len; i++)
		fputc((unsigned char)line[i] < ' ' && line[i] != '\t' ? '?' : line[i], stderr);
	fputc('\n', stderr);
}

/* ---- the end -------------------------------------------------------------------------------- */

static int show_only_boot(struct logs *logs)
{
	struct ktables_advice advice[KTABLES_ADVICE_MAX];
	struct report report = { .survey = logs->survey, .boot = logs->first, .advice = advice };
	char note[64];

	if (ktables_survey(logs->survey, logs->first, NULL, logs->options->given))
		return CLI_FAILED;
	report.advices = ktables_advise(logs->survey, advice, KTABLES_ADVICE_MAX);
	if (!logs->first->head_seen) {
		snprintf(note, sizeof(note), "the log does not begin at the start of the boot");
		report.log_note = note;
	}
	if (logs->options->metrics)
		return report_print_metrics(&report);
	return report_print_text(&report, logs->options->columns);
}

static int summarize(const struct logs *logs)
{
	bool fine = true;

	if (logs->options->json) {
		json_t *verdicts = json_object();

		for (int v = 0; v < HD_V_COUNT; v++)
			json_object_set_new(verdicts, hd_verdict_name(v),
					    json_integer((json_int_t)logs->verdicts[v]));
		json_t *summary =
		    json_pack("{s:I, s:I, s:I, s:o}", "boots", (json_int_t)logs->boots, "tables",
			      (json_int_t)logs->tables, "damaged_lines", (json_int_t)logs->damaged,
			      "verdicts", verdicts);
		fputs("\n],\"summary\":", stdout);
		fine = cli_json_dump(summary, JSON_COMPACT);
		fputs("}\n", stdout);
	} else {
		printf("\n%" PRIu64 " boots, %" PRIu64 " tables; boots by verdict:", logs->boots,
		       logs->tables);
		for (int v = 0; v < HD_V_COUNT; v++)
			if (logs->verdicts[v])
				printf(" %s %" PRIu64, hd_verdict_name(v), logs->verdicts[v]);
		putchar('\n');
	}
	if (!fine)
		cli_error("out of memory");
	return !fine ? CLI_FAILED : logs->attention ? CLI_VERDICT : CLI_OK;
}

static int finish(struct logs *logs)
{
	int status = CLI_FAILED;

	if (logs->several_metrics) {
		cli_error("--openmetrics describes one boot, and there are several");
		cli_hint("try", "--json");
	} else if (logs->failed) {
		cli_error("out of memory");
	} else if (logs->boots) {
		status = summarize(logs);
	} else if (logs->first_file) {
		status = show_only_boot(logs);
	}
	if (logs->damaged && !logs->options->damaged) {
		cli_error("%" PRIu64 " line%s like a table's and could not be understood",
			  logs->damaged, logs->damaged == 1 ? " looks" : "s look");
		cli_hint("try", "--damaged shows them");
	}
	return status;
}

/* ---- segments: a large file's rows ------------------------------------------------------ */

/** One thread's. */
struct judging {
	const struct ktables_given *given;
	struct ktables_survey survey;
};

static void *open_judging(void *ctx)
{
	const struct logs *logs = ctx;
	struct judging *judging = calloc(1, sizeof(*judging));

	if (judging)
		judging->given = logs->options->given;
	return judging;
}

static size_t judge_boot(void *ctx, const struct klog_boot *boot, void *out)
{
	struct judging *judging = ctx;
	struct row row;
	size_t size;

	if (!judge(&judging->survey, judging->given, boot, &row))
		return 0;
	row.len = (uint16_t)report_rows_format(boot, &judging->survey, row.text);
	size = offsetof(struct row, text) + row.len;
	memcpy(out, &row, size);
	return size;
}

static void take_row(void *ctx, const void *result, uint64_t lines)
{
	struct logs *logs = ctx;
	struct row row;
	const char *text = (const char *)result + offsetof(struct row, text);

	memcpy(&row, result, offsetof(struct row, text));
	add(logs, &row);
	report_rows_print(logs->file, lines + row.line, text, row.len);
}

/** Return: as log_segments_read() does. */
static int read_segments(struct logs *logs, int fd, struct klog_stats *stats)
{
	const struct log_segments_job job = { logs, open_judging, free, judge_boot, take_row };
	int error;

	boot_queue_free(logs->queue); /* what it still has comes first */
	logs->queue = NULL;
	if (!logs->rows_begun) {
		report_rows_head();
		if (logs->first_file)
			take_boot(logs, logs->first_file, logs->first);
		else
			logs->first_file = logs->file;
		logs->rows_begun = true;
	}
	error = log_segments_read(fd, &job, stats);
	logs->damaged += stats->damaged;
	return error;
}

/* ---- files -------------------------------------------------------------------------------- */

/** Return: did the file hold anything? */
static bool read_file(struct logs *logs, struct klog *klog, const char *file)
{
	const struct report_logs_options *options = logs->options;
	const bool rows = !options->json && !options->metrics && !options->damaged;
	int error = LOG_SEGMENTS_NO_THREADS, fd = cli_open_log(file);
	struct klog_stats stats;

	if (fd < 0)
		return false;
	logs->file = file;
	if (rows && strcmp(file, "-") != 0 && log_segments_fit(fd))
		error = read_segments(logs, fd, &stats);
	if (error == LOG_SEGMENTS_NO_THREADS) {
		error = klog_read_fd(klog, fd);
		stats = *klog_stats(klog);
	}
	close(fd);
	return cli_log_was_read(file, error, &stats);
}

int report_logs(char *const *files, int count, const struct report_logs_options *options)
{
	struct logs logs = { .options = options,
			     .first = malloc(sizeof(*logs.first)),
			     .survey = calloc(1, sizeof(*logs.survey)) };
	const struct klog_sink sink = { &logs, on_boot, on_damaged };
	struct klog *klog = klog_new(&sink);
	int status = CLI_FAILED;
	bool all = true;

	if (!logs.first || !logs.survey || !klog) {
		cli_error("out of memory");
	} else {
		for (int f = 0; f < count; f++)
			all &= read_file(&logs, klog, files[f]);
		boot_queue_free(logs.queue);
		status = finish(&logs);
		if (!all)
			status = CLI_FAILED;
	}
	klog_free(klog);
	free(logs.survey);
	free(logs.first);
	return status;
}

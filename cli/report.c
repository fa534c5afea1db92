/* SPDX-License-Identifier: MIT */
/*
 * report.c - hashdist report: where did the kernel put its large hashes?
 *
 * Options, and what to do with them. Logs alone are read by report_logs.c,
 * processes by report_pid.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/process_view.h"
#include "cli/report.h"
#include "cli/report_pid.h"
#include "cli/source.h"

enum { GIVEN_MAX = 32 };

struct options {
	bool logs, json, metrics, damaged;
	const char *sysroot, *save, *columns, *tlb;
	const char *rule[GIVEN_MAX];
	struct ktables_given given;
	char **file; /* of --log, in order */
	int files;
	struct report_pid_options process;
};

static const struct cli_option options[] = {
	{ "log", 'l', "FILE...", "boot logs instead of this machine; - is standard input" },
	{ "sysroot", 's', "DIR", "a machine saved with --save, or a copy of its /proc and /sys" },
	{ "save", 0, "DIR", "save this machine into DIR, without personal details" },
	{ "pid", 'p', "PID", "a process instead: where its large mappings are" },
	{ "all", 'a', NULL, "all processes with large mappings, most to gain first" },
	{ "min", 0, "SIZE", "of a process: what counts as large; 8M" },
	{ "budget", 0, "MS", "of processes: time for reading details; 2000" },
	{ "json", 'j', NULL, "print JSON" },
	{ "openmetrics", 0, NULL, "print OpenMetrics, for node_exporter's textfile collector" },
	{ "output", 'o', "COL,...", "print these columns only; 'help' lists them" },
	{ "rule", 0, "NAME=VALUE", "overrule what the kernel version tells; 'help' lists them" },
	{ "tlb", 0, "PROCESSOR", "whose TLB the column WALKS is about; 'help' lists them" },
	{ "damaged", 0, NULL,
	  "show the lines that look like a table's and are none we understand" },
	{ "help", 'h', NULL, "show this" },
	{ 0 },
};

enum {
	OPT_LOG,
	OPT_SYSROOT,
	OPT_SAVE,
	OPT_PID,
	OPT_ALL,
	OPT_MIN,
	OPT_BUDGET,
	OPT_JSON,
	OPT_METRICS,
	OPT_OUTPUT,
	OPT_RULE,
	OPT_TLB,
	OPT_DAMAGED,
	OPT_HELP
};

static int run(int argc, char **argv);

const struct cli_verb cli_report = {
	"report",
	"[OPTION...] [--pid PID | --all | --log FILE...]",
	"where did the kernel put its large hashes, and where are those of a process?",
	options,
	run,
};

/* ---- options --------------------------------------------------------------------------- */

static void list_rules(void)
{
	for (int rule = 0; rule < HD_RULE_COUNT; rule++) {
		printf("  %s=", hd_rule_name(rule));
		if (!hd_rule_word(rule, 0))
			fputs("NUMBER", stdout);
		for (int32_t w = 0; hd_rule_word(rule, w); w++)
			printf("%s%s", w ? "|" : "", hd_rule_word(rule, w));
		putchar('\n');
	}
}

static int add_rule(struct options *opt, const char *text)
{
	struct hd_rules scratch;

	hd_rules_init(&scratch, 0, HD_ARCH_X86_64, NULL);
	if (hd_rules_parse(&scratch, text, strlen(text))) {
		cli_error("--rule: '%s' is no rule, or not a value it can have", text);
		cli_hint("try", "hashdist report --rule help");
		return CLI_USAGE;
	}
	if (opt->given.rules == GIVEN_MAX) {
		cli_error("--rule: more than %d", GIVEN_MAX);
		return CLI_USAGE;
	}
	opt->rule[opt->given.rules++] = text;
	return CLI_OK;
}

static int wrong_word(const char *word)
{
	cli_error("%s: a word that belongs to no option", word);
	cli_hint("try", "hashdist report --log %s", word);
	return CLI_USAGE;
}

/** Return: CLI_OK to go on, CLI_USAGE; -1 done already (help). */
static int take_option(struct options *opt, int which, const char *value)
{
	switch (which) {
	case OPT_LOG:
		opt->logs = true;
		opt->file[opt->files++] = (char *)value;
		return CLI_OK;
	case OPT_SYSROOT:
		opt->sysroot = value;
		return CLI_OK;
	case OPT_SAVE:
		opt->save = value;
		return CLI_OK;
	case OPT_PID:
		return report_pid_add(&opt->process, value);
	case OPT_ALL:
		opt->process.all = true;
		return CLI_OK;
	case OPT_MIN:
		opt->process.min = value;
		return CLI_OK;
	case OPT_BUDGET:
		opt->process.budget = value;
		return CLI_OK;
	case OPT_JSON:
		opt->json = true;
		return CLI_OK;
	case OPT_METRICS:
		opt->metrics = true;
		return CLI_OK;
	case OPT_OUTPUT:
		opt->columns = value;
		return CLI_OK;
	case OPT_RULE:
		if (!strcmp(value, "help")) {
			list_rules();
			return -1;
		}
		return add_rule(opt, value);
	case OPT_TLB:
		opt->tlb = value;
		return walks_check_preset("tlb", value);
	case OPT_DAMAGED:
		opt->damaged = true;
		return CLI_OK;
	default:
		cli_print_help(&cli_report);
		return -1;
	}
}

static bool of_processes(const struct options *opt)
{
	return opt->process.pids || opt->process.all;
}

/** Names of columns; the words --pid and --all may stand behind them. As take_option(). */
static int check_columns(const struct options *opt)
{
	if (!strcmp(opt->columns, "help")) {
		if (of_processes(opt))
			cli_columns_list(process_columns);
		else
			cli_columns_list(report_columns);
		return -1;
	}
	if (of_processes(opt))
		return cli_columns_ok(process_columns, opt->columns) ? CLI_OK : CLI_USAGE;
	return cli_columns_ok(report_columns, opt->columns) ? CLI_OK : CLI_USAGE;
}

/** Options that exclude each other, or need another. */
static int check_options(const struct options *opt)
{
	bool process = of_processes(opt);

	if (opt->logs + !!opt->sysroot + !!opt->save > 1)
		cli_error("--log, --sysroot and --save exclude each other");
	else if (opt->process.pids && opt->process.all)
		cli_error("--pid and --all exclude each other");
	else if (process &&
		 (opt->logs || opt->sysroot || opt->save || opt->given.rules || opt->damaged))
		cli_error("%s: not with --log, --sysroot, --save, --rule or --damaged",
			  opt->process.all ? "--all" : "--pid");
	else if (opt->tlb && (process || opt->logs || opt->save))
		cli_error("--tlb: only of the tables of one machine");
	else if (!process && (opt->process.min || opt->process.budget))
		cli_error("%s: only with --pid or --all", opt->process.min ? "--min" : "--budget");
	else if (opt->json + opt->metrics + !!opt->columns > 1)
		cli_error("--json, --openmetrics and --output exclude each other");
	else
		return CLI_OK;
	return CLI_USAGE;
}

static int parse(int argc, char **argv, struct options *opt)
{
	struct cli_args args = { .argc = argc, .argv = argv, .at = 1 };
	int which, status = CLI_OK;

	while (status == CLI_OK && (which = cli_next(&args, &cli_report)) != CLI_ARG_END) {
		if (which == CLI_ARG_WRONG)
			return CLI_USAGE;
		if (which != CLI_ARG_PLAIN)
			status = take_option(opt, which, args.value);
		else if (opt->logs)
			opt->file[opt->files++] = (char *)args.value;
		else
			return wrong_word(args.value);
	}
	if (status == CLI_OK && opt->columns)
		status = check_columns(opt);
	if (status == CLI_OK)
		status = check_options(opt);
	opt->given.rule = opt->rule;
	return status;
}

/* ---- one machine ------------------------------------------------------------------------- */

static int show(const struct options *opt, const struct cli_source *source)
{
	struct ktables_survey *survey = calloc(1, sizeof(*survey));
	struct ktables_advice advice[KTABLES_ADVICE_MAX];
	struct report report = {
		.survey = survey,
		.boot = source->boot,
		.books = source->books,
		.advice = advice,
		.log_note = source->note[0] ? source->note : NULL,
		.log_remedy = source->remedy,
	};
	struct walks walks;
	int status = CLI_FAILED;

	if (!survey || !walks_open(&walks, opt->tlb, source->books)) {
		cli_error("out of memory");
		free(survey);
		return CLI_FAILED;
	}
	report.walks = &walks;
	if (ktables_survey(survey, source->boot, source->books, &opt->given)) {
		cli_error("out of memory");
		walks_close(&walks);
		free(survey);
		return CLI_FAILED;
	}
	report.advices = ktables_advise(survey, advice, KTABLES_ADVICE_MAX);
	if (!survey->rows) {
		cli_error("nothing to report: neither a kernel log nor enough to compute from");
		if (report.log_note)
			cli_hint("because", "%s", report.log_note);
		if (report.log_remedy)
			cli_hint("try", "%s", report.log_remedy);
	} else if (opt->json) {
		status = report_print_json(&report);
	} else if (opt->metrics) {
		status = report_print_metrics(&report);
	} else {
		status = report_print_text(&report, opt->columns);
	}
	ktables_survey_fini(survey);
	walks_close(&walks);
	free(survey);
	return status;
}

static int report_machine(const struct options *opt)
{
	struct cli_source source = { .show_damaged = opt->damaged };
	int status = CLI_FAILED;

	if (cli_source_machine(&source, opt->sysroot))
		status = show(opt, &source);
	cli_source_close(&source);
	return status;
}

/* ---- saving ------------------------------------------------------------------------------- */

static void say_left_out(void *arg, const char *path, int error)
{
	(void)arg;
	cli_error("/%s: %s; left out", path, strerror(error));
}

static int save_machine(const struct options *opt)
{
	const struct machine_left_out left_out = { .tell = say_left_out };
	int log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	int log_error = log_fd < 0 ? errno : 0;
	int error = machine_save(opt->save, log_fd, &left_out);

	if (log_fd >= 0)
		close(log_fd);
	if (error == -EEXIST) {
		cli_error("%s: exists and is not empty; nothing was written", opt->save);
		cli_hint("try", "a new directory");
		return CLI_FAILED;
	}
	if (error) {
		cli_error("%s: %s; nothing was written", opt->save, strerror(-error));
		return CLI_FAILED;
	}
	if (log_error) {
		cli_error("/dev/kmsg: %s; saved without the kernel log", strerror(log_error));
		cli_hint("try", "run as root, or put the output of dmesg into %s/var/log/dmesg",
			 opt->save);
	}
	return CLI_OK;
}

static int run(int argc, char **argv)
{
	struct options opt = { .file = calloc((size_t)argc + 1, sizeof(char *)),
			       .process.pid = calloc((size_t)argc + 1, sizeof(pid_t)) };
	int status;

	if (!opt.file || !opt.process.pid) {
		cli_error("out of memory");
		free(opt.process.pid);
		free(opt.file);
		return CLI_FAILED;
	}
	status = parse(argc, argv, &opt);
	if (status == -1) {
		status = CLI_OK;
	} else if (status == CLI_OK && opt.save) {
		status = save_machine(&opt);
	} else if (status == CLI_OK && of_processes(&opt)) {
		opt.process.json = opt.json;
		opt.process.metrics = opt.metrics;
		opt.process.columns = opt.columns;
		status = report_pid(&opt.process);
	} else if (status == CLI_OK && opt.logs) {
		struct report_logs_options logs = { opt.json, opt.metrics, opt.damaged, opt.columns,
						    &opt.given };

		status = report_logs(opt.file, opt.files, &logs);
	} else if (status == CLI_OK) {
		status = report_machine(&opt);
	}
	free(opt.process.pid);
	free(opt.file);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * measure_options.c - the options of hashdist measure
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/plot.h"
#include "cli/measure.h"
#include "cli/table.h"

enum { RUNS = 10, RUNS_MAX = 1000, WARMUPS_MAX = 100, INTERVAL_MS = 50, INTERVAL_MAX = 60000 };

static const struct cli_option options[] = {
	{ "runs", 'n', "N", "runs of each setting; 10" },
	{ "warmup", 'w', "N", "runs of each ahead of them, not counted; 1" },
	{ "a", 'a', "SETTING", "how A starts CMD; as-is. May be given again, for more words" },
	{ "b", 'b', "SETTING", "how B does; run. 'help' lists the words" },
	{ "prepare", 'p', "SHELL", "a command line to run before each run" },
	{ "input", 0, "FILE", "standard input of each run; /dev/null" },
	{ "show-output", 0, NULL, "let CMD's output and messages through, to standard error" },
	{ "ignore-failure", 'i', NULL, "go on when CMD fails" },
	{ "fault-runs", 0, "N", "runs of each, after those, in which page faults are timed; 1" },
	{ "interval", 0, "MS", "longest pause between looks at its memory; 50. 0: no looks" },
	{ "output", 'o', "COL,...", "print these columns only; 'help' lists them" },
	{ "json", 'j', NULL, "print JSON" },
	{ "plot", 0, "FILE",
	  "also draw times and faults run by run, as .svg or .png; with gnuplot" },
	{ "help", 'h', NULL, "show this" },
	{ 0 },
};

enum {
	OPT_RUNS,
	OPT_WARMUP,
	OPT_A,
	OPT_B,
	OPT_PREPARE,
	OPT_INPUT,
	OPT_SHOW_OUTPUT,
	OPT_IGNORE_FAILURE,
	OPT_FAULT_RUNS,
	OPT_INTERVAL,
	OPT_OUTPUT,
	OPT_JSON,
	OPT_PLOT,
	OPT_HELP
};

const struct cli_verb cli_measure = {
	"measure",
	"[OPTION...] [--] CMD [ARG...]",
	"what does placing its large tables buy a program?",
	options,
	ab_run,
};

static int take_count(const char *name, const char *value, uint32_t least, uint32_t most,
		      uint32_t *out)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || n < least || n > most) {
		cli_error("--%s: '%s' is no number from %u to %u", name, value, least, most);
		return CLI_USAGE;
	}
	*out = (uint32_t)n;
	return CLI_OK;
}

static int take_setting(struct ab_setting *setting, const char *option, const char *value)
{
	if (strcmp(value, "help") != 0)
		return ab_setting_add(setting, option, value);
	fputs("  as-is                as it is\n"
	      "  run[:OPTION,...]     under hashdist run, with its long options: run:min=8M\n"
	      "  thp-off              without transparent huge pages\n"
	      "  env:NAME=VALUE       with a variable of the environment\n"
	      "  malloc:NAME=VALUE    with a tunable of the C library's malloc(): hugetlb=1\n",
	      stdout);
	return -1;
}

/** Return: CLI_OK to go on, CLI_USAGE; -1 done already (help). */
static int take_option(struct ab_options *opt, int which, const char *value)
{
	switch (which) {
	case OPT_RUNS:
		return take_count("runs", value, 1, RUNS_MAX, &opt->want.runs);
	case OPT_WARMUP:
		return take_count("warmup", value, 0, WARMUPS_MAX, &opt->want.warmups);
	case OPT_A:
		return take_setting(&opt->setting[0], "--a", value);
	case OPT_B:
		return take_setting(&opt->setting[1], "--b", value);
	case OPT_PREPARE:
		opt->want.prepare = value;
		return CLI_OK;
	case OPT_INPUT:
		opt->want.input = value;
		return CLI_OK;
	case OPT_SHOW_OUTPUT:
		opt->want.show_output = true;
		return CLI_OK;
	case OPT_IGNORE_FAILURE:
		opt->want.ignore_failure = true;
		return CLI_OK;
	case OPT_FAULT_RUNS:
		return take_count("fault-runs", value, 0, RUNS_MAX, &opt->want.fault_runs);
	case OPT_INTERVAL:
		return take_count("interval", value, 0, INTERVAL_MAX, &opt->want.interval_ms);
	case OPT_OUTPUT:
		return cli_columns_take(ab_columns, value, &opt->columns);
	case OPT_JSON:
		opt->json = true;
		return CLI_OK;
	case OPT_PLOT:
		return plot_take(value, &opt->plot);
	default:
		cli_print_help(&cli_measure);
		return -1;
	}
}

static int check(struct ab_options *opt)
{
	static const char *const usual[2] = { "as-is", "run" };

	if (!opt->want.argv[0]) {
		cli_error("measure: no command");
		cli_hint("try", "hashdist measure -- CMD");
		return CLI_USAGE;
	}
	if (opt->json && opt->columns) {
		cli_error("--json and --output exclude each other");
		return CLI_USAGE;
	}
	for (int s = 0; s < 2; s++) {
		ab_setting_finish(&opt->setting[s], usual[s]);
		opt->want.setting[s] = (struct command_setting){
			.ready = ab_setting_ready,
			.become = ab_setting_become,
			.arg = &opt->setting[s],
		};
	}
	return CLI_OK;
}

int ab_parse(int argc, char **argv, struct ab_options *opt)
{
	struct cli_args args = { .argc = argc, .argv = argv, .at = 1 };
	int which, status = CLI_OK;

	*opt = (struct ab_options){
		.want = { .runs = RUNS, .warmups = 1, .fault_runs = 1, .interval_ms = INTERVAL_MS },
	};
	while (status == CLI_OK && (which = cli_next(&args, &cli_measure)) >= 0)
		status = take_option(opt, which, args.value);
	if (status != CLI_OK)
		return status;
	if (which == CLI_ARG_WRONG)
		return CLI_USAGE;
	/* The first word that is no option begins the command; what follows is its own. */
	if (which == CLI_ARG_PLAIN && strcmp(args.value, "--"))
		args.at--;
	opt->want.argv = argv + args.at;
	return check(opt);
}

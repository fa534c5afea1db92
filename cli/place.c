/* SPDX-License-Identifier: MIT */
/*
 * place.c - hashdist place: options, and the order of looking, doing, looking again
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/place.h"
#include "process/watch.h"

enum {
	OPT_PID,
	OPT_RANGE,
	OPT_MIN,
	OPT_STEP,
	OPT_BUSY,
	OPT_DRY_RUN,
	OPT_ONCE,
	OPT_WATCH,
	OPT_UNDO,
	OPT_RECORD,
	OPT_COMPACT,
	OPT_DESPITE_NEVER,
	OPT_NO_COLLAPSE,
	OPT_NO_SPREAD,
	OPT_JSON,
	OPT_HELP,
};

static const struct cli_option options[] = {
	[OPT_PID] = { "pid", 'p', "PID", "the process" },
	[OPT_RANGE] = { "range", 0, "FROM-TO", "only these addresses, hexadecimal" },
	[OPT_MIN] = { "min", 0, "SIZE", "leave smaller mappings alone (8M)" },
	[OPT_STEP] = { "step", 0, "MS", "a step should take no longer (20)" },
	[OPT_BUSY] = { "busy", 0, "PERCENT", "share of the time spent in steps (25)" },
	[OPT_DRY_RUN] = { "dry-run", 'n', NULL, "say what would be done, and what it would cost" },
	[OPT_ONCE] = { "once", 0, NULL, "never stop the process to make it last" },
	[OPT_WATCH] = { "watch", 'w', NULL, "go on until the process ends" },
	[OPT_UNDO] = { "undo", 0, NULL, "bytes back on the nodes they came from" },
	[OPT_RECORD] = { "record", 0, "FILE", "where undo keeps what it needs" },
	[OPT_COMPACT] = { "compact", 0, NULL, "let the kernel make free huge blocks" },
	[OPT_DESPITE_NEVER] = { "despite-never", 0, NULL,
				"although the administrator set \"never\"" },
	[OPT_NO_COLLAPSE] = { "no-collapse", 0, NULL, "leave translations as they are" },
	[OPT_NO_SPREAD] = { "no-spread", 0, NULL, "leave nodes as they are" },
	[OPT_JSON] = { "json", 'j', NULL, "for programs" },
	[OPT_HELP] = { "help", 'h', NULL, "this text" },
	{ NULL, 0, NULL, NULL },
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = number;
}

/** The first one asks; a second ends us the usual way: every step leaves the target whole. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static bool read_range(const char *word, struct place_options *place)
{
	char *end;

	errno = 0;
	place->from = strtoull(word, &end, 16);
	if (end == word || *end != '-' || errno)
		return false;
	word = end + 1;
	place->to = strtoull(word, &end, 16);
	return end > word && !*end && !errno && place->to > place->from;
}

static bool read_number(const char *word, uint32_t least, uint32_t most, uint32_t *out)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(word, &end, 10);
	if (end == word || *end || errno || word[0] == '-' || value < least || value > most)
		return false;
	*out = (uint32_t)value;
	return true;
}

static int wrong_value(int option, const char *value)
{
	cli_error("--%s %s: not a value it takes", options[option].name, value);
	cli_hint("try", "hashdist place --help");
	return CLI_USAGE;
}

static bool take_value(int option, const char *value, struct place_job *job)
{
	uint32_t number = 0;
	bool fine = true;

	switch (option) {
	case OPT_PID:
		fine = read_number(value, 1, INT32_MAX, &number);
		job->pid = (pid_t)number;
		break;
	case OPT_RANGE:
		fine = read_range(value, &job->place.place);
		break;
	case OPT_MIN:
		fine = cli_parse_size(value, &job->place.place.min_bytes);
		break;
	case OPT_STEP:
		fine = read_number(value, 1, 60000, &job->place.place.step_ms);
		break;
	case OPT_BUSY:
		fine = read_number(value, 1, 100, &job->place.place.busy_percent);
		break;
	default:
		job->record_path = value;
	}
	return fine;
}

static void take_switch(int option, struct place_job *job)
{
	struct place_options *place = &job->place.place;

	place->dry_run |= option == OPT_DRY_RUN;
	place->once |= option == OPT_ONCE;
	place->compact |= option == OPT_COMPACT;
	place->despite_never |= option == OPT_DESPITE_NEVER;
	place->no_collapse |= option == OPT_NO_COLLAPSE;
	place->no_spread |= option == OPT_NO_SPREAD;
	job->watch |= option == OPT_WATCH;
	job->undo |= option == OPT_UNDO;
	job->json |= option == OPT_JSON;
}

/** Return: CLI_OK, CLI_USAGE; -1: help was printed. */
static int read_arguments(int argc, char **argv, struct place_job *job)
{
	struct cli_args args = { .argc = argc, .argv = argv, .at = 1 };
	int option;

	while ((option = cli_next(&args, &cli_place)) != CLI_ARG_END) {
		if (option == CLI_ARG_WRONG)
			return CLI_USAGE;
		if (option == CLI_ARG_PLAIN) {
			cli_error("%s: not an option; a process is named by --pid", args.value);
			cli_hint("try", "hashdist place --help");
			return CLI_USAGE;
		}
		if (option == OPT_HELP) {
			cli_print_help(&cli_place);
			return -1;
		}
		if (!options[option].arg)
			take_switch(option, job);
		else if (!take_value(option, args.value, job))
			return wrong_value(option, args.value);
	}
	if (!job->pid)
		cli_error("which process? --pid is missing");
	else if (job->undo && (job->watch || job->place.place.no_spread))
		cli_error("--undo goes with neither --watch nor --no-spread");
	else if (job->watch && job->place.place.dry_run)
		cli_error("--watch with --dry-run would do nothing for ever");
	else
		return CLI_OK;
	cli_hint("try", "hashdist place --help");
	return CLI_USAGE;
}

static int run(int argc, char **argv)
{
	struct place_job job = { .place = { .limits = { .budget_ms = 2000 } } };
	int status = read_arguments(argc, argv, &job);

	if (status)
		return status < 0 ? CLI_OK : status;
	if (!job.place.place.min_bytes)
		job.place.place.min_bytes = 8 << 20;
	/* A range may lie in a mapping that is smaller than that. */
	job.place.limits.min_bytes = job.place.place.to ? 1 : job.place.place.min_bytes;
	job.place.place.stop = &stop;
	catch_signals();
	status = place_job_run(&job);
	if (stop && status != CLI_FAILED)
		cli_error("stopped: what was done so far stays, the process is whole");
	return stop ? CLI_FAILED : status;
}

const struct cli_verb cli_place = {
	.name = "place",
	.synopsis = "--pid PID [OPTION...]",
	.help = "mend the large mappings of a running process",
	.options = options,
	.run = run,
};

/* SPDX-License-Identifier: MIT */
/*
 * report_pid.c - hashdist report --pid, --all: what is asked, and how it ends
 */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/pid_reading.h"
#include "cli/process_view.h"

enum { MIN_MIB = 8, BUDGET_MS = 2000 };

int report_pid_add(struct report_pid_options *options, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || pid < 1 || pid > INT32_MAX) {
		cli_error("--pid: '%s' is not the number of a process", text);
		cli_hint("try", "pgrep -l NAME");
		return CLI_USAGE;
	}
	options->pid[options->pids++] = (pid_t)pid;
	return CLI_OK;
}

static int take_limits(struct pid_reading *reading)
{
	const struct report_pid_options *options = reading->options;
	char *end;
	unsigned long ms;

	reading->limits = (struct process_limits){ MIN_MIB << 20, BUDGET_MS };
	if (options->min && !cli_parse_size(options->min, &reading->limits.min_bytes)) {
		cli_error("--min: '%s' is no size", options->min);
		cli_hint("try", "--min 2M");
		return CLI_USAGE;
	}
	if (!options->budget)
		return CLI_OK;
	ms = strtoul(options->budget, &end, 10);
	if (*options->budget < '0' || *options->budget > '9' || *end || ms > 24 * 3600 * 1000) {
		cli_error("--budget: '%s' is no number of milliseconds up to a day",
			  options->budget);
		cli_hint("try", "--budget 10000");
		return CLI_USAGE;
	}
	reading->limits.budget_ms = (uint32_t)ms;
	return CLI_OK;
}

static int worst(const struct pid_reading *reading)
{
	if (reading->failed)
		return CLI_FAILED;
	for (uint32_t p = 0; p < reading->processes; p++)
		if (process_verdict(reading->process[p]) > HD_V_UNKNOWN)
			return CLI_VERDICT;
	return CLI_OK;
}

int report_pid(const struct report_pid_options *options)
{
	struct pid_reading reading = { .options = options };
	int status = take_limits(&reading);

	if (!status)
		status = pid_reading_make(&reading);
	if (!status && (reading.processes || options->all || options->json || options->metrics))
		status = pid_reading_show(&reading);
	if (!status) {
		pid_reading_say_blind(&reading);
		status = worst(&reading);
	}
	pid_reading_free(&reading);
	return status;
}

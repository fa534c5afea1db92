/* SPDX-License-Identifier: MIT */
/*
 * measure.c - hashdist measure: what does placing its large tables buy a program?
 *
 * Each setting is rehearsed first, in a process that is thrown away: so what it has to
 * say is said once, and what cannot work is found before anything is measured.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/plot.h"

/* ---- before --------------------------------------------------------------------------------- */

static int not_started(const char *command, int error)
{
	cli_error("%s: %s", command, error == ENOENT ? "no such program" : strerror(error));
	return error == ENOENT ? COMMAND_NOT_FOUND : COMMAND_NOT_EXECUTABLE;
}

/** Return: what the setting's process would end with; CLI_OK: it may begin. */
static int rehearse(const struct ab_options *opt, int side)
{
	const struct command_setting *setting = &opt->want.setting[side];
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* What is printed there is no figure. */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		_exit(setting->ready(setting->arg, opt->want.argv));
	}
	if (pid < 0) {
		cli_error("fork: %s", strerror(errno));
		return CLI_FAILED;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			cli_error("waitpid: %s", strerror(errno));
			return CLI_FAILED;
		}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
}

static int check(const struct ab_options *opt)
{
	struct run_program program;
	int error = run_look(opt->want.argv[0], &program), status = CLI_OK;

	if (error)
		return not_started(opt->want.argv[0], -error);
	if (opt->want.input && access(opt->want.input, R_OK)) {
		cli_error("--input: %s: %s", opt->want.input, strerror(errno));
		return CLI_FAILED;
	}
	if (opt->plot)
		status = plot_ready(opt->plot);
	for (int side = 0; status == CLI_OK && side < 2; side++)
		status = rehearse(opt, side);
	return status;
}

/** Is there a setting that a preload cannot give this program? The rehearsal has said so. */
static bool is_unreached(const struct ab_options *opt)
{
	struct run_program program;

	if (run_look(opt->want.argv[0], &program) || program.reach == RUN_REACHED)
		return false;
	for (int side = 0; side < 2; side++) {
		const char *run = opt->setting[side].run;

		if (run && !strstr(run, "from-outside"))
			return true;
	}
	return false;
}

/* ---- measuring -------------------------------------------------------------------------------- */

/* For who waits before a terminal; nothing of it stays. */
static void show_progress(void *arg, uint32_t round, int setting)
{
	const struct ab_options *opt = arg;

	if (round)
		fprintf(stderr, "\rhashdist: run %u of %u, %c\033[K", round,
			opt->want.runs + opt->want.fault_runs, 'A' + setting);
	else
		fprintf(stderr, "\rhashdist: warming up, %c\033[K", 'A' + setting);
}

/** "exit status 2", "killed by signal 9 (Killed)" */
static void ending_text(int wait_status, char *out, size_t size)
{
	if (WIFSIGNALED(wait_status))
		snprintf(out, size, "killed by signal %d (%s)", WTERMSIG(wait_status),
			 strsignal(WTERMSIG(wait_status)));
	else
		snprintf(out, size, "exit status %d", WEXITSTATUS(wait_status));
}

static int say_failed(const struct ab *m)
{
	const struct command_result *r = &m->result;
	char ending[128], round[32] = "warming up";

	ending_text(r->last.wait_status, ending, sizeof(ending));
	if (r->round)
		snprintf(round, sizeof(round), "run %u", r->round);
	if (r->end == COMMAND_PREPARE_FAILED) {
		cli_error("--prepare, %s of %c: %s", round, 'A' + r->setting, ending);
		return CLI_FAILED;
	}
	cli_error("%s, %s of %c (%s): %s", m->opt->want.argv[0], round, 'A' + r->setting,
		  m->opt->setting[r->setting].name, ending);
	if (!m->opt->want.show_output)
		cli_hint("try", "--show-output, to see what it says");
	cli_hint("or", "--ignore-failure, to go on");
	return CLI_FAILED;
}

/** How it ended. Return: an exit status. */
static int say_end(const struct ab *m)
{
	const struct command_result *r = &m->result;

	switch (r->end) {
	case COMMAND_DONE:
		return CLI_OK;
	case COMMAND_INTERRUPTED:
		cli_error("ended by signal %d, after %u of %u runs", r->last.signal, r->runs,
			  m->opt->want.runs);
		return 128 + r->last.signal;
	case COMMAND_NOT_READY:
		cli_error("%c (%s): could not be set up", 'A' + r->setting,
			  m->opt->setting[r->setting].name);
		return r->last.ready_status;
	case COMMAND_NOT_STARTED:
		return not_started(m->opt->want.argv[0], -r->last.exec_error);
	default:
		return say_failed(m);
	}
}

static int no_memory(void)
{
	cli_error("out of memory");
	return CLI_FAILED;
}

/** @sample: room for three times as many as there are rounds of @figure. */
static int sum_up_figure(struct ab *m, enum command_figure figure, double *sample)
{
	uint32_t rounds = command_samples(&m->result, figure);

	for (int side = 0; side < 2; side++) {
		double *all = sample + (size_t)side * rounds, *known = sample + (size_t)2 * rounds;
		uint32_t count = 0;

		for (uint32_t r = 0; r < rounds; r++) {
			all[r] = command_sample(&m->result, side, figure, r);
			if (all[r] >= 0)
				known[count++] = all[r];
		}
		m->stat[side][figure] = measure_summary(known, count);
	}
	return command_compare(sample, sample + rounds, rounds, &m->comparison[figure]);
}

/** Medians and comparisons of all rounds. */
static int sum_up(struct ab *m)
{
	double *sample = calloc((size_t)3 * m->result.room + 1, sizeof(*sample));
	int error = sample ? 0 : -ENOMEM;

	for (int f = 0; !error && f < COMMAND_FIGURES; f++)
		error = sum_up_figure(m, (enum command_figure)f, sample);
	free(sample);
	return error ? no_memory() : CLI_OK;
}

static int show(const struct ab *m)
{
	int status = m->opt->json ? ab_print_json(m) : ab_print_text(m);

	/* What could not be written is all that counts then; the end of the program says it. */
	if (fflush(stdout) || ferror(stdout))
		return CLI_FAILED;
	if (status == CLI_OK && m->opt->plot)
		status = ab_draw(m);
	return status;
}

static int failed(int error)
{
	if (error == -EINTR)
		cli_error("ended by a signal, before the first run");
	else
		cli_error("%s", strerror(-error));
	return error == -EINTR ? 128 + SIGINT : CLI_FAILED;
}

static int measure_and_show(struct ab *m)
{
	struct command_want want = m->opt->want;
	int error, status, shown = CLI_OK;

	if (isatty(STDERR_FILENO) && !want.show_output) {
		want.progress = show_progress;
		want.arg = (void *)(uintptr_t)m->opt;
	}
	error = command_overhead(&want, &m->overhead);
	if (error)
		return failed(error);
	error = command_rounds(&want, &m->result);
	if (want.progress)
		fputs("\r\033[K", stderr);
	if (error)
		return failed(error);
	status = say_end(m);
	/* What was measured before a run that failed is worth seeing. */
	if (m->result.runs)
		shown = sum_up(m);
	if (m->result.runs && shown == CLI_OK)
		shown = show(m);
	if (status != CLI_OK || shown != CLI_OK)
		return status != CLI_OK ? status : shown;
	return is_unreached(m->opt) || m->result.failures[0] || m->result.failures[1] ? CLI_VERDICT
										      : CLI_OK;
}

int ab_run(int argc, char **argv)
{
	struct ab_options opt;
	struct ab *m;
	char *command;
	int status = ab_parse(argc, argv, &opt);

	if (status != CLI_OK)
		return status == -1 ? CLI_OK : status;
	status = check(&opt);
	if (status != CLI_OK)
		return status;
	m = calloc(1, sizeof(*m));
	command = bench_command(argc, argv);
	if (!m || !command) {
		free(m);
		free(command);
		return no_memory();
	}
	m->opt = &opt;
	m->command = command;
	bench_facts_read(&m->facts);
	status = measure_and_show(m);
	command_free(&m->result);
	free(command);
	free(m);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * run.c - hashdist run: start a program with its large tables placed right
 *
 * This process becomes the program. Nothing of it stays but two variables of the
 * environment, which the preloaded library takes out again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run.h"

enum { SCAN_MS = 100, SCAN_MS_MAX = 3600000, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

static const struct cli_option options[] = {
	{ "min", 'm', "SIZE", "smaller blocks are left alone (default: two huge pages)" },
	{ "nodes", 'n', "HOW", "spread over the memory nodes, one, or auto (default)" },
	{ "scan", 's', "MS", "shortest pause between two scans (default 100); 0: never" },
	{ "no-hooks", 0, NULL, "do not advise blocks when they are handed out; scan only" },
	{ "children", 0, NULL, "programs that CMD starts, too" },
	{ "from-outside", 0, NULL, "preload nothing; look after CMD from another process" },
	{ "explain", 'e', "[=FILE]", "a line per decision, to FILE or standard error" },
	{ "help", 'h', NULL, "show this" },
	{ 0 },
};

enum {
	OPT_MIN,
	OPT_NODES,
	OPT_SCAN,
	OPT_NO_HOOKS,
	OPT_CHILDREN,
	OPT_FROM_OUTSIDE,
	OPT_EXPLAIN,
	OPT_HELP
};

static int run(int argc, char **argv);

const struct cli_verb cli_run = {
	"run",
	"[OPTION...] [--] CMD [ARG...]",
	"start a program with its large tables placed right",
	options,
	run,
};

/* ---- options -------------------------------------------------------------------------------- */

static int take_nodes(struct run_options *opt, const char *value)
{
	static const char *const words[] = { "auto", "one", "spread" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(value, words[i])) {
			opt->nodes = (enum run_nodes)i;
			return CLI_OK;
		}
	cli_error("--nodes: '%s' is none of auto, one and spread", value);
	return CLI_USAGE;
}

static int take_scan(struct run_options *opt, const char *value)
{
	char *end;
	unsigned long ms = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || ms > SCAN_MS_MAX) {
		cli_error("--scan: '%s' is no count of milliseconds up to %d", value, SCAN_MS_MAX);
		return CLI_USAGE;
	}
	opt->preload.scan_ms = ms;
	return CLI_OK;
}

static int take_explain(struct run_options *opt, const char *value)
{
	char *path = opt->preload.explain_path, here[PATH_MAX] = "";
	size_t size = sizeof(opt->preload.explain_path);

	opt->preload.explain = true;
	if (!value)
		return CLI_OK;
	/* The program may change its directory. */
	if (*value != '/' && !getcwd(here, sizeof(here))) {
		cli_error("--explain: %s", strerror(errno));
		return CLI_FAILED;
	}
	if (!*value ||
	    (size_t)snprintf(path, size, "%s%s%s", here, *here ? "/" : "", value) >= size) {
		cli_error("--explain: not a path: '%s'", value);
		return CLI_USAGE;
	}
	return CLI_OK;
}

/** Return: CLI_OK to go on; -1: done; another exit status. */
static int take_option(struct run_options *opt, int which, const char *value)
{
	switch (which) {
	case OPT_MIN:
		if (cli_parse_size(value, &opt->preload.min_bytes))
			return CLI_OK;
		cli_error("--min: '%s' is no size such as 4M", value);
		return CLI_USAGE;
	case OPT_NODES:
		return take_nodes(opt, value);
	case OPT_SCAN:
		return take_scan(opt, value);
	case OPT_NO_HOOKS:
		opt->preload.hooks = false;
		return CLI_OK;
	case OPT_CHILDREN:
		opt->preload.children = true;
		return CLI_OK;
	case OPT_FROM_OUTSIDE:
		opt->from_outside = true;
		return CLI_OK;
	case OPT_EXPLAIN:
		return take_explain(opt, value);
	default:
		cli_print_help(&cli_run);
		return -1;
	}
}

static int parse(int argc, char **argv, struct run_options *opt)
{
	struct cli_args args = { .argc = argc, .argv = argv, .at = 1 };
	int which, status = CLI_OK;

	while (status == CLI_OK && (which = cli_next(&args, &cli_run)) >= 0)
		status = take_option(opt, which, args.value);
	if (status != CLI_OK)
		return status;
	if (which == CLI_ARG_WRONG)
		return CLI_USAGE;
	/* The first word that is no option begins the command; what follows is its own. */
	if (which == CLI_ARG_PLAIN && strcmp(args.value, "--"))
		args.at--;
	opt->command = argv + args.at;
	if (!*opt->command) {
		cli_error("run: no command");
		cli_hint("try", "hashdist run -- CMD");
		return CLI_USAGE;
	}
	if (opt->from_outside && opt->preload.children) {
		cli_error("--from-outside looks after CMD alone, not after its children");
		return CLI_USAGE;
	}
	if (!opt->preload.hooks && !opt->preload.scan_ms && !opt->from_outside) {
		cli_error("--no-hooks and --scan 0 leave nothing to do");
		return CLI_USAGE;
	}
	return CLI_OK;
}

/* ---- the command ------------------------------------------------------------------------------ */

static int exec_failed(const char *command, int error)
{
	cli_error("%s: %s", command, error == ENOENT ? "no such program" : strerror(error));
	return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

static void say_unreached(const struct run_program *program, const struct run_options *opt)
{
	cli_error("%s: started as it is, a preload cannot reach it: %s", program->binary,
		  run_reach_text(program->reach));
	cli_hint("try", "hashdist run --from-outside -- %s", opt->command[0]);
}

/** Return: an exit status when something is missing, or CLI_OK. */
static int prepare(const struct run_options *opt, const struct run_program *program)
{
	char library[PATH_MAX];

	if (opt->from_outside) {
		uint32_t nodes = hdl_mask_count(&opt->preload.nodes);

		return run_outside(&opt->preload, nodes > 1) ? CLI_OK : CLI_FAILED;
	}
	if (program->reach != RUN_REACHED) {
		say_unreached(program, opt);
		/* A linker that cannot load it would say so, of this program and its children. */
		if (program->reach != RUN_STATIC && program->reach != RUN_GO_STATIC)
			return CLI_OK;
		if (!opt->preload.children)
			return CLI_OK;
	}
	if (!run_find_library(library, sizeof(library))) {
		cli_error("%s: cannot be read: %s", library, strerror(errno));
		cli_hint("try", "HASHDIST_PRELOAD=PATH, or install hashdist again");
		return CLI_FAILED;
	}
	return run_set_environment(&opt->preload, library) ? CLI_OK : CLI_FAILED;
}

int run_ready(int argc, char **argv, struct run_start *start)
{
	struct run_options opt = { .preload = { .scan_ms = SCAN_MS, .hooks = true } };
	int status = parse(argc, argv, &opt), error;

	if (status != CLI_OK)
		return status;
	start->command = opt.command;
	error = run_look(opt.command[0], &start->program);
	if (error)
		return exec_failed(opt.command[0], -error);
	run_ask_machine(&opt);
	return prepare(&opt, &start->program);
}

int run_become(const struct run_start *start)
{
	cli_children_as_before();
	/* execvp(3) would give to a shell what this kernel cannot run. */
	if (start->program.reach == RUN_FOREIGN)
		execv(start->program.path, start->command);
	else
		execvp(start->command[0], start->command);
	return -errno;
}

static int run(int argc, char **argv)
{
	struct run_start start;
	int status = run_ready(argc, argv, &start);

	if (status != CLI_OK)
		return status == -1 ? CLI_OK : status;
	return exec_failed(start.command[0], -run_become(&start));
}

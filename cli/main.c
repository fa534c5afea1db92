/* SPDX-License-Identifier: MIT */
/*
 * main.c - hashdist VERB: finds the verb
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"

static const struct cli_verb *const verbs[] = { &cli_report, &cli_plan,    &cli_run,
						&cli_place,  &cli_measure, &cli_bench };
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static void usage(FILE *to)
{
	fputs("usage: hashdist VERB [OPTION...]\n\nlarge hash tables, placed right\n\n", to);
	for (int v = 0; v < VERBS; v++)
		fprintf(to, "  %-10s %s\n", verbs[v]->name, verbs[v]->help);
	fputs("\n  hashdist VERB --help    the options of a verb\n"
	      "  hashdist --version      this version\n\nmanual: hashdist(1)\n",
	      to);
}

static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		cli_error("cannot write to standard output");
		return CLI_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word) {
		usage(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
		usage(stdout);
		return finish(CLI_OK);
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		puts("hashdist " HASHDIST_VERSION);
		return finish(CLI_OK);
	}
	cli_children_take();
	cli_json_watch();
	for (int v = 0; v < VERBS; v++)
		if (!strcmp(word, verbs[v]->name))
			return finish(verbs[v]->run(argc - 1, argv + 1));
	cli_error("%s: no such verb", word);
	cli_hint("try", "hashdist --help");
	return CLI_USAGE;
}

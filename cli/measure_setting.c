/* SPDX-License-Identifier: MIT */
/*
 * measure_setting.c - the words of a setting, and what they do to the command's process
 *
 *   as-is                   nothing
 *   run[:OPTION,...]        hashdist run, with its long options: run:min=8M,children
 *   thp-off                 no transparent huge pages, for it and all it starts
 *   env:NAME=VALUE          a variable of the environment
 *   malloc:NAME=VALUE       a tunable of the GNU C library's malloc()
 *
 * Several are given one by one, and hold together.
 *
 * Source: PR_SET_THP_DISABLE in prctl(2); GLIBC_TUNABLES in the GNU C library's manual.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "cli/cli.h"
#include "cli/measure.h"

enum { RUN_WORDS_MAX = 32 };

static bool is(const char *word, const char *head)
{
	return !strncmp(word, head, strlen(head));
}

static const char *behind(const char *word)
{
	return strchr(word, ':') + 1;
}

/* ---- reading them ------------------------------------------------------------------------ */

static bool is_assignment(const char *text)
{
	const char *equals = strchr(text, '=');

	return equals && equals != text;
}

static int unknown(const char *option, const char *word)
{
	cli_error("%s: '%s' is no setting", option, word);
	cli_hint("try", "as-is, run, run:min=8M, thp-off, env:NAME=VALUE, malloc:hugetlb=1");
	return CLI_USAGE;
}

static bool has(const struct ab_setting *setting, const char *word)
{
	for (uint32_t w = 0; w < setting->words; w++)
		if (!strcmp(setting->word[w], word))
			return true;
	return false;
}

int ab_setting_add(struct ab_setting *setting, const char *option, const char *word)
{
	bool run = !strcmp(word, "run") || is(word, "run:");

	if (!run && strcmp(word, "as-is") != 0 && strcmp(word, "thp-off") != 0 &&
	    !(is(word, "env:") && is_assignment(behind(word))) &&
	    !(is(word, "malloc:") && is_assignment(behind(word))))
		return unknown(option, word);
	if (setting->words == AB_WORDS_MAX || (run && setting->run)) {
		cli_error("%s: '%s': %s", option, word,
			  run ? "run is there already" : "too many words");
		return CLI_USAGE;
	}
	setting->word[setting->words++] = word;
	if (run)
		setting->run = word + strlen("run") + (word[3] == ':');
	if (has(setting, "as-is") && setting->words > 1) {
		cli_error("%s: as-is goes with nothing else", option);
		return CLI_USAGE;
	}
	if (has(setting, "thp-off") && setting->run) {
		cli_error("%s: run would undo thp-off", option);
		return CLI_USAGE;
	}
	return CLI_OK;
}

void ab_setting_finish(struct ab_setting *setting, const char *word)
{
	size_t len = 0;

	if (!setting->words)
		ab_setting_add(setting, "", word);
	for (uint32_t w = 0; w < setting->words && len < sizeof(setting->name); w++)
		len += (size_t)snprintf(setting->name + len, sizeof(setting->name) - len, "%s%s",
					w ? " + " : "", setting->word[w]);
}

/* ---- in the process that becomes the command ----------------------------------------------- */

static int no_memory(void)
{
	cli_error("out of memory");
	return CLI_FAILED;
}

static int set(const char *assignment)
{
	char *copy = strdup(assignment), *equals = copy ? strchr(copy, '=') : NULL;
	int error = !equals;

	if (equals) {
		*equals = '\0';
		error = setenv(copy, equals + 1, 1);
	}
	free(copy);
	return error ? no_memory() : CLI_OK;
}

/** Behind the tunables that are there, so that ours wins. */
static int set_tunable(const char *assignment)
{
	const char *before = getenv("GLIBC_TUNABLES");
	char *all;
	int status;

	if (asprintf(&all, "GLIBC_TUNABLES=%s%sglibc.malloc.%s", before ? before : "",
		     before && *before ? ":" : "", assignment) < 0)
		return no_memory();
	status = set(all);
	free(all);
	return status;
}

/** "min=8M,children" as words: --min=8M --children. Return: how many; @out is the copy they are in. */
static int split_options(const char *options, char **word, char *out, size_t size)
{
	int words = 0;
	char *to = out;

	for (const char *at = options; *at && words < RUN_WORDS_MAX;) {
		size_t len = strcspn(at, ",");
		int n = snprintf(to, size - (size_t)(to - out), "--%.*s", (int)len, at);

		if ((size_t)n >= size - (size_t)(to - out))
			break;
		word[words++] = to;
		to += n + 1;
		at += len + (at[len] == ',');
	}
	return words;
}

/** Ready as hashdist run would be: it is the same function. */
static int ready_to_run(struct ab_setting *setting, char **argv)
{
	/* The command's words are used until it is executed. */
	static char verb[] = "run", end[] = "--", text[4096];
	int words = 1, more = 0, status;
	char **all;

	while (argv[more])
		more++;
	all = calloc((size_t)(RUN_WORDS_MAX + more + 3), sizeof(*all));
	if (!all)
		return no_memory();
	all[0] = verb;
	words += split_options(setting->run, all + 1, text, sizeof(text));
	all[words++] = end;
	memcpy(all + words, argv, (size_t)(more + 1) * sizeof(*argv));
	status = run_ready(words + more, all, &setting->start);
	if (status != CLI_OK)
		free(all);
	/* It has shown its help: no way to start a command. */
	return status == -1 ? CLI_USAGE : status;
}

int ab_setting_ready(void *arg, char **argv)
{
	struct ab_setting *setting = arg;
	int status = CLI_OK;

	for (uint32_t w = 0; status == CLI_OK && w < setting->words; w++) {
		const char *word = setting->word[w];

		if (is(word, "env:"))
			status = set(behind(word));
		else if (is(word, "malloc:"))
			status = set_tunable(behind(word));
		else if (!strcmp(word, "thp-off") && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)) {
			cli_error("thp-off: this kernel cannot switch them off for one process");
			status = CLI_FAILED;
		}
	}
	if (status == CLI_OK && setting->run)
		status = ready_to_run(setting, argv);
	return status;
}

int ab_setting_become(void *arg, char **argv)
{
	struct ab_setting *setting = arg;

	if (setting->run)
		return run_become(&setting->start);
	setting->start.command = argv;
	setting->start.program.reach = RUN_REACHED;
	return run_become(&setting->start);
}

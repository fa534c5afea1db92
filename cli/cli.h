/* SPDX-License-Identifier: MIT */
/*
 * cli.h - what all verbs share: exit codes, messages, options, children
 */
#ifndef HASHDIST_CLI_H
#define HASHDIST_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1, /* could not do it */
	CLI_USAGE = 2,
	CLI_VERDICT = 3, /* done, and a verdict is not ok */
};

/** One option of a verb; the last has name NULL. */
struct cli_option {
	const char *name; /* without dashes */
	char letter;      /* short form; 0 none */
	const char *arg;  /* name of its value; NULL: takes none; "[=NAME]": only behind a = */
	const char *help;
};

struct cli_verb {
	const char *name;
	const char *synopsis; /* behind "hashdist VERB" */
	const char *help;     /* one line */
	const struct cli_option *options;
	int (*run)(int argc, char **argv); /* argv[0] is the verb; returns enum cli_exit */
};

extern const struct cli_verb cli_bench;
extern const struct cli_verb cli_measure;
extern const struct cli_verb cli_place;
extern const struct cli_verb cli_plan;
extern const struct cli_verb cli_report;
extern const struct cli_verb cli_run;

/** "hashdist: ..." to stderr, with a line end. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** A second line under an error or note: "  try     ..." */
void cli_hint(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * cli_children_take() - let our children be waited for
 *
 * Where SIGCHLD is ignored, as some supervisors hand it on, the kernel forgets how a child
 * ended. A command that is started gets it back as it was, by cli_children_as_before().
 */
void cli_children_take(void);
void cli_children_as_before(void);

struct cli_args {
	int argc;
	char **argv;
	int at; /* next word */
	const char *value;
	const char *word; /* the word that was wrong, after CLI_ARG_WRONG */
};

enum { CLI_ARG_END = -1, CLI_ARG_WRONG = -2, CLI_ARG_PLAIN = -3 };

/**
 * cli_next() - the next option or word of a command line
 * Return: index into @options (value in args->value), CLI_ARG_PLAIN (the word in
 * args->value), CLI_ARG_END, or CLI_ARG_WRONG after having said what is wrong.
 */
int cli_next(struct cli_args *args, const struct cli_verb *verb);
void cli_print_help(const struct cli_verb *verb);

/** "32 MiB", "1.5 MiB", "12 KiB" into @out; returns @out. */
char *cli_size(char *out, size_t size, unsigned long long bytes);
/** Reads "4096", "64K", "8M", "1.5G", "2T" into bytes. Return: false when it is no size, or 0. */
bool cli_parse_size(const char *word, uint64_t *bytes);
/** "4K", "2M", "1G": a page of 2^@shift bytes. */
char *cli_page(char *out, size_t size, unsigned shift);

#endif

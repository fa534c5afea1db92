/* SPDX-License-Identifier: MIT */
/* run.h - the parts of hashdist run */
#ifndef HASHDIST_CLI_RUN_H
#define HASHDIST_CLI_RUN_H

#include <limits.h>
#include <stdbool.h>

#include "preload/options.h"

enum run_nodes { NODES_AUTO, NODES_ONE, NODES_SPREAD };

/** As given, and what the machine makes of it. */
struct run_options {
	struct preload_options preload;
	enum run_nodes nodes;
	bool from_outside;
	char **command; /* NULL-terminated */
};

/** Can a preload reach a program? */
enum run_reach {
	RUN_REACHED,
	RUN_STATIC,     /* it has no dynamic linker */
	RUN_GO_STATIC,  /* the same, written in Go */
	RUN_PRIVILEGED, /* set-user-ID and the like: the linker preloads nothing */
	RUN_FOREIGN,    /* another architecture or word size */
	RUN_OTHER_LIBC, /* its dynamic linker is not ours */
};

struct run_program {
	char path[PATH_MAX];   /* what the words of the command name */
	char binary[PATH_MAX]; /* what runs: the same, or a script's interpreter */
	enum run_reach reach;
};

/**
 * run_look() - find a program as execvp(3) does, and look at its file
 * Return: 0; -ENOENT: there is none; -EACCES: it may not be executed; another -errno.
 */
int run_look(const char *command, struct run_program *out);
/** "statically linked", ... */
const char *run_reach_text(enum run_reach reach);

/** A command that this process is ready to become. */
struct run_start {
	struct run_program program;
	char **command; /* NULL-terminated; of the words given */
};

/**
 * run_ready() - all that hashdist run does before it becomes the command
 * @argv: "run", its options, the command. Changes this process: environment, attributes.
 * Return: CLI_OK; -1: done (help); an exit status after having said why.
 */
int run_ready(int argc, char **argv, struct run_start *start);
/** Return: only when the command could not be executed, a negative errno. */
int run_become(const struct run_start *start);

/** The library to preload. Return: false when it is nowhere; @out is then where it should be. */
bool run_find_library(char *out, size_t size);
/** Both variables for the command that follows. Return: false after having said why. */
bool run_set_environment(const struct preload_options *options, const char *library);

/** Fill in what the machine decides; say what will not be had. */
void run_ask_machine(struct run_options *options);

/**
 * run_explain() - one line of --explain, if that was given
 * @pid: the command; @what: which part of us speaks, after the words of a range: "0-0 0 start"
 */
void run_explain(const struct preload_options *options, int pid, const char *what,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/**
 * run_outside() - start a companion that looks after this process from outside
 * This process goes on to become the command; the companion is nobody's child.
 * Return: false after having said why.
 */
bool run_outside(const struct preload_options *options, bool spread);

#endif

/* SPDX-License-Identifier: MIT */
/* run.h - the parts of hashdist run */
#ifndef HASHDIST_CLI_RUN_H
#define HASHDIST_CLI_RUN_H

#include <limits.h>
#include <stdbool.h>

#include "preload/options.h"

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

/** The library to preload. Return: false when it is nowhere; @out is then where it should be. */
bool run_find_library(char *out, size_t size);
/** Both variables for the command that follows. Return: false after having said why. */
bool run_set_environment(const struct preload_options *options, const char *library);

/**
 * run_outside() - start a companion that looks after this process from outside
 * This process goes on to become the command; the companion is nobody's child.
 * Return: false after having said why.
 */
bool run_outside(const struct preload_options *options, bool spread);

#endif

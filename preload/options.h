/* SPDX-License-Identifier: MIT */
/*
 * options.h - what hashdist run tells the library it preloads
 *
 * One variable of the environment carries all of it:
 *
 *   HASHDIST_RUN=pid=71;min=4194304;most=8589934592;scan=100;huge=21;nodes=0-1;explain=/tmp/log
 *
 * The starter reads the machine once, so that a program's start-up reads nothing.
 */
#ifndef HASHDIST_PRELOAD_OPTIONS_H
#define HASHDIST_PRELOAD_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/linux/mask.h"

#define PRELOAD_VARIABLE "HASHDIST_RUN"
#define PRELOAD_LIBRARY  "libhashdist-run.so"

struct preload_options {
	uint64_t pid;                /* of the process that was started */
	uint64_t min_bytes;          /* smaller blocks are left alone; not 0 */
	uint64_t most_bytes;         /* larger ones will not be filled: no advice before they are */
	uint64_t scan_ms;            /* shortest pause between two scans; 0: no scanner */
	uint64_t huge_shift;         /* log2 bytes of a huge page; 0: this kernel has none */
	struct hdl_mask nodes;       /* to spread over; with fewer than two nothing is */
	bool weighted;               /* by the administrator's weights */
	bool hooks;                  /* advise blocks when they are handed out */
	bool children;               /* programs that this one starts, too */
	bool explain;                /* a line per decision */
	char explain_path[PATH_MAX]; /* absolute; "" standard error */
};

enum { PRELOAD_TEXT_MAX = PATH_MAX + 8192 };

/**
 * preload_options_print() - the variable's value
 * Return: its length, as snprintf(3): cut when that is @size or more.
 */
int preload_options_print(const struct preload_options *options, char *out, size_t size);
/**
 * preload_options_parse() - the same back; allocates nothing, safe before main()
 * Words it does not know are passed over. Return: false when a needed one is missing or wrong.
 */
bool preload_options_parse(const char *text, struct preload_options *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * source.h - one machine's books and log, for the verbs that look at one machine
 */
#ifndef HASHDIST_CLI_SOURCE_H
#define HASHDIST_CLI_SOURCE_H

#include "klog/klog.h"
#include "machine/machine.h"

struct cli_source {
	struct machine *books;  /* NULL: only a log */
	struct klog_boot *boot; /* NULL: no log */
	char note[160];         /* why the log is missing or cut; empty: it is there */
	const char *remedy;     /* what would show it; NULL */
	bool show_damaged;      /* print lines that were not understood to stderr */
	struct klog_boot *store;
};

/**
 * cli_source_machine() - this machine, or one saved in @sysroot
 * Return: true; false after having said what is wrong. Close in either case.
 */
bool cli_source_machine(struct cli_source *source, const char *sysroot);
/** cli_source_log() - the last boot of a log file; "-" is standard input. Likewise. */
bool cli_source_log(struct cli_source *source, const char *file);
/** Say which books are there and could not be read, of those that tell how tables are made. */
void cli_source_say_unread(const struct cli_source *source);
void cli_source_close(struct cli_source *source);

/** Opens a log for reading. Return: a descriptor; -1 after having said why not. */
int cli_open_log(const char *file);
/** Says why nothing, or not all, was read. Return: whether there was a boot and no error. */
bool cli_log_was_read(const char *file, int error, const struct klog_stats *stats);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * log_segments.h - read one large file of many boots with all processors
 *
 * Boots come in the order of the file, as if one reader had read it. What is made of a
 * boot, and what a result is, only the caller knows.
 */
#ifndef HASHDIST_CLI_LOG_SEGMENTS_H
#define HASHDIST_CLI_LOG_SEGMENTS_H

#include "klog/klog.h"

enum {
	LOG_SEGMENTS_RESULT_MAX = 2048,
	LOG_SEGMENTS_NO_THREADS = 1, /* nothing was read */
};

struct log_segments_job {
	void *ctx;
	/** What one thread needs for itself; NULL: out of memory. Called from the caller's thread. */
	void *(*open)(void *ctx);
	void (*close)(void *worker);
	/** In any thread: a boot's result in @out. Return: its bytes; 0: it has none. */
	size_t (*work)(void *worker, const struct klog_boot *boot, void *out);
	/** In the caller's thread: results by and by. Boots count lines from @lines on. */
	void (*take)(void *ctx, const void *result, uint64_t lines);
};

/** Is it worth it, and are there two boots at least? Leaves the file's position alone. */
bool log_segments_fit(int fd);

/**
 * log_segments_read() - all of the file
 * Fills bytes, lines, boots and damaged of @stats. Return: 0; -errno of the first read that
 * failed, or -ENOMEM; LOG_SEGMENTS_NO_THREADS.
 */
int log_segments_read(int fd, const struct log_segments_job *job, struct klog_stats *stats);

#endif

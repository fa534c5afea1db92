/* SPDX-License-Identifier: MIT */
/*
 * expect.h - what tests of single lines share: one boot, collected
 */
#ifndef HASHDIST_TESTS_KLOG_EXPECT_H
#define HASHDIST_TESTS_KLOG_EXPECT_H

#include "collect.h"

static struct collected got;

#define FIGURES "Dentry cache hash table entries: 262144 (order: 9, 2097152 bytes, linear)"

/** @text holds one table and nothing else of note. */
static inline const struct klog_table *only_table(const char *text)
{
	collect(&got, text);
	if (got.boots != 1 || got.boot[0].tables != 1 || got.damaged != 0)
		fail_msg("%u boots, %u tables, %u damaged in: %s", got.boots,
			 got.boots ? got.boot[0].tables : 0, got.damaged, text);
	return &got.boot[0].table[0];
}

static inline void expect_dentry(const char *text)
{
	const struct klog_table *t = only_table(text);

	if (strcmp(t->name, "Dentry cache") != 0 || t->entries != 262144 || t->order != 9 ||
	    t->bytes != 2097152 || t->mapping != HD_MAP_LINEAR)
		fail_msg("'%s' %d entries, order %d, %d bytes, mapping %d in: %s", t->name,
			 (int)t->entries, t->order, (int)t->bytes, t->mapping, text);
}

static inline int release(void **state)
{
	(void)state;
	collect_free(&got);
	return 0;
}

#endif

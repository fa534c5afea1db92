/* SPDX-License-Identifier: MIT */
/*
 * collect.h - feed text to a reader and keep the boots it finds
 */
#ifndef TESTS_KLOG_COLLECT_H
#define TESTS_KLOG_COLLECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "klog/klog.h"

enum { COLLECT_MAX = 16 };

struct collected {
	struct klog_boot *boot; /* COLLECT_MAX of them */
	unsigned boots;
	unsigned damaged;
	uint64_t damaged_line; /* of the last one */
	struct klog_stats stats;
};

static void collect_boot(void *ctx, const struct klog_boot *boot)
{
	struct collected *c = ctx;

	if (c->boots < COLLECT_MAX)
		c->boot[c->boots] = *boot;
	c->boots++;
}

static void collect_damaged(void *ctx, const char *line, size_t len, uint64_t number)
{
	struct collected *c = ctx;

	(void)line;
	(void)len;
	c->damaged++;
	c->damaged_line = number;
}

/** Nothing is collected yet. */
static inline void collect_begin(struct collected *c)
{
	c->boots = c->damaged = 0;
	c->damaged_line = 0;
	if (!c->boot)
		c->boot = calloc(COLLECT_MAX, sizeof(*c->boot));
	assert_non_null(c->boot);
}

/** Read @len bytes in pieces of @piece bytes. */
static void collect_bytes(struct collected *c, const char *text, size_t len, size_t piece)
{
	struct klog_sink sink = { c, collect_boot, collect_damaged };
	struct klog *log = klog_new(&sink);

	assert_non_null(log);
	collect_begin(c);
	for (size_t at = 0; at < len; at += piece) {
		/* a copy of its own, so that reading beyond the piece is seen */
		size_t n = len - at < piece ? len - at : piece;
		char *copy = malloc(n);

		assert_non_null(copy);
		memcpy(copy, text + at, n);
		klog_feed(log, copy, n);
		free(copy);
	}
	klog_finish(log);
	c->stats = *klog_stats(log);
	klog_free(log);
}

static inline void collect(struct collected *c, const char *text)
{
	collect_bytes(c, text, strlen(text), 1u << 16);
}

static inline void collect_free(struct collected *c)
{
	free(c->boot);
	c->boot = NULL;
}

static inline const struct klog_table *table_named(const struct klog_boot *boot, const char *name)
{
	for (uint32_t i = 0; i < boot->tables; i++)
		if (strcmp(boot->table[i].name, name) == 0)
			return &boot->table[i];
	return NULL;
}

static inline void same_tables(const struct klog_boot *a, const struct klog_boot *b)
{
	assert_int_equal(a->tables, b->tables);
	for (uint32_t i = 0; i < a->tables; i++) {
		const struct klog_table *s = &a->table[i], *t = &b->table[i];

		assert_string_equal(s->name, t->name);
		assert_int_equal(s->entries, t->entries);
		assert_int_equal(s->bytes, t->bytes);
		assert_int_equal(s->order, t->order);
		assert_int_equal(s->mapping, t->mapping);
	}
}

#endif

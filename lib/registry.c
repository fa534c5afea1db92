/* SPDX-License-Identifier: MIT */
/*
 * registry.c - tables by address, for hd_free(start) and its kind
 *
 * Buckets of linked tables under one lock; adding needs no memory, so that a
 * table that was taken out to be resized can always go back. A child of fork()
 * must not find tables there that were not given to it: memory that was dropped
 * at fork may by now be somebody else's. So the lock is held over fork(), and
 * the child takes such tables out. A table that another thread is resizing at
 * that moment is not in, and unknown to the child.
 */
#include <pthread.h>

#include "backend/linux/sys.h"
#include "lib/registry.h"

enum { BUCKETS_SHIFT = 8, BUCKETS = 1 << BUCKETS_SHIFT };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct lib_table *buckets[BUCKETS];

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
	for (int i = 0; i < BUCKETS; i++)
		for (struct lib_table **link = &buckets[i]; *link;) {
			struct lib_table *table = *link;

			if (table->region.wish.fork != HD_FORK_DROP) {
				link = &table->next;
				continue;
			}
			*link = table->next;
			hdl_mfree(table);
		}
	pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/** The link that leads to the table, or to the end of its bucket. With the lock held. */
static struct lib_table **find(const void *start)
{
	uint64_t mixed = (uintptr_t)start * 0x9e3779b97f4a7c15ULL;
	struct lib_table **link = &buckets[mixed >> (64 - BUCKETS_SHIFT)];

	while (*link && (*link)->start != start)
		link = &(*link)->next;
	return link;
}

void registry_add(struct lib_table *table)
{
	struct lib_table **link;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&lock);
	link = find(table->start);
	table->next = *link;
	*link = table;
	pthread_mutex_unlock(&lock);
}

bool registry_read(const void *start, struct lib_table *out)
{
	const struct lib_table *table;

	pthread_mutex_lock(&lock);
	table = *find(start);
	if (table)
		*out = *table;
	pthread_mutex_unlock(&lock);
	return table != NULL;
}

void registry_update(const struct lib_table *table)
{
	struct lib_table *kept;

	pthread_mutex_lock(&lock);
	kept = *find(table->start);
	if (kept) {
		struct lib_table *next = kept->next;

		*kept = *table;
		kept->next = next;
	}
	pthread_mutex_unlock(&lock);
}

struct lib_table *registry_take(const void *start)
{
	struct lib_table **link, *table;

	pthread_mutex_lock(&lock);
	link = find(start);
	table = *link;
	if (table)
		*link = table->next;
	pthread_mutex_unlock(&lock);
	return table;
}

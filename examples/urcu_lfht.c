/* SPDX-License-Identifier: MIT */
/*
 * urcu_lfht.c - the bucket tables of userspace-rcu's cds_lfht, placed right
 *
 * Needs liburcu 0.15 (December 2024), the first whose cds_lfht takes an allocator: struct
 * cds_lfht_alloc and cds_lfht_new_with_flavor_alloc(). Debian 12 has 0.13.2, which lacks
 * both. Its struct cds_lfht_mm_type is no way around: the functions in it fill fields of
 * struct cds_lfht, which is private to the library.
 *
 * The third argument, max_nr_buckets, must be 0. With a limit, on 64-bit machines, liburcu
 * reserves room for that many buckets with mmap(2), and asks the allocator for none of them.
 *
 * A table that grows gets a bucket table for each doubling, which is a table of its own here
 * from 2 MiB (131072 buckets) on. Minimum and initial size as below make it one from the start.
 */
#include <inttypes.h>
#include <stdio.h>

#include "large.h"

#include <urcu/urcu-memb.h>
#include <urcu/rculfhash.h>

static _Atomic size_t largest; /* table asked for, bytes; liburcu's own threads ask too */

static void *bucket_calloc(void *state, size_t n, size_t bytes)
{
	void *start = large_calloc(n, bytes);
	struct hd_got got;
	char text[256];

	(void)state;
	if (start && !hd_read_got(start, &got)) {
		hd_got_text(&got, text, sizeof(text));
		printf("urcu_lfht: buckets: %s\n", text);
		if (n * bytes > largest)
			largest = n * bytes;
	}
	return start;
}

static void *bucket_malloc(void *state, size_t bytes)
{
	(void)state;
	return large_malloc(bytes);
}

static void *bucket_realloc(void *state, void *start, size_t bytes)
{
	(void)state;
	return large_realloc(start, bytes);
}

static void *bucket_aligned_alloc(void *state, size_t alignment, size_t bytes)
{
	(void)state;
	return aligned_alloc(alignment, bytes);
}

static void bucket_free(void *state, void *start)
{
	(void)state;
	large_free(start);
}

static const struct cds_lfht_alloc placed = {
	.malloc = bucket_malloc,
	.calloc = bucket_calloc,
	.realloc = bucket_realloc,
	.aligned_alloc = bucket_aligned_alloc,
	.free = bucket_free,
};

struct square {
	uint64_t number;
	uint64_t square;
	struct cds_lfht_node node;
};

static unsigned long hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15;
	return (unsigned long)(key ^ key >> 32);
}

static int is_number(struct cds_lfht_node *node, const void *number)
{
	return caa_container_of(node, struct square, node)->number == *(const uint64_t *)number;
}

/* How many of the numbers below 2 * @n are not as they should be: squares below @n, no others. */
static uint64_t count_wrong(struct cds_lfht *table, uint64_t n)
{
	uint64_t wrong = 0;

	urcu_memb_read_lock();
	for (uint64_t i = 0; i < 2 * n; i++) {
		struct cds_lfht_iter iter;
		struct cds_lfht_node *node;

		cds_lfht_lookup(table, hash(i), is_number, &i, &iter);
		node = cds_lfht_iter_get_node(&iter);
		if (i >= n)
			wrong += node != NULL;
		else
			wrong +=
			    !node || caa_container_of(node, struct square, node)->square != i * i;
	}
	urcu_memb_read_unlock();
	return wrong;
}

static void fill(struct cds_lfht *table, struct square *all, uint64_t n)
{
	urcu_memb_read_lock();
	for (uint64_t i = 0; i < n; i++) {
		all[i].number = i;
		all[i].square = i * i;
		cds_lfht_add(table, hash(i), &all[i].node);
	}
	urcu_memb_read_unlock();
}

static void empty(struct cds_lfht *table, struct square *all, uint64_t n)
{
	urcu_memb_read_lock();
	for (uint64_t i = 0; i < n; i++)
		cds_lfht_del(table, &all[i].node);
	urcu_memb_read_unlock();
	urcu_memb_synchronize_rcu();
}

int main(void)
{
	enum { BUCKETS = 1 << 18, SQUARES = 1000000 };
	struct square *all = calloc(SQUARES, sizeof(*all));
	struct cds_lfht *table;
	uint64_t wrong;

	urcu_memb_register_thread();
	/* cds_lfht_new_flavor() with one argument more: */
	table = cds_lfht_new_with_flavor_alloc(BUCKETS, BUCKETS, 0,
					       CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING,
					       &urcu_memb_flavor, &placed /* <-- */, NULL);
	if (!all || !table)
		return EXIT_FAILURE;
	fill(table, all, SQUARES);
	wrong = count_wrong(table, SQUARES);
	if (wrong)
		fprintf(stderr, "urcu_lfht: %" PRIu64 " numbers are not as put there\n", wrong);
	if (largest < BUCKETS * sizeof(struct cds_lfht_node)) {
		fputs("urcu_lfht: the buckets are no table\n", stderr);
		wrong++;
	}
	empty(table, all, SQUARES);
	wrong += cds_lfht_destroy(table, NULL) != 0;
	urcu_memb_unregister_thread();
	free(all);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

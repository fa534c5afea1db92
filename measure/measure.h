/* SPDX-License-Identifier: MIT */
/*
 * measure.h - what one large table costs in each layout: to get, and to look things up in
 *
 * layouts.c  the layouts, and whether one was had
 * once.c     one table: got, measured, given back
 * runs.c     all layouts of one size, in turn, run by run
 * lookups.c  the loops that are timed
 * memset.c   the limit that getting a table is held against
 * books.c    what the kernel counts for this process, and the clock
 * cpu.c      keeps the loops on one CPU
 * stats.c    medians and percentiles
 *
 * Places tables through the public interface of libhashdist only, and prints
 * nothing. One thread at a time. Functions return 0 or a negative errno.
 */
#ifndef HASHDIST_MEASURE_H
#define HASHDIST_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hashdist/hashdist.h"

/* ---- stats.c ----------------------------------------------------------------------- */

/** Of one figure over several runs. */
struct measure_stat {
	uint32_t samples; /* 0: unknown, and so is the rest */
	double median;
	double low, high; /* 10th and 90th percentile; least and most of up to 9 samples */
};

/** The value of @percent (1 to 100) by nearest rank; @sorted: ascending, @count not 0. */
double measure_percentile(const double *sorted, uint32_t count, unsigned percent);
/** Sorts @sample. An even count's median is the mean of the two in the middle. */
struct measure_stat measure_summary(double *sample, uint32_t count);

/* ---- lookups.c --------------------------------------------------------------------- */

enum { MEASURE_WORD = sizeof(uint64_t) };

/** Buckets in a row; a lookup reads the first word of one. */
struct measure_table {
	unsigned char *start;  /* on a word's border */
	uint64_t bucket_bytes; /* a multiple of MEASURE_WORD, not 0 */
	uint64_t buckets;      /* not 0; below 2^32 where size_t has 32 bits */
};

struct measure_lookups {
	uint64_t done;
	uint64_t sum; /* of the words that were read: tells which buckets they were */
};

/** Gives each bucket a word of its own: an image of its number. */
void measure_fill(const struct measure_table *table);
/** Buckets from a generator that nothing has to wait for: many lookups are in flight. */
struct measure_lookups measure_independent(const struct measure_table *table, uint64_t count);
/** Each bucket from the word that was read before it: one after the other. */
struct measure_lookups measure_dependent(const struct measure_table *table, uint64_t count);

/* ---- books.c, memset.c, cpu.c -------------------------------------------------------- */

/** ns, of a clock that is never set. */
double measure_now_ns(void);
/** Page faults of this process and its threads so far, minor and major. */
uint64_t measure_faults(void);
/** A field such as "VmPTE" of a file such as /proc/self/status, in bytes; -1: not told. */
int64_t measure_book_bytes(const char *path, const char *field);
/** Zeroes @bytes with @threads at once. */
void measure_memset(void *start, size_t bytes, uint32_t threads);

struct measure_cpu {
	int cpu;                   /* -1: not told */
	unsigned long before[128]; /* the CPUs that were allowed, a bit each */
};

/** Remembers the CPU we are on as home. */
void measure_cpu_init(struct measure_cpu *home);
/** This thread to its home, and nowhere else until measure_cpu_release(). */
void measure_cpu_hold(const struct measure_cpu *home);
void measure_cpu_release(const struct measure_cpu *home);

/* ---- layouts.c ---------------------------------------------------------------------- */

struct measure_layout {
	const char *name;   /* "large-spread" */
	const char *pages;  /* "large" */
	const char *nodes;  /* "spread" */
	uint8_t want_pages; /* enum hd_want_pages */
	uint8_t want_nodes; /* enum hd_want_nodes */
};

enum {
	MEASURE_BASE_ONE, /* what the others are compared with */
	MEASURE_LARGE_ONE,
	MEASURE_BASE_SPREAD,
	MEASURE_LARGE_SPREAD,
	MEASURE_HUGETLB_ONE,
	MEASURE_HUGETLB_SPREAD,
	MEASURE_1G_ONE,
	MEASURE_1G_SPREAD,
	MEASURE_LAYOUTS,
	MEASURE_FOUR = (1 << MEASURE_HUGETLB_ONE) - 1, /* a bit per layout: without pools */
	MEASURE_POOL_2 = 1 << MEASURE_HUGETLB_ONE | 1 << MEASURE_HUGETLB_SPREAD,
};
extern const struct measure_layout measure_layouts[MEASURE_LAYOUTS];

/**
 * measure_had() - is a table that came out as @got what the layout wants?
 *
 * It is where the library says so, and where at least nine tenths of it are as wanted: on
 * larger pages than base ones, on one node, or, spread, no node with more than that. Pages
 * of a pool come all or not at all.
 */
bool measure_had(const struct measure_layout *layout, const struct hd_got *got);
/** Bytes on pages larger than the smallest of this machine. */
uint64_t measure_large_bytes(const struct hd_got *got);

/* ---- runs.c -------------------------------------------------------------------------- */

enum measure_figure {
	MEASURE_ALLOCATE_NS,    /* hd_alloc(): all of it populated */
	MEASURE_PAGE_NS,        /* the same, by the pages it got */
	MEASURE_FIRST_NS,       /* zeroing it once more, by as many threads */
	MEASURE_MEMSET_NS,      /* and again: the limit */
	MEASURE_MEMSET_RATIO,   /* the first of these by the last, run by run */
	MEASURE_FAULTS,         /* page faults of hd_alloc() */
	MEASURE_TABLE_BYTES,    /* page tables it took */
	MEASURE_INDEPENDENT_NS, /* one lookup */
	MEASURE_DEPENDENT_NS,
	MEASURE_INDEPENDENT_RATIO, /* to MEASURE_BASE_ONE in the same run */
	MEASURE_DEPENDENT_RATIO,
	MEASURE_FIGURES,
};

struct measure_want {
	uint64_t bytes;        /* of the table; at least a bucket */
	uint64_t bucket_bytes; /* a multiple of MEASURE_WORD */
	uint64_t lookups;      /* of each kind in each run; not 0 */
	uint32_t layouts;      /* a bit for each */
	uint32_t runs;         /* not 0; one more goes ahead to warm up, and is not counted */
	uint32_t threads;      /* that populate; not 0 */
	/* Called before each step, with the run, 0 the warm-up; may be NULL. */
	void (*progress)(void *arg, const struct measure_layout *layout, uint32_t run);
	void *arg;
};

/** One layout at one size. */
struct measure_row {
	const struct measure_layout *layout;
	uint64_t bytes;    /* asked for */
	bool had;          /* else nothing below stat is known */
	int error;         /* of an hd_alloc() that failed, negative; 0: none did */
	uint32_t runs;     /* in which it was had, without the warm-up */
	struct hd_got got; /* of the run that fell shortest */
	struct measure_stat stat[MEASURE_FIGURES];
	uint64_t lookups;                        /* done, of each kind in each run */
	uint64_t independent_sum, dependent_sum; /* the same in each run, or it is an error */
};

/**
 * measure_runs() - all layouts of one size, in turn: A B C, A B C, ...
 * @row: room for MEASURE_LAYOUTS; filled in their order, one for each that is wanted
 *
 * A layout that could not be had in the warm-up is not tried again.
 * Return: how many rows; -ENOMEM; -EIO: a table did not hold what was put there.
 */
int measure_runs(const struct measure_want *want, struct measure_row *row);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * once.c - one table: got, measured, given back
 *
 * Memory that the host of a virtual machine does not back is far slower at
 * first touch, and some guests tell their host of free memory within seconds,
 * which then takes it away. So a table of the same kind is got and given back
 * right before the one that counts, which gets the same memory.
 *
 * Where the processor has no page tables of its own for guests, memory that is
 * populated is slow once more when it is first used. So zeroing is timed twice,
 * and the second time is the limit that getting the table is held against.
 *
 * The loops run only over a table that is what its layout says.
 */
#include "measure/internal.h"

/** Pages it got; 0: the books do not tell of all. */
static uint64_t pages_of(const struct hd_got *got)
{
	uint64_t pages = 0;

	for (uint32_t p = 0; p < got->page_sizes; p++)
		if (got->page[p].page_bytes)
			pages += got->page[p].bytes / got->page[p].page_bytes;
	return got->pages_unknown ? 0 : pages;
}

static int64_t page_tables(void)
{
	return measure_book_bytes("/proc/self/status", "VmPTE");
}

static int allocate(const struct measure_want *want, const struct measure_layout *layout,
		    void **start, struct hd_got *got)
{
	const struct hd_want how = {
		.pages = layout->want_pages,
		.nodes = layout->want_nodes,
		.threads = want->threads,
		.name = "hashdist bench",
	};

	return hd_alloc((size_t)want->bytes, &how, start, got);
}

static void time_allocate(const struct measure_want *want, const struct measure_layout *layout,
			  void **start, struct measure_once *out)
{
	int64_t tables = page_tables(), tables_then;
	uint64_t faults = measure_faults(), pages;
	double ns = measure_now_ns();

	out->error = allocate(want, layout, start, &out->got);
	ns = measure_now_ns() - ns;
	faults = measure_faults() - faults;
	tables_then = page_tables();
	if (out->error)
		return;
	pages = pages_of(&out->got);
	out->value[MEASURE_ALLOCATE_NS] = ns;
	out->value[MEASURE_PAGE_NS] = pages ? ns / (double)pages : -1;
	out->value[MEASURE_FAULTS] = (double)faults;
	if (tables >= 0 && tables_then >= tables)
		out->value[MEASURE_TABLE_BYTES] = (double)(tables_then - tables);
}

static double time_memset(const struct measure_want *want, void *start)
{
	double ns = measure_now_ns();

	measure_memset(start, (size_t)want->bytes, want->threads);
	return measure_now_ns() - ns;
}

static void time_memsets(const struct measure_want *want, void *start, struct measure_once *out)
{
	double first = time_memset(want, start), again = time_memset(want, start);

	out->value[MEASURE_FIRST_NS] = first;
	out->value[MEASURE_MEMSET_NS] = again;
	out->value[MEASURE_MEMSET_RATIO] = again > 0 ? out->value[MEASURE_ALLOCATE_NS] / again : -1;
}

typedef struct measure_lookups loop(const struct measure_table *table, uint64_t count);

/** Another tenth goes ahead, so that caches are as they are in the midst of it. */
static double time_loop(loop *run, const struct measure_table *table, uint64_t count,
			struct measure_lookups *out)
{
	double ns;

	*out = run(table, count / 10 + 1);
	ns = measure_now_ns();
	*out = run(table, count);
	return (measure_now_ns() - ns) / (double)count;
}

static void time_lookups(const struct measure_want *want, void *start,
			 const struct measure_cpu *home, struct measure_once *out)
{
	const struct measure_table table = {
		.start = start,
		.bucket_bytes = want->bucket_bytes,
		.buckets = want->bytes / want->bucket_bytes,
	};

	measure_fill(&table);
	measure_cpu_hold(home);
	out->value[MEASURE_INDEPENDENT_NS] =
	    time_loop(measure_independent, &table, want->lookups, &out->independent);
	out->value[MEASURE_DEPENDENT_NS] =
	    time_loop(measure_dependent, &table, want->lookups, &out->dependent);
	measure_cpu_release(home);
}

/** Return: false: the table could not be given back. */
static bool warm_up(const struct measure_want *want, const struct measure_layout *layout)
{
	void *start;

	return allocate(want, layout, &start, NULL) || !hd_free(start);
}

void measure_once(const struct measure_want *want, const struct measure_layout *layout,
		  const struct measure_cpu *home, bool lookups, struct measure_once *out)
{
	void *start;

	*out = (struct measure_once){ .had = false };
	for (int figure = 0; figure < MEASURE_FIGURES; figure++)
		out->value[figure] = -1;
	/* Goes home, and stays there if the scheduler has no better idea. */
	measure_cpu_hold(home);
	measure_cpu_release(home);
	out->broken = lookups && !warm_up(want, layout);
	time_allocate(want, layout, &start, out);
	if (out->error)
		return;
	out->had = measure_had(layout, &out->got);
	if (out->had && lookups) {
		time_memsets(want, start, out);
		time_lookups(want, start, home, out);
	}
	out->broken |= hd_free(start) != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * populate.c - pages behind every byte of a region, chunk by chunk
 *
 * Between two chunks the limits are looked at again, since others take memory
 * meanwhile; after each, its huge pages are counted and what fell back to base
 * pages is collapsed while its neighbours are still warm: asking for gigabytes
 * in one go was seen to return success with a third of it on base pages.
 *
 * Where the kernel refuses memory policies (containers), a spread is reached by
 * first touch instead: threads that run on one node's CPUs populate its units.
 *
 * Kernels before 5.14 cannot populate on request: there each page is touched.
 * That could be the end of the program on hugetlb pages, so those are not tried.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "backend/linux/internal.h"

enum { CHUNK_SHIFT = 27, HUNGRY_BLOCKS = 8, AGAIN = 100 };

struct work {
	const struct hdl_region *region;
	const struct hdl_nodes *nodes;
	uint64_t from, bytes;
	uint64_t chunk;
	atomic_uint_least64_t next; /* offset of the next chunk */
	atomic_int error;           /* first error; ends all */
	atomic_uint collapsed;
	atomic_uint hungry; /* blocks in a row that could not be collapsed */
	atomic_uchar why;
	uint32_t node; /* by_node(): units of this node only */
};

/** A write that changes nothing: repair comes here while the table is in use. */
static int touch(char *at, uint64_t bytes, unsigned base_shift)
{
	for (uint64_t offset = 0; offset < bytes; offset += 1ULL << base_shift)
		__atomic_fetch_or(at + offset, 0, __ATOMIC_RELAXED);
	return 0;
}

/** Populate a stretch, which may be in use. */
static int fill(const struct hdl_region *region, char *at, uint64_t bytes)
{
	int error, tries = 0;

	do
		error = hdl_madvise(at, bytes, MADV_POPULATE_WRITE);
	while (error == -EINTR || (error == -EAGAIN && ++tries < AGAIN));
	if (error == -EINVAL && region->rung != HDL_HUGETLB)
		error = touch(at, bytes, region->base_shift);
	return error;
}

int hdl_refill(const struct hdl_region *region, uint64_t from, uint64_t bytes)
{
	return fill(region, region->start + from, bytes);
}

/** Give up on collapsing after some failures in a row: nothing free, and each try costs. */
static void mend(struct work *work, char *at, uint64_t bytes)
{
	const struct hdl_region *region = work->region;
	uint64_t block = 1ULL << region->shift, huge;

	if (region->rung != HDL_THP || !region->huge || hdl_scan_huge(at, bytes, &huge) ||
	    huge >= bytes >> region->shift << region->shift)
		return;
	for (uint64_t offset = 0; offset + block <= bytes; offset += block) {
		if (atomic_load(&work->hungry) >= HUNGRY_BLOCKS)
			return;
		if (hdl_scan_huge(at + offset, block, &huge) || huge == block)
			continue;
		if (hdl_madvise(at + offset, block, MADV_COLLAPSE)) {
			atomic_fetch_add(&work->hungry, 1);
		} else {
			atomic_store(&work->hungry, 0);
			atomic_fetch_add(&work->collapsed, 1);
		}
	}
}

static void *by_chunk(void *ctx)
{
	struct work *work = ctx;

	while (!atomic_load(&work->error)) {
		uint64_t offset = atomic_fetch_add(&work->next, work->chunk), bytes;
		char *at = work->region->start + work->from + offset;
		uint8_t why = 0;
		int error = 0;

		if (offset >= work->bytes)
			break;
		bytes = work->bytes - offset < work->chunk ? work->bytes - offset : work->chunk;
		if (offset && work->region->rung != HDL_HUGETLB)
			error = hdl_room_check(bytes, work->nodes, &why);
		if (error)
			atomic_store(&work->why, why);
		else
			error = fill(work->region, at, bytes);
		if (error)
			atomic_store(&work->error, error);
		else
			mend(work, at, bytes);
	}
	return NULL;
}

/** Units that belong to one node, by a thread that was sent to its CPUs. */
static void *by_node(void *ctx)
{
	struct work *work = ctx;
	const struct hdl_region *region = work->region;
	unsigned long cpus[HDL_NODES_MAX * 8 / HDL_WORD_BITS];
	uint64_t unit = 1ULL << region->shift;
	int error = hdl_node_cpus(work->node, cpus, sizeof(cpus));

	if (error > 0)
		error = (int)HDL_SYS(SYS_sched_setaffinity, 0, sizeof(cpus), (long)cpus);
	else if (error == 0)
		error = -ENODEV;
	for (uint64_t offset = 0; !error && offset < work->bytes; offset += unit) {
		uint64_t bytes = work->bytes - offset < unit ? work->bytes - offset : unit;

		if (hdl_shares_node(&region->aim, (work->from + offset) >> region->shift) ==
		    work->node)
			error = fill(region, region->start + work->from + offset, bytes);
	}
	atomic_store(&work->error, error);
	return NULL;
}

/** A thread that no signal of the program's reaches. */
static int start(pthread_t *thread, void *(*run)(void *), void *ctx)
{
	sigset_t all, old;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = hdl_thread(thread, run, ctx);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

static int populate_by_cpu(const struct hdl_region *region, uint64_t from, uint64_t bytes)
{
	int error = 0;

	HDL_FOR_EACH_NODE(node, &region->aim.node)
	{
		struct work work = { .region = region, .from = from, .bytes = bytes, .node = node };
		pthread_t thread;

		error = start(&thread, by_node, &work);
		if (error)
			return error;
		pthread_join(thread, NULL);
		error = atomic_load(&work.error);
		if (error)
			return error;
	}
	return 0;
}

int hdl_populate(const struct hdl_region *region, uint64_t from, uint64_t bytes,
		 const struct hdl_nodes *nodes, struct hdl_story *story)
{
	enum { THREADS_MAX = 256 };
	struct work work = { .region = region,
			     .nodes = nodes,
			     .from = from,
			     .bytes = bytes,
			     .chunk = hdl_round_up(1ULL << CHUNK_SHIFT, region->shift) };
	uint64_t chunks = bytes / work.chunk + (bytes % work.chunk != 0);
	uint32_t wanted = region->wish.threads, started = 0;
	pthread_t *threads = NULL;
	int error;

	if (story->by_cpu && populate_by_cpu(region, from, bytes))
		story->by_cpu = false; /* what is missing comes below, wherever it falls */
	if (wanted > chunks)
		wanted = (uint32_t)chunks;
	if (wanted > 1 && wanted <= THREADS_MAX)
		threads = hdl_malloc(wanted * sizeof(*threads));
	while (threads && started < wanted - 1 && !start(&threads[started], by_chunk, &work))
		started++;
	by_chunk(&work);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	hdl_mfree(threads);
	error = atomic_load(&work.error);
	story->collapsed += atomic_load(&work.collapsed);
	if (error) {
		hdl_story_step(story, atomic_load(&work.why) ? HD_STEP_LIMITS : HD_STEP_POPULATE,
			       error);
		if (atomic_load(&work.why))
			story->pages_why = atomic_load(&work.why);
	} else if (atomic_load(&work.hungry) >= HUNGRY_BLOCKS) {
		hdl_story_step(story, HD_STEP_COLLAPSE, -ENOMEM);
	}
	return error;
}

/* SPDX-License-Identifier: MIT */
/*
 * test-faults.c - every call of every operation fails, each in every way it can
 *
 * An operation is run once to count its calls. Then call 0 fails, call 1, ... :
 * with each errno that fits it, once, and from there on for all of its kind.
 * After each run:
 *
 *   failed     a clean errno, nothing allocated, start unchanged; after a
 *              resize the old contents at the old address
 *   succeeded  all zero, every byte writable, and got as smaps has it
 *   both       no descriptor, no mapping and no block of malloc is left
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/linux/sys.h"
#include "hashdist/hashdist.h"
#include "tests/lib/memory.h"
#include "tests/linux/door.h"
#include "tests/linux/world.h"

enum { MIB = 1 << 20 };

struct operation {
	const char *name;
	void (*machine)(void); /* pretend files and ills, before every run */
	bool (*set_up)(void);  /* NULL; false: this machine cannot */
	void (*run)(void);     /* arms the door itself */
	bool threads;          /* and a large table: only what they can meet is failed */
	bool must_fail;        /* without any fault, too */
	bool files;            /* every file is failed */
};

/* What is being tried; told when an assertion fails. */
static char trying[200];
static unsigned long total, failures, successes;

static void check(bool fine, const char *what)
{
	if (!fine)
		fail_msg("%s: %s", trying, what);
}

/* ---- what every run must leave behind ---------------------------------------------- */

/** Reads that lied make books that lie: of those no truth is asked. */
static bool lied_to;

static void check_got(const void *start, const struct hd_got *got)
{
	struct truth truth;
	uint64_t sum = got->pages_unknown, nodes = got->nodes_unknown, huge = 0;

	check(got->bytes > 0, "a success of no bytes");
	check(got->pages_why <= HD_WHY_PREFERENCE && got->nodes_why <= HD_WHY_PREFERENCE &&
		  got->step <= HD_STEP_VERIFY && got->error >= 0 && got->error < 4096,
	      "got is out of range");
	for (uint32_t i = 0; i < got->page_sizes; i++) {
		sum += got->page[i].bytes;
		huge += got->page[i].page_bytes > 4096 ? got->page[i].bytes : 0;
	}
	for (uint32_t i = 0; i < got->nodes; i++)
		nodes += got->node[i].bytes;
	if (lied_to)
		return;
	check(memory_truth(start, got->bytes, &truth), "smaps could not be read");
	if (!got->pages_unknown) {
		check(got->populated == truth.populated, "populated is not what smaps has");
		/* In a large table the kernel's own thread may add some meanwhile. */
		check(got->bytes > 16 * MIB ? huge <= truth.huge : huge == truth.huge,
		      "huge bytes are not what smaps has");
		check(sum == truth.populated, "translations do not add up");
		check(nodes == truth.populated, "nodes do not add up");
	}
	check(truth.populated == got->bytes, "not all of it is populated");
	for (uint32_t i = 0; world.nodes > 1 && !got->nodes_unknown && i < got->nodes; i++)
		check(got->node[i].bytes == world_bytes(start, got->bytes, got->node[i].node),
		      "a node's bytes are not what the machine has");
	check(got->locked == truth.locked, "locked is not what smaps has");
}

static void use_and_free(char *start, const struct hd_got *got)
{
	check(memory_is_zero(start, got->bytes), "not all zero");
	check_got(start, got);
	memory_fill(start, got->bytes, 7);
	check(memory_is_filled(start, got->bytes, 7), "does not keep what is written");
	check(hd_free(start) == 0, "hd_free() fails");
	check(hd_free(start) == -EINVAL, "freed twice");
}

static void check_failure(int error, const void *start, const void *before,
			  const struct hd_got *got)
{
	check(error < 0 && error > -4096, "no errno");
	check(start == before, "failed, but start was changed");
	check(got->bytes == 0 && got->populated == 0, "failed, but got tells of memory");
	check(got->step != HD_STEP_NONE, "failed, but got names no step");
	check(got->error == 0 || got->step != HD_STEP_NONE, "an error without a step");
	failures++;
}

/* ---- operations ----------------------------------------------------------------------- */

static char sentinel;

static void alloc(size_t bytes, const struct hd_want *want)
{
	struct hd_got got = { .bytes = 99 };
	void *start = &sentinel;
	int error;

	door_arm();
	error = hd_alloc(bytes, want, &start, &got);
	if (error) {
		check_failure(error, start, &sentinel, &got);
		return;
	}
	successes++;
	use_and_free(start, &got);
}

static void alloc_base(void)
{
	alloc(16 * 4096, &(struct hd_want){ .pages = HD_PAGES_BASE });
}

static void alloc_large(void)
{
	alloc(2 * MIB + 8192, NULL);
}

static void alloc_hugetlb(void)
{
	alloc(4 * MIB, &(struct hd_want){ .pages = HD_PAGES_HUGETLB });
}

static void alloc_1g(void)
{
	alloc(4 * MIB, &(struct hd_want){ .pages = HD_PAGES_1G });
}

static void alloc_one_node(void)
{
	alloc(4 * MIB, &(struct hd_want){ .nodes = HD_NODES_ONE });
}

static void alloc_spread(void)
{
	alloc(4 * MIB, &(struct hd_want){ .nodes = HD_NODES_SPREAD });
}

static void alloc_prefer_spread(void)
{
	alloc(16 * 4096, &(struct hd_want){ .nodes = HD_NODES_SPREAD,
					    .prefer = HD_PREFER_SPREAD,
					    .pages = HD_PAGES_BASE });
}

static void alloc_threads(void)
{
	alloc(130 * MIB, &(struct hd_want){ .threads = 4 });
}

static void alloc_drop(void)
{
	alloc(2 * MIB, &(struct hd_want){ .fork = HD_FORK_DROP, .flags = HD_NO_DUMP });
}

static void alloc_wipe_locked_named(void)
{
	alloc(2 * MIB,
	      &(struct hd_want){ .fork = HD_FORK_WIPE, .flags = HD_LOCK, .name = "faults" });
}

static void alloc_table(const struct hd_table_want *table, const struct hd_want *want)
{
	struct hd_got got = { .bytes = 99 };
	void *start = &sentinel;
	uint64_t entries = 77;
	int error;

	door_arm();
	error = hd_alloc_table(table, want, &start, &entries, &got);
	if (error) {
		check_failure(error, start, &sentinel, &got);
		check(entries == 77, "failed, but entries were changed");
		return;
	}
	successes++;
	check(entries && !(entries & (entries - 1)), "entries are no power of two");
	check(got.entries == entries, "two counts of entries");
	check(got.bytes >= entries * table->bucket_bytes, "smaller than its entries");
	use_and_free(start, &got);
}

static void table_from_memory(void)
{
	alloc_table(&(struct hd_table_want){ .bucket_bytes = 64, .scale = 6 }, NULL);
}

static void table_exact(void)
{
	alloc_table(&(struct hd_table_want){ .bucket_bytes = 64, .scale = 6 },
		    &(struct hd_want){ .flags = HD_EXACT });
}

/** Without faults; the operation begins afterwards. */
static char *ready(size_t bytes, const struct hd_want *want, uint64_t *had)
{
	struct hd_got got;
	void *start = NULL;

	door_disarm();
	check(hd_alloc(bytes, want, &start, &got) == 0, "no table to begin with");
	memory_fill(start, got.bytes, 3);
	*had = got.bytes;
	return start;
}

static void resize(size_t from, size_t to, const struct hd_want *want)
{
	struct hd_got got = { 0 };
	uint64_t had, kept;
	char *old = ready(from, want, &had);
	void *start = old;
	int error;

	door_arm();
	error = hd_resize(&start, to, &got);
	kept = had;
	if (error) {
		failures++;
		check(error > -4096, "no errno");
		check(start == old, "failed, but the table has moved");
	} else {
		successes++;
		check(got.bytes >= to, "smaller than asked for");
		kept = had < got.bytes ? had : got.bytes;
		check_got(start, &got);
		check(memory_is_zero((char *)start + kept, got.bytes - kept),
		      "what was added is not zero");
	}
	check(memory_is_filled(start, kept, 3), "contents are lost");
	memory_fill(start, kept, 4);
	check(hd_read_got(start, &got) == 0, "the table is not known any more");
	check(got.bytes >= kept, "the table is smaller than before");
	check(hd_free(start) == 0, "hd_free() fails");
}

static void resize_up(void)
{
	resize(2 * MIB, 4 * MIB, NULL);
}

static void resize_up_base(void)
{
	resize(8 * 4096, 20 * 4096, &(struct hd_want){ .pages = HD_PAGES_BASE });
}

static void resize_up_hugetlb(void)
{
	resize(2 * MIB, 4 * MIB, &(struct hd_want){ .pages = HD_PAGES_HUGETLB });
}

static void resize_up_spread(void)
{
	resize(2 * MIB, 4 * MIB, &(struct hd_want){ .nodes = HD_NODES_SPREAD });
}

static void resize_down(void)
{
	resize(4 * MIB, 2 * MIB, NULL);
}

static void resize_down_hugetlb(void)
{
	resize(4 * MIB, 2 * MIB, &(struct hd_want){ .pages = HD_PAGES_HUGETLB });
}

/** A child that lives while the parent writes splits the parent's large pages. */
static void split_by_fork(char *start, uint64_t bytes)
{
	int hold[2];
	pid_t child;

	check(pipe(hold) == 0, "pipe");
	child = fork();
	if (child == 0) {
		char byte;

		close(hold[1]);
		_exit(read(hold[0], &byte, 1) != 0);
	}
	check(child > 0, "fork");
	for (uint64_t at = 0; at < bytes; at += 2 * MIB)
		((uint64_t *)(start + at))[0] = ((uint64_t *)(start + at))[0];
	close(hold[0]);
	close(hold[1]);
	waitpid(child, NULL, 0);
}

static void repair_after_fork(void)
{
	struct hd_got got;
	uint64_t had;
	char *start = ready(4 * MIB, NULL, &had);

	split_by_fork(start, had);
	door_arm();
	check(hd_repair(start, &got) == 0, "hd_repair() fails");
	check(memory_is_filled(start, had, 3), "contents are lost");
	check_got(start, &got);
	successes++;
	check(hd_free(start) == 0, "hd_free() fails");
}

/* Part of the table was given back to the system: repair populates it again. */
static void repair_holes(void)
{
	struct hd_got got;
	uint64_t had;
	char *start = ready(64 * 4096, &(struct hd_want){ .pages = HD_PAGES_BASE }, &had);

	madvise(start, had / 2, MADV_DONTNEED);
	door_arm();
	check(hd_repair(start, &got) == 0, "hd_repair() fails");
	check(memory_is_zero(start, had / 2), "the hole is not zero");
	memory_fill(start, had / 2, 3);
	check(memory_is_filled(start, had, 3), "contents are lost");
	successes++;
	check(hd_free(start) == 0, "hd_free() fails");
}

static void read_got(void)
{
	struct hd_got got;
	uint64_t had;
	char *start = ready(2 * MIB, NULL, &had);

	door_arm();
	check(hd_read_got(start, &got) == 0, "hd_read_got() fails");
	check_got(start, &got);
	successes++;
	check(hd_free(start) == 0, "hd_free() fails");
}

/* ---- machines ------------------------------------------------------------------------- */

static void as_it_is(void)
{
}

/* A kernel of 5.10: no populating on request, no collapse, no scan. */
static void old_kernel(void)
{
	door_ill(DOOR_POPULATE, -EINVAL);
	door_ill(DOOR_COLLAPSE, -EINVAL);
	door_ill(DOOR_SCAN, -ENOTTY);
}

static void no_pool(void)
{
	door_file("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "0\n");
	door_file("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages", "0\n");
}

static void empty_pool_of_1g(void)
{
	door_file("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
	door_file("/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "0\n");
	no_pool();
}

static void two_nodes(void)
{
	world_begin(2);
}

/* Two nodes of an old kernel, whose books are smaps and numa_maps. */
static void two_nodes_refused(void)
{
	world_begin(2);
	world.policy_error = -EPERM;
}

/*
 *   MemTotal 256 MiB -> a table of 16 MiB; MemAvailable 7 MiB: halved to 2 MiB
 */
static void small_machine(void)
{
	door_file("/proc/meminfo", "MemTotal: 262144 kB\nMemAvailable: 7168 kB\n"
				   "Hugepagesize: 2048 kB\n");
}

/* ---- the hugetlb pool ------------------------------------------------------------------ */

#define POOL "/proc/sys/vm/nr_hugepages"

static uint64_t pool_before = UINT64_MAX;

static bool fill_pool(void)
{
	if (pool_before == UINT64_MAX)
		pool_before = memory_read_number(POOL);
	return memory_write_text(POOL, "8") && memory_read_number(POOL) >= 8;
}

static int restore_pool(void **state)
{
	char text[32];

	(void)state;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)pool_before);
	if (pool_before != UINT64_MAX)
		memory_write_text(POOL, text);
	return 0;
}

/* ---- the loop -------------------------------------------------------------------------- */

static void begin_run(const struct operation *op)
{
	door_reset();
	world.nodes = 0;
	op->machine();
}

static void end_run(unsigned mappings)
{
	const char *leak;

	door_disarm();
	leak = door_leak();
	check(!leak, leak ? leak : "");
	check(!door_spun(), "a call that keeps failing is repeated without end");
	if (mappings)
		check(memory_mappings() == mappings, "a mapping is left");
	world_end();
}

/** The same fault @what at call @n. Return: whether the call was met. */
static bool run_once(const struct operation *op, uint32_t n, enum door_kind kind, int what,
		     bool onward, unsigned mappings)
{
	snprintf(trying, sizeof(trying), "%s: call %u (%s) %s%d%s", op->name, n,
		 door_kind_name(kind), what < 0 ? "fails with " : "damage ",
		 what < 0 ? -what : what, onward ? ", and all of its kind" : "");
	begin_run(op);
	lied_to = what == DOOR_NOTHING || what == DOOR_NOISE || what == DOOR_TEXT_NOISE;
	door_fail(n, what, onward);
	op->run();
	end_run(mappings);
	total += door_injected() > 0;
	return door_injected() > 0;
}

/**
 * Most calls read small files, the same ones in every operation. Of their faults each
 * call meets one, in turn, or some calls do; with HASHDIST_FAULTS=all every call meets all.
 */
static bool is_turn(const struct operation *op, uint32_t n, enum door_kind kind, int index,
		    bool onward)
{
	const char *all = getenv("HASHDIST_FAULTS");

	if (all && !strcmp(all, "all"))
		return true;
	if (op->threads && index > 2)
		return false; /* each run populates 130 MiB */
	if (kind == DOOR_OPEN || kind == DOOR_READ || kind == DOOR_CLOSE) {
		int faults = 0;

		while (door_faults_of(kind)[faults])
			faults++;
		return !op->threads && (int)(n / 3) % faults == index && (!onward || n % 8 == 1) &&
		       (op->files || n % 8 < 2);
	}
	return true;
}

static void warm_up(void);

static void fail_everything(const struct operation *op)
{
	uint8_t kind[4096];
	unsigned mappings;
	uint32_t calls;
	unsigned long before = total;

	failures = successes = 0;
	if (op->set_up && !op->set_up())
		lacks("a hugetlb pool that can be filled (root, and free memory)", true);
	warm_up();
	snprintf(trying, sizeof(trying), "%s: no fault", op->name);
	lied_to = false;
	for (int i = 0; i < 2; i++) { /* the second finds the C library warmed up */
		begin_run(op);
		op->run();
		end_run(0);
	}
	check(op->must_fail ? !successes : !failures, "without a fault it ends otherwise");
	calls = door_calls();
	assert_in_range(calls, 3, sizeof(kind) - 1);
	for (uint32_t n = 0; n < calls; n++)
		kind[n] = (uint8_t)door_kind_of(n);
	mappings = op->threads || memory_sanitized() ? 0 : memory_mappings();
	for (uint32_t n = 0; n < calls; n++)
		for (int i = 0; door_faults_of(kind[n])[i]; i++)
			for (int onward = 0; onward <= 1; onward++)
				if (is_turn(op, n, kind[n], i, onward))
					run_once(op, n, kind[n], door_faults_of(kind[n])[i], onward,
						 mappings);
	print_message("%s: %u calls, %lu faults, %lu failures, %lu successes\n", op->name, calls,
		      total - before, failures, successes);
}

static void *nothing(void *ctx)
{
	return ctx;
}

/** The C library keeps a thread's stack for the next one: that is no leak of ours. */
static void warm_up(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, nothing, NULL))
		pthread_join(thread, NULL);
}

static const struct operation operations[] = {
	{ "base pages", as_it_is, NULL, alloc_base, false, false, false },
	{ "large pages", as_it_is, NULL, alloc_large, false, false, true },
	{ "base pages on an old kernel", old_kernel, NULL, alloc_base, false, false, false },
	{ "hugetlb without a pool", no_pool, NULL, alloc_hugetlb, false, false, false },
	{ "hugetlb from a pool", as_it_is, fill_pool, alloc_hugetlb, false, false, true },
	{ "pages of 1 GiB", empty_pool_of_1g, NULL, alloc_1g, false, false, true },
	{ "one of two nodes", two_nodes, NULL, alloc_one_node, false, false, false },
	{ "spread over two nodes", two_nodes, NULL, alloc_spread, false, false, true },
	{ "spread of base pages", two_nodes, NULL, alloc_prefer_spread, false, false, false },
	{ "spread by first touch", two_nodes_refused, NULL, alloc_spread, false, false, false },
	{ "four threads", as_it_is, NULL, alloc_threads, true, false, false },
	{ "dropped at fork, no dump", as_it_is, NULL, alloc_drop, false, false, false },
	{ "wiped, locked, named", as_it_is, NULL, alloc_wipe_locked_named, false, false, false },
	{ "table from memory, halved", small_machine, NULL, table_from_memory, false, false,
	  false },
	{ "table, exact", small_machine, NULL, table_exact, false, true, false },
	{ "grow", as_it_is, NULL, resize_up, false, false, true },
	{ "grow base pages", as_it_is, NULL, resize_up_base, false, false, false },
	{ "grow hugetlb", as_it_is, fill_pool, resize_up_hugetlb, false, false, false },
	{ "grow a spread table", two_nodes, NULL, resize_up_spread, false, false, false },
	{ "shrink", as_it_is, NULL, resize_down, false, false, false },
	{ "shrink hugetlb", as_it_is, fill_pool, resize_down_hugetlb, false, false, false },
	{ "repair after fork", as_it_is, NULL, repair_after_fork, false, false, false },
	{ "repair holes", as_it_is, NULL, repair_holes, false, false, false },
	{ "repair holes on an old kernel", old_kernel, NULL, repair_holes, false, false, false },
	{ "read where it is", as_it_is, NULL, read_got, false, false, false },
	{ "read where it is on an old kernel", old_kernel, NULL, read_got, false, false, true },
};

enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static void any_call_may_fail(void **state)
{
	fail_everything(*state);
}

static int report(void **state)
{
	(void)state;
	print_message("%lu faults in all\n", total);
	return 0;
}

static int give_back(void **state)
{
	door_disarm();
	door_reset();
	door_leak();
	world_end();
	return restore_pool(state);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[OPERATIONS];
	size_t count = 0;

	for (int i = 0; i < OPERATIONS; i++)
		if (argc < 2 || strstr(operations[i].name, argv[1]))
			tests[count++] =
			    (struct CMUnitTest){ operations[i].name, any_call_may_fail, NULL,
						 give_back, (void *)&operations[i] };
	return _cmocka_run_group_tests("faults", tests, count, NULL, report);
}

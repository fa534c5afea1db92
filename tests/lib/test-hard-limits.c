/* SPDX-License-Identifier: MIT */
/*
 * test-hard-limits.c - limits of the real kernel, met one by one
 *
 * Pools, control groups, resource limits, overcommit: each is an error or a
 * smaller success that names it, never the end of the program. Every test runs
 * in a child; what is set for the whole machine is put back by a teardown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hashdist/hashdist.h"
#include "tests/lib/memory.h"

#define MIB        ((size_t)1 << 20)
#define POOL       "/proc/sys/vm/nr_hugepages"
#define POOL_DIR   "/sys/kernel/mm/hugepages/hugepages-2048kB/"
#define OVERCOMMIT "/proc/sys/vm/overcommit_memory"

static void check_fails(size_t bytes, const struct hd_want *want, enum hd_why why,
			enum hd_step step)
{
	struct hd_got got;
	void *start = &got;

	CHECK(hd_alloc(bytes, want, &start, &got) == -ENOMEM);
	CHECK(start == &got);
	CHECK(got.bytes == 0);
	if (got.pages_why != why)
		fprintf(stderr, "%s instead of %s\n", hd_why_name(got.pages_why), hd_why_name(why));
	CHECK(got.pages_why == why);
	CHECK(got.step == step);
}

/* ---- the pool of huge pages ------------------------------------------------------------ */

static void set_number(const char *path, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	memory_write_text(path, text);
}

static uint64_t pool_before = UINT64_MAX;

static int pool_restore(void **state)
{
	(void)state;
	if (pool_before != UINT64_MAX)
		set_number(POOL, pool_before);
	pool_before = UINT64_MAX;
	return 0;
}

/** Exactly @pages free ones. */
static void pool_of(uint64_t pages)
{
	pool_before = memory_read_number(POOL);
	set_number(POOL, pages);
	if (memory_read_number(POOL) != pages ||
	    memory_read_number(POOL_DIR "free_hugepages") != pages ||
	    memory_read_number(POOL_DIR "nr_overcommit_hugepages"))
		lacks("a hugetlb pool of 2 MiB pages that can be set (root, nobody else using it)",
		      true);
}

static void take_from_the_pool(void)
{
	struct hd_want want = { .pages = HD_PAGES_HUGETLB };
	struct hd_got got;
	void *start, *more;

	CHECK(hd_alloc(4 * MIB, &want, &start, &got) == 0);
	CHECK(got.pages_why == HD_WHY_MET);
	CHECK(got.page[0].page_bytes == 2 * MIB && got.page[0].bytes == 4 * MIB);
	CHECK(memory_read_number(POOL_DIR "free_hugepages") == 0);
	memory_check_table(start, &got);
	/* The pool is empty now: the next rung, and it says so. */
	CHECK(hd_alloc(4 * MIB, &want, &more, &got) == 0);
	CHECK(got.pages_why == HD_WHY_POOL_EMPTY);
	memory_check_table(more, &got);
	/* A table of the pool that grows beyond it goes to other pages, contents and all. */
	CHECK(hd_resize(&start, 8 * MIB, &got) == 0);
	CHECK(memory_is_filled(start, 4 * MIB, 5));
	CHECK(got.pages_why == HD_WHY_POOL_EMPTY);
	CHECK(hd_free(start) == 0 && hd_free(more) == 0);
	CHECK(memory_read_number(POOL_DIR "free_hugepages") == 2);
}

static void an_exhausted_pool_is_a_fall_back_that_is_told(void **state)
{
	(void)state;
	pool_of(2);
	in_child(take_from_the_pool);
}

static void take_in_part(void)
{
	struct hd_want want = { .pages = HD_PAGES_HUGETLB };
	struct hd_got got;
	void *start;

	CHECK(hd_alloc(8 * MIB, &want, &start, &got) == 0);
	CHECK(got.pages_why == HD_WHY_POOL_EMPTY);
	CHECK(got.step == HD_STEP_LIMITS);
	memory_check_table(start, &got);
	CHECK(memory_read_number(POOL_DIR "free_hugepages") == 2); /* none was kept */
	/* Smaller than a page of the pool, and too small to be rounded up to one. */
	CHECK(hd_free(start) == 0);
	CHECK(hd_alloc(MIB, &want, &start, &got) == 0);
	CHECK(got.pages_why == HD_WHY_TOO_SMALL);
	CHECK(hd_free(start) == 0);
	want.pages = HD_PAGES_1G;
	CHECK(hd_alloc(4 * MIB, &want, &start, &got) == 0);
	CHECK(got.pages_why == HD_WHY_NO_SUPPORT || got.pages_why == HD_WHY_TOO_SMALL);
	CHECK(got.page[0].page_bytes == 2 * MIB); /* of the pool: the rung below */
	CHECK(hd_free(start) == 0);
}

static void a_pool_that_is_too_small_is_not_taken_in_part(void **state)
{
	(void)state;
	pool_of(2);
	in_child(take_in_part);
}

/* The kernel wipes no hugetlb mapping at fork: the rung below is taken, and it is said. */
static void wipe_from_the_pool(void)
{
	struct hd_want want = { .pages = HD_PAGES_HUGETLB, .fork = HD_FORK_WIPE };
	struct truth truth;
	struct hd_got got;
	void *start;

	CHECK(hd_alloc(4 * MIB, &want, &start, &got) == 0);
	CHECK(memory_truth(start, got.bytes, &truth));
	CHECK(truth.wipe);
	if (memory_read_number(POOL_DIR "free_hugepages") == 4)
		CHECK(got.pages_why != HD_WHY_MET && got.step == HD_STEP_OPTIONS);
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0);
}

static void wiping_at_fork_costs_the_pool_and_is_told(void **state)
{
	(void)state;
	pool_of(4);
	in_child(wipe_from_the_pool);
}

/* ---- control groups ---------------------------------------------------------------------- */

static char group[600], inner[700];
static bool version_1;

/** Our own group of the controller of version 1, or of version 2 the root. */
static bool find_hierarchy(const char *controller)
{
	char line[600];
	FILE *file = fopen("/proc/self/cgroup", "re");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (strcmp(names + 1, controller))
			continue;
		version_1 = found = true;
		snprintf(group, sizeof(group), "/sys/fs/cgroup/%.40s%.400s/hashdist-test-%d",
			 controller, strcmp(path, "/") ? path : "", (int)getpid());
	}
	if (file)
		fclose(file);
	if (!found) {
		version_1 = false;
		snprintf(group, sizeof(group), "/sys/fs/cgroup/hashdist-test-%d", (int)getpid());
	}
	snprintf(inner, sizeof(inner), "%s/inner", group);
	return true;
}

static const char *file_of(const char *dir, const char *v1, const char *v2)
{
	static char path[800];

	snprintf(path, sizeof(path), "%s/%s", dir, version_1 ? v1 : v2);
	return path;
}

static int group_remove(void **state)
{
	(void)state;
	for (int tries = 0; inner[0] && rmdir(inner) && errno == EBUSY && tries < 100; tries++)
		usleep(10000);
	if (group[0])
		rmdir(group);
	return 0;
}

static void group_limited_to(const char *limit)
{
	find_hierarchy("memory");
	if (mkdir(group, 0755) ||
	    (!version_1 &&
	     !memory_write_text(file_of(group, "", "cgroup.subtree_control"), "+memory")) ||
	    mkdir(inner, 0755) ||
	    !memory_write_text(file_of(group, "memory.limit_in_bytes", "memory.max"), limit))
		lacks("a control group of memory that can be made (root)", true);
}

static void enter(void)
{
	CHECK(memory_write_text(file_of(inner, "cgroup.procs", "cgroup.procs"), "0"));
}

static void stay_below_the_limit(void)
{
	struct hd_table_want table = { .bucket_bytes = 64, .scale = 4 };
	struct hd_got got;
	uint64_t entries;
	void *start;

	enter();
	check_fails(200 * MIB, NULL, HD_WHY_MEMORY_LIMIT, HD_STEP_LIMITS);
	check_fails(200 * MIB, &(struct hd_want){ .pages = HD_PAGES_BASE }, HD_WHY_MEMORY_LIMIT,
		    HD_STEP_LIMITS);
	CHECK(hd_alloc(16 * MIB, NULL, &start, &got) == 0);
	memory_check_table(start, &got);
	CHECK(hd_resize(&start, 200 * MIB, &got) == -ENOMEM);
	CHECK(memory_is_filled(start, 16 * MIB, 5));
	CHECK(hd_free(start) == 0);
	/* A sixteenth of the smaller of machine and group: 4 MiB of 64. */
	CHECK(hd_alloc_table(&table, NULL, &start, &entries, &got) == 0);
	CHECK(entries * 64 == 4 * MIB);
	CHECK(got.halvings == 0);
	CHECK(hd_free(start) == 0);
	/* More than there is room for: halved until it fits, and it never kills. */
	table.high = 1 << 30;
	table.entries = 2 << 20; /* 128 MiB */
	CHECK(hd_alloc_table(&table, NULL, &start, &entries, &got) == 0);
	CHECK(got.halvings >= 1 && entries == (2u << 20) >> got.halvings);
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0);
	CHECK(hd_alloc_table(&table, &(struct hd_want){ .flags = HD_EXACT }, &start, &entries,
			     &got) == -ENOMEM);
	CHECK(got.pages_why == HD_WHY_MEMORY_LIMIT);
}

/*
 *   group   64 MiB
 *   inner   no limit of its own; the child lives here
 */
static void a_group_limit_of_a_parent_is_an_error_and_not_the_end(void **state)
{
	(void)state;
	if (memory_sanitized())
		return; /* its shadow is charged, too */
	group_limited_to("67108864");
	in_child(stay_below_the_limit);
}

static void hugetlb_limit(void)
{
	struct hd_want want = { .pages = HD_PAGES_HUGETLB };
	struct hd_got got;
	void *start;

	enter();
	CHECK(hd_alloc(8 * MIB, &want, &start, &got) == 0);
	CHECK(got.pages_why == HD_WHY_HUGETLB_LIMIT);
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0);
}

static void a_group_limit_of_hugetlb_is_a_fall_back_that_is_told(void **state)
{
	(void)state;
	find_hierarchy("hugetlb");
	if (mkdir(group, 0755) ||
	    (!version_1 &&
	     !memory_write_text(file_of(group, "", "cgroup.subtree_control"), "+hugetlb")) ||
	    mkdir(inner, 0755) ||
	    !memory_write_text(file_of(group, "hugetlb.2MB.limit_in_bytes", "hugetlb.2MB.max"),
			       "4194304"))
		lacks("a control group of hugetlb pages", false);
	pool_of(8);
	in_child(hugetlb_limit);
}

/* ---- resource limits ----------------------------------------------------------------------- */

static void limit(int which, rlim_t value)
{
	struct rlimit was;

	CHECK(getrlimit(which, &was) == 0);
	was.rlim_cur = value;
	CHECK(setrlimit(which, &was) == 0);
}

static uint64_t field(const char *path, const char *key)
{
	char line[256];
	uint64_t kib = 0;
	FILE *file = fopen(path, "re");

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			kib = strtoull(line + strlen(key), NULL, 10);
	fclose(file);
	return kib << 10;
}

static void short_of_addresses(void)
{
	struct hd_got got;
	void *start;

	limit(RLIMIT_AS, field("/proc/self/status", "VmSize:") + 32 * MIB);
	check_fails(64 * MIB, NULL, HD_WHY_ADDRESS_LIMIT, HD_STEP_RESERVE);
	CHECK(hd_alloc(16 * MIB, NULL, &start, &got) == 0);
	memory_check_table(start, &got);
	/* To grow, a table needs its old and its new place. */
	CHECK(hd_resize(&start, 24 * MIB, &got) == -ENOMEM);
	CHECK(memory_is_filled(start, 16 * MIB, 5));
	CHECK(hd_free(start) == 0);
	/* Alignment is given up before the table is. */
	limit(RLIMIT_AS, field("/proc/self/status", "VmSize:") + 17 * MIB);
	CHECK(hd_alloc(16 * MIB, NULL, &start, &got) == 0);
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0);
}

static void short_of_data(void)
{
	struct hd_got got;
	void *start;

	limit(RLIMIT_DATA, field("/proc/self/status", "VmData:") + 32 * MIB);
	check_fails(64 * MIB, NULL, HD_WHY_ADDRESS_LIMIT, HD_STEP_RESERVE);
	CHECK(hd_alloc(16 * MIB, NULL, &start, &got) == 0);
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0);
}

static void a_data_limit_is_named(void **state)
{
	(void)state;
	in_child(short_of_data);
}

static void an_address_limit_is_named(void **state)
{
	(void)state;
	if (!memory_sanitized()) /* shadow memory has no place below a limit */
		in_child(short_of_addresses);
}

static void lock_without_right(void)
{
	struct hd_want want = { .flags = HD_LOCK };
	struct truth truth;
	struct hd_got got;
	void *start;

	limit(RLIMIT_MEMLOCK, 4 * MIB);
	if (setgid(65534) || setuid(65534))
		child_lacks("the right to become another user (root)", true);
	CHECK(hd_alloc(2 * MIB, &want, &start, &got) == 0);
	CHECK(memory_truth(start, got.bytes, &truth));
	CHECK(got.locked == 1 && truth.locked);
	CHECK(hd_free(start) == 0);
	CHECK(hd_alloc(8 * MIB, &want, &start, &got) == 0);
	CHECK(memory_truth(start, got.bytes, &truth));
	CHECK(got.locked == 0 && !truth.locked);
	CHECK(got.step == HD_STEP_LOCK && (got.error == ENOMEM || got.error == EPERM));
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0);
	limit(RLIMIT_MEMLOCK, 0);
	CHECK(hd_alloc(MIB, &want, &start, &got) == 0);
	CHECK(got.locked == 0 && got.step == HD_STEP_LOCK && got.error == EPERM);
	CHECK(hd_free(start) == 0);
}

static void a_lock_limit_leaves_the_table_unlocked_and_says_so(void **state)
{
	(void)state;
	if (!memory_sanitized()) /* mlock() is swallowed there */
		in_child(lock_without_right);
}

static void without_descriptors(void)
{
	struct hd_want want = { .pages = HD_PAGES_LARGE };
	struct rlimit was;
	struct hd_got got;
	uint64_t entries;
	void *start, *table;

	CHECK(getrlimit(RLIMIT_NOFILE, &was) == 0);
	limit(RLIMIT_NOFILE, 0);
	CHECK(hd_alloc(4 * MIB, &want, &start, &got) == 0);
	CHECK(got.bytes == 4 * MIB);
	CHECK(got.pages_unknown == 4 * MIB); /* no book could be opened */
	CHECK(got.pages_why == HD_WHY_UNKNOWN);
	CHECK(got.step == HD_STEP_VERIFY || got.step == HD_STEP_COLLAPSE);
	CHECK(hd_alloc_table(&(struct hd_table_want){ .bucket_bytes = 64, .entries = 1 << 14 },
			     NULL, &table, &entries, NULL) == 0);
	CHECK(entries == 1 << 14);
	CHECK(hd_repair(start, &got) == 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	CHECK(hd_read_got(start, &got) == 0);
	CHECK(got.pages_unknown == 0);
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0 && hd_free(table) == 0);
}

static void without_a_descriptor_left_it_works_and_claims_nothing(void **state)
{
	(void)state;
	in_child(without_descriptors);
}

/* ---- overcommit ------------------------------------------------------------------------------ */

static uint64_t overcommit_before = UINT64_MAX;

static int overcommit_restore(void **state)
{
	(void)state;
	if (overcommit_before != UINT64_MAX)
		set_number(OVERCOMMIT, overcommit_before);
	overcommit_before = UINT64_MAX;
	return 0;
}

static void beyond_the_commit_limit(void)
{
	uint64_t allowed = field("/proc/meminfo", "CommitLimit:");
	uint64_t committed = field("/proc/meminfo", "Committed_AS:");
	uint64_t bytes = allowed - committed + 512 * MIB;
	struct hd_got got;
	void *start;

	/* Nothing is ever populated of this: access to it is what is refused. */
	check_fails(bytes, NULL, HD_WHY_OVERCOMMIT, HD_STEP_RESERVE);
	CHECK(hd_alloc(8 * MIB, NULL, &start, &got) == 0);
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0);
}

static void strict_overcommit_is_named(void **state)
{
	uint64_t allowed, committed, available;

	(void)state;
	if (memory_sanitized())
		return; /* shadow memory is more than may be committed */
	allowed = field("/proc/meminfo", "CommitLimit:");
	committed = field("/proc/meminfo", "Committed_AS:");
	available = field("/proc/meminfo", "MemAvailable:");
	/* Other programs must not notice: only where plenty is left for them meanwhile. */
	if (allowed < committed + 2048 * MIB || available < allowed - committed + 2048 * MIB)
		lacks("more free memory than may be committed", false);
	overcommit_before = memory_read_number(OVERCOMMIT);
	if (!memory_write_text(OVERCOMMIT, "2"))
		lacks("the right to set vm.overcommit_memory (root)", true);
	in_child(beyond_the_commit_limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_exhausted_pool_is_a_fall_back_that_is_told,
					  pool_restore),
		cmocka_unit_test_teardown(a_pool_that_is_too_small_is_not_taken_in_part,
					  pool_restore),
		cmocka_unit_test_teardown(wiping_at_fork_costs_the_pool_and_is_told, pool_restore),
		cmocka_unit_test_teardown(a_group_limit_of_a_parent_is_an_error_and_not_the_end,
					  group_remove),
		cmocka_unit_test_teardown(a_group_limit_of_hugetlb_is_a_fall_back_that_is_told,
					  group_remove),
		cmocka_unit_test(an_address_limit_is_named),
		cmocka_unit_test(a_data_limit_is_named),
		cmocka_unit_test(a_lock_limit_leaves_the_table_unlocked_and_says_so),
		cmocka_unit_test(without_a_descriptor_left_it_works_and_claims_nothing),
		cmocka_unit_test_teardown(strict_overcommit_is_named, overcommit_restore),
	};

	return cmocka_run_group_tests(tests, NULL, pool_restore);
}

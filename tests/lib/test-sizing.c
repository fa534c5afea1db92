/* SPDX-License-Identifier: MIT */
/*
 * test-sizing.c - tables sized from memory, and the environment, on pretend machines
 *
 * Memory, groups and nodes are pretended; what is allocated is real.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hashdist/hashdist.h"
#include "tests/lib/memory.h"
#include "tests/linux/world.h"

#define MIB ((uint64_t)1 << 20)

static int begin(void **state)
{
	(void)state;
	unsetenv("HASHDIST");
	unsetenv("HASHDIST_PAGES");
	door_reset();
	door_file("/proc/self/cgroup", "0::/g\n");
	door_file("/proc/self/mountinfo", "29 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
	door_file("/cg/g/memory.max", "max\n");
	door_file("/cg/g/memory.current", "0\n");
	door_file("/cg/memory.max", NULL);
	door_file("/cg/memory.high", NULL);
	door_file("/cg/g/memory.high", NULL);
	door_file("/cg/g/memory.stat", NULL);
	/* 512 MiB, all of it available */
	door_file("/proc/meminfo", "MemTotal: 524288 kB\nMemAvailable: 524288 kB\n");
	return 0;
}

static int end(void **state)
{
	const char *leak;

	(void)state;
	world_end();
	door_reset();
	leak = door_leak();
	unsetenv("HASHDIST");
	unsetenv("HASHDIST_PAGES");
	if (leak)
		fprintf(stderr, "%s\n", leak);
	return leak != NULL;
}

static uint64_t entries_of(const struct hd_table_want *table, uint32_t flags, struct hd_got *got)
{
	struct hd_want want = { .pages = HD_PAGES_BASE, .flags = flags };
	uint64_t entries = 0;
	void *start;

	assert_int_equal(hd_alloc_table(table, &want, &start, &entries, got), 0);
	assert_int_equal(got->entries, entries);
	assert_true(got->bytes >= entries * table->bucket_bytes);
	assert_true(memory_is_zero(start, got->bytes));
	assert_int_equal(hd_free(start), 0);
	return entries;
}

static void scale_is_the_bytes_of_memory_for_an_entry(void **state)
{
	struct hd_got got;

	(void)state;
	for (uint32_t scale = 10; scale <= 20; scale++)
		assert_int_equal(
		    entries_of(&(struct hd_table_want){ .bucket_bytes = 8, .scale = scale }, 0,
			       &got),
		    512 * MIB >> scale > 512 ? 512 * MIB >> scale : 512);
	/* A page of entries at least. */
	assert_int_equal(
	    entries_of(&(struct hd_table_want){ .bucket_bytes = 8, .scale = 40 }, 0, &got), 512);
	assert_int_equal(
	    entries_of(&(struct hd_table_want){ .bucket_bytes = 8, .scale = 63 }, 0, &got), 512);
}

static void the_smaller_of_machine_and_group_counts(void **state)
{
	struct hd_table_want table = { .bucket_bytes = 8, .scale = 12 };
	struct hd_got got;

	(void)state;
	assert_int_equal(entries_of(&table, 0, &got), 512 * MIB >> 12);
	door_file("/cg/g/memory.max", "134217728\n");
	assert_int_equal(entries_of(&table, 0, &got), 128 * MIB >> 12);
	door_file("/cg/g/memory.high", "67108864\n");
	assert_int_equal(entries_of(&table, 0, &got), 64 * MIB >> 12);
	door_file("/cg/memory.max", "33554432\n");
	assert_int_equal(entries_of(&table, 0, &got), 32 * MIB >> 12);
	door_file("/proc/meminfo", "MemTotal: 16384 kB\nMemAvailable: 16384 kB\n");
	assert_int_equal(entries_of(&table, 0, &got), 16 * MIB >> 12);
	/* Of two nodes only what this task may use. */
	door_file("/cg/g/memory.max", "max\n");
	door_file("/cg/g/memory.high", "max\n");
	door_file("/cg/memory.max", "max\n");
	door_file("/proc/meminfo", "MemTotal: 524288 kB\nMemAvailable: 524288 kB\n");
	world_begin(2);
	door_file("/sys/devices/system/node/node1/meminfo",
		  "Node 1 MemTotal: 65536 kB\nNode 1 MemFree: 65536 kB\n");
	door_file("/proc/thread-self/status", "Mems_allowed_list:\t1\n");
	assert_int_equal(entries_of(&table, 0, &got), 64 * MIB >> 12);
}

static void limits_are_kept_and_the_high_one_has_the_last_word(void **state)
{
	struct hd_table_want table = { .bucket_bytes = 8, .scale = 12 };
	struct hd_got got;

	(void)state;
	table.high = 5000;
	assert_int_equal(entries_of(&table, 0, &got), 4096);
	table.high = 0;
	table.low = 1 << 18;
	assert_int_equal(entries_of(&table, 0, &got), 1 << 18);
	table.high = 1024;
	assert_int_equal(entries_of(&table, 0, &got), 1024);
	/* Without a high limit: a sixteenth of memory. */
	table = (struct hd_table_want){ .bucket_bytes = 64, .scale = 4 };
	assert_int_equal(entries_of(&table, 0, &got), 32 * MIB / 64);
	table = (struct hd_table_want){ .bucket_bytes = 64, .entries = 1 << 30 };
	assert_int_equal(entries_of(&table, 0, &got), 32 * MIB / 64);
}

static void given_entries_are_rounded_up_to_a_power_of_two(void **state)
{
	struct hd_got got;

	(void)state;
	for (uint64_t n = 1; n < 5000; n += 1 + n / 7) {
		uint64_t had = entries_of(
		    &(struct hd_table_want){ .bucket_bytes = 24, .entries = n }, 0, &got);

		assert_true(had >= n && (n == 1 || had / 2 < n));
		assert_false(had & (had - 1));
	}
}

static void a_table_that_does_not_fit_is_halved_unless_it_must_be_exact(void **state)
{
	struct hd_table_want table = { .bucket_bytes = 64, .entries = 32 * MIB / 64 };
	struct hd_want exact = { .flags = HD_EXACT };
	struct hd_got got;
	uint64_t entries = 7;
	void *start = &got;

	(void)state;
	assert_int_equal(entries_of(&table, HD_EXACT, &got), 32 * MIB / 64);
	assert_int_equal(got.halvings, 0);
	door_file("/proc/meminfo", "MemTotal: 524288 kB\nMemAvailable: 13000 kB\n");
	assert_int_equal(entries_of(&table, 0, &got), 8 * MIB / 64);
	assert_int_equal(got.halvings, 2);
	assert_int_equal(hd_alloc_table(&table, &exact, &start, &entries, &got), -ENOMEM);
	assert_ptr_equal(start, &got);
	assert_int_equal(entries, 7);
	assert_int_equal(got.pages_why, HD_WHY_MEMORY_SHORT);
	/* Not even a page is left. */
	door_file("/proc/meminfo", "MemTotal: 524288 kB\nMemAvailable: 0 kB\n");
	assert_int_equal(hd_alloc_table(&table, NULL, &start, &entries, &got), -ENOMEM);
	assert_int_equal(got.pages_why, HD_WHY_MEMORY_SHORT);
	assert_int_equal(got.step, HD_STEP_LIMITS);
}

static void no_usable_node_is_enodev_and_told(void **state)
{
	unsigned long only_9 = 1ul << 9;
	struct hd_want want = { .node_set = &only_9, .node_set_bits = 10 };
	struct hd_table_want table = { .bucket_bytes = 8, .entries = 64 };
	struct hd_got got;
	uint64_t entries;
	void *start;

	(void)state;
	assert_int_equal(hd_alloc(4096, &want, &start, &got), -ENODEV);
	assert_int_equal(got.nodes_why, HD_WHY_NO_NODE);
	assert_int_equal(got.step, HD_STEP_LIMITS);
	assert_int_equal(got.error, ENODEV);
	assert_int_equal(hd_alloc_table(&table, &want, &start, &entries, &got), -ENODEV);
	assert_int_equal(got.nodes_why, HD_WHY_NO_NODE);
	assert_int_equal(got.step, HD_STEP_LIMITS);
	assert_int_equal(got.error, ENODEV);
}

static void unknown_memory_caps_no_given_count(void **state)
{
	struct hd_got got;

	(void)state;
	door_only_pretend();
	door_file("/proc/meminfo", NULL);
	door_ill(DOOR_OTHER, -ENOSYS); /* nor does sysinfo(2) tell */
	assert_int_equal(
	    entries_of(&(struct hd_table_want){ .bucket_bytes = 8, .entries = 4096 }, 0, &got),
	    4096);
	assert_int_equal(
	    entries_of(&(struct hd_table_want){ .bucket_bytes = 8, .scale = 10 }, 0, &got), 512);
}

/* ---- the environment --------------------------------------------------------------------- */

static void got_with(const struct hd_want *want, struct hd_got *got)
{
	void *start;

	assert_int_equal(hd_alloc(2 * MIB, want, &start, got), 0);
	assert_int_equal(hd_free(start), 0);
}

/* The kernel's own words for hashdist=, as its newest reader takes them. */
static void hashdist_in_the_environment_is_read_as_the_kernel_reads_it(void **state)
{
	static const struct {
		const char *value;
		bool spread_of_4, wanted_of_1;
	} cases[] = {
		{ NULL, true, false },
		{ "", true, false },
		{ "0", false, false },
		{ "1", true, true },
		{ "y", true, true },
		{ "n", false, false },
		{ "on", true, true },
		{ "off", false, false },
		{ "2", true, false },
		{ "junk", true, false },
		{ "-1", true, false },
		{ "00000000000000000000000000000000000000000000000000000000000000000001", true,
		  false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_got got;

		if (cases[i].value)
			setenv("HASHDIST", cases[i].value, 1);
		else
			unsetenv("HASHDIST");
		world_begin(4);
		got_with(NULL, &got);
		if (got.spread != cases[i].spread_of_4)
			fail_msg("HASHDIST=%s on four nodes", cases[i].value);
		assert_int_equal(got.nodes_why, HD_WHY_MET);
		/* What the program says counts more. */
		got_with(&(struct hd_want){ .nodes = HD_NODES_ONE }, &got);
		assert_int_equal(got.spread, 0);
		got_with(&(struct hd_want){ .nodes = HD_NODES_SPREAD }, &got);
		assert_int_equal(got.spread, 1);
		world_begin(1);
		got_with(NULL, &got);
		assert_int_equal(got.spread, 0);
		if (got.nodes_why != (cases[i].wanted_of_1 ? HD_WHY_ONE_NODE : HD_WHY_MET))
			fail_msg("HASHDIST=%s on one node", cases[i].value);
	}
}

static void hashdist_pages_sets_where_the_ladder_begins(void **state)
{
	static const struct {
		const char *value;
		enum hd_why why;
		uint64_t unit;
	} cases[] = {
		{ "base", HD_WHY_MET, 4096 },
		{ "large", HD_WHY_MET, 2 * MIB },
		{ "hugetlb", HD_WHY_NO_SUPPORT, 2 * MIB },
		{ "1g", HD_WHY_NO_SUPPORT, 2 * MIB },
		{ "BASE", HD_WHY_MET, 2 * MIB },
		{ "", HD_WHY_MET, 2 * MIB },
		{ "junk", HD_WHY_MET, 2 * MIB },
	};
	static const char thp[] = "/sys/kernel/mm/transparent_hugepage/";
	char path[100];

	(void)state;
	snprintf(path, sizeof(path), "%shpage_pmd_size", thp);
	if (memory_read_number(path) != 2 * MIB)
		lacks("transparent huge pages of 2 MiB", true);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_got got;

		setenv("HASHDIST_PAGES", cases[i].value, 1);
		got_with(NULL, &got);
		assert_int_equal(got.pages_why, cases[i].why);
		assert_int_equal(got.unit, cases[i].unit);
		/* What the program says counts more. */
		got_with(&(struct hd_want){ .pages = HD_PAGES_BASE }, &got);
		assert_int_equal(got.unit, 4096);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(scale_is_the_bytes_of_memory_for_an_entry),
		TEST(the_smaller_of_machine_and_group_counts),
		TEST(limits_are_kept_and_the_high_one_has_the_last_word),
		TEST(given_entries_are_rounded_up_to_a_power_of_two),
		TEST(a_table_that_does_not_fit_is_halved_unless_it_must_be_exact),
		TEST(no_usable_node_is_enodev_and_told),
		TEST(unknown_memory_caps_no_given_count),
		TEST(hashdist_in_the_environment_is_read_as_the_kernel_reads_it),
		TEST(hashdist_pages_sets_where_the_ladder_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

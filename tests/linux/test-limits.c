/* SPDX-License-Identifier: MIT */
/*
 * test-limits.c - room for a table: machine, nodes and control groups, on pretend machines
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

#include "tests/linux/world.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static int begin(void **state)
{
	(void)state;
	door_reset();
	door_only_pretend();
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_end();
	door_reset();
	return door_leak() != NULL;
}

/* ---- control groups ------------------------------------------------------------------- */

static void hierarchy(const char *own, const char *mounts)
{
	door_file("/proc/self/cgroup", own);
	door_file("/proc/self/mountinfo", mounts);
}

#define V2_MOUNT "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNT                                                                                   \
	"30 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"              \
	"31 23 0:28 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"        \
	"32 23 0:29 / /sys/fs/cgroup/hugetlb rw - cgroup cgroup rw,hugetlb\n"

static void without_control_groups_there_is_no_limit(void **state)
{
	(void)state;
	assert_true(hdl_cgroup_room() == UINT64_MAX);
	assert_true(hdl_cgroup_limit() == UINT64_MAX);
	hierarchy("", "");
	assert_true(hdl_cgroup_room() == UINT64_MAX);
}

/*
 *   /           no file of limits
 *   /a          memory.max 1 GiB, 100 MiB used
 *   /a/b        max
 */
static void version_2_is_read_up_to_the_root(void **state)
{
	(void)state;
	hierarchy("0::/a/b\n", V2_MOUNT);
	door_file("/sys/fs/cgroup/a/b/memory.max", "max\n");
	door_file("/sys/fs/cgroup/a/b/memory.current", "12345\n");
	assert_true(hdl_cgroup_room() == UINT64_MAX);
	door_file("/sys/fs/cgroup/a/memory.max", "1073741824\n");
	door_file("/sys/fs/cgroup/a/memory.current", "104857600\n");
	assert_int_equal(hdl_cgroup_room(), GIB - 100 * MIB);
	assert_int_equal(hdl_cgroup_limit(), GIB);
	/* The lower level is the tighter one. */
	door_file("/sys/fs/cgroup/a/b/memory.max", "10485760\n");
	assert_int_equal(hdl_cgroup_room(), 10 * MIB - 12345);
	/* More used than allowed: no room, not an enormous one. */
	door_file("/sys/fs/cgroup/a/memory.current", "2073741824\n");
	assert_int_equal(hdl_cgroup_room(), 0);
}

static void cached_files_count_as_room(void **state)
{
	(void)state;
	hierarchy("0::/a\n", V2_MOUNT);
	door_file("/sys/fs/cgroup/a/memory.max", "1073741824\n");
	door_file("/sys/fs/cgroup/a/memory.current", "1073741824\n");
	door_file("/sys/fs/cgroup/a/memory.stat",
		  "anon 5\ninactive_anon 777\nactive_anon 888\n"
		  "inactive_file 104857600\nactive_file 20971520\n");
	assert_int_equal(hdl_cgroup_room(), 110 * MIB);
}

static void memory_high_limits_the_size_of_tables(void **state)
{
	(void)state;
	hierarchy("0::/a\n", V2_MOUNT);
	door_file("/sys/fs/cgroup/a/memory.max", "1073741824\n");
	door_file("/sys/fs/cgroup/a/memory.high", "536870912\n");
	assert_int_equal(hdl_cgroup_limit(), GIB / 2);
	door_file("/sys/fs/cgroup/a/memory.high", "max\n");
	assert_int_equal(hdl_cgroup_limit(), GIB);
}

static void version_1_is_read_and_its_huge_number_is_no_limit(void **state)
{
	(void)state;
	hierarchy("12:cpu,cpuacct:/x\n7:memory:/docker/abc\n3:hugetlb:/docker/abc\n", V1_MOUNT);
	door_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	door_file("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "9223372036854771712\n");
	door_file("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes",
		  "9223372036854771712\n");
	assert_true(hdl_cgroup_room() == UINT64_MAX);
	assert_true(hdl_cgroup_limit() == UINT64_MAX);
	door_file("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "1073741824\n");
	door_file("/sys/fs/cgroup/memory/docker/memory.usage_in_bytes", "1073741824\n");
	door_file("/sys/fs/cgroup/memory/docker/memory.stat",
		  "cache 1\ninactive_file 1\nactive_file 1\ntotal_cache 2\n"
		  "total_inactive_file 4194304\ntotal_active_file 0\n");
	assert_int_equal(hdl_cgroup_room(), 4 * MIB);
}

/* systemd's hybrid layout: version 2 has no controller, version 1 has the limits. */
static void hybrid_layouts_take_the_smaller_of_both(void **state)
{
	(void)state;
	hierarchy("5:memory:/m\n0::/u\n",
		  V1_MOUNT "40 23 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	door_file("/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "2147483648\n");
	assert_int_equal(hdl_cgroup_limit(), 2 * GIB);
	door_file("/sys/fs/cgroup/unified/u/memory.max", "1073741824\n");
	assert_int_equal(hdl_cgroup_limit(), GIB);
}

static void a_word_within_a_word_is_no_controller(void **state)
{
	(void)state;
	hierarchy("5:notmemory,memory2:/m\n", "31 23 0:28 / /cg rw - cgroup cgroup rw,memoryx\n");
	door_file("/cg/m/memory.limit_in_bytes", "4096\n");
	assert_true(hdl_cgroup_limit() == UINT64_MAX);
}

/*
 * Containers: the mounted hierarchy begins at our group, whose path is told from
 * the host's root, or as one outside of the namespace.
 */
static void namespaced_roots_are_found(void **state)
{
	static const struct {
		const char *own, *mount;
	} cases[] = {
		{ "0::/\n", V2_MOUNT },
		{ "0::/docker/abc\n", "29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 c rw\n" },
		{ "0::/../other\n", V2_MOUNT },
		{ "0::/\n", "29 23 0:26 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n" },
		{ "0::/elsewhere/x\n",
		  "29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 c rw\n" },
		{ "0::/docker/abcd/x\n",
		  "29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 c rw\n" },
	};

	(void)state;
	door_file("/sys/fs/cgroup/memory.max", "1073741824\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hierarchy(cases[i].own, cases[i].mount);
		if (hdl_cgroup_limit() != GIB)
			fail_msg("case %zu: limit %llu", i, (unsigned long long)hdl_cgroup_limit());
	}
	hierarchy("0::/docker/abc/in/ner\n",
		  "29 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 c rw\n");
	door_file("/sys/fs/cgroup/in/memory.max", "1048576\n");
	assert_int_equal(hdl_cgroup_limit(), MIB);
}

static void hugetlb_limits_are_read_by_page_size(void **state)
{
	(void)state;
	hierarchy("3:hugetlb:/h\n0::/g\n", V1_MOUNT V2_MOUNT);
	assert_true(hdl_cgroup_hugetlb_room(21) == UINT64_MAX);
	door_file("/sys/fs/cgroup/hugetlb/h/hugetlb.2MB.limit_in_bytes", "8388608\n");
	door_file("/sys/fs/cgroup/hugetlb/h/hugetlb.2MB.usage_in_bytes", "2097152\n");
	assert_int_equal(hdl_cgroup_hugetlb_room(21), 6 * MIB);
	door_file("/sys/fs/cgroup/g/hugetlb.2MB.max", "4194304\n");
	door_file("/sys/fs/cgroup/g/hugetlb.2MB.current", "4194305\n");
	assert_int_equal(hdl_cgroup_hugetlb_room(21), 0);
	door_file("/sys/fs/cgroup/g/hugetlb.1GB.max", "1073741824\n");
	door_file("/sys/fs/cgroup/g/hugetlb.1GB.current", "0\n");
	assert_int_equal(hdl_cgroup_hugetlb_room(30), GIB);
	door_file("/sys/fs/cgroup/g/hugetlb.64KB.max", "65536\n");
	door_file("/sys/fs/cgroup/g/hugetlb.64KB.current", "0\n");
	assert_int_equal(hdl_cgroup_hugetlb_room(16), 65536);
	door_file("/sys/fs/cgroup/g/hugetlb.512MB.max", "0\n");
	door_file("/sys/fs/cgroup/g/hugetlb.512MB.current", "0\n");
	assert_int_equal(hdl_cgroup_hugetlb_room(29), 0);
}

static void garbage_and_overlong_lines_do_not_limit(void **state)
{
	char *text = malloc(70000);

	(void)state;
	memset(text, 'a', 69999);
	text[69999] = '\0';
	hierarchy(text, text);
	assert_true(hdl_cgroup_room() == UINT64_MAX);
	text[0] = '0';
	text[1] = text[2] = ':';
	text[3] = '/'; /* a group whose path is longer than any path may be */
	hierarchy(text, V2_MOUNT);
	assert_true(hdl_cgroup_room() == UINT64_MAX);
	for (int i = 0; i < 69999; i++)
		text[i] = ":\n /-0memory,"[(unsigned)i * 2654435761u >> 28 & 11];
	hierarchy(text, text);
	(void)hdl_cgroup_room();
	hierarchy("0::/a\n", V2_MOUNT);
	door_file("/sys/fs/cgroup/a/memory.max", "99999999999999999999999999999\n");
	assert_true(hdl_cgroup_room() == UINT64_MAX);
	door_file("/sys/fs/cgroup/a/memory.max", "\n");
	assert_true(hdl_cgroup_room() == UINT64_MAX);
	free(text);
}

static void limits_of_a_deep_hierarchy_are_all_seen(void **state)
{
	char path[900] = "", own[1000], file[1100];

	(void)state;
	for (int i = 0; i < 60; i++)
		strcat(path, "/level0123");
	snprintf(own, sizeof(own), "0::%s\n", path);
	hierarchy(own, V2_MOUNT);
	door_file("/sys/fs/cgroup/level0123/memory.max", "4096\n");
	assert_int_equal(hdl_cgroup_limit(), 4096);
	snprintf(file, sizeof(file), "%s", path);
}

/* ---- room ------------------------------------------------------------------------------ */

static struct hdl_nodes all_nodes(uint32_t count)
{
	struct hdl_nodes nodes = { 0 };

	for (uint32_t n = 0; n < count; n++)
		hdl_mask_add(&nodes.memory, n);
	nodes.usable = nodes.within = nodes.memory;
	return nodes;
}

static void assert_room(uint64_t bytes, const struct hdl_nodes *nodes, enum hd_why expected)
{
	uint8_t why = HD_WHY_MET;

	assert_int_equal(hdl_room_check(bytes, nodes, &why), expected ? -ENOMEM : 0);
	assert_int_equal(why, expected);
}

static void the_machine_the_nodes_and_the_groups_each_limit(void **state)
{
	struct hdl_nodes two = all_nodes(2), one = all_nodes(1);

	(void)state;
	world_begin(2); /* 4 GiB free on each */
	door_file("/proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
	assert_room(4 * GIB, &two, HD_WHY_MET);
	assert_room(9 * GIB, &two, HD_WHY_MEMORY_SHORT);
	two.within = one.memory; /* bound to node 0 */
	assert_room(4 * GIB, &two, HD_WHY_MEMORY_SHORT);
	assert_room(3 * GIB, &two, HD_WHY_MET);
	hierarchy("0::/a\n", V2_MOUNT);
	door_file("/sys/fs/cgroup/a/memory.max", "1073741824\n");
	door_file("/sys/fs/cgroup/a/memory.current", "0\n");
	assert_room(3 * GIB, &two, HD_WHY_MEMORY_LIMIT);
	assert_room(1 * GIB, &two, HD_WHY_MEMORY_LIMIT); /* page tables need some, too */
	assert_room(1000 * MIB, &two, HD_WHY_MET);
}

static void sizes_near_the_end_of_numbers_are_short_of_memory(void **state)
{
	struct hdl_nodes nodes = all_nodes(1);

	(void)state;
	door_file("/proc/meminfo", "MemAvailable: 8388608 kB\n");
	for (int shift = 40; shift < 64; shift++) {
		assert_room(1ULL << shift, &nodes, HD_WHY_MEMORY_SHORT);
		assert_room((1ULL << shift) - 1, &nodes, HD_WHY_MEMORY_SHORT);
	}
	assert_room(UINT64_MAX, &nodes, HD_WHY_MEMORY_SHORT);
	door_file("/proc/meminfo", NULL); /* and when nothing is known of it */
	assert_room(UINT64_MAX, &nodes, HD_WHY_MEMORY_SHORT);
	assert_room(UINT64_MAX - 4095, &nodes, HD_WHY_MEMORY_SHORT);
}

static void books_that_cannot_be_read_do_not_limit(void **state)
{
	struct hdl_nodes nodes = all_nodes(2);

	(void)state;
	assert_room(GIB, &nodes, HD_WHY_MET);
	world_begin(2);
	door_file("/sys/devices/system/node/node1/meminfo", "nonsense");
	assert_room(100 * GIB, &nodes, HD_WHY_MET);
}

static void tables_are_sized_from_the_smallest_of_all(void **state)
{
	struct hdl_nodes two = all_nodes(2);

	(void)state;
	world_begin(2); /* 8 GiB in each */
	door_file("/proc/meminfo", "MemTotal: 16700000 kB\nMemAvailable: 8388608 kB\n");
	assert_int_equal(hdl_room_total(&two), 16700000ULL << 10);
	two.within = all_nodes(1).memory;
	assert_int_equal(hdl_room_total(&two), 8 * GIB);
	hierarchy("0::/a\n", V2_MOUNT);
	door_file("/sys/fs/cgroup/a/memory.max", "1073741824\n");
	assert_int_equal(hdl_room_total(&two), GIB);
}

static void without_proc_the_total_is_asked_for_by_a_call(void **state)
{
	struct hdl_nodes one = all_nodes(1);

	(void)state;
	assert_true(hdl_room_total(&one) > 64 * MIB);
	door_ill(DOOR_OTHER, -ENOSYS);
	assert_int_equal(hdl_room_total(&one), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_control_groups_there_is_no_limit),
		TEST(version_2_is_read_up_to_the_root),
		TEST(cached_files_count_as_room),
		TEST(memory_high_limits_the_size_of_tables),
		TEST(version_1_is_read_and_its_huge_number_is_no_limit),
		TEST(hybrid_layouts_take_the_smaller_of_both),
		TEST(a_word_within_a_word_is_no_controller),
		TEST(namespaced_roots_are_found),
		TEST(hugetlb_limits_are_read_by_page_size),
		TEST(garbage_and_overlong_lines_do_not_limit),
		TEST(limits_of_a_deep_hierarchy_are_all_seen),
		TEST(the_machine_the_nodes_and_the_groups_each_limit),
		TEST(sizes_near_the_end_of_numbers_are_short_of_memory),
		TEST(books_that_cannot_be_read_do_not_limit),
		TEST(tables_are_sized_from_the_smallest_of_all),
		TEST(without_proc_the_total_is_asked_for_by_a_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

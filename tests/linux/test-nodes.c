/* SPDX-License-Identifier: MIT */
/*
 * test-nodes.c - which nodes may be used, on pretend machines of many shapes
 *
 * has_memory, has_cpu, the cpuset and the task's policy are answered by the
 * door; nothing of the machine that runs the test shows through.
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

#include "backend/linux/layout.h"
#include "tests/linux/world.h"

#define NODE_DIR "/sys/devices/system/node/"
#define WEIGHTS  "/sys/kernel/mm/mempolicy/weighted_interleave/"
#define STATUS   "/proc/thread-self/status"

static const struct hdl_wish spread = { .spread = true };

static int begin(void **state)
{
	(void)state;
	door_reset();
	door_only_pretend();
	world_begin(4);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_end();
	door_reset();
	return door_leak() != NULL;
}

/** "0-2,5" of a mask. */
static const char *text_of(const struct hdl_mask *mask)
{
	static char text[4][256];
	static unsigned turn;
	char *out = text[turn++ % 4];
	size_t len = 0;

	out[0] = '\0';
	HDL_FOR_EACH_NODE(node, mask)
	{
		uint32_t last = node;

		if (node && hdl_mask_has(mask, node - 1))
			continue;
		while (hdl_mask_has(mask, last + 1))
			last++;
		len += (size_t)snprintf(out + len, 256 - len, last > node ? "%s%u-%u" : "%s%u",
					len ? "," : "", node, last);
	}
	return out;
}

static void set_policy(int mode, const char *nodes)
{
	world.task_mode = mode;
	assert_true(hdl_mask_parse(&world.task_nodes, nodes));
}

static struct hdl_nodes read_nodes(const struct hdl_wish *wish, int expected)
{
	struct hdl_nodes nodes;

	assert_int_equal(hdl_nodes_read(wish, &nodes), expected);
	return nodes;
}

static void assert_usable(const struct hdl_wish *wish, const char *usable, enum hd_why why)
{
	struct hdl_nodes nodes = read_nodes(wish, *usable ? 0 : -ENODEV);

	assert_string_equal(text_of(&nodes.usable), usable);
	assert_int_equal(nodes.why, why);
}

static void all_nodes_with_memory_are_usable(void **state)
{
	(void)state;
	assert_usable(&spread, "0-3", HD_WHY_MET);
	door_file(NODE_DIR "has_memory", "0,2\n");
	assert_usable(&spread, "0,2", HD_WHY_MET);
}

static void one_node_is_the_reason_where_there_is_one(void **state)
{
	(void)state;
	world_begin(1);
	assert_usable(&spread, "0", HD_WHY_ONE_NODE);
}

static void a_cpuset_narrows_and_is_named_when_it_leaves_one(void **state)
{
	struct hdl_nodes nodes;

	(void)state;
	door_file(STATUS, "Name:\tx\nMems_allowed:\t6\nMems_allowed_list:\t1-2\n");
	assert_usable(&spread, "1-2", HD_WHY_MET);
	nodes = read_nodes(&spread, 0);
	assert_string_equal(text_of(&nodes.within), "1-2");
	door_file(STATUS, "Mems_allowed_list:\t3\n");
	assert_usable(&spread, "3", HD_WHY_CPUSET);
}

static void memory_only_nodes_take_part_only_when_asked(void **state)
{
	struct hdl_wish wish = spread;
	struct hdl_nodes nodes;

	(void)state;
	door_file(NODE_DIR "has_cpu", "0-1\n");
	assert_usable(&wish, "0-1", HD_WHY_MET);
	nodes = read_nodes(&wish, 0);
	assert_string_equal(text_of(&nodes.within), "0-3"); /* memory may still spill there */
	wish.flags = HD_MEMORY_ONLY_NODES;
	assert_usable(&wish, "0-3", HD_WHY_MET);
	wish.flags = 0;
	wish.has_set = true;
	hdl_mask_parse(&wish.node_set, "1-2");
	assert_usable(&wish, "1-2", HD_WHY_MET); /* somebody named node 2 */
	door_file(NODE_DIR "has_cpu", "0\n");
	assert_usable(&spread, "0", HD_WHY_ONE_NODE);
}

static void a_cpuset_of_memory_only_nodes_is_used_all_the_same(void **state)
{
	(void)state;
	door_file(NODE_DIR "has_cpu", "0-1\n");
	door_file(STATUS, "Mems_allowed_list:\t2-3\n");
	assert_usable(&spread, "2-3", HD_WHY_MET);
}

static void the_tasks_policy_binds_unless_it_is_to_be_ignored(void **state)
{
	static const int modes[] = { HDL_MPOL_BIND, HDL_MPOL_INTERLEAVE, HDL_MPOL_PREFERRED_MANY,
				     HDL_MPOL_WEIGHTED };
	struct hdl_wish ignoring = { .spread = true, .flags = HD_IGNORE_POLICY };

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct hdl_nodes nodes;

		set_policy(modes[i] | 1 << 15 /* static nodes */, "1,3\n");
		assert_usable(&spread, "1,3", HD_WHY_MET);
		nodes = read_nodes(&spread, 0);
		assert_int_equal(nodes.policy, modes[i]);
		assert_false(nodes.prefers_one);
		assert_string_equal(text_of(&nodes.within),
				    modes[i] == HDL_MPOL_BIND ? "1,3" : "0-3");
		set_policy(modes[i], "2\n");
		assert_usable(&spread, "2", HD_WHY_TASK_POLICY);
		assert_usable(&ignoring, "0-3", HD_WHY_MET);
	}
}

static void a_policy_of_one_node_is_no_spread(void **state)
{
	struct hdl_region region = { .wish = spread, .bytes = 8 << 20, .shift = 21 };
	struct hdl_nodes nodes;

	(void)state;
	set_policy(HDL_MPOL_PREFERRED, "2\n");
	nodes = read_nodes(&spread, 0);
	assert_true(nodes.prefers_one);
	hdl_set_aim(&region, &nodes);
	assert_int_equal(region.aim.nodes, 1);
	assert_true(hdl_mask_has(&region.aim.node, 2));
	assert_int_equal(region.nodes_why, HD_WHY_TASK_POLICY);

	set_policy(HDL_MPOL_LOCAL, "\n");
	world.local = 3;
	nodes = read_nodes(&spread, 0);
	assert_true(nodes.prefers_one);
	hdl_set_aim(&region, &nodes);
	assert_true(hdl_mask_has(&region.aim.node, 3));
	assert_int_equal(region.nodes_why, HD_WHY_TASK_POLICY);
}

static void a_policy_that_cannot_be_read_does_not_bind(void **state)
{
	static const int errors[] = { -EPERM, -ENOSYS, -EINVAL };

	(void)state;
	for (int i = 0; i < 3; i++) {
		world.policy_error = errors[i];
		assert_usable(&spread, "0-3", HD_WHY_MET);
	}
}

static void nodes_asked_for_that_cannot_be_used_are_enodev(void **state)
{
	struct hdl_wish wish = { .has_set = true };

	(void)state;
	hdl_mask_parse(&wish.node_set, "7,1000");
	assert_usable(&wish, "", HD_WHY_NO_NODE);
	hdl_mask_parse(&wish.node_set, "3,7");
	assert_usable(&wish, "3", HD_WHY_ONE_NODE);
	door_file(STATUS, "Mems_allowed_list:\t0-1\n");
	assert_usable(&wish, "", HD_WHY_NO_NODE);
}

static void nodes_up_to_1023_are_known(void **state)
{
	struct hdl_nodes nodes;

	(void)state;
	door_file(NODE_DIR "has_memory", "0,512,1022-1023\n");
	door_file(NODE_DIR "has_cpu", "0-1023\n");
	door_file(STATUS, "Mems_allowed_list:\t0-1023\n");
	world.nodes = 1024;
	assert_usable(&spread, "0,512,1022-1023", HD_WHY_MET);
	door_file(NODE_DIR "has_memory", "0-1023\n");
	nodes = read_nodes(&spread, 0);
	assert_int_equal(hdl_mask_count(&nodes.usable), 1024);
	assert_int_equal(hdl_mask_next(&nodes.usable, 1023), 1023);
}

/*
 * No /sys (a chroot, or no descriptor is left): the kernel is asked by a call that
 * needs no file. Only where that is refused, too, the nodes are a guess.
 */
static void nodes_that_cannot_be_read_are_asked_for_or_said_to_be_a_guess(void **state)
{
	static const char *const bad[] = { NULL,       "",         "\n",
					   "0-1024\n", "5-3\n",    "0-\n",
					   "x\n",      "0,1,,2\n", "99999999999999999999999\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hdl_region region = { .wish = spread };
		struct hdl_nodes nodes;

		door_file(NODE_DIR "has_memory", bad[i]);
		world.policy_error = 0;
		assert_usable(&spread, "0-3", HD_WHY_MET);
		world.policy_error = -ENOSYS; /* a kernel without NUMA */
		assert_usable(&spread, "0", HD_WHY_ONE_NODE);
		world.policy_error = -EPERM;
		nodes = read_nodes(&spread, 0);
		assert_true(nodes.guessed);
		hdl_set_aim(&region, &nodes);
		assert_int_equal(region.sole_node, HDL_NODES_MAX);
		assert_int_equal(region.nodes_why, HD_WHY_UNKNOWN);
	}
}

static void a_cpuset_that_cannot_be_read_does_not_narrow(void **state)
{
	static const char *const bad[] = { NULL, "", "Name:\tx\n", "Mems_allowed_list:\tx\n",
					   "Mems_allowed_list:\t0-9999\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		door_file(STATUS, bad[i]);
		assert_usable(&spread, "0-3", HD_WHY_MET);
	}
}

/* The line wanted comes after 20 KiB of others, one of them longer than any buffer. */
static void a_long_status_is_read_to_its_end(void **state)
{
	size_t size = 40000;
	char *text = malloc(size), *at = text;

	(void)state;
	for (int i = 0; i < 500; i++)
		at += sprintf(at, "Line%d:\t0123456789\n", i);
	memset(at, 'x', 9500);
	at += 9500;
	strcpy(at, "\nMems_allowed_list:\t2\nmore:\t1\n");
	door_file(STATUS, text);
	assert_usable(&spread, "2", HD_WHY_CPUSET);
	free(text);
}

/* ---- shares ----------------------------------------------------------------------------- */

static void shares_are_even_without_weights(void **state)
{
	struct hdl_shares shares;
	struct hdl_mask mask;

	(void)state;
	hdl_mask_parse(&mask, "1,3,9");
	hdl_shares_even(&shares, &mask, true);
	assert_false(shares.weighted);
	assert_int_equal(shares.round, 3);
	for (uint64_t i = 0; i < 30; i += 3) {
		assert_int_equal(hdl_shares_node(&shares, i), 1);
		assert_int_equal(hdl_shares_node(&shares, i + 1), 3);
		assert_int_equal(hdl_shares_node(&shares, i + 2), 9);
	}
	assert_int_equal(hdl_shares_node(&shares, UINT64_MAX), UINT64_MAX % 3 == 0 ? 1 : 3);
}

static void weights_count_when_they_differ_and_are_all_there(void **state)
{
	static const struct {
		const char *a, *b;
		bool weighted;
		uint32_t round;
	} cases[] = {
		{ "3\n", "1\n", true, 4 },     { "5\n", "5\n", false, 2 },
		{ "1\n", "255\n", true, 256 }, { "0\n", "1\n", false, 2 },
		{ "256\n", "1\n", false, 2 },  { "x\n", "1\n", false, 2 },
		{ "3\n", NULL, false, 2 },     { "", "7\n", false, 2 },
	};
	struct hdl_shares shares;
	struct hdl_mask mask;

	(void)state;
	hdl_mask_parse(&mask, "0-1");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		door_file(WEIGHTS "node0", cases[i].a);
		door_file(WEIGHTS "node1", cases[i].b);
		hdl_shares_even(&shares, &mask, true);
		assert_int_equal(shares.weighted, cases[i].weighted);
		assert_int_equal(shares.round, cases[i].round);
		if (!shares.weighted)
			assert_int_equal(shares.weight[0], 1);
	}
}

static void the_node_with_most_room_is_chosen_when_the_local_one_is_full(void **state)
{
	struct hdl_region region = { .wish = { .spread = false }, .bytes = 1 << 30, .shift = 21 };
	struct hdl_nodes nodes = read_nodes(&region.wish, 0);

	(void)state;
	world.local = 1;
	hdl_set_aim(&region, &nodes);
	assert_true(hdl_mask_has(&region.aim.node, 1));
	door_file(NODE_DIR "node1/meminfo", "Node 1 MemTotal: 8388608 kB\nNode 1 MemFree: 5 kB\n");
	door_file(NODE_DIR "node2/meminfo",
		  "Node 2 MemTotal: 8388608 kB\nNode 2 MemFree: 8000000 kB\n");
	hdl_set_aim(&region, &nodes);
	assert_true(hdl_mask_has(&region.aim.node, 2));
	assert_int_equal(region.aim.nodes, 1);
	assert_int_equal(region.nodes_why, HD_WHY_MET); /* no spread was wanted */
}

static void cpus_of_a_node_are_parsed(void **state)
{
	static const struct {
		const char *text;
		int count;
	} cases[] = { { "0-3,8\n", 5 },
		      { "\n", 0 },
		      { "", 0 },
		      { "5\n", 1 },
		      { "0-\n", -EPROTO },
		      { "junk\n", 0 },
		      { "0-99999999\n", 8192 },
		      { "7-3\n", 0 } };
	unsigned long cpus[HDL_NODES_MAX * 8 / HDL_WORD_BITS];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		door_file(NODE_DIR "node2/cpulist", cases[i].text);
		assert_int_equal(hdl_node_cpus(2, cpus, sizeof(cpus)), cases[i].count);
	}
	door_file(NODE_DIR "node2/cpulist", NULL);
	assert_int_equal(hdl_node_cpus(2, cpus, sizeof(cpus)), -ENOENT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_nodes_with_memory_are_usable),
		TEST(one_node_is_the_reason_where_there_is_one),
		TEST(a_cpuset_narrows_and_is_named_when_it_leaves_one),
		TEST(memory_only_nodes_take_part_only_when_asked),
		TEST(a_cpuset_of_memory_only_nodes_is_used_all_the_same),
		TEST(the_tasks_policy_binds_unless_it_is_to_be_ignored),
		TEST(a_policy_of_one_node_is_no_spread),
		TEST(a_policy_that_cannot_be_read_does_not_bind),
		TEST(nodes_asked_for_that_cannot_be_used_are_enodev),
		TEST(nodes_up_to_1023_are_known),
		TEST(nodes_that_cannot_be_read_are_asked_for_or_said_to_be_a_guess),
		TEST(a_cpuset_that_cannot_be_read_does_not_narrow),
		TEST(a_long_status_is_read_to_its_end),
		TEST(shares_are_even_without_weights),
		TEST(weights_count_when_they_differ_and_are_all_there),
		TEST(the_node_with_most_room_is_chosen_when_the_local_one_is_full),
		TEST(cpus_of_a_node_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

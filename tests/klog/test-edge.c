/* SPDX-License-Identifier: MIT */
/*
 * test-edge.c - where a file of many boots may be cut, and where it is
 *
 *   ... UDP-Lite hash table entries ...   the boot before ends with a table, or a
 *   [    0.000000] Linux version ...      time that is not zero; this is the edge
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "klog/klog.h"

#define BANNER "[    0.000000] Linux version 6.1.0 (builder@localhost) #1 SMP\n"
#define TABLE  "[    0.000000] Dentry cache hash table entries: 512 (order: 0, 4096 bytes, linear)\n"
#define LATER  "[    1.500000] smp: Brought up 1 node, 2 CPUs\n"
#define EARLY  "[    0.000000] Kernel command line: ro\n"

static size_t edge_of(const char *text)
{
	size_t len = strlen(text);

	return klog_edge(text, len, 0, len);
}

static void the_banner_behind_a_table_or_a_later_time_is_an_edge(void **state)
{
	(void)state;
	assert_int_equal(edge_of(BANNER TABLE BANNER TABLE), strlen(BANNER TABLE));
	assert_int_equal(edge_of(BANNER LATER BANNER TABLE), strlen(BANNER LATER));
}

static void what_arm_prints_before_its_banner_is_the_edge(void **state)
{
	static const char text[] = BANNER TABLE
	    "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd034]\n" BANNER TABLE;

	(void)state;
	assert_int_equal(edge_of(text), strlen(BANNER TABLE));
}

static void a_banner_that_may_belong_to_the_same_boot_is_none(void **state)
{
	(void)state;
	assert_int_equal(edge_of(BANNER BANNER TABLE), KLOG_NO_EDGE);
	assert_int_equal(edge_of(BANNER EARLY BANNER TABLE), KLOG_NO_EDGE);
	assert_int_equal(edge_of(BANNER TABLE "Linux version 6.1.0 (no time before it) #1\n"),
			 KLOG_NO_EDGE);
	assert_int_equal(edge_of(BANNER), KLOG_NO_EDGE);
	assert_int_equal(edge_of(""), KLOG_NO_EDGE);
}

/** Whoever looks, from wherever, finds the same edge, as long as it is in the range. */
static void the_range_decides_and_nothing_else(void **state)
{
	static const char text[] = BANNER TABLE BANNER TABLE BANNER TABLE;
	const size_t first = strlen(BANNER TABLE), second = 2 * first, len = strlen(text);

	(void)state;
	for (size_t from = 0; from <= len; from++) {
		size_t wanted = from <= first ? first : from <= second ? second : KLOG_NO_EDGE;

		assert_int_equal(klog_edge(text, len, from, len), wanted);
	}
	assert_int_equal(klog_edge(text, len, 0, first), KLOG_NO_EDGE);
	assert_int_equal(klog_edge(text, len, 0, first + 1), first);
}

static bool sure_after(const char *text)
{
	static const struct klog_sink sink = { NULL, NULL, NULL };
	struct klog *log = klog_new(&sink);
	bool sure;

	assert_non_null(log);
	klog_feed(log, text, strlen(text));
	sure = klog_at_edge(log);
	klog_free(log);
	return sure;
}

static void a_reader_is_sure_behind_a_banner_and_a_table(void **state)
{
	(void)state;
	assert_true(sure_after(BANNER TABLE));
	assert_true(sure_after(BANNER TABLE LATER));
	assert_false(sure_after(BANNER));
	assert_false(sure_after(TABLE));
	assert_false(sure_after(BANNER LATER));
	/* in the middle of a line */
	assert_false(sure_after(BANNER TABLE "[    1.500000] smp: Bro"));
	assert_false(sure_after(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_banner_behind_a_table_or_a_later_time_is_an_edge),
		cmocka_unit_test(what_arm_prints_before_its_banner_is_the_edge),
		cmocka_unit_test(a_banner_that_may_belong_to_the_same_boot_is_none),
		cmocka_unit_test(the_range_decides_and_nothing_else),
		cmocka_unit_test(a_reader_is_sure_behind_a_banner_and_a_table),
	};

	return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}

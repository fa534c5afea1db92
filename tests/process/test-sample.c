/* SPDX-License-Identifier: MIT */
/* test-sample.c - shares of nodes from some pages, asked of a kernel of two nodes that is none */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include "process/internal.h"

#define START UINT64_C(0x7f0000000000)
#define MIB   UINT64_C(0x100000)

long __wrap_hdl_sys(long number, const long *args);

static int (*node_at)(uint64_t address); /* or -errno; what the kernel answers */
static long refusal;
static uint64_t asked;

long __wrap_hdl_sys(long number, const long *args)
{
	assert_int_equal(number, SYS_move_pages);
	assert_int_equal(args[0], 71);
	assert_int_equal(args[3], 0); /* a question moves nothing */
	for (long i = 0; !refusal && i < args[1]; i++) {
		uint64_t at = ((const uint64_t *)args[2])[i];

		assert_in_range(at, START, START + 64 * MIB - 1);
		((int *)args[4])[i] = node_at(at);
		asked++;
	}
	return refusal;
}

static int by_block(uint64_t address)
{
	return address >> 21 & 3 ? 2 : 0; /* three quarters on node 2 */
}

static int by_page(uint64_t address)
{
	return address >> 12 & 1 ? 2 : 0;
}

static int heads_only(uint64_t address)
{
	return address % (2 * MIB) ? -ENOENT : 2;
}

static int nothing(uint64_t address)
{
	(void)address;
	return -ENOENT;
}

static int elsewhere(uint64_t address)
{
	(void)address;
	return 7;
}

static int sample(int (*nodes)(uint64_t), uint64_t bytes[2], uint64_t until)
{
	const struct process process = { .pid = 71,
					 .nodes = 2,
					 .node = { 0, 2 },
					 .pages = { .base_shift = 12, .thp_shift = 21 } };
	struct process_mapping mapping = {
		.start = START, .end = START + 64 * MIB, .resident = 32 * MIB, .node_bytes = bytes
	};
	const struct process_clock clock = { until };
	int error;

	node_at = nodes;
	asked = 0;
	bytes[0] = bytes[1] = 123;
	error = process_sample(&process, &mapping, &clock);
	assert_int_equal(mapping.sampled, !error);
	assert_int_equal(mapping.nodes_known, !error);
	return error;
}

static void shares_are_those_of_the_pages_that_were_asked_for(void **state)
{
	uint64_t bytes[2];

	(void)state;
	assert_int_equal(sample(by_block, bytes, UINT64_MAX), 0);
	assert_int_equal(bytes[0], 8 * MIB);
	assert_int_equal(bytes[1], 24 * MIB);
	assert_int_equal(asked, 1024);
	/* page by page, too, although blocks are what is gone through */
	assert_int_equal(sample(by_page, bytes, UINT64_MAX), 0);
	assert_in_range(bytes[0], 14 * MIB, 18 * MIB);
	assert_int_equal(bytes[0] + bytes[1], 32 * MIB);
}

static void where_no_page_within_is_there_heads_are_asked_for(void **state)
{
	uint64_t bytes[2];

	(void)state;
	assert_int_equal(sample(heads_only, bytes, UINT64_MAX), 0);
	assert_int_equal(bytes[0], 0);
	assert_int_equal(bytes[1], 32 * MIB);
}

static void what_cannot_be_told_is_unknown(void **state)
{
	uint64_t bytes[2];

	(void)state;
	assert_int_equal(sample(nothing, bytes, UINT64_MAX), -ENOENT);
	assert_int_equal(bytes[0] + bytes[1], 0);
	assert_int_equal(sample(elsewhere, bytes, UINT64_MAX), -ENOENT);
	assert_int_equal(sample(by_block, bytes, 0), -ETIME);
	assert_int_equal(bytes[0] + bytes[1], 0);
	refusal = -EPERM;
	assert_int_equal(sample(by_block, bytes, UINT64_MAX), -EPERM);
	refusal = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_those_of_the_pages_that_were_asked_for),
		cmocka_unit_test(where_no_page_within_is_there_heads_are_asked_for),
		cmocka_unit_test(what_cannot_be_told_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

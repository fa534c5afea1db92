/* SPDX-License-Identifier: MIT */
/* test-options.c - what the starter prints is what the library reads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "preload/options.h"

static char text[PRELOAD_TEXT_MAX];

static struct preload_options usual(void)
{
	return (struct preload_options){ .pid = 71,
					 .min_bytes = 4 << 20,
					 .most_bytes = UINT64_MAX,
					 .scan_ms = 100,
					 .huge_shift = 21,
					 .hooks = true };
}

static void check_round_trip(const struct preload_options *options)
{
	struct preload_options back;

	assert_in_range(preload_options_print(options, text, sizeof(text)), 1, sizeof(text) - 1);
	assert_true(preload_options_parse(text, &back));
	assert_int_equal(back.pid, options->pid);
	assert_int_equal(back.min_bytes, options->min_bytes);
	assert_int_equal(back.most_bytes, options->most_bytes);
	assert_int_equal(back.scan_ms, options->scan_ms);
	assert_int_equal(back.huge_shift, options->huge_shift);
	assert_memory_equal(&back.nodes, &options->nodes, sizeof(back.nodes));
	assert_int_equal(back.weighted, options->weighted);
	assert_int_equal(back.hooks, options->hooks);
	assert_int_equal(back.children, options->children);
	assert_int_equal(back.explain, options->explain);
	assert_string_equal(back.explain_path, options->explain_path);
}

static void all_options_survive(void **state)
{
	struct preload_options options = usual();

	(void)state;
	check_round_trip(&options);
	options.hooks = false;
	options.weighted = options.children = options.explain = true;
	check_round_trip(&options);
	strcpy(options.explain_path, "/a path;with=all;min=1 and more");
	check_round_trip(&options);
}

static void any_set_of_nodes_survives(void **state)
{
	struct preload_options options = usual();

	(void)state;
	for (uint32_t node = 0; node < HDL_NODES_MAX; node += 1 + node / 3) {
		hdl_mask_add(&options.nodes, node);
		check_round_trip(&options);
	}
	for (uint32_t node = 0; node < HDL_NODES_MAX; node += 2)
		hdl_mask_add(&options.nodes, node);
	check_round_trip(&options);
	hdl_mask_add(&options.nodes, HDL_NODES_MAX - 1);
	check_round_trip(&options);
}

static void text_that_is_too_long_is_cut_and_said(void **state)
{
	struct preload_options options = usual();
	char small[16];

	(void)state;
	assert_true(preload_options_print(&options, small, sizeof(small)) >= (int)sizeof(small));
	assert_int_equal(strlen(small), sizeof(small) - 1);
}

static void nonsense_is_refused(void **state)
{
	static const char *const wrong[] = { "",
					     "pid=1",
					     "min=4",
					     "pid=x;min=4",
					     "pid=1;min=0",
					     "pid=1;min=4;huge=64",
					     "pid=1;min=4;nodes=0-",
					     "pid=1;min=4;nodes=9999" };
	struct preload_options out;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(preload_options_parse(wrong[i], &out));
	assert_true(preload_options_parse("pid=1;min=4;later=words", &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_options_survive),
		cmocka_unit_test(any_set_of_nodes_survives),
		cmocka_unit_test(text_that_is_too_long_is_cut_and_said),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test-oom.c - the host is out of memory while a machine boots
 *
 * Layout and boot either succeed or say -ENOMEM, and keep nothing in either case.
 * A boot that succeeds although the host had to refuse some of its wishes may
 * have got smaller tables, as on a machine that is short of memory itself.
 */
#include <errno.h>

#include "tests/boot/real.h"
#include "tests/sim/host.h"

static void boots_or_says_so(const struct description *machine, const struct hd_machine *want,
			     const char *cmdline)
{
	const struct boot_options none = { .first_node = 0 };
	struct hd_machine m = *want;
	struct boot_layout layout;
	struct boot_result result;
	int error = boot_layout(machine, &m.rules, cmdline, &layout);

	if (error) {
		assert_int_equal(error, -ENOMEM);
		assert_null(layout.ram);
		assert_null(layout.node_id);
		return;
	}
	assert_int_equal(layout.memory_nodes, 3); /* it is complete, or it is none */
	boot_pages(machine, &layout, &m.rules, cmdline, &m.facts.pages);
	assert_int_equal(m.facts.pages.kernel, want->facts.pages.kernel);
	error = boot_run(&layout, &m, &none, &result);
	if (error) {
		assert_int_equal(error, -ENOMEM);
		assert_null(result.node_store);
	} else {
		assert_false(result.leaked);
		boot_result_fini(&result);
	}
	boot_layout_fini(&layout);
}

static void a_boot_keeps_nothing_of_a_host_without_memory(void **state)
{
	static const char text[] = "x86-64 node:0=4G node:1=4G node:2=0 node:3=64M cpus=2";
	static const char *const cmdlines[] = { "", "hashdist=0" };

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cmdlines); i++) {
		struct booted b = booted(text, "6.12", cmdlines[i / 2]);
		struct hd_machine machine = { .rules = b.rules };
		long calls = 0;

		machine.params = b.result.machine.params;
		machine.facts = b.result.machine.facts;
		machine.facts.pages = b.pages;
		do {
			long before = host.live;

			host_allows(calls++, i % 2);
			boots_or_says_so(&b.description, &machine, cmdlines[i / 2]);
			host_is_well();
			assert_int_equal(host.live, before);
		} while (host.failures);
		assert_true(calls > 20);
		booted_fini(&b);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_boot_keeps_nothing_of_a_host_without_memory),
	};

	return cmocka_run_group_tests_name("boot: host out of memory", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test-hashdist.c - the flag: its default, when boot clears it, who has the last word
 *
 * The order of boot is what is tested here: default, then clearing, then the
 * command line.
 */
#include "help.h"

static bool flag(const char *version, enum hd_arch arch, uint32_t memory_nodes, const char *cmdline,
		 enum hd_hashdist_reason *reason)
{
	struct hd_machine m = machine_of(version, arch, GIB, memory_nodes, cmdline);

	return hd_hashdist(&m.rules, &m.facts, &m.params, reason);
}

static bool flag_with(int8_t numa, const char *version, enum hd_arch arch, const char *cmdline,
		      enum hd_hashdist_reason *reason)
{
	struct hd_facts facts = { .memory_nodes = 2, .online_nodes = 2 };
	struct hd_config config;
	struct hd_rules rules;
	struct hd_params params;

	hd_config_init(&config);
	config.numa = numa;
	hd_rules_init(&rules, version_of(version), arch, &config);
	hd_params_parse(&params, &rules, cmdline, strlen(cmdline));
	return hd_hashdist(&rules, &facts, &params, reason);
}

static void the_default_grew_from_ia64_to_every_64_bit_kernel_with_numa(void **state)
{
	static const struct {
		const char *version;
		enum hd_arch arch;
		bool on;
	} cells[] = {
		{ "2.6.11", HD_ARCH_IA64, true },    { "2.6.20", HD_ARCH_IA64, true },
		{ "2.6.11", HD_ARCH_X86_64, false }, { "2.6.20", HD_ARCH_X86_64, false },
		{ "2.6.21", HD_ARCH_X86_64, true },  { "2.6.30", HD_ARCH_X86_64, true },
		{ "2.6.20", HD_ARCH_PPC64, false },  { "2.6.30", HD_ARCH_PPC64, false },
		{ "3.10.65", HD_ARCH_PPC64, true },  { "3.10.65", HD_ARCH_X86_64, true },
		{ "3.10.65", HD_ARCH_S390X, true },  { "3.10.65", HD_ARCH_SPARC64, true },
		{ "3.10.65", HD_ARCH_I386, false },  { "4.4", HD_ARCH_X86_64, true },
		{ "4.4", HD_ARCH_ARM64, false },     { "4.7", HD_ARCH_ARM64, true },
		{ "5.11", HD_ARCH_RISCV64, false },  { "5.12", HD_ARCH_RISCV64, true },
		{ "6.1.192", HD_ARCH_X86_64, true }, { "7.1.5", HD_ARCH_LOONGARCH64, true },
		{ "7.1.5", HD_ARCH_ARM64, true },    { "7.1.5", HD_ARCH_ARM, false },
		{ "7.1.5", HD_ARCH_I386, false },    { "7.1.5", HD_ARCH_PPC, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		enum hd_hashdist_reason reason;
		bool on = flag(cells[i].version, cells[i].arch, 2, "", &reason);

		if (on != cells[i].on)
			fail_msg("%s %s: %d", hd_arch_name(cells[i].arch), cells[i].version, on);
		if (on)
			assert_int_equal(reason, HD_REASON_DEFAULT);
	}
}

static void a_kernel_without_numa_has_the_constant_0(void **state)
{
	enum hd_hashdist_reason reason;

	(void)state;
	assert_false(flag_with(HD_NO, "6.1", HD_ARCH_X86_64, "", &reason));
	assert_int_equal(reason, HD_REASON_NO_NUMA);
	assert_false(flag_with(HD_NO, "6.1", HD_ARCH_X86_64, "hashdist=1", &reason));
	assert_int_equal(reason, HD_REASON_NO_NUMA);
	assert_false(flag("6.1.170", HD_ARCH_I386, 1, "hashdist=1", &reason));
	assert_int_equal(reason, HD_REASON_NO_NUMA);
}

static void a_32_bit_kernel_with_numa_starts_at_0_and_can_be_set(void **state)
{
	enum hd_hashdist_reason reason;

	(void)state;
	assert_false(flag_with(HD_YES, "6.1", HD_ARCH_I386, "", &reason));
	assert_int_equal(reason, HD_REASON_DEFAULT);
	assert_true(flag_with(HD_YES, "6.1", HD_ARCH_I386, "hashdist=1", &reason));
	assert_int_equal(reason, HD_REASON_PARAMETER);
	/* So could an early x86-64 one. */
	assert_false(flag_with(HD_YES, "2.6.20", HD_ARCH_X86_64, "", &reason));
	assert_true(flag_with(HD_YES, "2.6.20", HD_ARCH_X86_64, "hashdist=1", &reason));
}

/*
 *   no node  (a machine that does not tell)    the default stays
 *   node 0   |########|                        cleared: nothing to distribute over
 *   node 0   |####|   node 1 |####|            stays
 */
static void exactly_one_memory_node_clears_it_from_5_3(void **state)
{
	static const char *const versions[] = { "5.3", "6.1.192", "6.4.6", "6.19.9", "7.1.5" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		for (uint32_t nodes = 0; nodes < 4; nodes++) {
			enum hd_hashdist_reason reason;
			bool on = flag(versions[i], HD_ARCH_X86_64, nodes, "", &reason);

			assert_int_equal(on, nodes != 1);
			assert_int_equal(reason,
					 nodes == 1 ? HD_REASON_ONE_NODE : HD_REASON_DEFAULT);
		}
}

static void kernels_to_5_2_never_clear_it(void **state)
{
	static const char *const versions[] = { "2.6.32", "4.19", "5.2.1", "5.2.21" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		for (uint32_t nodes = 0; nodes < 4; nodes++) {
			enum hd_hashdist_reason reason;

			assert_true(flag(versions[i], HD_ARCH_X86_64, nodes, "", &reason));
			assert_int_equal(reason,
					 nodes == 1 ? HD_REASON_NEVER_CLEARED : HD_REASON_DEFAULT);
		}
}

/*
 *   node 0  |####################|  2 GiB, processors
 *   node 1  |                    |  processors only
 */
static void a_memoryless_node_does_not_keep_it(void **state)
{
	struct hd_machine m = machine_of("6.1.192", HD_ARCH_X86_64, 2 * GIB, 1, "");

	(void)state;
	give_nodes(&m, 2, 1);
	assert_false(m.hashdist);
	give_nodes(&m, 2, 2);
	assert_true(m.hashdist);
}

static void an_explicit_value_wins_both_ways(void **state)
{
	static const char *const versions[] = { "2.6.32", "5.2.1", "5.3",   "6.1.192",
						"6.19.9", "7.0",   "7.1.5", "newest" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		for (uint32_t nodes = 0; nodes < 4; nodes++) {
			enum hd_hashdist_reason reason;

			assert_true(
			    flag(versions[i], HD_ARCH_X86_64, nodes, "hashdist=1", &reason));
			assert_int_equal(reason, HD_REASON_PARAMETER);
			assert_false(
			    flag(versions[i], HD_ARCH_X86_64, nodes, "hashdist=0", &reason));
			assert_int_equal(reason, HD_REASON_PARAMETER);
			assert_true(flag(versions[i], HD_ARCH_X86_64, nodes,
					 "hashdist=0 hashdist=1", NULL));
		}
}

static void a_value_that_is_not_taken_leaves_boot_its_choice(void **state)
{
	enum hd_hashdist_reason reason;

	(void)state;
	assert_true(flag("7.0", HD_ARCH_X86_64, 2, "hashdist=bar", &reason));
	assert_int_equal(reason, HD_REASON_DEFAULT);
	assert_false(flag("7.0", HD_ARCH_X86_64, 1, "hashdist=2", &reason));
	assert_int_equal(reason, HD_REASON_ONE_NODE);
	assert_true(flag("6.1", HD_ARCH_X86_64, 2, "hashdist", &reason));
	assert_int_equal(reason, HD_REASON_DEFAULT);
	/* Garbage is a number on 6.1: none, so 0. */
	assert_false(flag("6.1", HD_ARCH_X86_64, 2, "hashdist=bar", &reason));
	assert_int_equal(reason, HD_REASON_PARAMETER);
	/* The last one is not taken, the one before it is still in force. */
	assert_true(flag("7.0", HD_ARCH_X86_64, 1, "hashdist=1 hashdist=2", &reason));
	assert_int_equal(reason, HD_REASON_PARAMETER);
}

static void a_given_rule_changes_the_answer(void **state)
{
	struct hd_machine m = machine_of("4.18.0", HD_ARCH_X86_64, GIB, 1, "");

	(void)state;
	assert_true(m.hashdist);
	assert_int_equal(hd_rules_parse(&m.rules, "hashdist-clears=yes", 19), 0);
	assert_false(hd_hashdist(&m.rules, &m.facts, &m.params, NULL));
	assert_int_equal(hd_rules_parse(&m.rules, "hashdist-default=0", 18), 0);
	m.facts.memory_nodes = 2;
	assert_false(hd_hashdist(&m.rules, &m.facts, &m.params, NULL));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_grew_from_ia64_to_every_64_bit_kernel_with_numa),
		cmocka_unit_test(a_kernel_without_numa_has_the_constant_0),
		cmocka_unit_test(a_32_bit_kernel_with_numa_starts_at_0_and_can_be_set),
		cmocka_unit_test(exactly_one_memory_node_clears_it_from_5_3),
		cmocka_unit_test(kernels_to_5_2_never_clear_it),
		cmocka_unit_test(a_memoryless_node_does_not_keep_it),
		cmocka_unit_test(an_explicit_value_wins_both_ways),
		cmocka_unit_test(a_value_that_is_not_taken_leaves_boot_its_choice),
		cmocka_unit_test(a_given_rule_changes_the_answer),
	};

	return cmocka_run_group_tests_name("core: hashdist", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test-infer-nodes.c - nodes, processors and command line: who is believed, log or books */
#include "infer.h"

/* ---- nodes ------------------------------------------------------------------------------- */

static void check_nodes(uint32_t memory, uint32_t online, uint32_t possible)
{
	assert_int_equal(facts.machine.facts.memory_nodes, memory);
	assert_int_equal(facts.machine.facts.online_nodes, online);
	assert_int_equal(facts.machine.facts.possible_nodes, possible);
	assert_int_equal(facts.has_nodes, memory != 0);
}

static void zonelists_count_the_online_nodes(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 2, 1000000);
	boot.brought_up_nodes = 1;
	boot.has |= KLOG_HAS_BROUGHT_UP_NODES;
	infer();
	check_nodes(2, 2, 2);
	assert_true(facts.machine.hashdist);
	boot.has &= ~(uint32_t)KLOG_HAS_ZONELISTS;
	infer();
	check_nodes(2, 1, 1); /* "Brought up" is second best */
}

/*
 *   node 0  |################|  all memory
 *   node 1  |                |  processors only
 *   node 2                      possible, not there
 */
static void a_memoryless_node_is_online_and_clears_nothing(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 1, 1000000);
	boot.memoryless_nodes = 1;
	boot.node_ids = 3;
	boot.has |= KLOG_HAS_NODE_IDS;
	infer();
	check_nodes(1, 2, 3);
	assert_false(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_ONE_NODE);
}

static void one_online_node_must_have_the_memory(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 0, 500000);
	infer();
	check_nodes(1, 1, 1);
	boot_zonelists(&boot, 2, 0, 500000);
	infer();
	check_nodes(0, 2, 2); /* both, or one: not told */
}

/** CXL memory that came online after boot: the tables had only two nodes to lie on. */
static void the_log_wins_over_the_books_for_nodes_at_boot(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk_node(&desk, 0, true);
	desk_node(&desk, 1, true);
	desk_node(&desk, 2, true);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	infer_both();
	check_nodes(3, 3, 3); /* a log that does not tell */
	boot_zonelists(&boot, 2, 2, 1000000);
	infer_both();
	check_nodes(2, 2, 3);
	boot.node_ids = 4;
	boot.has |= KLOG_HAS_NODE_IDS;
	infer_both();
	check_nodes(2, 2, 4);
}

static void a_live_machine_without_node_books_has_one_node(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	check_nodes(0, 0, 0); /* saved: somebody may have left them out */
	desk.books.live = true;
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	check_nodes(1, 1, 1);
}

static void several_nodes_show_that_a_64_bit_kernel_knows_numa(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_UNKNOWN);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	boot_zonelists(&boot, 1, 1, 1000000);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 0);
	boot_zonelists(&boot, 2, 2, 1000000);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 1);
	assert_int_equal(rule(HD_RULE_HASHDIST_DEFAULT), 1);
	assert_true(facts.machine.hashdist);
	infer_given("hashdist-default=no");
	assert_false(facts.machine.hashdist);
	boot.table[0].bytes = MIB; /* pointers of four bytes */
	boot.table[0].order = 8;
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 0);
	boot_init(&boot, "2.6.20", HD_ARCH_PPC64); /* NUMA, but not distributed yet */
	boot_zonelists(&boot, 2, 2, 100000);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_DEFAULT), 0);
}

static void emulated_nodes_are_told_by_the_log(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_ARM64);
	boot_zonelists(&boot, 8, 8, 0);
	boot.emulated_nodes = 8;
	infer();
	assert_int_equal(facts.emulated_nodes, 8);
	boot.emulated_nodes = 1; /* "Faking a node": no NUMA found, nothing divided */
	infer();
	assert_int_equal(facts.emulated_nodes, 0);
}

static void emulated_nodes_are_told_by_the_command_line(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_ARM64);
	boot_zonelists(&boot, 4, 4, 0);
	boot_cmdline(&boot, "root=/dev/vda numa=fake=4 quiet");
	infer();
	assert_int_equal(facts.emulated_nodes, 4);
	boot_zonelists(&boot, 1, 1, 0); /* asked for, not done */
	infer();
	assert_int_equal(facts.emulated_nodes, 0);
	boot_zonelists(&boot, 4, 4, 0);
	boot_cmdline(&boot, "root=/dev/vda numa=off quiet");
	infer();
	assert_int_equal(facts.emulated_nodes, 0);
}

/* ---- processors, command line ------------------------------------------------------------ */

static void possible_processors_come_from_the_best_that_tells(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk.books.possible_cpus = known(16);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot.possible_cpus = 12;
	boot.cpu_ids = 10;
	boot.online_cpus = 8;
	infer_both();
	assert_int_equal(facts.machine.facts.possible_cpus, 16);
	infer();
	assert_int_equal(facts.machine.facts.possible_cpus, 0); /* nothing of it was printed */
	boot.has = KLOG_HAS_ONLINE_CPUS;
	infer();
	assert_int_equal(facts.machine.facts.possible_cpus, 8);
	boot.has |= KLOG_HAS_CPU_IDS;
	infer();
	assert_int_equal(facts.machine.facts.possible_cpus, 10);
	boot.has |= KLOG_HAS_POSSIBLE_CPUS;
	infer();
	assert_int_equal(facts.machine.facts.possible_cpus, 12);
}

static void the_books_command_line_wins(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 2, 1000000);
	boot_cmdline(&boot, "hashdist=0");
	infer();
	assert_true(facts.has_cmdline);
	assert_false(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_PARAMETER);
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	infer_both(); /* books that lack it leave the log's */
	assert_false(facts.machine.hashdist);
	desk_cmdline(&desk, "quiet");
	infer_both();
	assert_true(facts.has_cmdline);
	assert_true(facts.machine.hashdist);
}

static void a_cut_command_line_is_used_but_not_trusted(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 2, 1000000);
	boot_cmdline(&boot, "hashdist=0 consol");
	boot.cmdline_cut = true;
	infer();
	assert_false(facts.has_cmdline);
	assert_false(facts.machine.hashdist);
}

static void a_pv_qspinlock_line_shows_paravirtual_spinlocks(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	infer();
	assert_false(facts.machine.facts.pv_spinlocks);
	boot_table(&boot, "PV qspinlock", 256, 0, 4096, HD_MAP_LINEAR);
	infer();
	assert_true(facts.machine.facts.pv_spinlocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zonelists_count_the_online_nodes),
		cmocka_unit_test(a_memoryless_node_is_online_and_clears_nothing),
		cmocka_unit_test(one_online_node_must_have_the_memory),
		cmocka_unit_test(the_log_wins_over_the_books_for_nodes_at_boot),
		cmocka_unit_test(a_live_machine_without_node_books_has_one_node),
		cmocka_unit_test(several_nodes_show_that_a_64_bit_kernel_knows_numa),
		cmocka_unit_test(emulated_nodes_are_told_by_the_log),
		cmocka_unit_test(emulated_nodes_are_told_by_the_command_line),
		cmocka_unit_test(possible_processors_come_from_the_best_that_tells),
		cmocka_unit_test(the_books_command_line_wins),
		cmocka_unit_test(a_cut_command_line_is_used_but_not_trusted),
		cmocka_unit_test(a_pv_qspinlock_line_shows_paravirtual_spinlocks),
	};

	return cmocka_run_group_tests_name("infer-nodes", tests, NULL, NULL);
}

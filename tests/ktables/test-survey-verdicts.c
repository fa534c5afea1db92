/* SPDX-License-Identifier: MIT */
/* test-survey-verdicts.c - how full tables are, the linear map, verdicts; and all of it again */
#include "survey.h"

/* ---- how full ---------------------------------------------------------------------------- */

static void used(const char *name, bool want_known, uint64_t want)
{
	const struct ktables_row *got = row(name);

	if (!got || got->used_known != want_known || (want_known && got->used != want))
		fail_msg("%s: known %d, %d", name, got && got->used_known,
			 got ? (int)got->used : 0);
}

static void counters(void)
{
	two_nodes();
	boot_table(&boot, "Dentry cache", 524288, 10, 4 * MIB, HD_MAP_VMALLOC_HUGE);
	boot_table(&boot, "Inode-cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	boot_table(&boot, "Mount-cache", 8192, 4, 64 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "Mountpoint-cache", 8192, 4, 64 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "posixtimers", 1024, 2, 16 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "futex", 1024, 4, 64 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "TCP established", 32768, 6, 256 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "TCP bind", 32768, 8, MIB, HD_MAP_VMALLOC);
	boot_table(&boot, "MPTCP token", 4096, 5, 96 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "UDP", 2048, 4, 64 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "UDP-Lite", 2048, 4, 64 * KIB, HD_MAP_VMALLOC);
	desk.books.usage = (struct machine_usage){
		.dentries = known(1),
		.inodes = known(2),
		.mounts = known(3),
		.posix_timers = known(4),
		.tcp_inuse = known(5),
		.tcp_time_wait = known(60),
		.tcp_bind_buckets = known(7),
		.mptcp_inuse = known(8),
		.udp_inuse = known(9),
		.udplite_inuse = known(0),
	};
}

static void counters_tell_how_many_objects_a_table_holds(void **state)
{
	(void)state;
	counters();
	look();
	used("Dentry cache", true, 1);
	used("Inode-cache", true, 2);
	used("Mount-cache", true, 3);
	used("Mountpoint-cache", true, 3);
	used("posixtimers", true, 4);
	used("futex", false, 0);
	used("TCP established", true, 65); /* with those in TIME_WAIT */
	used("TCP bind", true, 7);
	used("MPTCP token", true, 8);
	used("UDP", true, 9);
	used("UDP-Lite", true, 0); /* known to be empty */
}

static void a_container_sees_only_part_of_some(void **state)
{
	(void)state;
	counters();
	desk.books.container = true;
	look();
	used("Dentry cache", true, 1);
	used("Inode-cache", true, 2);
	used("posixtimers", true, 4);
	used("TCP bind", true, 7);
	used("Mount-cache", false, 0);
	used("Mountpoint-cache", false, 0);
	used("TCP established", false, 0);
	used("MPTCP token", false, 0);
	used("UDP", false, 0);
	used("UDP-Lite", false, 0);
}

static void half_a_sum_is_unknown(void **state)
{
	(void)state;
	counters();
	desk.books.usage.tcp_time_wait.known = false;
	look();
	used("TCP established", false, 0);
}

static void a_log_alone_has_no_counters(void **state)
{
	(void)state;
	counters();
	look_at_log();
	for (uint32_t r = 0; r < survey.rows; r++)
		assert_false(survey.row[r].used_known);
}

/* ---- the linear map ---------------------------------------------------------------------- */

static void most_of_the_linear_map_decides_its_translations(void **state)
{
	static const struct {
		uint64_t k4, m2, m4, g1;
		unsigned shift;
	} cases[] = {
		{ 300000, 8000000, 0, 4194304, 21 },
		{ 300000, 4000000, 0, 60000000, 30 },
		{ 900000, 100000, 0, 0, 12 },
		{ 20000, 0, 800000, 0, 22 },
		{ 0, 0, 0, 0, 21 }, /* figures of nothing: by architecture */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		two_nodes();
		boot_table(&boot, "Dentry cache", 524288, 10, 4 * MIB, HD_MAP_LINEAR);
		desk.books.direct_4k_kib = known(cases[i].k4);
		desk.books.direct_2m_kib = known(cases[i].m2);
		desk.books.direct_4m_kib = known(cases[i].m4);
		desk.books.direct_1g_kib = known(cases[i].g1);
		look();
		assert_int_equal(survey.env.linear_shift, cases[i].shift);
		assert_int_equal(row("Dentry cache")->shift, cases[i].shift);
		ktables_survey_fini(&survey);
	}
}

static void a_figure_that_is_not_known_does_not_count(void **state)
{
	(void)state;
	two_nodes();
	desk.books.direct_2m_kib = known(1000);
	desk.books.direct_1g_kib.value = 2000;
	look();
	assert_int_equal(survey.env.linear_shift, 21);
	ktables_survey_fini(&survey);
	two_nodes();
	desk.books.arch = boot.arch = HD_ARCH_ARM64;
	look();
	assert_int_equal(survey.env.linear_shift, 0);
}

static void a_log_alone_knows_the_linear_map_of_x86_64_only(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_table(&boot, "Dentry cache", 524288, 10, 4 * MIB, HD_MAP_LINEAR);
	look_at_log();
	assert_int_equal(survey.env.linear_shift, 21);
	assert_int_equal(row("Dentry cache")->shift, 21);
	boot.arch = HD_ARCH_ARM64;
	look_at_log();
	assert_int_equal(survey.env.linear_shift, 0);
	assert_int_equal(row("Dentry cache")->shift, 0);
	boot.arch = HD_ARCH_I386;
	look_at_log();
	assert_int_equal(survey.env.linear_shift, 0);
}

static void uptime_comes_from_the_books(void **state)
{
	(void)state;
	two_nodes();
	look();
	assert_int_equal(survey.env.uptime_seconds, 0);
	desk.books.uptime_seconds = known(90000);
	ktables_survey_fini(&survey);
	look();
	assert_int_equal(survey.env.uptime_seconds, 90000);
}

/* ---- verdicts ---------------------------------------------------------------------------- */

static void a_fair_machine_has_nothing_wrong(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Dentry cache", 524288, 10, 4 * MIB, HD_MAP_VMALLOC_HUGE);
	boot_table(&boot, "UDP", 2048, 4, 64 * KIB, HD_MAP_VMALLOC);
	desk_area(&desk, 4 * MIB, 512, 512);
	desk_area(&desk, 64 * KIB, 8, 8);
	look();
	assert_int_equal(verdict("Dentry cache"), HD_OK);
	assert_int_equal(verdict("UDP"), HD_OK);
	assert_int_equal(survey.worst, HD_OK);
}

/*
 * 7.2, which takes chunks of up to 4 MiB from one node at a time:
 *
 *   node 0  |                |
 *   node 1  |iiii            |  inode 1 MiB, all of it
 */
static void a_distributed_table_on_one_node_is_told(void **state)
{
	const struct hd_verdict *got;

	(void)state;
	two_nodes();
	snprintf(boot.version, sizeof(boot.version), "7.2.13");
	boot_table(&boot, "Inode-cache", 131072, 8, MIB, HD_MAP_VMALLOC);
	desk_area(&desk, MIB, 0, 256);
	look();
	assert_int_equal(verdict("Inode-cache"), HD_V_ONE_NODE);
	got = &row("Inode-cache")->judgement.verdict[0];
	assert_int_equal(got->node, 1);
	assert_int_equal(got->param, HD_PARAM_HASHDIST); /* in one piece it is no worse off */
	assert_int_equal(got->value, 0);
	assert_int_equal(got->now, 256);
	assert_int_equal(got->then, 1);
	assert_int_equal(survey.worst, HD_V_ONE_NODE);
}

/*
 * 7.2 with nohugevmalloc, four nodes, dentry 8 MiB in two chunks:
 *
 *   node 0  |dddddddd        |
 *   node 1  |                |
 *   node 2  |                |
 *   node 3  |dddddddd        |
 */
static void a_table_on_two_of_four_nodes_is_lopsided(void **state)
{
	uint32_t at;

	(void)state;
	two_nodes();
	snprintf(boot.version, sizeof(boot.version), "7.2.13");
	boot_zonelists(&boot, 4, 4, 0);
	boot_cmdline(&boot, "nohugevmalloc");
	desk_node(&desk, 2, true);
	desk_node(&desk, 3, true);
	boot_table(&boot, "Dentry cache", 1048576, 11, 8 * MIB, HD_MAP_VMALLOC);
	at = desk_area(&desk, 8 * MIB, 1024, 0);
	desk.pages[at][3] = 1024;
	look();
	assert_int_equal(verdict("Dentry cache"), HD_V_LOPSIDED);
	assert_int_equal(row("Dentry cache")->judgement.verdict[0].node, 0);
	assert_int_equal(row("Dentry cache")->judgement.count, 2);
	assert_int_equal(row("Dentry cache")->judgement.verdict[1].code, HD_V_UNDER_HUGE);
	assert_int_equal(survey.worst, HD_V_LOPSIDED);
}

/** 4.19 says nothing of the mapping and never clears the flag: computed to be scattered. */
static void one_node_on_4_19_has_small_pages(void **state)
{
	const struct hd_verdict *got;

	(void)state;
	boot_init(&boot, "4.19.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_UNKNOWN);
	look_at_log();
	assert_int_equal(row("Dentry cache")->mapping, HD_MAP_VMALLOC);
	assert_int_equal(verdict("Dentry cache"), HD_V_SMALL_PAGES);
	got = &row("Dentry cache")->judgement.verdict[0];
	assert_int_equal(got->param, HD_PARAM_HASHDIST);
	assert_int_equal(got->value, 0);
	assert_int_equal(got->now, 512);
	assert_int_equal(got->then, 1);
	assert_int_equal(got->then_shift, 21);
	boot_cmdline(&boot, "hashdist=0"); /* mended */
	look_at_log();
	assert_int_equal(row("Dentry cache")->mapping, HD_MAP_LINEAR);
	assert_true(row("Dentry cache")->early);
	assert_int_equal(verdict("Dentry cache"), HD_OK);
	assert_int_equal(survey.worst, HD_OK);
}

static void emulated_nodes_are_one_node_that_was_divided(void **state)
{
	(void)state;
	two_nodes();
	boot.emulated_nodes = 2;
	boot_table(&boot, "Inode-cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	desk_area(&desk, 2 * MIB, 256, 256);
	look();
	assert_int_equal(survey.env.emulated_nodes, 2);
	assert_int_equal(verdict("Inode-cache"), HD_V_EMULATED);
}

static void a_share_below_a_huge_page_is_told(void **state)
{
	const struct hd_verdict *got;

	(void)state;
	two_nodes();
	boot_table(&boot, "Inode-cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	desk_area(&desk, 2 * MIB, 256, 256);
	look();
	assert_int_equal(verdict("Inode-cache"), HD_V_UNDER_HUGE);
	got = &row("Inode-cache")->judgement.verdict[0];
	assert_int_equal(got->param, HD_PARAM_IHASH_ENTRIES);
	assert_int_equal(got->value, 524288);
	assert_int_equal(got->now, 512);
	assert_int_equal(got->then, 2);
	assert_int_equal(survey.worst, HD_V_UNDER_HUGE);
}

static void one_block_on_a_machine_of_two_nodes_is_not_spread(void **state)
{
	(void)state;
	two_nodes();
	boot_cmdline(&boot, "hashdist=0");
	boot_table(&boot, "Dentry cache", 524288, 10, 4 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Mount-cache", 8192, 4, 64 * KIB, HD_MAP_LINEAR); /* too small to mind */
	look();
	assert_int_equal(verdict("Dentry cache"), HD_V_NOT_SPREAD);
	assert_int_equal(row("Dentry cache")->judgement.verdict[0].value, 1);
	assert_int_equal(verdict("Mount-cache"), HD_OK);
	assert_int_equal(survey.worst, HD_V_NOT_SPREAD);
}

static void a_table_smaller_than_computed_was_halved(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_table(&boot, "Dentry cache", 131072, 8, MIB, HD_MAP_LINEAR);
	look_at_log();
	assert_int_equal(verdict("Dentry cache"), HD_V_HALVED);
	assert_int_equal(row("Dentry cache")->judgement.verdict[0].now, 131072);
	assert_int_equal(row("Dentry cache")->judgement.verdict[0].then, 262144);
	boot.table[0].entries = 0; /* a line that is cut in the number */
	boot.table[0].has_bytes = false;
	look_at_log();
	assert_int_equal(verdict("Dentry cache"), HD_V_UNKNOWN);
	assert_int_equal(survey.worst, HD_OK);
}

/** Both counts are possible: the smaller table is no failed attempt. */
static void a_count_near_a_border_accuses_nobody(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot_memory(&boot, (262144 + 32) * 4, 0);
	boot.nodes_with_memory = 2;
	boot.percpu_pages = 1;
	boot.has |= KLOG_HAS_PERCPU;
	boot_table(&boot, "Dentry cache", 131072, 8, MIB, HD_MAP_VMALLOC);
	look_at_log();
	assert_true(row("Dentry cache")->want_known);
	assert_false(row("Dentry cache")->want.exact);
	assert_int_equal(verdict("Dentry cache"), HD_OK);
}

static void crowded_tables_are_told_and_empty_ones_after_a_day(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 4000000);
	boot_table(&boot, "Dentry cache", 2097152, 12, 16 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Inode-cache", 1048576, 11, 8 * MIB, HD_MAP_LINEAR);
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk_node(&desk, 0, true);
	desk.books.usage.dentries = known(9000000);
	desk.books.usage.inodes = known(100);
	look();
	assert_int_equal(verdict("Dentry cache"), HD_V_TOO_SMALL);
	assert_int_equal(verdict("Inode-cache"), HD_OK);
	assert_int_equal(survey.worst, HD_V_TOO_SMALL);
	desk.books.uptime_seconds = known(100000);
	ktables_survey_fini(&survey);
	look();
	assert_int_equal(verdict("Inode-cache"), HD_V_TOO_LARGE);
	assert_int_not_equal(survey.worst, HD_OK);
}

static void not_knowing_is_not_something_wrong(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_UNKNOWN);
	look_at_log();
	assert_int_equal(verdict("Dentry cache"), HD_V_UNKNOWN);
	assert_int_equal(survey.worst, HD_OK);
}

/** Where it lies is not known; that it is crowded is. */
static void what_is_wrong_counts_also_behind_what_is_not_known(void **state)
{
	bool told = false;

	(void)state;
	boot_init(&boot, "", HD_ARCH_UNKNOWN);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_UNKNOWN);
	desk_init(&desk, "", HD_ARCH_UNKNOWN);
	desk.books.usage.dentries = known(9000000);
	look();
	for (unsigned v = 0; v < row("Dentry cache")->judgement.count; v++)
		told |= row("Dentry cache")->judgement.verdict[v].code == HD_V_TOO_SMALL;
	assert_true(told);
	assert_int_equal(survey.worst, HD_V_TOO_SMALL);
}

static void rules_that_are_given_reach_the_verdict(void **state)
{
	const char *rule = "hashdist-clears=yes";
	const struct ktables_given given = { &rule, 1 };

	(void)state;
	boot_init(&boot, "4.19.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_UNKNOWN);
	assert_int_equal(ktables_survey(&survey, &boot, NULL, &given), 0);
	assert_int_equal(row("Dentry cache")->mapping, HD_MAP_LINEAR);
	assert_int_equal(verdict("Dentry cache"), HD_OK);
}

/** 4.19 built without NUMA: the books list no area, so the table is not scattered. */
static void a_mapping_that_was_only_computed_yields_to_the_areas(void **state)
{
	(void)state;
	boot_init(&boot, "4.19.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_UNKNOWN);
	desk_init(&desk, "4.19.0", HD_ARCH_X86_64);
	desk_node(&desk, 0, true);
	desk.books.has_areas = true;
	look();
	assert_int_not_equal(row("Dentry cache")->mapping, HD_MAP_VMALLOC);
	assert_int_equal(survey.worst, HD_OK);
}

/* ---- again ------------------------------------------------------------------------------- */

static void a_second_boot_finds_nothing_of_the_first(void **state)
{
	(void)state;
	counters();
	desk.books.uptime_seconds = known(100000);
	desk.books.usage.dentries = known(9000000);
	desk_area(&desk, 2 * MIB, 512, 0);
	desk_area(&desk, 64 * KIB, 16, 0);
	desk_area(&desk, 64 * KIB, 0, 16);
	look();
	assert_int_not_equal(survey.worst, HD_OK);
	assert_true(row("Mount-cache")->spread_assumed);
	ktables_survey_fini(&survey);
	boot_init(&boot, "6.1.0", HD_ARCH_ARM64);
	boot_zonelists(&boot, 1, 1, 0);
	for (int t = 0; t < 12; t++)
		boot_table(&boot, "Frobnicate cache", 512, 0, 4096, HD_MAP_LINEAR);
	look_at_log();
	assert_int_equal(survey.rows, 12);
	assert_int_equal(survey.worst, HD_OK);
	assert_int_equal(survey.env.uptime_seconds, 0);
	assert_int_equal(survey.env.linear_shift, 0);
	assert_int_equal(survey.facts.machine.facts.memory_nodes, 1);
	assert_null(survey.node_store);
	for (uint32_t r = 0; r < survey.rows; r++) {
		assert_int_equal(survey.row[r].id, HD_TABLE_COUNT);
		assert_null(survey.row[r].node_bytes);
		assert_false(survey.row[r].spread_assumed || survey.row[r].used_known ||
			     survey.row[r].want_known || survey.row[r].early);
		assert_int_equal(survey.row[r].used, 0);
		assert_int_equal(survey.row[r].shift, 0);
		assert_int_equal(survey.row[r].judgement.count, 0);
	}
}

static void releasing_twice_is_harmless(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Inode-cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	look();
	assert_non_null(survey.node_store);
	ktables_survey_fini(&survey);
	ktables_survey_fini(&survey);
	assert_null(survey.node_store);
}

static void books_without_nodes_need_no_store(void **state)
{
	(void)state;
	two_nodes();
	desk.books.nodes = 0;
	boot_table(&boot, "Inode-cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	desk_plain_area(&desk, 2 * MIB);
	look();
	assert_null(survey.node_store);
	assert_null(row("Inode-cache")->node_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(counters_tell_how_many_objects_a_table_holds, fini),
		cmocka_unit_test_teardown(a_container_sees_only_part_of_some, fini),
		cmocka_unit_test_teardown(half_a_sum_is_unknown, fini),
		cmocka_unit_test_teardown(a_log_alone_has_no_counters, fini),
		cmocka_unit_test_teardown(most_of_the_linear_map_decides_its_translations, fini),
		cmocka_unit_test_teardown(a_figure_that_is_not_known_does_not_count, fini),
		cmocka_unit_test_teardown(a_log_alone_knows_the_linear_map_of_x86_64_only, fini),
		cmocka_unit_test_teardown(uptime_comes_from_the_books, fini),
		cmocka_unit_test_teardown(a_fair_machine_has_nothing_wrong, fini),
		cmocka_unit_test_teardown(a_distributed_table_on_one_node_is_told, fini),
		cmocka_unit_test_teardown(a_table_on_two_of_four_nodes_is_lopsided, fini),
		cmocka_unit_test_teardown(one_node_on_4_19_has_small_pages, fini),
		cmocka_unit_test_teardown(emulated_nodes_are_one_node_that_was_divided, fini),
		cmocka_unit_test_teardown(a_share_below_a_huge_page_is_told, fini),
		cmocka_unit_test_teardown(one_block_on_a_machine_of_two_nodes_is_not_spread, fini),
		cmocka_unit_test_teardown(a_table_smaller_than_computed_was_halved, fini),
		cmocka_unit_test_teardown(a_count_near_a_border_accuses_nobody, fini),
		cmocka_unit_test_teardown(crowded_tables_are_told_and_empty_ones_after_a_day, fini),
		cmocka_unit_test_teardown(not_knowing_is_not_something_wrong, fini),
		cmocka_unit_test_teardown(what_is_wrong_counts_also_behind_what_is_not_known, fini),
		cmocka_unit_test_teardown(rules_that_are_given_reach_the_verdict, fini),
		cmocka_unit_test_teardown(a_mapping_that_was_only_computed_yields_to_the_areas,
					  fini),
		cmocka_unit_test_teardown(a_second_boot_finds_nothing_of_the_first, fini),
		cmocka_unit_test_teardown(releasing_twice_is_harmless, fini),
		cmocka_unit_test_teardown(books_without_nodes_need_no_store, fini),
	};

	return cmocka_run_group_tests_name("survey-verdicts", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test-survey-rows.c - log, books and policy side by side, one row per table */
#include "survey.h"

/* ---- areas ------------------------------------------------------------------------------- */

static void areas_are_matched_to_tables_by_size(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Dentry cache", 524288, 10, 4 * MIB, HD_MAP_VMALLOC_HUGE);
	boot_table(&boot, "Inode-cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	boot_table(&boot, "UDP", 2048, 4, 64 * KIB, HD_MAP_VMALLOC);
	desk_area(&desk, 64 * KIB, 7, 9);
	desk_area(&desk, 2 * MIB, 256, 256);
	desk_area(&desk, 4 * MIB, 512, 512);
	look();
	assert_true(lies("Dentry cache", 2 * MIB, 2 * MIB));
	assert_true(lies("Inode-cache", MIB, MIB));
	assert_true(lies("UDP", 28 * KIB, 36 * KIB));
	assert_int_equal(row("Dentry cache")->shift, 21);
	assert_int_equal(row("Inode-cache")->shift, 12);
	assert_false(row("Dentry cache")->spread_assumed);
	assert_false(row("UDP")->spread_assumed);
}

static void an_area_of_another_size_is_another_tables(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Inode-cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	desk_area(&desk, 2 * MIB + 4096, 257, 256); /* a guard page that was left on */
	desk_area(&desk, MIB, 128, 128);
	look();
	assert_null(row("Inode-cache")->node_bytes);
	assert_int_equal(row("Inode-cache")->mapping, HD_MAP_VMALLOC); /* the log said so */
}

static void linear_tables_have_no_area(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Inode-cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	desk_area(&desk, 2 * MIB, 256, 256);
	look();
	assert_null(row("Inode-cache")->node_bytes);
}

/** TCP bind of a lockdep kernel: 65536 buckets of 144 bytes. */
static void a_table_of_9_mib_on_huge_pages_has_an_area_of_10(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "TCP bind", 65536, 11, 9 * MIB, HD_MAP_VMALLOC_HUGE);
	desk_area(&desk, 9 * MIB, 1152, 1152);
	desk_area(&desk, 10 * MIB, 1536, 1024);
	look();
	assert_true(lies("TCP bind", 6 * MIB, 4 * MIB));
	assert_int_equal(row("TCP bind")->bytes, 9 * MIB);
	ktables_survey_fini(&survey);
	boot.table[0].mapping = HD_MAP_VMALLOC; /* on base pages it is as large as itself */
	look();
	assert_true(lies("TCP bind", 9 * MIB / 2, 9 * MIB / 2));
}

static void a_table_below_a_page_has_an_area_of_a_page(void **state)
{
	(void)state;
	two_nodes();
	boot_cmdline(&boot, "ihash_entries=1");
	boot_table(&boot, "Inode-cache", 1, 0, 8, HD_MAP_VMALLOC);
	desk_area(&desk, 4096, 0, 1);
	look();
	assert_true(lies("Inode-cache", 0, 4096));
}

/** 6.16 on arm64 maps blocks of 64 KiB: 72 KiB take two of them. */
static void areas_are_rounded_to_contiguous_pte_blocks(void **state)
{
	(void)state;
	two_nodes();
	boot_init(&boot, "6.16.0", HD_ARCH_ARM64);
	boot_table(&boot, "posixtimers", 1024, 5, 72 * KIB, HD_MAP_VMALLOC_HUGE);
	desk_area(&desk, 128 * KIB, 16, 16);
	look();
	assert_int_equal(row("posixtimers")->shift, 16);
	assert_true(lies("posixtimers", 64 * KIB, 64 * KIB));
}

static void tables_of_one_size_that_lie_alike_are_exact(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Mount-cache", 8192, 4, 64 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "Mountpoint-cache", 8192, 4, 64 * KIB, HD_MAP_VMALLOC);
	desk_area(&desk, 64 * KIB, 8, 8);
	desk_area(&desk, 64 * KIB, 8, 8);
	look();
	assert_true(lies("Mount-cache", 32 * KIB, 32 * KIB));
	assert_true(lies("Mountpoint-cache", 32 * KIB, 32 * KIB));
	assert_false(row("Mount-cache")->spread_assumed);
	assert_false(row("Mountpoint-cache")->spread_assumed);
}

static void tables_of_one_size_that_lie_differently_are_assumed_by_order(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Mount-cache", 8192, 4, 64 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "Mountpoint-cache", 8192, 4, 64 * KIB, HD_MAP_VMALLOC);
	desk_area(&desk, 64 * KIB, 16, 0);
	desk_area(&desk, 64 * KIB, 0, 16);
	look();
	assert_true(lies("Mount-cache", 64 * KIB, 0));
	assert_true(lies("Mountpoint-cache", 0, 64 * KIB));
	assert_true(row("Mount-cache")->spread_assumed);
	assert_true(row("Mountpoint-cache")->spread_assumed);
}

/** Which of two areas is the one table's? Not known either. */
static void more_areas_than_tables_are_assumed_as_well(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Mount-cache", 8192, 4, 64 * KIB, HD_MAP_VMALLOC);
	desk_area(&desk, 64 * KIB, 16, 0);
	desk_area(&desk, 64 * KIB, 0, 16);
	look();
	assert_true(row("Mount-cache")->spread_assumed);
}

static void more_tables_than_areas_leave_the_last_unknown(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Mount-cache", 8192, 4, 64 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "Mountpoint-cache", 8192, 4, 64 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "UDP", 2048, 4, 64 * KIB, HD_MAP_VMALLOC);
	desk_area(&desk, 64 * KIB, 8, 8);
	desk_area(&desk, 64 * KIB, 8, 8);
	look();
	assert_true(lies("Mount-cache", 32 * KIB, 32 * KIB));
	assert_true(lies("Mountpoint-cache", 32 * KIB, 32 * KIB));
	assert_null(row("UDP")->node_bytes);
	assert_int_equal(row("UDP")->mapping, HD_MAP_VMALLOC);
}

static void areas_without_node_counts_tell_no_spread(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Inode-cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	desk_plain_area(&desk, 2 * MIB);
	look();
	assert_null(row("Inode-cache")->node_bytes);
	assert_false(row("Inode-cache")->spread_assumed);
}

static void pages_of_64_kib_are_counted_as_such(void **state)
{
	(void)state;
	two_nodes();
	boot_init(&boot, "6.1.0", HD_ARCH_PPC64);
	boot_table(&boot, "Dentry cache", 1048576, 7, 8 * MIB, HD_MAP_VMALLOC_HUGE);
	desk.books.page_bytes = 65536;
	desk_area(&desk, 8 * MIB, 64, 64);
	look();
	assert_true(lies("Dentry cache", 4 * MIB, 4 * MIB));
}

/* ---- nodes ------------------------------------------------------------------------------- */

/*
 *   node 0  |                |  processors only
 *   node 1  |################|  all memory
 */
static void with_one_memory_node_all_bytes_are_on_it(void **state)
{
	(void)state;
	boot_init(&boot, "7.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 1, 1000000);
	boot_table(&boot, "Dentry cache", 524288, 10, 4 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "futex", 256, 0, 16 * KIB, HD_MAP_LINEAR)->nodes = 2;
	boot_table(&boot, "Frobnicate cache", 64, 0, 0, HD_MAP_UNKNOWN)->has_bytes = false;
	desk_init(&desk, "7.1.0", HD_ARCH_X86_64);
	desk_node(&desk, 0, false);
	desk_node(&desk, 1, true);
	look();
	assert_true(lies("Dentry cache", 0, 4 * MIB));
	assert_int_equal(row("Dentry cache")->copies, 1);
	assert_true(lies("futex", 0, 32 * KIB)); /* one table for each possible node */
	assert_int_equal(row("futex")->copies, 2);
	assert_int_equal(row("futex")->bytes, 16 * KIB);
	assert_null(row("Frobnicate cache")->node_bytes);
}

/*
 *   node 0  |########|   position 0
 *   node 2  |########|   position 1; there is no node 1
 *
 * All of the table is on node 2: the verdict says where, by position.
 */
static void node_ids_with_gaps_are_told_by_position(void **state)
{
	(void)state;
	two_nodes();
	desk.node[1].id = 2;
	boot_table(&boot, "UDP", 32768, 8, MIB, HD_MAP_VMALLOC);
	desk_area(&desk, MIB, 0, 256);
	look();
	assert_true(lies("UDP", 0, MIB));
	assert_int_equal(verdict("UDP"), HD_V_ONE_NODE);
	assert_int_equal(row("UDP")->judgement.verdict[0].node, 1);
}

/*
 *   node 0  |########|   256 pages
 *   node 1  |        |
 *   node 2  |        |   processors only
 *   node 3  |########|   256 pages
 *
 * Even over all there is to lie on.
 */
static void memoryless_nodes_do_not_make_an_even_spread_lopsided(void **state)
{
	uint32_t at;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 4, 2, 1015000);
	boot_table(&boot, "UDP", 32768, 8, MIB, HD_MAP_VMALLOC);
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk_node(&desk, 0, true);
	desk_node(&desk, 1, false);
	desk_node(&desk, 2, false);
	desk_node(&desk, 3, true);
	at = desk_area(&desk, MIB, 128, 0);
	desk.pages[at][3] = 128;
	look();
	assert_int_equal(row("UDP")->node_bytes[3], MIB / 2);
	assert_int_equal(verdict("UDP"), HD_OK);
	ktables_survey_fini(&survey);
	desk.pages[at][0] = 56; /* 56 : 200 is not fair */
	desk.pages[at][3] = 200;
	look();
	assert_int_equal(verdict("UDP"), HD_V_LOPSIDED);
	assert_int_equal(row("UDP")->judgement.verdict[0].node, 3);
}

/** Four pieces of 2 MiB for two memory nodes go round; empty nodes want none. */
static void memoryless_nodes_do_not_hide_a_table_on_one_node(void **state)
{
	(void)state;
	boot_init(&boot, "7.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 8, 2, 1015000);
	boot_table(&boot, "Dentry cache", 1048576, 11, 8 * MIB, HD_MAP_VMALLOC_HUGE);
	desk_init(&desk, "7.1.0", HD_ARCH_X86_64);
	for (uint32_t n = 0; n < 8; n++)
		desk_node(&desk, n, n < 2);
	desk_area(&desk, 8 * MIB, 0, 2048);
	look();
	assert_int_equal(verdict("Dentry cache"), HD_V_ONE_NODE);
	assert_int_equal(row("Dentry cache")->judgement.verdict[0].node, 1);
}

/*
 *   node 0  |########|   128 pages
 *   node 1  |########|   128 pages
 *   node 2  |########|   came online after boot
 *   node 3  |########|   came online after boot
 */
static void memory_that_came_after_boot_does_not_make_a_spread_lopsided(void **state)
{
	(void)state;
	two_nodes();
	desk_node(&desk, 2, true);
	desk_node(&desk, 3, true);
	boot_table(&boot, "UDP", 32768, 8, MIB, HD_MAP_VMALLOC);
	desk_area(&desk, MIB, 128, 128);
	look();
	assert_int_equal(survey.facts.machine.facts.memory_nodes, 2);
	assert_int_equal(verdict("UDP"), HD_OK);
}

/* ---- rows -------------------------------------------------------------------------------- */

static void rows_of_the_log_keep_its_order_and_its_words(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "UDP", 2048, 4, 64 * KIB, HD_MAP_VMALLOC);
	boot_table(&boot, "VFS: Dquot-cache", 512, 0, 4096, HD_MAP_UNKNOWN);
	boot_table(&boot, "Frobnicate cache", 100, 1, 4800, HD_MAP_VMALLOC);
	look();
	assert_int_equal(survey.rows, 3);
	assert_string_equal(survey.row[0].name, "UDP");
	assert_int_equal(survey.row[0].id, HD_TABLE_UDP);
	assert_int_equal(survey.row[0].source, KTABLES_FROM_LOG);
	assert_int_equal(survey.row[1].id, HD_TABLE_DQUOT);
	assert_int_equal(survey.row[1].mapping, HD_MAP_LINEAR); /* whatever the kernel */
	assert_string_equal(survey.row[2].name, "Frobnicate cache");
	assert_int_equal(survey.row[2].id, HD_TABLE_COUNT); /* not ours, kept as it is */
	assert_int_equal(survey.row[2].entries, 100);
	assert_int_equal(survey.row[2].bytes, 4800);
	assert_int_equal(survey.row[2].mapping, HD_MAP_VMALLOC);
	assert_false(survey.row[2].want_known);
	assert_false(survey.row[2].used_known);
}

static void a_line_that_lost_its_bytes_gets_them_from_its_entries(void **state)
{
	(void)state;
	two_nodes();
	boot_table(&boot, "Mount-cache", 512, 0, 999, HD_MAP_UNKNOWN)->has_bytes = false;
	look();
	assert_int_equal(row("Mount-cache")->bytes, 512 * 8);
}

/** Computed to be early and in one piece; the line says otherwise, and is believed. */
static void what_the_log_says_of_the_mapping_is_kept(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	boot_table(&boot, "Inode-cache", 131072, 8, MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Mount-cache", 4096, 3, 32 * KIB, HD_MAP_LINEAR);
	look_at_log();
	assert_true(row("Dentry cache")->want.low.early);
	assert_int_equal(row("Dentry cache")->mapping, HD_MAP_VMALLOC);
	assert_false(row("Dentry cache")->early);
	assert_true(row("Inode-cache")->early);
	assert_false(row("Mount-cache")->early); /* in one piece, but late */
}

/** 6.1 that lost its first lines, on one node with 4 GiB. */
static void lost_head(void)
{
	boot_init(&boot, "", HD_ARCH_UNKNOWN);
	lose_head(&boot);
	boot_table(&boot, "TCP established", 32768, 6, 256 * KIB, HD_MAP_LINEAR);
	boot_table(&boot, "TCP bind", 32768, 8, MIB, HD_MAP_LINEAR);
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk.books.live = true;
	desk.books.possible_cpus = known(2);
	desk_node(&desk, 0, true);
	desk_zone(&desk, "Normal", 1030000, 990000);
	desk_cmdline(&desk, "quiet");
}

static void a_log_without_its_head_is_filled_up_by_computing(void **state)
{
	(void)state;
	lost_head();
	look();
	assert_true(survey.log_seen);
	assert_false(survey.log_complete);
	assert_int_equal(row("TCP established")->source, KTABLES_FROM_LOG);
	assert_int_equal(row("Dentry cache")->source, KTABLES_PREDICTED);
	assert_int_equal(row("Dentry cache")->id, HD_TABLE_DENTRY);
	assert_int_equal(row("Dentry cache")->entries, 524288);
	assert_int_equal(row("Dentry cache")->bytes, 4 * MIB);
	assert_int_equal(row("Dentry cache")->mapping, HD_MAP_LINEAR);
	assert_true(row("Dentry cache")->early);
	assert_int_equal(row("Dentry cache")->node_bytes[0], 4 * MIB);
	assert_non_null(row("Inode-cache"));
	assert_non_null(row("futex"));
	assert_non_null(row("UDP-Lite"));
	for (uint32_t a = 0; a < survey.rows; a++)
		for (uint32_t b = 0; b < a; b++)
			assert_string_not_equal(survey.row[a].name, survey.row[b].name);
}

static void tables_that_only_some_kernels_have_are_never_guessed(void **state)
{
	(void)state;
	lost_head();
	look();
	assert_null(row("stackdepot"));
	assert_null(row("PV qspinlock"));
	assert_null(row("Dquot-cache"));
	assert_null(row("IP route cache")); /* older kernels' */
	assert_null(row("posixtimers"));    /* newer kernels' */
}

static void a_complete_log_is_not_filled_up(void **state)
{
	(void)state;
	lost_head();
	boot.head_seen = true;
	look();
	assert_true(survey.log_complete);
	assert_int_equal(survey.rows, 2);
	boot.ring_wrapped = true; /* a head of another boot */
	ktables_survey_fini(&survey);
	look();
	assert_false(survey.log_complete);
	assert_true(survey.rows > 2);
}

static void without_a_log_every_row_is_computed(void **state)
{
	(void)state;
	lost_head();
	look_at_books();
	assert_false(survey.log_seen);
	assert_false(survey.log_complete);
	assert_int_equal(row("TCP established")->source, KTABLES_PREDICTED);
	assert_int_equal(row("TCP bind")->entries, row("TCP established")->entries);
	assert_int_equal(row("TCP bind")->bytes, 32 * row("TCP bind")->entries);
}

static void without_books_nothing_is_filled_up(void **state)
{
	(void)state;
	lost_head();
	look_at_log();
	assert_int_equal(survey.rows, 2);
	assert_int_equal(ktables_survey(&survey, NULL, NULL, NULL), 0);
	assert_int_equal(survey.rows, 0);
	assert_int_equal(survey.worst, HD_OK);
}

static void a_computed_row_of_uncertain_size_has_none(void **state)
{
	(void)state;
	lost_head();
	desk.books.zones = 0;
	/* less its memory map this is a few pages above 524288: dentry may be either */
	desk_zone(&desk, "Normal", 532800, 520000);
	look();
	assert_false(row("Dentry cache")->want.exact);
	assert_int_equal(row("Dentry cache")->entries, 0);
	assert_int_equal(row("Dentry cache")->bytes, 0);
	assert_int_equal(row("Dentry cache")->mapping, HD_MAP_LINEAR); /* that is certain */
	assert_null(row("Dentry cache")->node_bytes);
}

/*
 *   node 0  |################|
 *   node 1  |################|   6.1, head of the log lost; vmallocinfo has 4 MiB
 *
 * Dentry was computed to be there, inode too; only the first is.
 */
static void a_computed_row_is_where_its_area_is_or_unknown(void **state)
{
	(void)state;
	lost_head();
	desk_node(&desk, 1, true);
	desk_area(&desk, 4 * MIB, 512, 512);
	look();
	assert_int_equal(row("Dentry cache")->source, KTABLES_PREDICTED);
	assert_int_equal(row("Dentry cache")->mapping, HD_MAP_VMALLOC_HUGE);
	assert_true(lies("Dentry cache", 2 * MIB, 2 * MIB));
	assert_int_equal(row("Inode-cache")->bytes, 2 * MIB);
	assert_int_equal(row("Inode-cache")->mapping, HD_MAP_UNKNOWN);
	assert_int_equal(row("Inode-cache")->shift, 0);
	assert_int_equal(verdict("Inode-cache"), HD_V_UNKNOWN);
	ktables_survey_fini(&survey);
	desk.books.has_areas = false; /* nothing to check it against */
	look();
	assert_int_equal(row("Inode-cache")->mapping, HD_MAP_VMALLOC);
}

static void a_computed_size_is_not_called_halved(void **state)
{
	(void)state;
	lost_head();
	look();
	for (uint32_t r = 0; r < survey.rows; r++)
		if (survey.row[r].source == KTABLES_PREDICTED && survey.row[r].judgement.count)
			assert_int_not_equal(survey.row[r].judgement.verdict[0].code, HD_V_HALVED);
}

static void as_many_tables_as_a_log_can_have_fit(void **state)
{
	(void)state;
	lost_head();
	boot.tables = 0;
	for (int t = 0; t < KLOG_TABLES_MAX; t++)
		boot_table(&boot, "Frobnicate cache", 512, 0, 4096, HD_MAP_LINEAR);
	look();
	assert_true(survey.rows > KLOG_TABLES_MAX);
	assert_true(survey.rows <= KTABLES_ROWS_MAX);
	assert_int_equal(survey.row[KLOG_TABLES_MAX - 1].node_bytes[0], 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(areas_are_matched_to_tables_by_size, fini),
		cmocka_unit_test_teardown(an_area_of_another_size_is_another_tables, fini),
		cmocka_unit_test_teardown(linear_tables_have_no_area, fini),
		cmocka_unit_test_teardown(a_table_of_9_mib_on_huge_pages_has_an_area_of_10, fini),
		cmocka_unit_test_teardown(a_table_below_a_page_has_an_area_of_a_page, fini),
		cmocka_unit_test_teardown(areas_are_rounded_to_contiguous_pte_blocks, fini),
		cmocka_unit_test_teardown(tables_of_one_size_that_lie_alike_are_exact, fini),
		cmocka_unit_test_teardown(
		    tables_of_one_size_that_lie_differently_are_assumed_by_order, fini),
		cmocka_unit_test_teardown(more_areas_than_tables_are_assumed_as_well, fini),
		cmocka_unit_test_teardown(more_tables_than_areas_leave_the_last_unknown, fini),
		cmocka_unit_test_teardown(areas_without_node_counts_tell_no_spread, fini),
		cmocka_unit_test_teardown(pages_of_64_kib_are_counted_as_such, fini),
		cmocka_unit_test_teardown(with_one_memory_node_all_bytes_are_on_it, fini),
		cmocka_unit_test_teardown(node_ids_with_gaps_are_told_by_position, fini),
		cmocka_unit_test_teardown(memoryless_nodes_do_not_make_an_even_spread_lopsided,
					  fini),
		cmocka_unit_test_teardown(memoryless_nodes_do_not_hide_a_table_on_one_node, fini),
		cmocka_unit_test_teardown(
		    memory_that_came_after_boot_does_not_make_a_spread_lopsided, fini),
		cmocka_unit_test_teardown(rows_of_the_log_keep_its_order_and_its_words, fini),
		cmocka_unit_test_teardown(a_line_that_lost_its_bytes_gets_them_from_its_entries,
					  fini),
		cmocka_unit_test_teardown(what_the_log_says_of_the_mapping_is_kept, fini),
		cmocka_unit_test_teardown(a_log_without_its_head_is_filled_up_by_computing, fini),
		cmocka_unit_test_teardown(tables_that_only_some_kernels_have_are_never_guessed,
					  fini),
		cmocka_unit_test_teardown(a_complete_log_is_not_filled_up, fini),
		cmocka_unit_test_teardown(without_a_log_every_row_is_computed, fini),
		cmocka_unit_test_teardown(without_books_nothing_is_filled_up, fini),
		cmocka_unit_test_teardown(a_computed_row_of_uncertain_size_has_none, fini),
		cmocka_unit_test_teardown(a_computed_row_is_where_its_area_is_or_unknown, fini),
		cmocka_unit_test_teardown(a_computed_size_is_not_called_halved, fini),
		cmocka_unit_test_teardown(as_many_tables_as_a_log_can_have_fit, fini),
	};

	return cmocka_run_group_tests_name("survey-rows", tests, NULL, NULL);
}

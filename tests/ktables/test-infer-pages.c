/* SPDX-License-Identifier: MIT */
/* test-infer-pages.c - pages a kernel had when it sized its tables, and what that predicts */
#include "infer.h"

/* ---- pages ------------------------------------------------------------------------------- */

static const struct hd_pages *pages(void)
{
	return &facts.machine.facts.pages;
}

static void zonelists_print_the_very_count_up_to_6_9(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_memory(&boot, 2096632, 100000);
	infer();
	assert_true(facts.has_pages);
	assert_true(facts.pages_from_log);
	assert_int_equal(pages()->kernel, 515921);
	assert_int_equal(pages()->all, 515921);
	assert_int_equal(pages()->slack, 0);
}

static void kernels_to_2_6_18_print_their_pages_by_node(void **state)
{
	(void)state;
	boot_init(&boot, "2.6.16", HD_ARCH_X86_64);
	boot.node_pages[0] = 100000;
	boot.node_pages[1] = 30000;
	boot.node_max = 2;
	boot_memory(&boot, 519000, 4000);
	infer();
	assert_int_equal(pages()->kernel, 519000 / 4); /* not printed: the Memory: line */
	boot.has |= KLOG_HAS_NODE_TOTALS;
	infer();
	assert_int_equal(pages()->kernel, 130000);
	assert_true(facts.pages_from_log);
}

/*
 *   Memory: .../2096632K available (... 150000K reserved, 16384K cma-reserved)
 *
 *   486658  (2096632 - 150000) / 4
 *     +768  dentry 2 MiB and inode 1 MiB, taken after the count
 *     +108  54 pages for each of 2 processors
 *   +16384  the bounce buffer
 *    -4096  CMA was set aside before the count
 */
static void the_memory_line_is_worked_back_to_the_count(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot_memory(&boot, 2096632, 150000);
	boot.nodes_with_memory = 1;
	boot.cma_kib = 16384;
	boot.percpu_pages = 54;
	boot.possible_cpus = 2;
	boot.swiotlb_bytes = 64 * MIB;
	boot.has |= KLOG_HAS_CMA | KLOG_HAS_PERCPU | KLOG_HAS_POSSIBLE_CPUS;
	infer();
	assert_true(facts.has_pages);
	assert_true(facts.pages_from_log);
	assert_int_equal(pages()->kernel, 486658 + 768 + 108 + 16384 - 4096);
	assert_int_equal(pages()->all, pages()->kernel);
	assert_int_equal(pages()->slack, 64);
	boot.nodes_with_memory = 2; /* then they are not taken early */
	infer();
	assert_int_equal(pages()->kernel, 486658 + 108 + 16384 - 4096);
	boot.has &= ~(uint32_t)KLOG_HAS_CMA;
	infer();
	assert_int_equal(pages()->kernel, 486658 + 108 + 16384);
}

static void a_log_that_may_lack_lines_widens_the_slack(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot_memory(&boot, 2096632, 150000);
	boot.possible_cpus = 2;
	boot.has |= KLOG_HAS_POSSIBLE_CPUS;
	infer();
	assert_true(pages()->slack > 64);
	boot.percpu_pages = 54;
	boot.has |= KLOG_HAS_PERCPU;
	infer();
	assert_int_equal(pages()->slack, 64);
	boot.head_seen = false; /* was there a bounce buffer? */
	infer();
	assert_true(pages()->slack > 64);
}

static void node_ranges_bound_the_count_where_the_memory_line_is_lost(void **state)
{
	const uint64_t high = (8 * GIB - 8 * GIB / 64) / 4096, low = high - 8 * GIB / 10 / 4096;

	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot.node_bytes[0] = 5 * GIB;
	boot.node_bytes[3] = 3 * GIB;
	boot.node_max = 4;
	infer();
	assert_false(facts.has_pages);
	boot.has |= KLOG_HAS_NODE_RANGES;
	infer();
	assert_true(facts.has_pages);
	assert_true(facts.pages_from_log);
	assert_in_range(pages()->kernel + pages()->slack, high - 2, high);
	assert_in_range(pages()->kernel - pages()->slack, low, low + 2);
	boot.arch = HD_ARCH_ARM; /* how much of it is highmem? */
	infer();
	assert_false(facts.has_pages);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64); /* counts otherwise */
	boot.node_bytes[0] = 8 * GIB;
	boot.node_max = 1;
	boot.has |= KLOG_HAS_NODE_RANGES;
	infer();
	assert_false(facts.has_pages);
}

static void empty_ranges_are_no_count(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot.has |= KLOG_HAS_NODE_RANGES;
	infer();
	assert_false(facts.has_pages);
	assert_false(facts.pages_from_log);
}

/*
 *   |<- lowmem 760 MiB ->|<- HighMem 264 MiB ->|
 */
static void highmem_does_not_count_but_caps(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_ARM);
	boot_zonelists(&boot, 1, 1, 260000);
	boot.highmem_kib = 264 * 1024;
	infer();
	assert_int_equal(pages()->kernel, 260000); /* not printed */
	boot.has |= KLOG_HAS_HIGHMEM;
	infer();
	assert_int_equal(pages()->all, 260000);
	/* less 264 MiB and 32 bytes for each of its pages */
	assert_int_equal(pages()->kernel, 260000 - 67584 - 528);
	assert_int_equal(pages()->slack, 264);
	boot.highmem_range_bytes = 128 * MIB; /* the zone's own range knows better */
	infer();
	assert_int_equal(pages()->kernel, 260000 - 32768 - 256);
	boot.arch = HD_ARCH_ARM64; /* no such thing on 64 bits */
	infer();
	assert_int_equal(pages()->kernel, 260000);
}

static void zoneinfo_stands_in_for_a_lost_count(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk_zone(&desk, "DMA", 3998, 3840);
	desk_zone(&desk, "DMA32", 520160, 498000);
	desk_zone(&desk, "Movable", 0, 0);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.has_pages);
	assert_false(facts.pages_from_log);
	/* present, less 64 bytes a page, rounded up for each zone */
	assert_int_equal(pages()->kernel, 3998 - 63 + 520160 - 8128);
	assert_int_equal(pages()->slack, 512);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	infer_both();
	assert_false(facts.pages_from_log); /* a log that does not tell */
	assert_int_equal(pages()->slack, 512);
	boot_zonelists(&boot, 1, 1, 515921);
	infer_both();
	assert_true(facts.pages_from_log);
	assert_int_equal(pages()->kernel, 515921);
	assert_int_equal(pages()->slack, 0);
}

/** What of it was free at the count is between nine tenths and all but the memory map. */
static void zoneinfo_of_a_newer_kernel_only_bounds_the_count(void **state)
{
	const uint64_t present = 620160, high = present - present / 64, low = high - present / 10;

	(void)state;
	desk_init(&desk, "6.12.0", HD_ARCH_X86_64);
	desk_zone(&desk, "DMA32", 520160, 498000);
	desk_zone(&desk, "Normal", 100000, 90000);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.has_pages);
	assert_false(facts.pages_from_log);
	assert_in_range(pages()->kernel + pages()->slack, high - 2, high);
	assert_in_range(pages()->kernel - pages()->slack, low, low + 2);
}

/*
 * 6.12 on a 32-bit board, from zoneinfo alone:
 *
 *   |<- Normal 760 MiB ->|<- HighMem 264 MiB ->|
 *
 * Only the first counts; both cap.
 */
static void highmem_of_zoneinfo_does_not_count_on_newer_kernels_either(void **state)
{
	(void)state;
	desk_init(&desk, "6.12.0", HD_ARCH_ARM);
	desk_zone(&desk, "Normal", 194560, 188000);
	desk_zone(&desk, "HighMem", 67584, 67584);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.has_pages);
	assert_in_range(pages()->kernel + pages()->slack, 1, 194560);
	assert_true(pages()->all >= pages()->kernel + 67584);
}

static void books_without_zones_or_with_too_many_give_no_count(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_false(facts.has_pages);
	desk_zone(&desk, "Normal", 0, 0);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_false(facts.has_pages);
	for (int i = 0; i < 64; i++)
		desk_zone(&desk, "Normal", 10000, 9000);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.has_pages); /* an empty one takes no place */
	desk_zone(&desk, "Normal", 10000, 9000);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_false(facts.has_pages); /* part of the memory would be wrong, not near */
}

/* ---- predictions ------------------------------------------------------------------------- */

static void an_exact_count_gives_one_answer(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_true(want.exact);
	assert_true(want.mapping_known);
	assert_int_equal(want.low.entries, 262144);
	assert_int_equal(want.high.entries, 262144);
	assert_int_equal(want.low.mapping, HD_MAP_LINEAR);
	assert_true(want.low.early);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_TCP_BIND, 16384, &want), 0);
	assert_int_equal(want.low.bytes, 16384 * 32);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_TCP_BIND, 0, &want), HD_ENOENT);
}

/** A count of @pages, give or take 64, on a 6.12 with @nodes. */
static void near(uint64_t kernel_pages, uint32_t nodes)
{
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot_memory(&boot, 64 * MIB, 0);
	boot.nodes_with_memory = nodes;
	boot_cmdline(&boot, nodes == 1 ? "hashdist=1" : ""); /* no early tables to work back */
	boot.percpu_pages = 1;
	boot.has |= KLOG_HAS_PERCPU;
	boot.total_kib = kernel_pages * 4;
	infer();
	assert_int_equal(pages()->kernel, kernel_pages);
	assert_int_equal(pages()->slack, 64);
}

/*
 *         262144 pages
 *   -------|--x-------
 *         (...)         x: the count, 64 pages either way
 *
 * Up to the border the dentry table has 131072 entries, beyond it twice as many.
 */
static void a_count_near_a_border_gives_both_answers(void **state)
{
	struct ktables_range want;

	(void)state;
	near(262144 + 32, 1);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_false(want.exact);
	assert_int_equal(want.low.entries, 131072);
	assert_int_equal(want.high.entries, 262144);
	near(262144 + 65, 1);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_true(want.exact);
	assert_int_equal(want.low.entries, 262144);
	near(262144 - 64, 1);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_true(want.exact);
	assert_int_equal(want.low.entries, 131072);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_TABLE_PERTURB, 0, &want), 0);
	assert_true(want.exact); /* does not look at memory */
}

/** Two nodes: 2 MiB are 1 MiB for each and on base pages, 4 MiB are on huge ones. */
static void a_border_of_sizes_may_be_one_of_mappings_too(void **state)
{
	struct ktables_range want;

	(void)state;
	near(524288 + 32, 2);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_int_equal(want.low.mapping, HD_MAP_VMALLOC);
	assert_int_equal(want.high.mapping, HD_MAP_VMALLOC_HUGE);
	assert_false(want.mapping_known);
	near(524288 + 65, 2);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_int_equal(want.low.mapping, HD_MAP_VMALLOC_HUGE);
	assert_true(want.mapping_known);
}

static void the_mapping_needs_the_nodes(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 0, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_true(want.exact); /* the size does not */
	assert_false(want.mapping_known);
}

static void the_mapping_needs_the_architecture_unless_one_node_clears_all(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_UNKNOWN);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	infer();
	assert_false(facts.has_arch);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_INODE, 0, &want), 0);
	assert_true(want.mapping_known);
	assert_int_equal(want.low.mapping, HD_MAP_LINEAR);
	boot_cmdline(&boot, "hashdist=1"); /* does this kernel take it? */
	infer_given("hashdist-param=yes");
	assert_int_equal(ktables_predict(&facts, HD_TABLE_INODE, 0, &want), 0);
	assert_false(want.mapping_known);
	boot_cmdline(&boot, "quiet");
	infer_given("hashdist-clears=no");
	assert_int_equal(ktables_predict(&facts, HD_TABLE_INODE, 0, &want), 0);
	assert_false(want.mapping_known);
	boot_zonelists(&boot, 2, 2, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_INODE, 0, &want), 0);
	assert_false(want.mapping_known);
}

static void what_lacks_a_fact_is_not_predicted(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), HD_ENOENT);
	boot_init(&boot, "custom", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), HD_ENOENT);
	boot_init(&boot, "6.1.0", HD_ARCH_UNKNOWN);
	boot_zonelists(&boot, 1, 1, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), HD_ENOENT);
	boot_init(&boot, "2.6.5", HD_ARCH_I386); /* before there was one allocator for all */
	boot_zonelists(&boot, 1, 1, 32000);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), HD_ENOENT);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_IP_ROUTE, 0, &want), HD_ENOENT);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_COUNT, 0, &want), HD_ENOENT);
}

/** 256 buckets for each of an unknown number of processors are not one bucket. */
static void tables_by_processor_are_not_predicted_without_processors(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.15.0", HD_ARCH_X86_64);
	boot_memory(&boot, 2096632, 150000);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_FUTEX, 0, &want), HD_ENOENT);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_POSIXTIMERS, 0, &want), HD_ENOENT);
	boot.possible_cpus = 3;
	boot.has |= KLOG_HAS_POSSIBLE_CPUS;
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_FUTEX, 0, &want), 0);
	assert_int_equal(want.low.entries, 1024);
}

static void a_scattered_dentry_table_on_one_node_says_that_the_flag_is_set(void **state)
{
	(void)state;
	memset(&boot, 0, sizeof(boot));
	boot.head_seen = true;
	boot.arch = HD_ARCH_X86_64;
	strcpy(boot.version, "4.18.0-80.el8.x86_64");
	boot_zonelists(&boot, 1, 1, 4128480);
	boot_table(&boot, "Dentry cache", 2097152, 12, 16777216, HD_MAP_VMALLOC);
	ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_NEVER_CLEARED);
	boot.table[0].mapping = HD_MAP_LINEAR;
	ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_RULES, &facts);
	assert_false(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_ONE_NODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scattered_dentry_table_on_one_node_says_that_the_flag_is_set),
		cmocka_unit_test(zonelists_print_the_very_count_up_to_6_9),
		cmocka_unit_test(kernels_to_2_6_18_print_their_pages_by_node),
		cmocka_unit_test(the_memory_line_is_worked_back_to_the_count),
		cmocka_unit_test(a_log_that_may_lack_lines_widens_the_slack),
		cmocka_unit_test(node_ranges_bound_the_count_where_the_memory_line_is_lost),
		cmocka_unit_test(empty_ranges_are_no_count),
		cmocka_unit_test(highmem_does_not_count_but_caps),
		cmocka_unit_test(zoneinfo_stands_in_for_a_lost_count),
		cmocka_unit_test(zoneinfo_of_a_newer_kernel_only_bounds_the_count),
		cmocka_unit_test(highmem_of_zoneinfo_does_not_count_on_newer_kernels_either),
		cmocka_unit_test(books_without_zones_or_with_too_many_give_no_count),
		cmocka_unit_test(an_exact_count_gives_one_answer),
		cmocka_unit_test(a_count_near_a_border_gives_both_answers),
		cmocka_unit_test(a_border_of_sizes_may_be_one_of_mappings_too),
		cmocka_unit_test(the_mapping_needs_the_nodes),
		cmocka_unit_test(the_mapping_needs_the_architecture_unless_one_node_clears_all),
		cmocka_unit_test(what_lacks_a_fact_is_not_predicted),
		cmocka_unit_test(tables_by_processor_are_not_predicted_without_processors),
	};

	return cmocka_run_group_tests_name("infer-pages", tests, NULL, NULL);
}

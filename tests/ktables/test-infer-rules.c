/* SPDX-License-Identifier: MIT */
/* test-infer-rules.c - rules that a kernel shows by its lines, whatever its version tells */
#include "infer.h"

static void lines_that_name_the_mapping_show_that_hashdist_clears(void **state)
{
	(void)state;
	el8();
	infer();
	assert_int_equal(rule(HD_RULE_KIND_WORDS), HD_WORDS_VMALLOC);
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1);
	assert_int_equal(origin(HD_RULE_HASHDIST_CLEARS), HD_ORIGIN_DETECTED);
	assert_int_equal(rule(HD_RULE_FALLBACK_VMALLOC), 1);
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_NEVER);
	assert_false(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_ONE_NODE);
}

static void a_given_rule_beats_what_was_detected(void **state)
{
	(void)state;
	el8();
	infer_given("hashdist-clears=no");
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 0);
	assert_int_equal(origin(HD_RULE_HASHDIST_CLEARS), HD_ORIGIN_GIVEN);
	assert_int_equal(rule(HD_RULE_FALLBACK_VMALLOC), 1);
	assert_true(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_NEVER_CLEARED);
}

static void a_given_rule_that_makes_no_sense_changes_nothing(void **state)
{
	static const char *const given[] = { "hashdist-clears=perhaps", "no-such-rule=1", "=", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		el8();
		infer_given(given[i]);
		assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1);
		assert_int_equal(origin(HD_RULE_HASHDIST_CLEARS), HD_ORIGIN_DETECTED);
	}
}

/** A 5.3 whose lines end at the bytes is not what its version says. */
static void three_lines_that_name_no_mapping_show_that_it_is_not_cleared(void **state)
{
	(void)state;
	boot_init(&boot, "5.3.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515000);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_UNKNOWN);
	boot_table(&boot, "Inode-cache", 131072, 8, MIB, HD_MAP_UNKNOWN);
	boot_table(&boot, "VFS: Dquot-cache", 512, 0, 4096, HD_MAP_UNKNOWN);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1); /* two may be chance */
	boot_table(&boot, "Mount-cache", 4096, 3, 32 * KIB, HD_MAP_UNKNOWN);
	boot.table[3].mended = true;
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1); /* its end may be what was torn off */
	boot.table[3].mended = false;
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 0);
	assert_int_equal(rule(HD_RULE_FALLBACK_VMALLOC), 0);
	assert_int_equal(rule(HD_RULE_KIND_WORDS), HD_WORDS_NONE);
	assert_true(facts.machine.hashdist);
}

static void one_line_with_a_mapping_outweighs_many_without(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_X86_64);
	for (int i = 0; i < 4; i++)
		boot_table(&boot, "Mount-cache", 4096, 3, 32 * KIB, HD_MAP_UNKNOWN);
	boot_table(&boot, "UDP", 1024, 3, 32 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1);
	assert_int_equal(rule(HD_RULE_KIND_WORDS), HD_WORDS_VMALLOC);
}

/*
 *   5.14.0-362.el9.x86_64, two nodes:
 *
 *   Dentry cache  ...  134217728 bytes, vmalloc hugepage)
 *
 * Upstream's 5.14 has huge vmalloc on powerpc only.
 */
static void a_hugepage_line_shows_huge_vmalloc(void **state)
{
	(void)state;
	boot_init(&boot, "5.14.0-362.el9.x86_64", HD_ARCH_X86_64);
	boot_table(&boot, "Dentry cache", 16777216, 15, 128 * MIB, HD_MAP_VMALLOC);
	infer();
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_NEVER);
	boot.table[0].mapping = HD_MAP_VMALLOC_HUGE;
	infer();
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_NODE_SHARE);
	assert_int_equal(origin(HD_RULE_HUGE_VMALLOC), HD_ORIGIN_DETECTED);
	assert_int_equal(rule(HD_RULE_KIND_WORDS), HD_WORDS_HUGEPAGE);
	infer_given("huge-vmalloc=whole");
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_WHOLE);
}

static void a_hugepage_line_leaves_the_newer_rule_alone(void **state)
{
	(void)state;
	boot_init(&boot, "6.13.7", HD_ARCH_X86_64);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC_HUGE);
	infer();
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_WHOLE);
}

/*
 * TCP bind's bucket is a lock and a pointer, from 6.1 on twice:
 *
 *            plain  DEBUG_SPINLOCK  lockdep  RT   UP
 *   lock     4      24              64       32   0
 *   64-bit   16     32              72       40   8
 */
static void the_size_of_a_lock_is_read_off_tcp_bind(void **state)
{
	static const struct {
		const char *release;
		enum hd_arch arch;
		uint64_t bucket;
		int32_t lock;
	} cases[] = {
		{ "5.10.0", HD_ARCH_X86_64, 16, 4 },  { "5.10.0", HD_ARCH_X86_64, 32, 24 },
		{ "5.10.0", HD_ARCH_X86_64, 72, 64 }, { "5.10.0", HD_ARCH_X86_64, 40, 32 },
		{ "5.10.0", HD_ARCH_X86_64, 8, 0 },   { "6.1.0", HD_ARCH_X86_64, 32, 4 },
		{ "6.1.0", HD_ARCH_X86_64, 64, 24 },  { "6.1.0", HD_ARCH_X86_64, 144, 64 },
		{ "6.1.0", HD_ARCH_X86_64, 80, 32 },  { "6.1.0", HD_ARCH_X86_64, 16, 0 },
		{ "7.0.0", HD_ARCH_X86_64, 32, 4 },   { "5.10.0", HD_ARCH_ARM, 8, 4 },
		{ "5.10.0", HD_ARCH_ARM, 4, 0 },      { "5.10.0", HD_ARCH_ARM, 24, 20 },
		{ "6.1.0", HD_ARCH_ARM, 16, 4 },      { "6.1.0", HD_ARCH_ARM, 8, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		boot_init(&boot, cases[i].release, cases[i].arch);
		boot_table(&boot, "TCP bind", 4096, 0, 4096 * cases[i].bucket, HD_MAP_LINEAR)
		    ->has_order = false;
		infer();
		if (rule(HD_RULE_SPINLOCK_BYTES) != cases[i].lock ||
		    origin(HD_RULE_SPINLOCK_BYTES) != HD_ORIGIN_DETECTED)
			fail_msg("%s, bucket of %d: lock of %d", cases[i].release,
				 (int)cases[i].bucket, rule(HD_RULE_SPINLOCK_BYTES));
	}
}

static void a_tcp_bind_line_without_figures_tells_nothing_of_locks(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_table(&boot, "TCP bind", 0, 0, 131072, HD_MAP_LINEAR); /* cut in the number */
	infer();
	assert_int_equal(origin(HD_RULE_SPINLOCK_BYTES), HD_ORIGIN_VERSION);
	boot.table[0] = (struct klog_table){ .name = "TCP bind", .entries = 4096 };
	infer();
	assert_int_equal(origin(HD_RULE_SPINLOCK_BYTES), HD_ORIGIN_VERSION);
	boot.tables = 0;
	boot_table(&boot, "TCP bind", 4096, 0, 4096 * 4000, HD_MAP_LINEAR); /* what a lock */
	infer();
	assert_int_equal(rule(HD_RULE_SPINLOCK_BYTES), 4);
}

static void a_lockdep_kernels_tables_are_predicted_with_its_locks(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515000);
	boot_table(&boot, "TCP bind", 16384, 9, 16384 * 144, HD_MAP_LINEAR);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_UDP, 0, &want), 0);
	assert_int_equal(want.low.bytes / want.low.entries, 160);
}

static void the_cache_line_is_read_off_the_futex_table(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_ARM64);
	boot_table(&boot, "futex", 1024, 5, 128 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_CACHE_LINE), 128);
	assert_int_equal(origin(HD_RULE_CACHE_LINE), HD_ORIGIN_DETECTED);
}

/** Without SMP a futex bucket is not aligned: 24 bytes, 12 on 32-bit. */
static void a_futex_bucket_that_fills_no_cache_line_is_not_aligned(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_RISCV64);
	boot_zonelists(&boot, 1, 1, 125000);
	boot.possible_cpus = 1;
	boot.has |= KLOG_HAS_POSSIBLE_CPUS;
	boot_table(&boot, "futex", 256, 0, 256 * 24, HD_MAP_LINEAR)->has_order = false;
	boot_table(&boot, "TCP bind", 4096, 4, 4096 * 16, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_SPINLOCK_BYTES), 0);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_FUTEX, 0, &want), 0);
	assert_int_equal(want.low.entries, 256);
	assert_int_equal(want.low.bytes, 256 * 24);
}

static void the_rounding_of_the_order_is_read_off_an_odd_size(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(origin(HD_RULE_ORDER_PRINT), HD_ORIGIN_VERSION); /* even sizes tell not */
	boot_table(&boot, "MPTCP token", 2048, 4, 49152, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_ORDER_PRINT), HD_ORDER_CEIL);
	assert_int_equal(origin(HD_RULE_ORDER_PRINT), HD_ORIGIN_DETECTED);
	boot_init(&boot, "6.18.2", HD_ARCH_X86_64);
	boot_table(&boot, "MPTCP token", 2048, 3, 49152, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_ORDER_PRINT), HD_ORDER_FLOOR);
	boot.table[0].order = 7; /* neither: a torn figure */
	infer();
	assert_int_equal(origin(HD_RULE_ORDER_PRINT), HD_ORIGIN_VERSION);
}

static void the_rounding_of_the_order_goes_by_the_page_that_the_lines_show(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_ARM64);
	boot_table(&boot, "Dentry cache", 1048576, 7, 8 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Inode-cache", 524288, 6, 4 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "MPTCP token", 8192, 2, 192 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 16);
	assert_int_equal(rule(HD_RULE_ORDER_PRINT), HD_ORDER_CEIL);
}

static void equal_totals_show_a_kernel_that_counts_free_memory(void **state)
{
	static const struct {
		const char *release;
		uint64_t zonelist_pages, total_kib;
		enum hd_count_era era;
	} cases[] = {
		{ "6.12.0", 524158, 524158 * 4, HD_ERA_C },
		{ "6.12.0", 515000, 524158 * 4, HD_ERA_B }, /* the change is not in this tree */
		{ "6.9.0", 524158, 524158 * 4, HD_ERA_C },  /* or came early */
		{ "6.9.0", 515000, 524158 * 4, HD_ERA_B },
		{ "6.8.0", 524158, 524158 * 4, HD_ERA_B }, /* before it: by chance */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		boot_init(&boot, cases[i].release, HD_ARCH_X86_64);
		boot_zonelists(&boot, 1, 1, cases[i].zonelist_pages);
		boot_memory(&boot, cases[i].total_kib, 100000);
		ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_NOTHING, &facts);
		if (rule(HD_RULE_COUNT_ERA) != (int32_t)cases[i].era)
			fail_msg("case %d: era %d", (int)i, rule(HD_RULE_COUNT_ERA));
	}
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot_memory(&boot, 524158 * 4, 100000);
	infer();
	assert_int_equal(rule(HD_RULE_COUNT_ERA), HD_ERA_C); /* one of the two alone: by version */
	assert_int_equal(origin(HD_RULE_COUNT_ERA), HD_ORIGIN_VERSION);
}

static void size_and_order_show_the_size_of_a_page(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_PPC64); /* usually 64 KiB there */
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 16);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 12);
	assert_int_equal(rule(HD_RULE_TOP_ORDER), 12); /* follows the page */
}

static void most_lines_decide_the_size_of_a_page(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_ARM64);
	boot_table(&boot, "Dentry cache", 262144, 7, 2 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Inode-cache", 131072, 6, MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Mount-cache", 4096, 3, 32 * KIB, HD_MAP_LINEAR); /* torn */
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 14);
}

/** Order 0 covers all that fits a page; an odd size does not say how it was rounded. */
static void small_and_odd_tables_do_not_show_the_size_of_a_page(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_ARM64);
	boot_table(&boot, "UDP", 512, 0, 16 * KIB, HD_MAP_LINEAR);
	boot_table(&boot, "MPTCP token", 2048, 4, 49152, HD_MAP_LINEAR);
	boot_table(&boot, "Mount-cache", 1 << 20, 1, 8 * MIB, HD_MAP_LINEAR); /* pages of 4 MiB? */
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 12);
	assert_int_equal(origin(HD_RULE_PAGE_SHIFT), HD_ORIGIN_VERSION);
}

static void the_books_size_of_a_page_is_exact(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_ARM64);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	desk_init(&desk, "6.1.0", HD_ARCH_ARM64);
	desk.books.page_bytes = 65536;
	infer_both();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 16);
	assert_int_equal(origin(HD_RULE_PAGE_SHIFT), HD_ORIGIN_CONFIG);
}

static void bytes_per_entry_show_the_size_of_a_pointer(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_UNKNOWN);
	boot_table(&boot, "Dentry cache", 131072, 7, 512 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_WORD_BYTES), 4);
	assert_true(facts.has_sizes);
	assert_false(facts.has_arch);
	boot.table[0] = (struct klog_table){ .name = "Dentry cache", .entries = 131072 };
	boot_table(&boot, "Inode-cache", 65536, 6, 256 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_WORD_BYTES), 4); /* the inode table tells as well */
	boot.tables = 0;
	boot_table(&boot, "Dentry cache", 131072, 8, MIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_WORD_BYTES), 8);
	boot.table[0].bytes = 3 * MIB; /* neither 4 nor 8 */
	infer();
	assert_false(facts.has_sizes);
}

static void sizes_need_an_architecture_or_both_figures(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_UNKNOWN);
	boot_table(&boot, "Dentry cache", 131072, 0, MIB, HD_MAP_LINEAR)->has_order = false;
	infer();
	assert_false(facts.has_sizes); /* the pointer, but not the page */
	desk_init(&desk, "", HD_ARCH_UNKNOWN);
	desk.books.page_bytes = 4096;
	infer_both();
	assert_true(facts.has_sizes);
	boot_init(&boot, "5.10.0", HD_ARCH_S390X);
	infer();
	assert_true(facts.has_sizes);
}

/*
 * All backports in one log: kinds, hugepage, locks, order. An honest prediction
 * may look at none of them.
 */
static void without_detection_no_backport_is_taken_from_the_lines(void **state)
{
	const char *text = "spinlock-bytes=64";
	const struct ktables_given given = { &text, 1 };
	struct hd_rules plain;

	(void)state;
	el8();
	boot_table(&boot, "TCP established", 16384, 5, 128 * KIB, HD_MAP_VMALLOC_HUGE);
	boot_table(&boot, "TCP bind", 16384, 9, 16384 * 72, HD_MAP_VMALLOC);
	boot_table(&boot, "futex", 512, 4, 64 * KIB, HD_MAP_VMALLOC);
	ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_NOTHING, &facts);
	hd_rules_init(&plain, HD_VERSION(4, 18, 0), HD_ARCH_X86_64, NULL);
	assert_memory_equal(facts.machine.rules.value, plain.value, sizeof(plain.value));
	assert_true(facts.machine.hashdist);
	infer();
	assert_memory_not_equal(facts.machine.rules.value, plain.value, sizeof(plain.value));
	ktables_infer(&boot, NULL, &given, KTABLES_DETECT_NOTHING, &facts);
	assert_int_equal(rule(HD_RULE_SPINLOCK_BYTES), 64); /* what is given is taken */
}

static void the_books_configuration_is_used(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	hd_config_init(&desk.books.config);
	desk.books.config.numa = HD_NO;
	desk.books.config.debug_spinlock = HD_YES;
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 1); /* not told that it is readable */
	desk.books.has_config = true;
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 0);
	assert_int_equal(rule(HD_RULE_SPINLOCK_BYTES), 24);
	assert_int_equal(facts.reason, HD_REASON_NO_NUMA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_name_the_mapping_show_that_hashdist_clears),
		cmocka_unit_test(a_given_rule_beats_what_was_detected),
		cmocka_unit_test(a_given_rule_that_makes_no_sense_changes_nothing),
		cmocka_unit_test(three_lines_that_name_no_mapping_show_that_it_is_not_cleared),
		cmocka_unit_test(one_line_with_a_mapping_outweighs_many_without),
		cmocka_unit_test(a_hugepage_line_shows_huge_vmalloc),
		cmocka_unit_test(a_hugepage_line_leaves_the_newer_rule_alone),
		cmocka_unit_test(the_size_of_a_lock_is_read_off_tcp_bind),
		cmocka_unit_test(a_tcp_bind_line_without_figures_tells_nothing_of_locks),
		cmocka_unit_test(a_lockdep_kernels_tables_are_predicted_with_its_locks),
		cmocka_unit_test(the_cache_line_is_read_off_the_futex_table),
		cmocka_unit_test(a_futex_bucket_that_fills_no_cache_line_is_not_aligned),
		cmocka_unit_test(the_rounding_of_the_order_is_read_off_an_odd_size),
		cmocka_unit_test(the_rounding_of_the_order_goes_by_the_page_that_the_lines_show),
		cmocka_unit_test(equal_totals_show_a_kernel_that_counts_free_memory),
		cmocka_unit_test(size_and_order_show_the_size_of_a_page),
		cmocka_unit_test(most_lines_decide_the_size_of_a_page),
		cmocka_unit_test(small_and_odd_tables_do_not_show_the_size_of_a_page),
		cmocka_unit_test(the_books_size_of_a_page_is_exact),
		cmocka_unit_test(bytes_per_entry_show_the_size_of_a_pointer),
		cmocka_unit_test(sizes_need_an_architecture_or_both_figures),
		cmocka_unit_test(without_detection_no_backport_is_taken_from_the_lines),
		cmocka_unit_test(the_books_configuration_is_used),
	};

	return cmocka_run_group_tests_name("infer-rules", tests, NULL, NULL);
}

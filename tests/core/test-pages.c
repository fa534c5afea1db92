/* SPDX-License-Identifier: MIT */
/*
 * test-pages.c - how many pages a kernel thinks it has, from zones and from a log
 *
 * Zones are those of emulated machines with a legacy BIOS: 98 pages below 1 MiB
 * are no memory, 32 at the top are the firmware's, and 158 of the first 16 MiB
 * were reserved (dma_reserve). The sums are what such guests printed.
 */
#include "help.h"

enum { PAGE_STRUCT = 64, DMA_RESERVE = 158 };

/*
 *   0     1 MiB    16 MiB                              top
 *   |##..##|########|##################################|..|
 *       98                                              32
 */
static struct hd_pages small_pc(const char *version, uint64_t ram_pages)
{
	struct hd_rules rules = rules_of(version, HD_ARCH_X86_64);
	struct hd_zone zones[] = {
		{ .spanned = 4095, .present = 4096 - 98 },
		{ .spanned = ram_pages - 32 - 4096, .present = ram_pages - 32 - 4096 },
	};
	struct hd_pages out;

	hd_pages_from_zones(&rules, zones, ARRAY_SIZE(zones), PAGE_STRUCT, DMA_RESERVE, &out);
	return out;
}

static void era_b_is_exact_to_the_page(void **state)
{
	(void)state;
	assert_int_equal(small_pc("6.1.192", 266598).kernel, 262144);
	assert_int_equal(small_pc("6.1.192", 266600).kernel, 262146);
	assert_int_equal(small_pc("6.1.192", 2 * GIB >> 12).kernel, 515808);
	assert_int_equal(small_pc("6.1.192", 512 * MIB >> 12).kernel, 128736);
	assert_int_equal(small_pc("6.1.192", 160 * MIB >> 12).kernel, 40032);
	assert_int_equal(small_pc("6.1.192", 2 * GIB >> 12).all, 515808);
	assert_int_equal(small_pc("6.1.192", 2 * GIB >> 12).slack, 0);
}

static void era_a_counts_what_is_there(void **state)
{
	struct hd_pages pages = small_pc("2.6.11", 2 * GIB >> 12);

	(void)state;
	assert_int_equal(pages.kernel, 524158);
	assert_int_equal(pages.all, 524158);
}

/*
 *   DMA, DMA32 up to 3 GiB, NORMAL from 4 GiB
 */
static void zones_round_up_one_by_one(void **state)
{
	struct hd_rules rules = rules_of("6.1.192", HD_ARCH_X86_64);
	struct hd_zone zones[] = {
		{ .spanned = 4095, .present = 3998 },
		{ .spanned = 786432 - 32 - 4096, .present = 786432 - 32 - 4096 },
		{ .spanned = 3407872, .present = 3407872 },
	};
	struct hd_pages out;

	(void)state;
	hd_pages_from_zones(&rules, zones, 3, PAGE_STRUCT, DMA_RESERVE, &out);
	assert_int_equal(out.kernel, 4128480); /* a guest with 16 GiB */
}

static void arm64_reserves_nothing_for_dma(void **state)
{
	struct hd_rules rules = rules_of("6.1.192", HD_ARCH_ARM64);
	struct hd_zone zone = { .spanned = 524288, .present = 524288 };
	struct hd_pages out;

	(void)state;
	hd_pages_from_zones(&rules, &zone, 1, PAGE_STRUCT, 0, &out);
	assert_int_equal(out.kernel, 516096); /* a guest with 2 GiB */
}

static void a_zone_with_large_holes_has_a_smaller_memmap(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
	struct hd_zone zone = { .spanned = 1000000 + 62500, .present = 1000000 };
	struct hd_pages out;

	(void)state;
	hd_pages_from_zones(&rules, &zone, 1, PAGE_STRUCT, 0, &out);
	assert_int_equal(out.kernel, 1000000 - 16602); /* 1062500 / 64, up */
	zone.spanned++;                                /* beyond a sixteenth */
	hd_pages_from_zones(&rules, &zone, 1, PAGE_STRUCT, 0, &out);
	assert_int_equal(out.kernel, 1000000 - 15625);
	/* A memmap larger than the zone is not subtracted. */
	zone = (struct hd_zone){ .spanned = 100, .present = 100 };
	hd_pages_from_zones(&rules, &zone, 1, 8192, 0, &out);
	assert_int_equal(out.kernel, 100);
	/* Nor a reserve that leaves nothing. */
	hd_pages_from_zones(&rules, &zone, 1, 0, 100, &out);
	assert_int_equal(out.kernel, 100);
	/* It is rounded up to whole pages. */
	zone = (struct hd_zone){ .spanned = 1, .present = 100 };
	hd_pages_from_zones(&rules, &zone, 1, 4097, 0, &out);
	assert_int_equal(out.kernel, 98);
	hd_pages_from_zones(&rules, NULL, 0, PAGE_STRUCT, 0, &out);
	assert_int_equal(out.kernel, 0);
}

/*
 *   DMA 16 MiB, NORMAL to 880 MiB, HIGHMEM to 2 GiB; 40 bytes a page
 */
static void highmem_counts_for_the_cap_alone(void **state)
{
	struct hd_rules rules = rules_of("6.1.170", HD_ARCH_I386);
	struct hd_zone zones[] = {
		{ .spanned = 4095, .present = 3998 },
		{ .spanned = 221182, .present = 221182 },
		{ .spanned = 298978, .present = 298978, .highmem = true },
	};
	uint64_t memmap = 40 + 2160, high_memmap = 2920;
	struct hd_pages out;

	(void)state;
	hd_pages_from_zones(&rules, zones, 3, 40, 0, &out);
	assert_int_equal(out.all, 524158 - memmap);
	assert_int_equal(out.all, 521958); /* as the guest printed */
	assert_int_equal(out.kernel, 3998 + 221182 - memmap - high_memmap);
}

/* ---- from a log -------------------------------------------------------------------------- */

static struct hd_log_totals log_of(uint64_t total_kib, uint64_t reserved_kib)
{
	return (struct hd_log_totals){ .has_memory = true,
				       .has_reserved = true,
				       .total_kib = total_kib,
				       .reserved_kib = reserved_kib,
				       .percpu_pages = 66,
				       .possible_cpus = 2,
				       .late_complete = true };
}

static void the_zonelists_line_is_the_count_until_6_9(void **state)
{
	struct hd_log_totals log = { .has_zonelist_pages = true, .zonelist_pages = 515808 };
	struct hd_rules before = rules_of("6.9", HD_ARCH_X86_64);
	struct hd_rules after = rules_of("6.10", HD_ARCH_X86_64);
	struct hd_pages out;

	(void)state;
	assert_int_equal(hd_pages_from_log(&before, &log, &out), 0);
	assert_int_equal(out.kernel, 515808);
	assert_int_equal(out.all, 515808);
	assert_int_equal(out.slack, 0);
	assert_int_equal(hd_pages_from_log(&after, &log, &out), HD_ENOENT);
	log.has_zonelist_pages = false;
	assert_int_equal(hd_pages_from_log(&before, &log, &out), HD_ENOENT);
	assert_int_equal(out.kernel, 0);
}

static void highmem_is_taken_from_the_zonelists_line(void **state)
{
	struct hd_log_totals log = { .has_zonelist_pages = true,
				     .zonelist_pages = 521958,
				     .highmem_pages = 298978,
				     .page_struct_bytes = 40 };
	struct hd_rules rules = rules_of("6.1.170", HD_ARCH_I386);
	struct hd_pages out;

	(void)state;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), 0);
	assert_int_equal(out.all, 521958);
	assert_int_equal(out.kernel, 521958 - 298978 - 2920);
	assert_int_equal(out.slack, 0);
	/* The size of a struct page is not known: between 32 and 44 bytes. */
	log.page_struct_bytes = 0;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), 0);
	assert_in_range(521958 - 298978 - 2336, out.kernel - out.slack, out.kernel + out.slack);
	assert_in_range(521958 - 298978 - 3212, out.kernel - out.slack, out.kernel + out.slack);
}

/* Two guests on either side of 2^18 pages; 66 pages a processor. */
static void the_memory_line_is_worked_back_from_6_10(void **state)
{
	struct hd_rules rules = rules_of("6.12.117", HD_ARCH_X86_64);
	struct hd_log_totals log = log_of(1116008, 69484);
	struct hd_pages out;

	(void)state;
	log.early_bytes = MIB + 512 * KIB;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), 0);
	assert_int_equal(out.kernel, 262147); /* 3 to 6 too many */
	assert_int_equal(out.slack, 64);
	log = log_of(1116024, 71020);
	log.early_bytes = 3 * MIB;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), 0);
	assert_int_equal(out.kernel, 262151);
	/* Unknown pages a processor, and a bounce buffer that may be there, widen it. */
	log.percpu_pages = 0;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), 0);
	assert_int_equal(out.slack, 164);
	assert_in_range(262151, out.kernel - out.slack, out.kernel + out.slack);
	log.late_complete = false;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), 0);
	assert_in_range(262151, out.kernel - out.slack, out.kernel + out.slack);
	assert_in_range(262151 + 16384, out.kernel - out.slack, out.kernel + out.slack);
	log.has_reserved = false;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), HD_ENOENT);
}

static void crashkernel_and_cma_count_on_arm64_until_6_19(void **state)
{
	static const struct {
		const char *version;
		enum hd_arch arch;
		int64_t crash, cma; /* pages that either changes the count by */
	} cells[] = {
		{ "6.12.117", HD_ARCH_X86_64, 0, -16384 }, { "6.12.117", HD_ARCH_ARM64, 65536, 0 },
		{ "6.19.9", HD_ARCH_ARM64, 65536, 0 },     { "7.0", HD_ARCH_ARM64, 0, -16384 },
		{ "7.1", HD_ARCH_X86_64, 0, -16384 },      { "newest", HD_ARCH_ARM64, 0, -16384 },
		{ "7.0", HD_ARCH_RISCV64, 0, -16384 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct hd_rules rules = rules_of(cells[i].version, cells[i].arch);
		struct hd_log_totals log = log_of(2 * GIB >> 10, 512 * KIB);
		struct hd_pages plain, crash, cma;

		assert_int_equal(hd_pages_from_log(&rules, &log, &plain), 0);
		log.crashkernel_bytes = 256 * MIB;
		assert_int_equal(hd_pages_from_log(&rules, &log, &crash), 0);
		log.crashkernel_bytes = 0;
		log.cma_kib = 65536;
		assert_int_equal(hd_pages_from_log(&rules, &log, &cma), 0);
		assert_int_equal(crash.kernel - plain.kernel, cells[i].crash);
		assert_int_equal(cma.kernel - plain.kernel, cells[i].cma);
	}
}

static void where_the_order_is_not_known_both_are_covered(void **state)
{
	struct hd_rules rules = rules_of("6.12.117", HD_ARCH_RISCV64);
	struct hd_log_totals log = log_of(2 * GIB >> 10, 512 * KIB);
	struct hd_pages plain, out;

	(void)state;
	assert_int_equal(hd_pages_from_log(&rules, &log, &plain), 0);
	log.crashkernel_bytes = 256 * MIB;
	log.cma_kib = 65536;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), 0);
	assert_in_range(plain.kernel, out.kernel - out.slack, out.kernel + out.slack);
	assert_in_range(plain.kernel + 65536, out.kernel - out.slack, out.kernel + out.slack);
	assert_in_range(plain.kernel - 16384, out.kernel - out.slack, out.kernel + out.slack);
}

static void figures_that_contradict_each_other_give_no_negative_count(void **state)
{
	struct hd_rules rules = rules_of("6.12.117", HD_ARCH_X86_64);
	struct hd_log_totals log = log_of(1000, 2000);
	struct hd_pages out;

	(void)state;
	log.percpu_pages = 1;
	log.possible_cpus = 1;
	log.cma_kib = 100000;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), 0);
	assert_int_equal(out.kernel, 0);
	log.cma_kib = 0;
	log.highmem_pages = 100000;
	assert_int_equal(hd_pages_from_log(&rules, &log, &out), 0);
	assert_int_equal(out.kernel, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(era_b_is_exact_to_the_page),
		cmocka_unit_test(era_a_counts_what_is_there),
		cmocka_unit_test(zones_round_up_one_by_one),
		cmocka_unit_test(arm64_reserves_nothing_for_dma),
		cmocka_unit_test(a_zone_with_large_holes_has_a_smaller_memmap),
		cmocka_unit_test(highmem_counts_for_the_cap_alone),
		cmocka_unit_test(the_zonelists_line_is_the_count_until_6_9),
		cmocka_unit_test(highmem_is_taken_from_the_zonelists_line),
		cmocka_unit_test(the_memory_line_is_worked_back_from_6_10),
		cmocka_unit_test(crashkernel_and_cma_count_on_arm64_until_6_19),
		cmocka_unit_test(where_the_order_is_not_known_both_are_covered),
		cmocka_unit_test(figures_that_contradict_each_other_give_no_negative_count),
	};

	return cmocka_run_group_tests_name("core: pages", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test-size.c - every step from memory, or a given count, to the entries of a table
 *
 *   pages -> whole MiB -> scaled down -> at least a page -> power of two
 *         -> not below the low limit -> not above the cap -> power of two
 *
 * Expected figures are worked out by hand from the kernel's formula, with what
 * guests printed where there is one.
 */
#include "help.h"

/* Scales of the tables that memory sizes. */
enum { DENTRY = 13, INODE = 14, MOUNT = 19, UDP = 21 };

static struct hd_sizing sized(const struct hd_rules *rules, uint64_t pages,
			      struct hd_request request)
{
	struct hd_pages counted = { .kernel = pages, .all = pages };
	struct hd_sizing out;

	assert_int_equal(hd_table_size(rules, &counted, &request, &out), 0);
	return out;
}

static uint64_t entries(const struct hd_rules *rules, uint64_t pages, uint64_t bucket,
			uint8_t scale)
{
	return sized(rules, pages, (struct hd_request){ .bucket_bytes = bucket, .scale = scale })
	    .entries;
}

/* ---- from pages to entries --------------------------------------------------------- */

/* 515808 pages, as the guest with 2 GiB has them: each step by hand. */
static void every_step_can_be_followed(void **state)
{
	struct hd_rules rules = rules_of("6.1.192", HD_ARCH_X86_64);
	struct hd_sizing s =
	    sized(&rules, 515808, (struct hd_request){ .bucket_bytes = 8, .scale = DENTRY });

	(void)state;
	assert_int_equal(s.start_pages, 515808);
	assert_int_equal(s.rounded_pages, 515840); /* 2015 MiB */
	assert_int_equal(s.scale, 13);
	assert_int_equal(s.derived, 257920);
	assert_int_equal(s.power, 262144);
	assert_int_equal(s.cap, 16505856); /* a sixteenth of memory, in pointers */
	assert_int_equal(s.entries, 262144);
	assert_false(s.capped);
	assert_false(s.raised);
}

static void memory_is_rounded_up_to_whole_mib(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
	struct hd_request request = { .bucket_bytes = 8, .scale = DENTRY };

	(void)state;
	assert_int_equal(sized(&rules, 1, request).rounded_pages, 256);
	assert_int_equal(sized(&rules, 256, request).rounded_pages, 256);
	assert_int_equal(sized(&rules, 257, request).rounded_pages, 512);
	assert_int_equal(hd_rules_set(&rules, HD_RULE_PAGE_SHIFT, 16, HD_ORIGIN_GIVEN), 0);
	assert_int_equal(sized(&rules, 17, request).rounded_pages, 32);
	/* A page of 1 MiB or more is whole already. */
	assert_int_equal(hd_rules_set(&rules, HD_RULE_PAGE_SHIFT, 20, HD_ORIGIN_GIVEN), 0);
	assert_int_equal(sized(&rules, 17, request).rounded_pages, 17);
	assert_int_equal(hd_rules_set(&rules, HD_RULE_PAGE_SHIFT, 21, HD_ORIGIN_GIVEN), 0);
	assert_int_equal(sized(&rules, 17, request).rounded_pages, 17);
}

/* Two guests of 2 pages' difference stood on either side of this. */
static void tables_double_just_above_a_power_of_two(void **state)
{
	struct hd_rules rules = rules_of("6.1.192", HD_ARCH_X86_64);

	(void)state;
	assert_int_equal(entries(&rules, 262144, 8, DENTRY), 131072);
	assert_int_equal(entries(&rules, 262146, 8, DENTRY), 262144);
	/* What is scaled down far flips later: 513 x 512 pages. */
	assert_int_equal(entries(&rules, 262146, 32, UDP), 512);
	assert_int_equal(entries(&rules, 262400, 32, UDP), 512);
	assert_int_equal(entries(&rules, 262401, 32, UDP), 1024); /* rounds up to 262656 */
	assert_int_equal(entries(&rules, 262656, 32, UDP), 1024);
	/* Rule: doubles where the rounded pages reach (2^m + 1) << k; the cap keeps the scale. */
	for (unsigned k = 1; k <= 9; k++)
		for (unsigned m = 9; m < 18; m++) {
			struct hd_request request = { .bucket_bytes = 8,
						      .scale = (uint8_t)(12 + k),
						      .high = 1ULL << 31 };
			uint64_t border = ((1ULL << m) + 1) << k;
			uint64_t mib = (border + 255) / 256 * 256;

			assert_int_equal(sized(&rules, mib, request).entries, 2ULL << m);
			assert_int_equal(sized(&rules, mib - 256, request).entries, 1ULL << m);
		}
}

static void a_scale_below_the_page_size_gives_several_entries_a_page(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);

	(void)state;
	assert_int_equal(
	    sized(&rules, 256, (struct hd_request){ .bucket_bytes = 1, .scale = 10 }).derived,
	    1024);
	assert_int_equal(
	    sized(&rules, 256, (struct hd_request){ .bucket_bytes = 1, .scale = 12 }).derived, 256);
	/* 16K and 64K pages: the same memory, the same tables. */
	for (int shift = 12; shift <= 16; shift += 2) {
		hd_rules_set(&rules, HD_RULE_PAGE_SHIFT, shift, HD_ORIGIN_GIVEN);
		assert_int_equal(entries(&rules, 2 * GIB >> shift, 8, DENTRY), 262144);
		assert_int_equal(entries(&rules, 2 * GIB >> shift, 8, INODE), 131072);
		assert_int_equal(entries(&rules, 64 * GIB >> shift, 8, MOUNT), 131072);
	}
}

static void a_derived_table_has_at_least_a_page(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
	struct hd_rules old = rules_of("2.6.11", HD_ARCH_X86_64);
	struct hd_request request = { .bucket_bytes = 24, .scale = 20 };
	struct hd_sizing s = sized(&rules, 64 * MIB >> 12, request);

	(void)state;
	assert_int_equal(s.derived, 64);
	assert_int_equal(s.power, 256); /* 4096 / 24 = 170, then up */
	assert_int_equal(s.entries, 256);
	/* 170 is enough: 4080 bytes are below a page, and raised to no more. */
	s = sized(&rules, 170 * MIB >> 12, request);
	assert_int_equal(s.derived, 170);
	assert_int_equal(s.power, 256);
	assert_int_equal(entries(&rules, 256, 8, DENTRY), 512);
	assert_int_equal(entries(&rules, 0, 8, DENTRY), 1); /* the cap wins: no memory */
	hd_rules_set(&rules, HD_RULE_PAGE_SHIFT, 16, HD_ORIGIN_GIVEN);
	assert_int_equal(entries(&rules, 2 * GIB >> 16, 8, MOUNT), 8192); /* as ppc64 printed */
	/* A bucket larger than a page asks for nothing. */
	rules = rules_of("6.1", HD_ARCH_X86_64);
	assert_int_equal(entries(&rules, 256, 8192, UDP), 1);
	/* 2.6.11 had no minimum: 8 MiB are 16 steps of 512 KiB, doubled. */
	assert_int_equal(entries(&old, 8 * MIB >> 12, 8, MOUNT), 32);
}

static void the_small_minimum_replaces_the_page(void **state)
{
	struct hd_rules rules = rules_of("4.14", HD_ARCH_X86_64);
	struct hd_request pid = { .bucket_bytes = 8, .scale = 18, .high = 4096, .small_shift = 4 };

	(void)state;
	assert_int_equal(sized(&rules, 1 * MIB >> 12, pid).entries, 16);
	assert_int_equal(sized(&rules, 4 * MIB >> 12, pid).entries, 16);
	assert_int_equal(sized(&rules, 5 * MIB >> 12, pid).entries, 32);
	assert_int_equal(sized(&rules, 1 * GIB >> 12, pid).entries, 4096);
	assert_int_equal(sized(&rules, 64 * GIB >> 12, pid).entries, 4096);
}

static void reserved_pages_count_only_by_the_rule(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_PPC64);
	struct hd_pages pages = { .kernel = 20460, .all = 20460, .reserved = 8192 };
	struct hd_request request = { .bucket_bytes = 8, .scale = DENTRY };
	struct hd_sizing s;

	(void)state;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_int_equal(s.start_pages, 20460);
	hd_rules_set(&rules, HD_RULE_RESERVED_PAGES, 1, HD_ORIGIN_GIVEN);
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_int_equal(s.start_pages, 12268);
	assert_int_equal(s.rounded_pages, 12272);
	assert_int_equal(s.entries, 131072);
	assert_int_equal(s.cap, (20460ULL << 12) / 8); /* the cap knows nothing of it */
	pages.reserved = 30000;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_int_equal(s.start_pages, 0);
}

/* ---- adaptive scale ------------------------------------------------------------------- */

static void the_scale_grows_above_64_and_256_gib_1_and_4_tib(void **state)
{
	static const struct {
		uint64_t bytes;
		unsigned steps;
	} cells[] = {
		{ 1 * MIB, 0 },         { 64 * GIB, 0 }, { 64 * GIB + MIB, 1 }, { 256 * GIB, 1 },
		{ 256 * GIB + MIB, 2 }, { 1 * TIB, 2 },  { 1 * TIB + MIB, 3 },  { 4 * TIB, 3 },
		{ 4 * TIB + MIB, 4 },   { 16 * TIB, 4 }, { 16 * TIB + MIB, 5 }, { 64 * TIB, 5 },
	};

	(void)state;
	for (int shift = 12; shift <= 16; shift += 2)
		for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
			struct hd_rules rules = rules_of("6.1", HD_ARCH_ARM64);
			struct hd_request request = { .bucket_bytes = 8, .scale = DENTRY };
			uint64_t pages;

			hd_rules_set(&rules, HD_RULE_PAGE_SHIFT, shift, HD_ORIGIN_GIVEN);
			pages = pages_of(&rules, cells[i].bytes);
			assert_int_equal(sized(&rules, pages, request).scale, 13 + cells[i].steps);
			/* One page less, rounded up to the same MiB, changes nothing. */
			assert_int_equal(sized(&rules, pages - 1, request).scale,
					 13 + cells[i].steps);
			/* A limit of its own, or a count, switches it off. */
			request.high = 1ULL << 30;
			assert_int_equal(sized(&rules, pages, request).scale, 13);
			request.high = 0;
			request.entries = 4096;
			assert_int_equal(sized(&rules, pages, request).scale, 13);
		}
}

static void the_adaptive_scale_is_of_4_13_and_64_bits(void **state)
{
	struct hd_rules before = rules_of("4.12.0", HD_ARCH_X86_64);
	struct hd_rules after = rules_of("4.13.0", HD_ARCH_X86_64);
	struct hd_rules narrow = rules_of("6.1", HD_ARCH_I386);
	uint64_t pages = 36126431; /* of a guest with 140 GiB */

	(void)state;
	assert_int_equal(entries(&before, pages, 8, DENTRY), 33554432);
	assert_int_equal(entries(&after, pages, 8, DENTRY), 16777216);
	assert_int_equal(entries(&after, pages, 8, INODE), 8388608);
	assert_int_equal(entries(&after, pages, 8, MOUNT), 262144);
	assert_int_equal(
	    sized(&narrow, pages, (struct hd_request){ .bucket_bytes = 4, .scale = DENTRY }).scale,
	    13);
	/* At the step itself rounding makes up for the halving. */
	assert_int_equal(entries(&after, 64 * GIB >> 12, 8, DENTRY), 8388608);
	assert_int_equal(entries(&after, (64 * GIB >> 12) + 1, 8, DENTRY), 8388608);
	assert_int_equal(entries(&after, 128 * GIB >> 12, 8, DENTRY), 8388608);
	assert_int_equal(entries(&after, (128 * GIB >> 12) + 1, 8, DENTRY), 16777216);
}

static void dentry_entries_from_1_mib_to_64_tib(void **state)
{
	static const struct {
		uint64_t bytes, entries;
	} cells[] = {
		{ 1 * MIB, 512 },        { 4 * MIB, 512 },        { 5 * MIB, 1024 },
		{ 16 * MIB, 2048 },      { 128 * MIB, 16384 },    { 1 * GIB, 131072 },
		{ 16 * GIB, 2097152 },   { 64 * GIB, 8388608 },   { 100 * GIB, 8388608 },
		{ 256 * GIB, 16777216 }, { 512 * GIB, 16777216 }, { 1 * TIB, 33554432 },
		{ 2 * TIB, 33554432 },   { 3 * TIB, 67108864 },   { 4 * TIB, 67108864 },
		{ 8 * TIB, 67108864 },   { 16 * TIB, 134217728 }, { 17 * TIB, 134217728 },
		{ 32 * TIB, 134217728 }, { 33 * TIB, 268435456 }, { 64 * TIB, 268435456 },
	};
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		assert_int_equal(entries(&rules, cells[i].bytes >> 12, 8, DENTRY),
				 cells[i].entries);
}

/* ---- limits ------------------------------------------------------------------------------ */

static void the_cap_is_a_sixteenth_of_all_memory(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
	struct hd_pages pages = { .kernel = 1000, .all = 515808 };
	struct hd_request request = { .bucket_bytes = 8, .entries = 999999999 };
	struct hd_sizing s;

	(void)state;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_int_equal(s.cap, 16505856);
	assert_true(s.capped);
	assert_int_equal(s.entries, 8388608); /* no power of two: down */
	request.bucket_bytes = 24;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_int_equal(s.cap, 5501952); /* whole buckets */
	assert_int_equal(s.entries, 4194304);
	/* Few pages: a derived table is capped, too. 16 pages are 65536 bytes. */
	pages.kernel = 16;
	pages.all = 16;
	request = (struct hd_request){ .bucket_bytes = 8, .scale = DENTRY };
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_int_equal(s.power, 512);
	assert_int_equal(s.cap, 512);
	assert_false(s.capped);
	pages.all = 15;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_true(s.capped);
	assert_int_equal(s.entries, 256);
}

static void a_cap_of_its_own_replaces_the_sixteenth(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
	struct hd_request request = { .bucket_bytes = 32, .scale = UDP, .high = 65536 };

	(void)state;
	assert_int_equal(sized(&rules, 1 * TIB >> 12, request).entries, 65536);
	assert_int_equal(sized(&rules, 1 * TIB >> 12, request).cap, 65536);
	request.high = 65535;
	assert_int_equal(sized(&rules, 1 * TIB >> 12, request).entries, 32768);
	request.high = 3;
	assert_int_equal(sized(&rules, 1 * TIB >> 12, request).entries, 2);
}

static void nothing_exceeds_two_to_the_31_entries_from_3_10(void **state)
{
	struct hd_rules rules = rules_of("3.10", HD_ARCH_X86_64);
	struct hd_rules old = rules_of("2.6.20", HD_ARCH_X86_64);
	struct hd_request request = { .bucket_bytes = 8, .entries = 1ULL << 33 };
	uint64_t pages = 64 * TIB >> 12;

	(void)state;
	assert_int_equal(sized(&rules, pages, request).entries, 1ULL << 31);
	assert_int_equal(sized(&rules, pages, request).cap, 1ULL << 31);
	assert_int_equal(sized(&old, pages, request).entries, 1ULL << 33);
	request.high = 1ULL << 32;
	assert_int_equal(sized(&rules, pages, request).entries, 1ULL << 31);
	request.high = (1ULL << 31) - 1;
	assert_int_equal(sized(&rules, pages, request).entries, 1ULL << 30);
	request.entries = 1ULL << 31;
	request.high = 0;
	assert_int_equal(sized(&rules, pages, request).entries, 1ULL << 31);
	assert_false(sized(&rules, pages, request).capped);
}

static void the_low_limit_raises_and_the_cap_has_the_last_word(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
	struct hd_rules old = rules_of("2.6.20", HD_ARCH_X86_64);
	struct hd_request request = { .bucket_bytes = 32, .scale = UDP, .low = 256, .high = 65536 };
	struct hd_sizing s = sized(&rules, 1, request);

	(void)state;
	assert_int_equal(s.power, 128);
	assert_int_equal(s.entries, 256);
	assert_true(s.raised);
	assert_false(s.capped);
	request.high = 100; /* lower than low, and no power of two */
	s = sized(&rules, 1, request);
	assert_int_equal(s.entries, 64);
	assert_true(s.raised);
	assert_true(s.capped);
	/* A low limit that is no power of two rounds down, too. */
	request.high = 65536;
	request.low = 1000;
	assert_int_equal(sized(&rules, 1, request).entries, 512);
	/* 2.6.20 knows no low limit. */
	assert_int_equal(sized(&old, 1, request).entries, 128);
}

/* ---- given counts -------------------------------------------------------------------------- */

static void a_given_count_is_rounded_up_and_nothing_else(void **state)
{
	static const struct {
		uint64_t given, got;
	} cells[] = { { 1, 1 },     { 2, 2 },      { 3, 4 },           { 170, 256 },
		      { 512, 512 }, { 513, 1024 }, { 100000, 131072 }, { 131072, 131072 } };
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct hd_sizing s =
		    sized(&rules, 515808,
			  (struct hd_request){
			      .bucket_bytes = 8, .entries = cells[i].given, .scale = DENTRY });

		assert_int_equal(s.entries, cells[i].got);
		assert_int_equal(s.derived, cells[i].given);
		assert_int_equal(s.start_pages, 0);
		assert_int_equal(s.rounded_pages, 0);
	}
}

static void linux_2_6_11_doubled_exact_powers(void **state)
{
	struct hd_rules old = rules_of("2.6.11", HD_ARCH_X86_64);
	struct hd_rules fixed = rules_of("2.6.20", HD_ARCH_X86_64);
	struct hd_request request = { .bucket_bytes = 8, .entries = 4096 };

	(void)state;
	assert_int_equal(sized(&old, 515808, request).entries, 8192);
	assert_int_equal(sized(&fixed, 515808, request).entries, 4096);
	request.entries = 4095;
	assert_int_equal(sized(&old, 515808, request).entries, 4096);
	request.entries = 1;
	assert_int_equal(sized(&old, 515808, request).entries, 2);
}

static void pointers_of_4_bytes_make_tables_of_half_the_bytes(void **state)
{
	/* i386: lowmem sizes, highmem caps. A guest with 2 GiB. */
	struct hd_rules rules = rules_of("6.1.170", HD_ARCH_I386);
	struct hd_pages pages = { .kernel = 222000, .all = 521958 };
	struct hd_request request = { .bucket_bytes = 4, .scale = DENTRY };
	struct hd_sizing s;

	(void)state;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_int_equal(s.entries, 131072);
	assert_int_equal(s.cap, (521958ULL << 12) / 16 / 4);
	request.entries = UINT32_MAX;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_int_equal(s.entries, 1U << 24); /* 33405312 at most, down to a power */
}

/* ---- errors, order, translations ------------------------------------------------------------- */

static void impossible_requests_are_refused(void **state)
{
	struct hd_rules rules = rules_of("2.6.20", HD_ARCH_X86_64);
	struct hd_pages pages = { .kernel = 1ULL << 58, .all = 1ULL << 58 };
	struct hd_request request = { .bucket_bytes = 0, .scale = DENTRY };
	struct hd_sizing s;

	(void)state;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), HD_EINVAL);
	request.bucket_bytes = 8;
	request.scale = 64;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), HD_EINVAL);
	request.scale = 63;
	request.small_shift = 64;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), HD_EINVAL);
	request =
	    (struct hd_request){ .bucket_bytes = 8, .entries = 1ULL << 60, .high = 1ULL << 60 };
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), HD_ERANGE);
	request.high = (1ULL << 60) - 1;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
	assert_int_equal(s.entries, 1ULL << 59); /* 2^62 bytes */
	request = (struct hd_request){ .bucket_bytes = UINT64_MAX, .entries = 1, .high = 1 };
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), HD_ERANGE);
	request.bucket_bytes = UINT64_MAX >> 1;
	assert_int_equal(hd_table_size(&rules, &pages, &request, &s), 0);
}

static void order_is_rounded_up(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);

	(void)state;
	assert_int_equal(hd_order(&rules, 0), 0);
	assert_int_equal(hd_order(&rules, 1), 0);
	assert_int_equal(hd_order(&rules, 4096), 0);
	assert_int_equal(hd_order(&rules, 4097), 1);
	assert_int_equal(hd_order(&rules, 8192), 1);
	assert_int_equal(hd_order(&rules, 49152), 4);
	assert_int_equal(hd_order(&rules, 2 * MIB), 9);
	assert_int_equal(hd_order(&rules, 4 * MIB), 10);
	assert_int_equal(hd_order(&rules, 4 * MIB + 1), 11);
	assert_int_equal(hd_order(&rules, UINT64_MAX), 52);
	hd_rules_set(&rules, HD_RULE_PAGE_SHIFT, 16, HD_ORIGIN_GIVEN);
	assert_int_equal(hd_order(&rules, 65536), 0);
	assert_int_equal(hd_order(&rules, 16 * MIB), 8);
}

static void translations_are_counted_up(void **state)
{
	(void)state;
	assert_int_equal(hd_translations(8 * MIB, 12), 2048);
	assert_int_equal(hd_translations(8 * MIB, 21), 4);
	assert_int_equal(hd_translations(9 * MIB, 21), 5);
	assert_int_equal(hd_translations(1, 21), 1);
	assert_int_equal(hd_translations(0, 12), 0);
	assert_int_equal(hd_translations(4096, 0), 0);
	assert_int_equal(hd_translations(4096, 64), 0);
	assert_int_equal(hd_translations(UINT64_MAX, 63), 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_step_can_be_followed),
		cmocka_unit_test(memory_is_rounded_up_to_whole_mib),
		cmocka_unit_test(tables_double_just_above_a_power_of_two),
		cmocka_unit_test(a_scale_below_the_page_size_gives_several_entries_a_page),
		cmocka_unit_test(a_derived_table_has_at_least_a_page),
		cmocka_unit_test(the_small_minimum_replaces_the_page),
		cmocka_unit_test(reserved_pages_count_only_by_the_rule),
		cmocka_unit_test(the_scale_grows_above_64_and_256_gib_1_and_4_tib),
		cmocka_unit_test(the_adaptive_scale_is_of_4_13_and_64_bits),
		cmocka_unit_test(dentry_entries_from_1_mib_to_64_tib),
		cmocka_unit_test(the_cap_is_a_sixteenth_of_all_memory),
		cmocka_unit_test(a_cap_of_its_own_replaces_the_sixteenth),
		cmocka_unit_test(nothing_exceeds_two_to_the_31_entries_from_3_10),
		cmocka_unit_test(the_low_limit_raises_and_the_cap_has_the_last_word),
		cmocka_unit_test(a_given_count_is_rounded_up_and_nothing_else),
		cmocka_unit_test(linux_2_6_11_doubled_exact_powers),
		cmocka_unit_test(pointers_of_4_bytes_make_tables_of_half_the_bytes),
		cmocka_unit_test(impossible_requests_are_refused),
		cmocka_unit_test(order_is_rounded_up),
		cmocka_unit_test(translations_are_counted_up),
	};

	return cmocka_run_group_tests_name("core: sizes", tests, NULL, NULL);
}

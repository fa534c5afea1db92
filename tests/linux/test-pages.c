/* SPDX-License-Identifier: MIT */
/*
 * test-pages.c - the translations of pretend kernels, and the ladder that follows
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/layout.h"
#include "tests/linux/world.h"

#define THP   "/sys/kernel/mm/transparent_hugepage/"
#define POOLS "/sys/kernel/mm/hugepages/"
#define MIB   ((uint64_t)1 << 20)

static long page_bytes, thp_disable;

long __real_sysconf(int name);
long __wrap_sysconf(int name);

long __wrap_sysconf(int name)
{
	return name == _SC_PAGESIZE && page_bytes ? page_bytes : __real_sysconf(name);
}

static bool answer_prctl(long number, const long *args, enum door_kind kind, long *result)
{
	(void)number;
	(void)args;
	*result = thp_disable;
	return kind == DOOR_THP_DISABLE;
}

static int begin(void **state)
{
	(void)state;
	door_reset();
	door_only_pretend();
	door_set_kernel(answer_prctl, NULL);
	page_bytes = 4096;
	thp_disable = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	page_bytes = 0;
	door_reset();
	return door_leak() != NULL;
}

static void thp(const char *enabled, const char *bytes)
{
	door_file(THP "enabled", enabled);
	door_file(THP "hpage_pmd_size", bytes);
}

static struct hdl_pages pages_read(void)
{
	struct hdl_pages pages;

	hdl_pages_read(&pages);
	return pages;
}

static void an_x86_kernel_is_understood(void **state)
{
	struct hdl_pages pages;

	(void)state;
	thp("always [madvise] never\n", "2097152\n");
	door_file("/proc/meminfo", "MemTotal: 1 kB\nHugepagesize:       2048 kB\n");
	pages = pages_read();
	assert_int_equal(pages.base_shift, 12);
	assert_int_equal(pages.thp_shift, 21);
	assert_int_equal(pages.thp, HDL_THP_MADVISE);
	assert_int_equal(pages.hugetlb_shift, 21);
	assert_int_equal(pages.small_shift, 0);
	assert_false(pages.has_1g);
	assert_int_equal(hdl_thp_why(&pages), HD_WHY_MET);
	door_file(POOLS "hugepages-1048576kB/nr_hugepages", "0\n");
	assert_true(pages_read().has_1g);
}

static void settings_are_told_apart(void **state)
{
	static const struct {
		const char *enabled;
		enum hd_why why;
	} cases[] = {
		{ "[always] madvise never\n", HD_WHY_MET },
		{ "always [madvise] never\n", HD_WHY_MET },
		{ "always madvise [never]\n", HD_WHY_THP_NEVER },
		{ "always madvise never\n", HD_WHY_UNKNOWN },
		{ "[\n", HD_WHY_UNKNOWN },
		{ "", HD_WHY_UNKNOWN },
		{ NULL, HD_WHY_UNKNOWN },
		{ "[a_word_that_is_longer_than_any_of_them]\n", HD_WHY_UNKNOWN },
		{ "[]\n", HD_WHY_THP_NEVER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hdl_pages pages;

		thp(cases[i].enabled, "2097152\n");
		pages = pages_read();
		assert_int_equal(hdl_thp_why(&pages), cases[i].why);
	}
	/* Only a file that is not there says that there are none. */
	door_file(THP "hpage_pmd_size", NULL);
	door_file(THP "enabled", NULL);
	assert_int_equal(pages_read().thp, HDL_THP_NONE);
	door_ill(DOOR_OPEN, -EMFILE);
	assert_int_equal(pages_read().thp, HDL_THP_UNKNOWN);
}

/* 64 KiB base pages: the huge page of the page tables has 512 MiB, mTHP offers 2 MiB. */
static void an_arm64_kernel_of_64k_pages_is_understood(void **state)
{
	struct hdl_wish wish = { .pages = HD_PAGES_LARGE };
	struct hdl_region region = { 0 };
	struct hdl_choice rungs[3];
	struct hdl_pages pages;

	(void)state;
	page_bytes = 65536;
	thp("always [madvise] never\n", "536870912\n");
	door_file(THP "hugepages-524288kB/enabled", "always [inherit] madvise never\n");
	door_file(THP "hugepages-2048kB/enabled", "always inherit [madvise] never\n");
	door_file(THP "hugepages-128kB/enabled", "[always] inherit madvise never\n");
	door_file("/proc/meminfo", "Hugepagesize:     524288 kB\n");
	pages = pages_read();
	assert_int_equal(pages.base_shift, 16);
	assert_int_equal(pages.thp_shift, 29);
	assert_int_equal(pages.small_shift, 21);
	assert_int_equal(pages.hugetlb_shift, 29);
	assert_int_equal(hdl_ladder(&wish, &pages, rungs), 1);

	/* 1 GiB is two huge pages. */
	assert_int_equal(hdl_plan(&region, &rungs[0], &pages, 1024 * MIB), 0);
	assert_int_equal(region.shift, 29);
	assert_true(region.huge);
	/* 600 MiB is more than one: laid out for them, yet not rounded up to 1 GiB. */
	assert_int_equal(hdl_plan(&region, &rungs[0], &pages, 600 * MIB), 0);
	assert_int_equal(region.bytes, 600 * MIB);
	/* 64 MiB: the smaller translations are the unit, and it is said why. */
	assert_int_equal(hdl_plan(&region, &rungs[0], &pages, 64 * MIB), 0);
	assert_int_equal(region.shift, 21);
	assert_false(region.huge);
	assert_int_equal(region.pages_why, HD_WHY_TOO_SMALL);
	assert_int_equal(region.bytes, 64 * MIB);
	/* 500 MiB are nearly one: rounded up by less than an eighth. */
	assert_int_equal(hdl_plan(&region, &rungs[0], &pages, 500 * MIB), 0);
	assert_int_equal(region.bytes, 512 * MIB);
	/* One byte is one base page of this kernel. */
	assert_int_equal(hdl_plan(&region, &rungs[0], &pages, 1), 0);
	assert_int_equal(region.bytes, 65536);
}

static void the_setting_of_a_size_overrules_the_common_one(void **state)
{
	struct hdl_pages pages;

	(void)state;
	thp("always madvise [never]\n", "2097152\n");
	door_file(THP "hugepages-2048kB/enabled", "always inherit [madvise] never\n");
	pages = pages_read();
	assert_int_equal(hdl_thp_why(&pages), HD_WHY_MET);
	thp("[always] madvise never\n", "2097152\n");
	door_file(THP "hugepages-2048kB/enabled", "always inherit madvise [never]\n");
	door_file(THP "hugepages-64kB/enabled", "always [inherit] madvise never\n");
	door_file(THP "hugepages-32kB/enabled", "[always] inherit madvise never\n");
	pages = pages_read();
	assert_int_equal(hdl_thp_why(&pages), HD_WHY_THP_NEVER);
	assert_int_equal(pages.small_shift, 16);
}

static void a_process_may_have_them_off(void **state)
{
	struct hdl_pages pages;

	(void)state;
	thp("[always] madvise never\n", "2097152\n");
	thp_disable = 1;
	pages = pages_read();
	assert_int_equal(hdl_thp_why(&pages), HD_WHY_THP_OFF);
	/* Linux 6.18: off, except where they are advised. */
	thp_disable = 3;
	pages = pages_read();
	assert_int_equal(hdl_thp_why(&pages), HD_WHY_MET);
	thp_disable = -EINVAL;
	pages = pages_read();
	assert_int_equal(hdl_thp_why(&pages), HD_WHY_MET);
}

static void sizes_that_make_no_sense_are_not_planned_with(void **state)
{
	static const char *const sizes[] = { "0\n", "",       "junk\n",
					     "1\n", "4095\n", "99999999999999999999999\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct hdl_pages pages;

		thp("[always] madvise never\n", sizes[i]);
		pages = pages_read();
		assert_true(hdl_thp_why(&pages) == HD_WHY_NO_SUPPORT ||
			    hdl_thp_why(&pages) == HD_WHY_UNKNOWN);
		assert_int_equal(pages.thp_shift, 0);
	}
	/* The largest that fit a number must not be shifted beyond it. */
	thp("[always] madvise never\n", "18446744073709551615\n");
	door_file("/proc/meminfo", "Hugepagesize: 18446744073709551615 kB\n");
	(void)pages_read();
	door_file("/proc/meminfo", "Hugepagesize: 18014398509481984 kB\n");
	assert_int_equal(pages_read().hugetlb_shift, 0);
}

static void the_ladder_begins_where_it_is_asked_to(void **state)
{
	struct hdl_pages pages = { .base_shift = 12, .thp_shift = 21, .hugetlb_shift = 21 };
	struct hdl_choice rung[3];
	struct hdl_wish wish = { .pages = HD_PAGES_1G };

	(void)state;
	assert_int_equal(hdl_ladder(&wish, &pages, rung), 3);
	assert_int_equal(rung[0].shift, 30);
	assert_int_equal(rung[1].shift, 21);
	assert_int_equal(rung[2].kind, HDL_THP);
	wish.pages = HD_PAGES_HUGETLB;
	assert_int_equal(hdl_ladder(&wish, &pages, rung), 2);
	pages.hugetlb_shift = 30; /* the default pool has 1 GiB pages: not tried twice */
	wish.pages = HD_PAGES_1G;
	assert_int_equal(hdl_ladder(&wish, &pages, rung), 2);
	wish.pages = HD_PAGES_BASE;
	assert_int_equal(hdl_ladder(&wish, &pages, rung), 1);
	assert_int_equal(rung[0].kind, HDL_BASE);
}

static void rounding_adds_an_eighth_at_most(void **state)
{
	struct hdl_pages pages = { .base_shift = 12, .thp_shift = 21, .thp = HDL_THP_ALWAYS };
	struct hdl_choice rung = { HDL_THP, 21 };

	(void)state;
	for (uint64_t bytes = 1; bytes < 40 * MIB; bytes += 4096 * 3 - 1) {
		struct hdl_region region = { 0 };

		assert_int_equal(hdl_plan(&region, &rung, &pages, bytes), 0);
		assert_true(region.bytes >= bytes);
		assert_true(region.bytes - bytes < 4096 || region.bytes - bytes <= bytes / 8);
		assert_int_equal(region.bytes % 4096, 0);
	}
}

static void sizes_near_the_end_of_numbers_are_refused(void **state)
{
	struct hdl_pages pages = {
		.base_shift = 12, .thp_shift = 21, .thp = HDL_THP_ALWAYS, .hugetlb_shift = 21
	};
	static const struct hdl_choice rungs[] = { { HDL_BASE, 12 },
						   { HDL_THP, 21 },
						   { HDL_HUGETLB, 21 } };

	(void)state;
	for (int i = 0; i < 3; i++)
		for (uint64_t less = 0; less < 4096; less += 1365) {
			struct hdl_region region = { 0 };

			if (less != 4095)
				assert_int_equal(
				    hdl_plan(&region, &rungs[i], &pages, UINT64_MAX - less),
				    -ENOMEM);
		}
}

static void pools_count_what_can_still_be_taken(void **state)
{
	uint64_t pages = 99;

	(void)state;
	assert_int_equal(hdl_pool_free(21, HDL_NODES_MAX, &pages), -ENOENT);
	door_file(POOLS "hugepages-2048kB/free_hugepages", "10\n");
	assert_int_equal(hdl_pool_free(21, HDL_NODES_MAX, &pages), 0);
	assert_int_equal(pages, 10);
	door_file(POOLS "hugepages-2048kB/resv_hugepages", "4\n");
	door_file(POOLS "hugepages-2048kB/nr_overcommit_hugepages", "7\n");
	door_file(POOLS "hugepages-2048kB/surplus_hugepages", "2\n");
	assert_int_equal(hdl_pool_free(21, HDL_NODES_MAX, &pages), 0);
	assert_int_equal(pages, 6 + 5);
	door_file(POOLS "hugepages-2048kB/resv_hugepages", "40\n");
	door_file(POOLS "hugepages-2048kB/nr_overcommit_hugepages", "1\n");
	assert_int_equal(hdl_pool_free(21, HDL_NODES_MAX, &pages), 0);
	assert_int_equal(pages, 0);
	door_file("/sys/devices/system/node/node3/hugepages/hugepages-2048kB/free_hugepages",
		  "5\n");
	assert_int_equal(hdl_pool_free(21, 3, &pages), 0);
	assert_int_equal(pages, 5);
	door_file(POOLS "hugepages-2048kB/free_hugepages", "junk\n");
	assert_int_equal(hdl_pool_free(21, HDL_NODES_MAX, &pages), -EPROTO);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_x86_kernel_is_understood),
		TEST(settings_are_told_apart),
		TEST(an_arm64_kernel_of_64k_pages_is_understood),
		TEST(the_setting_of_a_size_overrules_the_common_one),
		TEST(a_process_may_have_them_off),
		TEST(sizes_that_make_no_sense_are_not_planned_with),
		TEST(the_ladder_begins_where_it_is_asked_to),
		TEST(rounding_adds_an_eighth_at_most),
		TEST(sizes_near_the_end_of_numbers_are_refused),
		TEST(pools_count_what_can_still_be_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

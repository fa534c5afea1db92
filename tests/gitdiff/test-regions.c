/* SPDX-License-Identifier: MIT */
/*
 * test-regions.c - from symbols and variables of a pretend kernel to what an address belongs to
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "count.h"
#include "regions.h"
#include "symbols.h"

#define LINEAR  UINT64_C(0xffff888000000000)
#define VMALLOC UINT64_C(0xffffc90000000000)
#define MEMMAP  UINT64_C(0xffffea0000000000)

static const char symbols[] = "ffffffff81000000 T _text\n"
			      "ffffffff82000000 d dentry_hashtable\n"
			      "ffffffff82000008 d d_hash_shift\n"
			      "ffffffff82000010 d inode_hashtable\n"
			      "ffffffff82000018 d i_hash_shift\n"
			      "ffffffff82000020 D tcp_hashinfo\n"
			      "ffffffff82000040 D page_offset_base\n"
			      "ffffffff82000048 D vmalloc_base\n"
			      "ffffffff82000050 D vmemmap_base\n"
			      "ffffffffc0003000 t dentry_hashtable_\n"
			      "ffffffffc0004000 t in_a_module\t[a_module]\n";

/* The memory from ffffffff82000000 on. */
static const uint64_t variables[] = {
	LINEAR + 0x7f000000, /* dentries: linear */
	12,                  /* 32 - 20: 2^20 buckets */
	VMALLOC + 0x5000,    /* inodes: vmalloc */
	19,
	VMALLOC + 0x900000, /* established connections */
	0,
	0xfffff, /* mask */
	0,
	LINEAR,
	VMALLOC,
	MEMMAP,
};

static bool read_variable(void *context, uint64_t address, void *out, size_t bytes)
{
	uint64_t offset = address - UINT64_C(0xffffffff82000000);

	(void)context;
	if (offset + bytes > sizeof(variables))
		return false;
	memcpy(out, (const uint8_t *)variables + offset, bytes);
	return true;
}

static bool read_nothing(void *context, uint64_t address, void *out, size_t bytes)
{
	(void)context;
	(void)address;
	(void)out;
	(void)bytes;
	return false;
}

static struct regions regions_of_kernel(void)
{
	struct regions out;

	regions_find(&out, symbols, strlen(symbols), read_variable, NULL);
	return out;
}

static void tables_have_the_place_and_size_of_their_variables(void **state)
{
	struct regions got = regions_of_kernel();

	(void)state;
	assert_int_equal(got.tables[REGION_DENTRY].start, LINEAR + 0x7f000000);
	assert_int_equal(got.tables[REGION_DENTRY].bytes, 8 << 20);
	assert_int_equal(got.tables[REGION_INODE].start, VMALLOC + 0x5000);
	assert_int_equal(got.tables[REGION_INODE].bytes, 4 << 20);
	assert_int_equal(got.tables[REGION_TCP].start, VMALLOC + 0x900000);
	assert_int_equal(got.tables[REGION_TCP].bytes, 8 << 20);
}

static void a_table_comes_before_the_map_it_lies_in(void **state)
{
	struct regions r = regions_of_kernel();
	uint64_t dentry = r.tables[REGION_DENTRY].start, inode = r.tables[REGION_INODE].start;

	(void)state;
	assert_int_equal(region_of(&r, dentry - 1), REGION_LINEAR);
	assert_int_equal(region_of(&r, dentry), REGION_DENTRY);
	assert_int_equal(region_of(&r, dentry + (8 << 20) - 1), REGION_DENTRY);
	assert_int_equal(region_of(&r, dentry + (8 << 20)), REGION_LINEAR);
	assert_int_equal(region_of(&r, inode - 1), REGION_VMALLOC);
	assert_int_equal(region_of(&r, inode), REGION_INODE);
	assert_int_equal(region_of(&r, inode + (4 << 20)), REGION_VMALLOC);
}

static void maps_end_where_the_next_begins(void **state)
{
	struct regions r = regions_of_kernel();

	(void)state;
	assert_int_equal(region_of(&r, 0), REGION_USER);
	assert_int_equal(region_of(&r, 0x7fffffffffff), REGION_USER);
	assert_int_equal(region_of(&r, LINEAR - 1), REGION_OTHER);
	assert_int_equal(region_of(&r, LINEAR), REGION_LINEAR);
	assert_int_equal(region_of(&r, VMALLOC - 1), REGION_LINEAR);
	assert_int_equal(region_of(&r, VMALLOC), REGION_VMALLOC);
	assert_int_equal(region_of(&r, MEMMAP - 1), REGION_VMALLOC);
	assert_int_equal(region_of(&r, MEMMAP), REGION_OTHER);
	assert_int_equal(region_of(&r, UINT64_C(0xffffffff81000000)), REGION_OTHER);
	assert_int_equal(region_of(&r, UINT64_MAX), REGION_OTHER);
}

static void without_variables_no_table_and_the_usual_maps(void **state)
{
	struct regions r;

	(void)state;
	regions_find(&r, symbols, strlen(symbols), read_nothing, NULL);
	for (int table = 0; table < REGION_TABLES; table++)
		assert_int_equal(r.tables[table].bytes, 0);
	assert_int_equal(region_of(&r, 0), REGION_USER);
	assert_int_equal(region_of(&r, LINEAR), REGION_LINEAR);
	assert_int_equal(region_of(&r, VMALLOC), REGION_VMALLOC);
	assert_int_equal(region_of(&r, MEMMAP), REGION_OTHER);
}

static void a_symbol_is_found_by_its_whole_name(void **state)
{
	size_t bytes = strlen(symbols);

	(void)state;
	assert_int_equal(symbols_find(symbols, bytes, "_text"), UINT64_C(0xffffffff81000000));
	assert_int_equal(symbols_find(symbols, bytes, "dentry_hashtable"),
			 UINT64_C(0xffffffff82000000));
	assert_int_equal(symbols_find(symbols, bytes, "dentry_hashtabl"), 0);
	assert_int_equal(symbols_find(symbols, bytes, "text"), 0);
	assert_int_equal(symbols_find(symbols, bytes, "in_a_module"), 0);
	assert_int_equal(symbols_find(symbols, 0, "_text"), 0);
}

static void a_last_line_may_lack_its_end(void **state)
{
	static const char line[] = "00000000000000ff A x";

	(void)state;
	assert_int_equal(symbols_find(line, strlen(line), "x"), 0xff);
	assert_int_equal(symbols_find("hidden0000000000 A x", 20, "x"), 0);
}

static void walks_are_counted_where_they_belong(void **state)
{
	static struct counts counts;
	const uint64_t kernel = UINT64_C(0xffffffff81000000);

	(void)state;
	count_reset(&counts);
	count_walk(&counts, &(struct count_walk){ kernel, REGION_DENTRY, HD_TLB_LOAD, 12 });
	count_walk(&counts, &(struct count_walk){ kernel, REGION_DENTRY, HD_TLB_LOAD, 21 });
	count_walk(&counts, &(struct count_walk){ kernel, REGION_USER, HD_TLB_STORE, 30 });
	count_walk(&counts, &(struct count_walk){ 0x401000, REGION_USER, HD_TLB_LOAD, 12 });
	assert_int_equal(counts.walks[HD_TLB_LOAD][COUNT_KERNEL][REGION_DENTRY][COUNT_4K], 1);
	assert_int_equal(counts.walks[HD_TLB_LOAD][COUNT_KERNEL][REGION_DENTRY][COUNT_2M], 1);
	assert_int_equal(counts.walks[HD_TLB_STORE][COUNT_KERNEL][REGION_USER][COUNT_1G], 1);
	assert_int_equal(counts.walks[HD_TLB_LOAD][COUNT_USER][REGION_USER][COUNT_4K], 1);
}

static uint64_t walks_at_places(const struct counts *counts)
{
	uint64_t sum = counts->without_place;

	for (size_t i = 0; i < COUNT_PLACES; i++)
		sum += counts->places[i].walks[HD_TLB_LOAD];
	return sum;
}

static void no_walk_is_lost_when_there_are_more_places_than_room(void **state)
{
	static struct counts counts;
	const uint64_t kernel = UINT64_C(0xffffffff81000000), many = 2 * COUNT_PLACES;

	(void)state;
	count_reset(&counts);
	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < many; i++)
			count_walk(&counts, &(struct count_walk){ kernel + 4 * i, REGION_LINEAR,
								  HD_TLB_LOAD, 12 });
	assert_int_equal(walks_at_places(&counts), 2 * many);
	assert_true(counts.without_place >= many / 2);
	/* The first ones had room, and each is one place. */
	for (size_t i = 0; i < COUNT_PLACES; i++)
		assert_true(!counts.places[i].pc || counts.places[i].walks[HD_TLB_LOAD] <= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_have_the_place_and_size_of_their_variables),
		cmocka_unit_test(a_table_comes_before_the_map_it_lies_in),
		cmocka_unit_test(maps_end_where_the_next_begins),
		cmocka_unit_test(without_variables_no_table_and_the_usual_maps),
		cmocka_unit_test(a_symbol_is_found_by_its_whole_name),
		cmocka_unit_test(a_last_line_may_lack_its_end),
		cmocka_unit_test(walks_are_counted_where_they_belong),
		cmocka_unit_test(no_walk_is_lost_when_there_are_more_places_than_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

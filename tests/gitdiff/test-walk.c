/* SPDX-License-Identifier: MIT */
/*
 * test-walk.c - page tables in pretend memory
 *
 *   page 1: top    page 2: 1 GiB each    page 3: 2 MiB each    page 4: 4 KiB each
 *   page 0: the table above, with five levels
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "walk.h"

enum { PAGES = 5, ENTRIES = 512 };
enum { PRESENT = 1, LARGE = 1 << 7, GLOBAL = 1 << 8 };

static const uint64_t NO_EXECUTE = UINT64_C(1) << 63;

struct memory {
	uint64_t page[PAGES][ENTRIES];
	unsigned reads;
};

static bool read_memory(void *context, uint64_t physical, uint64_t *entry)
{
	struct memory *memory = context;

	memory->reads++;
	if (physical >= sizeof(memory->page))
		return false;
	*entry = memory->page[physical >> 12][physical % 4096 / 8];
	return true;
}

static uint64_t table(uint64_t page)
{
	return page << 12 | PRESENT;
}

/* An address by its index in each table. */
static uint64_t address(uint64_t top, uint64_t giant, uint64_t large, uint64_t small, uint64_t byte)
{
	uint64_t low = top << 39 | giant << 30 | large << 21 | small << 12 | byte;

	return top & 0x100 ? low | UINT64_C(0xffff) << 48 : low;
}

static struct memory tables(void)
{
	struct memory memory = { 0 };

	memory.page[1][7] = memory.page[1][0x111] = table(2);
	memory.page[2][5] = table(3);
	memory.page[3][3] = table(4);
	return memory;
}

static const struct walk_root four = { .cr3 = 1 << 12, .global = true };

static void four_levels_find_a_small_page(void **state)
{
	struct memory memory = tables();
	struct walk_result got;

	(void)state;
	memory.page[4][9] = 0x1234567000 | PRESENT | NO_EXECUTE;
	assert_true(walk_tables(&four, read_memory, &memory, address(7, 5, 3, 9, 0xabc), &got));
	assert_int_equal(got.physical, 0x1234567abc);
	assert_int_equal(got.shift, 12);
	assert_false(got.global);
	assert_int_equal(memory.reads, 4);
}

static void an_address_of_the_upper_half_is_found(void **state)
{
	struct memory memory = tables();
	struct walk_result got;

	(void)state;
	memory.page[4][9] = 0x5000 | PRESENT | GLOBAL;
	assert_true(walk_tables(&four, read_memory, &memory, address(0x111, 5, 3, 9, 8), &got));
	assert_int_equal(got.physical, 0x5008);
	assert_true(got.global);
}

/* Bit 12 of an entry for a large page is about caching, not of its address. */
static void large_pages_end_the_walk_where_they_are(void **state)
{
	struct memory memory = tables();
	struct walk_result got;

	(void)state;
	memory.page[3][4] = 0x40000000 | 1 << 12 | PRESENT | LARGE;
	assert_true(walk_tables(&four, read_memory, &memory, address(7, 5, 4, 0x1ff, 1), &got));
	assert_int_equal(got.physical, 0x401ff001);
	assert_int_equal(got.shift, 21);
	memory.page[2][6] = 0x80000000 | PRESENT | LARGE | GLOBAL;
	assert_true(walk_tables(&four, read_memory, &memory, address(7, 6, 1, 2, 3), &got));
	assert_int_equal(got.physical, 0x80202003);
	assert_int_equal(got.shift, 30);
	assert_true(got.global);
}

/* In the entry of a small page bit 7 is about caching; above 1 GiB it is not allowed to be set. */
static void bit_7_means_a_large_page_only_where_there_are_some(void **state)
{
	struct memory memory = tables();
	struct walk_result got;

	(void)state;
	memory.page[4][9] = 0x7000 | PRESENT | LARGE;
	assert_true(walk_tables(&four, read_memory, &memory, address(7, 5, 3, 9, 0), &got));
	assert_int_equal(got.shift, 12);
	assert_int_equal(got.physical, 0x7000);
}

static void nothing_is_global_when_that_is_switched_off(void **state)
{
	struct memory memory = tables();
	struct walk_root root = { .cr3 = 1 << 12, .global = false };
	struct walk_result got;

	(void)state;
	memory.page[4][9] = 0x5000 | PRESENT | GLOBAL;
	assert_true(walk_tables(&root, read_memory, &memory, address(7, 5, 3, 9, 0), &got));
	assert_false(got.global);
}

/* The tag in the low bits of CR3, and the bit that asks for no flush, are not of the address. */
static void other_bits_of_cr3_do_not_matter(void **state)
{
	struct memory memory = tables();
	struct walk_root root = { .cr3 = 1 << 12 | 0x123 | NO_EXECUTE };
	struct walk_result got;

	(void)state;
	memory.page[4][9] = 0x5000 | PRESENT;
	assert_true(walk_tables(&root, read_memory, &memory, address(7, 5, 3, 9, 0), &got));
}

static void five_levels_begin_one_table_higher(void **state)
{
	struct memory memory = tables();
	struct walk_root root = { .cr3 = 0, .five_levels = true };
	struct walk_result got;

	(void)state;
	memory.page[0][2] = table(1);
	memory.page[4][9] = 0x5000 | PRESENT;
	assert_true(walk_tables(&root, read_memory, &memory,
				UINT64_C(2) << 48 | address(7, 5, 3, 9, 1), &got));
	assert_int_equal(got.physical, 0x5001);
	assert_int_equal(memory.reads, 5);
}

static void what_is_not_present_is_not_found_at_any_level(void **state)
{
	struct memory memory = tables();
	struct walk_result got;

	(void)state;
	assert_false(walk_tables(&four, read_memory, &memory, address(8, 0, 0, 0, 0), &got));
	assert_false(walk_tables(&four, read_memory, &memory, address(7, 4, 0, 0, 0), &got));
	assert_false(walk_tables(&four, read_memory, &memory, address(7, 5, 2, 0, 0), &got));
	assert_false(walk_tables(&four, read_memory, &memory, address(7, 5, 3, 8, 0), &got));
	memory.page[4][9] = 0x5000; /* everything but the one bit */
	assert_false(walk_tables(&four, read_memory, &memory, address(7, 5, 3, 9, 0), &got));
}

static void an_address_between_the_halves_is_not_looked_up(void **state)
{
	struct memory memory = tables();
	struct walk_result got;

	(void)state;
	assert_false(walk_tables(&four, read_memory, &memory, UINT64_C(1) << 47, &got));
	assert_false(walk_tables(&four, read_memory, &memory, UINT64_C(1) << 63, &got));
	assert_int_equal(memory.reads, 0);
}

static void a_table_outside_of_memory_ends_the_walk(void **state)
{
	struct memory memory = tables();
	struct walk_result got;

	(void)state;
	memory.page[2][5] = table(PAGES);
	assert_false(walk_tables(&four, read_memory, &memory, address(7, 5, 3, 9, 0), &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_levels_find_a_small_page),
		cmocka_unit_test(an_address_of_the_upper_half_is_found),
		cmocka_unit_test(large_pages_end_the_walk_where_they_are),
		cmocka_unit_test(bit_7_means_a_large_page_only_where_there_are_some),
		cmocka_unit_test(nothing_is_global_when_that_is_switched_off),
		cmocka_unit_test(other_bits_of_cr3_do_not_matter),
		cmocka_unit_test(five_levels_begin_one_table_higher),
		cmocka_unit_test(what_is_not_present_is_not_found_at_any_level),
		cmocka_unit_test(an_address_between_the_halves_is_not_looked_up),
		cmocka_unit_test(a_table_outside_of_memory_ends_the_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

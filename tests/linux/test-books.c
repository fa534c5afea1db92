/* SPDX-License-Identifier: MIT */
/*
 * test-books.c - the kernel's books of a region: scan, smaps, move_pages, numa_maps
 *
 * Older books stand in for newer ones. What none of them tells is unknown, and a
 * book that breaks off is no book.
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

#include "backend/linux/reserve.h"
#include "tests/linux/world.h"

#define BLOCK (1ULL << WORLD_BLOCK_SHIFT)
#define START ((char *)0x100000000000)

static struct hdl_region region;

static int begin(void **state)
{
	struct hdl_mask both = { { 3 } };

	(void)state;
	door_reset();
	world_begin(2);
	world.fiction = true;
	region = (struct hdl_region){ .start = START,
				      .bytes = 4 * BLOCK,
				      .rung = HDL_THP,
				      .shift = 21,
				      .base_shift = 12,
				      .huge = true,
				      .sole_node = HDL_NODES_MAX };
	hdl_shares_even(&region.aim, &both, false);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_end();
	door_reset();
	return door_leak() != NULL;
}

static void open_books(struct hdl_books *books)
{
	hdl_books_open(&region, books);
	hdl_books_nodes(&region, books);
}

static void the_scan_tells_which_blocks_are_huge(void **state)
{
	struct hdl_books books;

	(void)state;
	world_put(START, BLOCK, 0, true);
	world_put(START + BLOCK, BLOCK, 1, false);
	world_put(START + 3 * BLOCK, BLOCK, 1, true);
	open_books(&books);
	assert_true(books.known);
	assert_int_equal(books.populated, 3 * BLOCK);
	assert_int_equal(books.huge, 2 * BLOCK);
	assert_int_equal(books.block[0], HDL_BLOCK_HUGE);
	assert_int_equal(books.block[1], HDL_BLOCK_BASE);
	assert_int_equal(books.block[2], HDL_BLOCK_BASE);
	assert_int_equal(books.block[3], HDL_BLOCK_HUGE);
	assert_int_equal(books.node[0], BLOCK);
	assert_int_equal(books.node[1], 2 * BLOCK);
	assert_int_equal(books.node_unknown, 0);
	hdl_books_close(&books);
}

/*
 *   region       |--------|--------|
 *   huge pages       |--------|         begins in the midst of a block
 *   nodes        0000 11111111 0000
 *
 * A block of the region is no huge page here, so that each base page is asked.
 */
static void huge_pages_that_begin_elsewhere_are_no_blocks(void **state)
{
	struct hdl_books books;

	(void)state;
	region.start = START + BLOCK / 2;
	region.bytes = 2 * BLOCK;
	region.shift = 12;
	region.huge = false;
	world_put(START, BLOCK, 0, false);
	world_put(START + BLOCK, BLOCK, 1, true);
	world_put(START + 2 * BLOCK, BLOCK, 0, false);
	open_books(&books);
	assert_int_equal(books.huge, BLOCK);
	assert_int_equal(books.node[0], BLOCK);
	assert_int_equal(books.node[1], BLOCK);
	hdl_books_close(&books);
}

#define SMAPS(huge)                                                                                \
	"0ffffff00000-100000000000 rw-p 0 0 0\nRss: 999 kB\nAnonHugePages: 999 kB\n"               \
	"100000000000-100000400000 rw-p 0 0 0 [anon:x]\nRss:   4096 kB\nAnonHugePages: " huge      \
	" kB\nVmFlags: rd\n"                                                                       \
	"100000400000-100000800000 rw-p 0 0 0\nRss:   2048 kB\nAnonHugePages: 0 kB\n"              \
	"100000800000-100000900000 rw-p 0 0 0\nRss: 999 kB\nAnonHugePages: 999 kB\n"

static void without_the_scan_smaps_is_summed_up_over_our_mappings(void **state)
{
	struct hdl_books books;

	(void)state;
	door_ill(DOOR_SCAN, -ENOTTY);
	door_file("/proc/self/smaps", SMAPS("2048"));
	world_put(START, 4 * BLOCK, 1, false);
	open_books(&books);
	assert_true(books.known);
	assert_int_equal(books.populated, 6 << 20);
	assert_int_equal(books.huge, 2 << 20);
	assert_int_equal(books.block[0], HDL_BLOCK_UNKNOWN); /* how many, but not which */
	hdl_books_close(&books);
	door_file("/proc/self/smaps", SMAPS("0"));
	open_books(&books);
	assert_int_equal(books.block[0], HDL_BLOCK_BASE);
	hdl_books_close(&books);
}

static void a_book_that_breaks_off_is_no_book(void **state)
{
	struct hdl_books books;

	(void)state;
	door_ill(DOOR_SCAN, -ENOTTY);
	door_file("/proc/self/smaps", SMAPS("2048"));
	for (uint32_t n = 0; n < 12; n++) {
		door_arm();
		door_fail(n, -EIO, true);
		open_books(&books);
		if (door_was_hit(DOOR_READ)) {
			assert_false(books.known);
			assert_int_equal(books.populated, 0);
			assert_int_equal(books.error, -EIO);
		}
		hdl_books_close(&books);
	}
	door_disarm();
}

/* Pages that NUMA balancing has hidden: the question fails, numa_maps knows. */
static void what_move_pages_cannot_tell_numa_maps_can(void **state)
{
	static const char maps[] =
	    "0ffffff00000 default anon=7 dirty=7 N0=7 N1=900 kernelpagesize_kB=4\n"
	    "100000000000 interleave:0-1 anon=1024 dirty=1024 active=0 N0=512 N1=512 "
	    "kernelpagesize_kB=4\n"
	    "100000400000 default anon=1024 N1=1024 kernelpagesize_kB=4\n"
	    "100000800000 default anon=9 N0=9 kernelpagesize_kB=4\n";
	struct hdl_books books;

	(void)state;
	world_put(START, 4 * BLOCK, 0, true);
	world_put(START + BLOCK, BLOCK, WORLD_HIDDEN, true);
	door_file("/proc/self/numa_maps", maps);
	open_books(&books);
	assert_int_equal(books.node[0], BLOCK);
	assert_int_equal(books.node[1], 3 * BLOCK);
	assert_int_equal(books.node_unknown, 0);
	hdl_books_close(&books);
	/* It counts pages of the pool by their size. */
	door_file(
	    "/proc/self/numa_maps",
	    "100000000000 default file=/anon_hugepage huge N0=1 N1=3 kernelpagesize_kB=2048\n");
	open_books(&books);
	assert_int_equal(books.node[1], 3 * BLOCK);
	hdl_books_close(&books);
	door_file("/proc/self/numa_maps", NULL);
	open_books(&books);
	assert_int_equal(books.node[0], 0);
	assert_int_equal(books.node_unknown, 4 * BLOCK);
	assert_int_equal(books.error, -ENOENT);
	hdl_books_close(&books);
	door_file("/proc/self/numa_maps", " N=1 N99999=4 Nx N1 N1= N0=\n100000000000 N7\n");
	open_books(&books);
	assert_int_equal(books.node_unknown, 4 * BLOCK);
	hdl_books_close(&books);
}

static void without_memory_for_blocks_the_sums_are_still_known(void **state)
{
	struct hdl_story story = { 0 };
	struct hdl_books books;

	(void)state;
	world_put(START, 4 * BLOCK, 0, true);
	door_ill(DOOR_MALLOC, -ENOMEM);
	open_books(&books);
	assert_true(books.known);
	assert_null(books.block);
	assert_int_equal(books.huge, 4 * BLOCK);
	assert_int_equal(books.node[0], 4 * BLOCK);
	assert_int_equal(books.error, -ENOMEM);
	hdl_balance(&region, &books, &story);
	assert_int_equal(world.asked, 0);
	hdl_books_close(&books);
}

static void the_policy_follows_the_aim(void **state)
{
	struct hdl_mask one = { { 2 } };

	(void)state;
	assert_int_equal(hdl_set_policy(&region, 0), 0);
	assert_int_equal(world.last_mode, HDL_MPOL_INTERLEAVE);
	assert_int_equal(world.last_nodes.word[0], 3);
	region.aim.weighted = true;
	assert_int_equal(hdl_set_policy(&region, BLOCK), 0);
	assert_int_equal(world.last_mode, HDL_MPOL_WEIGHTED);
	hdl_shares_even(&region.aim, &one, true);
	assert_int_equal(hdl_set_policy(&region, 0), 0);
	assert_int_equal(world.last_mode, HDL_MPOL_PREFERRED); /* binding would kill */
	assert_int_equal(world.last_nodes.word[0], 2);
	region.sole_node = 0;
	assert_int_equal(world.bound, 3);
	assert_int_equal(hdl_set_policy(&region, 0), 0);
	assert_int_equal(world.bound, 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_scan_tells_which_blocks_are_huge),
		TEST(huge_pages_that_begin_elsewhere_are_no_blocks),
		TEST(without_the_scan_smaps_is_summed_up_over_our_mappings),
		TEST(a_book_that_breaks_off_is_no_book),
		TEST(what_move_pages_cannot_tell_numa_maps_can),
		TEST(without_memory_for_blocks_the_sums_are_still_known),
		TEST(the_policy_follows_the_aim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

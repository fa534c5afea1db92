/* SPDX-License-Identifier: MIT */
/* test-maps.c - which lines of /proc/PID/maps may hold a table */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "preload/maps.h"

static bool may(const char *text)
{
	struct maps_line line;

	assert_true(maps_parse(text, &line));
	return line.table_like;
}

static void private_anonymous_writable_memory_may(void **state)
{
	(void)state;
	assert_true(may("7f3c40000000-7f3c44000000 rw-p 00000000 00:00 0 "));
	assert_true(may("55d0c4a3a000-55d0c8a3a000 rw-p 00000000 00:00 0         [heap]"));
	assert_true(may("7f3c50000000-7f3c50800000 rw-p 00000000 00:00 0    [anon:my table]"));
}

static void nothing_else_may(void **state)
{
	(void)state;
	assert_false(may("7ffd3b2d1000-7ffd3b2f2000 rw-p 00000000 00:00 0         [stack]"));
	assert_false(may("7f3c40000000-7f3c44000000 r--p 00000000 00:00 0 "));
	assert_false(may("7f3c40000000-7f3c44000000 ---p 00000000 00:00 0 "));
	assert_false(may("7f3c40000000-7f3c44000000 rwxp 00000000 00:00 0 "));
	assert_false(
	    may("7f3c40000000-7f3c44000000 rw-s 00000000 00:01 1024   /dev/zero (deleted)"));
	assert_false(may("7f3c40000000-7f3c44000000 rw-p 00000000 fe:00 77     /usr/lib/x.so"));
	assert_false(may("7f3c40000000-7f3c44000000 rw-p 00000000 00:0e 77     anon_inode:[dev]"));
	assert_false(may("7f3c40000000-7f3c44000000 rw-p 00000000 00:00 0      [vvar]"));
	assert_false(
	    may("7f3c4000-7f3c8000 rw-p 00000000 00:00 0  [anon: glibc: pthread stack: 7]"));
}

static void what_is_no_line_is_refused(void **state)
{
	static const char *const wrong[] = { "",
					     "-",
					     "7f-",
					     "zz-7f rw-p 0 0 0",
					     "7f00-7f00 rw-p 0 0 0",
					     "7f00-8f00",
					     "7f00-8f00 rw",
					     "7f00-8f00 rw-p 0 00:00" };
	struct maps_line line;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(maps_parse(wrong[i], &line));
}

struct wanted {
	uint64_t start, bytes;
	unsigned found;
};

static void look(void *ctx, uint64_t start, uint64_t bytes)
{
	struct wanted *wanted = ctx;

	wanted->found += start <= wanted->start && start + bytes >= wanted->start + wanted->bytes;
}

/*
 *   | 8 MiB rw | 8 MiB rw, dumped not | 8 MiB r |    two mappings, one stretch
 */
static void neighbours_count_together(void **state)
{
	const size_t piece = 8 << 20;
	char *at =
	    mmap(NULL, 3 * piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wanted both = { (uintptr_t)at, 2 * piece, 0 }, all = { (uintptr_t)at, 3 * piece, 0 };

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(madvise(at + piece, piece, MADV_DONTDUMP), 0);
	assert_int_equal(mprotect(at + 2 * piece, piece, PROT_READ), 0);
	assert_int_equal(maps_each(2 * piece, false, NULL, look, &both), 0);
	assert_int_equal(maps_each(2 * piece, false, NULL, look, &all), 0);
	assert_int_equal(both.found, 1);
	assert_int_equal(all.found, 0);
	munmap(at, 3 * piece);
}

static uint64_t upper_half;

static bool in_upper_half(uint64_t start)
{
	return start >= upper_half;
}

/*
 *   | 8 MiB rw | 8 MiB rw, another plan |    two mappings, two stretches
 */
static void neighbours_with_another_plan_do_not(void **state)
{
	const size_t piece = 8 << 20;
	char *at =
	    mmap(NULL, 2 * piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wanted both = { (uintptr_t)at, 2 * piece, 0 };
	struct wanted upper = { (uintptr_t)at + piece, piece, 0 };

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(madvise(at + piece, piece, MADV_DONTDUMP), 0);
	upper_half = (uintptr_t)at + piece;
	assert_int_equal(maps_each(piece, false, in_upper_half, look, &both), 0);
	assert_int_equal(maps_each(piece, false, in_upper_half, look, &upper), 0);
	assert_int_equal(both.found, 0);
	assert_int_equal(upper.found, 1);
	munmap(at, 2 * piece);
}

/*
 *   | 8 KiB --- | 16 MiB rw |    as a thread's stack
 */
static void what_has_a_guard_below_is_taken_for_a_stack(void **state)
{
	const size_t bytes = 16 << 20, guard = 8 << 10;
	char *at = mmap(NULL, bytes + guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wanted with = { (uintptr_t)at + guard, bytes, 0 }, without = with;

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at + guard, bytes, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(maps_each(4 << 20, true, NULL, look, &with), 0);
	assert_int_equal(maps_each(4 << 20, false, NULL, look, &without), 0);
	assert_int_equal(with.found, 0);
	assert_int_equal(without.found, 1);
	munmap(at, bytes + guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_anonymous_writable_memory_may),
		cmocka_unit_test(nothing_else_may),
		cmocka_unit_test(what_is_no_line_is_refused),
		cmocka_unit_test(neighbours_count_together),
		cmocka_unit_test(neighbours_with_another_plan_do_not),
		cmocka_unit_test(what_has_a_guard_below_is_taken_for_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

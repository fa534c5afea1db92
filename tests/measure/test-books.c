/* SPDX-License-Identifier: MIT */
/*
 * test-books.c - the kernel's figures for this process, zeroing by threads, the CPU that is kept
 */
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/measure/help.h"

static int64_t book(const char *text, const char *field)
{
	char path[] = "/tmp/hashdist-book-XXXXXX";
	int fd = mkstemp(path);
	int64_t bytes;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	bytes = measure_book_bytes(path, field);
	unlink(path);
	return bytes;
}

static void a_field_is_read_in_bytes(void **state)
{
	(void)state;
	assert_int_equal(book("Name:\tx\nVmPTE:\t      44 kB\n", "VmPTE"), 44 * KIB);
	assert_int_equal(book("VmPTE:\t0 kB\n", "VmPTE"), 0);
	assert_int_equal(book("XVmPTE: 1 kB\nVmPTEX: 2 kB\nVmPTE: 3 kB\n", "VmPTE"), 3 * KIB);
}

static void what_is_no_figure_is_unknown(void **state)
{
	static const char *const texts[] = { "",
					     "\n\n",
					     "VmPTE",
					     "VmPTE:",
					     "VmPTE: kB\n",
					     "VmPTE: 44\n",
					     "VmPTE: 44 MB\n",
					     "Name: VmPTE: 44 kB\n",
					     "VmPTE: 99999999999999999999 kB\n" };

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(texts); t++)
		if (book(texts[t], "VmPTE") != -1)
			fail_msg("'%s' was taken for a figure", texts[t]);
	assert_int_equal(measure_book_bytes("/nowhere/at/all", "VmPTE"), -1);
	assert_int_equal(measure_book_bytes("/", "VmPTE"), -1);
}

static void touching_pages_is_counted_as_faults(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 64 * page;
	unsigned char *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t faults = measure_faults();

	(void)state;
	assert_true(memory != MAP_FAILED);
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += page)
		((volatile unsigned char *)memory)[at] = 1;
	assert_in_range(measure_faults() - faults, 64, 64 + 16);
	munmap(memory, bytes);
}

static void the_clock_goes_forward(void **state)
{
	double before = measure_now_ns();

	(void)state;
	assert_true(before > 0);
	assert_true(measure_now_ns() >= before);
}

/* Whatever the threads, and whether or not they divide it: all of it and nothing behind it. */
static void all_is_zeroed_and_nothing_else(void **state)
{
	static const uint32_t threads[] = { 1, 2, 3, 7, 256, 100000 };
	enum { BYTES = 10007 };
	unsigned char memory[BYTES + 64];

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(threads); t++) {
		memset(memory, 0xa5, sizeof(memory));
		measure_memset(memory, BYTES, threads[t]);
		for (size_t at = 0; at < sizeof(memory); at++)
			assert_int_equal(memory[at], at < BYTES ? 0 : 0xa5);
	}
}

static void a_held_thread_has_one_cpu_and_then_all_it_had(void **state)
{
	struct measure_cpu home;
	cpu_set_t before, held, after;

	(void)state;
	measure_cpu_init(&home);
	if (home.cpu < 0 || sched_getaffinity(0, sizeof(before), &before)) {
		print_message("skipped: this system does not tell the CPU\n");
		skip();
	}
	measure_cpu_hold(&home);
	assert_int_equal(sched_getaffinity(0, sizeof(held), &held), 0);
	assert_int_equal(sched_getcpu(), home.cpu);
	measure_cpu_release(&home);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_int_equal(CPU_COUNT(&held), 1);
	assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_is_read_in_bytes),
		cmocka_unit_test(what_is_no_figure_is_unknown),
		cmocka_unit_test(touching_pages_is_counted_as_faults),
		cmocka_unit_test(the_clock_goes_forward),
		cmocka_unit_test(all_is_zeroed_and_nothing_else),
		cmocka_unit_test(a_held_thread_has_one_cpu_and_then_all_it_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

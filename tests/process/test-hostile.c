/* SPDX-License-Identifier: MIT */
/*
 * test-hostile.c - books that are damaged, and a kernel that refuses
 *
 * Recorded books with random damage must be read without a crash, and sums must
 * stay sums. Then requests of the kernel fail in turn, of a reading of this very
 * process: an error, or a reading in which what was lost is unknown.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process/blocks.h"
#include "tests/process/books.h"

static const struct process_clock forever = { UINT64_MAX };

/* ---- damage ------------------------------------------------------------------------------ */

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % n;
}

static void damage(char *text, size_t len)
{
	static const char with[] = "0123456789abcdef-:= \n\tNkB()[]/xp%";

	for (uint64_t times = random_below(20); times; times--) {
		size_t at = random_below(len);

		if (random_below(4))
			text[at] = with[random_below(sizeof(with) - 1)];
		else
			memmove(text + at, text + random_below(len), random_below(len - at) / 8);
	}
	if (!random_below(4))
		text[random_below(len)] = '\0';
}

static void damaged_book(const struct process *from, const struct process *to, const char *name)
{
	static char text[65536];
	char path[PROCESS_PATH_MAX];
	int len = hdl_read_text(process_path(from, name, path), text, sizeof(text) - 1);

	assert_true(len > 0);
	damage(text, (size_t)len);
	books_write(to, name, text);
}

static void check(const struct process *process)
{
	for (uint32_t m = 0; m < process->mappings; m++) {
		const struct process_mapping *mapping = &process->mapping[m];

		assert_true(mapping->start < mapping->end && mapping->parts);
		assert_true(mapping->huge <= mapping->resident);
		assert_true(mapping->verdict < HD_V_COUNT);
		assert_true(memchr(mapping->name, '\0', sizeof(mapping->name)) != NULL);
	}
}

static void read_damaged(const struct process *recorded)
{
	static const char *const names[] = { "maps", "smaps", "numa_maps", "status", "mountinfo" };
	struct process process;

	books_make(&process);
	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		damaged_book(recorded, &process, names[n]);
	process_status_read(&process);
	books_read_maps(&process, random_below(2) ? 0 : 4 * MIB);
	process_smaps_read(&process, &forever);
	process_numa_read(&process, &forever);
	process_kinds_by_pages(&process);
	for (uint32_t m = 0; m < process.mappings; m++) {
		process_page_tables(&process, &process.mapping[m]);
		process_judge(&process, &process.mapping[m]);
		process_hinders(&process, &process.mapping[m]);
	}
	check(&process);
	books_remove(&process);
}

static void damaged_books_do_no_harm(void **state)
{
	const char *given = getenv("HASHDIST_SEED");
	struct process recorded;

	(void)state;
	random_state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	printf("HASHDIST_SEED=%llu reruns this\n", (unsigned long long)random_state);
	for (int round = 0; round < 400; round++) {
		books_open(&recorded, random_below(2) ? RECORDED_DIR "/5.10" : RECORDED_DIR "/7.x");
		read_damaged(&recorded);
	}
}

/* ---- refusal ------------------------------------------------------------------------------ */

enum { TURNS = 200 }; /* with sanitizers there are terabytes to scan, in many requests */

static long fail_at = -1, calls;
static int fail_with;
static bool short_reads; /* no scanning call, and a page map that ends within an entry */

long __real_hdl_sys(long number, const long *args);
long __wrap_hdl_sys(long number, const long *args);

/** The call whose turn it is fails; closing never does. */
long __wrap_hdl_sys(long number, const long *args)
{
	if (number != SYS_close && calls++ == fail_at)
		return fail_with;
	if (short_reads && number == SYS_ioctl)
		return -ENOTTY;
	if (short_reads && number == SYS_pread64)
		return 4;
	return __real_hdl_sys(number, args);
}

static int read_this_process(void)
{
	struct process_limits limits = { .min_bytes = 64 << 10, .budget_ms = 60000 };
	struct process process;
	int error = process_open(getpid(), &process);

	if (error)
		return error;
	error = process_read(&process, &limits);
	if (!error)
		check(&process);
	process_close(&process);
	return error;
}

static unsigned open_files(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += HDL_SYS(SYS_fcntl, fd, 1 /* F_GETFD */) >= 0;
	return count;
}

static void each_refused_request_is_an_error_or_unknown(void **state)
{
	static const int errors[] = { -EACCES, -EPERM, -ENOENT, -ENOMEM, -ENOSYS, -EMFILE };
	unsigned before;
	long total;

	(void)state;
	fail_at = -1;
	calls = 0;
	assert_int_equal(read_this_process(), 0);
	total = calls;
	assert_true(total > 20);
	before = open_files();
	for (unsigned e = 0; e < sizeof(errors) / sizeof(errors[0]); e++)
		for (long at = 0; at < total; at += 1 + total / TURNS) {
			int error;

			fail_at = at;
			fail_with = errors[e];
			calls = 0;
			error = read_this_process();
			fail_at = -1;
			assert_true(error <= 0 && error > -4096);
		}
	assert_int_equal(open_files(), before);
}

static void a_page_map_that_ends_within_an_entry_ends_the_reading(void **state)
{
	struct process process = { .pid = getpid(),
				   .pages = { .base_shift = 12, .thp_shift = 21 } };
	struct blocks blocks;

	(void)state;
	fail_at = -1;
	short_reads = true;
	assert_int_equal(blocks_read(&process, 4 << 20, 12 << 20, &blocks), 0);
	short_reads = false;
	assert_int_equal(blocks.count, 4);
	assert_int_equal(blocks.block[0].populated, 0);
	blocks_free(&blocks);
}

static void what_ended_in_between_is_gone(void **state)
{
	struct process_limits limits = { .min_bytes = 64 << 10, .budget_ms = 1000 };
	struct process process;

	(void)state;
	fail_at = -1;
	assert_int_equal(process_open(getpid(), &process), 0);
	assert_true(process_alive(&process));
	process.start_time--; /* another that had this number before */
	assert_false(process_alive(&process));
	assert_int_equal(process_read(&process, &limits), -ESRCH);
	process_close(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_books_do_no_harm),
		cmocka_unit_test(each_refused_request_is_an_error_or_unknown),
		cmocka_unit_test(a_page_map_that_ends_within_an_entry_ends_the_reading),
		cmocka_unit_test(what_ended_in_between_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test-api.c - what hashdist.h promises of arguments, of tables and of its words
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hashdist/hashdist.h"
#include "tests/lib/memory.h"

#define MIB ((size_t)1 << 20)

static char untouched;

/* ---- arguments ------------------------------------------------------------------------- */

static void refused_wants(void (*each)(const struct hd_want *want))
{
	static const unsigned long set[HASHDIST_VERSION_MINOR + 16];
	static const char *const names[] = { "",    "tab\t", "a[b",  "a]b",     "a\\b",
					     "a$b", "a`b",   "\x7f", "\xc3\xa9" };
	char long_name[81];
	struct hd_want want;

	for (int field = 0; field < 4; field++) {
		want = (struct hd_want){ 0 };
		(&want.pages)[field] = (uint8_t[]){ HD_PAGES_1G + 1, HD_NODES_SPREAD + 1,
						    HD_PREFER_SPREAD + 1, HD_FORK_WIPE + 1 }[field];
		each(&want);
		(&want.pages)[field] = 255;
		each(&want);
	}
	for (int bit = 5; bit < 32; bit++)
		each(&(struct hd_want){ .flags = 1u << bit });
	each(&(struct hd_want){ .threads = 257 });
	each(&(struct hd_want){ .threads = UINT32_MAX });
	each(&(struct hd_want){ .node_set_bits = 1025, .node_set = set });
	each(&(struct hd_want){ .node_set_bits = 5, .node_set = NULL });
	each(&(struct hd_want){ .node_set_bits = 0, .node_set = set });
	for (int i = 0; i < 4; i++) {
		want = (struct hd_want){ 0 };
		want.reserved[i] = 1;
		each(&want);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		each(&(struct hd_want){ .name = names[i] });
	memset(long_name, 'a', 80);
	long_name[80] = '\0';
	each(&(struct hd_want){ .name = long_name });
}

static void alloc_refuses(const struct hd_want *want)
{
	struct hd_got got;
	void *start = &untouched;

	memset(&got, 0xff, sizeof(got));
	assert_int_equal(hd_alloc(4096, want, &start, &got), -EINVAL);
	assert_ptr_equal(start, &untouched);
	assert_int_equal(got.bytes, 0);
}

static void table_refuses(const struct hd_want *want)
{
	struct hd_table_want table = { .bucket_bytes = 8, .entries = 16 };
	struct hd_got got;
	void *start = &untouched;
	uint64_t entries = 5;

	memset(&got, 0xff, sizeof(got));
	assert_int_equal(hd_alloc_table(&table, want, &start, &entries, &got), -EINVAL);
	assert_ptr_equal(start, &untouched);
	assert_int_equal(entries, 5);
	assert_int_equal(got.bytes, 0);
}

static void wants_out_of_range_are_einval(void **state)
{
	(void)state;
	refused_wants(alloc_refuses);
	refused_wants(table_refuses);
}

static void nothing_and_nowhere_are_einval(void **state)
{
	struct hd_got got;
	void *start = &untouched;

	(void)state;
	assert_int_equal(hd_alloc(0, NULL, &start, &got), -EINVAL);
	assert_int_equal(hd_alloc(0, NULL, &start, NULL), -EINVAL);
	assert_int_equal(hd_alloc(4096, NULL, NULL, &got), -EINVAL);
	assert_ptr_equal(start, &untouched);
}

static void tables_out_of_range_are_refused(void **state)
{
	struct hd_table_want table = { .bucket_bytes = 8, .entries = 16 }, bad;
	uint64_t entries = 5;
	void *start = &untouched;

	(void)state;
	assert_int_equal(hd_alloc_table(NULL, NULL, &start, &entries, NULL), -EINVAL);
	assert_int_equal(hd_alloc_table(&table, NULL, NULL, &entries, NULL), -EINVAL);
	assert_int_equal(hd_alloc_table(&table, NULL, &start, NULL, NULL), -EINVAL);
	bad = table;
	bad.bucket_bytes = 0;
	assert_int_equal(hd_alloc_table(&bad, NULL, &start, &entries, NULL), -EINVAL);
	bad = table;
	bad.scale = 64;
	assert_int_equal(hd_alloc_table(&bad, NULL, &start, &entries, NULL), -EINVAL);
	bad.scale = UINT32_MAX;
	assert_int_equal(hd_alloc_table(&bad, NULL, &start, &entries, NULL), -EINVAL);
	bad = table;
	bad.reserved32 = 1;
	assert_int_equal(hd_alloc_table(&bad, NULL, &start, &entries, NULL), -EINVAL);
	for (int i = 0; i < 4; i++) {
		bad = table;
		bad.reserved[i] = 1;
		assert_int_equal(hd_alloc_table(&bad, NULL, &start, &entries, NULL), -EINVAL);
	}
	bad =
	    (struct hd_table_want){ .bucket_bytes = 1ULL << 62, .entries = 4, .high = 1ULL << 40 };
	assert_int_equal(hd_alloc_table(&bad, NULL, &start, &entries, NULL), -ERANGE);
	bad = (struct hd_table_want){ .bucket_bytes = UINT64_MAX, .entries = 1, .high = 1 };
	assert_int_equal(hd_alloc_table(&bad, NULL, &start, &entries, NULL), -ERANGE);
	assert_ptr_equal(start, &untouched);
	assert_int_equal(entries, 5);
}

static void what_is_no_table_is_einval(void **state)
{
	struct hd_got got;
	void *start, *inside, *null = NULL;

	(void)state;
	assert_int_equal(hd_alloc(64 * 1024, NULL, &start, NULL), 0);
	inside = (char *)start + 4096;
	assert_int_equal(hd_free(inside), -EINVAL);
	assert_int_equal(hd_free((char *)start + 1), -EINVAL);
	assert_int_equal(hd_free((char *)start - 4096), -EINVAL);
	assert_int_equal(hd_free(&untouched), -EINVAL);
	assert_int_equal(hd_resize(&inside, 8192, &got), -EINVAL);
	assert_int_equal(hd_resize(&null, 8192, NULL), -EINVAL);
	assert_int_equal(hd_resize(NULL, 8192, &got), -EINVAL);
	assert_int_equal(hd_resize(&start, 0, &got), -EINVAL);
	assert_int_equal(hd_repair(inside, &got), -EINVAL);
	assert_int_equal(hd_repair(NULL, NULL), -EINVAL);
	assert_int_equal(hd_read_got(inside, &got), -EINVAL);
	assert_int_equal(hd_read_got(NULL, NULL), -EINVAL);
	assert_int_equal(hd_read_got(start, &got), 0); /* none of it did any harm */
	assert_int_equal(got.bytes, 64 * 1024);
	assert_int_equal(hd_free(start), 0);
	assert_int_equal(hd_free(start), -EINVAL);
	assert_int_equal(hd_repair(start, &got), -EINVAL);
	assert_int_equal(hd_resize(&start, 8192, &got), -EINVAL);
	assert_int_equal(hd_free(NULL), 0);
}

static void got_may_be_null_everywhere(void **state)
{
	void *start;
	uint64_t entries;

	(void)state;
	assert_int_equal(hd_alloc(5000, NULL, &start, NULL), 0);
	assert_int_equal(hd_resize(&start, 50000, NULL), 0);
	assert_int_equal(hd_repair(start, NULL), 0);
	assert_int_equal(hd_read_got(start, NULL), 0);
	assert_int_equal(hd_free(start), 0);
	assert_int_equal(hd_alloc_table(&(struct hd_table_want){ .bucket_bytes = 8, .entries = 3 },
					NULL, &start, &entries, NULL),
			 0);
	assert_int_equal(entries, 4);
	assert_int_equal(hd_free(start), 0);
	assert_int_equal(hd_alloc(SIZE_MAX, NULL, &start, NULL), -ENOMEM);
}

static void sizes_near_the_end_of_numbers_are_enomem(void **state)
{
	static const uint8_t pages[] = { HD_PAGES_BASE, HD_PAGES_LARGE, HD_PAGES_HUGETLB,
					 HD_PAGES_1G };

	(void)state;
	for (size_t i = 0; i < sizeof(pages); i++)
		for (int shift = 38; shift <= 64; shift++)
			for (size_t less = 0; less <= 8192; less += 4095) {
				size_t bytes = (shift < 64 ? (size_t)1 << shift : 0) - less - 1;
				struct hd_want want = { .pages = pages[i] };
				struct hd_got got;
				void *start = &untouched;

				assert_int_equal(hd_alloc(bytes, &want, &start, &got), -ENOMEM);
				assert_ptr_equal(start, &untouched);
				assert_int_equal(got.bytes, 0);
				assert_int_not_equal(got.pages_why, HD_WHY_MET);
				assert_int_not_equal(got.step, HD_STEP_NONE);
			}
}

static void a_resize_beyond_all_memory_leaves_the_table(void **state)
{
	void *start, *before;

	(void)state;
	assert_int_equal(hd_alloc(MIB, NULL, &start, NULL), 0);
	before = start;
	memory_fill(start, MIB, 1);
	for (int shift = 40; shift < 64; shift++)
		assert_int_equal(hd_resize(&start, (size_t)1 << shift, NULL), -ENOMEM);
	for (size_t less = 0; less < 10000; less += 1111)
		assert_int_equal(hd_resize(&start, SIZE_MAX - less, NULL), -ENOMEM);
	assert_ptr_equal(start, before);
	assert_true(memory_is_filled(start, MIB, 1));
	assert_int_equal(hd_free(start), 0);
}

/* ---- memory ------------------------------------------------------------------------------ */

static void memory_is_zero_aligned_and_all_there(void **state)
{
	static const size_t sizes[] = { 1,           4095,    4096,        4097,       100000,
					2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 9 * MIB + 5 };
	static const uint8_t pages[] = { HD_PAGES_AUTO, HD_PAGES_BASE };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t p = 0; p < 2; p++) {
			struct hd_want want = { .pages = pages[p] };
			struct truth truth;
			struct hd_got got;
			void *start;

			assert_int_equal(hd_alloc(sizes[i], &want, &start, &got), 0);
			assert_true(got.bytes >= sizes[i]);
			assert_int_equal(got.bytes % 4096, 0);
			assert_int_equal((uintptr_t)start % 4096, 0);
			if (got.bytes >= got.unit)
				assert_int_equal((uintptr_t)start % got.unit, 0);
			assert_int_equal(got.populated, got.bytes);
			assert_true(memory_is_zero(start, got.bytes));
			memory_fill(start, got.bytes, 1);
			assert_true(memory_truth(start, got.bytes, &truth));
			assert_int_equal(truth.populated, got.bytes);
			assert_int_equal(truth.huge, got.page_sizes && got.page[0].page_bytes > 4096
							 ? got.page[0].bytes
							 : 0);
			if (pages[p] == HD_PAGES_BASE) {
				assert_int_equal(truth.huge, 0);
				assert_int_equal(got.pages_why, HD_WHY_MET);
				assert_int_equal(got.unit, 4096);
			}
			assert_int_equal(hd_free(start), 0);
			assert_false(memory_is_mapped(start));
		}
}

static void guards_stop_a_step_beyond_either_end(void **state)
{
	char *start;
	int pipes[2];

	(void)state;
	assert_int_equal(hd_alloc(2 * MIB, NULL, (void **)&start, NULL), 0);
	assert_int_equal(pipe(pipes), 0);
	/* A system call tells without a signal. */
	assert_int_equal(write(pipes[1], start, 1), 1);
	assert_int_equal(write(pipes[1], start - 1, 1), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(write(pipes[1], start + 2 * MIB, 1), -1);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(hd_free(start), 0);
}

static void many_tables_live_side_by_side(void **state)
{
	enum { TABLES = 400 };
	void *start[TABLES];
	unsigned mappings = memory_mappings();

	(void)state;
	for (int i = 0; i < TABLES; i++) {
		assert_int_equal(hd_alloc(4096 + (size_t)i * 64, NULL, &start[i], NULL), 0);
		memory_fill(start[i], 4096, (uint32_t)i);
	}
	for (int i = 0; i < TABLES; i += 2)
		assert_int_equal(hd_free(start[i]), 0);
	for (int i = 0; i < TABLES; i += 2)
		assert_int_equal(hd_free(start[i]), -EINVAL);
	for (int i = 1; i < TABLES; i += 2) {
		struct hd_got got;

		assert_true(memory_is_filled(start[i], 4096, (uint32_t)i));
		assert_int_equal(hd_resize(&start[i], 20000, &got), 0);
		assert_true(memory_is_filled(start[i], 4096, (uint32_t)i));
	}
	for (int i = 1; i < TABLES; i += 2)
		assert_int_equal(hd_free(start[i]), 0);
	if (!memory_sanitized())
		assert_in_range(memory_mappings(), mappings - 1, mappings + 1);
}

static void contents_survive_any_chain_of_sizes(void **state)
{
	static const size_t sizes[] = { 3 * MIB, 5000,  6 * MIB, 6 * MIB + 1, 2 * MIB, 4096,
					1,       70000, 8 * MIB, 8 * MIB,     4 * MIB };
	size_t kept = 4096;
	struct hd_got got;
	void *start;

	(void)state;
	assert_int_equal(hd_alloc(4096, NULL, &start, NULL), 0);
	memory_fill(start, 4096, 9);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(hd_resize(&start, sizes[i], &got), 0);
		assert_true(got.bytes >= sizes[i]);
		assert_int_equal(got.populated, got.bytes);
		kept = kept < got.bytes ? kept : got.bytes;
		assert_true(memory_is_filled(start, kept, 9));
		assert_true(memory_is_zero((char *)start + kept, got.bytes - kept));
		memory_fill(start, got.bytes, 9);
		kept = got.bytes;
	}
	assert_int_equal(hd_free(start), 0);
}

/* ---- counts ------------------------------------------------------------------------------- */

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

enum { MANY_BYTES = 256 << 20 };

/** Faults of hd_alloc() on large pages alone, or -1 where it did not get them. */
static long faults_of_large(void)
{
	struct hd_got got;
	long before = faults(), count, later;
	void *start;

	assert_int_equal(hd_alloc(MANY_BYTES, NULL, &start, &got), 0);
	count = faults() - before;
	before = faults();
	for (size_t at = 0; at < MANY_BYTES; at += 4096)
		((volatile char *)start)[at] = 1;
	later = faults() - before;
	hd_free(start);
	assert_true(later <= 2); /* no fault is left for later */
	return got.pages_why == HD_WHY_MET ? count : -1;
}

/* 256 MiB: 128 faults of a huge page each, against 65,536. */
static void large_pages_cost_a_five_hundredth_of_the_faults(void **state)
{
	long before, large = -1, small;
	void *start;
	char *plain;

	(void)state;
	if (memory_sanitized())
		return; /* its shadow memory faults, too */
	if (memory_read_number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") != 2 * MIB)
		lacks("transparent huge pages of 2 MiB", true);
	assert_int_equal(hd_alloc(4 * MIB, NULL, &start, NULL), 0); /* code and stack are warm */
	hd_free(start);
	/* Another program may hold what is needed, for a moment. */
	for (int i = 0; i < 20 && large < 0; i++) {
		usleep(i ? 100000 : 0);
		large = faults_of_large();
	}
	if (large < 0)
		lacks("256 MiB of transparent huge pages", true);
	before = faults(); /* the C library may fill what it gives, for debugging */
	plain = calloc(MANY_BYTES, 1);
	assert_non_null(plain);
	for (size_t at = 0; at < MANY_BYTES; at += 4096)
		((volatile char *)plain)[at] = 1;
	small = faults() - before;
	free(plain);
	print_message("faults: %ld, calloc and touch %ld\n", large, small);
	assert_in_range(small, MANY_BYTES / 4096 - 16, MANY_BYTES / 4096 + 16);
	assert_true(large * 500 <= small);
}

/* ---- words --------------------------------------------------------------------------------- */

/* Each buffer ends where its memory ends, so that a sanitizer sees a step beyond. */
static void text_is_cut_at_every_size_as_snprintf_does(void **state)
{
	struct hd_got gots[6] = { 0 };
	struct hd_want want = { .pages = HD_PAGES_BASE };
	void *start;

	(void)state;
	gots[0] = (struct hd_got){ .pages_why = HD_WHY_MEMORY_LIMIT,
				   .step = HD_STEP_LIMITS,
				   .error = ENOMEM };
	assert_int_equal(hd_alloc(100000, &want, &start, &gots[1]), 0);
	hd_free(start);
	gots[2] = (struct hd_got){ .bytes = 1ULL << 30,
				   .populated = 1ULL << 30,
				   .page_sizes = 2,
				   .nodes = 2,
				   .page = { { 1 << 21, 510 << 21 }, { 4096, 4 << 20 } },
				   .node = { { 600 << 20, 0, 1 }, { 424 << 20, 1, 1 } },
				   .pages_why = HD_WHY_FRAGMENTED,
				   .nodes_why = HD_WHY_NODE_FULL,
				   .why_node = 1,
				   .step = HD_STEP_MOVE,
				   .error = 12345 };
	gots[3] = gots[2];
	gots[3].spread = 1;
	gots[3].nodes_why = HD_WHY_MET;
	gots[3].nodes = HD_GOT_NODES_MAX;
	for (uint32_t i = 0; i < HD_GOT_NODES_MAX; i++)
		gots[3].node[i] = (struct hd_got_node){ 1 << 20, 3 * i + (i & 1), 1 };
	gots[4] = (struct hd_got){ .bytes = UINT64_MAX,
				   .populated = UINT64_MAX,
				   .pages_unknown = UINT64_MAX,
				   .nodes_unknown = UINT64_MAX,
				   .pages_why = 4000000000u,
				   .nodes_why = 4000000000u,
				   .step = 4000000000u,
				   .error = INT32_MIN };
	for (size_t g = 0; g < sizeof(gots) / sizeof(gots[0]); g++) {
		char whole[2048];
		int len = hd_got_text(&gots[g], whole, sizeof(whole));

		assert_in_range(len, 10, sizeof(whole) - 1);
		assert_int_equal(strlen(whole), len);
		assert_int_equal(hd_got_text(&gots[g], NULL, 0), len);
		for (size_t size = 0; size <= (size_t)len + 2; size++) {
			char *out = malloc(size + !size);

			out[0] = 'x';
			assert_int_equal(hd_got_text(&gots[g], out, size), len);
			if (size) {
				size_t kept = size > (size_t)len ? (size_t)len : size - 1;

				assert_memory_equal(out, whole, kept);
				assert_int_equal(out[kept], '\0');
			} else {
				assert_int_equal(out[0], 'x');
			}
			free(out);
		}
	}
}

static void every_name_is_known_and_no_number_beyond(void **state)
{
	(void)state;
	for (unsigned i = 0; i <= HD_STEP_VERIFY; i++)
		assert_string_not_equal(hd_step_name(i), "?");
	for (unsigned i = 0; i <= HD_WHY_PREFERENCE; i++)
		assert_string_not_equal(hd_why_name(i), "?");
	assert_string_equal(hd_step_name(HD_STEP_VERIFY + 1), "?");
	assert_string_equal(hd_why_name(HD_WHY_PREFERENCE + 1), "?");
	assert_string_equal(hd_step_name(UINT_MAX), "?");
	assert_string_equal(hd_why_name(UINT_MAX), "?");
	assert_int_equal(strspn(hd_library_version(), "0123456789."), strlen(hd_library_version()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wants_out_of_range_are_einval),
		cmocka_unit_test(nothing_and_nowhere_are_einval),
		cmocka_unit_test(tables_out_of_range_are_refused),
		cmocka_unit_test(what_is_no_table_is_einval),
		cmocka_unit_test(got_may_be_null_everywhere),
		cmocka_unit_test(sizes_near_the_end_of_numbers_are_enomem),
		cmocka_unit_test(a_resize_beyond_all_memory_leaves_the_table),
		cmocka_unit_test(memory_is_zero_aligned_and_all_there),
		cmocka_unit_test(guards_stop_a_step_beyond_either_end),
		cmocka_unit_test(many_tables_live_side_by_side),
		cmocka_unit_test(contents_survive_any_chain_of_sizes),
		cmocka_unit_test(large_pages_cost_a_five_hundredth_of_the_faults),
		cmocka_unit_test(text_is_cut_at_every_size_as_snprintf_does),
		cmocka_unit_test(every_name_is_known_and_no_number_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * test-recorded.c - books as real kernels wrote them, 5.10 to 7.x
 *
 * RECORDED_DIR/KERNEL/ holds the books of one process with a mapping of each
 * kind, and `expected`: what the process itself said of them ("anon 7f.. 800000").
 * record.py makes them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/process/books.h"

static const char *const kernels[] = { "5.10", "6.1", "6.12", "7.x" };
enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

static const struct process_clock forever = { UINT64_MAX };

/** All books of one kernel; every row is known afterwards. */
static void open_kernel(struct process *process, unsigned kernel)
{
	char directory[256];

	snprintf(directory, sizeof(directory), "%s/%s", RECORDED_DIR, kernels[kernel]);
	books_open(process, directory);
	assert_int_equal(process_status_read(process), 0);
	books_read_maps(process, 4 * MIB);
	assert_int_equal(process_smaps_read(process, &forever), 0);
	assert_int_equal(process_numa_read(process, &forever), 0);
	process_kinds_by_pages(process);
	for (uint32_t m = 0; m < process->mappings; m++)
		process_judge(process, &process->mapping[m]);
	for (uint32_t m = 0; m < process->mappings; m++)
		process_hinders(process, &process->mapping[m]);
}

/** A line of `expected`, or false at the end. */
static bool next_made(FILE *file, char *kind, uint64_t *start, uint64_t *bytes)
{
	return fscanf(file, "%15s %" SCNx64 " %" SCNx64, kind, start, bytes) == 3;
}

/** The @nth mapping of @kind that the process made. */
static struct process_mapping *made(const struct process *process, const char *kind, int nth)
{
	char path[PROCESS_PATH_MAX], word[16];
	FILE *file = fopen(process_path(process, "expected", path), "r");
	struct process_mapping *found = NULL;
	uint64_t start, bytes;

	assert_non_null(file);
	while (!found && next_made(file, word, &start, &bytes))
		if (!strcmp(word, kind) && !nth--)
			found = books_row(process, start);
	fclose(file);
	assert_non_null(found);
	return found;
}

static void each_mapping_that_was_made_is_one_row_of_its_size_and_kind(void **state)
{
	static const struct {
		const char *word;
		enum process_kind kind;
	} kinds[] = { { "anon", PROCESS_ANON },       { "shared", PROCESS_SHMEM },
		      { "memfd", PROCESS_SHMEM },     { "sysv", PROCESS_SHMEM },
		      { "hugetlb", PROCESS_HUGETLB }, { "heap", PROCESS_HEAP },
		      { "stack", PROCESS_STACK },     { "file", PROCESS_SHMEM /* on tmpfs */ } };

	(void)state;
	for (unsigned k = 0; k < KERNELS; k++) {
		char path[PROCESS_PATH_MAX], word[16];
		struct process process;
		uint64_t start, bytes;
		uint32_t rows = 0;
		FILE *file;

		open_kernel(&process, k);
		file = fopen(process_path(&process, "expected", path), "r");
		assert_non_null(file);
		for (; next_made(file, word, &start, &bytes); rows++) {
			const struct process_mapping *row = books_row(&process, start);

			assert_non_null(row);
			for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
				if (!strcmp(kinds[i].word, word))
					assert_int_equal(row->kind, kinds[i].kind);
			if (row->kind != PROCESS_HEAP) /* which the C library uses, too */
				assert_int_equal(row->end - row->start, bytes);
			assert_true(row->pages_known && row->details_known && row->nodes_known);
		}
		fclose(file);
		assert_int_equal(rows, process.mappings);
		process_close(&process);
	}
}

static void pages_and_advice_are_those_the_process_asked_for(void **state)
{
	(void)state;
	for (unsigned k = 0; k < KERNELS; k++) {
		struct process process;
		const struct process_mapping *row;

		open_kernel(&process, k);
		row = made(&process, "anon", 0);
		assert_int_equal(row->advised, 16 * MIB);
		assert_int_equal(row->huge, 16 * MIB);
		assert_int_equal(row->refused, 0);
		row = made(&process, "anon", 1);
		assert_int_equal(row->refused, 16 * MIB);
		assert_int_equal(row->resident, 16 * MIB);
		assert_int_equal(row->huge, 0);
		row = made(&process, "sysv", 0);
		assert_int_equal(row->resident, 4 * MIB);
		row = made(&process, "hugetlb", 0);
		assert_int_equal(row->resident, 8 * MIB);
		assert_int_equal(row->huge, 8 * MIB);
		assert_int_equal(row->huge_shift, 21);
		process_close(&process);
	}
}

static void after_fork_private_memory_is_shared_and_says_so(void **state)
{
	(void)state;
	for (unsigned k = 0; k < KERNELS; k++) {
		struct process process;

		open_kernel(&process, k);
		assert_int_equal(made(&process, "anon", 1)->twice, 16 * MIB);
		assert_true(made(&process, "anon", 1)->hinders & HINDER_SHARED);
		assert_true(made(&process, "anon", 0)->hinders & HINDER_SHARED);
		assert_false(made(&process, "memfd", 0)->hinders & HINDER_SHARED);
		process_close(&process);
	}
}

static void a_stripe_of_policies_is_one_row_spread_over_both_nodes(void **state)
{
	(void)state;
	for (unsigned k = 0; k < KERNELS; k++) {
		struct process process;
		const struct process_mapping *row;

		open_kernel(&process, k);
		row = made(&process, "anon", 3);
		assert_int_equal(row->parts, 4);
		assert_string_equal(row->policy, "several");
		assert_int_equal(row->node_bytes[0], 4 * MIB);
		assert_int_equal(row->node_bytes[1], 4 * MIB);
		assert_int_equal(row->verdict, HD_OK);
		row = made(&process, "anon", 0);
		assert_string_equal(row->policy, "interleave:0-1");
		assert_int_equal(row->node_bytes[0], 8 * MIB);
		assert_int_equal(row->node_bytes[1], 8 * MIB);
		process_close(&process);
	}
}

/* Every page of numa_maps is one of smaps; hugetlb counts in its own size. */
static void nodes_add_up_to_what_is_resident(void **state)
{
	(void)state;
	for (unsigned k = 0; k < KERNELS; k++) {
		struct process process;

		open_kernel(&process, k);
		for (uint32_t m = 0; m < process.mappings; m++)
			assert_int_equal(process.mapping[m].node_bytes[0] +
					     process.mapping[m].node_bytes[1],
					 process.mapping[m].resident);
		process_close(&process);
	}
}

static void status_tells_page_tables_cpuset_and_thp(void **state)
{
	(void)state;
	for (unsigned k = 0; k < KERNELS; k++) {
		struct process process;

		open_kernel(&process, k);
		assert_true(process.page_tables > 0 && process.page_tables < MIB);
		assert_true(process.allowed_known);
		assert_int_equal(hdl_mask_count(&process.allowed), 2);
		assert_true(process.thp_off_known);
		assert_false(process.thp_off);
		/* hugetlb is not in VmRSS. */
		assert_true(process.resident > 88 * MIB);
		process_close(&process);
	}
}

static void kernel_threads_are_told_by_their_flags(void **state)
{
	(void)state;
	for (unsigned k = 0; k < KERNELS; k++) {
		char path[PROCESS_PATH_MAX], text[1024];
		struct process process;

		open_kernel(&process, k);
		assert_true(hdl_read_text(process_path(&process, "kernel-thread.stat", path), text,
					  sizeof(text)) > 0);
		assert_true(process_stat_parse(text, &process));
		assert_true(process.kernel_thread);
		assert_string_equal(process.comm, "kthreadd");
		assert_true(
		    hdl_read_text(process_path(&process, "stat", path), text, sizeof(text)) > 0);
		assert_true(process_stat_parse(text, &process));
		assert_false(process.kernel_thread);
		assert_false(process.zombie);
		assert_true(process.start_time > 0);
		process_close(&process);
	}
}

static void when_the_time_is_over_rows_are_unknown_and_not_half_read(void **state)
{
	static const struct process_clock over = { 0 };

	(void)state;
	for (unsigned k = 0; k < KERNELS; k++) {
		struct process process;
		char directory[256];

		snprintf(directory, sizeof(directory), "%s/%s", RECORDED_DIR, kernels[k]);
		books_open(&process, directory);
		books_read_maps(&process, 4 * MIB);
		assert_int_equal(process_smaps_read(&process, &over), -ETIME);
		assert_int_equal(process_numa_read(&process, &over), -ETIME);
		for (uint32_t m = 0; m < process.mappings; m++) {
			assert_false(process.mapping[m].pages_known);
			assert_false(process.mapping[m].nodes_known);
			assert_int_equal(process.mapping[m].node_bytes[0], 0);
			process_judge(&process, &process.mapping[m]);
			if (process_placeable(&process.mapping[m]))
				assert_int_equal(process.mapping[m].verdict, HD_V_UNKNOWN);
		}
		process_close(&process);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mapping_that_was_made_is_one_row_of_its_size_and_kind),
		cmocka_unit_test(pages_and_advice_are_those_the_process_asked_for),
		cmocka_unit_test(after_fork_private_memory_is_shared_and_says_so),
		cmocka_unit_test(a_stripe_of_policies_is_one_row_spread_over_both_nodes),
		cmocka_unit_test(nodes_add_up_to_what_is_resident),
		cmocka_unit_test(status_tells_page_tables_cpuset_and_thp),
		cmocka_unit_test(kernel_threads_are_told_by_their_flags),
		cmocka_unit_test(when_the_time_is_over_rows_are_unknown_and_not_half_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test-judge.c - verdicts, hinders and page tables, from figures */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/process/books.h"

#define TABLE_START UINT64_C(0x7f0000000000)

/** A table of 64 MiB, all of it resident on base pages, half of it on each node. */
struct set_up {
	struct process process;
	struct process_mapping mapping;
	uint64_t node_bytes[2], room[2];
};

static void set_up(struct set_up *s, uint32_t nodes)
{
	books_open(&s->process, "/nowhere");
	s->process.nodes = nodes;
	if (nodes == 1)
		s->process.memory = (struct hdl_mask){ { 1 } };
	s->process.allowed = s->process.memory;
	s->process.allowed_known = true;
	s->room[0] = s->room[1] = 1024 * MIB;
	s->process.node_room = s->room;
	s->node_bytes[0] = s->node_bytes[1] = 32 * MIB;
	s->mapping = (struct process_mapping){ .start = TABLE_START,
					       .end = TABLE_START + 64 * MIB,
					       .kind = PROCESS_ANON,
					       .thp = HDL_THP_MADVISE,
					       .pages_known = true,
					       .details_known = true,
					       .nodes_known = true,
					       .resident = 64 * MIB,
					       .advised = 64 * MIB,
					       .huge_shift = 21,
					       .node_bytes = s->node_bytes };
}

static uint32_t judge(struct set_up *s)
{
	process_judge(&s->process, &s->mapping);
	process_hinders(&s->process, &s->mapping);
	return s->mapping.verdicts;
}

static void base_pages_where_huge_ones_fit_are_small_pages(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 1);
	assert_int_equal(judge(&s), 1 << HD_V_SMALL_PAGES);
	assert_int_equal(s.mapping.verdict, HD_V_SMALL_PAGES);
	assert_int_equal(process_mapping_gain(&s.mapping), 64 * MIB);
	s.mapping.huge = 64 * MIB;
	assert_int_equal(judge(&s), 0);
	assert_int_equal(s.mapping.hinders, 0);
}

/* |..x|XXXX|XXXX|x..|  the ends are no whole huge pages: nobody can mend them. */
static void ends_that_cannot_be_huge_are_not_missed(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 1);
	s.mapping.start += MIB;
	s.mapping.end -= MIB;
	s.mapping.resident = 62 * MIB;
	s.mapping.huge = 60 * MIB;
	assert_int_equal(process_mapping_gain(&s.mapping), 0);
	assert_int_equal(judge(&s), 0);
}

static void a_tenth_on_base_pages_is_fair(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 1);
	s.mapping.huge = 58 * MIB;
	assert_int_equal(judge(&s), 0);
	s.mapping.huge = 56 * MIB;
	assert_int_equal(judge(&s), 1 << HD_V_SMALL_PAGES);
}

static void less_than_a_huge_page_is_nothing_to_mend(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 1);
	s.mapping.resident = 2 * MIB - 4096;
	assert_int_equal(judge(&s), 0);
	assert_true(s.mapping.hinders & HINDER_SPARSE);
}

static void all_on_one_of_two_nodes_is_one_node(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 2);
	s.mapping.huge = 64 * MIB;
	assert_int_equal(judge(&s), 0);
	s.node_bytes[0] = 64 * MIB;
	s.node_bytes[1] = 0;
	assert_int_equal(judge(&s), 1 << HD_V_ONE_NODE);
	s.node_bytes[0] = 49 * MIB;
	s.node_bytes[1] = 15 * MIB;
	assert_int_equal(judge(&s), 1 << HD_V_LOPSIDED);
	s.node_bytes[0] = 47 * MIB;
	s.node_bytes[1] = 17 * MIB;
	assert_int_equal(judge(&s), 0);
}

static void both_faults_are_told_and_pages_come_first(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 2);
	s.node_bytes[0] = 64 * MIB;
	s.node_bytes[1] = 0;
	assert_int_equal(judge(&s), 1 << HD_V_ONE_NODE | 1 << HD_V_SMALL_PAGES);
	assert_int_equal(s.mapping.verdict, HD_V_SMALL_PAGES);
}

static void where_one_node_is_allowed_one_node_is_right_and_the_reason_is_named(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 2);
	s.mapping.huge = 64 * MIB;
	s.node_bytes[0] = 64 * MIB;
	s.node_bytes[1] = 0;
	strcpy(s.mapping.policy, "bind:0");
	assert_int_equal(judge(&s), 0);
	assert_int_equal(s.mapping.hinders, HINDER_POLICY);
	strcpy(s.mapping.policy, "default");
	s.process.allowed = (struct hdl_mask){ { 1 } };
	assert_int_equal(judge(&s), 0);
	assert_int_equal(s.mapping.hinders, HINDER_CPUSET);
}

static void a_node_without_room_for_the_rest_is_full(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 2);
	s.mapping.huge = 64 * MIB;
	s.node_bytes[0] = 64 * MIB;
	s.node_bytes[1] = 0;
	judge(&s);
	assert_false(s.mapping.hinders & HINDER_NODE_FULL);
	s.room[1] = 31 * MIB;
	judge(&s);
	assert_true(s.mapping.hinders & HINDER_NODE_FULL);
}

static void what_is_not_known_is_unknown_and_never_a_fault(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 2);
	s.mapping.nodes_known = false;
	s.mapping.huge = 64 * MIB;
	assert_int_equal(judge(&s), 1 << HD_V_UNKNOWN);
	set_up(&s, 1);
	s.mapping.pages_known = s.mapping.details_known = false;
	s.mapping.resident = 0;
	assert_int_equal(judge(&s), 1 << HD_V_UNKNOWN);
	assert_int_equal(s.mapping.hinders, 0);
}

static void files_stacks_devices_and_programs_are_not_judged(void **state)
{
	static const enum process_kind kinds[] = { PROCESS_FILE, PROCESS_STACK, PROCESS_OTHER };
	struct set_up s;

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		set_up(&s, 2);
		s.mapping.kind = kinds[k];
		assert_int_equal(judge(&s), 0);
		assert_int_equal(s.mapping.hinders, HINDER_KIND);
		assert_int_equal(process_mapping_gain(&s.mapping), 0);
	}
	set_up(&s, 2);
	s.mapping.executable = true;
	assert_int_equal(judge(&s), 0);
	assert_int_equal(s.mapping.hinders, HINDER_KIND);
}

static uint32_t hinders_of(struct set_up *s)
{
	judge(s);
	return s->mapping.hinders;
}

static void each_hinder_of_large_pages_is_named(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 1);
	assert_int_equal(hinders_of(&s), 0);
	s.mapping.advised = 62 * MIB;
	assert_int_equal(hinders_of(&s), HINDER_NOT_ADVISED);
	s.mapping.refused = 2 * MIB;
	assert_int_equal(hinders_of(&s), HINDER_REFUSED);
	s.mapping.refused = 0;
	s.mapping.thp = HDL_THP_ALWAYS;
	assert_int_equal(hinders_of(&s), 0);
	s.mapping.thp = HDL_THP_NEVER;
	assert_int_equal(hinders_of(&s), HINDER_THP_NEVER);
	s.mapping.thp = HDL_THP_ALWAYS;
	s.process.thp_off = true;
	assert_int_equal(hinders_of(&s), 0);
	s.process.thp_off_known = true;
	assert_int_equal(hinders_of(&s), HINDER_THP_OFF);
	s.process.thp_off = false;
	s.process.pinned = 4096;
	assert_int_equal(hinders_of(&s), HINDER_PINNED);
	s.process.pinned = 0;
	s.mapping.twice = 4096;
	assert_int_equal(hinders_of(&s), HINDER_SHARED);
	s.mapping.shared = true;
	assert_int_equal(hinders_of(&s), 0);
	s.mapping.start += 4096;
	s.mapping.end = s.mapping.start + 3 * MIB;
	s.mapping.resident = 3 * MIB;
	s.mapping.shared = false;
	s.mapping.twice = 0;
	assert_int_equal(hinders_of(&s), HINDER_TOO_SMALL);
}

static void swapped_memory_is_not_sparse(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 1);
	s.mapping.resident = 16 * MIB;
	assert_true(hinders_of(&s) & HINDER_SPARSE);
	s.mapping.swapped = 16 * MIB;
	assert_false(hinders_of(&s) & HINDER_SPARSE);
}

static void hugetlb_wants_no_advice(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 1);
	s.mapping.kind = PROCESS_HUGETLB;
	s.mapping.huge = 64 * MIB;
	s.mapping.advised = 0;
	s.mapping.thp = HDL_THP_NEVER;
	assert_int_equal(hinders_of(&s), 0);
	assert_int_equal(s.mapping.verdicts, 0);
}

static void policies_that_confine_are_understood(void **state)
{
	static const struct {
		const char *text;
		uint32_t nodes; /* 0: confines nothing */
	} cases[] = { { "default", 0 },
		      { "local", 0 },
		      { "interleave:0-1", 0 },
		      { "weighted interleave:0-1", 0 },
		      { "several", 0 },
		      { "", 0 },
		      { "bind:0", 1 },
		      { "bind:0-1,3", 3 },
		      { "bind=static:2", 1 },
		      { "prefer:1", 1 },
		      { "prefer (many):0-1", 2 },
		      { "bind:", 0 },
		      { "bind:x", 0 } };

	(void)state;
	for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct hdl_mask mask = { 0 };
		bool confines = process_policy_nodes(cases[c].text, &mask);

		if (confines != (cases[c].nodes > 0) ||
		    (confines && hdl_mask_count(&mask) != cases[c].nodes))
			fail_msg("%s", cases[c].text);
	}
}

static void page_tables_are_one_page_for_each_span_and_none_for_hugetlb(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 1);
	s.mapping.spans_known = true;
	s.mapping.spans = 32;
	process_page_tables(&s.process, &s.mapping);
	assert_int_equal(s.mapping.page_table_bytes, 32 * 4096);
	assert_false(s.mapping.page_tables_least);
	s.mapping.spans_known = false;
	process_page_tables(&s.process, &s.mapping);
	assert_int_equal(s.mapping.page_table_bytes, 32 * 4096);
	assert_true(s.mapping.page_tables_least);
	s.mapping.huge = 64 * MIB; /* one in reserve for each */
	process_page_tables(&s.process, &s.mapping);
	assert_int_equal(s.mapping.page_table_bytes, 32 * 4096);
	assert_false(s.mapping.page_tables_least);
	s.mapping.kind = PROCESS_SHMEM;
	process_page_tables(&s.process, &s.mapping);
	assert_int_equal(s.mapping.page_table_bytes, 0);
	s.mapping.kind = PROCESS_HUGETLB;
	process_page_tables(&s.process, &s.mapping);
	assert_int_equal(s.mapping.page_table_bytes, 0);
}

/* smaps saw 32 MiB on base pages; numa_maps, a little later, 62 MiB and some pages. */
static void huge_pages_that_smaps_hides_are_added_in_whole_ones(void **state)
{
	struct set_up s;

	(void)state;
	set_up(&s, 2);
	s.mapping.resident = 32 * MIB;
	s.node_bytes[0] = 32 * MIB;
	s.node_bytes[1] = 30 * MIB + 8192;
	process_add_hidden(&s.process, &s.mapping);
	assert_int_equal(s.mapping.huge, 30 * MIB);
	assert_int_equal(s.mapping.resident, 62 * MIB);
	process_add_hidden(&s.process, &s.mapping);
	assert_int_equal(s.mapping.resident, 62 * MIB);
	set_up(&s, 2);
	s.mapping.resident = 32 * MIB;
	s.mapping.spans_known = true; /* a kernel that scans hides nothing */
	process_add_hidden(&s.process, &s.mapping);
	assert_int_equal(s.mapping.resident, 32 * MIB);
}

static void each_bit_and_each_kind_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (uint32_t a = 1; a < HINDER_ALL; a <<= 1) {
		assert_string_not_equal(process_hinder_name((enum process_hinder)a), "unknown");
		for (uint32_t b = a << 1; b < HINDER_ALL; b <<= 1)
			assert_string_not_equal(process_hinder_name((enum process_hinder)a),
						process_hinder_name((enum process_hinder)b));
	}
	for (int a = 0; a < PROCESS_KINDS; a++)
		for (int b = a + 1; b < PROCESS_KINDS; b++)
			assert_string_not_equal(process_kind_name((enum process_kind)a),
						process_kind_name((enum process_kind)b));
}

/* A name may hold what looks like the end of it, and the fields behind. */
static void names_of_processes_may_be_anything(void **state)
{
	struct process process = { 0 };

	(void)state;
	assert_true(process_stat_parse("7 (a) S (b) c) Z 1 7 7 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 "
				       "0 4242 0 0",
				       &process));
	assert_string_equal(process.comm, "a) S (b) c");
	assert_true(process.zombie && process.kernel_thread);
	assert_int_equal(process.start_time, 4242);
	assert_false(process_stat_parse("", &process));
	assert_false(process_stat_parse("7 (a", &process));
	assert_false(process_stat_parse("7 )a(", &process));
	assert_false(process_stat_parse("7 (a) ", &process));
	assert_false(process_stat_parse("7 (a) S 1 2 3", &process));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_pages_where_huge_ones_fit_are_small_pages),
		cmocka_unit_test(ends_that_cannot_be_huge_are_not_missed),
		cmocka_unit_test(a_tenth_on_base_pages_is_fair),
		cmocka_unit_test(less_than_a_huge_page_is_nothing_to_mend),
		cmocka_unit_test(all_on_one_of_two_nodes_is_one_node),
		cmocka_unit_test(both_faults_are_told_and_pages_come_first),
		cmocka_unit_test(
		    where_one_node_is_allowed_one_node_is_right_and_the_reason_is_named),
		cmocka_unit_test(a_node_without_room_for_the_rest_is_full),
		cmocka_unit_test(what_is_not_known_is_unknown_and_never_a_fault),
		cmocka_unit_test(files_stacks_devices_and_programs_are_not_judged),
		cmocka_unit_test(each_hinder_of_large_pages_is_named),
		cmocka_unit_test(swapped_memory_is_not_sparse),
		cmocka_unit_test(hugetlb_wants_no_advice),
		cmocka_unit_test(policies_that_confine_are_understood),
		cmocka_unit_test(page_tables_are_one_page_for_each_span_and_none_for_hugetlb),
		cmocka_unit_test(huge_pages_that_smaps_hides_are_added_in_whole_ones),
		cmocka_unit_test(each_bit_and_each_kind_has_a_name_of_its_own),
		cmocka_unit_test(names_of_processes_may_be_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

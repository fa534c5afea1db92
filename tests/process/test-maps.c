/* SPDX-License-Identifier: MIT */
/* test-maps.c - which lines of maps make a row, and of which kind it is */
#include <stdio.h>
#include <string.h>

#include "tests/process/books.h"

static const char limits[] =
    "Max stack size            8388608              unlimited            bytes\n";

static void read_text(struct process *process, const char *maps)
{
	books_make(process);
	books_write(process, "limits", limits);
	books_write(process, "maps", maps);
	books_read_maps(process, 8 * MIB);
}

static void lines_that_are_none_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		" ",
		"x",
		"Rss: 4 kB",
		"7f00-",
		"7f00-7f01",
		"7f01000-7f00000 rw-p 00000000 00:00 0",
		"7f00000-7f00000 rw-p 00000000 00:00 0",
		"7f00000-7f01000 rw-p",
		"7f00000-7f01000 rwxxp 00000000 00:00 0",
		"7f00000-7f01000 rw-p 00000000 0000 0",
		"7f00000-7f01000 rw-p 00000000 00:00 ",
		"00000000000000007f00000-7f01000 rw-p 00000000 00:00 0",
	};
	struct process_line line;

	(void)state;
	for (unsigned w = 0; w < sizeof(wrong) / sizeof(wrong[0]); w++)
		if (process_line_parse(wrong[w], &line))
			fail_msg("'%s' was taken for a line of maps", wrong[w]);
}

static void devices_are_hexadecimal_and_names_keep_their_blanks(void **state)
{
	struct process_line line;

	(void)state;
	assert_true(process_line_parse(
	    "7f0000000000-7f0000800000 r-xs 00001000 fe:1a 77     /a b  c", &line));
	assert_true(line.readable && !line.writable && line.executable && line.shared);
	assert_int_equal(line.major, 0xfe);
	assert_int_equal(line.minor, 0x1a);
	assert_int_equal(line.inode, 77);
	assert_int_equal(line.offset, 0x1000);
	assert_string_equal(line.name, "/a b  c");
}

/*
 *   |  4 MiB  |  4 MiB  |  hole  |  4 MiB  |
 *
 * Two that touch are large enough together, the third is not.
 */
static void neighbours_that_touch_are_one_row(void **state)
{
	struct process process;

	(void)state;
	read_text(&process, "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
			    "7f0000400000-7f0000800000 rw-p 00000000 00:00 0 \n"
			    "7f0000a00000-7f0000e00000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(process.seen, 3);
	assert_int_equal(process.mappings, 1);
	assert_int_equal(process.mapping[0].parts, 2);
	assert_int_equal(process.mapping[0].end - process.mapping[0].start, 8 * MIB);
	books_remove(&process);
}

static void neighbours_that_differ_are_not_one(void **state)
{
	static const char *const second[] = {
		"7f0000800000-7f0001000000 r--p 00000000 00:00 0 \n",
		"7f0000800000-7f0001000000 rwxp 00000000 00:00 0 \n",
		"7f0000800000-7f0001000000 rw-p 00000000 00:00 0                [anon:other]\n",
		"7f0000800000-7f0001000000 rw-p 00000000 00:00 0                [heap]\n",
		"7f0000800000-7f0001000000 rw-s 00000000 00:01 9  /dev/zero (deleted)\n",
	};

	(void)state;
	for (unsigned s = 0; s < sizeof(second) / sizeof(second[0]); s++) {
		struct process process;
		char maps[512];

		snprintf(maps, sizeof(maps), "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 \n%s",
			 second[s]);
		read_text(&process, maps);
		assert_int_equal(process.mappings, 2);
		books_remove(&process);
	}
}

static void parts_of_a_file_are_one_row_where_they_go_on(void **state)
{
	struct process process;

	(void)state;
	read_text(&process, "7f0000000000-7f0000800000 rw-s 00000000 08:01 5 /data\n"
			    "7f0000800000-7f0001000000 rw-s 00800000 08:01 5 /data\n"
			    "7f0001000000-7f0001800000 rw-s 00000000 08:01 5 /data\n");
	assert_int_equal(process.mappings, 2);
	assert_int_equal(process.mapping[0].parts, 2);
	assert_int_equal(process.mapping[1].parts, 1);
	books_remove(&process);
}

static void memory_without_access_makes_no_row(void **state)
{
	struct process process;

	(void)state;
	read_text(&process, "7f0000000000-7f1000000000 ---p 00000000 00:00 0 \n"
			    "7f1000000000-7f1000800000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(process.seen, 2);
	assert_int_equal(process.mappings, 1);
	assert_int_equal(process.mapping[0].kind, PROCESS_ANON);
	books_remove(&process);
}

/* A thread's stack has a guard below and the size of the limit; a full one is a table. */
static void stacks_of_threads_are_guessed_unless_they_are_full(void **state)
{
	struct process process;

	(void)state;
	read_text(&process, "7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
			    "7f0000001000-7f0000801000 rw-p 00000000 00:00 0 \n"
			    "7f0001000000-7f0001001000 ---p 00000000 00:00 0 \n"
			    "7f0001001000-7f0001a01000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(process.mapping[0].kind, PROCESS_STACK);
	assert_int_equal(process.mapping[1].kind, PROCESS_ANON);
	process.mapping[0].pages_known = true;
	process.mapping[0].resident = 4 * MIB;
	process_kinds_by_pages(&process);
	assert_int_equal(process.mapping[0].kind, PROCESS_STACK);
	process.mapping[0].resident = 8 * MIB;
	process_kinds_by_pages(&process);
	assert_int_equal(process.mapping[0].kind, PROCESS_ANON);
	books_remove(&process);
}

static void names_tell_kinds(void **state)
{
	static const struct {
		const char *name;
		bool shared;
		enum process_kind kind;
	} cases[] = {
		{ "", false, PROCESS_ANON },
		{ "[heap]", false, PROCESS_HEAP },
		{ "[stack]", false, PROCESS_STACK },
		{ "[stack:77]", false, PROCESS_STACK },
		{ "[anon:cache]", false, PROCESS_ANON },
		{ "[anon_shmem:cache]", true, PROCESS_SHMEM },
		{ "[vvar_vclock]", false, PROCESS_OTHER },
		{ "[vdso]", false, PROCESS_OTHER },
		{ "/dev/zero (deleted)", true, PROCESS_SHMEM },
		{ "/dev/zero", false, PROCESS_ANON },
		{ "/memfd:x (deleted)", true, PROCESS_SHMEM },
		{ "/SYSV0000002a (deleted)", true, PROCESS_SHMEM },
		{ "/dev/shm/x", true, PROCESS_SHMEM },
		{ "/anon_hugepage (deleted)", false, PROCESS_HUGETLB },
		{ "/dev/hugepages/x", true, PROCESS_HUGETLB },
		{ "/dev/nvidia0", true, PROCESS_OTHER },
		{ "anon_inode:[io_uring]", true, PROCESS_OTHER },
		{ "socket:[77]", true, PROCESS_OTHER },
		{ "/srv/data", true, PROCESS_FILE },
	};

	(void)state;
	for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct process_line line = { .name = cases[c].name, .shared = cases[c].shared };

		if (process_kind_of(&line) != cases[c].kind)
			fail_msg("'%s' is %s", cases[c].name,
				 process_kind_name(process_kind_of(&line)));
	}
}

/* maps writes devices in hexadecimal, mountinfo in decimal: 00:1a is 0:26. */
static void files_on_memory_are_told_by_their_mount_with_its_setting(void **state)
{
	struct process process;

	(void)state;
	books_make(&process);
	books_write(&process, "limits", limits);
	books_write(&process, "mountinfo",
		    "29 2 0:25 / /tmp rw - tmpfs tmpfs rw,inode64\n"
		    "30 28 0:26 / /dev/shm rw,relatime shared:3 - tmpfs tmpfs rw,huge=advise\n"
		    "31 28 0:27 / /mnt/huge rw - hugetlbfs nodev rw,pagesize=2M\n");
	books_write(&process, "maps",
		    "7f0000000000-7f0000800000 rw-s 00000000 00:19 4 /tmp/x\n"
		    "7f0001000000-7f0001800000 rw-s 00000000 00:1a 5 /dev/shm/x\n"
		    "7f0002000000-7f0002800000 rw-s 00000000 00:1b 6 /mnt/huge/x\n"
		    "7f0003000000-7f0003800000 rw-s 00000000 08:19 7 /srv/x\n"
		    "7f0004000000-7f0004800000 rw-s 00000000 00:01 8 /memfd:x (deleted)\n");
	books_read_maps(&process, 8 * MIB);
	assert_int_equal(process.mapping[0].kind, PROCESS_SHMEM);
	assert_int_equal(process.mapping[0].thp, HDL_THP_NEVER);
	assert_int_equal(process.mapping[1].kind, PROCESS_SHMEM);
	assert_int_equal(process.mapping[1].thp, HDL_THP_MADVISE);
	assert_int_equal(process.mapping[2].kind, PROCESS_HUGETLB);
	assert_int_equal(process.mapping[3].kind, PROCESS_FILE);
	assert_int_equal(process.mapping[4].kind, PROCESS_SHMEM);
	assert_int_equal(process.mapping[4].thp, process.thp_shmem);
	books_remove(&process);
}

static void a_name_that_was_given_is_shown_without_its_brackets(void **state)
{
	struct process process;

	(void)state;
	read_text(&process,
		  "7f0000000000-7f0000800000 rw-p 00000000 00:00 0     [anon:my cache]\n"
		  "7f0001000000-7f0001800000 rw-s 00000000 00:01 9     [anon_shmem:queue]\n");
	assert_string_equal(process.mapping[0].name, "my cache");
	assert_int_equal(process.mapping[0].kind, PROCESS_ANON);
	assert_string_equal(process.mapping[1].name, "queue");
	assert_int_equal(process.mapping[1].kind, PROCESS_SHMEM);
	books_remove(&process);
}

static void of_a_long_path_the_end_stays(void **state)
{
	struct process process;
	char maps[512], path[301];

	(void)state;
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	strcpy(path + sizeof(path) - 8, "/table1");
	snprintf(maps, sizeof(maps), "7f0000000000-7f0000800000 rw-s 00000000 08:01 5 %s\n", path);
	read_text(&process, maps);
	assert_int_equal(strlen(process.mapping[0].name), sizeof(process.mapping[0].name) - 1);
	assert_memory_equal(process.mapping[0].name, "...x", 4);
	assert_non_null(strstr(process.mapping[0].name, "/table1"));
	books_remove(&process);
}

/* Nothing is kept of small ones: ten thousand of them leave no row. */
static void small_mappings_are_only_counted(void **state)
{
	enum { MANY = 10000 };
	static char maps[MANY * 80];
	struct process process;
	size_t used = 0;

	(void)state;
	for (int n = 0; n < MANY; n++)
		used += (size_t)sprintf(maps + used, "%llx-%llx rw-p 00000000 00:00 0 \n",
					0x7f0000000000ULL + (unsigned long long)n * 8192,
					0x7f0000000000ULL + (unsigned long long)n * 8192 + 4096);
	read_text(&process, maps);
	assert_int_equal(process.seen, MANY);
	assert_int_equal(process.mappings, 0);
	assert_null(process.mapping);
	books_remove(&process);
}

/* What stands behind a line that is cut in the middle of a node belongs to the next mapping. */
static void a_numa_line_that_is_cut_takes_nothing_of_the_next(void **state)
{
	static const struct process_clock forever = { UINT64_MAX };
	struct process process;

	(void)state;
	read_text(&process, "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 \n"
			    "7f0001000000-7f0001800000 rw-p 00000000 00:00 0 \n");
	books_write(&process, "numa_maps",
		    "7f0000000000 default kernelpagesize_kB=4 anon=2048 N0\n"
		    "7f0001000000 default anon=7 N1=7 kernelpagesize_kB=4\n");
	assert_int_equal(process_numa_read(&process, &forever), 0);
	assert_int_equal(process.mapping[0].node_bytes[0], 0);
	assert_int_equal(process.mapping[0].node_bytes[1], 0);
	assert_int_equal(process.mapping[1].node_bytes[1], 7 * 4096);
	books_remove(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_are_none_are_refused),
		cmocka_unit_test(devices_are_hexadecimal_and_names_keep_their_blanks),
		cmocka_unit_test(neighbours_that_touch_are_one_row),
		cmocka_unit_test(neighbours_that_differ_are_not_one),
		cmocka_unit_test(parts_of_a_file_are_one_row_where_they_go_on),
		cmocka_unit_test(memory_without_access_makes_no_row),
		cmocka_unit_test(stacks_of_threads_are_guessed_unless_they_are_full),
		cmocka_unit_test(names_tell_kinds),
		cmocka_unit_test(files_on_memory_are_told_by_their_mount_with_its_setting),
		cmocka_unit_test(a_name_that_was_given_is_shown_without_its_brackets),
		cmocka_unit_test(of_a_long_path_the_end_stays),
		cmocka_unit_test(small_mappings_are_only_counted),
		cmocka_unit_test(a_numa_line_that_is_cut_takes_nothing_of_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

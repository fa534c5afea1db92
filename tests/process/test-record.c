/* SPDX-License-Identifier: MIT */
/* test-record.c - the file that undo reads: what was written, and what anybody may have written */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/record.h"

#define HEAD "hashdist-record 1 71 12345 21\n"

static const struct process process = { .pid = 71, .start_time = 12345, .pages.thp_shift = 21 };
static char directory[] = "/tmp/test-record-XXXXXX";
static char path[64];

static int begin(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/record", directory);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static int load(const char *text, struct place_record *record)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return record_load(record, &process, path);
}

static void what_is_saved_is_loaded(void **state)
{
	struct place_record record, loaded;

	(void)state;
	record_init(&record, &process);
	/* in no order, and the first word about a block stands */
	assert_int_equal(record_block(&record, 0x7f0000400000, 1, true), 0);
	assert_int_equal(record_block(&record, 0x7f0000000000, -1, false), 0);
	assert_int_equal(record_block(&record, 0x7f0000400000, 0, false), 0);
	assert_int_equal(record_stretch(&record, 0x7f0000000000, 0x7f0000600000), 0);
	assert_int_equal(record_stretch(&record, 0x7f0000000000, 0x7f0000600000), 0);
	assert_int_equal(record_save(&record, &process, path), 0);
	assert_int_equal(record_load(&loaded, &process, path), 0);
	assert_int_equal(loaded.count, 2);
	assert_int_equal(loaded.stretches, 1);
	assert_int_equal(record_node(&loaded, 0x7f0000400000), 1);
	assert_int_equal(record_node(&loaded, 0x7f0000000000), -1);
	assert_int_equal(record_node(&loaded, 0x7f0000200000), -1);
	assert_false(loaded.block[0].huge);
	assert_true(loaded.block[1].huge);
	record_free(&record);
	record_free(&loaded);
	record_remove(&process, path);
	assert_int_equal(record_load(&loaded, &process, path), -ENOENT);
}

static void a_damaged_record_is_refused_as_a_whole(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"hashdist-record 2 71 12345 21\n",
		HEAD "block\n",
		HEAD "block 7f0000000000 1\n",
		HEAD "block 7f0000000000 1 1\nnonsense\n",
		HEAD "block 7f0000000000 -2 1\n",
		HEAD "block 7f0000000000 1024 1\n",
		HEAD "policy 7f0000000000 7f0000000000\n",
		HEAD "policy 7f0000200000 7f0000000000\n",
	};
	struct place_record record;

	(void)state;
	for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
		if (load(texts[t], &record) != -EPROTO)
			fail_msg("taken: %s", texts[t]);
		assert_int_equal(record.count, 0);
		assert_null(record.block);
	}
}

static void the_record_of_another_process_is_refused(void **state)
{
	struct place_record record;

	(void)state;
	assert_int_equal(load("hashdist-record 1 72 12345 21\n", &record), -ESTALE);
	assert_int_equal(load("hashdist-record 1 71 12346 21\n", &record), -ESTALE);
	assert_int_equal(load("hashdist-record 1 71 12345 25\n", &record), -ESTALE);
	assert_int_equal(load(HEAD, &record), 0);
	record_free(&record);
}

static void no_link_is_followed_and_no_pipe_is_waited_for(void **state)
{
	struct place_record record;

	(void)state;
	unlink(path);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	assert_int_equal(record_load(&record, &process, path), -ELOOP);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(record_load(&record, &process, path), -EPROTO);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(record_save(&record, &process, path), -EISDIR);
	rmdir(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_saved_is_loaded),
		cmocka_unit_test(a_damaged_record_is_refused_as_a_whole),
		cmocka_unit_test(the_record_of_another_process_is_refused),
		cmocka_unit_test(no_link_is_followed_and_no_pipe_is_waited_for),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

/* SPDX-License-Identifier: MIT */
/*
 * test-rounds.c - whose turn it is, and what ends the measuring
 */
#include "tests/command/help.h"

/** Remembers the order: round and setting of each run. */
struct diary {
	uint32_t round[64];
	int setting[64];
	int runs;
};

static void note(void *arg, uint32_t round, int setting)
{
	struct diary *diary = arg;

	diary->round[diary->runs] = round;
	diary->setting[diary->runs++] = setting;
}

static int set_variable(void *arg, char **argv)
{
	(void)argv;
	return setenv("SIDE", arg, 1);
}

/** Settings that differ in a variable, SIDE, which is A or B. */
static struct command_want two_sides(const char *line, struct diary *diary)
{
	static char a[] = "A", b[] = "B";
	struct command_want want = plain_want(line);

	want.setting[0] = (struct command_setting){ set_variable, become_plain, a };
	want.setting[1] = (struct command_setting){ set_variable, become_plain, b };
	want.progress = diary ? note : NULL;
	want.arg = diary;
	return want;
}

static void settings_take_turns_and_each_goes_first(void **state)
{
	static const int wanted[] = { 0, 1, 1, 0, 0, 1, 1, 0 };
	struct diary diary = { .runs = 0 };
	struct command_want want = two_sides("true", &diary);
	struct command_result result;

	(void)state;
	want.runs = 3;
	want.warmups = 1;
	assert_int_equal(command_rounds(&want, &result), 0);
	assert_int_equal(result.end, COMMAND_DONE);
	assert_int_equal(result.runs, 3);
	assert_int_equal(diary.runs, 8);
	for (int r = 0; r < 8; r++) {
		assert_int_equal(diary.setting[r], wanted[r]);
		assert_int_equal(diary.round[r], r / 2);
	}
	command_free(&result);
}

static void each_side_has_its_setting_and_its_samples(void **state)
{
	struct command_want want = two_sides("sh -c if_[_$SIDE_=_B_];_then_sleep_0.3;_fi", NULL);
	struct command_result result;

	(void)state;
	want.runs = 2;
	assert_int_equal(command_rounds(&want, &result), 0);
	for (uint32_t r = 0; r < 2; r++) {
		double a = command_sample(&result, 0, COMMAND_WALL, r);
		double b = command_sample(&result, 1, COMMAND_WALL, r);

		assert_true(a > 0 && b >= 300e6);
		assert_true(command_sample(&result, 0, COMMAND_MINOR_FAULTS, r) > 0);
	}
	command_free(&result);
}

static void faults_are_timed_after_all_others_and_nothing_else_is_kept(void **state)
{
	struct diary diary = { .runs = 0 };
	struct command_want want = two_sides("true", &diary);
	struct command_result result;

	(void)state;
	if (command_faults_possible())
		skip();
	want.runs = 1;
	want.fault_runs = 2;
	assert_int_equal(command_rounds(&want, &result), 0);
	assert_int_equal(diary.runs, 6);
	assert_int_equal(diary.round[1], 1);
	assert_int_equal(diary.round[2], 2);
	assert_int_equal(diary.round[5], 3);
	assert_int_equal(command_samples(&result, COMMAND_WALL), 1);
	assert_int_equal(command_samples(&result, COMMAND_FAULT_TIME), 2);
	for (uint32_t r = 0; r < 2; r++)
		for (int side = 0; side < 2; side++)
			assert_true(command_sample(&result, side, COMMAND_FAULT_TIME, r) > 0);
	assert_true(command_sample(&result, 0, COMMAND_WALL, 0) > 0);
	command_free(&result);
}

static void a_failure_ends_it_and_keeps_whole_rounds(void **state)
{
	char path[] = "/tmp/hashdist-rounds-XXXXXX", line[256];
	struct command_result result;
	struct command_want want;
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	/* The fifth run, which is A's in the third round, fails. */
	snprintf(line, sizeof(line), "sh -c echo_>>%s;_test_$(wc_-l_<%s)_-ne_5", path, path);
	want = two_sides(line, NULL);
	want.runs = 6;
	assert_int_equal(command_rounds(&want, &result), 0);
	assert_int_equal(result.end, COMMAND_FAILED);
	assert_int_equal(result.runs, 2);
	assert_int_equal(result.round, 3);
	assert_int_equal(result.setting, 0);
	assert_int_equal(WEXITSTATUS(result.last.wait_status), 1);
	command_free(&result);
	unlink(path);
}

static void failures_may_be_ignored_and_are_counted(void **state)
{
	struct command_want want = two_sides("sh -c test_$SIDE_=_A", NULL);
	struct command_result result;

	(void)state;
	want.runs = 3;
	want.warmups = 1;
	want.ignore_failure = true;
	assert_int_equal(command_rounds(&want, &result), 0);
	assert_int_equal(result.end, COMMAND_DONE);
	assert_int_equal(result.runs, 3);
	assert_int_equal(result.failures[0], 0);
	assert_int_equal(result.failures[1], 3);
	command_free(&result);
}

static void what_cannot_be_started_ends_it_even_if_failures_are_ignored(void **state)
{
	struct command_want want = two_sides("/nowhere/at/all", NULL);
	struct command_result result;

	(void)state;
	want.ignore_failure = true;
	assert_int_equal(command_rounds(&want, &result), 0);
	assert_int_equal(result.end, COMMAND_NOT_STARTED);
	assert_int_equal(result.last.exec_error, -ENOENT);
	assert_int_equal(result.runs, 0);
	command_free(&result);
}

static void each_run_is_prepared(void **state)
{
	char path[] = "/tmp/hashdist-rounds-XXXXXX", line[256], shell[128];
	struct command_result result;
	struct command_want want;
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	snprintf(line, sizeof(line), "rm %s", path); /* fails unless it is made again */
	snprintf(shell, sizeof(shell), ": >%s", path);
	want = two_sides(line, NULL);
	want.runs = 2;
	want.prepare = shell;
	assert_int_equal(command_rounds(&want, &result), 0);
	assert_int_equal(result.end, COMMAND_DONE);
	command_free(&result);
	unlink(path);
}

static void a_preparation_that_fails_ends_it(void **state)
{
	struct command_want want = two_sides("true", NULL);
	struct command_result result;

	(void)state;
	want.prepare = "exit 7";
	assert_int_equal(command_rounds(&want, &result), 0);
	assert_int_equal(result.end, COMMAND_PREPARE_FAILED);
	assert_int_equal(WEXITSTATUS(result.last.wait_status), 7);
	command_free(&result);
}

static void an_interrupt_keeps_the_rounds_before_it(void **state)
{
	struct command_want want = two_sides("sleep 0.15", NULL);
	struct command_result result;
	pid_t us = getpid();

	(void)state;
	if (fork() == 0) {
		usleep(700000);
		kill(us, SIGINT);
		_exit(0);
	}
	want.runs = 1000;
	assert_int_equal(command_rounds(&want, &result), 0);
	assert_int_equal(result.end, COMMAND_INTERRUPTED);
	assert_int_equal(result.last.signal, SIGINT);
	assert_true(result.runs < 4);
	assert_int_equal(result.round, result.runs + 1);
	command_free(&result);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void the_measuring_s_own_cost_is_told(void **state)
{
	struct command_want want = plain_want("true");
	struct command_overhead overhead;

	(void)state;
	assert_int_equal(command_overhead(&want, &overhead), 0);
	assert_true(overhead.runs > 0);
	assert_true(overhead.bare_ns > 0 && overhead.inside_ns > 0);
	assert_true(overhead.all_ns > overhead.inside_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_take_turns_and_each_goes_first),
		cmocka_unit_test(each_side_has_its_setting_and_its_samples),
		cmocka_unit_test(faults_are_timed_after_all_others_and_nothing_else_is_kept),
		cmocka_unit_test(a_failure_ends_it_and_keeps_whole_rounds),
		cmocka_unit_test(failures_may_be_ignored_and_are_counted),
		cmocka_unit_test(what_cannot_be_started_ends_it_even_if_failures_are_ignored),
		cmocka_unit_test(each_run_is_prepared),
		cmocka_unit_test(a_preparation_that_fails_ends_it),
		cmocka_unit_test(an_interrupt_keeps_the_rounds_before_it),
		cmocka_unit_test(the_measuring_s_own_cost_is_told),
	};

	signals_as_usual();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

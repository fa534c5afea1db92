/* SPDX-License-Identifier: MIT */
/*
 * test-faults.c - the time of page faults: their marks, and commands that cause a known number
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/command/help.h"

enum { PER_MIB = 256 };

/* ---- marks -------------------------------------------------------------------------------- */

struct step {
	uint64_t time;
	uint32_t thread;
	enum command_mark_kind kind;
};

#define BEGUN COMMAND_FAULT_BEGUN
#define DONE  COMMAND_FAULT_DONE
#define AWAY  COMMAND_THREAD_AWAY
#define BACK  COMMAND_THREAD_BACK

static struct command_marks *marks_new(void)
{
	struct command_marks *marks = calloc(1, sizeof(*marks));

	assert_non_null(marks);
	return marks;
}

static void marks_check(struct command_marks *marks, uint64_t pairs, uint64_t ns)
{
	assert_int_equal(marks->pairs, pairs);
	assert_int_equal((uint64_t)marks->ns, ns);
	command_marks_free(marks);
	free(marks);
}

static void check_steps(const struct step *step, size_t steps, uint64_t pairs, uint64_t ns)
{
	struct command_marks *marks = marks_new();

	for (size_t s = 0; s < steps; s++)
		command_marks_add(marks, step[s].time, step[s].thread, step[s].kind);
	command_marks_settle(marks, UINT64_MAX);
	marks_check(marks, pairs, ns);
}

#define CHECK_STEPS(pairs, ns, ...)                                                                \
	check_steps((const struct step[])__VA_ARGS__,                                              \
		    sizeof((const struct step[])__VA_ARGS__) / sizeof(struct step), pairs, ns)

static void a_fault_takes_from_its_begin_to_its_end(void **state)
{
	(void)state;
	CHECK_STEPS(2, 7 + 3,
		    { { 10, 5, BEGUN }, { 17, 5, DONE }, { 20, 5, BEGUN }, { 23, 5, DONE } });
}

static void threads_do_not_mix(void **state)
{
	(void)state;
	CHECK_STEPS(2, 30 + 8,
		    { { 10, 5, BEGUN }, { 12, 6, BEGUN }, { 20, 6, DONE }, { 40, 5, DONE } });
}

static void marks_of_another_cpu_may_be_read_first(void **state)
{
	(void)state;
	CHECK_STEPS(2, 4 + 5,
		    { { 14, 5, DONE }, { 30, 5, BEGUN }, { 35, 5, DONE }, { 10, 5, BEGUN } });
}

static void time_off_the_cpu_is_not_counted(void **state)
{
	(void)state;
	CHECK_STEPS(1, 100 - 60 - 5,
		    { { 100, 5, BEGUN },
		      { 110, 5, AWAY },
		      { 170, 5, BACK },
		      { 180, 5, AWAY },
		      { 185, 5, BACK },
		      { 200, 5, DONE } });
	/* Between faults it is nobody's. */
	CHECK_STEPS(1, 10, { { 1, 5, AWAY }, { 9, 5, BACK }, { 20, 5, BEGUN }, { 30, 5, DONE } });
}

static void a_fault_that_lacks_a_mark_counts_nothing(void **state)
{
	(void)state;
	/* A major fault has no second mark; the next one is not longer for it. */
	CHECK_STEPS(1, 2, { { 10, 5, BEGUN }, { 90, 5, BEGUN }, { 92, 5, DONE } });
	CHECK_STEPS(1, 2, { { 10, 5, DONE }, { 90, 5, BEGUN }, { 92, 5, DONE } });
	/* Numbers that share their last bits: the one that began last has the place. */
	CHECK_STEPS(1, 1,
		    { { 10, 5, BEGUN },
		      { 11, 5 + COMMAND_OPEN_FAULTS, BEGUN },
		      { 12, 5 + COMMAND_OPEN_FAULTS, DONE },
		      { 20, 5, DONE } });
}

static void what_is_too_young_waits_for_older_marks(void **state)
{
	struct command_marks *marks = marks_new();

	(void)state;
	command_marks_add(marks, 18, 5, DONE);
	command_marks_settle(marks, 15);
	assert_int_equal(marks->pairs, 0);
	command_marks_add(marks, 10, 5, BEGUN);
	command_marks_settle(marks, 15);
	command_marks_settle(marks, 30);
	marks_check(marks, 1, 8);
}

static void no_number_of_marks_is_too_large(void **state)
{
	struct command_marks *marks = marks_new();

	(void)state;
	for (uint32_t m = 0; m < 100000; m++) {
		command_marks_add(marks, 10 * m + 3, m % 1000 + 1, DONE);
		command_marks_add(marks, 10 * m, m % 1000 + 1, BEGUN);
	}
	command_marks_settle(marks, UINT64_MAX);
	marks_check(marks, 100000, 300000);
}

/* ---- commands ------------------------------------------------------------------------------ */

static bool lacks_marks(void)
{
	int error = command_faults_possible();

	if (!error)
		return false;
	if (getenv("HASHDIST_REQUIRE_ALL"))
		fail_msg("perf_event_open: %s", strerror(-error));
	print_message("perf_event_open: %s\n", strerror(-error));
	return true;
}

static struct command_once timed(const char *words)
{
	struct command_want want = plain_want("");
	struct command_once once;
	char line[1024];

	snprintf(line, sizeof(line), "%s %s", getenv("HASHDIST_COMMAND_TARGET"), words);
	want.argv = split(line);
	want.time_faults = true;
	assert_int_equal(command_once(&want, 0, &once), 0);
	assert_true(command_fine(&once));
	assert_int_equal(once.faults.error, 0);
	return once;
}

/** The kernel's two counts of the same; only of its own there may be some that have no mark. */
static void same_faults(const struct command_once *once, double least)
{
	double counted = once->value[COMMAND_MINOR_FAULTS];

	if (once->faults.user_only)
		return;
	assert_true(counted >= least);
	if (fabs((double)once->faults.faults - counted) > counted / 50 + 20)
		fail_msg("%.0f faults with marks, %.0f counted", (double)once->faults.faults,
			 counted);
}

static void faults_of_a_command_are_all_timed(void **state)
{
	struct command_once once;

	(void)state;
	if (lacks_marks())
		skip();
	once = timed("touch=64");
	same_faults(&once, 64 * PER_MIB);
	assert_true(once.faults.share > 0.5 && once.faults.share <= 1);
	/* Of a fault the kernel needs at least the time to zero a page, and at most all its time. */
	assert_true(once.value[COMMAND_FAULT_TIME] > 64 * PER_MIB * 50.0);
	assert_true(once.value[COMMAND_FAULT_TIME] <= once.value[COMMAND_WALL]);
	assert_true(once.value[COMMAND_FAULT_TIME] == once.faults.ns);
}

static void those_of_its_children_are_too(void **state)
{
	struct command_once once;

	(void)state;
	if (lacks_marks())
		skip();
	once = timed("fork=6");
	same_faults(&once, 6 * 4 * PER_MIB);
}

static void without_faults_there_is_no_time(void **state)
{
	struct command_once calm, busy;

	(void)state;
	if (lacks_marks())
		skip();
	calm = timed("sleep=200");
	busy = timed("touch=64");
	assert_true(calm.value[COMMAND_FAULT_TIME] < busy.value[COMMAND_FAULT_TIME]);
	assert_true(calm.faults.faults < 64 * PER_MIB);
}

static void unless_asked_nothing_is_timed(void **state)
{
	struct command_once once = run_target("touch=4");

	(void)state;
	assert_true(once.value[COMMAND_FAULT_TIME] < 0);
}

/** As a container has it: the call fails for this process and its children. */
static int forbid_perf(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void where_it_is_forbidden_no_round_is_run_for_it(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct command_want want = plain_want("true");
		struct command_result result;

		want.fault_runs = 3;
		if (forbid_perf() || command_rounds(&want, &result))
			_exit(1);
		if (result.faults.error != -EPERM || result.end != COMMAND_DONE)
			_exit(2);
		if (result.fault_runs || result.round != 1 || result.runs != 1)
			_exit(3);
		command_free(&result);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_takes_from_its_begin_to_its_end),
		cmocka_unit_test(threads_do_not_mix),
		cmocka_unit_test(marks_of_another_cpu_may_be_read_first),
		cmocka_unit_test(time_off_the_cpu_is_not_counted),
		cmocka_unit_test(a_fault_that_lacks_a_mark_counts_nothing),
		cmocka_unit_test(what_is_too_young_waits_for_older_marks),
		cmocka_unit_test(no_number_of_marks_is_too_large),
		cmocka_unit_test(faults_of_a_command_are_all_timed),
		cmocka_unit_test(those_of_its_children_are_too),
		cmocka_unit_test(without_faults_there_is_no_time),
		cmocka_unit_test(unless_asked_nothing_is_timed),
		cmocka_unit_test(where_it_is_forbidden_no_round_is_run_for_it),
	};

	signals_as_usual();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

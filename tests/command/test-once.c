/* SPDX-License-Identifier: MIT */
/*
 * test-once.c - how a command may end, and what is counted of it and all it starts
 *
 * Counts are held against what the command is known to do: 256 page faults for each MiB
 * of base pages that it touches, less or more by what its start takes.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/command/help.h"

enum { PER_MIB = 256, SLACK = 400 };

static bool has_base_pages_of_4k(void)
{
	return sysconf(_SC_PAGESIZE) == 4096;
}

static double faults_of(const char *words)
{
	struct command_once once = run_target(words);

	assert_true(command_fine(&once));
	return once.value[COMMAND_MINOR_FAULTS];
}

static void between(double value, double low, double high)
{
	if (!(value >= low && value <= high))
		fail_msg("%.6g is not between %.6g and %.6g", value, low, high);
}

/* ---- how it ends -------------------------------------------------------------------------- */

static void success_is_fine(void **state)
{
	struct command_once once = run_line("true");

	(void)state;
	assert_true(command_fine(&once));
	assert_int_equal(once.left, 0);
}

static void an_exit_status_is_passed_on(void **state)
{
	struct command_once once = run_target("exit=3");

	(void)state;
	assert_false(command_fine(&once));
	assert_true(WIFEXITED(once.wait_status));
	assert_int_equal(WEXITSTATUS(once.wait_status), 3);
}

static void a_signal_that_killed_it_is_passed_on(void **state)
{
	static const int signals[] = { SIGKILL, SIGTERM, SIGSEGV, SIGINT };

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(signals); s++) {
		struct command_once once;
		char words[32];

		snprintf(words, sizeof(words), "signal=%d", signals[s]);
		once = run_target(words);
		assert_true(WIFSIGNALED(once.wait_status));
		assert_int_equal(WTERMSIG(once.wait_status), signals[s]);
		assert_int_equal(once.signal, 0); /* it was not us who were told to end */
	}
}

static void what_cannot_be_executed_says_why(void **state)
{
	char path[] = "/tmp/hashdist-once-XXXXXX", line[64];
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(run_line("/nowhere/at/all").exec_error, -ENOENT);
	assert_int_equal(run_line("no-program-of-that-name").exec_error, -ENOENT);
	assert_true(fd >= 0);
	close(fd);
	snprintf(line, sizeof(line), "%s x", path);
	assert_int_equal(run_line(line).exec_error, -EACCES);
	unlink(path);
	assert_int_equal(run_line("/tmp x").exec_error, -EACCES);
}

static int not_ready(void *arg, char **argv)
{
	(void)argv;
	return *(int *)arg;
}

static void a_setting_that_is_not_ready_starts_nothing(void **state)
{
	char path[] = "/tmp/hashdist-once-XXXXXX", line[64];
	int status = 42, fd = mkstemp(path);
	struct command_want want;
	struct command_once once;

	(void)state;
	close(fd);
	snprintf(line, sizeof(line), "rm %s", path);
	want = plain_want(line);
	want.setting[0] = (struct command_setting){ not_ready, become_plain, &status };
	assert_int_equal(command_once(&want, 0, &once), 0);
	assert_int_equal(once.ready_status, 42);
	assert_int_equal(once.exec_error, 0);
	assert_int_equal(unlink(path), 0);
}

static void input_that_is_not_there_is_an_error_not_a_run(void **state)
{
	struct command_want want = plain_want("true");
	struct command_once once;

	(void)state;
	want.input = "/nowhere/at/all";
	assert_int_equal(command_once(&want, 0, &once), 0);
	assert_int_equal(once.exec_error, -ENOENT);
}

static void a_child_that_is_gone_before_it_may_begin_is_an_error(void **state)
{
	struct command_want want = plain_want("true");
	struct command_child child;
	siginfo_t info;

	(void)state;
	assert_int_equal(command_spawn(&want, 0, &child), 0);
	kill(child.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(command_go(&child), -EIO);
	assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void no_files_and_no_children_are_left(void **state)
{
	int before = open("/dev/null", O_RDONLY), after;

	(void)state;
	close(before);
	run_target("fork=2");
	run_line("/nowhere/at/all");
	after = open("/dev/null", O_RDONLY);
	close(after);
	assert_int_equal(after, before);
	assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void signals_are_as_before_for_us_and_for_the_command(void **state)
{
	sigset_t before, after;

	(void)state;
	memset(&before, 0, sizeof(before)); /* the kernel's is the shorter one */
	memset(&after, 0, sizeof(after));
	sigprocmask(SIG_SETMASK, NULL, &before);
	/* None may be blocked or ignored in it that was not in us. */
	struct command_once once =
	    run_line("sh -c test_\"$(grep_SigBlk_/proc/self/status|cut_-f2)\"_=_"
		     "0000000000000000");

	assert_true(command_fine(&once));
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_memory_equal(&before, &after, sizeof(before));
}

/* ---- input and output ----------------------------------------------------------------------- */

static void each_run_gets_the_same_input(void **state)
{
	char path[] = "/tmp/hashdist-once-XXXXXX";
	struct command_want want = plain_want("grep -qx needle");
	struct command_once once;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, "needle\n", 7), 7);
	close(fd);
	want.input = path;
	for (int run = 0; run < 2; run++) {
		assert_int_equal(command_once(&want, 0, &once), 0);
		assert_true(command_fine(&once));
	}
	want.input = NULL; /* nothing to find in /dev/null */
	assert_int_equal(command_once(&want, 0, &once), 0);
	assert_int_equal(WEXITSTATUS(once.wait_status), 1);
	unlink(path);
}

static void gigabytes_of_output_take_no_memory(void **state)
{
	struct rusage before, after;
	struct command_once once;

	(void)state;
	getrusage(RUSAGE_SELF, &before);
	once = run_line("head -c 2G /dev/zero");
	getrusage(RUSAGE_SELF, &after);
	assert_true(command_fine(&once));
	assert_true(after.ru_maxrss - before.ru_maxrss < 8192);
	between(once.value[COMMAND_RESIDENT], 1, 64.0 * MIB);
}

static void output_does_not_appear_unless_wanted(void **state)
{
	char path[] = "/tmp/hashdist-once-XXXXXX";
	int fd = mkstemp(path), out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	struct command_want want = plain_want("sh -c echo_out;_echo_err_>&2");
	struct command_once once;
	char text[64] = "";
	struct stat st;

	(void)state;
	fflush(NULL);
	dup2(fd, STDERR_FILENO);
	dup2(fd, STDOUT_FILENO);
	command_once(&want, 0, &once);
	fstat(fd, &st);
	want.show_output = true;
	/* Standard output is for figures. */
	dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
	command_once(&want, 0, &once);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	assert_int_equal(st.st_size, 0);
	assert_true(command_fine(&once));
	assert_int_equal(pread(fd, text, sizeof(text) - 1, 0), 8);
	assert_string_equal(text, "out\nerr\n");
	unlink(path);
	close(fd);
}

/* ---- counts ----------------------------------------------------------------------------------- */

static void each_page_that_is_touched_is_a_fault(void **state)
{
	double none, some;

	(void)state;
	if (!has_base_pages_of_4k())
		lacks("pages of 4 KiB");
	none = faults_of("touch=1");
	some = faults_of("touch=33");
	between(none, PER_MIB, PER_MIB + SLACK);
	between(some - none, 32 * PER_MIB - 40, 32 * PER_MIB + 40);
}

static void children_are_counted(void **state)
{
	double none, some;

	(void)state;
	if (!has_base_pages_of_4k())
		lacks("pages of 4 KiB");
	none = faults_of("touch=1");
	some = faults_of("touch=1 fork=8");
	between(some - none, 8 * 4 * PER_MIB, 8 * (4 * PER_MIB + SLACK));
}

static void an_orphan_that_ends_in_time_is_counted_and_another_is_said(void **state)
{
	struct command_once ended, left;
	double none;

	(void)state;
	if (!has_base_pages_of_4k())
		lacks("pages of 4 KiB");
	none = faults_of("touch=1");
	ended = run_target("touch=1 orphan=1 sleep=1500");
	assert_true(command_fine(&ended));
	assert_int_equal(ended.left, 0);
	between(ended.value[COMMAND_MINOR_FAULTS] - none, 4 * PER_MIB, 4 * PER_MIB + SLACK);
	left = run_target("touch=1 orphan=2500");
	assert_true(command_fine(&left));
	assert_int_equal(left.left, 1);
	/* It goes on, is nobody's concern in the next run, and ends by itself. */
	assert_int_equal(run_target("touch=1").left, 0);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void a_small_bomb_of_children_is_followed(void **state)
{
	struct command_once once =
	    run_line("sh -c for_i_in_1_2_3_4_5_6_7_8_9_10;_do_(sleep_0.8&_wait)&_done;_wait");

	(void)state;
	assert_true(command_fine(&once));
	assert_int_equal(once.left, 0);
	/* Ten shells and ten sleeps at once, a MiB each at least. */
	assert_true(once.value[COMMAND_TREE_RESIDENT] > 2 * once.value[COMMAND_RESIDENT]);
}

static void time_is_that_of_the_command(void **state)
{
	struct command_once asleep = run_target("sleep=200");
	struct command_once busy = run_target("spin=200");

	(void)state;
	assert_true(asleep.value[COMMAND_WALL] >= 200e6);
	assert_true(asleep.value[COMMAND_CPU] < 200e6);
	assert_true(busy.value[COMMAND_CPU] >= 190e6);
	assert_true(busy.value[COMMAND_USER] + busy.value[COMMAND_SYSTEM] ==
		    busy.value[COMMAND_CPU]);
}

/* ---- memory ------------------------------------------------------------------------------------- */

struct own_books {
	unsigned long rss, huge, tables, mark;
};

/** What the command has read of itself by another way: line by line from smaps. */
static struct command_once run_and_compare(const char *words, struct own_books *own)
{
	char path[] = "/tmp/hashdist-once-XXXXXX", line[256];
	int fd = mkstemp(path);
	struct command_once once;
	FILE *file;

	close(fd);
	snprintf(line, sizeof(line), "%s sleep=400 books=%s sleep=100", words, path);
	once = run_target(line);
	assert_true(command_fine(&once));
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "rss %lu huge %lu tables %lu mark %lu", &own->rss, &own->huge,
				&own->tables, &own->mark),
			 4);
	fclose(file);
	unlink(path);
	return once;
}

static void resident_memory_and_page_tables_agree_with_its_own_reading(void **state)
{
	struct own_books own;
	struct command_once once = run_and_compare("touch=64", &own);

	(void)state;
	/* Looked at later than it looked itself; and resident pages are summed up in batches. */
	between(once.value[COMMAND_RESIDENT], (double)own.mark - 1.0 * MIB,
		(double)own.mark + 1.0 * MIB);
	between(once.value[COMMAND_TREE_RESIDENT], (double)own.rss - 1.0 * MIB,
		(double)own.rss + 1.0 * MIB);
	between(once.value[COMMAND_TABLES], (double)own.tables - 8192, (double)own.tables + 8192);
	assert_true(own.tables > 64.0 * MIB / 512);
	between(once.value[COMMAND_HUGE], 0, 0.001);
}

static void the_share_on_huge_pages_agrees_with_its_own_reading(void **state)
{
	struct own_books own;
	struct command_once once = run_and_compare("huge=64", &own);
	double share = (double)own.huge / (double)own.rss;

	(void)state;
	if (own.huge < 32 * MIB)
		lacks("transparent huge pages");
	between(once.value[COMMAND_HUGE], share - 0.02, share + 0.02);
	between(once.value[COMMAND_HUGE_MEAN], share - 0.1, 1);
}

static void a_peak_that_is_over_is_remembered(void **state)
{
	struct command_once once = run_target("touch=64 sleep=200 drop sleep=100");

	(void)state;
	assert_true(once.value[COMMAND_RESIDENT] > 64.0 * MIB);
	assert_true(once.value[COMMAND_TREE_RESIDENT] > 60.0 * MIB);
	assert_true(once.value[COMMAND_TABLES] > 64.0 * MIB / 512);
}

static void the_mark_of_resident_memory_is_not_ours(void **state)
{
	/* Ours is far higher, and lasts beyond fork(). */
	size_t bytes = 96 * MIB;
	char *ours = malloc(bytes);
	struct command_once once;

	(void)state;
	assert_non_null(ours);
	memset(ours, 1, bytes);
	once = run_target("touch=8 sleep=300");
	free(ours);
	between(once.value[COMMAND_RESIDENT], 8.0 * MIB, 24.0 * MIB);
}

static void without_looks_there_are_no_figures_of_them(void **state)
{
	struct command_want want = plain_want("sleep 0.05");
	struct command_once once;

	(void)state;
	want.interval_ms = 0;
	assert_int_equal(command_once(&want, 0, &once), 0);
	assert_true(command_fine(&once));
	assert_int_equal(once.looks, 0);
	assert_true(once.value[COMMAND_TABLES] < 0 && once.value[COMMAND_HUGE] < 0);
	assert_true(once.value[COMMAND_MINOR_FAULTS] > 0);
}

/* ---- counters -------------------------------------------------------------------------------------- */

/*
 * Page faults are an event, too, which every kernel counts: so the way of hardware events
 * can be tested where there are none.
 */
static void counters_begin_with_the_command_and_follow_its_children(void **state)
{
	struct command_counters counters = { .events = { .events = 2 } };
	struct command_hardware hardware;
	struct command_child child;
	struct command_want want;
	double value[COMMAND_FIGURES];
	struct rusage usage;
	char line[256];

	(void)state;
	for (int e = 0; e < 2; e++)
		counters.events.event[e] = (struct command_event){
			.figure = e ? COMMAND_STORE_MISSES : COMMAND_LOAD_MISSES,
			.type = PERF_TYPE_SOFTWARE,
			.config =
			    e ? PERF_COUNT_SW_CONTEXT_SWITCHES : PERF_COUNT_SW_PAGE_FAULTS_MIN,
		};
	snprintf(line, sizeof(line), "%s touch=16 fork=4", getenv("HASHDIST_COMMAND_TARGET"));
	want = plain_want(line);
	command_signals_take();
	assert_int_equal(command_spawn(&want, 0, &child), 0);
	command_open(&counters, child.pid, &hardware);
	if (!hardware.counted[0] || hardware.user_only) {
		command_abandon(&child);
		command_signals_give_back();
		lacks("the kernel's own counters for us");
	}
	assert_int_equal(command_go(&child), 0);
	assert_int_equal(wait4(child.pid, NULL, 0, &usage), child.pid);
	command_signals_give_back();
	for (int f = 0; f < COMMAND_FIGURES; f++)
		value[f] = -1;
	assert_true(command_read(&counters, value) == 1);
	command_close(&counters);
	/* What the kernel does as it executes the program is counted by one of both only. */
	between(value[COMMAND_LOAD_MISSES],
		(double)(usage.ru_minflt - child.before.self.ru_minflt) - 60,
		(double)(usage.ru_minflt - child.before.self.ru_minflt));
	assert_true(value[COMMAND_LOAD_MISSES] > 32 * PER_MIB);
	assert_true(value[COMMAND_STORE_MISSES] >= 4); /* it has waited for each child */
	assert_true(value[COMMAND_WALKS] == -1);
}

static void an_event_that_there_is_not_leaves_the_others(void **state)
{
	struct command_counters counters = { .events = { .events = 3 } };
	struct command_event *event = counters.events.event;
	struct command_want want = plain_want("true");
	struct command_hardware hardware;
	struct command_child child;

	(void)state;
	event[0] = (struct command_event){ .figure = COMMAND_WALKS, .type = PERF_TYPE_SOFTWARE };
	event[1] = (struct command_event){ .figure = COMMAND_WALKS, .type = 0x7fffffff };
	event[2] = (struct command_event){ .figure = COMMAND_CYCLES, .type = PERF_TYPE_SOFTWARE };
	assert_int_equal(command_spawn(&want, 0, &child), 0);
	command_open(&counters, child.pid, &hardware);
	command_abandon(&child);
	if (!hardware.counted[COMMAND_CYCLES - COMMAND_HARDWARE])
		lacks("the kernel's own counters for us");
	/* Half a sum is none. */
	assert_false(hardware.counted[COMMAND_WALKS - COMMAND_HARDWARE]);
	assert_int_equal(hardware.error[COMMAND_WALKS - COMMAND_HARDWARE], -ENOENT);
	assert_true(counters.fd[0] < 0 && counters.fd[1] < 0 && counters.fd[2] >= 0);
	command_close(&counters);
}

/* ---- being told to end ---------------------------------------------------------------------------- */

/** Somebody who sends us a signal while the command runs. */
static pid_t send_later(int signal, int ms)
{
	pid_t us = getpid(), pid = fork();

	if (pid == 0) {
		usleep((useconds_t)ms * 1000);
		kill(us, signal);
		_exit(0);
	}
	return pid;
}

static void an_interrupt_ends_the_command(void **state)
{
	struct command_once once;

	(void)state;
	send_later(SIGINT, 200);
	once = run_line("sleep 60");
	assert_int_equal(once.signal, SIGINT);
	assert_false(command_fine(&once));
	assert_true(WIFSIGNALED(once.wait_status));
	assert_int_equal(WTERMSIG(once.wait_status), SIGINT);
}

static void a_command_that_takes_no_notice_is_killed_with_all_its_children(void **state)
{
	struct command_once once;

	(void)state;
	send_later(SIGTERM, 200);
	once = run_line("sh -c trap_''_TERM_INT;_sleep_60&_sleep_60&_while_:;_do_sleep_1;_done");
	assert_int_equal(once.signal, SIGTERM);
	assert_true(WIFSIGNALED(once.wait_status));
	assert_int_equal(once.left, 0);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	assert_int_equal(errno, ECHILD);
}

/* ---- fields ------------------------------------------------------------------------------------------ */

static void fields_are_whole_lines_in_kib(void **state)
{
	static const char text[] =
	    "Name:\tVmRSS: 1 kB\nVmRSS:\t     132 kB\nVmRSSX: 7 kB\n"
	    "Huge: 18446744073709551615 kB\nThreads:\t1\nVmPTE: x kB\nEnd: 5 kB";
	uint64_t bytes = 7;

	(void)state;
	assert_true(command_field(text, "VmRSS", &bytes));
	assert_int_equal(bytes, 132 * 1024);
	assert_true(command_field(text, "End", &bytes));
	assert_int_equal(bytes, 5 * 1024);
	assert_false(command_field(text, "Vm", &bytes));
	assert_false(command_field(text, "Threads", &bytes));
	assert_false(command_field(text, "VmPTE", &bytes));
	assert_false(command_field(text, "Huge", &bytes));
	assert_false(command_field("", "VmRSS", &bytes));
	assert_int_equal(bytes, 5 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(success_is_fine),
		cmocka_unit_test(an_exit_status_is_passed_on),
		cmocka_unit_test(a_signal_that_killed_it_is_passed_on),
		cmocka_unit_test(what_cannot_be_executed_says_why),
		cmocka_unit_test(a_setting_that_is_not_ready_starts_nothing),
		cmocka_unit_test(input_that_is_not_there_is_an_error_not_a_run),
		cmocka_unit_test(a_child_that_is_gone_before_it_may_begin_is_an_error),
		cmocka_unit_test(no_files_and_no_children_are_left),
		cmocka_unit_test(signals_are_as_before_for_us_and_for_the_command),
		cmocka_unit_test(each_run_gets_the_same_input),
		cmocka_unit_test(gigabytes_of_output_take_no_memory),
		cmocka_unit_test(output_does_not_appear_unless_wanted),
		cmocka_unit_test(each_page_that_is_touched_is_a_fault),
		cmocka_unit_test(children_are_counted),
		cmocka_unit_test(an_orphan_that_ends_in_time_is_counted_and_another_is_said),
		cmocka_unit_test(a_small_bomb_of_children_is_followed),
		cmocka_unit_test(time_is_that_of_the_command),
		cmocka_unit_test(resident_memory_and_page_tables_agree_with_its_own_reading),
		cmocka_unit_test(the_share_on_huge_pages_agrees_with_its_own_reading),
		cmocka_unit_test(a_peak_that_is_over_is_remembered),
		cmocka_unit_test(the_mark_of_resident_memory_is_not_ours),
		cmocka_unit_test(without_looks_there_are_no_figures_of_them),
		cmocka_unit_test(counters_begin_with_the_command_and_follow_its_children),
		cmocka_unit_test(an_event_that_there_is_not_leaves_the_others),
		cmocka_unit_test(an_interrupt_ends_the_command),
		cmocka_unit_test(a_command_that_takes_no_notice_is_killed_with_all_its_children),
		cmocka_unit_test(fields_are_whole_lines_in_kib),
	};

	signals_as_usual();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * once.c - one run, from its start to its end
 *
 * The run ends with the command itself. What it has left behind goes on, and is
 * counted; only if we are told to end is it ended, too.
 *
 * Time and page faults are those that wait4(2) tells of the command and of all it has
 * waited for itself, and of processes that it left and that end before it does; less
 * what the child had used before it became the command. Peak memory is the kernel's
 * high-water mark of one process (ru_maxrss), which survives execve(): where it is no
 * higher than our own child's was, only the looks tell.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "command/internal.h"

enum { GRACE_S = 2, KILL_ROUNDS = 50, OUR_OWN_BYTES = 1 << 20 };

/* ---- until it ends ----------------------------------------------------------------------- */

/** What has ended so far, of the command and its orphans. */
struct used {
	double user_ns, system_ns, minor, major, resident;
	bool command_ended;
	double ended_ns;
};

static double ns_of(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static void add_usage(struct used *used, const struct rusage *usage, int sign)
{
	used->user_ns += sign * ns_of(usage->ru_utime);
	used->system_ns += sign * ns_of(usage->ru_stime);
	used->minor += sign * (double)usage->ru_minflt;
	used->major += sign * (double)usage->ru_majflt;
	if (sign > 0)
		used->resident = fmax(used->resident, (double)usage->ru_maxrss * 1024);
}

static bool is_among(const struct command_pids *pids, pid_t pid)
{
	for (uint32_t p = 0; p < pids->count; p++)
		if (pids->pid[p] == pid)
			return true;
	return false;
}

/** All that have ended by now. @when: it was told. */
static void reap(const struct command_child *child, const struct command_pids *except, double when,
		 struct used *used, int *wait_status)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0 || (pid < 0 && errno == EINTR)) {
		if (pid < 0 || is_among(except, pid))
			continue;
		add_usage(used, &usage, 1);
		if (pid != child->pid)
			continue;
		*wait_status = status;
		used->command_ended = true;
		used->ended_ns = when;
	}
}

static void kill_all(const struct command_pids *except)
{
	struct command_pids tree = { .pid = NULL };

	command_tree(except, &tree);
	for (uint32_t p = 0; p < tree.count; p++)
		kill(tree.pid[p], SIGKILL);
	free(tree.pid);
}

/** We were told to end: first the command may end by itself, then nothing of it stays. */
static void stop(const struct command_child *child, const struct command_pids *except, int signal,
		 struct used *used, int *wait_status)
{
	const struct timespec grace = { .tv_sec = GRACE_S }, moment = { .tv_nsec = 20000000 };
	double began = measure_now_ns();
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	kill(child->pid, signal);
	kill(child->pid, SIGCONT); /* a stopped one would not take notice */
	while (!used->command_ended && measure_now_ns() - began < GRACE_S * 1e9) {
		sigtimedwait(&chld, NULL, &grace);
		reap(child, except, measure_now_ns(), used, wait_status);
	}
	for (int round = 0; round < KILL_ROUNDS; round++) {
		struct command_pids tree = { .pid = NULL };
		uint32_t left;

		command_tree(except, &tree);
		left = tree.count;
		free(tree.pid);
		if (!left && used->command_ended)
			break;
		if (!used->command_ended)
			kill(child->pid, SIGKILL);
		kill_all(except);
		sigtimedwait(&chld, NULL, &moment);
		reap(child, except, measure_now_ns(), used, wait_status);
	}
}

static void wait_for(const struct command_child *child, const struct command_pids *except,
		     struct used *used, struct command_once *out)
{
	while (!used->command_ended) {
		int signal = command_signals_wait();
		double now = measure_now_ns();

		if (signal != SIGCHLD) {
			out->signal = signal;
			stop(child, except, signal, used, &out->wait_status);
			return;
		}
		reap(child, except, now, used, &out->wait_status);
	}
}

/* ---- what came of it ---------------------------------------------------------------------- */

static double at_least_0(double value)
{
	return value > 0 ? value : 0;
}

static void take_usage(const struct command_child *child, struct used *used, double *value)
{
	const struct command_before *before = &child->before;

	add_usage(used, &before->self, -1);
	add_usage(used, &before->children, -1);
	value[COMMAND_WALL] = used->ended_ns - before->now_ns;
	value[COMMAND_USER] = at_least_0(used->user_ns);
	value[COMMAND_SYSTEM] = at_least_0(used->system_ns);
	value[COMMAND_CPU] = at_least_0(used->user_ns + used->system_ns);
	value[COMMAND_MINOR_FAULTS] = at_least_0(used->minor);
	value[COMMAND_MAJOR_FAULTS] = at_least_0(used->major);
	/* The kernel sums up pages in batches: a little more than ours may be ours. */
	if (used->resident > (double)before->self.ru_maxrss * 1024 * 1.1 + OUR_OWN_BYTES)
		value[COMMAND_RESIDENT] = used->resident;
}

static void take_books(const struct command_books *books, struct command_once *out)
{
	double *value = out->value;

	out->looks = books->looks;
	out->look_ns = books->look_ns;
	if (!books->looks)
		return;
	value[COMMAND_TREE_RESIDENT] = books->resident_most;
	value[COMMAND_TABLES] = books->tables_most;
	value[COMMAND_PLACING] = books->placing_ns;
	if (value[COMMAND_RESIDENT] < 0)
		value[COMMAND_RESIDENT] = books->high_water;
	if (books->resident_most > 0)
		value[COMMAND_HUGE] = books->huge_then / books->resident_most;
	if (books->resident_time > 0)
		value[COMMAND_HUGE_MEAN] = books->huge_time / books->resident_time;
}

bool command_fine(const struct command_once *once)
{
	return !once->ready_status && !once->exec_error && !once->signal && !once->wait_status;
}

/** Who is below us already is not the command's: a companion, what an earlier run has left. */
static int find_others(const struct command_child *child, struct command_pids *except)
{
	uint32_t kept = 0;
	int error = command_tree(NULL, except);

	for (uint32_t p = 0; p < except->count; p++)
		if (except->pid[p] != child->pid)
			except->pid[kept++] = except->pid[p];
	except->count = kept;
	return error;
}

static int run_counted(const struct command_want *want, struct command_child *child,
		       const struct command_pids *except, struct command_once *out)
{
	struct command_counters counters = { .events = { .events = 0 } };
	struct command_pids left = { .pid = NULL };
	struct used used = { .user_ns = 0 };
	struct command_faults *faults = NULL;
	struct command_watch watch;
	int error;

	if (want->time_faults)
		out->faults.error = command_faults_begin(child->pid, &faults);
	if (!want->no_counters) {
		counters.events = *command_select();
		command_open(&counters, child->pid, &out->hardware);
	}
	error = command_go(child);
	if (!error && !child->exec_error) {
		command_watch_begin(&watch, want, child->pid, except);
		wait_for(child, except, &used, out);
		command_watch_end(&watch);
		reap(child, except, used.ended_ns, &used, &out->wait_status); /* orphans */
		out->share = command_read(&counters, out->value);
		take_usage(child, &used, out->value);
		take_books(&watch.books, out);
		if (!command_tree(except, &left))
			out->left = left.count;
		free(left.pid);
	}
	if (faults) {
		command_faults_end(faults, &out->faults);
		out->value[COMMAND_FAULT_TIME] = out->faults.ns;
	}
	command_close(&counters);
	return error;
}

int command_once(const struct command_want *want, int setting, struct command_once *out)
{
	struct command_pids except = { .pid = NULL };
	struct command_child child;
	int error;

	*out = (struct command_once){ .share = 1 };
	for (int f = 0; f < COMMAND_FIGURES; f++)
		out->value[f] = -1;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	command_signals_take();
	error = command_spawn(want, setting, &child);
	if (!error && child.pid) {
		error = find_others(&child, &except);
		if (error)
			command_abandon(&child);
		else
			error = run_counted(want, &child, &except, out);
	}
	out->ready_status = child.ready_status;
	out->exec_error = child.exec_error;
	free(except.pid);
	command_signals_give_back();
	return error;
}

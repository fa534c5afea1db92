/* SPDX-License-Identifier: MIT */
/*
 * scanner.c - the thread that looks after what hooks cannot see
 *
 * Heaps that grow by small blocks, arenas of threads, allocators that call the
 * kernel themselves. It is started when there is something large, so that small
 * programs stay without a thread, and again in a child of fork() under the same
 * condition.
 *
 * What a program could notice of a thread, and why it does not:
 *
 *   signals      all are blocked here, so the program's threads get them; the C
 *                library's own, by which setuid() reaches all threads, are not
 *   open files   the first act is a table of its own, empty: no number is taken,
 *                no end of a pipe is held open
 *   directory,   not shared either, so that setns(2) finds nobody beside it
 *   umask
 *   memory       nothing is allocated; one small stack
 *   the end      when all other threads have ended it ends too, and the process
 *                with it, as POSIX has it
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "backend/linux/facts.h"
#include "backend/linux/sys.h"
#include "preload/blocks.h"
#include "preload/maps.h"
#include "preload/preload.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

enum {
	STACK_BYTES = 256 << 10,
	SLOWEST = 64,    /* times the shortest pause */
	PAUSE_TIMES = 4, /* of the processor time of a round, at least */
	ASK_EVERY = 16,
	GROWN_TIMES = 2, /* the threshold: starting up takes some faults, too */
};

enum state { IDLE, STARTING, RUNNING, GONE };

static _Atomic int state; /* enum state */
static _Atomic uint32_t wake, asked;
static _Atomic bool stopping, large_seen;
static pthread_t thread;

_Atomic bool preload_has_forked;

static bool stop_now(void)
{
	return stopping;
}

/* ---- the thread ------------------------------------------------------------------------ */

/** A table of open files of our own, with nothing in it: in one step, so nothing is ever held. */
static int leave_files(void)
{
	int error = (int)HDL_SYS(SYS_close_range, 0, ~0U, CLOSE_RANGE_UNSHARE);

	if (!error)
		HDL_SYS(SYS_unshare, CLONE_FS);
	return error;
}

/** Is nobody left but us? The first thread stays as a zombie until all have ended. */
static bool alone(bool *leader_ended)
{
	char text[512];
	const char *at;
	uint64_t threads = 0;

	*leader_ended = false;
	if (hdl_read_text("/proc/self/stat", text, sizeof(text)) <= 0)
		return false;
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || at[2] != 'Z')
		return false;
	*leader_ended = true;
	/* State is field 3, the count of threads field 20. */
	at += 2;
	for (int field = 3; field < 20 && at; field++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	return at && hdl_number(&at, &threads) && threads <= 2;
}

static void mend(void *ctx, uint64_t start, uint64_t bytes)
{
	struct blocks *blocks = ctx;

	if (!stopping && !blocks_exhausted(blocks))
		blocks_mend(blocks, start, bytes);
}

static const char *in_the_way(enum hd_why why)
{
	switch (why) {
	case HD_WHY_THP_NEVER:
		return "the system says never to transparent huge pages";
	case HD_WHY_THP_OFF:
		return "transparent huge pages are off for this process";
	default:
		return "this kernel has no transparent huge pages";
	}
}

/** Return: was anything done? */
static bool scan_round(struct blocks *blocks, enum hd_why *told)
{
	struct hdl_pages pages;
	enum hd_why why;

	hdl_pages_read(&pages);
	why = hdl_thp_why(&pages);
	if (why != *told) {
		*told = why;
		if (why)
			preload_explain(0, 0, "scan", 0, in_the_way(why), 0);
	}
	if (why)
		return false;
	blocks_begin(blocks);
	maps_each(preload_options.min_bytes, !blocks->can_scan,
		  hdl_mask_count(&preload_options.nodes) > 1 ? blocks_placed_by_others : NULL, mend,
		  blocks);
	if (blocks_exhausted(blocks))
		preload_explain(0, 0, "scan", 0, "too few free huge pages", blocks->error);
	return blocks->collapsed && !blocks_exhausted(blocks);
}

static uint64_t own_cpu_ms(void)
{
	struct timespec used = { 0 };

	HDL_SYS(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&used);
	return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

static void sleep_ms(uint64_t ms, bool wakeable)
{
	struct timespec pause = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	if (wakeable)
		HDL_SYS(SYS_futex, (long)&wake, FUTEX_WAIT_PRIVATE, 0, (long)&pause);
	else
		HDL_SYS(SYS_nanosleep, (long)&pause, 0);
}

static void scan_all(struct blocks *blocks)
{
	uint64_t shortest = preload_options.scan_ms, pause = shortest;
	enum hd_why told = HD_WHY_MET;
	bool leader_ended;

	while (!stopping && !alone(&leader_ended)) {
		uint64_t began = own_cpu_ms(), least;

		if (wake) {
			wake = 0;
			pause = shortest;
		}
		if (scan_round(blocks, &told))
			pause = shortest;
		else if (pause < SLOWEST * shortest)
			pause *= 2;
		least = shortest + PAUSE_TIMES * (own_cpu_ms() - began);
		sleep_ms(least, false);
		if (!stopping && !leader_ended && pause > least)
			sleep_ms(pause - least, true);
	}
}

static void *scanner(void *unused)
{
	struct blocks blocks;
	int error = leave_files();

	(void)unused;
	HDL_SYS(SYS_prctl, PR_SET_NAME, (long)"hashdist");
	if (error) {
		/* In the program's own table nothing may be opened. */
		state = GONE;
		return NULL;
	}
	preload_explain_own_files();
	blocks_open(&blocks, (unsigned)preload_options.huge_shift, stop_now);
	if (blocks.can_collapse)
		scan_all(&blocks);
	else
		preload_explain(0, 0, "scan", 0, "this kernel has no collapse: hooks only", 0);
	state = GONE;
	return NULL;
}

/* ---- its life, seen from the program's threads ------------------------------------------- */

static int create(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int error;

	if (pthread_attr_init(&attr))
		return ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	error = pthread_create(&thread, &attr, scanner, NULL);
	if (error == EINVAL) /* the program's thread memory does not fit beside it */
		error = pthread_create(&thread, NULL, scanner, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return error;
}

static void start(void)
{
	int expected = IDLE, error;

	/* A child of vfork() has our memory, and must leave no thread in it. */
	if (HDL_SYS(SYS_getpid, 0) != preload_pid ||
	    !atomic_compare_exchange_strong(&state, &expected, STARTING))
		return;
	error = preload_options.huge_shift ? create() : ENOSYS;
	if (error) {
		state = GONE;
		preload_explain(0, 0, "scan", 0, "no thread: hooks only", -error);
		return;
	}
	expected = STARTING;
	atomic_compare_exchange_strong(&state, &expected, RUNNING);
}

/**
 * Page faults stand for memory that was touched. That costs one call and opens
 * nothing; the largest resident size will not do, as it is inherited from whoever
 * started us. Asked ever more rarely.
 */
static bool has_grown(void)
{
	uint32_t times = asked++;
	struct rusage usage;

	if (times % ASK_EVERY && times & (times - 1))
		return false;
	return !getrusage(RUSAGE_SELF, &usage) &&
	       ((uint64_t)usage.ru_minflt - preload_base_faults) *
		       (uint64_t)sysconf(_SC_PAGESIZE) >=
		   GROWN_TIMES * preload_options.min_bytes;
}

bool preload_scanner_wanted(bool large, bool inside)
{
	switch (atomic_load(&state)) {
	case IDLE:
		large_seen |= large;
		if (!large_seen && !has_grown())
			return true;
		if (inside)
			return false;
		start();
		return true;
	case RUNNING:
		if (!wake) {
			wake = 1;
			HDL_SYS(SYS_futex, (long)&wake, FUTEX_WAKE_PRIVATE, 1);
		}
		return true;
	default:
		return true;
	}
}

void preload_scanner_forked(void)
{
	state = IDLE;
	wake = asked = 0;
	preload_has_forked = stopping = large_seen = false;
}

void preload_scanner_stop(void)
{
	int was = state;

	if (was == IDLE || HDL_SYS(SYS_getpid, 0) != preload_pid ||
	    atomic_exchange(&stopping, true))
		return;
	wake = 1;
	HDL_SYS(SYS_futex, (long)&wake, FUTEX_WAKE_PRIVATE, 1);
	if (was == RUNNING || was == GONE)
		pthread_join(thread, NULL);
}

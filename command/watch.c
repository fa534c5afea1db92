/* SPDX-License-Identifier: MIT */
/*
 * watch.c - looks at the command's books again and again, in a thread of its own
 *
 * So who waits for the command knows the moment of its end, though a look may take
 * long. Pauses grow: 1, 2, 4 ms, up to the interval, and are never less than
 * LOOK_SHARE times as long as the look before took.
 */
#include <math.h>
#include <time.h>

#include "command/internal.h"

enum { LOOK_SHARE = 20, FIRST_PAUSE_NS = 1000000 };

/** Return: false when it is over. */
static bool pause_for(struct command_watch *watch, double ns)
{
	struct timespec until;
	double at = measure_now_ns() + ns;
	int error = 0;
	bool over;

	until.tv_sec = (time_t)(at / 1e9);
	until.tv_nsec = (long)(at - (double)until.tv_sec * 1e9);
	pthread_mutex_lock(&watch->lock);
	while (!watch->over && !error)
		error = pthread_cond_timedwait(&watch->change, &watch->lock, &until);
	over = watch->over;
	pthread_mutex_unlock(&watch->lock);
	return !over;
}

static void *look_again(void *arg)
{
	struct command_watch *watch = arg;
	double pause = FIRST_PAUSE_NS, took = 0;

	while (pause_for(watch, fmax(pause, took * LOOK_SHARE))) {
		took = command_books_look(&watch->books);
		pause = fmin(pause * 2, watch->interval_ns);
	}
	return NULL;
}

void command_watch_begin(struct command_watch *watch, const struct command_want *want,
			 pid_t command, const struct command_pids *except)
{
	pthread_condattr_t attr;

	command_books_begin(&watch->books, command, except);
	watch->over = watch->started = false;
	if (!want->interval_ms)
		return;
	watch->interval_ns = want->interval_ms * 1e6;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->change, &attr);
	pthread_condattr_destroy(&attr);
	watch->started = !pthread_create(&watch->thread, NULL, look_again, watch);
}

void command_watch_end(struct command_watch *watch)
{
	if (watch->started) {
		pthread_mutex_lock(&watch->lock);
		watch->over = true;
		pthread_cond_signal(&watch->change);
		pthread_mutex_unlock(&watch->lock);
		pthread_join(watch->thread, NULL);
	}
	command_books_end(&watch->books);
}

/* SPDX-License-Identifier: MIT */
/*
 * test-threads.c - many threads, each with tables of its own, and forks among them
 *
 * For a sanitizer of threads above all: the registry is what they share.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hashdist/hashdist.h"
#include "tests/lib/memory.h"

enum { THREADS = 6, ROUNDS = 40, MIB = 1 << 20 };

static atomic_uint wrong;
static _Atomic(void *) shown; /* a table that others may look at */

static void expect(bool fine)
{
	if (!fine)
		atomic_fetch_add(&wrong, 1);
}

static void *hammer(void *ctx)
{
	uint32_t seed = (uint32_t)(uintptr_t)ctx;
	uint32_t random = seed * 2654435761u + 1;

	for (int round = 0; round < ROUNDS; round++) {
		struct hd_want want = { .pages = round & 1 ? HD_PAGES_BASE : HD_PAGES_AUTO,
					.fork = (uint8_t)(round % 3) };
		struct hd_got got;
		size_t bytes;
		void *start;

		random = random * 1664525 + 1013904223;
		bytes = 4096 + (random >> 14);
		expect(hd_alloc(bytes, &want, &start, &got) == 0);
		memory_fill(start, 4096, seed);
		random = random * 1664525 + 1013904223;
		expect(hd_resize(&start, 4096 + (random >> 14), &got) == 0);
		expect(memory_is_filled(start, 4096, seed));
		expect(hd_read_got(start, &got) == 0 && got.bytes >= 4096);
		expect(hd_repair(start, &got) == 0);
		expect(memory_is_filled(start, 4096, seed));
		expect(hd_read_got(shown, &got) == 0 && got.bytes == 2 * MIB);
		if (round % 8 == 0)
			expect(hd_repair(shown, &got) == 0);
		expect(hd_free(start) == 0);
	}
	return NULL;
}

static void all_functions_may_be_called_from_any_thread(void **state)
{
	pthread_t thread[THREADS];
	void *start;

	(void)state;
	assert_int_equal(hd_alloc(2 * MIB, NULL, &start, NULL), 0);
	shown = start;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, hammer, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(wrong, 0);
	assert_int_equal(hd_free(start), 0);
}

static atomic_bool stop;

static void *allocate_on(void *ctx)
{
	(void)ctx;
	while (!stop) {
		struct hd_want want = { .pages = HD_PAGES_BASE, .fork = HD_FORK_DROP };
		void *start;

		expect(hd_alloc(8192, &want, &start, NULL) == 0);
		expect(hd_free(start) == 0);
	}
	return NULL;
}

/* A child of a program with busy threads finds the registry whole and unlocked. */
static void a_child_can_use_the_library_whenever_fork_came(void **state)
{
	pthread_t thread[2];

	(void)state;
#if defined(__SANITIZE_THREAD__)
	return; /* it does not follow threads' children */
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
	return;
#endif
#endif
	stop = false;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, allocate_on, NULL), 0);
	for (int i = 0; i < 30; i++) {
		int status = -1;
		pid_t child = fork();

		if (!child) {
			void *start;

			alarm(20);
			if (hd_alloc(8192, NULL, &start, NULL) || hd_free(start))
				_exit(1);
			_exit(0);
		}
		waitpid(child, &status, 0);
		assert_int_equal(status, 0);
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(wrong, 0);
}

static atomic_uint signals_here, signals_elsewhere;
static pthread_t main_thread;

static void count(int sig)
{
	(void)sig;
	if (pthread_equal(pthread_self(), main_thread))
		atomic_fetch_add(&signals_here, 1);
	else
		atomic_fetch_add(&signals_elsewhere, 1);
}

/* Signals of the program, sent all the time: not one may run on a thread of the library. */
static void threads_that_populate_receive_no_signals(void **state)
{
	struct sigaction action = { .sa_handler = count, .sa_flags = SA_RESTART }, old;
	struct hd_want want = { .threads = 4, .pages = HD_PAGES_LARGE };
	pid_t child, parent = getpid();

	(void)state;
	main_thread = pthread_self();
	sigaction(SIGUSR1, &action, &old);
	child = fork();
	if (!child) {
		alarm(60);
		while (getppid() == parent) {
			kill(parent, SIGUSR1);
			usleep(200);
		}
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		struct hd_got got;
		void *start;

		assert_int_equal(hd_alloc(400 * (size_t)MIB, &want, &start, &got), 0);
		assert_int_equal(got.populated, got.bytes);
		assert_int_equal(hd_free(start), 0);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	sigaction(SIGUSR1, &old, NULL);
	assert_true(signals_here > 0);
	assert_int_equal(signals_elsewhere, 0);
}

static void threads_populate_all_of_it(void **state)
{
	static const uint32_t counts[] = { 0, 1, 2, 7, 256 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct hd_want want = { .threads = counts[i] };
		struct hd_got got;
		void *start;

		assert_int_equal(hd_alloc(300 * (size_t)MIB, &want, &start, &got), 0);
		assert_int_equal(got.populated, got.bytes);
		assert_true(memory_is_zero(start, got.bytes));
		assert_int_equal(hd_free(start), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_functions_may_be_called_from_any_thread),
		cmocka_unit_test(a_child_can_use_the_library_whenever_fork_came),
		cmocka_unit_test(threads_that_populate_receive_no_signals),
		cmocka_unit_test(threads_populate_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

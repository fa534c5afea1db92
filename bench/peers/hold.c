/* SPDX-License-Identifier: MIT */
/*
 * hold.c - keeps other processes off the CPUs while something is measured
 *
 *	hold
 *
 * A thread on every CPU does nothing at the highest ordinary priority; what is measured runs at
 * real-time priority and goes before it. Others keep about one CPU second in a hundred, so that the
 * machine goes on. Prints "done" when all threads run, and ends at the end of its input, or of its
 * parent. Needs root.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { HIGHEST = -20 };

/** Leaves the core to its other thread, where there is one. */
static void rest(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void *hold(void *arg)
{
	(void)arg;
	for (;;)
		rest();
	return NULL;
}

int main(void)
{
	struct sched_param ordinary = { 0 };
	cpu_set_t allowed;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setscheduler(0, SCHED_OTHER, &ordinary) ||
	    setpriority(PRIO_PROCESS, 0, HIGHEST) ||
	    sched_getaffinity(0, sizeof(allowed), &allowed)) {
		fprintf(stderr, "hold: %s\n", strerror(errno));
		return 1;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		pthread_attr_t attr;
		pthread_t thread;
		cpu_set_t one;
		int error;

		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		pthread_attr_init(&attr);
		pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
		error = pthread_create(&thread, &attr, hold, NULL);
		pthread_attr_destroy(&attr);
		if (error) {
			fprintf(stderr, "hold: %s\n", strerror(error));
			return 1;
		}
	}
	puts("done");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

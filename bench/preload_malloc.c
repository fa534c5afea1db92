/* SPDX-License-Identifier: MIT */
/*
 * preload_malloc.c - what a preloaded library costs per call
 *
 * Small blocks are got and given back without touching them; large ones are filled.
 * Prints nanoseconds for each, "SMALL LARGE", for a script that compares runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *(*volatile get)(size_t) = malloc;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double cost(long rounds, size_t bytes, int fill)
{
	double begin = now_ns();

	for (long i = 0; i < rounds; i++) {
		char *block = get(bytes);

		if (fill)
			memset(block, 1, bytes);
		free(block);
	}
	return (now_ns() - begin) / (double)rounds;
}

int main(int argc, char **argv)
{
	size_t large = argc > 1 ? (size_t)atol(argv[1]) : 0;

	if (large)
		printf("%.0f\n", cost(20, large, 1));
	else
		printf("%.3f\n", cost(20000000, 64, 0));
	return 0;
}

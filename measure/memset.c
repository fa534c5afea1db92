/* SPDX-License-Identifier: MIT */
/*
 * memset.c - zero memory that is there already: the limit for getting it zeroed
 */
#include <pthread.h>
#include <string.h>

#include "measure/measure.h"

enum { THREADS_MAX = 256 };

struct part {
	unsigned char *start;
	size_t bytes;
	pthread_t thread;
	bool started;
};

static void *zero(void *arg)
{
	const struct part *part = arg;

	memset(part->start, 0, part->bytes);
	return NULL;
}

void measure_memset(void *start, size_t bytes, uint32_t threads)
{
	struct part part[THREADS_MAX];
	uint32_t parts = threads < THREADS_MAX ? threads : THREADS_MAX;

	for (uint32_t p = 0; p < parts; p++) {
		size_t from = bytes / parts * p;

		part[p] = (struct part){
			.start = (unsigned char *)start + from,
			.bytes = p + 1 < parts ? bytes / parts : bytes - from,
		};
		/* The last part, and what no thread could be had for, is ours. */
		part[p].started =
		    p + 1 < parts && !pthread_create(&part[p].thread, NULL, zero, &part[p]);
	}
	for (uint32_t p = 0; p < parts; p++)
		if (!part[p].started)
			zero(&part[p]);
	for (uint32_t p = 0; p < parts; p++)
		if (part[p].started)
			pthread_join(part[p].thread, NULL);
}

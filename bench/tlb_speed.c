/* SPDX-License-Identifier: MIT */
/*
 * tlb_speed.c - accesses a second that the TLB model takes, on a recorded stream
 *
 *   tlb-speed [-r ROUNDS] [-n ACCESSES] STREAM [PRESET...]
 *
 * STREAM: words of tlb/stream.h, gzip or plain, as bench/gitdiff/gitdiff.py --record writes
 * them. All presets if none is named, in turn, ROUNDS times, in one thread, by the CPU
 * time it took; the median and the range are printed, and the walks, which are the same each time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "tlb/stream.h"

enum { ROUNDS_MAX = 99, PRESETS_MAX = 32 };

struct stream {
	uint64_t *events;
	size_t count, accesses;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "tlb-speed: %s: %s\n", what, why);
	exit(1);
}

static struct stream read_stream(const char *path, size_t accesses_max)
{
	struct stream stream = { 0 };
	gzFile file = gzopen(path, "rb");
	size_t room = 0;
	int bytes = 1;

	if (!file)
		die(path, strerror(errno));
	while (bytes > 0 && stream.accesses < accesses_max) {
		if (stream.count + 65536 > room) {
			room = room ? room * 2 : 1 << 20;
			stream.events = realloc(stream.events, room * sizeof(*stream.events));
			if (!stream.events)
				die(path, "not enough memory; try -n");
		}
		bytes = gzread(file, stream.events + stream.count, 65536 * sizeof(*stream.events));
		for (int i = 0; i < bytes / (int)sizeof(*stream.events); i++) {
			uint64_t event = stream.events[stream.count++];

			if (!hd_tlb_is_event(event))
				die(path, "is no stream of events");
			stream.accesses += hd_tlb_event_what(event) == HD_TLB_EVENT_ACCESS;
		}
	}
	if (bytes < 0)
		die(path, gzerror(file, &bytes));
	if (!stream.accesses)
		die(path, "no access in it");
	gzclose(file);
	return stream;
}

static struct hd_tlb_translation translation(void *context, uint64_t address, int kind)
{
	(void)address, (void)kind;
	return hd_tlb_event_translation(**(const uint64_t **)context);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double replay(const struct stream *stream, const struct hd_tlb_geometry *geometry,
		     struct hd_tlb_counts *counts)
{
	const uint64_t *at = stream->events, *end = at + stream->count;
	size_t bytes = hd_tlb_bytes(geometry);
	void *memory = malloc(bytes);
	static struct hd_tlb tlb;
	double start;

	if (!memory)
		die(geometry->name, strerror(ENOMEM));
	hd_tlb_init(
	    &tlb,
	    &(struct hd_tlb_config){ .geometry = geometry, .walk = translation, .context = &at },
	    memory, bytes);
	start = seconds();
	for (; at < end; at++)
		hd_tlb_replay_event(&tlb, *at);
	start = seconds() - start;
	*counts = hd_tlb_read_counts(&tlb);
	free(memory);
	return start;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const struct hd_tlb_geometry *geometry, double *took, int rounds, size_t accesses,
		  const struct hd_tlb_counts *counts)
{
	double millions = (double)accesses / 1e6;

	qsort(took, (size_t)rounds, sizeof(*took), by_size);
	printf(
	    "%-14s %8.0f %8.0f-%-8.0f %12" PRIu64 " %12" PRIu64 " %8.3f\n", geometry->name,
	    millions / took[rounds / 2], millions / took[rounds - 1], millions / took[0],
	    counts->walks[HD_TLB_LOAD], counts->walks[HD_TLB_STORE],
	    100.0 *
		(double)(accesses - counts->hits[0][HD_TLB_LOAD] - counts->hits[0][HD_TLB_STORE]) /
		(double)accesses);
}

int main(int argc, char **argv)
{
	static double took[PRESETS_MAX][ROUNDS_MAX];
	const struct hd_tlb_geometry *presets[PRESETS_MAX];
	struct hd_tlb_counts counts[PRESETS_MAX];
	size_t limit = SIZE_MAX, count = 0;
	struct stream stream;
	int option, rounds = 5;

	while ((option = getopt(argc, argv, "r:n:")) != -1) {
		if (option == 'r')
			rounds = atoi(optarg);
		else if (option == 'n')
			limit = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (optind == argc || rounds < 1 || rounds > ROUNDS_MAX)
		die("usage", "tlb-speed [-r ROUNDS] [-n ACCESSES] STREAM [PRESET...]");
	stream = read_stream(argv[optind], limit);
	for (int i = optind + 1; i < argc && count < PRESETS_MAX; i++)
		if (!(presets[count++] = hd_tlb_preset_named(argv[i])))
			die(argv[i], "no such preset");
	if (!count)
		while (count < PRESETS_MAX && (presets[count] = hd_tlb_preset((unsigned)count)))
			count++;

	/* The first look at so much memory is slow, whoever looks. */
	replay(&stream, presets[0], &counts[0]);
	for (int r = 0; r < rounds; r++)
		for (size_t i = 0; i < count; i++)
			took[i][r] = replay(&stream, presets[i], &counts[i]);
	printf("%zu accesses, %d rounds\n%-14s %8s %17s %12s %12s %8s\n", stream.accesses, rounds,
	       "preset", "M/s", "range", "load walks", "store walks", "L1 miss %");
	for (size_t i = 0; i < count; i++)
		print(presets[i], took[i], rounds, stream.accesses, &counts[i]);
	free(stream.events);
	return 0;
}

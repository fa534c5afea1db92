/* SPDX-License-Identifier: MIT */
/*
 * measure.c - one way of getting memory, once, in a process that has done nothing before
 *
 *	peers-plain [--threads N] [--repair] METHOD BYTES
 *
 * Prints one line of JSON: seconds until the memory is zeroed and ready, seconds of one memset()
 * over it, and what the kernel's books say: page faults (getrusage), page tables (VmPTE), memory
 * on huge pages (smaps, anonymous and hugetlb), resident memory. With --repair it prints "ready"
 * first and waits for a line before it repairs. Without arguments it lists its methods.
 *
 * Nothing is written to the memory but zeroes until its books have been read. Then every page is
 * looked at and touched: a method that hands out memory that is not zero has failed, and one that
 * leaves page faults for later ("late_faults") was not ready.
 */
#include "bench/peers/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { BASE_PAGE = 4096, LARGE_PAGE = 2 << 20, THREADS_MAX = 64, PASSES = 5 };

/* ---- for the methods --------------------------------------------------------------- */

void touch(void *start, size_t bytes, size_t step)
{
	volatile char *at = start;

	for (size_t i = 0; i < bytes; i += step)
		at[i] = 0;
}

void *map_aligned(size_t bytes)
{
	char *map, *start;

	map = mmap(NULL, bytes + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	start = map + (-(uintptr_t)map & (LARGE_PAGE - 1));
	if (start > map)
		munmap(map, (size_t)(start - map));
	munmap(start + bytes, (size_t)(map + LARGE_PAGE - start));
	return start;
}

/** A line "NAME: 123 kB" of a file below /proc, in bytes; 0 if there is none. */
static size_t proc_bytes(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char line[256];
	size_t kib = 0, len = strlen(name);

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, name, len) == 0 && line[len] == ':') {
			kib = strtoul(line + len + 1, NULL, 10);
			break;
		}
	fclose(file);
	return kib << 10;
}

size_t default_hugetlb_bytes(void)
{
	return proc_bytes("/proc/meminfo", "Hugepagesize");
}

/* ---- the kernel's books ------------------------------------------------------------ */

/**
 * Of the range, on huge pages of any kind. A mapping that reaches beyond the range may have them
 * there: no more of it is counted than lies within.
 */
static size_t huge_bytes(const void *start, size_t bytes)
{
	static const char *const names[] = { "AnonHugePages", "Private_Hugetlb", "Shared_Hugetlb",
					     "ShmemPmdMapped" };
	uintptr_t first = (uintptr_t)start, end = first + bytes;
	FILE *file = fopen("/proc/self/smaps", "re");
	size_t within = 0, huge = 0, sum = 0;
	char line[512];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		uintptr_t from, to;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
			sum += huge < within ? huge : within;
			huge = 0;
			from = from > first ? from : first;
			to = to < end ? to : end;
			within = from < to ? to - from : 0;
			continue;
		}
		for (size_t i = 0; within && i < sizeof(names) / sizeof(names[0]); i++) {
			size_t len = strlen(names[i]);

			if (strncmp(line, names[i], len) == 0 && line[len] == ':')
				huge += strtoul(line + len + 1, NULL, 10) << 10;
		}
	}
	sum += huge < within ? huge : within;
	fclose(file);
	return sum;
}

struct used {
	long minor, major;  /* page faults */
	double cpu_seconds; /* of all threads */
};

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static struct used read_used(void)
{
	struct rusage use = { 0 };

	getrusage(RUSAGE_SELF, &use);
	return (struct used){ .minor = use.ru_minflt,
			      .major = use.ru_majflt,
			      .cpu_seconds = seconds(use.ru_utime) + seconds(use.ru_stime) };
}

/* ---- time ----------------------------------------------------------------------- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct part {
	pthread_t thread;
	char *start;
	size_t bytes, step;
	int byte;
};

static void *write_part(void *arg)
{
	void *(*volatile set)(void *, int, size_t) = memset;
	struct part *part = arg;

	for (size_t at = 0; at < part->bytes; at += part->step)
		set(part->start + at, part->byte,
		    part->bytes - at < part->step ? part->bytes - at : part->step);
	return NULL;
}

/** Seconds of one memset() over all of it, dealt to threads; starting them is part of it. */
static double write_over(void *start, size_t bytes, unsigned threads, int byte, size_t step)
{
	struct part parts[THREADS_MAX] = { 0 };
	size_t share = (bytes / threads + BASE_PAGE - 1) / BASE_PAGE * BASE_PAGE;
	double begin = now();

	for (unsigned t = 0; t < threads; t++) {
		size_t from = share * t < bytes ? share * t : bytes;
		size_t len = bytes - from < share ? bytes - from : share;

		parts[t] = (struct part){ .start = (char *)start + from,
					  .bytes = t + 1 < threads ? len : bytes - from,
					  .step = step ? step : bytes,
					  .byte = byte };
		if (t && pthread_create(&parts[t].thread, NULL, write_part, &parts[t])) {
			write_part(&parts[t]);
			parts[t].bytes = 0;
		}
	}
	write_part(&parts[0]);
	for (unsigned t = 1; t < threads; t++)
		if (parts[t].bytes)
			pthread_join(parts[t].thread, NULL);
	return now() - begin;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** The limit: one pass takes up to a third more or less than the next, so the median of some. */
static double write_over_again(void *start, size_t bytes, unsigned threads, size_t step)
{
	double pass[PASSES];

	write_over(start, bytes, threads, 0, step);
	for (int i = 0; i < PASSES; i++)
		pass[i] = write_over(start, bytes, threads, 0, step);
	qsort(pass, PASSES, sizeof(pass[0]), by_size);
	return pass[PASSES / 2];
}

/** One word of every page. */
static bool is_zero(const void *start, size_t bytes)
{
	const volatile char *at = start;

	for (size_t i = 0; i < bytes; i += BASE_PAGE)
		if (at[i])
			return false;
	return true;
}

/* ---- one measurement ------------------------------------------------------------- */

static int failed(const char *method, const char *what, int error)
{
	printf("{\"method\":\"%s\",\"error\":\"%s: %s\"}\n", method, what, strerror(error));
	return 1;
}

static int measure(const struct method *method, size_t bytes, unsigned threads, bool repair)
{
	size_t tables = proc_bytes("/proc/self/status", "VmPTE"), huge, mended = 0, claim = 0;
	double ready, pass, repair_seconds = 0;
	struct used before, after, last;
	void *start = NULL;
	bool zero;
	int error;

	/* Reading the clock takes page faults too, the first time. */
	now();
	before = read_used();
	ready = now();
	error = method->get(bytes, threads, &start);
	ready = now() - ready;
	if (error)
		return failed(method->name, "could not be had", -error);
	if (method->over) {
		before = read_used();
		ready = write_over_again(start, bytes, threads, method->step);
	}
	after = read_used();
	tables = proc_bytes("/proc/self/status", "VmPTE") - tables;
	huge = mended = huge_bytes(start, bytes);
	if (method->claim)
		claim = method->claim(start);
	if (repair) {
		char line[16];

		if (!method->repair)
			return failed(method->name, "repair", ENOSYS);
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return failed(method->name, "told to end before the repair", ECANCELED);
		repair_seconds = now();
		error = method->repair(start);
		repair_seconds = now() - repair_seconds;
		if (error)
			return failed(method->name, "repair", -error);
		mended = huge_bytes(start, bytes);
	}

	last = read_used();
	zero = is_zero(start, bytes);
	touch(start, bytes, BASE_PAGE);
	last.minor = read_used().minor - last.minor;
	pass = write_over(start, bytes, threads, 0x5a, 0);

	printf("{\"method\":\"%s\",\"bytes\":%zu,\"threads\":%u,\"ready_s\":%.6f,\"ready_cpu_s\":%."
	       "6f,\"pass_s\":%.6f,"
	       "\"minor_faults\":%ld,\"major_faults\":%ld,\"late_faults\":%ld,"
	       "\"page_table_bytes\":%zu,\"huge_bytes\":%zu,\"rss_bytes\":%zu,\"zero\":%s",
	       method->name, bytes, threads, ready, after.cpu_seconds - before.cpu_seconds, pass,
	       after.minor - before.minor, after.major - before.major, last.minor, tables, huge,
	       proc_bytes("/proc/self/status", "VmRSS") +
		   proc_bytes("/proc/self/status", "HugetlbPages"),
	       zero ? "true" : "false");
	if (method->claim)
		printf(",\"claimed_huge_bytes\":%zu", claim);
	if (repair)
		printf(",\"repair_s\":%.6f,\"repaired_huge_bytes\":%zu", repair_seconds, mended);
	puts("}");
	return zero ? 0 : 1;
}

static int usage(void)
{
	fputs("usage: peers-... [--threads N] [--repair] METHOD BYTES\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const struct method *method = methods;
	unsigned long threads = 1;
	bool repair = false;
	size_t bytes;
	int i = 1;

	if (argc == 1) {
		for (; method->name; method++)
			puts(method->name);
		return 0;
	}
	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--repair") == 0)
			repair = true;
		else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
			threads = strtoul(argv[++i], NULL, 10);
		else
			return usage();
	}
	if (argc - i != 2 || threads < 1 || threads > THREADS_MAX)
		return usage();
	bytes = strtoull(argv[i + 1], NULL, 10);
	if (!bytes || bytes % LARGE_PAGE) {
		fputs("peers: BYTES is a multiple of 2 MiB\n", stderr);
		return 2;
	}
	while (method->name && strcmp(method->name, argv[i]) != 0)
		method++;
	if (!method->name) {
		fprintf(stderr, "peers: no method %s here\n", argv[i]);
		return 2;
	}
	return measure(method, bytes, (unsigned)threads, repair);
}

/* SPDX-License-Identifier: MIT */
/*
 * holder.c - gets memory in one way, fills it, and holds it while it is looked at
 *
 *   holder WAY [MIB]   prints "START BYTES", waits for the end of standard input
 *
 * Each way is a row of the table at the end; exit status 0, or 9 when the memory
 * lost its contents meanwhile.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct held {
	char *start; /* NULL: in pieces */
	size_t bytes;
	int empty; /* nothing was written to it */
};

static void fill(struct held *held)
{
	for (size_t at = 0; at < held->bytes; at += 512)
		held->start[at] = (char)(at / 512 % 127 + 1);
}

static int is_whole(const struct held *held)
{
	for (size_t at = 0; !held->empty && held->start && at < held->bytes; at += 512)
		if (held->start[at] != (char)(at / 512 % 127 + 1))
			return 0;
	return 1;
}

/* The compiler must not see through these. */
static void *(*volatile get)(size_t) = malloc;

static void by_malloc(struct held *held)
{
	held->start = get(held->bytes);
	fill(held);
}

static void by_calloc(struct held *held)
{
	held->start = calloc(held->bytes / 64, 64);
	fill(held);
}

static void by_realloc(struct held *held)
{
	held->start = realloc(get(1000), held->bytes);
	fill(held);
}

static void by_reallocarray(struct held *held)
{
	held->start = reallocarray(NULL, held->bytes / 64, 64);
	fill(held);
}

static void by_posix_memalign(struct held *held)
{
	void *block = NULL;

	if (posix_memalign(&block, 4096, held->bytes))
		exit(8);
	held->start = block;
	fill(held);
}

static void by_aligned_alloc(struct held *held)
{
	held->start = aligned_alloc(64, held->bytes);
	fill(held);
}

static void by_memalign(struct held *held)
{
	held->start = memalign(1 << 16, held->bytes);
	fill(held);
}

static char *map(size_t bytes, int prot, int flags)
{
	char *at = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (at == MAP_FAILED)
		exit(8);
	return at;
}

static void by_mmap(struct held *held)
{
	held->start = map(held->bytes, PROT_READ | PROT_WRITE, 0);
	fill(held);
}

static void by_fixed(struct held *held)
{
	held->start = map(held->bytes, PROT_NONE, MAP_NORESERVE);
	held->start = mmap(held->start, held->bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	fill(held);
}

/** As an allocator of its own: reserved in one piece, opened bit by bit. */
static void by_mprotect(struct held *held)
{
	held->start = map(held->bytes, PROT_NONE, MAP_NORESERVE);
	for (size_t at = 0; at < held->bytes; at += 1 << 20)
		mprotect(held->start + at, 1 << 20, PROT_READ | PROT_WRITE);
	fill(held);
	for (int i = 0; i < 100000; i++)
		free(get(100));
}

static void by_small(struct held *held)
{
	for (size_t at = 0; at < held->bytes; at += 112)
		memset(get(100), 1, 100);
	held->start = NULL;
}

static void *small_in_thread(void *ctx)
{
	by_small(ctx);
	pause();
	return NULL;
}

static void by_threads(struct held *held)
{
	struct held *part = calloc(1, sizeof(*part));
	pthread_t thread;

	part->bytes = held->bytes / 2;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, small_in_thread, part))
			exit(8);
}

static void by_slabs(struct held *held)
{
	for (size_t at = 0; at < held->bytes; at += 1 << 20)
		memset(get(1 << 20), 1, 1 << 20);
	held->start = NULL;
}

static void by_sparse(struct held *held)
{
	held->start = calloc(held->bytes, 1);
	held->empty = 1;
	memset(held->start, 1, 1 << 20);
}

/** With a plan of its own: whole huge pages, the upper half of them on node 1. */
static void by_bound(struct held *held)
{
	enum { HUGE_BYTES = 2 << 20, BIND = 2, MASK_BITS = 65 };
	char *at = map(held->bytes + HUGE_BYTES, PROT_READ | PROT_WRITE, 0);
	unsigned long node_1 = 1UL << 1;

	held->start = at + (-(uintptr_t)at & (HUGE_BYTES - 1));
	if (syscall(SYS_mbind, held->start + held->bytes / 2, held->bytes / 2, BIND, &node_1,
		    MASK_BITS, 0))
		exit(8);
	fill(held);
}

static void by_refused(struct held *held)
{
	held->start = map(held->bytes, PROT_READ | PROT_WRITE, 0);
	madvise(held->start, held->bytes, MADV_NOHUGEPAGE);
	fill(held);
}

static void by_shared(struct held *held)
{
	held->start =
	    mmap(NULL, held->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fill(held);
}

static void by_code(struct held *held)
{
	held->start = map(held->bytes, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
	fill(held);
}

static void by_file(struct held *held)
{
	FILE *file = tmpfile();

	if (!file || ftruncate(fileno(file), (off_t)held->bytes))
		exit(8);
	held->start = mmap(NULL, held->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
	fill(held);
}

/* A library's, from before main() and before the preloaded library is initialized. */
extern char *early_block;

static void by_early(struct held *held)
{
	held->start = early_block;
	fill(held);
}

static const struct {
	const char *name;
	void (*get)(struct held *held);
} ways[] = {
	{ "malloc", by_malloc },
	{ "calloc", by_calloc },
	{ "realloc", by_realloc },
	{ "reallocarray", by_reallocarray },
	{ "posix_memalign", by_posix_memalign },
	{ "aligned_alloc", by_aligned_alloc },
	{ "memalign", by_memalign },
	{ "mmap", by_mmap },
	{ "fixed", by_fixed },
	{ "mprotect", by_mprotect },
	{ "small", by_small },
	{ "threads", by_threads },
	{ "slabs", by_slabs },
	{ "sparse", by_sparse },
	{ "bound", by_bound },
	{ "refused", by_refused },
	{ "shared", by_shared },
	{ "code", by_code },
	{ "file", by_file },
	{ "early", by_early },
};

enum { DEFAULT_MIB = 32 };

int main(int argc, char **argv)
{
	struct held held = { .bytes = (size_t)(argc > 2 ? atoi(argv[2]) : DEFAULT_MIB) << 20 };

	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		char byte;

		if (strcmp(ways[i].name, argv[1]))
			continue;
		ways[i].get(&held);
		printf("%lx %zu\n", (unsigned long)held.start, held.bytes);
		fflush(stdout);
		while (read(STDIN_FILENO, &byte, 1) > 0)
			continue;
		return is_whole(&held) ? 0 : 9;
	}
	return 2;
}

/* SPDX-License-Identifier: MIT */
/*
 * fragment.c - leaves free memory in pieces, and holds it like that
 *
 *	fragment [--pin] PIECES_BYTES
 *
 *	 all that is free
 *	|#################### ballast ####################|. . . . . . . pieces . . . . . . . .|
 *
 * Takes all free memory but PIECES_BYTES, and then does as lines of its input say, each answered
 * by "done":
 *
 *	break  take what is free as base pages and give back all but one in every 256 KiB: as much is
 *	       free then, and next to none of it in blocks of 2 MiB
 *	half   give back half of the pages that stayed, so that blocks can become whole again
 *	mend   give back all of them
 *
 * The kernel can move the pages that stay, and thus make room for huge pages at some cost. With
 * --pin it cannot (their frames wait in pipes), as it cannot with those that drivers hold.
 *
 * Ends at the end of its input, or of its parent, and is the first to be killed when memory runs
 * out.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
	BASE_PAGE = 4096,
	KEPT_EVERY = 256 << 10,
	PIPE_BYTES = 1 << 20,
	PIPE_PAGES = PIPE_BYTES / BASE_PAGE,
	PIPES_MAX = 512,
	STEP = 64 << 20,
};

/** What stays free of whole blocks: less than this and the machine would not move any more. */
static const size_t spare = (size_t)128 << 20;

static int pipes[PIPES_MAX][2];
static unsigned pipe_count;

static void die(const char *what)
{
	fprintf(stderr, "fragment: %s: %s\n", what, strerror(errno));
	exit(1);
}

static size_t free_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	size_t kib = 0;

	if (!file)
		die("/proc/meminfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemFree: %zu", &kib) == 1)
			break;
	fclose(file);
	return kib << 10;
}

static char *reserve(size_t bytes, int advice)
{
	char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED || madvise(start, bytes, advice))
		die("reserving memory");
	return start;
}

static void unmap(char *start, const char *end)
{
	if (start < end && munmap(start, (size_t)(end - start)))
		die("giving memory back");
}

/** Populates [*at, end) until no more than @leave is free. */
static void fill(char **at, const char *end, size_t leave)
{
	while (*at < end && free_bytes() > leave + STEP) {
		size_t bytes = (size_t)(end - *at) < STEP ? (size_t)(end - *at) : STEP;

		if (madvise(*at, bytes, MADV_POPULATE_WRITE))
			die("filling memory");
		*at += bytes;
	}
}

/** The frame of a page in a pipe is in use until the pipe is read or closed. */
static void pin(char *page, size_t index)
{
	struct iovec piece = { .iov_base = page, .iov_len = BASE_PAGE };

	if (index % PIPE_PAGES == 0) {
		if (pipe_count == PIPES_MAX || pipe2(pipes[pipe_count], O_CLOEXEC) ||
		    fcntl(pipes[pipe_count][1], F_SETPIPE_SZ, PIPE_BYTES) < 0)
			die("a pipe to pin pages with");
		pipe_count++;
	}
	if (vmsplice(pipes[pipe_count - 1][1], &piece, 1, 0) != BASE_PAGE)
		die("pinning a page");
}

struct pieces {
	char *start, *end;
	bool pinned;
};

static void release(struct pieces *p)
{
	for (unsigned i = 0; i < pipe_count; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	pipe_count = 0;
	unmap(p->start, p->end);
	p->start = p->end = NULL;
}

static void make(struct pieces *p)
{
	size_t whole, index = 0;

	release(p);
	whole = free_bytes() / KEPT_EVERY * KEPT_EVERY + KEPT_EVERY;
	p->start = p->end = reserve(whole, MADV_NOHUGEPAGE);
	fill(&p->end, p->start + whole, spare);
	unmap(p->end, p->start + whole);
	for (char *at = p->start; at < p->end; at += KEPT_EVERY) {
		if (p->pinned)
			pin(at, index++);
		if (madvise(at + BASE_PAGE, KEPT_EVERY - BASE_PAGE, MADV_DONTNEED))
			die("giving pages back");
	}
}

/** The second half. Pages were pinned in the order of their addresses. */
static void halve(struct pieces *p)
{
	size_t half = (size_t)(p->end - p->start) / 2 / STEP * STEP;
	unsigned keep = (unsigned)(half / KEPT_EVERY / PIPE_PAGES);

	while (pipe_count > keep) {
		pipe_count--;
		close(pipes[pipe_count][0]);
		close(pipes[pipe_count][1]);
	}
	unmap(p->start + half, p->end);
	p->end = p->start + half;
}

static void volunteer(void)
{
	FILE *score = fopen("/proc/self/oom_score_adj", "we");

	if (!score)
		return;
	fputs("1000", score);
	fclose(score);
}

int main(int argc, char **argv)
{
	struct pieces pieces = { .pinned = argc > 1 && strcmp(argv[1], "--pin") == 0 };
	size_t bytes, whole;
	char *end, line[16];

	if (argc - pieces.pinned != 2) {
		fputs("usage: fragment [--pin] PIECES_BYTES\n", stderr);
		return 2;
	}
	bytes = strtoull(argv[1 + pieces.pinned], NULL, 10);
	whole = free_bytes() / STEP * STEP;
	if (!bytes || whole < bytes + spare) {
		fprintf(stderr, "fragment: %zu MiB are free, this needs %zu\n", whole >> 20,
			(bytes + spare) >> 20);
		return 1;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	volunteer();
	end = reserve(whole, MADV_HUGEPAGE);
	fill(&end, end + whole, bytes + spare);
	do {
		puts("done");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		if (strcmp(line, "break\n") == 0)
			make(&pieces);
		else if (strcmp(line, "half\n") == 0)
			halve(&pieces);
		else if (strcmp(line, "mend\n") == 0)
			release(&pieces);
		else
			break;
	} while (true);
	fprintf(stderr, "fragment: what is \"%.14s\"?\n", line);
	return 2;
}

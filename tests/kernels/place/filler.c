/* SPDX-License-Identifier: MIT */
/*
 * filler.c - another process that takes a node's memory, or leaves it in small pieces
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "tests/kernels/place/place.h"

enum { FILLERS = 4 };

static pid_t running[FILLERS];
static int pagemap; /* of the filler's own memory */

/** A page that lies in a pipe too cannot be moved. Return: whether it does. */
static bool pin(char *page)
{
	enum { PIPE_BYTES = 1 << 20 };
	static int ends[2], room;
	struct iovec piece = { page, PAGE };

	if (!room && (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) < 0))
		die("pipe", "");
	room = room ? room - 1 : PIPE_BYTES / PAGE - 1;
	return vmsplice(ends[1], &piece, 1, SPLICE_F_NONBLOCK) == PAGE;
}

/** Nearly all of it goes back, but one frame in 64 stays where it is: pinned before others go. */
static void thin_out(char *memory, uint64_t bytes)
{
	enum { KEEP = 64 };
	uint64_t frame[BLOCK_PAGES], pages = bytes / PAGE;
	bool *kept = calloc(pages, sizeof(*kept));

	for (uint64_t at = 0; at < pages; at++) {
		if (at % BLOCK_PAGES == 0 &&
		    pread(pagemap, frame, sizeof(frame),
			  (off_t)(((uintptr_t)memory / PAGE + at) * sizeof(*frame))) < 0)
			die("cannot read", "pagemap");
		if (frame[at % BLOCK_PAGES] % KEEP == 0)
			kept[at] = pin(memory + at * PAGE);
	}
	for (uint64_t at = 0, end; at < pages; at = end + 1) {
		for (end = at; end < pages && !kept[end]; end++)
			;
		if (end > at)
			madvise(memory + at * PAGE, (end - at) * PAGE, MADV_DONTNEED);
	}
	free(kept);
}

/** What is left of whole blocks on this node: until many in a row are not to be had. */
static char *take_huge(int node, uint64_t *size)
{
	uint64_t room = node_free(node), block = BLOCK_PAGES * (uint64_t)PAGE, frame;
	unsigned long bits = 1UL << node;
	char *memory = mmap(NULL, room + block, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int missed = 0; /* in a row */

	memory += -(uintptr_t)memory & (block - 1);
	if (syscall(SYS_mbind, memory, room, 2 /* MPOL_BIND */, &bits, NODES + 1, 0))
		die("filler", "mbind");
	madvise(memory, room, MADV_HUGEPAGE);
	for (uint64_t at = 0; at + block <= room && missed < 16; at += block) {
		memory[at] = 1;
		if (pread(pagemap, &frame, sizeof(frame),
			  (off_t)(((uintptr_t)memory + at + PAGE) / PAGE * sizeof(frame))) !=
		    sizeof(frame))
			die("cannot read", "pagemap");
		missed = frame >> 63 ? 0 : missed + 1;
	}
	*size = room;
	return memory;
}

/** Base pages until so much of the node is left. Return: their bytes. */
static uint64_t take_base(int node, uint64_t leave, char **start)
{
	enum { STEP = 1 << 20 };
	unsigned long bits = 1UL << node;
	uint64_t room = node_free(node), bytes = 0, here;
	char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	madvise(memory, room, MADV_NOHUGEPAGE);
	if (memory == MAP_FAILED ||
	    syscall(SYS_mbind, memory, room, 2 /* MPOL_BIND */, &bits, NODES + 1, 0))
		die("filler", "mbind");
	while ((here = node_free(node)) > leave + STEP && bytes < room) {
		uint64_t end = bytes + (here - leave) / 2 / PAGE * PAGE;

		for (; bytes < end && bytes < room; bytes += PAGE)
			memory[bytes] = 1;
	}
	*start = memory;
	return bytes;
}

/** The kernel compacts while we work: once more, if whole blocks are left that we could take. */
static void shatter(int node, uint64_t leave)
{
	uint64_t least = node_free(node) / 2, size;
	char *memory;

	for (int tries = 0; tries < 5; tries++) {
		uint64_t bytes = take_base(node, leave, &memory);

		thin_out(memory, bytes);
		memory = take_huge(node, &size);
		if (node_free(node) >= least)
			return;
		munmap(memory, size);
	}
	errno = ENOMEM;
	die("cannot be fragmented:", "a node");
}

static void filler(int node, uint64_t leave, bool fragment, int ready)
{
	char *memory;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	if (fragment)
		shatter(node, leave);
	else
		take_base(node, leave, &memory);
	if (write(ready, "", 1) != 1)
		exit(2);
	for (;;)
		pause();
}

void filler_start(const char *text, bool fragment)
{
	int ready[2], node = atoi(text), which = 0;
	const char *leave = strchr(text, ':');
	char byte;

	fflush(stdout);
	while (running[which])
		which++;
	if (!leave || pipe(ready))
		die("fill", text);
	running[which] = fork();
	if (!running[which]) {
		close(ready[0]);
		filler(node, size_of(leave + 1), fragment, ready[1]);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("the filler did not fill", text);
	close(ready[0]);
}

void filler_end(void)
{
	int lost = 0, status;

	if (!running[0])
		return;
	for (int i = 0; i < FILLERS && running[i]; i++) {
		lost += waitpid(running[i], &status, WNOHANG) != 0;
		kill(running[i], SIGKILL);
		waitpid(running[i], &status, 0);
		running[i] = 0;
	}
	begin_event("unfill", lost ? -ESRCH : 0);
	end_event();
}

/* SPDX-License-Identifier: MIT */
/*
 * target.c - a process with just the mappings that a test wants to look at
 *
 *   process-target WORD...
 *
 *   anon|shared|memfd|sysv|hugetlb|heap|stack|file=SIZE[,OPTION]...   make a mapping; SIZE in MiB
 *       advise, refuse    huge page advice for and against; part: of its lower half only
 *       touch, read       all of it; half: the lower half; sparse: one page of each 2 MiB
 *       skew              begins one page behind a multiple of 2 MiB
 *       collapse          each 2 MiB of it by force
 *       nodes=MODE:MASK   a policy by number before it is touched; stripe: nodes 0 and 1 in
 *                         turn, a mapping for each 2 MiB; move=NODE: all of it, afterwards
 *       pin               pinned, as for a device, by io_uring
 *       name=TEXT         where this kernel gives names
 *   many=COUNT            so many small mappings
 *   thp-off, undumpable, task=MODE:MASK, fork, uid=N, comm=NAME      of the process, in order
 *
 * Prints "KIND START BYTES" for each, then "ready", and ends when standard input does.
 * What a kernel refuses ends it with status 77 and a line that says what.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define HUGE_BYTES (2UL << 20)

struct wish {
	unsigned long bytes;
	int advise, part, collapse, skew, stripe, mode, move, pin;
	unsigned long mask;
	const char *touch, *name;
};

static void need(int ok, const char *what)
{
	if (ok)
		return;
	printf("lacks %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(77);
}

static void take_option(struct wish *wish, const char *option)
{
	char *end;

	if (!strcmp(option, "advise") || !strcmp(option, "refuse"))
		wish->advise = *option == 'a' ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
	else if (!strcmp(option, "part"))
		wish->part = 1;
	else if (!strcmp(option, "collapse"))
		wish->collapse = 1;
	else if (!strcmp(option, "skew"))
		wish->skew = 1;
	else if (!strcmp(option, "pin"))
		wish->pin = 1;
	else if (!strcmp(option, "stripe"))
		wish->stripe = 1;
	else if (!strncmp(option, "name=", 5))
		wish->name = option + 5;
	else if (!strncmp(option, "move=", 5))
		wish->move = atoi(option + 5);
	else if (!strncmp(option, "nodes=", 6)) {
		wish->mode = (int)strtol(option + 6, &end, 10);
		wish->mask = strtoul(end + 1, NULL, 16);
	} else
		wish->touch = option;
}

/** Address space that begins at a multiple of 2 MiB, or a page behind one. */
static char *place(const struct wish *wish)
{
	char *at = mmap(NULL, wish->bytes + 3 * HUGE_BYTES, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	need(at != MAP_FAILED, "address space");
	munmap(at, wish->bytes + 3 * HUGE_BYTES);
	at = (char *)(((uintptr_t)at + 2 * HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
	return at + (wish->skew ? 4096 : 0);
}

static void *sleep_on_stack(void *bytes)
{
	volatile char here[4096];

	memset((char *)(uintptr_t)here, 1, sizeof(here));
	printf("stack %lx %lx\n", (unsigned long)(uintptr_t)here & ~4095UL,
	       *(unsigned long *)bytes);
	fflush(stdout);
	*(unsigned long *)bytes = 0;
	for (;;)
		pause();
	return NULL;
}

static void make_stack(const struct wish *wish)
{
	static volatile unsigned long bytes;
	pthread_attr_t attr;
	pthread_t thread;

	bytes = wish->bytes;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, wish->bytes);
	need(!pthread_create(&thread, &attr, sleep_on_stack, (void *)&bytes), "a thread");
	while (bytes)
		usleep(1000);
}

static char *make(const char *kind, const struct wish *wish)
{
	int prot = PROT_READ | PROT_WRITE, flags = MAP_FIXED, fd = -1;
	char *at = place(wish);

	if (!strcmp(kind, "heap")) {
		at = sbrk((intptr_t)wish->bytes);
		need(at != (char *)-1, "brk");
		return at;
	}
	if (!strcmp(kind, "sysv")) {
		int id = shmget(IPC_PRIVATE, wish->bytes, 0600 | IPC_CREAT);

		need(id >= 0, "SysV shared memory");
		at = shmat(id, at, 0);
		shmctl(id, IPC_RMID, NULL);
		need(at != (char *)-1, "shmat");
		return at;
	}
	if (!strcmp(kind, "memfd") || !strcmp(kind, "file")) {
		static char path[] = "/tmp/hashdist-target-XXXXXX";

		fd = *kind == 'm' ? (int)syscall(SYS_memfd_create, "table", 0) : mkstemp(path);
		need(fd >= 0 && !ftruncate(fd, (off_t)wish->bytes), kind);
		if (*kind == 'f')
			unlink(path);
		flags |= MAP_SHARED;
	} else {
		flags |= MAP_ANONYMOUS | (strcmp(kind, "shared") ? MAP_PRIVATE : MAP_SHARED);
		flags |= strcmp(kind, "hugetlb") ? 0 : MAP_HUGETLB;
	}
	at = mmap(at, wish->bytes, prot, flags, fd, 0);
	need(at != MAP_FAILED, kind);
	return at;
}

static void prepare(char *at, const struct wish *wish)
{
	if (wish->advise)
		need(!madvise(at, wish->bytes >> wish->part, wish->advise), "huge page advice");
	if (wish->mode)
		need(!syscall(SYS_mbind, at, wish->bytes, wish->mode, &wish->mask, 64UL, 0),
		     "mbind");
	for (unsigned long o = 0; wish->stripe && o < wish->bytes; o += HUGE_BYTES) {
		unsigned long mask = 1UL << o / HUGE_BYTES % 2;

		need(!syscall(SYS_mbind, at + o, HUGE_BYTES, 2, &mask, 64UL, 0), "mbind");
	}
#ifdef PR_SET_VMA
	if (wish->name)
		need(!prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, wish->bytes, wish->name),
		     "names of mappings");
#endif
}

static void fill(char *at, const struct wish *wish)
{
	const char *how = wish->touch ? wish->touch : "";
	unsigned long end = wish->bytes, step = 4096;
	volatile char sum = 0;

	if (!strcmp(how, "half"))
		end /= 2;
	if (!strcmp(how, "sparse"))
		step = HUGE_BYTES;
	for (unsigned long o = 0; *how && o < end; o += step) {
		if (!strcmp(how, "read"))
			sum = (char)(sum + at[o]);
		else
			at[o] = (char)(o / 4096 + 1);
	}
	for (unsigned long o = 0; wish->collapse && o < wish->bytes; o += HUGE_BYTES)
		need(!madvise(at + o, HUGE_BYTES, 25 /* MADV_COLLAPSE */), "collapse");
	for (unsigned long o = 0; wish->move >= 0 && o < wish->bytes; o += 4096) {
		void *page = at + o;
		int node = wish->move, status = 0;

		need(syscall(SYS_move_pages, 0, 1UL, &page, &node, &status, 2) >= 0, "move_pages");
	}
}

static void pin(char *at, unsigned long bytes)
{
	char parameters[256] = { 0 };
	struct iovec range = { at, bytes };
	int ring = (int)syscall(SYS_io_uring_setup, 4, parameters);

	need(ring >= 0, "io_uring");
	need(!syscall(SYS_io_uring_register, ring, 0 /* buffers */, &range, 1), "pinned buffers");
}

static void make_mapping(const char *kind, char *value)
{
	struct wish wish = { .bytes = strtoul(value, NULL, 10) << 20, .move = -1 };
	char *at, *option = strtok(value, ",");

	while ((option = strtok(NULL, ",")))
		take_option(&wish, option);
	if (!strcmp(kind, "stack")) {
		make_stack(&wish);
		return;
	}
	at = make(kind, &wish);
	prepare(at, &wish);
	fill(at, &wish);
	if (wish.pin)
		pin(at, wish.bytes);
	printf("%s %lx %lx\n", kind, (unsigned long)(uintptr_t)at, wish.bytes);
}

/** Neighbours differ in their rights, so that they stay what they are. */
static void make_many(unsigned long count)
{
	char *at = mmap(NULL, count * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(at != MAP_FAILED, "address space");
	for (unsigned long n = 0; n < count; n += 2)
		need(!mprotect(at + n * 4096, 4096, PROT_READ | PROT_WRITE), "so many mappings");
}

/** Memory is shared from then on; the child touches nothing after it has told. */
static void fork_and_settle(void)
{
	int ends[2];
	char byte = 0;

	need(!pipe(ends), "a pipe");
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		need(write(ends[1], &byte, 1) == 1, "a pipe");
		for (;;)
			pause();
	}
	need(read(ends[0], &byte, 1) == 1, "a child");
}

static void do_word(char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	if (!strcmp(word, "thp-off")) {
		need(!prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), word);
	} else if (!strcmp(word, "undumpable")) {
		need(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), word);
	} else if (!strcmp(word, "uid")) {
		need(!setgid((gid_t)atoi(value)) && !setuid((uid_t)atoi(value)), word);
		/* The user's own: as after an exec, others of this user may look. */
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	} else if (!strcmp(word, "comm")) {
		need(!prctl(PR_SET_NAME, value), word);
	} else if (!strcmp(word, "fork")) {
		fork_and_settle();
	} else if (!strcmp(word, "task")) {
		unsigned long mask = strtoul(strchr(value, ':') + 1, NULL, 16);

		need(!syscall(SYS_set_mempolicy, atoi(value), &mask, 64UL), word);
	} else if (!strcmp(word, "many")) {
		make_many(strtoul(value, NULL, 10));
	} else if (value) {
		make_mapping(word, value);
	}
}

int main(int argc, char **argv)
{
	char byte;

	for (int w = 1; w < argc; w++)
		do_word(argv[w]);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}

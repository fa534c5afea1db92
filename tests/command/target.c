/* SPDX-License-Identifier: MIT */
/*
 * target.c - a command that costs what a test wants
 *
 *   command-target WORD...      done in order
 *
 *   touch=MIB     memory on base pages, and keep it
 *   huge=MIB      the same on huge pages, as far as the kernel gives them
 *   drop          give back what was touched last
 *   sleep=MS, spin=MS
 *   fork=N        so many children, one after the other, each touches 4 MiB
 *   orphan=MS     a process without a parent that touches 4 MiB, and ends after so long
 *   books=FILE    resident and huge bytes by /proc/self/smaps, page tables and the mark of
 *                 resident bytes by status, as "rss 1 huge 2 tables 3 mark 4"
 *   say=N         so many bytes of output
 *   exit=N, signal=N
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB       (1UL << 20)
#define HUGE_PAGE (2 * MIB)

static char *last;
static unsigned long last_bytes;

static void touch(unsigned long bytes, int advice)
{
	char *at = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(99);
	at = (char *)(((unsigned long)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	madvise(at, bytes, advice);
	for (unsigned long o = 0; o < bytes; o += 4096)
		at[o] = 1;
	last = at;
	last_bytes = bytes;
}

static void wait_ms(long ms, int spin)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };
	struct timespec now, end;

	if (!spin) {
		nanosleep(&pause, NULL);
		return;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	end.tv_nsec += pause.tv_nsec;
	end.tv_sec += pause.tv_sec + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static void fork_children(long count)
{
	for (long c = 0; c < count; c++) {
		pid_t pid = fork();

		if (pid == 0) {
			touch(4 * MIB, MADV_NOHUGEPAGE);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void leave_orphan(long ms)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (fork())
			_exit(0);
		touch(4 * MIB, MADV_NOHUGEPAGE);
		wait_ms(ms, 0);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static unsigned long sum_of(const char *path, const char *field)
{
	char line[512];
	unsigned long sum = 0, kib;
	FILE *file = fopen(path, "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':' &&
		    sscanf(line + strlen(field) + 1, "%lu", &kib) == 1)
			sum += kib << 10;
	if (file)
		fclose(file);
	return sum;
}

static void write_books(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		exit(99);
	fprintf(file, "rss %lu huge %lu tables %lu mark %lu\n", sum_of("/proc/self/smaps", "Rss"),
		sum_of("/proc/self/smaps", "AnonHugePages"), sum_of("/proc/self/status", "VmPTE"),
		sum_of("/proc/self/status", "VmHWM"));
	fclose(file);
}

static void say(unsigned long bytes)
{
	static char block[1 << 16];

	for (; bytes; bytes -= bytes < sizeof(block) ? bytes : sizeof(block))
		if (write(STDOUT_FILENO, block, bytes < sizeof(block) ? bytes : sizeof(block)) < 0)
			exit(99);
}

static void obey(const char *word)
{
	const char *equals = strchr(word, '=');
	const char *value = equals ? equals + 1 : "";
	long n = atol(value);

	if (!strncmp(word, "touch=", 6))
		touch((unsigned long)n * MIB, MADV_NOHUGEPAGE);
	else if (!strncmp(word, "huge=", 5))
		touch((unsigned long)n * MIB, MADV_HUGEPAGE);
	else if (!strcmp(word, "drop"))
		munmap(last, last_bytes);
	else if (!strncmp(word, "sleep=", 6) || !strncmp(word, "spin=", 5))
		wait_ms(n, word[1] == 'p');
	else if (!strncmp(word, "fork=", 5))
		fork_children(n);
	else if (!strncmp(word, "orphan=", 7))
		leave_orphan(n);
	else if (!strncmp(word, "books=", 6))
		write_books(value);
	else if (!strncmp(word, "say=", 4))
		say((unsigned long)n);
	else if (!strncmp(word, "exit=", 5))
		exit((int)n);
	else if (!strncmp(word, "signal=", 7))
		raise((int)n);
	else
		exit(98);
}

int main(int argc, char **argv)
{
	for (int a = 1; a < argc; a++)
		obey(argv[a]);
	return 0;
}

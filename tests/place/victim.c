/* SPDX-License-Identifier: MIT */
/*
 * victim.c - a program with one large table that is written all the time
 *
 *   victim MIB [thp-off] [bind NODE | interleave] [fork] [ragged]
 *
 * Fills MIB MiB page by page, says "ready ADDRESS BYTES PID", then counts up a
 * word of every page, round after round, until SIGTERM. Each word must then be
 * the number of rounds, or one more where the last round got that far: a write
 * that was lost while pages moved shows. Exit status 0: none was. A ragged table begins
 * and ends in the middle of a huge page.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE = 2 << 20, MPOL_DEFAULT = 0, MPOL_BIND = 2, MPOL_INTERLEAVE = 3 };

static volatile sig_atomic_t stop;

static void on_term(int number)
{
	stop = number;
}

static void bind_to(long node)
{
	unsigned long mask[16] = { 0 };

	mask[node / 64] = 1UL << node % 64;
	if (syscall(SYS_set_mempolicy, MPOL_BIND, mask, 1025L))
		perror("set_mempolicy");
}

static void interleave(void)
{
	unsigned long mask[16] = { 3 };

	if (syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, mask, 1025L))
		perror("set_mempolicy");
}

static char *make_table(size_t bytes, size_t offset)
{
	size_t room = bytes + 2 * (size_t)HUGE;
	char *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *table = (char *)(((uintptr_t)map + HUGE - 1) & ~(uintptr_t)(HUGE - 1)) + offset;

	if (map == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	/* What alignment left over goes, so that the mapping is the table. */
	if (table > map)
		munmap(map, (size_t)(table - map));
	munmap(table + bytes, (size_t)(map + room - (table + bytes)));
	for (size_t at = 0; at < bytes; at += PAGE)
		*(volatile uint64_t *)(table + at) = 0;
	return table;
}

static int check(const char *table, size_t bytes, uint64_t rounds, size_t reached)
{
	for (size_t at = 0; at < bytes; at += PAGE) {
		uint64_t want = rounds + (at < reached), have = *(const uint64_t *)(table + at);

		if (have != want) {
			printf("page %zu holds %llu instead of %llu\n", at / PAGE,
			       (unsigned long long)have, (unsigned long long)want);
			return 1;
		}
	}
	printf("fine after %llu rounds\n", (unsigned long long)rounds);
	return 0;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) << 20 : 0, offset = 0, at = 0;
	uint64_t rounds = 0;
	int forks = 0;
	char *table;

	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "thp-off"))
			prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
		else if (!strcmp(argv[i], "fork"))
			forks = 1;
		else if (!strcmp(argv[i], "ragged"))
			offset = HUGE / 2;
		else if (!strcmp(argv[i], "interleave"))
			interleave();
		else if (!strcmp(argv[i], "bind") && i + 1 < argc)
			bind_to(strtol(argv[++i], NULL, 10));
	}
	if (!bytes)
		return 2;
	signal(SIGTERM, on_term);
	table = make_table(bytes, offset);
	syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0L);
	if (forks && fork() == 0) {
		while (!stop)
			pause();
		_exit(0);
	}
	printf("ready %p %zu %d\n", (void *)table, bytes, (int)getpid());
	fflush(stdout);
	while (!stop)
		for (at = 0; at < bytes && !stop; at += PAGE) {
			++*(volatile uint64_t *)(table + at);
			if (at + PAGE >= bytes)
				rounds++;
		}
	return check(table, bytes, rounds, at < bytes ? at : 0);
}

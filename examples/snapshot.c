/* SPDX-License-Identifier: MIT */
/* snapshot.c - a table that grows, and is written to while a child saves it */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <hashdist/hashdist.h>

static void tell(const char *when, const struct hd_got *got)
{
	char text[256];

	hd_got_text(got, text, sizeof(text));
	printf("%-16s %s\n", when, text);
	fflush(stdout);
}

/* The child writes the snapshot; the parent goes on writing, 64 bytes to each 4 KiB page. */
static void save(char *table, size_t bytes)
{
	pid_t child = fork();

	if (child == 0) {
		pause(); /* as if it wrote to a disk */
		_exit(0);
	}
	for (size_t at = 0; at < bytes; at += 4096)
		memset(table + at, 'y', 64);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
}

int main(void)
{
	const size_t small = (size_t)16 << 20, large = (size_t)64 << 20;
	struct hd_got got;
	void *table;

	if (hd_alloc(small, NULL, &table, &got))
		return 1;
	tell("made", &got);
	if (hd_resize(&table, large, &got)) /* table has moved; the first 16 MiB are as before */
		return 1;
	tell("grown", &got);
	save(table, large);
	if (hd_read_got(table, &got))
		return 1;
	tell("after fork()", &got);
	if (hd_repair(table, &got))
		return 1;
	tell("repaired", &got);
	return hd_free(table) ? 1 : 0;
}

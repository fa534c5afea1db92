/* SPDX-License-Identifier: MIT */
/*
 * tcp.c - many connections to itself, and exchanges on them in an order that repeats nothing
 *
 *	tcp CONNECTIONS EXCHANGES REPETITIONS
 *
 * An exchange is one byte there and one byte back: for each the kernel looks up the receiving
 * end in the hash of established connections. Only the exchanges are between marks; the
 * connections are there before. Repetition 0 is a warm-up and comes in addition.
 *
 * Ends with 0; with 1 and a line if something cannot be had.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "handover.h"
#include "mark.h"

enum { PORT = 7000, FILES_BESIDE = 16, BACKLOG = 16 };

struct pair {
	int client, server;
};

static int fail(const char *what)
{
	fprintf(stderr, "tcp: %s: %s\n", what, strerror(errno));
	return 1;
}

static bool allow_files(rlim_t files)
{
	struct rlimit limit = { files, files };

	return !setrlimit(RLIMIT_NOFILE, &limit);
}

static struct sockaddr_in listening_at(void)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static int listen_here(void)
{
	struct sockaddr_in at = listening_at();
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, BACKLOG))
		return -1;
	return fd;
}

static bool connect_all(struct pair *pairs, long count)
{
	struct sockaddr_in at = listening_at();
	int listener = listen_here();

	for (long i = 0; listener >= 0 && i < count; i++) {
		pairs[i].client = socket(AF_INET, SOCK_STREAM, 0);
		if (pairs[i].client < 0 ||
		    connect(pairs[i].client, (struct sockaddr *)&at, sizeof(at)))
			return false;
		pairs[i].server = accept(listener, NULL, NULL);
		if (pairs[i].server < 0)
			return false;
	}
	return listener >= 0;
}

static bool pass(int from, int to)
{
	char byte = 'x';

	return write(from, &byte, 1) == 1 && read(to, &byte, 1) == 1;
}

/* Constants of Knuth's MMIX; the high bits are the random ones. */
static bool exchange(const struct pair *pairs, long count, long exchanges, uint64_t *state)
{
	for (long i = 0; i < exchanges; i++) {
		const struct pair *pair;

		*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		pair = &pairs[(*state >> 33) % (uint64_t)count];
		if (!pass(pair->client, pair->server) || !pass(pair->server, pair->client))
			return false;
	}
	return true;
}

static int count_exchanges(const struct pair *pairs, long count, long exchanges, long repetitions)
{
	uint64_t state = 1;

	for (long number = 0; number <= repetitions; number++) {
		MARK(MARK_BEGIN, number, 0L);
		if (!exchange(pairs, count, exchanges, &state))
			return fail("exchange");
		MARK(MARK_END, number, 0L);
	}
	return 0;
}

int main(int argc, char **argv)
{
	long count = argc == 4 ? atol(argv[1]) : 0, exchanges = count ? atol(argv[2]) : 0;
	long repetitions = exchanges ? atol(argv[3]) : 0;
	struct pair *pairs;

	if (count < 1 || exchanges < 1 || repetitions < 1) {
		fprintf(stderr, "usage: tcp CONNECTIONS EXCHANGES REPETITIONS\n");
		return 2;
	}
	pairs = calloc((size_t)count, sizeof(*pairs));
	if (!pairs || !allow_files((rlim_t)count * 2 + FILES_BESIDE))
		return fail("files");
	if (!connect_all(pairs, count))
		return fail("connect");
	if (hand_over_symbols())
		return fail("/proc/kallsyms");
	return count_exchanges(pairs, count, exchanges, repetitions);
}

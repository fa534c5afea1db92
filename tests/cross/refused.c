/* SPDX-License-Identifier: MIT */
/*
 * refused.c - more than there are addresses is refused, and the reason is told in libc's words
 *
 * Where sizes have 32 bits, what is mapped around a table must not make a large size a small one:
 * what is beside such a mapping would be unmapped with it.
 */
#include <hashdist/hashdist.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { NEIGHBOUR = 4 << 20, STEP = 65535 };

/* Next to where the library's mapping will be, wherever new ones grow upwards. */
static int refused_beside_a_neighbour(size_t bytes)
{
	char *neighbour =
	    mmap(NULL, NEIGHBOUR, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *table;
	int error;

	if (neighbour == MAP_FAILED)
		return 0;
	memset(neighbour, 1, NEIGHBOUR);
	error = hd_alloc(bytes, NULL, &table, NULL);
	for (size_t i = 0; i < NEIGHBOUR; i++)
		if (neighbour[i] != 1) /* or it is a fault */
			return 0;
	munmap(neighbour, NEIGHBOUR);
	return error == -ENOMEM;
}

int main(void)
{
	struct hd_got got = { .step = HD_STEP_RESERVE, .error = ENOMEM };
	char text[256];

	hd_got_text(&got, text, sizeof(text));
	puts(text);
	if (!strstr(text, strerror(ENOMEM)))
		return 1;
	for (size_t less = 0; less <= (size_t)NEIGHBOUR; less += STEP) {
		if (!refused_beside_a_neighbour(SIZE_MAX - less)) {
			printf("%zu bytes were not refused, or what was there is gone\n",
			       SIZE_MAX - less);
			return 1;
		}
	}
	return 0;
}

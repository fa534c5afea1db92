/* SPDX-License-Identifier: MIT */
/*
 * uthash.c - the bucket arrays of uthash, placed right
 *
 * The two lines below, before uthash.h is included. The elements are the program's own,
 * and stay where it puts them: uthash allocates only the table, and its buckets.
 */
#include <stdint.h>
#include <stdio.h>

#include "large.h"

#define uthash_malloc(bytes)      large_malloc(bytes) /* <-- */
#define uthash_free(start, bytes) large_free(start)   /* <-- */

#include <uthash.h>

struct word {
	uint32_t id;
	uint32_t square;
	UT_hash_handle hh;
};

/* Where the buckets are; 1 unless they are a table. */
static int tell(const void *buckets)
{
	struct hd_got got;
	char text[256];

	if (hd_read_got(buckets, &got)) {
		fputs("uthash: the buckets are no table\n", stderr);
		return 1;
	}
	hd_got_text(&got, text, sizeof(text));
	printf("uthash: buckets: %s\n", text);
	return 0;
}

int main(void)
{
	enum { WORDS = 1000000 };
	struct word *all = calloc(WORDS, sizeof(*all)), *words = NULL, *found;
	uint32_t wrong = 0;

	if (!all)
		return EXIT_FAILURE;
	for (uint32_t id = 0; id < WORDS; id++) {
		all[id].id = id;
		all[id].square = id * id;
		HASH_ADD(hh, words, id, sizeof(uint32_t), &all[id]);
	}
	for (uint32_t id = 0; id < 2 * WORDS; id++) {
		HASH_FIND(hh, words, &id, sizeof(id), found);
		wrong += id < WORDS ? !found || found->square != id * id : !!found;
	}
	if (wrong)
		fprintf(stderr, "uthash: %u words are not what was put there\n", wrong);
	wrong += (uint32_t)tell(words->hh.tbl->buckets);
	HASH_CLEAR(hh, words);
	free(all);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

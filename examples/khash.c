/* SPDX-License-Identifier: MIT */
/*
 * khash.c - the arrays of klib's khash, placed right
 *
 * The four lines below, before khash.h is included. They hold for every table of this
 * source file; small ones stay with malloc().
 *
 * klib is copied rather than installed: klib's own name for the header is <khash.h>.
 * Debian ships it with other packages, as <bwa/khash.h> in libbwa-dev. (The <khash.h> of
 * libminimap2-dev is another: its macros take one argument more.)
 */
#include <inttypes.h>
#include <stdio.h>

#include "large.h"

#define kcalloc(n, bytes)      large_calloc(n, bytes)      /* <-- */
#define kmalloc(bytes)         large_malloc(bytes)         /* <-- */
#define krealloc(start, bytes) large_realloc(start, bytes) /* <-- */
#define kfree(start)           large_free(start)           /* <-- */

#if __has_include(<bwa/khash.h>)
#include <bwa/khash.h>
#else
#include <khash.h>
#endif

KHASH_MAP_INIT_INT64(squares, uint64_t)

/* Where an array is; 1 unless it is a table. */
static int tell(const char *what, const void *array)
{
	struct hd_got got;
	char text[256];

	if (hd_read_got(array, &got)) {
		fprintf(stderr, "khash: the %s are no table\n", what);
		return 1;
	}
	hd_got_text(&got, text, sizeof(text));
	printf("khash: %s: %s\n", what, text);
	return 0;
}

int main(void)
{
	enum { KEYS = 1000000 };
	khash_t(squares) *map = kh_init(squares);
	uint64_t wrong = 0;
	int added;

	for (uint64_t key = 0; key < KEYS; key++) {
		khint_t at = kh_put(squares, map, key, &added);

		if (added < 0) {
			fputs("khash: no memory\n", stderr);
			return EXIT_FAILURE;
		}
		kh_value(map, at) = key * key;
	}
	for (uint64_t key = 0; key < 2 * KEYS; key++) {
		khint_t at = kh_get(squares, map, key);

		wrong += key < KEYS ? at == kh_end(map) || kh_value(map, at) != key * key
				    : at != kh_end(map);
	}
	if (wrong)
		fprintf(stderr, "khash: %" PRIu64 " keys are not what was put there\n", wrong);
	wrong += (uint64_t)tell("keys", map->keys);
	wrong += (uint64_t)tell("values", map->vals);
	kh_destroy(squares, map);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

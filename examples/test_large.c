/* SPDX-License-Identifier: MIT */
/*
 * test_large.c - large.h keeps what malloc(3) promises, at the border between its two kinds too
 */
#include <stdio.h>

#include "large.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__,   \
				#condition);                                                       \
			exit(EXIT_FAILURE);                                                        \
		}                                                                                  \
	} while (0)

static bool is_table(const void *start)
{
	struct hd_got got;

	return !hd_read_got(start, &got);
}

/* Every byte of the first @bytes is @byte. */
static bool is_all(const unsigned char *start, size_t bytes, unsigned char byte)
{
	return bytes == 0 || (start[0] == byte && !memcmp(start, start + 1, bytes - 1));
}

static void large_blocks_are_tables_and_small_ones_are_not(void)
{
	void *small = large_malloc(LARGE_BYTES - 1), *large = large_malloc(LARGE_BYTES);

	CHECK(small && !is_table(small));
	CHECK(is_table(large));
	large_free(small);
	large_free(large);
	CHECK(!is_table(large));
	large_free(NULL);
}

static void calloc_zeroes_both_and_sees_an_overflow(void)
{
	unsigned char *small = large_calloc(1000, 1), *large = large_calloc(LARGE_BYTES / 16, 16);

	CHECK(small && is_all(small, 1000, 0) && !is_table(small));
	CHECK(is_table(large) && is_all(large, LARGE_BYTES, 0));
	CHECK(!large_calloc(SIZE_MAX / 2, 3) && errno == ENOMEM);
	large_free(small);
	large_free(large);
}

/*
 *	1 KiB    1 MiB |  2 MiB    16 MiB    4 MiB    1 MiB     0
 *	malloc         |  table    table     table    table     gone
 */
static void realloc_keeps_what_was_there_through_all_sizes(void)
{
	static const size_t sizes[] = { 1 << 10, 1 << 20, 2 << 20, 16 << 20, 4 << 20, 1 << 20 };
	unsigned char *block = NULL;
	size_t had = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t kept = had < sizes[i] ? had : sizes[i];

		block = large_realloc(block, sizes[i]);
		CHECK(block && is_table(block) == (i >= 2));
		CHECK(is_all(block, kept, 0x5a));
		memset(block, 0x5a, sizes[i]);
		had = sizes[i];
	}
	CHECK(!large_realloc(block, 0) && !is_table(block));
}

static void a_realloc_that_cannot_be_leaves_the_block(void)
{
	unsigned char *small = large_malloc(100), *large = large_malloc(LARGE_BYTES);

	memset(small, 1, 100);
	memset(large, 2, LARGE_BYTES);
	CHECK(!large_realloc(small, SIZE_MAX / 2));
	CHECK(!large_realloc(large, SIZE_MAX / 2));
	CHECK(is_all(small, 100, 1) && is_all(large, LARGE_BYTES, 2) && is_table(large));
	large_free(small);
	large_free(large);
}

/* They look like tables, by their address. */
static void blocks_of_others_that_begin_on_a_page_are_told_apart(void)
{
	unsigned char *block = aligned_alloc(4096, 8192), *grown;

	CHECK(block && !is_table(block));
	memset(block, 3, 8192);
	grown = large_realloc(block, LARGE_BYTES);
	CHECK(is_table(grown) && is_all(grown, 8192, 3));
	large_free(grown);
	large_free(aligned_alloc(4096, 8192));
}

int main(void)
{
	large_blocks_are_tables_and_small_ones_are_not();
	calloc_zeroes_both_and_sees_an_overflow();
	realloc_keeps_what_was_there_through_all_sizes();
	a_realloc_that_cannot_be_leaves_the_block();
	blocks_of_others_that_begin_on_a_page_are_told_apart();
	return EXIT_SUCCESS;
}

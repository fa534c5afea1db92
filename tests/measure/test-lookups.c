/* SPDX-License-Identifier: MIT */
/*
 * test-lookups.c - what the timed loops read, and in which order
 *
 *   | guard | word ....... | word ....... | word ....... | guard |
 *           |<-- bucket -->|
 *
 * Whatever is no word of a bucket holds so much that the sum tells.
 */
#include "tests/measure/help.h"

enum { COUNT = 20000 };
#define FOREIGN (UINT64_C(1) << 40)

static struct measure_table make(uint64_t buckets, uint64_t bucket_bytes)
{
	uint64_t words = buckets * bucket_bytes / MEASURE_WORD + 2;
	uint64_t *memory = malloc(words * MEASURE_WORD);

	assert_non_null(memory);
	for (uint64_t w = 0; w < words; w++)
		memory[w] = FOREIGN;
	return (struct measure_table){ (unsigned char *)(memory + 1), bucket_bytes, buckets };
}

static void unmake(const struct measure_table *table)
{
	free(table->start - MEASURE_WORD);
}

static uint64_t *word(const struct measure_table *table, uint64_t bucket)
{
	return (uint64_t *)(void *)(table->start + bucket * table->bucket_bytes);
}

static void put_ones(const struct measure_table *table)
{
	for (uint64_t b = 0; b < table->buckets; b++)
		*word(table, b) = 1;
}

/* Sizes that are no powers of two, too: nothing is read but the first word of a bucket. */
static void as_many_lookups_are_done_as_are_asked_for_all_in_buckets(void **state)
{
	static const uint64_t buckets[] = { 1, 2, 3, 64, 1000, 4097 };
	static const uint64_t bytes[] = { 8, 16, 64, 72 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(buckets) * ARRAY_SIZE(bytes); i++) {
		struct measure_table table =
		    make(buckets[i / ARRAY_SIZE(bytes)], bytes[i % ARRAY_SIZE(bytes)]);

		put_ones(&table);
		for (uint64_t count = 0; count <= COUNT; count = count * 7 + 1) {
			struct measure_lookups a = measure_independent(&table, count);
			struct measure_lookups b = measure_dependent(&table, count);

			assert_int_equal(a.done, count);
			assert_int_equal(a.sum, count);
			assert_int_equal(b.done, count);
			assert_int_equal(b.sum, count);
		}
		unmake(&table);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void each_bucket_gets_a_word_of_its_own_and_nothing_else_is_written(void **state)
{
	struct measure_table table = make(1000, 24);
	uint64_t words[1000];

	(void)state;
	measure_fill(&table);
	assert_true(*(word(&table, 0) - 1) == FOREIGN);
	assert_true(*word(&table, 1000) == FOREIGN);
	for (uint64_t b = 0; b < 1000; b++) {
		words[b] = *word(&table, b);
		assert_true(word(&table, b)[1] == FOREIGN);
		assert_true(word(&table, b)[2] == FOREIGN);
	}
	qsort(words, 1000, sizeof(words[0]), by_value);
	for (uint64_t b = 1; b < 1000; b++)
		assert_true(words[b] != words[b - 1]);
	unmake(&table);
}

/** Bit b is set if bucket b of @table was visited, by the digits of a sum. */
static uint64_t visited(struct measure_lookups (*loop)(const struct measure_table *, uint64_t))
{
	struct measure_table table = make(8, 8);
	uint64_t sum, seen = 0;

	/* 64 lookups in 8 buckets: a digit of 7 bits for each cannot overflow. */
	for (unsigned b = 0; b < 8; b++)
		*word(&table, b) = UINT64_C(1) << 7 * b;
	sum = loop(&table, 64).sum;
	for (unsigned b = 0; b < 8; b++)
		seen |= (uint64_t)((sum >> 7 * b & 127) > 0) << b;
	unmake(&table);
	return seen;
}

static void no_bucket_is_left_out(void **state)
{
	(void)state;
	assert_int_equal(visited(measure_independent), 0xff);
	assert_int_equal(visited(measure_dependent), 0xff);
}

/*
 * Words are bucket numbers, then the same plus something that the lower half of
 * a sum does not show. Lookups that wait for nothing take the same way, those
 * that follow what they read another.
 */
static void only_dependent_lookups_follow_what_they_read(void **state)
{
	struct measure_table table = make(4096, 8);
	uint32_t independent[2], dependent[2];

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		for (uint64_t b = 0; b < table.buckets; b++)
			*word(&table, b) = b + ((uint64_t)more << 32);
		independent[more] = (uint32_t)measure_independent(&table, COUNT).sum;
		dependent[more] = (uint32_t)measure_dependent(&table, COUNT).sum;
	}
	assert_int_equal(independent[0], independent[1]);
	assert_int_not_equal(dependent[0], dependent[1]);
	unmake(&table);
}

static void two_tables_of_one_size_give_the_same_sums(void **state)
{
	struct measure_table a = make(5000, 64), b = make(5000, 64);

	(void)state;
	measure_fill(&a);
	measure_fill(&b);
	assert_true(measure_independent(&a, COUNT).sum == measure_independent(&b, COUNT).sum);
	assert_true(measure_dependent(&a, COUNT).sum == measure_dependent(&b, COUNT).sum);
	*word(&b, 2500) += 1;
	assert_true(measure_independent(&a, COUNT * 10).sum !=
		    measure_independent(&b, COUNT * 10).sum);
	assert_true(measure_dependent(&a, COUNT * 10).sum != measure_dependent(&b, COUNT * 10).sum);
	unmake(&a);
	unmake(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_lookups_are_done_as_are_asked_for_all_in_buckets),
		cmocka_unit_test(each_bucket_gets_a_word_of_its_own_and_nothing_else_is_written),
		cmocka_unit_test(no_bucket_is_left_out),
		cmocka_unit_test(only_dependent_lookups_follow_what_they_read),
		cmocka_unit_test(two_tables_of_one_size_give_the_same_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

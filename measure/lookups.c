/* SPDX-License-Identifier: MIT */
/*
 * lookups.c - the loops that are timed: lookups that wait for nothing, and for each other
 *
 * Which buckets are visited follows from the number of buckets and lookups
 * alone, so every layout of a size sees the same ones, and the sum of what was
 * read must be the same. It also keeps the compiler from dropping the loads.
 *
 * Numbers are brought below the number of buckets by a multiplication, not by
 * a remainder: a division would cost as much as a load from the cache.
 */
#include "measure/measure.h"

/* Odd constants of splitmix64 (Steele, Lea and Flood, 2014) and of Knuth's MMIX. */
#define GAMMA UINT64_C(0x9e3779b97f4a7c15)
#define MIX_A UINT64_C(0xbf58476d1ce4e5b9)
#define MIX_B UINT64_C(0x94d049bb133111eb)
#define STEP  UINT64_C(6364136223846793005)
#define MORE  UINT64_C(1442695040888963407)

static inline uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * MIX_A;
	x = (x ^ x >> 27) * MIX_B;
	return x ^ x >> 31;
}

static inline uint64_t below(uint64_t random, uint64_t limit)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)random * limit >> 64);
#else
	return (random >> 32) * limit >> 32;
#endif
}

static inline uint64_t *word_of(const struct measure_table *table, uint64_t bucket)
{
	return (uint64_t *)(void *)(table->start + bucket * table->bucket_bytes);
}

void measure_fill(const struct measure_table *table)
{
	for (uint64_t bucket = 0; bucket < table->buckets; bucket++)
		*word_of(table, bucket) = bucket * GAMMA + 1;
}

struct measure_lookups measure_independent(const struct measure_table *table, uint64_t count)
{
	const struct measure_table t = *table;
	struct measure_lookups out = { 0 };
	uint64_t state = 0;

	for (; out.done < count; out.done++) {
		state += GAMMA;
		out.sum += *word_of(&t, below(mix(state), t.buckets));
	}
	return out;
}

/* Short between load and load: one addition and two multiplications. */
struct measure_lookups measure_dependent(const struct measure_table *table, uint64_t count)
{
	const struct measure_table t = *table;
	struct measure_lookups out = { 0 };
	uint64_t state = GAMMA;

	for (; out.done < count; out.done++) {
		uint64_t word = *word_of(&t, below(state, t.buckets));

		out.sum += word;
		state = (state + word) * STEP + MORE;
	}
	return out;
}

/* SPDX-License-Identifier: MIT */
/*
 * lookups.c - uses the tables
 *
 * Every word of every table gets a value of its own, and all are read back afterwards: two tables
 * that share a byte, or a translation that leads elsewhere, cannot pass. Then random buckets of
 * the largest table are looked up, between marks for a counter outside.
 */
#include "kernel.h"
#include "bench/gitdiff/guest/mark.h"

/* A counter wants to know where things are; these are constants here, so any text will do. */
static const char symbols[] = "ffffffff81000000 T kernel_start\n";

static uint64_t value_of(unsigned table, uint64_t word)
{
	return (uint64_t)(table + 1) << 56 | word;
}

static uint64_t words_of(const struct row *row)
{
	return row->table.bytes / sizeof(uint64_t);
}

/** Return: words that do not hold what was written. */
static uint64_t write_and_read(const struct row *row, unsigned count)
{
	uint64_t wrong = 0;

	for (unsigned t = 0; t < count; t++)
		for (uint64_t w = 0; w < words_of(&row[t]); w++)
			((uint64_t *)row[t].table.start)[w] = value_of(t, w);
	for (unsigned t = 0; t < count; t++)
		for (uint64_t w = 0; w < words_of(&row[t]); w++)
			wrong += ((uint64_t *)row[t].table.start)[w] != value_of(t, w);
	return wrong;
}

/** Uniform enough, and the same in every boot: a 64-bit xorshift. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t look_up(const struct row *row, unsigned table, uint64_t lookups)
{
	const volatile uint64_t *words = row->table.start;
	uint64_t mask = words_of(row), state = 88172645463325252UL, wrong = 0;

	while (mask & (mask - 1)) /* a bucket need not be a power of two */
		mask &= mask - 1;
	MARK(MARK_SYMBOLS, symbols, sizeof(symbols) - 1);
	MARK(MARK_BEGIN, 0UL, 0UL);
	while (lookups--) {
		uint64_t word = next_random(&state) & (mask - 1);

		wrong += words[word] != value_of(table, word);
	}
	MARK(MARK_END, 0UL, wrong ? 1UL : 0UL);
	return wrong;
}

void lookups_run(uint64_t lookups)
{
	unsigned count, largest = 0;
	const struct row *row = tables_rows(&count);
	uint64_t wrong = write_and_read(row, count);

	print("tables written and read back: %lu words wrong\n", wrong);
	for (unsigned t = 1; t < count; t++)
		if (row[t].table.bytes > row[largest].table.bytes)
			largest = t;
	wrong = look_up(&row[largest], largest, lookups);
	print("%lu random lookups in %s: %lu wrong\n", lookups, row[largest].key, wrong);
}

void lookups_overrun(void)
{
	unsigned count;
	const struct row *row = tables_rows(&count);

	for (; count--; row++) {
		const struct hd_table *table = &row->table;
		uint64_t end = (uint64_t)table->start;

		if (!table->shift) /* a linear one: others may lie behind it */
			continue;
		end += round_up(table->bytes, 1UL << table->shift);
		print("reading %lx, behind %s\n", end, row->key);
		(void)*(const volatile char *)end;
		panic("it could be read");
	}
}

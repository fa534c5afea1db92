/* SPDX-License-Identifier: MIT */
/*
 * text.h - the few text helpers that core/ needs, since it has no libc
 */
#ifndef HASHDIST_CORE_TEXT_H
#define HASHDIST_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t text_len(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static inline char text_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static inline bool text_digit(char c)
{
	return c >= '0' && c <= '9';
}

/** Is text[0..len) the word @word? */
static inline bool text_is(const char *text, size_t len, const char *word)
{
	size_t i;

	for (i = 0; i < len && word[i]; i++)
		if (text[i] != word[i])
			return false;
	return i == len && !word[i];
}

static inline bool text_starts(const char *text, size_t len, const char *prefix)
{
	size_t i;

	for (i = 0; prefix[i]; i++)
		if (i >= len || text[i] != prefix[i])
			return false;
	return true;
}

/** A bounded output buffer; @want counts on after it is full. */
struct text_out {
	char *at;
	size_t size, want;
};

void text_put(struct text_out *out, const char *s);
void text_put_number(struct text_out *out, int64_t n);
/** Terminates. Return: length, or -1 when it did not fit. */
int text_finish(struct text_out *out);

/** How a number ended. */
struct text_number {
	uint64_t value; /* modulo 2^64 */
	size_t used;    /* characters consumed, sign and base prefix included */
	bool digits;    /* at least one digit was there */
	bool overflow;
};

/**
 * text_number() - a number with the base in front: 0x1f, 017, 15
 * Reads until the first character that is no digit of that base.
 */
struct text_number text_number(const char *text, size_t len);

#endif

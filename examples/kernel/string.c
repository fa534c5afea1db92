/* SPDX-License-Identifier: MIT */
/*
 * string.c - the functions that compilers call on their own
 *
 * A freestanding compiler may still turn a loop or an assignment into one of these. Nothing here
 * may be written as a loop that it would recognise: hence the string instructions.
 */
#include "kernel.h"

void *memset(void *to, int byte, size_t bytes)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(byte) : "memory");
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const uint8_t *x = a, *y = b;

	for (; bytes; bytes--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *text)
{
	const volatile char *end = text;

	while (*end)
		end++;
	return (size_t)(end - text);
}

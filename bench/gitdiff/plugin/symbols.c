/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - a line each:
 *
 *	ffffffff82a2c5f8 d dentry_hashtable
 *	ffffffffc0003000 t a_function	[a_module]
 */
#include "symbols.h"

#include <string.h>

enum { ADDRESS_DIGITS = 16, NAME_AT = ADDRESS_DIGITS + 3 };

static uint64_t hexadecimal(const char *at, size_t digits)
{
	uint64_t value = 0;

	for (size_t i = 0; i < digits; i++) {
		const char *digit = memchr("0123456789abcdef", at[i], 16);

		if (!digit)
			return 0;
		value = value << 4 | (uint64_t)(digit - "0123456789abcdef");
	}
	return value;
}

uint64_t symbols_find(const char *text, size_t bytes, const char *name)
{
	size_t wanted = NAME_AT + strlen(name);
	const char *end = text + bytes, *line_end;

	for (const char *line = text; line < end; line = line_end + 1) {
		line_end = memchr(line, '\n', (size_t)(end - line));
		if (!line_end)
			line_end = end;
		if ((size_t)(line_end - line) == wanted &&
		    !memcmp(line + NAME_AT, name, wanted - NAME_AT))
			return hexadecimal(line, ADDRESS_DIGITS);
	}
	return 0;
}

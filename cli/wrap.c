/* SPDX-License-Identifier: MIT */
/*
 * wrap.c - long sentences in lines
 */
#include <string.h>

#include "cli/wrap.h"

size_t cli_wrap(const char *text, size_t width)
{
	size_t take = strlen(text);

	if (take <= width)
		return take;
	for (take = width; take; take--)
		if (text[take] == ' ')
			return take;
	take = strspn(text, " ");
	return take + strcspn(text + take, " ");
}

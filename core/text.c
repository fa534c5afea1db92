/* SPDX-License-Identifier: MIT */
/*
 * text.c - numbers in and out, without libc
 */
#include "core/text.h"

void text_put(struct text_out *out, const char *s)
{
	for (; *s; s++, out->want++)
		if (out->want + 1 < out->size)
			out->at[out->want] = *s;
}

void text_put_number(struct text_out *out, int64_t n)
{
	char digits[24];
	size_t i = sizeof(digits) - 1;
	uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

	digits[i] = '\0';
	do
		digits[--i] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (n < 0)
		digits[--i] = '-';
	text_put(out, digits + i);
}

int text_finish(struct text_out *out)
{
	if (out->size)
		out->at[out->want < out->size ? out->want : out->size - 1] = '\0';
	return out->want < out->size ? (int)out->want : -1;
}

static int digit_of(char c)
{
	c = text_lower(c);
	if (text_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

struct text_number text_number(const char *text, size_t len)
{
	struct text_number out = { 0 };
	unsigned base = 10;
	size_t i = 0;

	if (len && text[0] == '0') {
		base = 8;
		if (len > 2 && text_lower(text[1]) == 'x' && digit_of(text[2]) < 16) {
			base = 16;
			i = 2;
		}
	}
	for (; i < len && digit_of(text[i]) < (int)base; i++) {
		uint64_t digit = (uint64_t)digit_of(text[i]);

		if (out.value > (UINT64_MAX - digit) / base)
			out.overflow = true;
		out.value = out.value * base + digit;
		out.digits = true;
	}
	out.used = i;
	return out;
}

/* SPDX-License-Identifier: MIT */
/*
 * text.c - numbers, words and lists out of kernel text
 *
 * Decimal only, as /proc and /sys print them. A number that does not fit is
 * no number, an id that is too large makes the whole list unknown: a wrong
 * figure is worse than none.
 */
#include "machine/internal.h"

#include <errno.h>
#include <string.h>

bool mach_number(const char **text, uint64_t *value)
{
	const char *p = *text;
	uint64_t sum = 0;
	bool fits = true;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*p - '0'), &sum))
			fits = false;
	*text = p;
	if (fits)
		*value = sum;
	return fits;
}

struct machine_count mach_count(const char *text)
{
	struct machine_count count = { 0 };

	text += strspn(text, " \t");
	count.known = mach_number(&text, &count.value);
	return count;
}

struct machine_count mach_count_add(struct machine_count a, struct machine_count b)
{
	struct machine_count sum = { .known = a.known && b.known };

	if (sum.known && __builtin_add_overflow(a.value, b.value, &sum.value))
		sum = (struct machine_count){ 0 };
	return sum;
}

const char *mach_after(const char *text, const char *key)
{
	size_t len = strlen(key);

	return strncmp(text, key, len) == 0 ? text + len : NULL;
}

const char *mach_word(const char **text, size_t *len)
{
	const char *word = *text + strspn(*text, " \t\n");

	*len = strcspn(word, " \t\n");
	*text = word + *len;
	return word;
}

struct machine_count mach_field(const char *line, const char *key)
{
	size_t len, want = strlen(key);

	for (;;) {
		const char *word = mach_word(&line, &len);

		if (len == 0)
			return (struct machine_count){ 0 };
		if (len == want && memcmp(word, key, len) == 0)
			return mach_count(line);
	}
}

void mach_plain(char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
			*text = ' ';
}

bool mach_ids_has(const struct mach_ids *ids, uint32_t id)
{
	return id < MACH_ID_MAX && (ids->word[id / 64] >> (id % 64) & 1);
}

void mach_ids_add(struct mach_ids *ids, uint32_t id)
{
	if (id >= MACH_ID_MAX || mach_ids_has(ids, id))
		return;
	ids->word[id / 64] |= UINT64_C(1) << (id % 64);
	ids->count++;
}

int mach_ids_parse(const char *text, uint32_t max, struct mach_ids *out)
{
	memset(out, 0, sizeof(*out));
	text += strspn(text, " \t\n");
	while (*text) {
		uint64_t first = UINT64_MAX, last;

		if (*text < '0' || *text > '9')
			return -EINVAL;
		if (!mach_number(&text, &first))
			return -ERANGE;
		last = first;
		if (*text == '-') {
			text++;
			if (*text < '0' || *text > '9')
				return -EINVAL;
			if (!mach_number(&text, &last))
				return -ERANGE;
		}
		if (last >= max || last >= MACH_ID_MAX)
			return -ERANGE;
		if (last < first)
			return -EINVAL;
		for (uint64_t id = first; id <= last; id++)
			mach_ids_add(out, (uint32_t)id);
		text += strspn(text, " \t\n");
		if (*text == ',')
			text++;
		else if (*text)
			return -EINVAL;
	}
	return 0;
}

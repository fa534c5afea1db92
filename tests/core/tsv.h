/* SPDX-License-Identifier: MIT */
/* tsv.h - fields of a tab-separated file, for tests that read real-boots.tsv */
#ifndef HASHDIST_TESTS_TSV_H
#define HASHDIST_TESTS_TSV_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** A whole field as a number; fails the test when it is none. */
static inline uint64_t tsv_number(const char *field)
{
	char *end;
	unsigned long long n = strtoull(field, &end, 10);

	if (end == field || *end)
		fail_msg("\"%s\" is no number", field);
	return n;
}

/** Splits at tabs, in place. Return: number of fields; @most + 1 when there are more. */
static inline size_t tsv_split(char *line, char **field, size_t most)
{
	size_t n = 0;

	line[strcspn(line, "\n")] = '\0';
	while (n < most) {
		field[n++] = line;
		line = strchr(line, '\t');
		if (!line)
			return n;
		*line++ = '\0';
	}
	return most + 1;
}

/** Fails the test when @from does not fit. */
static inline void tsv_copy(char *to, size_t size, const char *from)
{
	assert_true(strlen(from) < size);
	memcpy(to, from, strlen(from) + 1);
}

#endif

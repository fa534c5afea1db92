/* SPDX-License-Identifier: MIT */
/*
 * scan.h - one quick look at a block of text, before anything is understood of it
 *
 * A bit for each byte: where lines end, and where a line is odd, which is to say that
 * more than its first words must be looked at:
 *
 *   a control character, a tab, or a byte beyond ASCII
 *   "[" before a blank or a digit     a time inside the line
 *   "sh"                              of "hash table entries"
 *   "ux"                              of "Linux version"
 *   "l:"                              of "kernel:" behind a host
 *
 * False alarms are allowed, a miss is not: message.c finds nothing in a line that has no
 * odd byte and begins with no word of words.c.
 */
#ifndef HASHDIST_KLOG_SCAN_H
#define HASHDIST_KLOG_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCAN_BYTES = 16 << 10 }; /* what is scanned at once: stays in the nearest cache */

struct scan {
	uint64_t newline[SCAN_BYTES / 64];
	uint64_t odd[SCAN_BYTES / 64];
};

/** Scan @len bytes, SCAN_BYTES at most, of text that ends at @end. Return: words filled. */
size_t klog__scan(struct scan *scan, const char *p, size_t len, const char *end);

/** Is a byte from @from to before @to odd? @from < @to */
static inline bool klog__scan_is_odd(const struct scan *scan, size_t from, size_t to)
{
	size_t a = from / 64, b = (to - 1) / 64;
	uint64_t first = ~0ull << from % 64, last = ~0ull >> (63 - (to - 1) % 64), any;

	if (a == b)
		return scan->odd[a] & first & last;
	any = (scan->odd[a] & first) | (scan->odd[b] & last);
	while (++a < b)
		any |= scan->odd[a];
	return any;
}

#endif

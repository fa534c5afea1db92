/* SPDX-License-Identifier: MIT */
/*
 * prefix.h - what stands in front of a message
 */
#ifndef HASHDIST_KLOG_PREFIX_H
#define HASHDIST_KLOG_PREFIX_H

#include "internal.h"

/** Take every prefix off. The line's raw, text and end are set. */
void klog__strip_prefix(struct line *line);
/** "kernel:" within the length of a syslog prefix. Return: behind it, or NULL. */
const char *klog__kernel_tag(const char *p, const char *e);
/** A kernel time in brackets somewhere in @p. Return: its bracket, or NULL. */
const char *klog__inner_stamp(const char *p, const char *e);

/** "[    0.000000] ", or the caller right behind it */
static inline bool klog__plain_stamp(const char *s, const char *e)
{
	return e - s > 32 && s[0] == '[' && s[6] == '.' && s[13] == ']' &&
	       (s[14] == ' ' || s[14] == '[');
}

/** "[    0.000000]" and nothing else, of the first ten seconds; 14 bytes are there */
static inline bool klog__exact_stamp(const char *p)
{
	for (int i = 7; i < 13; i++)
		if (!klog__is_digit(p[i]))
			return false;
	return memcmp(p, "[    ", 5) == 0 && klog__is_digit(p[5]) && p[6] == '.' && p[13] == ']';
}

/** Strip the commonest prefixes. Return: false to do it the long way. */
static inline __attribute__((always_inline)) bool klog__usual_prefix(struct line *line,
								     const char *s, const char *e)
{
	const char *p = s;

	if (*p != '[') {
		while (e - p > 24 && (*p == '>' || *p == ' '))
			p++;
		if (p[0] == '<' && e - p > 24 && p[2] == '>')
			p += 3;
	}
	if (!klog__plain_stamp(p, e))
		return false;
	line->stamp = p + 1;
	p += 14;
	if (p[0] == '[' || p[1] == '[') { /* the caller: "[    T0] ", " [      T1] " */
		p += *p == ' ';
		if (p[7] == ']' && p[8] == ' ' && p[1] == ' ')
			p += 8;
		else if (p[9] == ']' && p[1] == ' ')
			p += 10;
		else
			return false;
	}
	p++;
	if (*p == ' ')
		p = klog__blanks(p, e);
	if (unlikely(p >= e || *p == '[' || *p == '('))
		return false;
	line->text = p;
	line->stamped = true;
	line->us = KLOG_LAZY;
	return true;
}

#endif

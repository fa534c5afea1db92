/* SPDX-License-Identifier: MIT */
/*
 * prefix.c - what stands in front of a message
 *
 *   [    0.000000] msg                 <6>[    0.000000][    T0] msg
 *   Jul 27 14:41:57 host kernel: msg   kern  :info  : [Wed Dec 14 20:00:04 2022] msg
 *   > > [    0.000000] msg             2024-12-17 14:39:28,478 DEBUG: msg
 *   6,123,456,-;msg                    12:[    0.000000] msg
 *
 * One piece after the other is taken off until nothing more looks like one. A line that
 * has a time, level, caller or host starts a record; quotes, bullets and line numbers
 * say nothing about that. prefix.h has the commonest form, inlined.
 *
 * Refused: binary journals, and the dictionaries of /dev/kmsg.
 */
#include "prefix.h"

enum {
	HOST_MAX = 100, /* where "kernel:" must come in a syslog prefix */
};

/** Digits, '.', at least @min digits. Return: behind them, or NULL. */
static const char *seconds(const char *p, const char *e, int min)
{
	const char *start = p;

	while (p < e && klog__is_digit(*p))
		p++;
	if (p == start || p == e || *p != '.')
		return NULL;
	start = ++p;
	while (p < e && klog__is_digit(*p))
		p++;
	return p - start >= min ? p : NULL;
}

static bool month(const char *p, const char *e)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	if (e - p < 3)
		return false;
	for (int i = 0; i < 36; i += 3)
		if (memcmp(p, months + i, 3) == 0)
			return true;
	return false;
}

static bool weekday(const char *p, const char *e)
{
	static const char days[] = "MonTueWedThuFriSatSun";

	if (e - p < 4 || p[3] != ' ')
		return false;
	for (int i = 0; i < 21; i += 3)
		if (memcmp(p, days + i, 3) == 0)
			return true;
	return false;
}

/** hh:mm[:ss[.,]frac]. Return: behind it, or NULL. */
static const char *clock_time(const char *p, const char *e)
{
	if (e - p < 5 || !klog__is_digit(p[0]) || !klog__is_digit(p[1]) || p[2] != ':' ||
	    !klog__is_digit(p[3]) || !klog__is_digit(p[4]))
		return NULL;
	p += 5;
	while (p < e && (klog__is_digit(*p) || *p == ':' || *p == '.' || *p == ','))
		p++;
	return p;
}

/** yyyy-mm-dd[T ]hh:mm:ss and zone. Return: behind it, or NULL. */
static const char *iso_time(const char *p, const char *e)
{
	if (e - p < 16)
		return NULL;
	for (int i = 0; i < 10; i++)
		if (i == 4 || i == 7 ? p[i] != '-' && p[i] != '/' : !klog__is_digit(p[i]))
			return NULL;
	if (p[10] != 'T' && p[10] != ' ' && p[10] != '_')
		return NULL;
	p = clock_time(p + 11, e);
	if (!p)
		return NULL;
	if (p < e && *p == 'Z')
		return p + 1;
	if (e - p >= 5 && (*p == '+' || *p == '-') && klog__is_digit(p[1]))
		for (p++; p < e && (klog__is_digit(*p) || *p == ':'); p++)
			;
	return p;
}

/** Something in brackets that is part of a prefix. Return: behind it, or NULL. */
static const char *bracket(struct line *line, const char *p, const char *e)
{
	const char *start = klog__blanks(p + 1, e), *q;

	p = start;
	if (p == e)
		return NULL;
	if (*p == '+')
		p++;
	q = seconds(p, e, 3);
	if (q) {
		const char *digits = p;

		if (q < e && *q == '@') /* the CPU, on some vendors' kernels */
			for (q++; q < e && klog__is_digit(*q); q++)
				;
		q = klog__blanks(q, e);
		if (q < e && *q == '<') /* dmesg -d */
			while (q < e && *q++ != '>')
				;
		if (q == e || *q != ']')
			return NULL;
		if (*start != '+' && !line->stamp)
			line->stamp = digits;
		return q + 1;
	}
	if ((*p == 'T' || *p == 'C') && p + 1 < e && klog__is_digit(p[1])) {
		for (p++; p < e && (klog__is_digit(*p) || *p == '@' || *p == 'C' || *p == 'T'); p++)
			;
		return p < e && *p == ']' ? p + 1 : NULL;
	}
	if (weekday(p, e) || month(p, e) || iso_time(p, e)) {
		for (q = p; q < e && q - p < 40 && *q != ']'; q++)
			;
		return q < e && *q == ']' ? q + 1 : NULL;
	}
	if (line->stamp && klog__is_digit(*p)) { /* [0:  swapper/0:    1] */
		for (q = p; q < e && klog__is_digit(*q); q++)
			;
		if (q == e || *q != ':')
			return NULL;
		for (; q < e && q - p < 40 && *q != ']'; q++)
			;
		return q < e && *q == ']' ? q + 1 : NULL;
	}
	return NULL;
}

/** "kernel:" within the length of a syslog prefix. Return: behind it, or NULL. */
const char *klog__kernel_tag(const char *p, const char *e)
{
	const char *window = e - p > HOST_MAX ? p + HOST_MAX : e, *q = p;

	while ((q = memchr(q, ':', (size_t)(window - q)))) {
		if (q - p >= 6 && memcmp(q - 6, "kernel", 6) == 0)
			return q + 1;
		q++;
	}
	return NULL;
}

/** Host, facility and tag behind a wall clock. Return: behind what was recognised. */
static const char *behind_clock(const char *p, const char *e)
{
	const char *q = klog__kernel_tag(p, e);

	if (q)
		return q;
	p = q = klog__blanks(p, e);
	while (q < e &&
	       (klog__is_alpha(*q) || *q == '-' || *q == '_' || *q == '.' || klog__is_digit(*q)))
		q++;
	if (q > p && e - q > 1 && *q == ':' && (q[1] == '\t' || q[1] == ' ') && q - p <= 8)
		return q + 1; /* "DEBUG:\t" */
	if (q > p && e - q > 2 && *q == ' ' && (q[1] == '[' || q[1] == '<'))
		return q + 1; /* a host and nothing else */
	return p;
}

/** "kern  :info  : ", "Jul 27 14:41:57 host kernel: ". Return: behind it, or NULL. */
static const char *letters(const char *p, const char *e)
{
	const char *q = p;

	if (e - p > 12 && p[3] == ' ' && *p <= 'S' && month(p, e)) {
		q = klog__blanks(p + 3, e);
		while (q < e && klog__is_digit(*q))
			q++;
		q = clock_time(klog__blanks(q, e), e);
		return q ? behind_clock(q, e) : NULL;
	}
	if (*p < 'a' || *p > 'z')
		return NULL;
	while (q < e && q - p < 9 && *q >= 'a' && *q <= 'z')
		q++;
	q = klog__blanks(q, e);
	if (q == e || *q != ':' || q - p > 12)
		return NULL;
	p = ++q;
	while (q < e && q - p < 8 && *q >= 'a' && *q <= 'z')
		q++;
	if (q == p)
		return NULL;
	q = klog__blanks(q, e);
	return q < e && *q == ':' && q - p < 9 ? q + 1 : NULL;
}

/** "6,123,456,-;", a clock, a line number. Return: behind it, or NULL. Sets *@stamped. */
static const char *digits(struct line *line, const char *p, const char *e, bool *stamped)
{
	const char *q = iso_time(p, e), *r = p;
	uint64_t us = 0;

	*stamped = true;
	if (q || (e - p > 8 && p[2] == ':' && p[5] == ':' && (q = clock_time(p, e))))
		return behind_clock(q, e);
	while (r < e && klog__is_digit(*r))
		r++;
	if (r < e && *r == ',') {
		for (q = r + 1; q < e && klog__is_digit(*q); q++)
			;
		if (q == r + 1 || q == e || *q != ',')
			return NULL;
		q++;
		r = klog__number(q, e, &us);
		if (r == q || r == e || *r != ',')
			return NULL;
		for (q = r; q < e && q - r < HOST_MAX && *q != ';'; q++)
			;
		if (q == e || *q != ';')
			return NULL;
		line->us = (int64_t)(us > INT64_MAX ? INT64_MAX : us);
		return q + 1;
	}
	*stamped = false;
	if (r - p > 7 || r == e)
		return NULL;
	q = *r == ':' || *r == '-' || *r == '|' ? r + 1 : r;
	if (q > r && q < e && klog__is_alpha(*q))
		return q; /* grep -n */
	q = klog__blanks(q, e);
	return q > r && q < e && (*q == '[' || *q == '<' || *q == '>') ? q : NULL;
}

/** "&gt;", "<6>", "<br>". Return: behind it, or NULL. */
static const char *angle(struct line *line, const char *p, const char *e)
{
	const char *q = p + 1;

	if (*p == '&')
		return STARTS(p, e, "&gt;") ? p + 4 : NULL;
	while (q < e && klog__is_digit(*q))
		q++;
	if (q > p + 1 && q - p < 5 && q < e && *q == '>') {
		line->stamped = true;
		return q + 1;
	}
	for (q = p + 1; q < e && q - p < 8 && (klog__is_alpha(*q) || *q == '/'); q++)
		;
	return q > p + 1 && q < e && *q == '>' ? q + 1 : NULL;
}

/** Take every prefix off. The line's raw, text and end are set. */
void klog__strip_prefix(struct line *line)
{
	const char *p = line->text, *e = line->end, *q;
	bool stamped, bullet = false;

	for (;;) {
		p = klog__blanks(p, e);
		if (p == e)
			break;
		q = NULL;
		stamped = true;
		switch (*p) {
		case '>':
		case '|':
			line->quoted = true;
			stamped = false;
			q = p + 1;
			break;
		case '&':
		case '<':
			stamped = false;
			q = angle(line, p, e);
			break;
		case '[':
			q = bracket(line, p, e);
			break;
		case '(': /* "(0)[1:swapper/0]" behind the time */
			if (line->stamp && e - p > 4 && klog__is_digit(p[1]) && p[2] == ')' &&
			    p[3] == '[')
				q = p + 3;
			break;
		case '+':
		case '-':
		case '*':
		case '#':
		case '`':
		case '"':
		case '\'':
			stamped = false;
			if (!line->stamped && !bullet && p + 1 < e &&
			    (klog__is_alpha(p[1]) || strchr(" \t[<>", p[1])))
				q = p + 1;
			bullet = true;
			break;
		default:
			if (line->stamped && line->stamp)
				break;
			if (klog__is_digit(*p))
				q = digits(line, p, e, &stamped);
			else if (klog__is_alpha(*p))
				q = letters(p, e);
			break;
		}
		if (!q)
			break;
		line->stamped |= stamped;
		p = q;
	}
	line->text = p;
	if (line->stamp && line->us < 0)
		line->us = KLOG_LAZY;
}

int64_t klog__us(const struct line *line)
{
	const char *p = line->stamp;
	uint64_t s = 0, us = 0;
	int n = 0;

	if (line->us != KLOG_LAZY || !p)
		return line->us;
	p = klog__blanks(p, line->end);
	for (; p < line->end && klog__is_digit(*p) && n < 12; p++, n++)
		s = s * 10 + (uint64_t)(*p - '0');
	if (p < line->end && *p == '.')
		p++;
	for (n = 0; n < 6; n++)
		us = us * 10 + (p < line->end && klog__is_digit(*p) ? (uint64_t)(*p++ - '0') : 0);
	return (int64_t)(s * 1000000 + us);
}

/** Digest of the prefix: equal for a line that was printed twice. 0: the line has no time. */
uint64_t klog__digest(const struct line *line)
{
	const char *p = line->raw, *e = line->text;
	uint64_t a, b, h;

	if (!line->stamped)
		return 0;
	if (likely(e - p >= 8 && e - p <= 16)) {
		memcpy(&a, p, 8);
		memcpy(&b, e - 8, 8);
		return ((a * 0x9e3779b97f4a7c15u) ^ b) | 1;
	}
	for (h = 14695981039346656037u; e - p >= 8; p += 8)
		h = ((h ^ klog__load8(p)) * 0x9e3779b97f4a7c15u) ^ h >> 29;
	if (p < e && e - line->raw >= 8)
		h = ((h ^ klog__load8(e - 8)) * 0x9e3779b97f4a7c15u) ^ h >> 29;
	else
		for (; p < e; p++)
			h = (h ^ (unsigned char)*p) * 1099511628211u;
	return h | 1;
}

/** A kernel time in brackets somewhere in @p. Return: its bracket, or NULL. */
const char *klog__inner_stamp(const char *p, const char *e)
{
	for (; (p = p < e ? memchr(p, '[', (size_t)(e - p)) : NULL); p++) {
		const char *q = klog__blanks(p + 1, e);

		if (q < e && klog__is_digit(*q) && q - p < 14 && (q = seconds(q, e, 6)) && q < e &&
		    *q == ']')
			return p;
	}
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * unwrap.c - put together what a mail program or a terminal has taken apart
 *
 * Lines are wrapped at a space, or anywhere by a terminal. A line that has a time, level,
 * caller or host starts a record. A line without is joined to the one before it only when
 * that one ended too early and this one goes on where it ended: for table lines the
 * grammar decides, for others that it is no message in its own right.
 *
 * Quoted-printable wraps with a '=' at the end of the line, and no doubt about it.
 *
 * Refused: guessing where a record was torn by another one.
 */
#include "prefix.h"

enum {
	PENDING_LINES = 24, /* lines one message may be wrapped into */
	TERMINAL_MIN = 79,  /* a line this wide was broken by a terminal, not at a space */
	SOFT_MIN = 70,      /* width of a line with a quoted-printable soft end */
	SOFT_MAX = 76,
};

/** Keep @line until its rest comes or does not come. */
void klog__hold(struct klog *log, const struct line *line)
{
	struct pending *q = &log->pend;
	const char *e = line->end;
	size_t len;

	while (e - line->text > 1 && klog__is_blank(e[-1]) && klog__is_blank(e[-2]))
		e--;
	len = (size_t)(e - line->raw);
	memmove(q->text, line->raw, len);
	q->len = (uint32_t)len;
	q->message = (uint32_t)(line->text - line->raw);
	q->name = line->name ? (uint32_t)(line->name - line->raw) : 0;
	q->name_len = line->name_len;
	q->figures = line->figures ? (uint32_t)(line->figures - line->raw) : 0;
	q->us = line->us;
	q->stamp = line->stamp ? (int32_t)(line->stamp - line->raw) : -1;
	q->width = (uint32_t)len;
	q->number = log->number;
	q->word = line->word;
	q->lines = 1;
	q->stamped = line->stamped;
	q->coloured = line->coloured;
}

/** The pending text as a line. */
static struct line held(const struct pending *q)
{
	return (struct line){ .raw = q->text,
			      .text = q->text + q->message,
			      .end = q->text + q->len,
			      .name = q->text + q->name,
			      .name_len = q->name_len,
			      .figures = q->text + q->figures,
			      .stamp = q->stamp < 0 ? NULL : q->text + q->stamp,
			      .us = q->us,
			      .stamped = q->stamped,
			      .coloured = q->coloured,
			      .joined = q->lines > 1,
			      .word = q->word };
}

/** Make do with what there is of the pending line. */
void klog__flush(struct klog *log)
{
	struct pending *q = &log->pend;
	struct line line = held(q);
	uint64_t number = log->number;
	const char *rest;

	log->number = q->number;
	q->len = 0;
	if (q->word == W_TABLE)
		klog__table(log, &line, true, &rest);
	else if (q->word != W_HEAD)
		klog__fact(log, &line, true);
	else if (memmem(line.text, (size_t)(line.end - line.text), " has", 4))
		klog__damaged(log, &line);
	log->number = number;
}

/** Does the next line start a record, so that nothing can be joined to this one? */
static bool closed(const struct klog *log)
{
	const char *s = log->next, *e = log->next_end;
	struct line line = { .raw = s, .text = s, .end = e, .us = -1 };

	if (!s || e - s < 16 || e - s > KLOG_LINE_MAX || e[-1] == '=' || e[-3] == '=')
		return false;
	if (klog__usual_prefix(&line, s, e))
		return true;
	line.stamp = NULL;
	klog__strip_prefix(&line);
	return line.stamped && !klog__hidden(&line);
}

void klog__hold_or_settle(struct klog *log, struct line *line)
{
	const char *rest;

	if (!closed(log)) {
		klog__hold(log, line);
		return;
	}
	while (line->end - line->text > 1 && klog__is_blank(line->end[-1]) &&
	       klog__is_blank(line->end[-2]))
		line->end--;
	if (line->word == W_TABLE)
		klog__table(log, line, true, &rest);
	else
		klog__fact(log, line, true);
}

/** Does text that ends in @a and goes on with @b go on without a space? */
static bool seamless(const struct pending *q, char a, char b)
{
	if (klog__is_blank(a) || klog__is_blank(b))
		return true;
	switch (q->word) {
	case W_BANNER:
	case W_CMDLINE:
	case W_KERNEL_CMDLINE:
	case W_REFUSED:
		return q->width >= TERMINAL_MIN;
	case W_NODE_RANGE:
	case W_INITMEM:
		return (klog__is_hex(a) || a == 'x') && (klog__is_hex(b) || b == 'x');
	default:
		return klog__is_digit(a) && klog__is_digit(b);
	}
}

/** May @line, which starts no record, be the rest of the pending line? */
static bool plausible(const struct klog *log, struct line *line)
{
	const struct pending *q = &log->pend;
	const char *p = line->text, *e = line->end;

	if (klog__word(&log->words, line) != W_NONE)
		return false;
	switch (q->word) {
	case W_MEMORY:
		for (; p < e; p++)
			if (!klog__is_alpha(*p) && !klog__is_digit(*p) && !strchr(" ,()-/\t", *p))
				return false;
		return true;
	case W_NODE_RANGE:
	case W_INITMEM:
		return klog__is_hex(*p) || *p == 'x' || *p == '-' || *p == ']' || *p == '[' ||
		       *p == ':' || STARTS(p, e, "mem ") || STARTS(p, e, "memoryless");
	case W_ZONELISTS:
		return e - p < 64 && (klog__is_digit(*p) || strchr("Tmgpoixyb,", *p));
	case W_BANNER:
	case W_CMDLINE:
	case W_KERNEL_CMDLINE:
	case W_REFUSED:
		return true;
	default:
		return e - p < 120;
	}
}

/** Append @line to the pending one. Return: false if it does not fit. */
static bool append(struct pending *q, const struct line *line)
{
	size_t len = (size_t)(line->end - line->text);
	size_t room = KLOG_LINE_MAX - q->len;

	if (q->lines >= PENDING_LINES || len + 1 > room)
		return false;
	if (!seamless(q, q->text[q->len - 1], *line->text))
		q->text[q->len++] = ' ';
	memcpy(q->text + q->len, line->text, len);
	q->len += (uint32_t)len;
	q->lines++;
	return true;
}

/** The table line pending and @line behind it: what does the grammar say? */
static enum taken join_table(struct klog *log, uint32_t seam, const char **rest)
{
	struct pending *q = &log->pend;
	struct line both = held(q);
	const char *stop = both.text;
	enum taken got;

	if (q->word == W_HEAD) {
		both.word = (uint8_t)klog__word(&log->words, &both);
		if (both.word != W_TABLE && klog__table_anchor(&both))
			both.word = W_TABLE;
		if (both.word != W_TABLE)
			return klog__name_head(both.text, both.end) ? MORE : BAD;
		if (both.figures <= q->text + seam)
			return BAD;
		q->word = W_TABLE;
		q->name = (uint32_t)(both.name - q->text);
		q->name_len = both.name_len;
		q->figures = (uint32_t)(both.figures - q->text);
	}
	got = klog__table_try(&both, &stop);
	if (got == BAD || stop <= q->text + seam)
		return BAD;
	if (got == MORE)
		return MORE;
	got = klog__table(log, &both, false, rest);
	return got == MORE ? MORE : TAKEN;
}

/** Try to join @line to the pending one. Return: whether it is used up. */
bool klog__join(struct klog *log, struct line *line)
{
	struct pending *q = &log->pend;
	uint32_t seam = q->len;
	uint64_t number = log->number;
	uint8_t word = q->word;
	const char *rest = NULL;
	enum taken got = BAD;

	if (line->stamped) {
		klog__flush(log);
		return false;
	}
	if (line->text == line->end) {
		if (q->word == W_BANNER || q->word == W_CMDLINE || q->word == W_KERNEL_CMDLINE)
			klog__flush(log);
		return true;
	}
	if ((word == W_TABLE || word == W_HEAD || plausible(log, line)) && append(q, line)) {
		log->number = q->number;
		if (word == W_TABLE || word == W_HEAD) {
			got = join_table(log, seam, &rest);
		} else {
			struct line both = held(q);

			got = klog__fact(log, &both, false);
		}
		log->number = number;
		if (got == BAD) {
			q->len = seam;
			q->lines--;
			q->word = word;
		}
	}
	if (got == BAD) {
		klog__flush(log);
		return false;
	}
	q->width = (uint32_t)(line->end - line->raw);
	if (got == TAKEN) {
		size_t left = rest ? (size_t)(q->text + q->len - rest) : 0;

		q->len = 0;
		/* what was not understood is the tail of @line, which may hold another message */
		if (left >= 8 && left <= (size_t)(line->end - line->text))
			klog__logical(log, line->end - left, line->end - left, line->end,
				      line->coloured, 1);
	}
	return true;
}

/* ---- quoted-printable --------------------------------------------------------------- */

/** Does @s start a record, so that it cannot be the rest of a line? */
static bool starts_record(const struct klog *log, const char *s, const char *e)
{
	struct line line = { .raw = s, .text = s, .end = e, .us = -1 };

	klog__strip_prefix(&line);
	return line.stamped || (line.quoted && log->raw[0] == '>');
}

/** "=20" where a space would be lost at the end of a line. */
const char *klog__soft_spaces(const char *s, const char *e)
{
	while (e - s > 3 && e[-3] == '=' && e[-2] == '2' && e[-1] == '0' &&
	       (strchr(" ,:;)", e[-4]) || e - s > 6))
		if (e[-4] && strchr(" ,:;)(", e[-4]))
			e -= 3;
		else
			break;
	return e;
}

void klog__raw_flush(struct klog *log)
{
	const char *e = log->raw + log->raw_len;

	log->raw_len = 0;
	klog__whole(log, log->raw, klog__soft_spaces(log->raw, e), log->raw_number);
}

/** A line that is part of a quoted-printable one, or may be. Return: whether it is used up. */
bool klog__soft_end(struct klog *log, const char *s, const char *e)
{
	bool soft = e > s && e[-1] == '=' && e - s >= SOFT_MIN && e - s <= SOFT_MAX;
	size_t len = (size_t)(e - s) - soft;

	if (log->raw_len && (starts_record(log, s, e) || log->raw_len + len >= KLOG_LINE_MAX)) {
		log->raw[log->raw_len++] = '='; /* it was meant */
		klog__raw_flush(log);
	}
	if (!log->raw_len) {
		if (!soft)
			return false;
		log->raw_number = log->stats.lines;
	}
	memcpy(log->raw + log->raw_len, s, len);
	log->raw_len += (uint32_t)len;
	if (!soft)
		klog__raw_flush(log);
	return true;
}

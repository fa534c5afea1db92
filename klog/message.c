/* SPDX-License-Identifier: MIT */
/*
 * message.c - find what is to be read in one line
 *
 * Mostly that is the one message behind the prefix. But a line may also have colours and
 * other control characters in it, a second message glued to the first, or a known one
 * behind words nobody knows. Work per line is linear in its length: a line of
 * KLOG_LINE_MAX bytes is looked into for glued messages a few times and no more.
 */
#include "prefix.h"

enum {
	GLUED_MAX = 8, /* messages looked for in one line */
};

void klog__damaged(struct klog *log, const struct line *line)
{
	/* prose about hash table entries is no table line */
	if (line->word == W_TABLE) {
		const char *p = klog__blanks(line->figures, line->end);

		if (p < line->end && *p != ':' && *p != '[' && *p != '(' && !klog__is_digit(*p))
			return;
	}
	log->stats.damaged++;
	log->boot.damaged++;
	klog__boot_touch(log);
	if (log->sink.damaged)
		log->sink.damaged(log->sink.ctx, line->raw, (size_t)(line->end - line->raw),
				  log->number);
}

/** "Linux version 6" somewhere in @p. Return: its start, or NULL. */
static const char *inner_banner(const char *p, const char *e)
{
	const char *q;

	while ((q = AFTER(p, e, "Linux version "))) {
		if (q < e && klog__is_digit(*q))
			return q - 14;
		p = q;
	}
	return NULL;
}

enum { MAY_CONTROL = 1, MAY_TABLE = 2, MAY_BANNER = 4, MAY_STAMP = 8 };

/** What may be hidden in a line nobody knew: one quick pass, false alarms allowed. */
static unsigned look(const char *p, const char *e)
{
	typedef unsigned char v16 __attribute__((vector_size(16)));
	unsigned may = 0;
	v16 control = { 0 }, table = { 0 }, banner = { 0 }, stamp = { 0 };
	union {
		v16 v;
		uint64_t w[2];
	} u;

	for (; e - p >= 16 + 7; p += 16) {
		v16 c, c4, c7, c1;

		memcpy(&c, p, 16);
		memcpy(&c1, p + 1, 16);
		memcpy(&c4, p + 4, 16);
		memcpy(&c7, p + 7, 16);
		control |= ((v16)(c < 32) & (v16)(c != '\t')) | (v16)(c == 0xc2);
		table |=
		    (v16)((c1 | 32) == 'a') & (v16)((c4 | 32) == ' ') & (v16)((c7 | 32) == 'b');
		banner |= (v16)(c == 'L') & (v16)(c4 == 'x');
		stamp |= (v16)(c == '[') & ((v16)(c1 == ' ') | (v16)((c1 & 0xf0) == '0'));
	}
	u.v = control;
	may |= u.w[0] | u.w[1] ? MAY_CONTROL : 0;
	u.v = table;
	may |= u.w[0] | u.w[1] ? MAY_TABLE : 0;
	u.v = banner;
	may |= u.w[0] | u.w[1] ? MAY_BANNER : 0;
	u.v = stamp;
	may |= u.w[0] | u.w[1] ? MAY_STAMP : 0;
	for (; p < e; p++) {
		unsigned char c = (unsigned char)*p;

		if ((c < 32 && c != '\t') || c == 0xc2)
			may |= MAY_CONTROL;
		else if (c == 'h' || c == 'H')
			may |= MAY_TABLE;
		else if (c == 'L')
			may |= MAY_BANNER;
		else if (c == '[')
			may |= MAY_STAMP;
	}
	return may;
}

/** Drop escape sequences and other control characters. Return: behind the text in @out. */
static char *clean(const char *p, const char *e, char *out)
{
	while (p < e) {
		unsigned char c;

		/* eight at once while none of them is special */
		while (e - p >= 8) {
			const uint64_t ones = 0x0101010101010101u, high = ones * 0x80;
			uint64_t x = klog__load8(p), y = x ^ ones * 0xc2;

			if (((x - ones * 32) & ~x & high) || ((y - ones) & ~y & high))
				break;
			memcpy(out, &x, 8);
			out += 8;
			p += 8;
		}
		if (p == e)
			break;
		c = (unsigned char)*p++;
		if (c == 0xc2 && p < e && (unsigned char)*p == 0xa0) {
			*out++ = ' '; /* no-break space */
			p++;
		} else if (likely(c >= 32 || c == '\t')) {
			*out++ = (char)c;
		} else if (c == 27 && p < e) {
			c = (unsigned char)*p++;
			if (c == '[') {
				while (p < e && (unsigned char)*p >= 0x20 &&
				       (unsigned char)*p < 0x40)
					p++;
				p += p < e;
			} else if (c == ']') {
				while (p < e && *p != 7 && *p != 27)
					p++;
				p += p < e;
			}
		}
	}
	return out;
}

/** A line with control characters in it, again without them. */
void klog__scrub(struct klog *log, const char *p, const char *e, int depth)
{
	const char *q;

	/* a carriage return starts over; everything before it was another line */
	while ((q = memchr(p, '\r', (size_t)(e - p)))) {
		if (q - p >= 8)
			klog__logical(log, log->clean, log->clean, clean(p, q, log->clean), true,
				      depth);
		p = q + 1;
	}
	klog__logical(log, log->clean, log->clean, clean(p, e, log->clean), true, depth);
}

/** Did the prefix end at a character that hides the rest of it? */
bool klog__hidden(const struct line *line)
{
	const unsigned char *p = (const unsigned char *)line->text;
	ptrdiff_t len = line->end - line->text;

	if (len == 0)
		return false;
	if (*p == '[' && len > 1)
		p++;
	return (*p < 32 && *p != '\t') || *p == 0xc2;
}

/** No message we know starts here. Look for one further on. */
static void unknown(struct klog *log, struct line *line, int depth)
{
	const char *p = line->text, *e = line->end, *q;
	unsigned may;

	if (e - p < 3)
		return;
	may = look(p, e);
	if (unlikely(may & MAY_CONTROL) && !line->coloured) {
		klog__scrub(log, line->raw, e, depth);
		return;
	}
	/* a host behind the time: journalctl -o short-monotonic */
	if (line->stamped && (q = klog__kernel_tag(p, e)) && q < e && *q == ' ' &&
	    !memchr(p, ':', (size_t)(q - 1 - p)) && depth < GLUED_MAX) {
		line->text = klog__blanks(q, e);
		klog__message(log, line, depth + 1);
		return;
	}
	if (may & MAY_STAMP && depth < GLUED_MAX &&
	    (q = klog__inner_stamp(p + (p == line->raw), e))) {
		struct line head = *line;

		head.end = q;
		if (may & MAY_TABLE && klog__table_anchor(&head)) {
			const char *rest;

			head.word = W_TABLE;
			klog__table(log, &head, true, &rest);
			p = q;
		}
		/* what stands before the time may tell one boot from another: it is prefix */
		klog__logical(log, p == line->text ? line->raw : q, q, e, line->coloured,
			      depth + 1);
		return;
	}
	if (may & MAY_BANNER && (q = inner_banner(p, e))) {
		line->text = q;
		line->word = W_BANNER;
		line->figures = q + 14;
		if (klog__fact(log, line, false) == MORE)
			klog__hold(log, line);
		return;
	}
	if (may & MAY_TABLE && klog__table_anchor(line)) {
		line->word = W_TABLE;
		klog__message(log, line, depth);
		return;
	}
	if (e - p < 70 && (strchr("DIMTUPVfst", *p) || e[-1] == 'h' || e[-1] == 'e') &&
	    klog__name_head(p, e)) {
		line->word = W_HEAD;
		klog__hold(log, line);
	}
}

/** One message: @line has its text, and its word when that is known already. */
void klog__message(struct klog *log, struct line *line, int depth)
{
	const char *rest = NULL;
	enum taken got;

	if (!line->word)
		line->word = (uint8_t)klog__word(&log->words, line);
	switch (line->word) {
	case W_NOISE:
		return;
	case W_NONE:
		unknown(log, line, depth);
		return;
	case W_TABLE:
		got = klog__table(log, line, false, &rest);
		break;
	default:
		got = klog__fact(log, line, false);
		break;
	}
	if (likely(got == TAKEN)) {
		if (unlikely(rest && line->end - rest >= 8) && depth < GLUED_MAX)
			klog__logical(log, rest, rest, line->end, line->coloured, depth + 1);
		return;
	}
	if (got == MORE) {
		klog__hold_or_settle(log, line);
		return;
	}
	if (!line->coloured && look(line->text, line->end) & MAY_CONTROL) {
		line->word = W_NONE;
		unknown(log, line, depth);
		return;
	}
	if (line->word == W_TABLE) {
		const char *q = klog__inner_stamp(line->text, line->end);

		klog__damaged(log, line);
		if (q && depth < GLUED_MAX)
			klog__logical(log, q, q, line->end, line->coloured, depth + 1);
	}
}

/** One line with whatever prefix from @s on; @raw is where it really starts. */
void klog__logical(struct klog *log, const char *raw, const char *s, const char *e, bool coloured,
		   int depth)
{
	struct line line = { .raw = raw, .text = s, .end = e, .us = -1, .coloured = coloured };

	log->next = NULL; /* the rest of a piece need not be on the next line */
	klog__strip_prefix(&line);
	if (unlikely(log->pend.len) && klog__join(log, &line))
		return;
	if (line.text < line.end)
		klog__message(log, &line, depth);
}

/* SPDX-License-Identifier: MIT */
/*
 * line.c - cut the stream into lines, and pass by those that cannot matter
 *
 * The reader's way in and out: klog_new(), klog_feed(), klog_finish(). Text comes in
 * pieces of any size; a line that straddles two is put together first.
 *
 * Most lines of a whole log are none of ours. Text is scanned a block at a time for line
 * ends and for all that would call for a closer look (scan.h); a line with the usual
 * prefix, without such a thing and without a known first word is counted and done with.
 */
#include <stdlib.h>

#include "prefix.h"
#include "scan.h"

/**
 * "Jul 27 14:41:57 host kernel: " as on the line before, and a plain time behind it.
 * The head tells all by itself, so the same head is the same prefix.
 */
static bool same_head(const struct klog *log, struct line *line)
{
	const char *p;

	if (!log->head_len || line->end - line->raw < (ptrdiff_t)log->head_len + 40 ||
	    memcmp(line->raw, log->head, log->head_len) != 0)
		return false;
	p = line->raw + log->head_len;
	if (!klog__exact_stamp(p) || p[14] != ' ' || !klog__is_alpha(p[15]))
		return false;
	line->stamp = p + 1;
	line->text = p + 15;
	line->stamped = true;
	line->us = KLOG_LAZY;
	return true;
}

/** Remember what stands before the time, if it ends in "kernel: ". */
static void keep_head(struct klog *log, const struct line *line)
{
	size_t len = line->stamp && line->us == KLOG_LAZY ? (size_t)(line->stamp - line->raw) : 0;

	while (len && line->raw[len] != '[')
		len--;
	if (len < 16 || len > sizeof(log->head) || memcmp(line->raw + len - 8, "kernel: ", 8) != 0)
		return;
	memcpy(log->head, line->raw, len);
	log->head_len = (uint32_t)len;
}

/** A line as the sender wrote it, quoted-printable ends undone. */
void klog__whole(struct klog *log, const char *s, const char *e, uint64_t number)
{
	struct line line = { .raw = s, .text = s, .end = e, .us = -1 };

	log->number = number;
	if (unlikely(s == e && !log->pend.len))
		return;
	if (unlikely(s == e || !klog__usual_prefix(&line, s, e)) && !same_head(log, &line)) {
		line.stamp = NULL;
		klog__strip_prefix(&line);
		keep_head(log, &line);
		if (unlikely(klog__hidden(&line))) {
			klog__scrub(log, s, e, 0);
			return;
		}
	}
	if (unlikely(log->pend.len) && klog__join(log, &line))
		return;
	if (likely(line.text < line.end))
		klog__message(log, &line, 0);
}

/** A line between two line ends, counted already. */
static void physical(struct klog *log, const char *s, const char *e)
{
	while (e > s && e[-1] == '\r')
		e--;
	if (unlikely(log->raw_len || (e > s && e[-1] == '='))) {
		log->next = NULL; /* what is put together ends elsewhere */
		if (klog__soft_end(log, s, e))
			return;
	}
	if (unlikely(e - s > 3 && e[-1] == '0' && e[-3] == '='))
		e = klog__soft_spaces(s, e);
	klog__whole(log, s, e, log->stats.lines);
}

/* ---- the stream -------------------------------------------------------------------------- */

static void begin(struct klog *log)
{
	if (log->finished)
		memset(&log->stats, 0, sizeof(log->stats));
	log->finished = false;
}

/** Keep the start of a line whose end is yet to come. */
static void keep_part(struct klog *log, const char *p, size_t len)
{
	size_t room = KLOG_LINE_MAX - log->part_len;

	if (len > room && !log->cutting) {
		log->cutting = true;
		log->stats.long_lines++;
	}
	if (len > room)
		len = room;
	memcpy(log->part + log->part_len, p, len);
	log->part_len += (uint32_t)len;
	log->parting = true;
}

static void part_end(struct klog *log)
{
	uint32_t len = log->part_len;

	log->part_len = 0;
	log->parting = log->cutting = false;
	log->stats.lines++;
	physical(log, log->part, log->part + len);
}

/**
 * Is this a line with the usual prefix, at least eight bytes behind it, and nothing at its
 * end that must be undone? Then the prefix is taken off.
 */
static inline bool plain(struct line *line, const char *s, const char *e)
{
	if (e - s > 40 && e - s <= KLOG_LINE_MAX) {
		if (!klog__usual_prefix(line, s, e) || e - line->text < 8)
			return false;
	} else if (e - s >= 15 + 8 && e - s <= 40 && klog__exact_stamp(s) && s[14] == ' ' &&
		   klog__is_alpha(s[15])) {
		line->stamp = s + 1;
		line->text = s + 15;
		line->stamped = true;
		line->us = KLOG_LAZY;
	} else {
		return false;
	}
	return e[-1] != '=' && e[-1] != '\r' && e[-3] != '=';
}

/** One line of a scanned block that starts at @block; @next: the line behind it, if it is there. */
static inline __attribute__((always_inline)) void scanned(struct klog *log, const struct scan *scan,
							  const char *block, const char *s,
							  const char *e, const char *next,
							  const char *next_end)
{
	struct line line = { .raw = s, .text = s, .end = e, .us = -1 };

	log->stats.lines++;
	log->next = next;
	log->next_end = next_end;
	if (likely(plain(&line, s, e) && !log->raw_len)) {
		if (unlikely(log->pend.len)) {
			log->number = log->stats.lines;
			klog__flush(log);
		}
		if (!klog__may_be_word(&log->words, line.text) &&
		    !klog__scan_is_odd(scan, (size_t)(line.text - block), (size_t)(e - block)))
			return;
		log->number = log->stats.lines;
		klog__message(log, &line, 0);
		return;
	}
	if (unlikely(e - s > KLOG_LINE_MAX)) {
		log->stats.long_lines++;
		e = s + KLOG_LINE_MAX;
	}
	physical(log, s, e);
}

/** Lines from @p on, as many as a block has. Return: behind the last of them. */
static const char *block(struct klog *log, const char *p, const char *end)
{
	struct scan scan;
	const char *s = p, *last = NULL, *last_end = NULL;
	size_t len = end - p < SCAN_BYTES ? (size_t)(end - p) : SCAN_BYTES;
	size_t words = klog__scan(&scan, p, len, end);

	/* one line behind, so that the next one is known */
	for (size_t w = 0; w < words; w++) {
		for (uint64_t bits = scan.newline[w]; bits; bits &= bits - 1) {
			const char *e = p + w * 64 + (unsigned)__builtin_ctzll(bits);

			if (likely(last))
				scanned(log, &scan, p, last, last_end, s, e);
			last = s;
			last_end = e;
			s = e + 1;
		}
	}
	if (last)
		scanned(log, &scan, p, last, last_end, NULL, NULL);
	log->next = NULL;
	if (unlikely(s == p && end - p > SCAN_BYTES)) {
		const char *nl = memchr(p + len, '\n', (size_t)(end - p) - len);

		if (!nl)
			return p;
		log->stats.lines++;
		log->stats.long_lines++;
		physical(log, p, p + KLOG_LINE_MAX);
		return nl + 1;
	}
	return s;
}

void klog_feed(struct klog *log, const char *data, size_t len)
{
	const char *p = data, *end = data + len;

	if (!len)
		return;
	if (unlikely(log->finished))
		begin(log);
	if (unlikely(log->stats.bytes < 4096)) {
		size_t head = 4096 - (size_t)log->stats.bytes;

		log->stats.binary |= !!memchr(data, 0, len < head ? len : head);
	}
	log->stats.bytes += len;
	if (log->parting) {
		const char *nl = memchr(p, '\n', len);

		keep_part(log, p, nl ? (size_t)(nl - p) : len);
		if (!nl)
			return;
		part_end(log);
		p = nl + 1;
	}
	while (p < end) {
		const char *next = block(log, p, end);

		/* no line end in all that was scanned: what is left is the start of a line */
		if (next == p || end - p <= SCAN_BYTES) {
			if (next < end)
				keep_part(log, next, (size_t)(end - next));
			return;
		}
		p = next;
	}
}

/** Hand on all that waits for more text. */
void klog__end_of_text(struct klog *log)
{
	if (log->parting)
		part_end(log);
	if (log->raw_len)
		klog__raw_flush(log);
	if (log->pend.len)
		klog__flush(log);
}

void klog_finish(struct klog *log)
{
	if (log->finished)
		begin(log);
	klog__end_of_text(log);
	klog__boot_close(log);
	log->ring_wrapped = false;
	log->finished = true;
}

const struct klog_stats *klog_stats(const struct klog *log)
{
	return &log->stats;
}

struct klog *klog_new(const struct klog_sink *sink)
{
	struct klog *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	log->sink = *sink;
	klog__words_init(&log->words);
	klog__fact_reset(log);
	klog__boot_reset(log);
	return log;
}

void klog_free(struct klog *log)
{
	free(log);
}

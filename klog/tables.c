/* SPDX-License-Identifier: MIT */
/*
 * tables.c - the figures of a table line
 *
 * What stands behind "hash table entries" has grown over the years:
 *
 *   2.4         : 4096 (order: 3, 32768 bytes)      and : 512 with nothing behind it
 *   2.6.5       : 16384 (order 4: 65536 bytes)
 *   2.6.11      : 262144 (order: 9, 2097152 bytes)  the order may be negative
 *   5.3         : 262144 (order: 9, 2097152 bytes, linear)           or "vmalloc"
 *   5.13        : 524288 (order: 10, 4194304 bytes, vmalloc hugepage)
 *   Dquot       : 512 (order 0, 4096 bytes), newest : 512 (4096 bytes)
 *   futex 6.16  : 512 (32768 bytes on 1 NUMA nodes, total 32 KiB, linear).
 *
 * Spaces are of no account, since a wrapped line has them in odd places. A line may be
 * cut anywhere: a figure at the very end may have lost digits and counts only if nothing
 * says otherwise, a word may have lost letters and counts if only one word starts so.
 *
 * Source: alloc_large_system_hash() from 2.6.11 on, and logs of every age.
 */
#include "internal.h"

/** Where reading is, and whether the text ended before the line did. */
struct cursor {
	const char *p, *end;
	bool short_of; /* something was missing at the end */
};

static void skip(struct cursor *c)
{
	while (c->p < c->end && (klog__is_blank(*c->p) || *c->p == '\r'))
		c->p++;
}

static bool take(struct cursor *c, char want)
{
	skip(c);
	if (c->p < c->end && *c->p == want) {
		c->p++;
		return true;
	}
	return false;
}

/** @word, or as much of it as the end of the text leaves. */
static bool take_word(struct cursor *c, const char *word)
{
	const char *start = c->p;

	for (; *word; word++) {
		if (*word == ' ')
			continue;
		skip(c);
		if (c->p == c->end) {
			c->short_of = true;
			return true;
		}
		if (*c->p != *word) {
			/* a cut word before a bracket: "524288 by)" */
			if (*c->p == ')' && c->p > start)
				return true;
			c->p = start;
			return false;
		}
		c->p++;
	}
	return true;
}

/** A number. @whole: something stands behind it, so no digit is missing. */
static bool take_number(struct cursor *c, uint64_t *value, bool *whole)
{
	const char *q;

	skip(c);
	q = klog__number(c->p, c->end, value);
	if (q == c->p)
		return false;
	c->p = q;
	*whole = q < c->end;
	return true;
}

/** "linear", "vmalloc", "vmalloc hugepage", or what is left of them. */
static void take_kind(struct cursor *c, struct klog_table *out)
{
	static const char linear[] = "linear", huge[] = "vmallochugepage";
	size_t n = 0, l = 0, h = 0;

	skip(c);
	if (c->end - c->p >= 7 && memcmp(c->p, "linear)", 7) == 0) {
		c->p += 6;
		out->mapping = HD_MAP_LINEAR;
		return;
	}
	for (;; n++) {
		skip(c);
		if (c->p == c->end || !klog__is_alpha(*c->p) || n == 20)
			break;
		l += l == n && n < 6 && *c->p == linear[n];
		h += h == n && n < 15 && *c->p == huge[n];
		c->p++;
	}
	if (n && l == n) {
		out->mapping = HD_MAP_LINEAR;
		out->mended |= n < 6;
	} else if (n > 7 && h == n) {
		out->mapping = HD_MAP_VMALLOC_HUGE;
		out->mended |= n < 15;
	} else if (n == 7 && h == n) {
		out->mapping = HD_MAP_VMALLOC;
	}
	c->short_of |= c->p == c->end;
}

/** "on 1 NUMA nodes, total 32 KiB, linear" */
static void take_nodes(struct cursor *c, struct klog_table *out)
{
	uint64_t value;
	bool whole = false;

	if (c->short_of || !take_number(c, &value, &whole) || !whole || value > UINT32_MAX) {
		c->short_of |= c->p == c->end;
		return;
	}
	if (!take_word(c, "NUMA nodes"))
		return;
	out->nodes = (uint32_t)value;
	if (c->short_of || !take(c, ',') || !take_word(c, "total") || c->short_of)
		return;
	if (!take_number(c, &value, &whole) || !take_word(c, "KiB") || c->short_of)
		return;
	if (take(c, ','))
		take_kind(c, out);
}

/** "4096 bytes", and what may follow */
static void take_bytes(struct cursor *c, struct klog_table *out)
{
	uint64_t value;
	bool whole;

	if (!take_number(c, &value, &whole))
		return;
	skip(c);
	if (whole && (c->p == c->end ? klog__is_blank(c->end[-1]) : *c->p == 'b')) {
		out->bytes = value;
		out->has_bytes = true;
	}
	if (!take_word(c, "bytes") || c->short_of)
		return;
	if (take(c, ','))
		take_kind(c, out);
	else if (c->p < c->end && *c->p == 'o' && take_word(c, "on"))
		take_nodes(c, out);
}

/** What stands in the brackets. */
static void take_brackets(struct cursor *c, struct klog_table *out)
{
	uint64_t value;
	bool whole, negative;

	skip(c);
	if (c->p < c->end && klog__is_digit(*c->p)) {
		take_bytes(c, out);
		return;
	}
	if (!take_word(c, "order") || c->short_of)
		return;
	take(c, ':');
	negative = take(c, '-');
	if (!take_number(c, &value, &whole) || value > 64) {
		return;
	}
	if (take(c, ',') || take(c, ':')) {
		out->order = negative ? -(int)value : (int)value;
		out->has_order = true;
		take_bytes(c, out);
	}
}

/**
 * Read figures. @c ends behind what was understood.
 * Return: TAKEN, MORE when the text ends before its closing bracket, BAD.
 */
static enum taken figures(struct cursor *c, struct klog_table *out)
{
	const char *number;
	uint64_t value;
	bool whole;

	take(c, ':');
	skip(c);
	number = c->p;
	if (!take_number(c, &value, &whole))
		return c->p == c->end ? MORE : BAD;
	/* a lone number at the end may have lost digits; a count is a power of two */
	out->entries = value;
	skip(c);
	if (c->p == c->end) {
		if (!whole && value & (value - 1))
			c->p = number;
		return MORE;
	}
	if (*c->p != '(') {
		/* "512[    0.01]", "512 and more" - or a number with a hole in it */
		if (*c->p != '[' && !klog__is_blank(c->p[-1])) {
			c->p = number;
			return BAD;
		}
		return TAKEN;
	}
	c->p++;
	take_brackets(c, out);
	skip(c);
	if (c->p == c->end)
		return MORE;
	if (*c->p == ')') {
		c->p++;
		if (c->p < c->end && *c->p == '.')
			c->p++;
		return TAKEN;
	}
	/* torn inside the brackets: what was read so far stands */
	return *c->p == '[' ? TAKEN : BAD;
}

static void empty(struct klog_table *out)
{
	out->entries = out->bytes = 0;
	out->order = 0;
	out->nodes = 0;
	out->mapping = HD_MAP_UNKNOWN;
	out->has_bytes = out->has_order = out->mended = false;
}

enum taken klog__table_try(const struct line *line, const char **stop)
{
	struct cursor c = { .p = line->figures, .end = line->end };
	struct klog_table table;
	enum taken got;

	empty(&table);
	got = figures(&c, &table);
	*stop = c.p;
	return got;
}

/** The usual modern form, figure by figure. Return: behind it, or NULL to try the long way. */
static inline const char *usual(const char *p, const char *e, struct klog_table *out)
{
	const char *q;
	uint64_t order;

	if (unlikely(e - p < 20 || p[0] != ':' || p[1] != ' '))
		return NULL;
	q = klog__number(p + 2, e, &out->entries);
	if (unlikely(q == p + 2 || !out->entries || !STARTS(q, e, " (order")))
		return NULL;
	q += 7;
	q += e - q > 1 && *q == ':';
	if (unlikely(q == e || *q != ' '))
		return NULL;
	p = klog__number(q + 1, e, &order);
	if (unlikely(p == q + 1 || order > 64 || !STARTS(p, e, ", ")))
		return NULL;
	q = klog__number(p + 2, e, &out->bytes);
	if (unlikely(q == p + 2 || !STARTS(q, e, " bytes")))
		return NULL;
	q += 6;
	if (STARTS(q, e, ", linear)")) {
		out->mapping = HD_MAP_LINEAR;
		q += 9;
	} else if (STARTS(q, e, ", vmalloc)")) {
		out->mapping = HD_MAP_VMALLOC;
		q += 10;
	} else if (STARTS(q, e, ")")) {
		out->mapping = HD_MAP_UNKNOWN;
		q++;
	} else if (STARTS(q, e, ", vmalloc hugepage)")) {
		out->mapping = HD_MAP_VMALLOC_HUGE;
		q += 19;
	} else {
		return NULL;
	}
	out->order = (int)order;
	out->nodes = 0;
	out->has_order = out->has_bytes = true;
	out->mended = false;
	return q;
}

/** Copy the name, spaces squeezed. Return: false when there is none. */
static bool copy_name(const struct line *line, struct klog_table *out)
{
	uint32_t n = line->name_len;

	if (!n || n >= KLOG_NAME_MAX)
		return false;
	memcpy(out->name, line->name, n);
	out->name[n] = '\0';
	return true;
}

enum taken klog__table(struct klog *log, struct line *line, bool last, const char **rest)
{
	struct klog_table stray, *out = &stray;
	uint32_t slot = log->boot.tables;

	/* read it where it will stay, if it does */
	if (likely(slot < KLOG_TABLES_MAX))
		out = &log->boot.table[slot];
	*rest = usual(line->figures, line->end, out);
	if (unlikely(!*rest)) {
		struct cursor c = { .p = line->figures, .end = line->end };
		enum taken got;

		empty(out);
		got = figures(&c, out);
		*rest = c.p;
		if (got == MORE && !last)
			return MORE;
		if (got == BAD || !out->entries ||
		    (got == MORE && c.p < c.end && klog__is_digit(*c.p))) {
			if (last)
				klog__damaged(log, line);
			return BAD;
		}
	}
	if (unlikely(!copy_name(line, out))) {
		if (last)
			klog__damaged(log, line);
		return BAD;
	}
	out->mended |= line->joined;
	out->id =
	    line->known ? line->known - 1 : (uint8_t)hd_table_by_name(out->name, line->name_len);
	log->stats.table_lines++;
	klog__boot_table(log, line, out);
	return TAKEN;
}

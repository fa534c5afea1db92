/* SPDX-License-Identifier: MIT */
/*
 * edge.c - where a file of many boots can be cut, so that each part can be read alone
 *
 * An edge is a line that begins a boot, "Linux version ..." or what arm prints before it,
 * behind a line that most likely belongs to another boot. Whether it is one hangs on a few
 * bytes around it and on nothing else: who looks from another place finds the same edges.
 *
 * Likely is not enough. A console may print a banner twice, and then it is one boot; so a
 * reader that arrives at an edge tells whether all that was open ends there.
 *
 * Refused: lines without a time or the like, which might be the rest of a wrapped line.
 */
#include "prefix.h"

enum { PREFIX_MAX = 200 };

/** Does the line from @s to @e begin a boot? */
static bool begins(const char *s, const char *e)
{
	struct line line = { .raw = s, .text = s, .end = e, .us = -1 };

	if (e - s < 24 || e[-1] == '=' || e[-3] == '=')
		return false;
	if (!klog__usual_prefix(&line, s, e)) {
		line.stamp = NULL;
		klog__strip_prefix(&line);
	}
	if (!line.stamped || !line.stamp)
		return false;
	if (STARTS(line.text, e, "Booting Linux on physical CPU "))
		return true;
	return e - line.text > 14 && STARTS(line.text, e, "Linux version ") &&
	       klog__is_digit(line.text[14]);
}

/** Does the line from @s to @e most likely end a boot: a table, or a time that is not zero? */
static bool ends(const char *s, const char *e)
{
	const char *p = e - s > PREFIX_MAX ? s + PREFIX_MAX : e, *bracket;

	if (AFTER(s, e, "hash table entries"))
		return true;
	bracket = klog__inner_stamp(s, p);
	if (!bracket)
		return false;
	for (p = bracket + 1; p < e && *p != ']'; p++)
		if (klog__is_digit(*p) && *p != '0')
			return true;
	return false;
}

/** Is the line at @s, behind a line end, an edge? */
static bool edge_at(const char *data, size_t len, size_t s)
{
	size_t room = len - s < KLOG_LINE_MAX ? len - s : KLOG_LINE_MAX;
	size_t back = s - 1 < KLOG_EDGE_BEHIND - 1 ? s - 1 : KLOG_EDGE_BEHIND - 1;
	const char *line = data + s, *end = memchr(line, '\n', room), *before;

	if (!end)
		return false;
	while (end > line && end[-1] == '\r')
		end--;
	before = memrchr(line - 1 - back, '\n', back);
	return before && ends(before + 1, line - 1) && begins(line, end);
}

size_t klog_edge(const char *data, size_t len, size_t from, size_t to)
{
	const char *end = data + (len - to > PREFIX_MAX ? to + PREFIX_MAX : len);

	for (const char *p = data + from, *hit; (hit = AFTER(p, end, "Linux ")); p = hit) {
		const char *first = hit - data > PREFIX_MAX ? hit - PREFIX_MAX : data;
		const char *nl = memrchr(first, '\n', (size_t)(hit - first));
		size_t s = nl ? (size_t)(nl - data) + 1 : 0;

		if (s >= to)
			break;
		if (s && s >= from && edge_at(data, len, s))
			return s;
	}
	return KLOG_NO_EDGE;
}

bool klog_at_edge(struct klog *log)
{
	if (log->parting || log->raw_len)
		return false;
	if (log->pend.len)
		klog__flush(log); /* what follows has a time, and starts a record */
	return log->open && log->boot.head_seen && log->boot.tables;
}

/* SPDX-License-Identifier: MIT */
/*
 * text.c - got in words
 *
 *   1 GiB on 512 translations of 2M, even over nodes 0-1
 *   1 GiB: 510 translations of 2M, 1024 of 4K (fragmented); node 0 60 %, node 1 40 % (node-full: node 1)
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "hashdist/hashdist.h"

const char *hd_step_name(unsigned step)
{
	static const char *const names[] = {
		[HD_STEP_NONE] = "none",         [HD_STEP_LIMITS] = "limits",
		[HD_STEP_RESERVE] = "reserve",   [HD_STEP_POLICY] = "policy",
		[HD_STEP_OPTIONS] = "options",   [HD_STEP_ADVICE] = "advice",
		[HD_STEP_POPULATE] = "populate", [HD_STEP_COLLAPSE] = "collapse",
		[HD_STEP_MOVE] = "move",         [HD_STEP_LOCK] = "lock",
		[HD_STEP_VERIFY] = "verify",
	};

	return step < sizeof(names) / sizeof(names[0]) ? names[step] : "?";
}

const char *hd_why_name(unsigned why)
{
	static const char *const names[] = {
		[HD_WHY_MET] = "met",
		[HD_WHY_UNKNOWN] = "unknown",
		[HD_WHY_TOO_SMALL] = "too-small",
		[HD_WHY_NO_SUPPORT] = "no-support",
		[HD_WHY_THP_NEVER] = "thp-never",
		[HD_WHY_THP_OFF] = "thp-off",
		[HD_WHY_FRAGMENTED] = "fragmented",
		[HD_WHY_POOL_EMPTY] = "pool-empty",
		[HD_WHY_POOL_UNEVEN] = "pool-uneven",
		[HD_WHY_HUGETLB_LIMIT] = "hugetlb-limit",
		[HD_WHY_MEMORY_LIMIT] = "memory-limit",
		[HD_WHY_MEMORY_SHORT] = "memory-short",
		[HD_WHY_ADDRESS_LIMIT] = "address-limit",
		[HD_WHY_OVERCOMMIT] = "overcommit",
		[HD_WHY_ONE_NODE] = "one-node",
		[HD_WHY_CPUSET] = "cpuset",
		[HD_WHY_TASK_POLICY] = "task-policy",
		[HD_WHY_NO_NODE] = "no-node",
		[HD_WHY_CALL_FORBIDDEN] = "call-forbidden",
		[HD_WHY_NODE_FULL] = "node-full",
		[HD_WHY_SHARED] = "shared",
		[HD_WHY_PREFERENCE] = "preference",
	};

	return why < sizeof(names) / sizeof(names[0]) ? names[why] : "?";
}

/** A text that grows in a buffer of fixed size, and counts on when it is full. */
struct text {
	char *out;
	size_t size, len;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
	size_t at = text->len < text->size ? text->len : text->size;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text->out ? text->out + at : NULL, text->out ? text->size - at : 0, format,
			args);
	va_end(args);
	if (len > 0)
		text->len += (size_t)len;
}

static void add_size(struct text *text, uint64_t bytes, const char *space, const char *suffix)
{
	static const char units[] = "BKMGTPE";
	unsigned unit = 0;

	while (unit < 6 && bytes >= 1024 && bytes % 1024 == 0) {
		bytes >>= 10;
		unit++;
	}
	add(text, "%llu%s", (unsigned long long)bytes, space);
	add(text, unit ? "%c%s" : "%c", units[unit], suffix);
}

static void add_pages(struct text *text, const struct hd_got *got)
{
	for (uint32_t i = 0; i < got->page_sizes && i < HD_GOT_PAGES_MAX; i++) {
		add(text, i ? ", %llu of " : " on %llu translations of ",
		    (unsigned long long)(got->page[i].bytes / got->page[i].page_bytes));
		add_size(text, got->page[i].page_bytes, "", "");
	}
	if (got->pages_unknown) {
		add(text, got->page_sizes ? ", " : " on ");
		add_size(text, got->pages_unknown, " ", "iB");
		add(text, " of unknown translations");
	}
	if (got->pages_why != HD_WHY_MET)
		add(text, " (%s)", hd_why_name(got->pages_why));
}

/** "0-3,6" of the nodes aimed at. */
static void add_node_list(struct text *text, const struct hd_got *got)
{
	bool first = true;

	for (uint32_t i = 0; i < got->nodes; i++) {
		uint32_t last = i;

		if (!got->node[i].aimed)
			continue;
		while (last + 1 < got->nodes && got->node[last + 1].aimed &&
		       got->node[last + 1].node == got->node[last].node + 1)
			last++;
		add(text, "%s%u", first ? "" : ",", got->node[i].node);
		if (last > i)
			add(text, "-%u", got->node[last].node);
		first = false;
		i = last;
	}
}

static void add_nodes(struct text *text, const struct hd_got *got)
{
	if (got->nodes_why == HD_WHY_MET && got->spread) {
		add(text, "; spread over nodes ");
		add_node_list(text, got);
		return;
	}
	for (uint32_t i = 0; i < got->nodes && i < HD_GOT_NODES_MAX; i++)
		add(text, "%snode %u %llu %%", i ? ", " : "; ", got->node[i].node,
		    (unsigned long long)(got->populated
					     ? (got->node[i].bytes * 100 + got->populated / 2) /
						   got->populated
					     : 0));
	if (got->nodes_unknown) {
		add(text, "; ");
		add_size(text, got->nodes_unknown, " ", "iB");
		add(text, " on unknown nodes");
	}
	if (got->nodes_why == HD_WHY_NODE_FULL || got->nodes_why == HD_WHY_POOL_UNEVEN)
		add(text, " (%s: node %u)", hd_why_name(got->nodes_why), got->why_node);
	else if (got->nodes_why != HD_WHY_MET)
		add(text, " (%s)", hd_why_name(got->nodes_why));
}

/** strerror_r(3) of whichever C library: GNU's gives the text, POSIX's puts it into @room. */
static const char *error_text(int error, char *room, size_t size)
{
#ifdef __GLIBC__
	return strerror_r(error, room, size);
#else
	return strerror_r(error, room, size) ? "error not known" : room;
#endif
}

int hd_got_text(const struct hd_got *got, char *out, size_t size)
{
	struct text text = { size ? out : NULL, size, 0 };
	char reason[64];

	if (!got->bytes) {
		add(&text, "nothing allocated");
		if (got->pages_why != HD_WHY_MET && got->pages_why != HD_WHY_UNKNOWN)
			add(&text, ": %s", hd_why_name(got->pages_why));
		else if (got->nodes_why != HD_WHY_MET)
			add(&text, ": %s", hd_why_name(got->nodes_why));
	} else {
		add_size(&text, got->bytes, " ", "iB");
		add_pages(&text, got);
		add_nodes(&text, got);
	}
	if (got->step != HD_STEP_NONE) {
		add(&text, "; first to fail: %s", hd_step_name(got->step));
		if (got->error)
			add(&text, ": %s", error_text(got->error, reason, sizeof(reason)));
	}
	return (int)text.len;
}

/* SPDX-License-Identifier: MIT */
/*
 * wanted.c - words that say what is wanted of the library
 */
#include "tests/kernels/place/place.h"

static uint8_t choice(const char *text, const char *const *words)
{
	for (uint8_t i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	errno = EINVAL;
	die("not a word for this:", text);
	return 0;
}

static void do_pages(const char *text)
{
	now.want.pages =
	    choice(text, (const char *[]){ "auto", "base", "large", "hugetlb", "1g", NULL });
}

static void do_nodes(const char *text)
{
	now.want.nodes = choice(text, (const char *[]){ "auto", "one", "spread", NULL });
}

static void do_prefer(const char *text)
{
	now.want.prefer = choice(text, (const char *[]){ "large", "spread", NULL });
}

static void do_fork(const char *text)
{
	now.want.fork = choice(text, (const char *[]){ "copy", "drop", "wipe", NULL });
}

static void do_flag(const char *text)
{
	now.want.flags |= 1U << choice(text, (const char *[]){ "memory-only", "ignore-policy",
							       "no-dump", "lock", "exact", NULL });
}

static void do_threads(const char *text)
{
	now.want.threads = (uint32_t)atoi(text);
}

static void do_set(const char *text)
{
	now.set = nodes_of(text);
	now.want.node_set = &now.set;
	now.want.node_set_bits = NODES;
}

static void do_name(const char *text)
{
	snprintf(now.name, sizeof(now.name), "%s", text);
	now.want.name = now.name;
}

const struct place_word place_wanted[] = {
	{ "pages", do_pages }, { "nodes", do_nodes }, { "prefer", do_prefer },
	{ "fork", do_fork },   { "flag", do_flag },   { "threads", do_threads },
	{ "set", do_set },     { "name", do_name },   { NULL, NULL },
};

/* SPDX-License-Identifier: MIT */
/*
 * wish.c - what a program asks, the environment, and this machine, put together
 *
 * HASHDIST is read by the engine's own reader of hashdist=, so that it means what
 * it means on a kernel's command line: a given value wins, also on one node.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/wish.h"

enum { THREADS_MAX = 256, NAME_MAX_KERNEL = 80 };

static uint8_t environment_pages(void)
{
	static const struct {
		const char *word;
		uint8_t pages;
	} words[] = {
		{ "base", HD_PAGES_BASE },
		{ "large", HD_PAGES_LARGE },
		{ "hugetlb", HD_PAGES_HUGETLB },
		{ "1g", HD_PAGES_1G },
	};
	const char *value = secure_getenv("HASHDIST_PAGES");

	for (size_t i = 0; value && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(value, words[i].word))
			return words[i].pages;
	return HD_PAGES_LARGE;
}

/** The kernel takes printable characters but these. */
static bool name_is_fine(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (name[i] < ' ' || name[i] > '~' || strchr("\\`$[]", name[i]))
			return false;
	return len > 0 && len < NAME_MAX_KERNEL;
}

static bool is_zero(const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (words[i])
			return false;
	return true;
}

static bool in_range(const struct hd_want *want)
{
	const uint32_t all =
	    HD_MEMORY_ONLY_NODES | HD_IGNORE_POLICY | HD_NO_DUMP | HD_LOCK | HD_EXACT;

	return want->pages <= HD_PAGES_1G && want->nodes <= HD_NODES_SPREAD &&
	       want->prefer <= HD_PREFER_SPREAD && want->fork <= HD_FORK_WIPE &&
	       !(want->flags & ~all) && want->threads <= THREADS_MAX &&
	       want->node_set_bits <= HDL_NODES_MAX && !want->node_set_bits == !want->node_set &&
	       is_zero(want->reserved, 4) && (!want->name || name_is_fine(want->name));
}

int wish_from(const struct hd_want *want, struct hdl_wish *out)
{
	static const struct hd_want usual;

	if (!want)
		want = &usual;
	if (!in_range(want))
		return -EINVAL;
	*out = (struct hdl_wish){ .pages = want->pages ? want->pages : environment_pages(),
				  .prefer = want->prefer,
				  .fork = want->fork,
				  .spread = want->nodes == HD_NODES_SPREAD,
				  .flags = want->flags,
				  .threads = want->threads,
				  .has_set = want->node_set != NULL };
	for (uint32_t node = 0; node < want->node_set_bits; node++)
		if (want->node_set[node / HDL_WORD_BITS] >> node % HDL_WORD_BITS & 1)
			hdl_mask_add(&out->node_set, node);
	if (want->name)
		snprintf(out->name, sizeof(out->name), "%s", want->name);
	return 0;
}

/** The flag as boot would leave it here, with HASHDIST as the command line. */
static bool environment_hashdist(struct hd_machine *machine)
{
	const char *value = secure_getenv("HASHDIST");
	char line[64];
	int len = 0;

	if (value)
		len = snprintf(line, sizeof(line), "hashdist=%s", value);
	if (len < 0 || len >= (int)sizeof(line))
		len = 0;
	hd_params_parse(&machine->params, &machine->rules, line, (size_t)len);
	return hd_hashdist(&machine->rules, &machine->facts, &machine->params, NULL);
}

int wish_machine(const struct hd_want *want, const struct hdl_wish *wish, struct hd_machine *out)
{
	struct hdl_memory memory;
	struct hd_config config;
	int error = hdl_memory_read(wish, &memory);

	if (error)
		return error;
	hd_config_init(&config);
	config.numa = HD_YES;
	config.page_shift = (uint8_t)memory.base_shift;
	*out = (struct hd_machine){ 0 };
	/* Our rules are a 64-bit NUMA kernel's; only the page size is this machine's. */
	hd_rules_init(&out->rules, 0, HD_ARCH_X86_64, &config);
	hd_rules_set(&out->rules, HD_RULE_PAGE_SHIFT, (int32_t)memory.base_shift, HD_ORIGIN_GIVEN);
	hd_rules_set(&out->rules, HD_RULE_TOP_ORDER, 30, HD_ORIGIN_GIVEN);
	hd_rules_set(&out->rules, HD_RULE_CLAMP_2G, 0, HD_ORIGIN_GIVEN);
	if (memory.huge_shift)
		hd_rules_set(&out->rules, HD_RULE_PMD_SHIFT, (int32_t)memory.huge_shift,
			     HD_ORIGIN_GIVEN);
	out->facts.pages.kernel = out->facts.pages.all = memory.bytes >> memory.base_shift;
	/* Of unknown memory nothing is derived, and a given count is not capped either. */
	if (!memory.bytes)
		out->facts.pages.all = 1ULL << (62 - memory.base_shift);
	out->facts.memory_nodes = out->facts.online_nodes = out->facts.possible_nodes =
	    memory.nodes;
	out->hashdist = environment_hashdist(out);
	if (want && want->nodes != HD_NODES_AUTO)
		out->hashdist = want->nodes == HD_NODES_SPREAD;
	return 0;
}

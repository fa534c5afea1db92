/* SPDX-License-Identifier: MIT */
/*
 * help.h - a machine for the tests of core/ in one line
 *
 * Everything that a test does not name is plain: two processors, no highmem,
 * every page counts, no slack.
 */
#ifndef HASHDIST_TESTS_CORE_HELP_H
#define HASHDIST_TESTS_CORE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hashdist/core.h"

#define KIB           (1ULL << 10)
#define MIB           (1ULL << 20)
#define GIB           (1ULL << 30)
#define TIB           (1ULL << 40)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/** "6.1.192", or "newest" for the newest kernel that is known. */
static inline uint32_t version_of(const char *version)
{
	uint32_t packed = hd_version_parse(version, strlen(version));

	if (!packed && strcmp(version, "newest") != 0)
		fail_msg("%s is no version", version);
	return packed;
}

static inline struct hd_rules rules_of(const char *version, enum hd_arch arch)
{
	struct hd_rules rules;

	assert_int_equal(hd_rules_init(&rules, version_of(version), arch, NULL), 0);
	return rules;
}

static inline uint64_t pages_of(const struct hd_rules *rules, uint64_t bytes)
{
	return bytes >> rules->value[HD_RULE_PAGE_SHIFT];
}

static inline void give_memory(struct hd_machine *machine, uint64_t bytes)
{
	machine->facts.pages.kernel = pages_of(&machine->rules, bytes);
	machine->facts.pages.all = machine->facts.pages.kernel;
}

static inline void give_nodes(struct hd_machine *machine, uint32_t online, uint32_t memory)
{
	machine->facts.memory_nodes = memory;
	machine->facts.online_nodes = online;
	machine->facts.possible_nodes = online;
	machine->hashdist = hd_hashdist(&machine->rules, &machine->facts, &machine->params, NULL);
}

static inline void boot_with(struct hd_machine *machine, const char *cmdline)
{
	hd_params_parse(&machine->params, &machine->rules, cmdline, strlen(cmdline));
	machine->hashdist = hd_hashdist(&machine->rules, &machine->facts, &machine->params, NULL);
}

static inline struct hd_machine machine_of(const char *version, enum hd_arch arch, uint64_t bytes,
					   uint32_t nodes, const char *cmdline)
{
	struct hd_machine machine = { .rules = rules_of(version, arch) };

	machine.facts.possible_cpus = 2;
	give_memory(&machine, bytes);
	give_nodes(&machine, nodes, nodes);
	boot_with(&machine, cmdline);
	return machine;
}

/** TCP bind asks for as many entries as TCP established got; 0 where it is not asked. */
static inline uint64_t established_for(const struct hd_machine *machine, enum hd_table_id id)
{
	struct hd_table table;

	if (id != HD_TABLE_TCP_BIND)
		return 0;
	assert_int_equal(hd_predict(machine, HD_TABLE_TCP_ESTABLISHED, 0, &table), 0);
	return table.entries;
}

static inline struct hd_table predicted(const struct hd_machine *machine, enum hd_table_id id)
{
	struct hd_table table;
	int error = hd_predict(machine, id, established_for(machine, id), &table);

	if (error)
		fail_msg("%s: error %d", hd_table_info(id)->name, error);
	return table;
}

static inline uint64_t entries_of(const struct hd_machine *machine, enum hd_table_id id)
{
	return predicted(machine, id).entries;
}

/* A small generator, so that a seed gives the same run everywhere (xorshift64*). */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ULL;
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return random_next(state) % limit;
}

/** The seed of HASHDIST_SEED, or @fallback; never 0. Prints a line that reruns it. */
static inline uint64_t seed_of(const char *program, uint64_t fallback)
{
	const char *given = getenv("HASHDIST_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : fallback;

	if (!seed)
		seed = 1;
	print_message("rerun: HASHDIST_SEED=%llu %s\n", (unsigned long long)seed, program);
	return seed;
}

#endif

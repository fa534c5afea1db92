/* SPDX-License-Identifier: MIT */
/*
 * test-rules.c - each rule changes with the release it is said to change with
 *
 * One row of borders[] per row of core/rules.c: the value just before, and the
 * value at the release. Then stable branches, distributions, configuration, and
 * what a user gives.
 */
#include "help.h"

static int32_t value_on(const char *version, enum hd_arch arch, enum hd_rule rule)
{
	struct hd_rules rules = rules_of(version, arch);

	assert_int_equal(rules.origin[rule], HD_ORIGIN_VERSION);
	return rules.value[rule];
}

static struct hd_rules built_with(const char *version, enum hd_arch arch,
				  const struct hd_config *config)
{
	struct hd_rules rules;

	assert_int_equal(hd_rules_init(&rules, version_of(version), arch, config), 0);
	return rules;
}

static struct hd_config plain(void)
{
	struct hd_config config;

	hd_config_init(&config);
	return config;
}

/* ---- versions ------------------------------------------------------------------------ */

static const struct {
	enum hd_rule rule;
	enum hd_arch arch;
	const char *before;
	int32_t value_before;
	const char *at;
	int32_t value_at;
} borders[] = {
	{ HD_RULE_HASHDIST_DEFAULT, HD_ARCH_X86_64, "2.6.20", 0, "2.6.21", 1 },
	{ HD_RULE_HASHDIST_DEFAULT, HD_ARCH_PPC64, "2.6.30", 0, "2.6.31", 1 },
	{ HD_RULE_HASHDIST_DEFAULT, HD_ARCH_S390X, "2.6.30", 0, "2.6.31", 1 },
	{ HD_RULE_HASHDIST_DEFAULT, HD_ARCH_MIPS64, "2.6.30", 0, "2.6.31", 1 },
	{ HD_RULE_HASHDIST_DEFAULT, HD_ARCH_ALPHA, "2.6.30", 0, "2.6.31", 1 },
	{ HD_RULE_HASHDIST_DEFAULT, HD_ARCH_SPARC64, "2.6.30", 0, "2.6.31", 1 },
	{ HD_RULE_HASHDIST_DEFAULT, HD_ARCH_ARM64, "4.6", 0, "4.7", 1 },
	{ HD_RULE_HASHDIST_DEFAULT, HD_ARCH_RISCV64, "5.11", 0, "5.12", 1 },
	{ HD_RULE_HASHDIST_PARAM, HD_ARCH_X86_64, "2.6.20", 0, "2.6.21", 1 },
	{ HD_RULE_HASHDIST_PARAM, HD_ARCH_ARM64, "4.6", 0, "4.7", 1 },
	{ HD_RULE_HASHDIST_CLEARS, HD_ARCH_X86_64, "5.2.21", 0, "5.3", 1 },
	{ HD_RULE_HASHDIST_SYNTAX, HD_ARCH_X86_64, "6.19.9", HD_SYNTAX_NUMBER, "7.0",
	  HD_SYNTAX_BOOL },
	{ HD_RULE_ENTRIES_SYNTAX, HD_ARCH_X86_64, "6.19.9", 0, "7.0", 1 },
	{ HD_RULE_NET_SYNTAX, HD_ARCH_X86_64, "3.9.11", 0, "3.10", 1 },
	{ HD_RULE_COUNT_ERA, HD_ARCH_X86_64, "2.6.18", HD_ERA_A, "2.6.19", HD_ERA_B },
	{ HD_RULE_COUNT_ERA, HD_ARCH_X86_64, "6.9.12", HD_ERA_B, "6.10", HD_ERA_C },
	{ HD_RULE_NEXT_POWER, HD_ARCH_X86_64, "2.6.11", 1, "2.6.20", 0 },
	{ HD_RULE_PAGE_MINIMUM, HD_ARCH_X86_64, "2.6.11", 0, "2.6.20", 1 },
	{ HD_RULE_CLAMP_2G, HD_ARCH_X86_64, "2.6.20", 0, "3.10", 1 },
	{ HD_RULE_LOW_LIMIT, HD_ARCH_X86_64, "2.6.20", 0, "3.10", 1 },
	{ HD_RULE_DENTRY_LOW, HD_ARCH_X86_64, "7.0.65535", 0, "7.1", 2 },
	{ HD_RULE_ADAPTIVE, HD_ARCH_X86_64, "4.12.14", 0, "4.13", 1 },
	{ HD_RULE_FALLBACK_VMALLOC, HD_ARCH_X86_64, "5.2.21", 0, "5.3", 1 },
	{ HD_RULE_HUGE_VMALLOC, HD_ARCH_PPC64, "5.12.19", HD_HUGE_NEVER, "5.13",
	  HD_HUGE_NODE_SHARE },
	{ HD_RULE_HUGE_VMALLOC, HD_ARCH_X86_64, "5.17.15", HD_HUGE_NEVER, "5.18",
	  HD_HUGE_NODE_SHARE },
	{ HD_RULE_HUGE_VMALLOC, HD_ARCH_ARM64, "6.0.19", HD_HUGE_NEVER, "6.1", HD_HUGE_NODE_SHARE },
	{ HD_RULE_HUGE_VMALLOC, HD_ARCH_RISCV64, "6.1.192", HD_HUGE_NEVER, "6.2",
	  HD_HUGE_NODE_SHARE },
	{ HD_RULE_HUGE_VMALLOC, HD_ARCH_X86_64, "6.12.117", HD_HUGE_NODE_SHARE, "6.13",
	  HD_HUGE_WHOLE },
	{ HD_RULE_HUGE_VMALLOC, HD_ARCH_PPC64, "6.12.117", HD_HUGE_NODE_SHARE, "6.13",
	  HD_HUGE_WHOLE },
	{ HD_RULE_HUGE_VMALLOC, HD_ARCH_ARM64, "6.12.117", HD_HUGE_NODE_SHARE, "6.13",
	  HD_HUGE_WHOLE },
	{ HD_RULE_HUGE_VMALLOC, HD_ARCH_RISCV64, "6.12.117", HD_HUGE_NODE_SHARE, "6.13",
	  HD_HUGE_WHOLE },
	{ HD_RULE_PTE_SHIFT, HD_ARCH_ARM64, "6.15", 0, "6.16", 16 },
	{ HD_RULE_DEAL, HD_ARCH_X86_64, "5.12.19", HD_DEAL_PAGES, "5.13", HD_DEAL_ANYWHERE },
	{ HD_RULE_DEAL, HD_ARCH_X86_64, "5.14.21", HD_DEAL_ANYWHERE, "5.15", HD_DEAL_PAGES },
	{ HD_RULE_DEAL, HD_ARCH_X86_64, "6.18.2", HD_DEAL_PAGES, "6.19", HD_DEAL_CHUNKS },
	{ HD_RULE_KIND_WORDS, HD_ARCH_X86_64, "5.2.21", HD_WORDS_NONE, "5.3", HD_WORDS_VMALLOC },
	{ HD_RULE_KIND_WORDS, HD_ARCH_X86_64, "5.12.19", HD_WORDS_VMALLOC, "5.13",
	  HD_WORDS_HUGEPAGE },
	{ HD_RULE_ORDER_PRINT, HD_ARCH_X86_64, "6.17.8", HD_ORDER_FLOOR, "6.18", HD_ORDER_CEIL },
	{ HD_RULE_CACHE_LINE, HD_ARCH_ARM64, "4.7", 64, "4.8", 128 },
	{ HD_RULE_CACHE_LINE, HD_ARCH_ARM64, "4.16.18", 128, "4.17", 64 },
};

static void each_rule_changes_at_its_release(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(borders); i++) {
		int32_t before = value_on(borders[i].before, borders[i].arch, borders[i].rule);
		int32_t at = value_on(borders[i].at, borders[i].arch, borders[i].rule);

		if (before != borders[i].value_before || at != borders[i].value_at)
			fail_msg("%s: %s has %d, %s has %d", hd_rule_name(borders[i].rule),
				 borders[i].before, before, borders[i].at, at);
	}
}

static void rules_of_one_architecture_stay_with_it(void **state)
{
	static const enum hd_arch without[] = { HD_ARCH_S390X, HD_ARCH_I386,    HD_ARCH_LOONGARCH64,
						HD_ARCH_ARM,   HD_ARCH_SPARC64, HD_ARCH_MIPS64 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		assert_int_equal(value_on("newest", without[i], HD_RULE_HUGE_VMALLOC),
				 HD_HUGE_NEVER);
	assert_int_equal(value_on("newest", HD_ARCH_X86_64, HD_RULE_PTE_SHIFT), 0);
	assert_int_equal(value_on("4.8", HD_ARCH_X86_64, HD_RULE_CACHE_LINE), 64);
	assert_int_equal(value_on("2.6.20", HD_ARCH_IA64, HD_RULE_HASHDIST_DEFAULT), 1);
	assert_int_equal(value_on("2.6.11", HD_ARCH_IA64, HD_RULE_HASHDIST_PARAM), 1);
}

static void architectures_have_their_page_and_largest_order(void **state)
{
	static const struct {
		enum hd_arch arch;
		int32_t page, word, top, pmd, line;
	} cells[] = {
		{ HD_ARCH_X86_64, 12, 8, 10, 21, 64 },  { HD_ARCH_I386, 12, 4, 10, 0, 64 },
		{ HD_ARCH_ARM64, 12, 8, 10, 21, 64 },   { HD_ARCH_PPC64, 16, 8, 8, 21, 128 },
		{ HD_ARCH_RISCV64, 12, 8, 10, 21, 64 }, { HD_ARCH_S390X, 12, 8, 8, 0, 256 },
		{ HD_ARCH_ARM, 12, 4, 10, 0, 64 },      { HD_ARCH_LOONGARCH64, 14, 8, 11, 0, 64 },
		{ HD_ARCH_IA64, 16, 8, 16, 0, 64 },     { HD_ARCH_SPARC64, 13, 8, 12, 0, 64 },
		{ HD_ARCH_ALPHA, 13, 8, 10, 0, 64 },    { HD_ARCH_PPC, 12, 4, 10, 0, 64 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct hd_rules r = rules_of("6.1", cells[i].arch);

		assert_int_equal(r.value[HD_RULE_PAGE_SHIFT], cells[i].page);
		assert_int_equal(r.value[HD_RULE_WORD_BYTES], cells[i].word);
		assert_int_equal(r.value[HD_RULE_TOP_ORDER], cells[i].top);
		assert_int_equal(r.value[HD_RULE_PMD_SHIFT], cells[i].pmd);
		assert_int_equal(r.value[HD_RULE_CACHE_LINE], cells[i].line);
	}
}

static void stable_branches_have_the_order_fix(void **state)
{
	static const struct {
		const char *before, *at;
	} branches[] = {
		{ "6.17.8", "6.17.9" },   { "6.12.58", "6.12.59" },   { "6.6.116", "6.6.117" },
		{ "6.1.158", "6.1.159" }, { "5.15.196", "5.15.197" }, { "5.10.246", "5.10.247" },
		{ "5.4.301", "5.4.302" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(branches); i++) {
		assert_int_equal(value_on(branches[i].before, HD_ARCH_X86_64, HD_RULE_ORDER_PRINT),
				 HD_ORDER_FLOOR);
		assert_int_equal(value_on(branches[i].at, HD_ARCH_X86_64, HD_RULE_ORDER_PRINT),
				 HD_ORDER_CEIL);
	}
	/* A branch without the fix does not get it from its neighbours. */
	assert_int_equal(value_on("6.13.65535", HD_ARCH_X86_64, HD_RULE_ORDER_PRINT),
			 HD_ORDER_FLOOR);
	assert_int_equal(value_on("6.2.1000", HD_ARCH_X86_64, HD_RULE_ORDER_PRINT), HD_ORDER_FLOOR);
	assert_int_equal(value_on("4.19.400", HD_ARCH_X86_64, HD_RULE_ORDER_PRINT), HD_ORDER_FLOOR);
}

static void stable_branches_have_the_dentry_minimum(void **state)
{
	(void)state;
	assert_int_equal(value_on("6.1.191", HD_ARCH_X86_64, HD_RULE_DENTRY_LOW), 0);
	assert_int_equal(value_on("6.1.192", HD_ARCH_X86_64, HD_RULE_DENTRY_LOW), 2);
	assert_int_equal(value_on("6.12.116", HD_ARCH_X86_64, HD_RULE_DENTRY_LOW), 0);
	assert_int_equal(value_on("6.12.117", HD_ARCH_X86_64, HD_RULE_DENTRY_LOW), 2);
	assert_int_equal(value_on("6.19.9", HD_ARCH_X86_64, HD_RULE_DENTRY_LOW), 0);
}

static void no_version_means_the_newest(void **state)
{
	static const enum hd_arch arches[] = { HD_ARCH_X86_64, HD_ARCH_ARM64, HD_ARCH_PPC64,
					       HD_ARCH_I386 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		struct hd_rules newest = rules_of("newest", arches[i]);
		struct hd_rules last = rules_of("7.1.5", arches[i]);

		assert_int_equal(newest.version, 0);
		assert_memory_equal(newest.value, last.value, sizeof(last.value));
	}
}

static void an_unknown_architecture_is_said_and_still_usable(void **state)
{
	struct hd_rules rules;

	(void)state;
	assert_int_equal(hd_rules_init(&rules, HD_VERSION(6, 1, 0), HD_ARCH_UNKNOWN, NULL),
			 HD_EINVAL);
	assert_int_equal(rules.value[HD_RULE_PAGE_SHIFT], 12);
	assert_int_equal(rules.value[HD_RULE_WORD_BYTES], 8);
	assert_int_equal(rules.value[HD_RULE_HUGE_VMALLOC], HD_HUGE_NEVER);
	assert_int_equal(rules.value[HD_RULE_TOP_ORDER], 10);
}

/* ---- distributions ------------------------------------------------------------------------ */

/* The rules that a Debian kernel was seen to follow. */
static void debian_releases_follow_their_branch(void **state)
{
	struct hd_rules bookworm = rules_of("6.1.192", HD_ARCH_X86_64);
	struct hd_rules trixie = rules_of("6.12.117", HD_ARCH_X86_64);

	(void)state;
	assert_int_equal(bookworm.value[HD_RULE_COUNT_ERA], HD_ERA_B);
	assert_int_equal(trixie.value[HD_RULE_COUNT_ERA], HD_ERA_C);
	assert_int_equal(bookworm.value[HD_RULE_ORDER_PRINT], HD_ORDER_CEIL);
	assert_int_equal(trixie.value[HD_RULE_ORDER_PRINT], HD_ORDER_CEIL);
	assert_int_equal(bookworm.value[HD_RULE_DENTRY_LOW], 2);
	assert_int_equal(trixie.value[HD_RULE_DENTRY_LOW], 2);
	assert_int_equal(trixie.value[HD_RULE_HUGE_VMALLOC], HD_HUGE_NODE_SHARE);
}

/* An enterprise 4.18 has what its vendor took from later kernels. */
static void a_patched_kernel_is_described_by_given_rules(void **state)
{
	static const char *const given[] = { "hashdist-clears=yes", "fallback-vmalloc=yes",
					     "kind-words=vmalloc" };
	struct hd_machine m = machine_of("4.18.0", HD_ARCH_X86_64, 16 * GIB, 1, "");
	struct hd_table t;
	char line[128];

	(void)state;
	t = predicted(&m, HD_TABLE_DENTRY);
	assert_int_equal(t.mapping, HD_MAP_VMALLOC);
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		assert_int_equal(hd_rules_parse(&m.rules, given[i], strlen(given[i])), 0);
	give_nodes(&m, 1, 1);
	t = predicted(&m, HD_TABLE_DENTRY);
	hd_table_line(&m.rules, "Dentry cache", &t, line, sizeof(line));
	assert_string_equal(
	    line, "Dentry cache hash table entries: 2097152 (order: 12, 16777216 bytes, linear)");
}

/* ---- configuration --------------------------------------------------------------------- */

static void locks_have_the_bytes_of_their_options(void **state)
{
	static const struct {
		const char *version;
		int8_t smp, rt, debug, lockdep, stat;
		int32_t on_64, on_32; /* 0: not known */
	} cells[] = {
		{ "6.1", -1, -1, -1, -1, -1, 4, 4 }, { "6.1", 1, 0, 0, 0, 0, 4, 4 },
		{ "6.1", 0, 0, 0, 0, 0, 0, 0 },      { "6.1", 1, 0, 1, 0, 0, 24, 16 },
		{ "6.1", 0, 0, 1, 0, 0, 24, 16 },    { "6.1", 1, 0, 1, 1, 0, 64, -1 },
		{ "5.7", 1, 0, 1, 1, 0, 64, -1 },    { "5.6", 1, 0, 1, 1, 0, 56, -1 },
		{ "5.7", 1, 0, 1, 1, 1, 72, -1 },    { "5.6", 1, 0, 1, 1, 1, 72, -1 },
		{ "6.1", 1, 1, 0, 0, 0, 32, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct hd_config config = plain();
		struct hd_rules rules;

		config.smp = cells[i].smp;
		config.preempt_rt = cells[i].rt;
		config.debug_spinlock = cells[i].debug;
		config.debug_lock = cells[i].lockdep;
		config.lock_stat = cells[i].stat;
		rules = built_with(cells[i].version, HD_ARCH_X86_64, &config);
		assert_int_equal(rules.value[HD_RULE_SPINLOCK_BYTES], cells[i].on_64);
		rules = built_with(cells[i].version, HD_ARCH_I386, &config);
		if (cells[i].on_32 >= 0)
			assert_int_equal(rules.value[HD_RULE_SPINLOCK_BYTES], cells[i].on_32);
	}
}

static void a_kernel_without_numa_has_no_parameter(void **state)
{
	struct hd_config config = plain();
	struct hd_rules rules;

	(void)state;
	config.numa = HD_NO;
	rules = built_with("6.1", HD_ARCH_X86_64, &config);
	assert_int_equal(rules.value[HD_RULE_HASHDIST_PARAM], 0);
	assert_int_equal(rules.value[HD_RULE_HASHDIST_DEFAULT], 0);
	assert_int_equal(rules.origin[HD_RULE_HASHDIST_PARAM], HD_ORIGIN_CONFIG);
	config.numa = HD_YES;
	rules = built_with("6.1", HD_ARCH_X86_64, &config);
	assert_int_equal(rules.value[HD_RULE_HASHDIST_DEFAULT], 1);
	rules = built_with("6.1", HD_ARCH_I386, &config);
	assert_int_equal(rules.value[HD_RULE_HASHDIST_PARAM], 1);
	assert_int_equal(rules.value[HD_RULE_HASHDIST_DEFAULT], 0);
	/* Nobody builds it there unless they say so. */
	assert_int_equal(value_on("6.1", HD_ARCH_I386, HD_RULE_HASHDIST_PARAM), 0);
}

static void huge_vmalloc_may_not_be_built(void **state)
{
	struct hd_config config = plain();

	(void)state;
	config.huge_vmalloc = HD_NO;
	assert_int_equal(built_with("7.1", HD_ARCH_X86_64, &config).value[HD_RULE_HUGE_VMALLOC],
			 HD_HUGE_NEVER);
	config = plain();
	config.ptdump_debugfs = HD_YES; /* arm64, until 6.16 */
	assert_int_equal(built_with("6.12.117", HD_ARCH_ARM64, &config).value[HD_RULE_HUGE_VMALLOC],
			 HD_HUGE_NEVER);
	assert_int_equal(built_with("6.14", HD_ARCH_ARM64, &config).value[HD_RULE_HUGE_VMALLOC],
			 HD_HUGE_NEVER);
	assert_int_equal(built_with("6.15", HD_ARCH_ARM64, &config).value[HD_RULE_HUGE_VMALLOC],
			 HD_HUGE_NEVER);
	assert_int_equal(built_with("6.16", HD_ARCH_ARM64, &config).value[HD_RULE_HUGE_VMALLOC],
			 HD_HUGE_WHOLE);
	assert_int_equal(built_with("6.17", HD_ARCH_ARM64, &config).value[HD_RULE_HUGE_VMALLOC],
			 HD_HUGE_WHOLE);
	assert_int_equal(
	    built_with("6.12.117", HD_ARCH_X86_64, &config).value[HD_RULE_HUGE_VMALLOC],
	    HD_HUGE_NODE_SHARE);
}

static void firmware_assisted_dump_subtracts_from_4_9_to_6_9(void **state)
{
	static const struct {
		const char *version;
		int32_t value;
	} cells[] = { { "4.8.17", 0 }, { "4.9", 1 }, { "6.9.12", 1 }, { "6.10", 0 } };
	struct hd_config config = plain();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		config.fa_dump = HD_YES;
		assert_int_equal(built_with(cells[i].version, HD_ARCH_PPC64, &config)
				     .value[HD_RULE_RESERVED_PAGES],
				 cells[i].value);
		config.fa_dump = HD_UNKNOWN;
		assert_int_equal(built_with(cells[i].version, HD_ARCH_PPC64, &config)
				     .value[HD_RULE_RESERVED_PAGES],
				 0);
	}
}

static void a_page_size_brings_its_orders_and_huge_pages(void **state)
{
	static const struct {
		enum hd_arch arch;
		uint8_t page;
		int32_t top, pmd, pte;
	} cells[] = {
		{ HD_ARCH_ARM64, 12, 10, 21, 16 }, { HD_ARCH_ARM64, 14, 11, 25, 21 },
		{ HD_ARCH_ARM64, 16, 13, 29, 21 }, { HD_ARCH_PPC64, 12, 12, 21, 0 },
		{ HD_ARCH_PPC64, 16, 8, 21, 0 },   { HD_ARCH_PPC, 14, 8, 0, 0 },
		{ HD_ARCH_PPC, 16, 6, 0, 0 },      { HD_ARCH_PPC, 18, 4, 0, 0 },
		{ HD_ARCH_MIPS64, 12, 10, 0, 0 },  { HD_ARCH_LOONGARCH64, 16, 13, 0, 0 },
		{ HD_ARCH_MIPS64, 15, 12, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		static const char *const versions[] = { "7.1.5", "newest" };

		for (size_t v = 0; v < 2; v++) {
			struct hd_config config = plain();
			struct hd_rules built, changed = rules_of(versions[v], cells[i].arch);

			config.page_shift = cells[i].page;
			built = built_with(versions[v], cells[i].arch, &config);
			assert_int_equal(built.value[HD_RULE_TOP_ORDER], cells[i].top);
			assert_int_equal(built.value[HD_RULE_PMD_SHIFT], cells[i].pmd);
			assert_int_equal(built.value[HD_RULE_PTE_SHIFT], cells[i].pte);
			/* Found out later, it brings the same. */
			assert_int_equal(hd_rules_set(&changed, HD_RULE_PAGE_SHIFT, cells[i].page,
						      HD_ORIGIN_DETECTED),
					 0);
			assert_memory_equal(changed.value, built.value, sizeof(built.value));
		}
	}
}

static void other_options_do_what_they_say(void **state)
{
	struct hd_config config = plain();
	struct hd_rules rules;

	(void)state;
	config.top_order = 13;
	config.base_small = HD_YES;
	rules = built_with("6.1", HD_ARCH_ARM64, &config);
	assert_int_equal(rules.value[HD_RULE_TOP_ORDER], 13);
	assert_int_equal(rules.value[HD_RULE_BASE_SMALL], 1);
	/* The page size, found out later, does not undo it. */
	assert_int_equal(hd_rules_set(&rules, HD_RULE_PAGE_SHIFT, 14, HD_ORIGIN_DETECTED), 0);
	assert_int_equal(rules.value[HD_RULE_TOP_ORDER], 13);
	config = plain();
	config.smp = HD_NO;
	rules = built_with("6.1", HD_ARCH_X86_64, &config);
	assert_int_equal(rules.value[HD_RULE_CACHE_LINE], 0);
	assert_int_equal(rules.value[HD_RULE_SPINLOCK_BYTES], 0);
}

/* ---- overruling ---------------------------------------------------------------------------- */

static void the_stronger_origin_wins_the_later_of_equals_too(void **state)
{
	struct hd_rules r = rules_of("6.1", HD_ARCH_X86_64);

	(void)state;
	for (int strong = HD_ORIGIN_VERSION; strong <= HD_ORIGIN_GIVEN; strong++)
		for (int weak = HD_ORIGIN_VERSION; weak <= HD_ORIGIN_GIVEN; weak++) {
			int want = weak < strong ? HD_EINVAL : 0;

			r = rules_of("6.1", HD_ARCH_X86_64);
			assert_int_equal(hd_rules_set(&r, HD_RULE_TOP_ORDER, 12, strong), 0);
			assert_int_equal(hd_rules_set(&r, HD_RULE_TOP_ORDER, 11, weak), want);
			assert_int_equal(r.value[HD_RULE_TOP_ORDER], want ? 12 : 11);
			assert_int_equal(r.origin[HD_RULE_TOP_ORDER], want ? strong : weak);
		}
}

static void values_out_of_range_are_refused(void **state)
{
	static const struct {
		enum hd_rule rule;
		int32_t value;
	} bad[] = {
		{ HD_RULE_PAGE_SHIFT, 9 },      { HD_RULE_PAGE_SHIFT, 23 },
		{ HD_RULE_WORD_BYTES, 3 },      { HD_RULE_WORD_BYTES, 6 },
		{ HD_RULE_WORD_BYTES, 16 },     { HD_RULE_TOP_ORDER, -1 },
		{ HD_RULE_HASHDIST_CLEARS, 2 }, { HD_RULE_HUGE_VMALLOC, 3 },
		{ HD_RULE_DEAL, -1 },           { HD_RULE_SPINLOCK_BYTES, 257 },
		{ HD_RULE_COUNT, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64), same = rules;

		if (hd_rules_set(&rules, bad[i].rule, bad[i].value, HD_ORIGIN_GIVEN) != HD_EINVAL)
			fail_msg("rule %d took %d", (int)bad[i].rule, bad[i].value);
		assert_memory_equal(rules.value, same.value, sizeof(same.value));
	}
}

static void a_page_size_leaves_what_was_given(void **state)
{
	struct hd_rules r = rules_of("7.1", HD_ARCH_ARM64);

	(void)state;
	assert_int_equal(hd_rules_set(&r, HD_RULE_PMD_SHIFT, 30, HD_ORIGIN_GIVEN), 0);
	assert_int_equal(hd_rules_set(&r, HD_RULE_PTE_SHIFT, 0, HD_ORIGIN_GIVEN), 0);
	assert_int_equal(hd_rules_set(&r, HD_RULE_TOP_ORDER, 9, HD_ORIGIN_GIVEN), 0);
	assert_int_equal(hd_rules_set(&r, HD_RULE_PAGE_SHIFT, 14, HD_ORIGIN_GIVEN), 0);
	assert_int_equal(r.value[HD_RULE_PMD_SHIFT], 30);
	assert_int_equal(r.value[HD_RULE_PTE_SHIFT], 0);
	assert_int_equal(r.value[HD_RULE_TOP_ORDER], 9);
	assert_int_equal(r.origin[HD_RULE_PMD_SHIFT], HD_ORIGIN_GIVEN);
}

/* ---- names and words ------------------------------------------------------------------------- */

static void every_rule_and_word_can_be_given_by_name(void **state)
{
	unsigned words = 0;

	(void)state;
	for (int rule = 0; rule < HD_RULE_COUNT; rule++) {
		const char *name = hd_rule_name(rule);

		assert_non_null(name);
		for (int other = 0; other < rule; other++)
			assert_string_not_equal(name, hd_rule_name(other));
		for (int32_t value = -1; value < 5; value++) {
			const char *word = hd_rule_word(rule, value);
			struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
			char text[64];

			if (!word) {
				/* The words are all the values there are. */
				if (hd_rule_word(rule, 0))
					assert_int_equal(
					    hd_rules_set(&rules, rule, value, HD_ORIGIN_GIVEN),
					    HD_EINVAL);
				continue;
			}
			words++;
			snprintf(text, sizeof(text), "%s=%s", name, word);
			assert_int_equal(hd_rules_parse(&rules, text, strlen(text)), 0);
			assert_int_equal(rules.value[rule], value);
			assert_int_equal(rules.origin[rule], HD_ORIGIN_GIVEN);
			/* The number behind the word will do. */
			rules = rules_of("6.1", HD_ARCH_X86_64);
			snprintf(text, sizeof(text), "%s=%d", name, (int)value);
			assert_int_equal(hd_rules_parse(&rules, text, strlen(text)), 0);
			assert_int_equal(rules.value[rule], value);
		}
	}
	assert_int_equal(words, 2 * 15 + 3 * 4);
	assert_null(hd_rule_name(HD_RULE_COUNT));
	assert_null(hd_rule_word(HD_RULE_COUNT, 0));
	assert_null(hd_rule_word(HD_RULE_PAGE_SHIFT, 12));
	assert_null(hd_rule_word(HD_RULE_HUGE_VMALLOC, 3));
	assert_null(hd_rule_word(HD_RULE_HUGE_VMALLOC, -1));
}

static void plain_numbers_can_be_given(void **state)
{
	static const struct {
		const char *text;
		enum hd_rule rule;
		int32_t value;
	} cells[] = {
		{ "page-shift=16", HD_RULE_PAGE_SHIFT, 16 },
		{ "page-shift=0x10", HD_RULE_PAGE_SHIFT, 16 },
		{ "word-bytes=4", HD_RULE_WORD_BYTES, 4 },
		{ "top-order=11", HD_RULE_TOP_ORDER, 11 },
		{ "pmd-shift=25", HD_RULE_PMD_SHIFT, 25 },
		{ "pte-shift=16", HD_RULE_PTE_SHIFT, 16 },
		{ "dentry-low=2", HD_RULE_DENTRY_LOW, 2 },
		{ "spinlock-bytes=64", HD_RULE_SPINLOCK_BYTES, 64 },
		{ "cache-line=128", HD_RULE_CACHE_LINE, 128 },
		{ "base-small=1", HD_RULE_BASE_SMALL, 1 },
		{ "reserved-pages=yes", HD_RULE_RESERVED_PAGES, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);

		assert_int_equal(hd_rules_parse(&rules, cells[i].text, strlen(cells[i].text)), 0);
		assert_int_equal(rules.value[cells[i].rule], cells[i].value);
	}
}

static void what_cannot_be_read_changes_nothing(void **state)
{
	static const struct {
		const char *text;
		int error;
	} bad[] = {
		{ "", HD_ENOENT },
		{ "=", HD_ENOENT },
		{ "=1", HD_ENOENT },
		{ "no-such-rule=1", HD_ENOENT },
		{ "page-shif=12", HD_ENOENT },
		{ "page-shiftt=12", HD_ENOENT },
		{ "page-shift", HD_EINVAL },
		{ "page-shift=", HD_EINVAL },
		{ "page-shift=12k", HD_EINVAL },
		{ "page-shift=-12", HD_EINVAL },
		{ "page-shift=twelve", HD_EINVAL },
		{ "page-shift=4294967308", HD_EINVAL },
		{ "page-shift=18446744073709551628", HD_EINVAL },
		{ "huge-vmalloc=half", HD_EINVAL },
		{ "huge-vmalloc=wholes", HD_EINVAL },
		{ "huge-vmalloc=3", HD_EINVAL },
		{ "hashdist-clears=maybe", HD_EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64), same = rules;
		size_t len = strlen(bad[i].text);
		char *exact = malloc(len ? len : 1);

		assert_non_null(exact);
		memcpy(exact, bad[i].text, len);
		assert_int_equal(hd_rules_parse(&rules, exact, len), bad[i].error);
		assert_memory_equal(rules.value, same.value, sizeof(same.value));
		free(exact);
	}
}

/* ---- architectures and versions as text ---------------------------------------------------- */

static void architectures_are_known_by_their_names(void **state)
{
	static const struct {
		const char *name;
		enum hd_arch arch;
	} others[] = {
		{ "x86_64", HD_ARCH_X86_64 },       { "amd64", HD_ARCH_X86_64 },
		{ "aarch64", HD_ARCH_ARM64 },       { "ppc64le", HD_ARCH_PPC64 },
		{ "ppc64el", HD_ARCH_PPC64 },       { "powerpc", HD_ARCH_PPC },
		{ "i686", HD_ARCH_I386 },           { "armv7l", HD_ARCH_ARM },
		{ "loong64", HD_ARCH_LOONGARCH64 }, { "mipsel", HD_ARCH_MIPS },
		{ "s390", HD_ARCH_S390X },          { "", HD_ARCH_UNKNOWN },
		{ "vax", HD_ARCH_UNKNOWN },         { "x86", HD_ARCH_UNKNOWN },
		{ "arm64x", HD_ARCH_UNKNOWN },      { "unknown", HD_ARCH_UNKNOWN },
	};

	(void)state;
	for (int arch = HD_ARCH_UNKNOWN + 1; arch < HD_ARCH_COUNT; arch++) {
		const char *name = hd_arch_name(arch);

		assert_int_equal(hd_arch_parse(name, strlen(name)), arch);
		assert_true(hd_arch_word_bytes(arch) == 4 || hd_arch_word_bytes(arch) == 8);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(hd_arch_parse(others[i].name, strlen(others[i].name)),
				 others[i].arch);
	assert_string_equal(hd_arch_name(HD_ARCH_COUNT), "unknown");
	assert_int_equal(hd_arch_word_bytes(HD_ARCH_UNKNOWN), 0);
	assert_int_equal(hd_arch_word_bytes(HD_ARCH_ARM64), 8);
	assert_int_equal(hd_arch_word_bytes(HD_ARCH_SPARC), 4);
}

static void versions_are_read_in_every_spelling(void **state)
{
	static const struct {
		const char *text;
		uint32_t version;
	} cells[] = {
		{ "6.1.192", HD_VERSION(6, 1, 192) },
		{ "6.1.0-44-amd64", HD_VERSION(6, 1, 0) },
		{ "2.6.32.43-xen", HD_VERSION(2, 6, 32) },
		{ "5.19-rc4", HD_VERSION(5, 19, 0) },
		{ "5.19.0-rc4+", HD_VERSION(5, 19, 0) },
		{ "6.1", HD_VERSION(6, 1, 0) },
		{ "6.1.", HD_VERSION(6, 1, 0) },
		{ "4.18.0-553.el8.x86_64", HD_VERSION(4, 18, 0) },
		{ "6.1.70000", HD_VERSION(6, 1, 65535) },
		{ "6.1.99999999999999999999", HD_VERSION(6, 1, 65535) },
		{ "6", 0 },
		{ "6.", 0 },
		{ ".1", 0 },
		{ "", 0 },
		{ "v6.1", 0 },
		{ "255.1", 0 },
		{ "6.255", HD_VERSION(6, 255, 0) },
		{ "254.1", HD_VERSION(254, 1, 0) },
		{ "6.256", 0 },
		{ "99999999999.1", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		size_t len = strlen(cells[i].text);
		char *exact = malloc(len ? len : 1);

		assert_non_null(exact);
		memcpy(exact, cells[i].text, len);
		if (hd_version_parse(exact, len) != cells[i].version)
			fail_msg("%s: %08x", cells[i].text, hd_version_parse(exact, len));
		free(exact);
	}
	assert_int_equal(hd_version_parse("6.1.192", 3), HD_VERSION(6, 1, 0));
	assert_int_equal(HD_VERSION_MAJOR(HD_VERSION(6, 12, 117)), 6);
	assert_int_equal(HD_VERSION_MINOR(HD_VERSION(6, 12, 117)), 12);
	assert_int_equal(HD_VERSION_PATCH(HD_VERSION(6, 12, 117)), 117);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_changes_at_its_release),
		cmocka_unit_test(rules_of_one_architecture_stay_with_it),
		cmocka_unit_test(architectures_have_their_page_and_largest_order),
		cmocka_unit_test(stable_branches_have_the_order_fix),
		cmocka_unit_test(stable_branches_have_the_dentry_minimum),
		cmocka_unit_test(no_version_means_the_newest),
		cmocka_unit_test(an_unknown_architecture_is_said_and_still_usable),
		cmocka_unit_test(debian_releases_follow_their_branch),
		cmocka_unit_test(a_patched_kernel_is_described_by_given_rules),
		cmocka_unit_test(locks_have_the_bytes_of_their_options),
		cmocka_unit_test(a_kernel_without_numa_has_no_parameter),
		cmocka_unit_test(huge_vmalloc_may_not_be_built),
		cmocka_unit_test(firmware_assisted_dump_subtracts_from_4_9_to_6_9),
		cmocka_unit_test(a_page_size_brings_its_orders_and_huge_pages),
		cmocka_unit_test(other_options_do_what_they_say),
		cmocka_unit_test(the_stronger_origin_wins_the_later_of_equals_too),
		cmocka_unit_test(values_out_of_range_are_refused),
		cmocka_unit_test(a_page_size_leaves_what_was_given),
		cmocka_unit_test(every_rule_and_word_can_be_given_by_name),
		cmocka_unit_test(plain_numbers_can_be_given),
		cmocka_unit_test(what_cannot_be_read_changes_nothing),
		cmocka_unit_test(architectures_are_known_by_their_names),
		cmocka_unit_test(versions_are_read_in_every_spelling),
	};

	return cmocka_run_group_tests_name("core: rules", tests, NULL, NULL);
}

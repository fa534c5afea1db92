/* SPDX-License-Identifier: MIT */
/*
 * rules.c - what kernels do differently, as data
 *
 * One row per change: from which version on, on which architectures, which rule
 * takes which value. Rows are applied in order, so a later row wins. A change
 * that came to stable branches lists the releases that took it.
 *
 * To add a kernel's rule: add a row, name its source, add a test to
 * tests/core/test-rules.c. Distributions patch their kernels; what they changed
 * is given with hd_rules_set() or found by whoever reads their log.
 *
 * Versions are those of unpatched trees, read from 2.6.11 to 7.1; the file that
 * holds most of it is mm/page_alloc.c, from 6.4 on mm/mm_init.c.
 */
#include "core/text.h"
#include "hashdist/core.h"

#define V(major, minor, patch) HD_VERSION(major, minor, patch)
#define ON(arch)               (1u << HD_ARCH_##arch)
#define EVERYWHERE             0u
#define OLD_NUMA_64_BIT                                                                            \
	(ON(X86_64) | ON(PPC64) | ON(S390X) | ON(LOONGARCH64) | ON(MIPS64) | ON(IA64) |            \
	 ON(ALPHA) | ON(SPARC64))

struct change {
	enum hd_rule rule;
	uint32_t arches; /* bits of enum hd_arch */
	uint32_t since;
	int32_t value;
	const uint32_t *backports; /* first stable releases that have it, zero-terminated */
};

/* mm: fix off-by-one order in the table line; commit 0d6c356dd654 and its stable copies. */
static const uint32_t order_backports[] = { V(6, 17, 9),   V(6, 12, 59),
					    V(6, 6, 117),  V(6, 1, 159),
					    V(5, 15, 197), V(5, 10, 247),
					    V(5, 4, 302),  0 };
/* Seen in these releases; the first of each branch is not known. */
static const uint32_t dentry_low_backports[] = { V(6, 12, 117), V(6, 1, 192), 0 };

static const struct change changes[] = {
	/* Page size: what distributions build. */
	{ HD_RULE_PAGE_SHIFT, EVERYWHERE, 0, 12, NULL },
	{ HD_RULE_PAGE_SHIFT, ON(PPC64) | ON(IA64), 0, 16, NULL },
	{ HD_RULE_PAGE_SHIFT, ON(LOONGARCH64), 0, 14, NULL },
	{ HD_RULE_PAGE_SHIFT, ON(ALPHA) | ON(SPARC64) | ON(OPENRISC), 0, 13, NULL },

	/* The parameter's default: "NUMA and 64-bit" grew from ia64 to all. */
	{ HD_RULE_HASHDIST_DEFAULT, ON(IA64), 0, 1, NULL },
	{ HD_RULE_HASHDIST_DEFAULT, ON(X86_64), V(2, 6, 21), 1, NULL },
	{ HD_RULE_HASHDIST_DEFAULT, OLD_NUMA_64_BIT, V(2, 6, 31), 1, NULL },
	{ HD_RULE_HASHDIST_DEFAULT, ON(ARM64), V(4, 7, 0), 1, NULL },    /* first with NUMA */
	{ HD_RULE_HASHDIST_DEFAULT, ON(RISCV64), V(5, 12, 0), 1, NULL }, /* first with NUMA */
	/* Only one node has memory: cleared. The change of 2019. */
	{ HD_RULE_HASHDIST_CLEARS, EVERYWHERE, V(5, 3, 0), 1, NULL },
	/* From int to bool. */
	{ HD_RULE_HASHDIST_SYNTAX, EVERYWHERE, V(7, 0, 0), HD_SYNTAX_BOOL, NULL },
	{ HD_RULE_ENTRIES_SYNTAX, EVERYWHERE, V(7, 0, 0), 1, NULL },
	{ HD_RULE_NET_SYNTAX, EVERYWHERE, V(3, 10, 0), 1, NULL },

	/* What sizing counts: calculate_node_totalpages(), later memblock's free ranges. */
	{ HD_RULE_COUNT_ERA, EVERYWHERE, V(2, 6, 19), HD_ERA_B, NULL },
	{ HD_RULE_COUNT_ERA, EVERYWHERE, V(6, 10, 0), HD_ERA_C, NULL },

	/* alloc_large_system_hash(): how a count becomes a size. */
	{ HD_RULE_NEXT_POWER, EVERYWHERE, 0, 1, NULL },
	{ HD_RULE_NEXT_POWER, EVERYWHERE, V(2, 6, 20), 0, NULL },
	{ HD_RULE_PAGE_MINIMUM, EVERYWHERE, V(2, 6, 19), 1, NULL },
	{ HD_RULE_CLAMP_2G, EVERYWHERE, V(3, 10, 0), 1, NULL },
	{ HD_RULE_LOW_LIMIT, EVERYWHERE, V(3, 5, 0), 1, NULL },
	{ HD_RULE_DENTRY_LOW, EVERYWHERE, V(7, 1, 0), 2, dentry_low_backports },
	{ HD_RULE_ADAPTIVE, EVERYWHERE, V(4, 13, 0), 1, NULL }, /* commit 9017217b6f45 */

	/* Where the memory comes from. */
	{ HD_RULE_TOP_ORDER, EVERYWHERE, 0, 10, NULL },
	{ HD_RULE_TOP_ORDER, ON(S390X), 0, 8, NULL },
	{ HD_RULE_TOP_ORDER, ON(SPARC64), 0, 12, NULL },
	{ HD_RULE_TOP_ORDER, ON(IA64), 0, 16, NULL },
	{ HD_RULE_FALLBACK_VMALLOC, EVERYWHERE, V(5, 3, 0), 1, NULL },
	{ HD_RULE_PMD_SHIFT, ON(X86_64) | ON(PPC64) | ON(RISCV64), 0, 21, NULL },

	/* Huge vmalloc: commit 121e6f3258fe and each architecture's HAVE_ARCH_HUGE_VMALLOC. */
	{ HD_RULE_HUGE_VMALLOC, ON(PPC64), V(5, 13, 0), HD_HUGE_NODE_SHARE, NULL },
	{ HD_RULE_HUGE_VMALLOC, ON(X86_64), V(5, 18, 0), HD_HUGE_NODE_SHARE, NULL },
	{ HD_RULE_HUGE_VMALLOC, ON(ARM64), V(6, 1, 0), HD_HUGE_NODE_SHARE, NULL },
	{ HD_RULE_HUGE_VMALLOC, ON(RISCV64), V(6, 2, 0), HD_HUGE_NODE_SHARE, NULL },
	{ HD_RULE_HUGE_VMALLOC, ON(PPC64) | ON(X86_64) | ON(ARM64) | ON(RISCV64), V(6, 13, 0),
	  HD_HUGE_WHOLE, NULL },
	/* The bulk page allocator forgot the interleave policy: until commit ffb29b1c255a. */
	{ HD_RULE_DEAL, EVERYWHERE, V(5, 13, 0), HD_DEAL_ANYWHERE, NULL },
	{ HD_RULE_DEAL, EVERYWHERE, V(5, 15, 0), HD_DEAL_PAGES, NULL },
	{ HD_RULE_DEAL, EVERYWHERE, V(6, 19, 0), HD_DEAL_CHUNKS, NULL },

	/* What the line says. */
	{ HD_RULE_KIND_WORDS, EVERYWHERE, V(5, 3, 0), HD_WORDS_VMALLOC, NULL },
	{ HD_RULE_KIND_WORDS, EVERYWHERE, V(5, 13, 0), HD_WORDS_HUGEPAGE, NULL },
	{ HD_RULE_ORDER_PRINT, EVERYWHERE, V(6, 18, 0), HD_ORDER_CEIL, order_backports },

	/* Bucket sizes that follow the processor. */
	{ HD_RULE_CACHE_LINE, EVERYWHERE, 0, 64, NULL },
	{ HD_RULE_CACHE_LINE, ON(PPC64), 0, 128, NULL },
	{ HD_RULE_CACHE_LINE, ON(S390X), 0, 256, NULL },
	{ HD_RULE_CACHE_LINE, ON(ARM64), V(4, 8, 0), 128, NULL },
	{ HD_RULE_CACHE_LINE, ON(ARM64), V(4, 17, 0), 64, NULL },
};

/* ---- names and ranges -------------------------------------------------------------- */

static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const number_bool[] = { "number", "bool", NULL };
static const char *const prefix_strict[] = { "prefix", "strict", NULL };
static const char *const eras[] = { "present", "present-less-memmap", "memblock-free", NULL };
static const char *const huge_rules[] = { "never", "node-share", "whole", NULL };
static const char *const deals[] = { "pages", "anywhere", "chunks", NULL };
static const char *const kind_words[] = { "none", "vmalloc", "hugepage", NULL };
static const char *const order_prints[] = { "floor", "ceil", NULL };

static const struct rule_info {
	const char *name;
	int32_t min, max;
	const char *const *words; /* NULL: a number */
} infos[HD_RULE_COUNT] = {
	[HD_RULE_PAGE_SHIFT] = { "page-shift", 10, 22, NULL },
	[HD_RULE_WORD_BYTES] = { "word-bytes", 4, 8, NULL },
	[HD_RULE_TOP_ORDER] = { "top-order", 0, 30, NULL },
	[HD_RULE_PMD_SHIFT] = { "pmd-shift", 0, 40, NULL },
	[HD_RULE_PTE_SHIFT] = { "pte-shift", 0, 40, NULL },
	[HD_RULE_HASHDIST_PARAM] = { "hashdist-param", 0, 1, no_yes },
	[HD_RULE_HASHDIST_DEFAULT] = { "hashdist-default", 0, 1, no_yes },
	[HD_RULE_HASHDIST_CLEARS] = { "hashdist-clears", 0, 1, no_yes },
	[HD_RULE_HASHDIST_SYNTAX] = { "hashdist-syntax", 0, 1, number_bool },
	[HD_RULE_ENTRIES_SYNTAX] = { "entries-syntax", 0, 1, prefix_strict },
	[HD_RULE_NET_SYNTAX] = { "net-syntax", 0, 1, prefix_strict },
	[HD_RULE_COUNT_ERA] = { "count-era", 0, 2, eras },
	[HD_RULE_RESERVED_PAGES] = { "reserved-pages", 0, 1, no_yes },
	[HD_RULE_ADAPTIVE] = { "adaptive", 0, 1, no_yes },
	[HD_RULE_PAGE_MINIMUM] = { "page-minimum", 0, 1, no_yes },
	[HD_RULE_NEXT_POWER] = { "next-power", 0, 1, no_yes },
	[HD_RULE_CLAMP_2G] = { "clamp-2g", 0, 1, no_yes },
	[HD_RULE_LOW_LIMIT] = { "low-limit", 0, 1, no_yes },
	[HD_RULE_DENTRY_LOW] = { "dentry-low", 0, 1 << 20, NULL },
	[HD_RULE_FALLBACK_VMALLOC] = { "fallback-vmalloc", 0, 1, no_yes },
	[HD_RULE_HUGE_VMALLOC] = { "huge-vmalloc", 0, 2, huge_rules },
	[HD_RULE_DEAL] = { "deal", 0, 2, deals },
	[HD_RULE_KIND_WORDS] = { "kind-words", 0, 2, kind_words },
	[HD_RULE_ORDER_PRINT] = { "order-print", 0, 1, order_prints },
	[HD_RULE_SPINLOCK_BYTES] = { "spinlock-bytes", 0, 256, NULL },
	[HD_RULE_CACHE_LINE] = { "cache-line", 0, 1024, NULL },
	[HD_RULE_BASE_SMALL] = { "base-small", 0, 1, no_yes },
};

const char *hd_rule_name(enum hd_rule rule)
{
	return rule < HD_RULE_COUNT ? infos[rule].name : NULL;
}

const char *hd_rule_word(enum hd_rule rule, int32_t value)
{
	if (rule >= HD_RULE_COUNT || !infos[rule].words || value < 0 || value > infos[rule].max)
		return NULL;
	return infos[rule].words[value];
}

/* ---- from a version to its rules ----------------------------------------------------- */

static bool has_change(const struct change *change, uint32_t version)
{
	if (version >= change->since)
		return true;
	for (const uint32_t *at = change->backports; at && *at; at++)
		if (version >= *at && version >> 16 == *at >> 16)
			return true;
	return false;
}

static void set(struct hd_rules *rules, enum hd_rule rule, int32_t value,
		enum hd_rule_origin origin)
{
	rules->value[rule] = value;
	rules->origin[rule] = (uint8_t)origin;
}

/** Leaves alone what rests on more than the version. */
static void set_usual(struct hd_rules *rules, enum hd_rule rule, int32_t value)
{
	if (rules->origin[rule] == HD_ORIGIN_VERSION)
		rules->value[rule] = value;
}

/** Sizes that hang on the page size: largest order, huge pages, contiguous-PTE blocks. */
static void apply_page_size(struct hd_rules *rules)
{
	/* arm64: vmalloc in contiguous-PTE blocks */
	bool conts = !rules->version || rules->version >= V(6, 16, 0);
	int32_t shift = rules->value[HD_RULE_PAGE_SHIFT];
	int32_t top = rules->value[HD_RULE_TOP_ORDER];

	switch (rules->arch) {
	case HD_ARCH_ARM64:
		top = shift == 16 ? 13 : shift == 14 ? 11 : 10;
		set_usual(rules, HD_RULE_PMD_SHIFT, 2 * shift - 3);
		set_usual(rules, HD_RULE_PTE_SHIFT, !conts ? 0 : shift == 12 ? 16 : 21);
		break;
	case HD_ARCH_PPC64:
		top = shift == 16 ? 8 : 12;
		break;
	case HD_ARCH_PPC:
		top = shift == 14 ? 8 : shift == 16 ? 6 : shift == 18 ? 4 : 10;
		break;
	case HD_ARCH_MIPS:
	case HD_ARCH_MIPS64:
	case HD_ARCH_LOONGARCH64:
		top = shift == 16 ? 13 : shift == 15 ? 12 : shift == 14 ? 11 : 10;
		break;
	default:
		break;
	}
	set_usual(rules, HD_RULE_TOP_ORDER, top);
}

/**
 * spinlock_t by debugging options and word size.
 * Source: include/linux/spinlock_types.h, lockdep_types.h; rtmutex for PREEMPT_RT.
 */
static int32_t spinlock_bytes(const struct hd_config *config, uint32_t version, int32_t word)
{
	int32_t bytes = 4, dep_map;

	if (config->preempt_rt == HD_YES)
		return word == 8 ? 32 : 20;
	if (config->debug_spinlock == HD_YES || config->debug_lock == HD_YES)
		bytes = word == 8 ? 24 : 16; /* magic, owner's processor, owner */
	else if (config->smp == HD_NO)
		return 0;
	if (config->debug_lock != HD_YES)
		return bytes;
	dep_map = 4 * word + (version >= V(5, 7, 0) ? 8 : 0);
	if (config->lock_stat == HD_YES)
		dep_map = 6 * word;
	return bytes + dep_map;
}

static void apply_config(struct hd_rules *rules, const struct hd_config *config)
{
	int32_t word = rules->value[HD_RULE_WORD_BYTES];

	if (config->numa == HD_NO) {
		set(rules, HD_RULE_HASHDIST_PARAM, 0, HD_ORIGIN_CONFIG);
		set(rules, HD_RULE_HASHDIST_DEFAULT, 0, HD_ORIGIN_CONFIG);
	}
	if (config->huge_vmalloc == HD_NO ||
	    (config->ptdump_debugfs == HD_YES && rules->arch == HD_ARCH_ARM64 &&
	     rules->version < V(6, 16, 0)))
		set(rules, HD_RULE_HUGE_VMALLOC, HD_HUGE_NEVER, HD_ORIGIN_CONFIG);
	if (config->fa_dump == HD_YES && rules->version >= V(4, 9, 0) &&
	    rules->version < V(6, 10, 0))
		set(rules, HD_RULE_RESERVED_PAGES, 1, HD_ORIGIN_CONFIG);
	if (config->base_small == HD_YES)
		set(rules, HD_RULE_BASE_SMALL, 1, HD_ORIGIN_CONFIG);
	if (config->smp == HD_NO)
		set(rules, HD_RULE_CACHE_LINE, 0, HD_ORIGIN_CONFIG);
	set(rules, HD_RULE_SPINLOCK_BYTES, spinlock_bytes(config, rules->version, word),
	    config->smp == HD_UNKNOWN ? HD_ORIGIN_VERSION : HD_ORIGIN_CONFIG);
	if (config->top_order && config->top_order <= infos[HD_RULE_TOP_ORDER].max)
		set(rules, HD_RULE_TOP_ORDER, config->top_order, HD_ORIGIN_CONFIG);
}

void hd_config_init(struct hd_config *config)
{
	*config = (struct hd_config){
		.numa = HD_UNKNOWN,
		.smp = HD_UNKNOWN,
		.base_small = HD_UNKNOWN,
		.huge_vmalloc = HD_UNKNOWN,
		.ptdump_debugfs = HD_UNKNOWN,
		.fa_dump = HD_UNKNOWN,
		.preempt_rt = HD_UNKNOWN,
		.debug_spinlock = HD_UNKNOWN,
		.debug_lock = HD_UNKNOWN,
		.lock_stat = HD_UNKNOWN,
	};
}

int hd_rules_init(struct hd_rules *rules, uint32_t version, enum hd_arch arch,
		  const struct hd_config *config)
{
	struct hd_config unknown;
	unsigned word = hd_arch_word_bytes(arch);

	hd_config_init(&unknown);
	if (!config)
		config = &unknown;
	*rules = (struct hd_rules){ .version = version ? version : HD_VERSION_MAX, .arch = arch };
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if ((!changes[i].arches || changes[i].arches & (1u << arch)) &&
		    has_change(&changes[i], rules->version))
			rules->value[changes[i].rule] = changes[i].value;
	rules->value[HD_RULE_WORD_BYTES] = word ? (int32_t)word : 8;
	/* 32-bit kernels with NUMA know the parameter too; hardly any is built so. */
	rules->value[HD_RULE_HASHDIST_PARAM] =
	    rules->value[HD_RULE_HASHDIST_DEFAULT] || config->numa == HD_YES;
	if (config->page_shift >= infos[HD_RULE_PAGE_SHIFT].min &&
	    config->page_shift <= infos[HD_RULE_PAGE_SHIFT].max)
		set(rules, HD_RULE_PAGE_SHIFT, config->page_shift, HD_ORIGIN_CONFIG);
	apply_page_size(rules);
	apply_config(rules, config);
	rules->version = version;
	return word ? 0 : HD_EINVAL;
}

int hd_rules_set(struct hd_rules *rules, enum hd_rule rule, int32_t value,
		 enum hd_rule_origin origin)
{
	if (rule >= HD_RULE_COUNT || value < infos[rule].min || value > infos[rule].max ||
	    origin < (enum hd_rule_origin)rules->origin[rule])
		return HD_EINVAL;
	if (rule == HD_RULE_WORD_BYTES && value != 4 && value != 8)
		return HD_EINVAL;
	set(rules, rule, value, origin);
	if (rule == HD_RULE_PAGE_SHIFT)
		apply_page_size(rules);
	return 0;
}

int hd_rules_parse(struct hd_rules *rules, const char *text, size_t len)
{
	size_t name_len = 0;

	while (name_len < len && text[name_len] != '=')
		name_len++;
	for (int rule = 0; rule < HD_RULE_COUNT; rule++) {
		const char *value;
		size_t value_len;
		struct text_number number;

		if (!text_is(text, name_len, infos[rule].name))
			continue;
		if (name_len == len)
			return HD_EINVAL;
		value = text + name_len + 1;
		value_len = len - name_len - 1;
		for (int32_t w = 0; infos[rule].words && infos[rule].words[w]; w++)
			if (text_is(value, value_len, infos[rule].words[w]))
				return hd_rules_set(rules, rule, w, HD_ORIGIN_GIVEN);
		number = text_number(value, value_len);
		if (!number.digits || number.used != value_len || number.overflow ||
		    number.value > INT32_MAX)
			return HD_EINVAL;
		return hd_rules_set(rules, rule, (int32_t)number.value, HD_ORIGIN_GIVEN);
	}
	return HD_ENOENT;
}

/* SPDX-License-Identifier: MIT */
/*
 * core.h - the policy for large hash tables, for kernels, simulators and tools
 *
 * Freestanding: needs a C17 compiler and nothing else. No libc, no allocation,
 * no I/O, no global state. Everything the policy depends on comes in as data:
 *
 *   rules     what one kernel version, architecture and configuration does
 *   facts     what one machine has: pages, nodes, CPUs
 *   params    what the command line says
 *   request   one table
 *   providers three ways to get memory, supplied by the caller
 *
 * hd_table_alloc() is the engine: it sizes the table from memory, clamps and
 * rounds it, chooses the provider, halves and retries, and fails loudly.
 *
 * Errors are negative and use Linux's errno numbers; see enum hd_error.
 * Nothing here keeps a pointer after it returns, except where said.
 */
#ifndef HASHDIST_CORE_H
#define HASHDIST_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The only errors of this header, with Linux's numbers. */
enum hd_error {
	HD_ENOENT = -2,  /* this kernel has no such table, rule or parameter */
	HD_ENOMEM = -12, /* no provider could serve even one page */
	HD_EINVAL = -22, /* a bucket of 0 bytes, a page size of 0, a value out of range */
	HD_ERANGE = -34, /* a size that does not fit 63 bits; a text that does not fit its buffer */
};

/* ---- versions and architectures ------------------------------------------------ */

/** A kernel version as one comparable number: 6.1.159, 2.6.32, 4.18.0. */
#define HD_VERSION(major, minor, patch)                                                            \
	(((uint32_t)(major) << 24) | ((uint32_t)(minor) << 16) | (uint32_t)(patch))
#define HD_VERSION_MAJOR(v) ((v) >> 24)
#define HD_VERSION_MINOR(v) (((v) >> 16) & 0xff)
#define HD_VERSION_PATCH(v) ((v)&0xffff)
/** Later than every kernel. */
#define HD_VERSION_MAX UINT32_MAX

enum hd_arch {
	HD_ARCH_UNKNOWN,
	HD_ARCH_X86_64,
	HD_ARCH_I386,
	HD_ARCH_ARM64,
	HD_ARCH_ARM,
	HD_ARCH_PPC64,
	HD_ARCH_PPC,
	HD_ARCH_S390X,
	HD_ARCH_RISCV64,
	HD_ARCH_RISCV32,
	HD_ARCH_LOONGARCH64,
	HD_ARCH_MIPS64,
	HD_ARCH_MIPS,
	HD_ARCH_IA64,
	HD_ARCH_ALPHA,
	HD_ARCH_SPARC64,
	HD_ARCH_SPARC,
	HD_ARCH_PARISC64,
	HD_ARCH_PARISC,
	HD_ARCH_M68K,
	HD_ARCH_SH,
	HD_ARCH_OPENRISC,
	HD_ARCH_MICROBLAZE,
	HD_ARCH_COUNT,
};

/** "x86-64", "arm64", ...; "unknown" for anything else. */
const char *hd_arch_name(enum hd_arch arch);
/** Accepts our names and those of uname -m (x86_64, aarch64, ppc64le, ...). */
enum hd_arch hd_arch_parse(const char *name, size_t len);
/** 4 or 8; 0 for HD_ARCH_UNKNOWN. */
unsigned hd_arch_word_bytes(enum hd_arch arch);

/**
 * hd_version_parse() - read "6.1.0-44-amd64", "2.6.32.43-xen", "5.19-rc4"
 *
 * Release candidates count as the release they lead to.
 * Return: the packed version, 0 when @text does not start with one.
 */
uint32_t hd_version_parse(const char *text, size_t len);

/* ---- configuration ------------------------------------------------------------- */

enum hd_tristate { HD_NO = 0, HD_YES = 1, HD_UNKNOWN = -1 };

/** Build-time options that change a table; HD_UNKNOWN where the caller does not know. */
struct hd_config {
	int8_t numa;           /* CONFIG_NUMA */
	int8_t smp;            /* CONFIG_SMP */
	int8_t base_small;     /* CONFIG_BASE_SMALL */
	int8_t huge_vmalloc;   /* CONFIG_HAVE_ARCH_HUGE_VMALLOC */
	int8_t ptdump_debugfs; /* CONFIG_PTDUMP_DEBUGFS; matters on arm64 */
	int8_t fa_dump;        /* CONFIG_FA_DUMP or CONFIG_PRESERVE_FA_DUMP */
	int8_t preempt_rt;     /* CONFIG_PREEMPT_RT */
	int8_t debug_spinlock; /* CONFIG_DEBUG_SPINLOCK */
	int8_t debug_lock;     /* CONFIG_DEBUG_LOCK_ALLOC (lockdep) */
	int8_t lock_stat;      /* CONFIG_LOCK_STAT */
	uint8_t page_shift;    /* log2 of the page size in bytes; 0 = the architecture's usual */
	uint8_t top_order; /* largest order of the page allocator; 0 = the architecture's usual */
};

/** All options unknown. */
void hd_config_init(struct hd_config *config);

/* ---- rules: what one kernel does differently ----------------------------------- */

enum hd_hashdist_syntax { HD_SYNTAX_NUMBER, HD_SYNTAX_BOOL };
/** A: zones' present pages. B: less their memmap. C: what memblock has free. */
enum hd_count_era { HD_ERA_A, HD_ERA_B, HD_ERA_C };
enum hd_huge_rule { HD_HUGE_NEVER, HD_HUGE_NODE_SHARE, HD_HUGE_WHOLE };
/** How far the log line tells the mapping. */
enum hd_kind_words { HD_WORDS_NONE, HD_WORDS_VMALLOC, HD_WORDS_HUGEPAGE };
/** Order printed for a size that is no power of two. */
enum hd_order_print { HD_ORDER_FLOOR, HD_ORDER_CEIL };
/** How scattered memory is dealt to the nodes: page by page, wherever it falls, in chunks. */
enum hd_deal { HD_DEAL_PAGES, HD_DEAL_ANYWHERE, HD_DEAL_CHUNKS };

/** One rule each; its value is an int32_t whose meaning stands beside it. */
enum hd_rule {
	HD_RULE_PAGE_SHIFT,       /* log2 bytes */
	HD_RULE_WORD_BYTES,       /* 4, 8: size of a pointer */
	HD_RULE_TOP_ORDER,        /* largest order the page allocator serves */
	HD_RULE_PMD_SHIFT,        /* log2 bytes of the huge page of the kernel's page tables */
	HD_RULE_PTE_SHIFT,        /* log2 bytes of a contiguous-PTE block in vmalloc; 0 none */
	HD_RULE_HASHDIST_PARAM,   /* 1: the kernel knows the parameter (CONFIG_NUMA) */
	HD_RULE_HASHDIST_DEFAULT, /* 0, 1: value before boot has looked at anything */
	HD_RULE_HASHDIST_CLEARS,  /* 1: cleared when exactly one node has memory */
	HD_RULE_HASHDIST_SYNTAX,  /* enum hd_hashdist_syntax */
	HD_RULE_ENTRIES_SYNTAX,   /* 0: number prefix for dhash/ihash/mhash/mphash; 1: whole word */
	HD_RULE_NET_SYNTAX,       /* the same for thash/uhash */
	HD_RULE_COUNT_ERA,        /* enum hd_count_era */
	HD_RULE_RESERVED_PAGES,   /* 1: memblock-reserved pages are subtracted (firmware-assisted
				     dump) */
	HD_RULE_ADAPTIVE,         /* 1: scale grows with memory beyond 64 GiB */
	HD_RULE_PAGE_MINIMUM,     /* 1: a derived table has at least one page */
	HD_RULE_NEXT_POWER, /* 1: always the next power of two, exact powers double (2.6.11) */
	HD_RULE_CLAMP_2G,   /* 1: never more than 2^31 entries */
	HD_RULE_LOW_LIMIT,  /* 1: the low limit exists */
	HD_RULE_DENTRY_LOW, /* low limit of the dentry table, entries */
	HD_RULE_FALLBACK_VMALLOC, /* 1: beyond the largest order: scattered; 0: halve until it fits
				   */
	HD_RULE_HUGE_VMALLOC,     /* enum hd_huge_rule */
	HD_RULE_DEAL,             /* enum hd_deal */
	HD_RULE_KIND_WORDS,       /* enum hd_kind_words */
	HD_RULE_ORDER_PRINT,      /* enum hd_order_print */
	HD_RULE_SPINLOCK_BYTES,   /* sizeof(spinlock_t) */
	HD_RULE_CACHE_LINE,       /* bytes futex buckets are aligned to; 0: not aligned */
	HD_RULE_BASE_SMALL,       /* 1: CONFIG_BASE_SMALL */
	HD_RULE_COUNT,
};

/** Where a rule's value comes from, weakest first. */
enum hd_rule_origin { HD_ORIGIN_VERSION, HD_ORIGIN_CONFIG, HD_ORIGIN_DETECTED, HD_ORIGIN_GIVEN };

struct hd_rules {
	uint32_t version; /* HD_VERSION(); 0 unknown */
	enum hd_arch arch;
	int32_t value[HD_RULE_COUNT];
	uint8_t origin[HD_RULE_COUNT];
};

/**
 * hd_rules_init() - the rules of an unpatched kernel
 * @version: HD_VERSION(); 0 means the newest known
 * @config:  NULL or HD_UNKNOWN fields: what distributions usually build
 *
 * Return: 0; HD_EINVAL if @arch is unknown (rules are then those of a 64-bit
 * architecture with 4 KiB pages and no huge vmalloc).
 */
int hd_rules_init(struct hd_rules *rules, uint32_t version, enum hd_arch arch,
		  const struct hd_config *config);

/**
 * hd_rules_set() - overrule one rule: a distribution's backport, or a finding
 * Return: 0, HD_EINVAL when @value is out of range, or @origin is weaker than
 * what the rule already rests on (the rule is then left alone).
 */
int hd_rules_set(struct hd_rules *rules, enum hd_rule rule, int32_t value,
		 enum hd_rule_origin origin);
/** "huge-vmalloc" for HD_RULE_HUGE_VMALLOC, ...; NULL beyond the last. */
const char *hd_rule_name(enum hd_rule rule);
/** The word for @value of @rule ("whole"), or NULL where the value is a plain number. */
const char *hd_rule_word(enum hd_rule rule, int32_t value);
/**
 * hd_rules_parse() - apply one "name=value" of the user, origin HD_ORIGIN_GIVEN
 * Return: 0; HD_ENOENT unknown name; HD_EINVAL bad value.
 */
int hd_rules_parse(struct hd_rules *rules, const char *text, size_t len);

/* ---- facts: what one machine has ----------------------------------------------- */

/** The pages that sizing starts from. Several eras count differently: see pages.c. */
struct hd_pages {
	uint64_t kernel;   /* directly mapped pages that count (nr_kernel_pages) */
	uint64_t all;      /* with highmem; for the sixteenth-of-memory cap (nr_all_pages) */
	uint64_t reserved; /* memblock-reserved pages, for HD_RULE_RESERVED_PAGES */
	uint64_t slack;    /* kernel and all are right to within this many pages; 0 exact */
};

struct hd_facts {
	struct hd_pages pages;
	uint32_t memory_nodes;   /* nodes that have memory at boot (N_MEMORY) */
	uint32_t online_nodes;   /* with memoryless ones */
	uint32_t possible_nodes; /* with nodes that may come later */
	uint32_t possible_cpus;  /* 0 unknown */
	bool pv_spinlocks;       /* paravirtual spinlocks are in use */
};

/** One zone of one node, for hd_pages_from_zones(). Pages. */
struct hd_zone {
	uint64_t spanned;
	uint64_t present;
	bool highmem;
};

/**
 * hd_pages_from_zones() - count as kernels of era A and B do
 * @page_struct_bytes: sizeof(struct page); 64 on 64-bit kernels, about 32 on 32-bit ones
 * @dma_reserve:       pages reserved below 16 MiB on x86-64, 0 elsewhere; pages
 *
 * Source: calculate_node_totalpages(), free_area_init_core(), Linux 2.6.11 to 6.9.
 */
void hd_pages_from_zones(const struct hd_rules *rules, const struct hd_zone *zones, size_t count,
			 unsigned page_struct_bytes, uint64_t dma_reserve, struct hd_pages *out);

/** What a boot log says about memory. KiB unless named otherwise; has_* false where it is silent.
 */
struct hd_log_totals {
	bool has_zonelist_pages, has_memory, has_reserved;
	uint64_t zonelist_pages; /* "Built N zonelists ... Total pages:", pages */
	uint64_t total_kib;      /* second number of "Memory:" */
	uint64_t reserved_kib;
	uint64_t cma_kib;
	uint64_t highmem_pages;     /* pages of memory that are highmem; 0 none */
	unsigned page_struct_bytes; /* as above; 0: the word size's usual */
	uint64_t early_bytes;       /* tables taken from memblock after the count */
	uint64_t percpu_pages;      /* per CPU, pages */
	uint32_t possible_cpus;
	uint64_t late_reserved_bytes; /* other memory reserved after the count: swiotlb, kfence */
	bool late_complete;           /* the log would have told of all of them */
	uint64_t crashkernel_bytes;
};

/**
 * hd_pages_from_log() - the same counts from what a log printed
 *
 * Eras A and B print the count itself; era C needs an estimate, whose slack is set.
 * Return: 0; HD_ENOENT if the log does not carry enough.
 * Source: build_all_zonelists(), mem_init_print_info(), Linux 2.6.11 to 7.1.
 */
int hd_pages_from_log(const struct hd_rules *rules, const struct hd_log_totals *log,
		      struct hd_pages *out);

/* ---- the command line ---------------------------------------------------------- */

enum hd_param {
	HD_PARAM_HASHDIST,
	HD_PARAM_DHASH_ENTRIES,
	HD_PARAM_IHASH_ENTRIES,
	HD_PARAM_MHASH_ENTRIES,
	HD_PARAM_MPHASH_ENTRIES,
	HD_PARAM_THASH_ENTRIES,
	HD_PARAM_UHASH_ENTRIES,
	HD_PARAM_RHASH_ENTRIES,
	HD_PARAM_COUNT,
	HD_PARAM_NONE = HD_PARAM_COUNT,
};

enum hd_param_state {
	HD_PARAM_ABSENT,
	HD_PARAM_SET,      /* value holds */
	HD_PARAM_IGNORED,  /* given, but this kernel does not take it: unknown or bad value */
	HD_PARAM_MISSPELT, /* a word that is nearly this parameter's name */
};

struct hd_params {
	struct {
		uint64_t value;   /* in force, if in_force */
		bool in_force;    /* some time it was given, the kernel took it */
		uint8_t state;    /* enum hd_param_state of the last time it is given */
		uint8_t times;    /* how often it is given, up to 255 */
		uint32_t at, len; /* where that word stands in the command line, bytes */
	} param[HD_PARAM_COUNT];
	bool nohugevmalloc;
	bool numa_off;
	bool numa_fake;                  /* numa=fake=... asks for emulated nodes */
	uint32_t possible_cpus, nr_cpus; /* 0 not given */
};

/** "hashdist", "dhash_entries", ... */
const char *hd_param_name(enum hd_param param);
/** Reads @cmdline the way a kernel with @rules does. The last of several wins. */
void hd_params_parse(struct hd_params *params, const struct hd_rules *rules, const char *cmdline,
		     size_t len);

/** Why hashdist has the value it has. */
enum hd_hashdist_reason {
	HD_REASON_DEFAULT,       /* by configuration, several memory nodes */
	HD_REASON_ONE_NODE,      /* cleared: exactly one node has memory */
	HD_REASON_PARAMETER,     /* the command line says so */
	HD_REASON_NO_NUMA,       /* the constant 0 of a kernel without NUMA */
	HD_REASON_NEVER_CLEARED, /* on although one node has memory: kernels before 5.3 */
};

/** hd_hashdist() - the flag as boot leaves it; @reason may be NULL. */
bool hd_hashdist(const struct hd_rules *rules, const struct hd_facts *facts,
		 const struct hd_params *params, enum hd_hashdist_reason *reason);

/* ---- one table ------------------------------------------------------------------ */

enum hd_mapping {
	HD_MAP_UNKNOWN,
	HD_MAP_LINEAR,       /* early or contiguous: in the linear map */
	HD_MAP_VMALLOC,      /* scattered, base pages */
	HD_MAP_VMALLOC_HUGE, /* scattered, larger pages */
};
/** "linear", "vmalloc", "vmalloc hugepage", "unknown": the kernel's own words. */
const char *hd_mapping_name(enum hd_mapping mapping);

enum hd_when {
	HD_WHEN_EARLY,        /* from the boot allocator, always */
	HD_WHEN_EARLY_UNLESS, /* from the boot allocator unless hashdist is set, then late */
	HD_WHEN_LATE,         /* once the page allocator is up */
};

/** What is asked of hd_table_alloc(). Bytes and entries. */
struct hd_request {
	const char *name;      /* for the caller's messages; may be NULL */
	uint64_t bucket_bytes; /* not 0 */
	uint64_t entries;      /* 0: derive from memory */
	uint8_t scale;         /* log2 of memory bytes per entry, when deriving */
	uint64_t low, high;    /* limits in entries; high 0: a sixteenth of memory */
	enum hd_when when;
	bool zero;           /* passed on to the provider */
	uint8_t small_shift; /* not 0: 2^this entries replace the one-page minimum (PID) */
};

/** Each step of sizing, so that a reader can follow it. Entries unless named otherwise. */
struct hd_sizing {
	uint64_t start_pages;   /* kernel pages less reserved; 0 when entries were given */
	uint64_t rounded_pages; /* up to a whole MiB */
	unsigned scale;         /* after adaptation */
	uint64_t derived;       /* after scaling; the given count otherwise */
	uint64_t power;         /* after minimum and power of two */
	uint64_t cap;           /* the high limit in force */
	uint64_t entries;       /* what the first attempt asks for */
	bool capped, raised;    /* the cap or the low limit changed it */
};

/** Order (log2 of pages, rounded up) of an allocation of @bytes. */
unsigned hd_order(const struct hd_rules *rules, uint64_t bytes);

/**
 * hd_table_size() - entries for one table, every step of it in @out
 * Return: 0; HD_EINVAL bucket of 0 bytes; HD_ERANGE beyond 2^63 bytes.
 * Source: alloc_large_system_hash(), Linux 2.6.11 to 7.1, mm/page_alloc.c,
 * from 6.4 on mm/mm_init.c.
 */
int hd_table_size(const struct hd_rules *rules, const struct hd_pages *pages,
		  const struct hd_request *request, struct hd_sizing *out);

/** log2 bytes of the pages vmalloc would use for @bytes; the base page's where not huge. */
unsigned hd_vmalloc_shift(const struct hd_rules *rules, const struct hd_facts *facts,
			  bool nohugevmalloc, uint64_t bytes);

/**
 * Three ways to get memory. Each returns the block, or NULL when it cannot;
 * NULL is not an error: the engine halves and asks again.
 */
struct hd_providers {
	void *ctx; /* handed to each */
	/** From the boot allocator, aligned to a cache line. */
	void *(*early)(void *ctx, uint64_t bytes, bool zero);
	/** Physically contiguous, in the linear map, 2^@order pages or exactly @bytes of them. */
	void *(*contiguous)(void *ctx, uint64_t bytes, unsigned order, bool zero);
	/**
	 * Page by page, on pages of 2^@shift bytes if they can be had for all of it.
	 * Sets *@got_shift to what it used.
	 */
	void *(*scattered)(void *ctx, uint64_t bytes, unsigned shift, unsigned *got_shift,
			   bool zero);
};

/** One machine at boot: all that the engine looks at. */
struct hd_machine {
	struct hd_rules rules;
	struct hd_facts facts;
	struct hd_params params;
	bool hashdist; /* as hd_hashdist() gives it, or as the caller wants it */
};

struct hd_table {
	void *start;
	uint64_t entries, bytes; /* bytes of the buckets, without padding */
	enum hd_mapping mapping;
	bool early;        /* linear, from the boot allocator */
	unsigned shift;    /* log2 bytes of the pages of a scattered table; 0 linear */
	unsigned halvings; /* attempts that failed before this one */
	struct hd_sizing sizing;
};

/**
 * hd_table_alloc() - get memory for one hash table, as this machine's kernel would
 * @machine: read only
 * @request: read only, not kept
 * @out:     filled on success only; the memory is the caller's, release it the
 *           provider's way
 *
 * A table that does not fit is halved until it is a page or less. Fewer entries
 * or smaller pages than asked for are a success: look at @out.
 *
 * Return: 0; HD_EINVAL; HD_ERANGE; HD_ENOMEM if nothing fits (a kernel panics here).
 * Context: any in which the providers may be called. No locks, no state.
 * Source: alloc_large_system_hash(), Linux 2.6.11 to 7.1.
 */
int hd_table_alloc(const struct hd_machine *machine, const struct hd_request *request,
		   const struct hd_providers *providers, struct hd_table *out);

/* ---- the catalogue of the kernel's tables --------------------------------------- */

enum hd_table_id {
	HD_TABLE_PID,
	HD_TABLE_PV_QSPINLOCK,
	HD_TABLE_STACKDEPOT,
	HD_TABLE_DENTRY,
	HD_TABLE_INODE,
	HD_TABLE_MOUNT,
	HD_TABLE_MOUNTPOINT,
	HD_TABLE_POSIXTIMERS,
	HD_TABLE_FUTEX,
	HD_TABLE_DQUOT, /* printed like the others, allocated otherwise */
	HD_TABLE_IP_ROUTE,
	HD_TABLE_IP_IDENTS,
	HD_TABLE_TCP_LISTEN,
	HD_TABLE_TABLE_PERTURB,
	HD_TABLE_TCP_ESTABLISHED,
	HD_TABLE_TCP_BIND,
	HD_TABLE_MPTCP_TOKEN,
	HD_TABLE_UDP,
	HD_TABLE_UDP_LITE,
	HD_TABLE_COUNT,
};

/** What does not change between kernels about one table. */
struct hd_table_info {
	enum hd_table_id id;
	const char *key;  /* short, for scripts: "dentry" */
	const char *name; /* as printed before " hash table entries" */
	uint8_t name_len;
	enum hd_param param;    /* the boot parameter that sizes it; HD_PARAM_NONE */
	const char *filled_by;  /* what takes up its buckets */
	const char *counted_in; /* file that tells how many, NULL where nothing does */
	bool hashed;            /* false: an array that is no hash of objects (IP idents) */
};

/** Info of one table, NULL beyond HD_TABLE_COUNT. */
const struct hd_table_info *hd_table_info(enum hd_table_id id);
/** By printed name, also spellings of old kernels; HD_TABLE_COUNT when unknown. */
enum hd_table_id hd_table_by_name(const char *name, size_t len);

/**
 * hd_table_request() - what this kernel asks for when it sets up one table
 * @established: entries of the TCP established table, for TCP bind; else 0
 *
 * Return: 0; HD_ENOENT if this kernel has no such table, or does not allocate
 * it this way (futex from 6.16 on, Dquot).
 */
int hd_table_request(const struct hd_machine *machine, enum hd_table_id id, uint64_t established,
		     struct hd_request *out);

/**
 * hd_predict() - hd_table_request() and hd_table_alloc() on a machine that never runs short
 * @out: start is NULL
 */
int hd_predict(const struct hd_machine *machine, enum hd_table_id id, uint64_t established,
	       struct hd_table *out);

/** The line the kernel would print for @table, without prefix. Return: its length or HD_ERANGE. */
int hd_table_line(const struct hd_rules *rules, const char *name, const struct hd_table *table,
		  char *out, size_t size);

/* ---- verdicts --------------------------------------------------------------------- */

/** What the books say about one table. */
struct hd_seen {
	enum hd_table_id id;
	uint64_t entries, bytes; /* 0 unknown */
	enum hd_mapping mapping;
	unsigned shift;             /* log2 bytes of its translations; 0 unknown */
	const uint64_t *node_bytes; /* by memory node in any order; NULL unknown */
	uint32_t nodes;             /* length of node_bytes */
	bool used_known;
	uint64_t used; /* objects it holds */
};

/** What else a verdict looks at. */
struct hd_judge_env {
	uint32_t emulated_nodes; /* memory nodes made by numa=fake; 0 none */
	uint64_t uptime_seconds; /* 0 unknown */
	unsigned linear_shift;   /* log2 bytes the linear map mostly uses; 0 unknown */
	unsigned huge_shift;     /* log2 bytes of a huge page; 0 the rules' */
};

/** Mildest first. */
enum hd_verdict_code {
	HD_OK,
	HD_V_UNKNOWN,     /* the books do not tell enough */
	HD_V_TOO_LARGE,   /* nearly empty after a long time */
	HD_V_CLAMPED,     /* its boot parameter asked for more */
	HD_V_UNDER_HUGE,  /* distributed on base pages only because its share is too small */
	HD_V_LOPSIDED,    /* distributed, but one node holds far more than its share */
	HD_V_NOT_SPREAD,  /* several memory nodes, one contiguous block */
	HD_V_ONE_NODE,    /* called distributed, lies on one node */
	HD_V_TOO_SMALL,   /* holds many objects per bucket */
	HD_V_HALVED,      /* smaller than computed: the first attempt failed */
	HD_V_EMULATED,    /* distributed over nodes that are not there */
	HD_V_SMALL_PAGES, /* one memory node, but scattered over base pages */
	HD_V_COUNT,
};

struct hd_verdict {
	enum hd_verdict_code code;
	enum hd_param param; /* what would mend it; HD_PARAM_NONE: nothing on the command line */
	uint64_t value;      /* for that parameter */
	uint64_t now, then;  /* translations now and after; or entries got and wanted; 0 none */
	unsigned then_shift; /* log2 bytes of the translations after */
	uint32_t node;       /* index into node_bytes: where most of it lies */
};

enum { HD_VERDICTS_MAX = 4 };

/** All that is wrong with one table: count, place, fill; count 0: ok. */
struct hd_judgement {
	struct hd_verdict verdict[HD_VERDICTS_MAX];
	unsigned count;
};

/** Short name for scripts: "ok", "small-pages", ... */
const char *hd_verdict_name(enum hd_verdict_code code);

/**
 * hd_judge() - is one table where it belongs, and has it the size it needs?
 * @want: the prediction for this machine; NULL when there is none
 * @out:  HD_V_UNKNOWN is among them when the books tell too little
 */
void hd_judge(const struct hd_machine *machine, const struct hd_judge_env *env,
	      const struct hd_seen *seen, const struct hd_table *want, struct hd_judgement *out);

/** Translations of 2^@shift bytes that @bytes need at least; 0 when either is unknown. */
uint64_t hd_translations(uint64_t bytes, unsigned shift);

#ifdef __cplusplus
}
#endif

#endif

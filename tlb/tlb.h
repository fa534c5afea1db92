/* SPDX-License-Identifier: MIT */
/*
 * tlb.h - a data TLB: what a stream of accesses costs in page walks on a given processor
 *
 * tlb.c        arrays of translations: looking up, filling, replacing, flushing
 * walk.c       the page walk: table entries it reads, with walk caches and in a guest
 * presets.c    the geometry of real processors, with sources
 * expect.c     walks per lookup at random buckets of one table
 * stream.h     accesses as one word each, to record and to replay
 *
 * tests/tlb/reference.c has the same rules written the slow and obvious way; both agree.
 *
 * Freestanding: needs a C17 compiler and nothing else. No libc, no allocation, no I/O,
 * no global state. Memory comes from the caller. One thread at a time per TLB.
 *
 * The model is told an address and a kind, nothing else, as the hardware is; what translates
 * the address is asked of the caller only when the TLB misses. So a caller may look into page
 * tables at leisure, and a translation that was changed without a flush stays in use.
 *
 * What it does not do: speculation, prefetch of translations, permission and dirty bits, time.
 * Counts are of demand accesses.
 */
#ifndef HASHDIST_TLB_H
#define HASHDIST_TLB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HD_TLB_EINVAL = -22, /* a geometry or a setting out of range */
	HD_TLB_ENOMEM = -12, /* the memory handed over is too small */
};

/* ---- geometry: what the hardware has ------------------------------------------------- */

enum hd_tlb_kind { HD_TLB_LOAD, HD_TLB_STORE, HD_TLB_KINDS };

enum {
	HD_TLB_ARRAYS = 8,
	HD_TLB_LEVELS = 3,
	HD_TLB_HOLDS = 3,
	HD_TLB_WALK_CACHES = 4,
	HD_TLB_TABLE_LEVELS = 5,
	HD_TLB_TAG_MAX = 0xfff, /* address-space tags; PCIDs of x86 have 12 bits too */
	HD_TLB_BASE_SHIFT = 12, /* the smallest translation there is: 4 KiB */
};

/** A set of translation sizes: bit s stands for 2^s bytes. */
#define HD_TLB_SIZE(shift) (1ull << (shift))
#define HD_TLB_4K          HD_TLB_SIZE(12)
#define HD_TLB_16K         HD_TLB_SIZE(14)
#define HD_TLB_32K         HD_TLB_SIZE(15)
#define HD_TLB_64K         HD_TLB_SIZE(16)
#define HD_TLB_2M          HD_TLB_SIZE(21)
#define HD_TLB_32M         HD_TLB_SIZE(25)
#define HD_TLB_512M        HD_TLB_SIZE(29)
#define HD_TLB_1G          HD_TLB_SIZE(30)

enum hd_tlb_replacement {
	HD_TLB_LRU,  /* least recently used */
	HD_TLB_FIFO, /* longest there */
	HD_TLB_NRU,  /* one bit a way, set by use; the first without it. All have it: all lose it */
	HD_TLB_RANDOM, /* by hd_tlb_config.seed: the same in every run */
};

enum hd_tlb_hash {
	HD_TLB_LOW_BITS, /* set = low bits of the page number */
	HD_TLB_XOR_FOLD, /* ... exclusive-or as many bits above them */
};

/** Which ways of an array hold translations of these sizes. */
struct hd_tlb_hold {
	uint64_t sizes; /* HD_TLB_SIZE(); 0: row not used */
	uint16_t first_way, ways;
};

/**
 * One array of translations. A translation larger than an array of its level can hold is
 * cached there in pieces of the largest size that it can.
 */
struct hd_tlb_array {
	uint8_t level;       /* 1 is asked first */
	uint8_t kinds;       /* bit per enum hd_tlb_kind */
	uint8_t replacement; /* enum hd_tlb_replacement */
	uint8_t hash;        /* enum hd_tlb_hash */
	uint16_t sets, ways; /* sets: a power of two; 1: fully associative */
	struct hd_tlb_hold holds[HD_TLB_HOLDS];
};

/** A cache of table entries above the leaf, fully associative, LRU: entries that cover these sizes. */
struct hd_tlb_walk_cache {
	uint64_t sizes;
	uint16_t entries; /* at most 64; 0: row not used */
};

struct hd_tlb_geometry {
	const char *name;   /* "kaby-lake": letters, digits, '-' */
	const char *title;  /* "Intel Skylake, Kaby Lake, ..." */
	const char *source; /* where the figures are from, and which of them are disputed */
	struct hd_tlb_array arrays[HD_TLB_ARRAYS]; /* level 0: row not used */
	/* All rows empty: not known, and every walk starts at the top table. */
	struct hd_tlb_walk_cache walk_caches[HD_TLB_WALK_CACHES];
	/* Translations of guest-physical pages, for walks in a guest; at most 64. */
	uint16_t nested_entries;
};

/** The levels of page tables: what one entry of each covers, as shifts, top first. */
struct hd_tlb_paging {
	const char *name; /* "x86-64, 4 levels" */
	uint8_t levels;
	uint8_t shifts[HD_TLB_TABLE_LEVELS];
};

extern const struct hd_tlb_paging hd_tlb_4_levels;  /* 4 KiB pages, 48 bits: x86-64, arm64 */
extern const struct hd_tlb_paging hd_tlb_5_levels;  /* 4 KiB pages, 57 bits: x86-64 */
extern const struct hd_tlb_paging hd_tlb_arm64_16k; /* 47 bits */
extern const struct hd_tlb_paging hd_tlb_arm64_64k; /* 48 bits */

/* ---- presets.c ------------------------------------------------------------------------ */

/** Preset @i, oldest first; NULL beyond the last. */
const struct hd_tlb_geometry *hd_tlb_preset(unsigned i);
/** By name or by one of its other names ("skylake" and "kaby-lake" are one); NULL: none. */
const struct hd_tlb_geometry *hd_tlb_preset_named(const char *name);

/** A processor as it names itself; what does not apply is 0. */
struct hd_tlb_processor {
	const char *vendor; /* x86: "GenuineIntel", "AuthenticAMD"; NULL: arm64 */
	uint32_t family, model;
	uint32_t implementer, part; /* arm64: of MIDR_EL1 */
};

/** The preset of that processor; NULL: none is known to fit. */
const struct hd_tlb_geometry *hd_tlb_preset_for(const struct hd_tlb_processor *processor);

/** Translations of 2^@shift bytes that @level (1...) can hold for loads; 0: none. */
uint32_t hd_tlb_entries(const struct hd_tlb_geometry *geometry, unsigned level, unsigned shift);

/** The number that HD_TLB_RANDOM draws for fill @nth of a TLB. */
uint64_t hd_tlb_draw(uint64_t seed, uint64_t nth);

/* ---- tlb.c: the model ------------------------------------------------------------------ */

/** What the page tables say of an address. */
struct hd_tlb_translation {
	uint8_t shift; /* 2^shift bytes; 12 to 47 */
	bool global;   /* the same in every address space */
};

/** Called on a miss of all levels, once per walk, before anything is filled. */
typedef struct hd_tlb_translation hd_tlb_walk_fn(void *context, uint64_t address, int kind);

struct hd_tlb_config {
	const struct hd_tlb_geometry *geometry;
	const struct hd_tlb_paging *paging; /* NULL: hd_tlb_4_levels */
	/* A guest: the host's tables and what it backs the guest's memory with. NULL: no guest. */
	const struct hd_tlb_paging *host;
	uint8_t host_shift;
	hd_tlb_walk_fn *walk;
	void *context;
	uint64_t seed; /* of HD_TLB_RANDOM */
};

struct hd_tlb_counts {
	uint64_t accesses[HD_TLB_KINDS];
	uint64_t hits[HD_TLB_LEVELS][HD_TLB_KINDS]; /* [0]: level 1 */
	uint64_t walks[HD_TLB_KINDS];               /* missed every level */
	uint64_t references[HD_TLB_KINDS]; /* table entries read by walks, the host's too */
};

/** One translation in an array. Private, but for hd_tlb_access(). */
struct hd_tlb_slot {
	uint64_t base, mask; /* address and tag are its own if (key & mask) == base */
	uint64_t used;       /* time of last use; NRU: 0 or not is the bit */
	uint64_t filled;     /* time of filling; 0: free */
	uint8_t shift;       /* of the whole translation, which may be larger than the piece here */
	bool global;
};

enum { HD_TLB_HINTS = 1024, HD_TLB_WALK_SLOTS = 64 };

struct hd_tlb_cached {
	uint64_t key, used;
};

struct hd_tlb_small_cache {
	uint16_t entries;
	struct hd_tlb_cached cached[HD_TLB_WALK_SLOTS];
};

/** Private, but for hd_tlb_access(). */
struct hd_tlb {
	struct hd_tlb_slot *slots; /* [0] never matches */
	uint64_t now;
	uint64_t tag;
	struct hd_tlb_counts counts; /* hits of level 1 are worked out when asked for */
	/* Where a page was found last in level 1; any value is right, some are fast. */
	uint16_t hints[HD_TLB_KINDS][HD_TLB_HINTS];
	struct hd_tlb_config config;
	uint64_t seen[HD_TLB_ARRAYS];       /* sizes that were ever filled */
	uint32_t first_slot[HD_TLB_ARRAYS]; /* index into slots */
	uint64_t fills;
	struct hd_tlb_small_cache walk_caches[HD_TLB_WALK_CACHES];
	struct hd_tlb_small_cache nested;
};

/** Bytes of memory hd_tlb_init() needs beside the struct; 0: the geometry is not well formed. */
size_t hd_tlb_bytes(const struct hd_tlb_geometry *geometry);

/**
 * hd_tlb_init() - an empty TLB
 * @memory: aligned as uint64_t, hd_tlb_bytes() of it; the caller's, in use as long as @tlb is
 *
 * Return: 0; HD_TLB_EINVAL for a geometry or setting out of range; HD_TLB_ENOMEM.
 */
int hd_tlb_init(struct hd_tlb *tlb, const struct hd_tlb_config *config, void *memory, size_t bytes);

/** The part of hd_tlb_access() that is not in a hurry. */
unsigned hd_tlb_search(struct hd_tlb *tlb, uint64_t address, int kind);

static inline unsigned hd_tlb_hint(uint64_t address)
{
	return (unsigned)((address >> 12 ^ address >> 22) & (HD_TLB_HINTS - 1));
}

/** One access. Returns the level that had it, from 1; 0: a walk. */
static inline unsigned hd_tlb_access(struct hd_tlb *tlb, uint64_t address, int kind)
{
	struct hd_tlb_slot *slot = &tlb->slots[tlb->hints[kind][hd_tlb_hint(address)]];
	uint64_t key = (address & ~0xfffull) | tlb->tag;

	tlb->now++;
	tlb->counts.accesses[kind]++;
	if ((key & slot->mask) != slot->base)
		return hd_tlb_search(tlb, address, kind);
	slot->used = tlb->now;
	return 1;
}

/** Another address space; nothing is flushed. @tag: up to HD_TLB_TAG_MAX. */
void hd_tlb_switch(struct hd_tlb *tlb, uint64_t tag);
/** Forgets what is not global of the current tag. What a write of CR3 does without PCIDs. */
void hd_tlb_flush_tag(struct hd_tlb *tlb);
/** Forgets everything, global translations too. */
void hd_tlb_flush_all(struct hd_tlb *tlb);
/** Forgets what translates @address under the current tag, global or not, and all walk caches. */
void hd_tlb_flush_page(struct hd_tlb *tlb, uint64_t address);

struct hd_tlb_counts hd_tlb_read_counts(const struct hd_tlb *tlb);
/** Counts from 0; translations stay. */
void hd_tlb_reset_counts(struct hd_tlb *tlb);

/* ---- expect.c --------------------------------------------------------------------------- */

/** One table, as it is placed. */
struct hd_tlb_table {
	uint64_t bytes; /* not 0 */
	/* The first @large_bytes lie on translations of 2^large_shift, the rest on 2^small_shift. */
	uint64_t large_bytes;
	uint8_t large_shift, small_shift;
};

/**
 * hd_tlb_expect() - page walks per lookup, for lookups at random buckets of one table
 * @lookups: how many are tried; 0: as many as give two digits
 * @memory:  hd_tlb_bytes() of it, aligned as uint64_t; free again on return
 * @walks_ppm: walks per million lookups; a lookup is one load
 *
 * The table has the TLB for itself and has warmed it up. A figure of the model, the same in
 * every run; not a measurement.
 *
 * Return: 0; HD_TLB_EINVAL; HD_TLB_ENOMEM.
 */
int hd_tlb_expect(const struct hd_tlb_geometry *geometry, const struct hd_tlb_paging *paging,
		  const struct hd_tlb_table *table, uint32_t lookups, void *memory, size_t bytes,
		  uint32_t *walks_ppm);

#endif

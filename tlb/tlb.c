/* SPDX-License-Identifier: MIT */
/*
 * tlb.c - arrays of translations: looking up, filling, replacing, flushing
 *
 * Levels are asked in turn. A hit in a lower level fills the levels above it, a walk fills
 * all. Nothing is evicted from one level because another evicts it, and a hit in one level
 * does not count as a use in the next.
 *
 * Size is not known before a translation is found, so each array is asked once per size that
 * it has ever held, each at the set which that size gives. The common case asks nothing: a hint
 * says where a page was found last, and the slot itself tells whether it still is.
 */
#include "tlb/internal.h"

enum { SLOTS_MAX = UINT16_MAX };

const struct hd_tlb_paging hd_tlb_4_levels = { "4 levels of 4 KiB", 4, { 39, 30, 21, 12 } };
const struct hd_tlb_paging hd_tlb_5_levels = { "5 levels of 4 KiB", 5, { 48, 39, 30, 21, 12 } };
const struct hd_tlb_paging hd_tlb_arm64_16k = { "4 levels of 16 KiB", 4, { 47, 36, 25, 14 } };
const struct hd_tlb_paging hd_tlb_arm64_64k = { "3 levels of 64 KiB", 3, { 42, 29, 16 } };

static bool hold_fits(const struct hd_tlb_array *array, const struct hd_tlb_hold *hold)
{
	return !hold->sizes || (hold->ways && hold->first_way + hold->ways <= array->ways &&
				!(hold->sizes & (HD_TLB_SIZE(HD_TLB_BASE_SHIFT) - 1)) &&
				hold->sizes < HD_TLB_SIZE(48));
}

static bool array_fits(const struct hd_tlb_array *array)
{
	uint64_t sizes = 0;

	for (unsigned h = 0; h < HD_TLB_HOLDS; h++) {
		if (!hold_fits(array, &array->holds[h]) || (sizes & array->holds[h].sizes))
			return false;
		sizes |= array->holds[h].sizes;
	}
	return sizes && array->level <= HD_TLB_LEVELS && array->kinds && array->kinds < 4 &&
	       array->replacement <= HD_TLB_RANDOM && array->hash <= HD_TLB_XOR_FOLD &&
	       array->sets && !(array->sets & (array->sets - 1)) && array->ways;
}

size_t hd_tlb_bytes(const struct hd_tlb_geometry *geometry)
{
	uint32_t slots = 1;

	if (!hd_tlb_walk_fits(geometry))
		return 0;
	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++) {
		const struct hd_tlb_array *array = &geometry->arrays[a];

		if (!array->level)
			continue;
		if (!array_fits(array) || (uint32_t)array->sets * array->ways > SLOTS_MAX - slots)
			return 0;
		slots += (uint32_t)array->sets * array->ways;
	}
	return slots > 1 ? slots * sizeof(struct hd_tlb_slot) : 0;
}

static void forget(struct hd_tlb_slot *slot)
{
	*slot = (struct hd_tlb_slot){ .base = 1 };
}

static uint32_t slots_of(const struct hd_tlb *tlb)
{
	return (uint32_t)(hd_tlb_bytes(tlb->config.geometry) / sizeof(struct hd_tlb_slot));
}

int hd_tlb_init(struct hd_tlb *tlb, const struct hd_tlb_config *config, void *memory, size_t bytes)
{
	size_t needed = hd_tlb_bytes(config->geometry);
	uint32_t next = 1;

	if (!needed || !config->walk || (config->paging && !hd_tlb_paging_fits(config->paging)) ||
	    (config->host && (!hd_tlb_paging_fits(config->host) || config->host_shift > 47 ||
			      config->host_shift < HD_TLB_BASE_SHIFT)))
		return HD_TLB_EINVAL;
	if (bytes < needed)
		return HD_TLB_ENOMEM;

	*tlb = (struct hd_tlb){ .slots = memory, .config = *config };
	if (!config->paging)
		tlb->config.paging = &hd_tlb_4_levels;
	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++) {
		const struct hd_tlb_array *array = &config->geometry->arrays[a];

		tlb->first_slot[a] = next;
		if (array->level)
			next += (uint32_t)array->sets * array->ways;
	}
	forget(&tlb->slots[0]);
	hd_tlb_walk_init(tlb);
	hd_tlb_flush_all(tlb);
	return 0;
}

/* The slot of the first way that may hold @address as a piece of 2^@shift bytes. */
static struct hd_tlb_slot *ways_of(struct hd_tlb *tlb, unsigned a, uint64_t address, unsigned shift,
				   const struct hd_tlb_hold *hold)
{
	const struct hd_tlb_array *array = &tlb->config.geometry->arrays[a];
	uint64_t page = address >> shift;

	if (array->hash == HD_TLB_XOR_FOLD)
		page ^= page >> __builtin_ctz(array->sets);
	return &tlb->slots[tlb->first_slot[a] + (page & (array->sets - 1u)) * array->ways +
			   hold->first_way];
}

static bool serves(const struct hd_tlb_array *array, unsigned level, int kind)
{
	return array->level == level && (array->kinds >> kind & 1);
}

static struct hd_tlb_slot *find_in_array(struct hd_tlb *tlb, unsigned a, uint64_t address)
{
	const struct hd_tlb_array *array = &tlb->config.geometry->arrays[a];
	uint64_t key = (address & ~0xfffull) | tlb->tag;

	for (unsigned h = 0; h < HD_TLB_HOLDS; h++) {
		const struct hd_tlb_hold *hold = &array->holds[h];

		for (uint64_t sizes = hold->sizes & tlb->seen[a]; sizes; sizes &= sizes - 1) {
			struct hd_tlb_slot *slot =
			    ways_of(tlb, a, address, (unsigned)__builtin_ctzll(sizes), hold);

			for (unsigned w = 0; w < hold->ways; w++)
				if ((key & slot[w].mask) == slot[w].base)
					return &slot[w];
		}
	}
	return NULL;
}

static struct hd_tlb_slot *find_in_level(struct hd_tlb *tlb, unsigned level, uint64_t address,
					 int kind)
{
	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++) {
		struct hd_tlb_slot *slot;

		if (!serves(&tlb->config.geometry->arrays[a], level, kind))
			continue;
		slot = find_in_array(tlb, a, address);
		if (slot)
			return slot;
	}
	return NULL;
}

uint64_t hd_tlb_draw(uint64_t seed, uint64_t nth)
{
	uint64_t x = seed + (nth + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static struct hd_tlb_slot *least(struct hd_tlb_slot *slot, unsigned ways, size_t field)
{
	struct hd_tlb_slot *found = slot;

	for (unsigned w = 1; w < ways; w++)
		if (*(uint64_t *)((char *)&slot[w] + field) < *(uint64_t *)((char *)found + field))
			found = &slot[w];
	return found;
}

static struct hd_tlb_slot *not_recently_used(struct hd_tlb_slot *slot, unsigned ways)
{
	for (unsigned w = 0; w < ways; w++)
		if (!slot[w].used)
			return &slot[w];
	for (unsigned w = 0; w < ways; w++)
		slot[w].used = 0;
	return slot;
}

static struct hd_tlb_slot *victim(struct hd_tlb *tlb, unsigned a, struct hd_tlb_slot *slot,
				  unsigned ways)
{
	for (unsigned w = 0; w < ways; w++)
		if (!slot[w].filled)
			return &slot[w];
	switch (tlb->config.geometry->arrays[a].replacement) {
	case HD_TLB_LRU:
		return least(slot, ways, offsetof(struct hd_tlb_slot, used));
	case HD_TLB_FIFO:
		return least(slot, ways, offsetof(struct hd_tlb_slot, filled));
	case HD_TLB_NRU:
		return not_recently_used(slot, ways);
	default:
		/* The upper half times the ways, so that no division is needed. */
		return &slot[(hd_tlb_draw(tlb->config.seed, tlb->fills) >> 32) * ways >> 32];
	}
}

/* The array of @level that holds the largest pieces of such a translation. */
static bool array_for(const struct hd_tlb *tlb, unsigned level, int kind, unsigned shift,
		      unsigned *array, const struct hd_tlb_hold **hold, unsigned *piece)
{
	*piece = 0;
	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++) {
		const struct hd_tlb_array *candidate = &tlb->config.geometry->arrays[a];

		for (unsigned h = 0; serves(candidate, level, kind) && h < HD_TLB_HOLDS; h++) {
			unsigned size = hd_tlb_largest(candidate->holds[h].sizes, shift);

			if (size <= *piece)
				continue;
			*piece = size;
			*array = a;
			*hold = &candidate->holds[h];
		}
	}
	return *piece != 0;
}

static struct hd_tlb_slot *fill(struct hd_tlb *tlb, unsigned level, uint64_t address, int kind,
				struct hd_tlb_translation whole)
{
	const struct hd_tlb_hold *hold = NULL;
	struct hd_tlb_slot *slot;
	unsigned a = 0, piece;
	uint64_t mask;

	if (!array_for(tlb, level, kind, whole.shift, &a, &hold, &piece))
		return NULL;
	slot = victim(tlb, a, ways_of(tlb, a, address, piece, hold), hold->ways);
	mask = ~(HD_TLB_SIZE(piece) - 1) | (whole.global ? 0 : HD_TLB_TAG_MAX);
	*slot = (struct hd_tlb_slot){
		.base = ((address & ~0xfffull) | tlb->tag) & mask,
		.mask = mask,
		.used = tlb->now,
		.filled = tlb->now,
		.shift = whole.shift,
		.global = whole.global,
	};
	tlb->seen[a] |= HD_TLB_SIZE(piece);
	tlb->fills++;
	return slot;
}

unsigned hd_tlb_search(struct hd_tlb *tlb, uint64_t address, int kind)
{
	struct hd_tlb_slot *first = NULL;
	struct hd_tlb_translation whole;
	unsigned level;

	for (level = 1; level <= HD_TLB_LEVELS; level++) {
		struct hd_tlb_slot *slot = find_in_level(tlb, level, address, kind);

		if (!slot)
			continue;
		slot->used = tlb->now;
		if (level == 1)
			first = slot;
		else
			tlb->counts.hits[level - 1][kind]++;
		whole = (struct hd_tlb_translation){ .shift = slot->shift, .global = slot->global };
		break;
	}
	if (level > HD_TLB_LEVELS)
		whole = hd_tlb_walk(tlb, address, kind);
	for (unsigned above = level - 1; above; above--) {
		struct hd_tlb_slot *slot = fill(tlb, above, address, kind, whole);

		if (above == 1)
			first = slot;
	}
	if (first)
		tlb->hints[kind][hd_tlb_hint(address)] = (uint16_t)(first - tlb->slots);
	return level > HD_TLB_LEVELS ? 0 : level;
}

void hd_tlb_switch(struct hd_tlb *tlb, uint64_t tag)
{
	tlb->tag = tag & HD_TLB_TAG_MAX;
}

void hd_tlb_flush_tag(struct hd_tlb *tlb)
{
	for (uint32_t i = 1, slots = slots_of(tlb); i < slots; i++) {
		struct hd_tlb_slot *slot = &tlb->slots[i];

		if (slot->filled && !slot->global && (slot->base & HD_TLB_TAG_MAX) == tlb->tag)
			forget(slot);
	}
	hd_tlb_walk_forget(tlb, false);
}

void hd_tlb_flush_all(struct hd_tlb *tlb)
{
	for (uint32_t i = 1, slots = slots_of(tlb); i < slots; i++)
		forget(&tlb->slots[i]);
	hd_tlb_walk_forget(tlb, true);
}

void hd_tlb_flush_page(struct hd_tlb *tlb, uint64_t address)
{
	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++) {
		struct hd_tlb_slot *slot;

		if (!tlb->config.geometry->arrays[a].level)
			continue;
		while ((slot = find_in_array(tlb, a, address)))
			forget(slot);
	}
	hd_tlb_walk_forget(tlb, true);
}

struct hd_tlb_counts hd_tlb_read_counts(const struct hd_tlb *tlb)
{
	struct hd_tlb_counts counts = tlb->counts;

	for (int kind = 0; kind < HD_TLB_KINDS; kind++) {
		counts.hits[0][kind] = counts.accesses[kind] - counts.walks[kind];
		for (unsigned level = 1; level < HD_TLB_LEVELS; level++)
			counts.hits[0][kind] -= counts.hits[level][kind];
	}
	return counts;
}

void hd_tlb_reset_counts(struct hd_tlb *tlb)
{
	tlb->counts = (struct hd_tlb_counts){ 0 };
}

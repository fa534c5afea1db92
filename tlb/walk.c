/* SPDX-License-Identifier: MIT */
/*
 * walk.c - the page walk: how many table entries it reads
 *
 * From the top table to the entry that maps the address, one read a level. A walk cache
 * remembers entries above the leaf; the walk starts below the deepest one that it has.
 *
 * In a guest each table lies at a guest-physical address, which the host's tables translate
 * first, and so does the page itself: without any cache n guest levels over m host levels read
 * (n+1)(m+1)-1 entries, 24 for 4 over 4. Translations of guest-physical pages are cached, too.
 * What lies where in guest-physical memory is not known here: tables of one level are taken to
 * lie in the order of the addresses they map, data in the order of its own addresses.
 *
 * Source: Intel SDM volume 3, 4.10 (paging-structure caches) and 28.3 (combined mappings);
 * AMD64 manual volume 2, 15.25 (nested paging).
 */
#include "tlb/internal.h"

enum { DATA = HD_TLB_TABLE_LEVELS }; /* beside the levels of tables */

bool hd_tlb_walk_fits(const struct hd_tlb_geometry *geometry)
{
	for (unsigned c = 0; c < HD_TLB_WALK_CACHES; c++)
		if (geometry->walk_caches[c].entries > HD_TLB_WALK_SLOTS)
			return false;
	return geometry->nested_entries <= HD_TLB_WALK_SLOTS;
}

bool hd_tlb_paging_fits(const struct hd_tlb_paging *paging)
{
	if (!paging->levels || paging->levels > HD_TLB_TABLE_LEVELS)
		return false;
	for (unsigned i = 0; i < paging->levels; i++)
		if (paging->shifts[i] < HD_TLB_BASE_SHIFT || paging->shifts[i] > 56 ||
		    (i && paging->shifts[i] >= paging->shifts[i - 1]))
			return false;
	return true;
}

void hd_tlb_walk_init(struct hd_tlb *tlb)
{
	for (unsigned c = 0; c < HD_TLB_WALK_CACHES; c++)
		tlb->walk_caches[c].entries = tlb->config.geometry->walk_caches[c].entries;
	tlb->nested.entries = tlb->config.geometry->nested_entries;
}

/* Keys end in the tag, so that it can be told which entries a flush is about. */
static void forget_in(struct hd_tlb_small_cache *cache, const uint64_t *tag)
{
	for (unsigned i = 0; i < cache->entries; i++)
		if (!tag || (cache->cached[i].key & HD_TLB_TAG_MAX) == *tag)
			cache->cached[i].used = 0;
}

void hd_tlb_walk_forget(struct hd_tlb *tlb, bool everything)
{
	for (unsigned c = 0; c < HD_TLB_WALK_CACHES; c++)
		forget_in(&tlb->walk_caches[c], everything ? NULL : &tlb->tag);
	if (everything)
		forget_in(&tlb->nested, NULL);
}

/* Was it there? It is now. */
static bool recall(struct hd_tlb_small_cache *cache, uint64_t key, uint64_t now)
{
	struct hd_tlb_cached *oldest = cache->cached;

	for (unsigned i = 0; i < cache->entries; i++) {
		struct hd_tlb_cached *cached = &cache->cached[i];

		if (cached->used && cached->key == key) {
			cached->used = now;
			return true;
		}
		if (cached->used < oldest->used)
			oldest = cached;
	}
	if (cache->entries)
		*oldest = (struct hd_tlb_cached){ key, now };
	return false;
}

/* The level whose entry maps the page; several entries side by side may map one translation. */
static unsigned leaf_of(const struct hd_tlb_paging *paging, unsigned shift)
{
	unsigned i = 0;

	while (i + 1u < paging->levels && paging->shifts[i] > shift)
		i++;
	return i;
}

static bool recall_entry(struct hd_tlb *tlb, unsigned shift, uint64_t address)
{
	for (unsigned c = 0; c < HD_TLB_WALK_CACHES; c++)
		if (tlb->config.geometry->walk_caches[c].sizes >> shift & 1)
			return recall(&tlb->walk_caches[c],
				      (address >> shift << shift) | (uint64_t)(shift & 63) << 12 |
					  tlb->tag,
				      ++tlb->now);
	return false;
}

/* Entries of the host's tables that are read to find where part @number of @what lies. */
static unsigned host_reads(struct hd_tlb *tlb, unsigned what, uint64_t number)
{
	const struct hd_tlb_config *config = &tlb->config;

	if (!config->host || recall(&tlb->nested, (number << 3 | what) << 12, ++tlb->now))
		return 0;
	return leaf_of(config->host, config->host_shift) + 1;
}

static unsigned table_reads(struct hd_tlb *tlb, unsigned level, uint64_t address)
{
	unsigned in_page = tlb->config.host ? tlb->config.host_shift - HD_TLB_BASE_SHIFT : 0;
	uint64_t number =
	    level ? address >> tlb->config.paging->shifts[level - 1] >> in_page : tlb->tag;

	return host_reads(tlb, level, number) + 1;
}

struct hd_tlb_translation hd_tlb_walk(struct hd_tlb *tlb, uint64_t address, int kind)
{
	const struct hd_tlb_config *config = &tlb->config;
	const struct hd_tlb_paging *paging = config->paging;
	struct hd_tlb_translation found = config->walk(config->context, address, kind);
	unsigned leaf, first, reads = 0;

	if (found.shift < HD_TLB_BASE_SHIFT || found.shift > 47)
		found.shift = HD_TLB_BASE_SHIFT;
	leaf = leaf_of(paging, found.shift);
	for (first = leaf; first; first--)
		if (recall_entry(tlb, paging->shifts[first - 1], address))
			break;
	for (unsigned level = first; level <= leaf; level++)
		reads += table_reads(tlb, level, address);
	if (config->host) {
		reads += host_reads(tlb, DATA, address >> config->host_shift);
		if (found.shift > config->host_shift)
			found.shift = config->host_shift;
	}
	tlb->counts.walks[kind]++;
	tlb->counts.references[kind] += reads;
	return found;
}

/* SPDX-License-Identifier: MIT */
/*
 * size.c - from memory, or a given count, to the entries of a table
 *
 *   pages -> whole MiB -> scaled down -> at least a page -> power of two
 *         -> not below the low limit -> not above the cap -> power of two
 *
 * The cap has the last word, and rounds down. A given count skips the first
 * four steps, so that one entry is possible. What changed over the years is in
 * the rules; nothing here asks for a version.
 */
#include "core/bits.h"
#include "hashdist/core.h"

unsigned hd_order(const struct hd_rules *rules, uint64_t bytes)
{
	unsigned shift = (unsigned)rules->value[HD_RULE_PAGE_SHIFT];

	if (bytes <= 1ULL << shift)
		return 0;
	return log2_floor(bytes - 1) + 1 - shift;
}

uint64_t hd_translations(uint64_t bytes, unsigned shift)
{
	if (!bytes || !shift || shift > 63)
		return 0;
	return ((bytes - 1) >> shift) + 1;
}

/** The count that memory calls for, before limits. */
static uint64_t derive(const struct hd_rules *rules, const struct hd_pages *pages,
		       const struct hd_request *request, struct hd_sizing *out)
{
	unsigned page_shift = (unsigned)rules->value[HD_RULE_PAGE_SHIFT];
	uint64_t n = pages->kernel;

	if (rules->value[HD_RULE_RESERVED_PAGES])
		n = n > pages->reserved ? n - pages->reserved : 0;
	out->start_pages = n;
	if (page_shift < 20) {
		uint64_t mib = 1ULL << (20 - page_shift);

		n = (n + mib - 1) & ~(mib - 1);
	}
	out->rounded_pages = n;
	if (rules->value[HD_RULE_ADAPTIVE] && rules->value[HD_RULE_WORD_BYTES] == 8 &&
	    !request->high)
		for (uint64_t step = (64ULL << 30) >> page_shift; step < n && step; step <<= 2)
			out->scale++;
	if (out->scale > page_shift)
		n = out->scale - page_shift < 64 ? n >> (out->scale - page_shift) : 0;
	else
		n <<= page_shift - out->scale;
	out->derived = n;
	if (request->small_shift) {
		if (!(n >> request->small_shift))
			n = 1ULL << request->small_shift;
	} else if (rules->value[HD_RULE_PAGE_MINIMUM]) {
		uint64_t page = 1ULL << page_shift;

		if (n < page / request->bucket_bytes)
			n = page / request->bucket_bytes;
	}
	return n;
}

static uint64_t high_limit(const struct hd_rules *rules, const struct hd_pages *pages,
			   const struct hd_request *request)
{
	unsigned page_shift = (unsigned)rules->value[HD_RULE_PAGE_SHIFT];
	uint64_t cap = request->high;

	if (!cap) {
		/* all << page_shift may not fit 64 bits; a sixteenth of it does. */
		uint64_t sixteenth = page_shift >= 4 ? pages->all << (page_shift - 4)
						     : pages->all >> (4 - page_shift);

		cap = sixteenth / request->bucket_bytes;
	}
	if (rules->value[HD_RULE_CLAMP_2G] && cap > 1ULL << 31)
		cap = 1ULL << 31;
	return cap;
}

int hd_table_size(const struct hd_rules *rules, const struct hd_pages *pages,
		  const struct hd_request *request, struct hd_sizing *out)
{
	uint64_t n = request->entries;

	*out = (struct hd_sizing){ .scale = request->scale };
	if (!request->bucket_bytes || request->scale > 63 || request->small_shift > 63)
		return HD_EINVAL;
	if (n)
		out->derived = n;
	else
		n = derive(rules, pages, request, out);
	if (rules->value[HD_RULE_NEXT_POWER])
		n = n >> 62 ? 1ULL << 63 : 2ULL << log2_floor(n);
	else
		n = power_of_two_up(n);
	out->power = n;
	out->cap = high_limit(rules, pages, request);
	if (rules->value[HD_RULE_LOW_LIMIT] && n < request->low) {
		n = request->low;
		out->raised = true;
	}
	if (n > out->cap) {
		n = out->cap;
		out->capped = true;
	}
	/* A machine without memory would cap at nothing; no kernel gets that far. */
	out->entries = 1ULL << log2_floor(n ? n : 1);
	if (out->entries > (UINT64_MAX >> 1) / request->bucket_bytes)
		return HD_ERANGE;
	return 0;
}

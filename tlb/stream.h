/* SPDX-License-Identifier: MIT */
/*
 * stream.h - what happens to a TLB, as one word per event: to record and to replay
 *
 *   63                      12 11     9 8      7     2 1       0
 *   | page of 4 KiB            | what  | global | shift | -, kind |
 *
 * An access carries its translation, so that a stream can be replayed on any geometry
 * without page tables. A file of events is just these words, little-endian.
 */
#ifndef HASHDIST_TLB_STREAM_H
#define HASHDIST_TLB_STREAM_H

#include "tlb/tlb.h"

enum hd_tlb_event {
	HD_TLB_EVENT_ACCESS,
	HD_TLB_EVENT_SWITCH,    /* the page field is the tag */
	HD_TLB_EVENT_FLUSH_TAG, /* of the current tag, what is not global */
	HD_TLB_EVENT_FLUSH_ALL,
	HD_TLB_EVENT_FLUSH_PAGE,
};

static inline uint64_t hd_tlb_event(int what, uint64_t address, int kind,
				    struct hd_tlb_translation translation)
{
	return (address & ~0xfffull) | (uint64_t)what << 9 | (uint64_t)translation.global << 8 |
	       (uint64_t)(translation.shift & 63) << 2 | (uint64_t)(kind & 1);
}

static inline int hd_tlb_event_what(uint64_t event)
{
	return (int)(event >> 9 & 7);
}

static inline int hd_tlb_event_kind(uint64_t event)
{
	return (int)(event & 1);
}

static inline uint64_t hd_tlb_event_address(uint64_t event)
{
	return event & ~0xfffull;
}

static inline struct hd_tlb_translation hd_tlb_event_translation(uint64_t event)
{
	return (struct hd_tlb_translation){ .shift = event >> 2 & 63, .global = event >> 8 & 1 };
}

/** The tag of HD_TLB_EVENT_SWITCH. */
static inline uint64_t hd_tlb_event_tag(uint64_t event)
{
	return event >> 12;
}

/** Any file can be read as words; that it holds events shows in each of them. */
static inline bool hd_tlb_is_event(uint64_t event)
{
	unsigned shift = hd_tlb_event_translation(event).shift;

	if (hd_tlb_event_what(event) != HD_TLB_EVENT_ACCESS)
		return hd_tlb_event_what(event) <= HD_TLB_EVENT_FLUSH_PAGE;
	return shift >= HD_TLB_BASE_SHIFT && shift <= 47;
}

/** Let it happen to @tlb, whose walk gives the event's own translation. Nothing if it is none. */
static inline void hd_tlb_replay_event(struct hd_tlb *tlb, uint64_t event)
{
	switch (hd_tlb_event_what(event)) {
	case HD_TLB_EVENT_ACCESS:
		hd_tlb_access(tlb, event, hd_tlb_event_kind(event));
		break;
	case HD_TLB_EVENT_SWITCH:
		hd_tlb_switch(tlb, hd_tlb_event_tag(event));
		break;
	case HD_TLB_EVENT_FLUSH_TAG:
		hd_tlb_flush_tag(tlb);
		break;
	case HD_TLB_EVENT_FLUSH_ALL:
		hd_tlb_flush_all(tlb);
		break;
	case HD_TLB_EVENT_FLUSH_PAGE:
		hd_tlb_flush_page(tlb, hd_tlb_event_address(event));
		break;
	}
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * test-reference.c - the fast model and the obvious one say the same of every single access
 *
 *   test-tlb-reference ACCESSES [STREAM...]
 *
 * ACCESSES random ones for each preset, then each recorded STREAM (words of tlb/stream.h,
 * gzip) on each preset. A difference ends with the preset, the number of the access and the seed.
 */
#include "help.h"

#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

#include "reference.h"
#include "tlb/stream.h"

static uint64_t accesses = 1000000, compared;
static char **streams;

struct pair {
	struct hd_tlb tlb;
	struct reference *reference;
	void *memory;
	const struct hd_tlb_geometry *geometry;
	uint64_t seed, number;
	struct hd_tlb_translation now; /* of the access under way */
	struct hd_tlb_counts counts;   /* the reference's */
};

static struct hd_tlb_translation answer(void *context, uint64_t address, int kind)
{
	(void)address, (void)kind;
	return ((struct pair *)context)->now;
}

static void pair_open(struct pair *p, const struct hd_tlb_geometry *geometry, uint64_t seed)
{
	size_t bytes = hd_tlb_bytes(geometry);

	*p = (struct pair){ .geometry = geometry, .seed = seed, .memory = malloc(bytes) };
	assert_non_null(p->memory);
	assert_int_equal(
	    hd_tlb_init(&p->tlb,
			&(struct hd_tlb_config){
			    .geometry = geometry, .walk = answer, .context = p, .seed = seed },
			p->memory, bytes),
	    0);
	p->reference = reference_open(geometry, seed);
}

static void pair_access(struct pair *p, uint64_t address, int kind)
{
	unsigned got = hd_tlb_access(&p->tlb, address, kind);
	unsigned want = reference_access(p->reference, address, kind, p->now);

	p->number++;
	p->counts.accesses[kind]++;
	if (want)
		p->counts.hits[want - 1][kind]++;
	else
		p->counts.walks[kind]++;
	if (got != want)
		fail_msg("%s, seed %" PRIu64 ", access %" PRIu64 " to %#" PRIx64
			 ": level %u, the reference says %u",
			 p->geometry->name, p->seed, p->number, address, got, want);
}

static void pair_close(struct pair *p)
{
	struct hd_tlb_counts counts = hd_tlb_read_counts(&p->tlb);

	assert_memory_equal(counts.accesses, p->counts.accesses, sizeof(counts.accesses));
	assert_memory_equal(counts.hits, p->counts.hits, sizeof(counts.hits));
	assert_memory_equal(counts.walks, p->counts.walks, sizeof(counts.walks));
	compared += p->number;
	reference_close(p->reference);
	free(p->memory);
}

/* A region a size: the address tells what translates it. */
static struct hd_tlb_translation translation_at(uint64_t address)
{
	static const uint8_t shifts[] = { 12, 12, 14, 16, 21, 21, 25, 30 };

	return (struct hd_tlb_translation){ .shift = shifts[address >> 44 & 7],
					    .global = address >> 47 & 1 };
}

/* Hot pages, rows and places anywhere, in regions of all sizes, near the borders of what fits. */
static uint64_t random_address(uint64_t random, uint64_t number)
{
	uint64_t region = (random & 15) << 44, pages, page;
	unsigned shift = translation_at(region).shift;

	switch (random >> 4 & 7) {
	case 0:
		page = number / 4 % 3000;
		break;
	case 1:
		page = (random >> 20) % 1700 * 128;
		break;
	case 2:
		page = random >> 40;
		break;
	default:
		pages = 1ull << (random >> 8 & 7);
		page = (random >> 20) % (pages * 20);
	}
	return region | ((page << shift) & ((1ull << 44) - 1)) | (random >> 52);
}

static void random_event(struct pair *p, uint64_t random)
{
	uint64_t address = random_address(hd_tlb_draw(p->seed, random), p->number);

	switch (random % 7) {
	case 0:
		hd_tlb_flush_page(&p->tlb, address);
		reference_flush_page(p->reference, address);
		break;
	case 1:
		hd_tlb_flush_tag(&p->tlb);
		reference_flush_tag(p->reference);
		break;
	case 2:
		hd_tlb_flush_all(&p->tlb);
		reference_flush_all(p->reference);
		break;
	default:
		hd_tlb_switch(&p->tlb, random / 7 % 3);
		reference_switch(p->reference, random / 7 % 3);
	}
}

static void random_accesses(const struct hd_tlb_geometry *geometry, uint64_t seed, uint64_t count)
{
	struct pair p;

	pair_open(&p, geometry, seed);
	for (uint64_t i = 0; p.number < count; i++) {
		uint64_t random = hd_tlb_draw(seed, i);

		if (random >> 50 == 0) {
			random_event(&p, random & 0xffffffff);
			continue;
		}
		p.now = translation_at(random_address(random, p.number));
		pair_access(&p, random_address(random, p.number), (int)(random >> 49 & 1));
	}
	pair_close(&p);
}

static void presets_agree_on_random_accesses(void **state)
{
	(void)state;
	for (unsigned i = 0; hd_tlb_preset(i); i++)
		random_accesses(hd_tlb_preset(i), 1 + i, accesses);
}

static void every_replacement_and_hash_agrees(void **state)
{
	(void)state;
	for (uint8_t replacement = HD_TLB_LRU; replacement <= HD_TLB_RANDOM; replacement++)
		for (uint8_t hash = HD_TLB_LOW_BITS; hash <= HD_TLB_XOR_FOLD; hash++)
			for (unsigned i = 0; hd_tlb_preset(i); i++) {
				struct hd_tlb_geometry geometry = *hd_tlb_preset(i);

				for (unsigned a = 0; a < HD_TLB_ARRAYS; a++) {
					geometry.arrays[a].replacement = replacement;
					geometry.arrays[a].hash = hash;
				}
				random_accesses(&geometry, 100 + i, accesses / 16);
			}
}

static void pair_event(struct pair *p, uint64_t event)
{
	uint64_t address = hd_tlb_event_address(event);

	switch (hd_tlb_event_what(event)) {
	case HD_TLB_EVENT_ACCESS:
		p->now = hd_tlb_event_translation(event);
		pair_access(p, address, hd_tlb_event_kind(event));
		break;
	case HD_TLB_EVENT_SWITCH:
		hd_tlb_switch(&p->tlb, hd_tlb_event_tag(event));
		reference_switch(p->reference, hd_tlb_event_tag(event));
		break;
	case HD_TLB_EVENT_FLUSH_TAG:
		hd_tlb_flush_tag(&p->tlb);
		reference_flush_tag(p->reference);
		break;
	case HD_TLB_EVENT_FLUSH_ALL:
		hd_tlb_flush_all(&p->tlb);
		reference_flush_all(p->reference);
		break;
	case HD_TLB_EVENT_FLUSH_PAGE:
		hd_tlb_flush_page(&p->tlb, address);
		reference_flush_page(p->reference, address);
		break;
	default:
		fail_msg("%#" PRIx64 " is no event", event);
	}
}

static void replay(const struct hd_tlb_geometry *geometry, const char *path)
{
	static uint64_t words[65536];
	gzFile file = gzopen(path, "rb");
	struct pair p;
	int bytes;

	if (!file)
		fail_msg("%s cannot be read", path);
	pair_open(&p, geometry, 0);
	while ((bytes = gzread(file, words, sizeof(words))) > 0)
		for (size_t i = 0; i < (size_t)bytes / sizeof(*words); i++)
			pair_event(&p, words[i]);
	assert_int_equal(bytes, 0);
	assert_int_equal(gzclose(file), Z_OK);
	assert_true(p.number > 0);
	pair_close(&p);
}

static void presets_agree_on_recorded_streams(void **state)
{
	(void)state;
	for (char **stream = streams; *stream; stream++)
		for (unsigned i = 0; hd_tlb_preset(i); i++)
			replay(hd_tlb_preset(i), *stream);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(presets_agree_on_random_accesses),
		cmocka_unit_test(every_replacement_and_hash_agrees),
		cmocka_unit_test(presets_agree_on_recorded_streams),
	};
	int failed;

	if (argc > 1)
		accesses = strtoull(argv[1], NULL, 10);
	streams = argv + (argc > 1 ? 2 : 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	printf("%" PRIu64 " accesses compared\n", compared);
	return failed;
}

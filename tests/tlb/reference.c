/* SPDX-License-Identifier: MIT */
/* reference.c - see reference.h */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS_MAX = 128 };

struct entry {
	bool valid, global, recent;
	uint64_t tag, number; /* of the piece: address / piece_bytes */
	uint64_t piece_bytes;
	unsigned whole_shift;
};

/* One set: its ways, and their numbers by last use and by filling, newest first. */
struct set {
	struct entry entries[WAYS_MAX];
	unsigned by_use[WAYS_MAX], by_filling[WAYS_MAX];
};

struct reference {
	const struct hd_tlb_geometry *geometry;
	struct set *sets[HD_TLB_ARRAYS];
	uint64_t seed, fills, tag;
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

struct reference *reference_open(const struct hd_tlb_geometry *geometry, uint64_t seed)
{
	struct reference *r = must(calloc(1, sizeof(*r)));

	r->geometry = geometry;
	r->seed = seed;
	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++) {
		const struct hd_tlb_array *array = &geometry->arrays[a];

		if (!array->level)
			continue;
		if (array->ways > WAYS_MAX)
			abort();
		r->sets[a] = must(calloc(array->sets, sizeof(struct set)));
		for (unsigned s = 0; s < array->sets; s++)
			for (unsigned w = 0; w < array->ways; w++)
				r->sets[a][s].by_use[w] = r->sets[a][s].by_filling[w] = w;
	}
	return r;
}

void reference_close(struct reference *r)
{
	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++)
		free(r->sets[a]);
	free(r);
}

static void to_front(unsigned *list, unsigned way)
{
	unsigned at = 0;

	while (list[at] != way)
		at++;
	memmove(list + 1, list, at * sizeof(*list));
	list[0] = way;
}

static bool of_kind(const struct hd_tlb_array *array, unsigned level, int kind)
{
	return array->level == level && (array->kinds & 1 << kind);
}

/* The largest piece, in bytes, that a hold has for such a translation; 0: none. */
static uint64_t piece_in(const struct hd_tlb_hold *hold, unsigned shift)
{
	uint64_t largest = 0;

	for (unsigned s = 12; s <= shift; s++)
		if (hold->sizes & 1ull << s)
			largest = 1ull << s;
	return largest;
}

static uint64_t set_number(const struct hd_tlb_array *array, uint64_t number)
{
	if (array->hash == HD_TLB_XOR_FOLD)
		return number % array->sets ^ number / array->sets % array->sets;
	return number % array->sets;
}

struct place {
	const struct hd_tlb_array *array;
	const struct hd_tlb_hold *hold;
	struct set *set;
	uint64_t piece_bytes, number;
};

/* Where in @level a translation of 2^@shift bytes goes. */
static bool place_in(struct reference *r, unsigned level, int kind, unsigned shift,
		     uint64_t address, struct place *place)
{
	*place = (struct place){ 0 };
	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++) {
		const struct hd_tlb_array *array = &r->geometry->arrays[a];

		if (!of_kind(array, level, kind))
			continue;
		for (unsigned h = 0; h < HD_TLB_HOLDS; h++) {
			uint64_t bytes = piece_in(&array->holds[h], shift);

			if (bytes <= place->piece_bytes)
				continue;
			*place =
			    (struct place){ array, &array->holds[h], NULL, bytes, address / bytes };
			place->set = &r->sets[a][set_number(array, place->number)];
		}
	}
	return place->set;
}

static void use(const struct place *place, unsigned way)
{
	place->set->entries[way].recent = true;
	to_front(place->set->by_use, way);
}

static bool in_hold(const struct hd_tlb_hold *hold, unsigned way)
{
	return way >= hold->first_way && way < hold->first_way + hold->ways;
}

static unsigned last_of(const unsigned *list, const struct place *place)
{
	unsigned at = place->array->ways;

	do
		at--;
	while (!in_hold(place->hold, list[at]));
	return list[at];
}

static unsigned way_to_fill(struct reference *r, const struct place *place)
{
	unsigned first = place->hold->first_way, end = first + place->hold->ways;
	struct entry *entries = place->set->entries;

	for (unsigned w = first; w < end; w++)
		if (!entries[w].valid)
			return w;
	switch (place->array->replacement) {
	case HD_TLB_LRU:
		return last_of(place->set->by_use, place);
	case HD_TLB_FIFO:
		return last_of(place->set->by_filling, place);
	case HD_TLB_NRU:
		for (unsigned w = first; w < end; w++)
			if (!entries[w].recent)
				return w;
		for (unsigned w = first; w < end; w++)
			entries[w].recent = false;
		return first;
	default:
		return first +
		       (unsigned)((hd_tlb_draw(r->seed, r->fills) >> 32) * place->hold->ways >> 32);
	}
}

static void fill(struct reference *r, unsigned level, uint64_t address, int kind,
		 struct hd_tlb_translation translation)
{
	struct place place;
	unsigned way;

	if (!place_in(r, level, kind, translation.shift, address, &place))
		return;
	way = way_to_fill(r, &place);
	place.set->entries[way] = (struct entry){
		.valid = true,
		.global = translation.global,
		.tag = r->tag,
		.number = place.number,
		.piece_bytes = place.piece_bytes,
		.whole_shift = translation.shift,
	};
	use(&place, way);
	to_front(place.set->by_filling, way);
	r->fills++;
}

static bool translates(const struct reference *r, const struct entry *entry, uint64_t address)
{
	return entry->valid && address / entry->piece_bytes == entry->number &&
	       (entry->global || entry->tag == r->tag);
}

static bool hit(struct reference *r, unsigned level, uint64_t address, int kind,
		struct hd_tlb_translation translation)
{
	struct place place;

	if (!place_in(r, level, kind, translation.shift, address, &place))
		return false;
	for (unsigned w = 0; w < place.array->ways; w++)
		if (translates(r, &place.set->entries[w], address)) {
			use(&place, w);
			return true;
		}
	return false;
}

unsigned reference_access(struct reference *r, uint64_t address, int kind,
			  struct hd_tlb_translation translation)
{
	unsigned level = 1;

	while (level <= HD_TLB_LEVELS && !hit(r, level, address, kind, translation))
		level++;
	for (unsigned above = level - 1; above; above--)
		fill(r, above, address, kind, translation);
	return level <= HD_TLB_LEVELS ? level : 0;
}

void reference_switch(struct reference *r, uint64_t tag)
{
	r->tag = tag;
}

typedef bool forget_fn(const struct reference *r, const struct entry *entry, uint64_t address);

static void forget(struct reference *r, forget_fn *concerned, uint64_t address)
{
	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++)
		for (unsigned s = 0; r->sets[a] && s < r->geometry->arrays[a].sets; s++)
			for (unsigned w = 0; w < r->geometry->arrays[a].ways; w++)
				if (concerned(r, &r->sets[a][s].entries[w], address))
					r->sets[a][s].entries[w] = (struct entry){ 0 };
}

static bool of_tag(const struct reference *r, const struct entry *entry, uint64_t address)
{
	(void)address;
	return !entry->global && entry->tag == r->tag;
}

static bool any(const struct reference *r, const struct entry *entry, uint64_t address)
{
	(void)r, (void)entry, (void)address;
	return true;
}

void reference_flush_tag(struct reference *r)
{
	forget(r, of_tag, 0);
}

void reference_flush_all(struct reference *r)
{
	forget(r, any, 0);
}

void reference_flush_page(struct reference *r, uint64_t address)
{
	forget(r, translates, address);
}

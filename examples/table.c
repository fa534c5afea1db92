/* SPDX-License-Identifier: MIT */
/*
 * table.c - a hash table of one's own, open addressing, in memory placed right
 *
 *	error = hd_alloc_table(&table, &want, &start, &entries, &got);
 *	hd_free(start);
 *
 * in place of calloc() and free().
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hashdist/hashdist.h>

struct slot {
	uint64_t key; /* 0: the slot is free */
	uint64_t value;
};

struct map {
	struct slot *slot;
	uint64_t mask; /* slots - 1 */
};

static uint64_t hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15;
	return key ^ key >> 32;
}

/* The slot of @key, or the free one where it belongs; some are always free. */
static struct slot *map_find(const struct map *map, uint64_t key)
{
	uint64_t at = hash(key) & map->mask;

	while (map->slot[at].key && map->slot[at].key != key)
		at = (at + 1) & map->mask;
	return &map->slot[at];
}

/* @entries free slots, and says where they are. HD_EXACT: fewer, if those fit, would not do. */
static int map_init(struct map *map, uint64_t entries)
{
	const struct hd_table_want table = { .bucket_bytes = sizeof(struct slot),
					     .entries = entries };
	const struct hd_want want = { .flags = HD_EXACT, .name = "squares" };
	struct hd_got got;
	void *start;
	char text[256];
	int error = hd_alloc_table(&table, &want, &start, &entries, &got); /* <-- for calloc() */

	hd_got_text(&got, text, sizeof(text));
	if (error) {
		fprintf(stderr, "table: %s: %s\n", strerror(-error), text);
		return error;
	}
	printf("table: %" PRIu64 " slots: %s\n", entries, text);
	map->slot = start; /* zeroed: all are free */
	map->mask = entries - 1;
	return 0;
}

static void map_fini(struct map *map)
{
	hd_free(map->slot); /* <-- for free() */
}

int main(void)
{
	enum { KEYS = 300000 };
	struct map map;
	uint64_t wrong = 0;

	if (map_init(&map, 1 << 20))
		return EXIT_FAILURE;
	for (uint64_t key = 1; key <= KEYS; key++)
		*map_find(&map, key) = (struct slot){ key, key * key };
	for (uint64_t key = 1; key <= KEYS; key++)
		wrong += map_find(&map, key)->value != key * key;
	for (uint64_t key = KEYS + 1; key <= 2 * KEYS; key++)
		wrong += map_find(&map, key)->key != 0;
	map_fini(&map);
	if (wrong)
		fprintf(stderr, "table: %" PRIu64 " keys are not what was put there\n", wrong);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

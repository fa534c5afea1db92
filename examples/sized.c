/* SPDX-License-Identifier: MIT */
/* sized.c - a hash table whose size follows from memory, as that of the kernel's own does */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <hashdist/hashdist.h>

struct bucket {
	uint64_t key, value;
};

int main(void)
{
	struct hd_table_want table;
	struct hd_want want;
	struct hd_got got;
	struct bucket *bucket;
	void *start;
	uint64_t entries;
	char text[256];
	int error;

	memset(&table, 0, sizeof(table));
	table.bucket_bytes = sizeof(*bucket);
	table.scale = 16;     /* one bucket for every 64 KiB of memory, */
	table.low = 1 << 12;  /* 4096 at least, */
	table.high = 1 << 22; /* 4194304 at most */
	memset(&want, 0, sizeof(want));
	want.fork = HD_FORK_DROP; /* children have no use for it */
	want.name = "flows";      /* in /proc/PID/maps */
	error = hd_alloc_table(&table, &want, &start, &entries, &got);
	hd_got_text(&got, text, sizeof(text));
	if (error) {
		fprintf(stderr, "flows: %s: %s\n", strerror(-error), text);
		return 1;
	}
	printf("flows: %" PRIu64 " buckets, halved %" PRIu32 " times: %s\n", entries, got.halvings,
	       text);
	bucket = start;
	bucket[4711 & (entries - 1)].value = 1; /* a power of two: the mask is entries - 1 */
	return hd_free(start) ? 1 : 0;
}

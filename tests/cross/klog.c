/* SPDX-License-Identifier: MIT */
/*
 * klog.c - the tables of a boot log on standard input, one a line
 *
 * Reads with nothing but klog/ and libc: no zlib, which is not to be had for every libc.
 */
#include "klog/klog.h"

#include <inttypes.h>
#include <stdio.h>

static void show(void *ctx, const struct klog_boot *boot)
{
	(void)ctx;
	printf("%s %" PRIu64 " KiB, %" PRIu32 " nodes\n", boot->version, boot->total_kib,
	       boot->node_max);
	for (uint32_t i = 0; i < boot->tables; i++) {
		const struct klog_table *table = &boot->table[i];

		printf("%s: %" PRIu64 " entries, %" PRIu64 " bytes, mapping %u\n", table->name,
		       table->entries, table->bytes, table->mapping);
	}
}

int main(void)
{
	const struct klog_sink sink = { .boot = show };
	struct klog *log = klog_new(&sink);
	char piece[4096];
	size_t len;

	if (!log)
		return 1;
	while ((len = fread(piece, 1, sizeof(piece), stdin)) > 0)
		klog_feed(log, piece, len);
	klog_finish(log);
	klog_free(log);
	return ferror(stdin) ? 1 : 0;
}

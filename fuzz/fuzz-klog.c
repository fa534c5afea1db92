/* SPDX-License-Identifier: MIT */
/*
 * fuzz-klog.c - any bytes at all as a kernel log
 *
 * Whatever comes in, strings end, counts stay in their bounds, and the same bytes in
 * other pieces give the same boots. Each piece is a copy of its own, so that the
 * sanitizer sees a read beyond it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "klog/klog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			abort();                                                                   \
	} while (0)

struct seen {
	uint64_t digest;
	unsigned boots, damaged;
};

static void add(struct seen *seen, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		seen->digest = (seen->digest ^ p[i]) * 1099511628211u;
}

static void add_text(struct seen *seen, const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	CHECK(len < size);
	add(seen, text, len + 1);
}

static void on_boot(void *ctx, const struct klog_boot *boot)
{
	struct seen *seen = ctx;

	seen->boots++;
	CHECK(boot->tables <= KLOG_TABLES_MAX);
	CHECK(boot->tables || boot->head_seen);
	CHECK(boot->highmem_start <= boot->highmem_end);
	CHECK((unsigned)boot->arch < HD_ARCH_COUNT);
	add_text(seen, boot->version, sizeof(boot->version));
	add_text(seen, boot->banner, sizeof(boot->banner));
	add_text(seen, boot->cmdline, sizeof(boot->cmdline));
	add_text(seen, boot->refused, sizeof(boot->refused));
	add(seen, &boot->has, sizeof(boot->has));
	add(seen, &boot->hints, sizeof(boot->hints));
	add(seen, &boot->first_line, sizeof(boot->first_line));
	add(seen, &boot->total_kib, sizeof(boot->total_kib));
	add(seen, &boot->zonelist_pages, sizeof(boot->zonelist_pages));
	add(seen, boot->node_bytes, sizeof(boot->node_bytes));
	for (uint32_t i = 0; i < boot->tables; i++) {
		const struct klog_table *t = &boot->table[i];

		add_text(seen, t->name, sizeof(t->name));
		CHECK(t->name[0] && t->entries);
		CHECK(t->mapping <= HD_MAP_VMALLOC_HUGE);
		CHECK(t->has_bytes || !t->bytes);
		add(seen, &t->entries, sizeof(t->entries));
		add(seen, &t->bytes, sizeof(t->bytes));
		add(seen, &t->order, sizeof(t->order));
		add(seen, &t->nodes, sizeof(t->nodes));
		add(seen, &t->mapping, sizeof(t->mapping));
	}
}

static void on_damaged(void *ctx, const char *line, size_t len, uint64_t number)
{
	struct seen *seen = ctx;

	seen->damaged++;
	CHECK(len <= KLOG_LINE_MAX);
	add(seen, line, len);
	add(seen, &number, sizeof(number));
}

static struct seen read_in(const uint8_t *data, size_t size, size_t piece)
{
	struct seen seen = { 14695981039346656037u, 0, 0 };
	struct klog_sink sink = { &seen, on_boot, on_damaged };
	struct klog *log = klog_new(&sink);

	if (!log)
		abort();
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		char *copy = malloc(n);

		if (!copy)
			abort();
		memcpy(copy, data + at, n);
		klog_feed(log, copy, n);
		free(copy);
	}
	klog_finish(log);
	CHECK(klog_stats(log)->bytes == size);
	CHECK(klog_stats(log)->boots == seen.boots);
	CHECK(klog_stats(log)->damaged == seen.damaged);
	add(&seen, klog_stats(log), offsetof(struct klog_stats, binary));
	klog_free(log);
	return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = read_in(data, size, size ? size : 1);
	struct seen parts = read_in(data, size, size ? 1 + data[0] % 61 : 1);

	CHECK(whole.digest == parts.digest);
	CHECK(whole.boots == parts.boots && whole.damaged == parts.damaged);
	return 0;
}

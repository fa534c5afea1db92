/* SPDX-License-Identifier: MIT */
/*
 * predict.c - one table, on a machine that never runs short of memory
 *
 * The engine with providers that say yes to everything. What a full machine
 * does is for a simulator, or a real one, to find out.
 */
#include "core/bits.h"
#include "core/text.h"
#include "hashdist/core.h"

static char somewhere;

static void *early(void *ctx, uint64_t bytes, bool zero)
{
	(void)ctx;
	(void)bytes;
	(void)zero;
	return &somewhere;
}

static void *contiguous(void *ctx, uint64_t bytes, unsigned order, bool zero)
{
	(void)order;
	return early(ctx, bytes, zero);
}

static void *scattered(void *ctx, uint64_t bytes, unsigned shift, unsigned *got_shift, bool zero)
{
	*got_shift = shift;
	return early(ctx, bytes, zero);
}

int hd_predict(const struct hd_machine *machine, enum hd_table_id id, uint64_t established,
	       struct hd_table *out)
{
	static const struct hd_providers plenty = { NULL, early, contiguous, scattered };
	struct hd_request request;
	int error = hd_table_request(machine, id, established, &request);

	if (!error)
		error = hd_table_alloc(machine, &request, &plenty, out);
	if (!error)
		out->start = NULL;
	return error;
}

const char *hd_mapping_name(enum hd_mapping mapping)
{
	switch (mapping) {
	case HD_MAP_LINEAR:
		return "linear";
	case HD_MAP_VMALLOC:
		return "vmalloc";
	case HD_MAP_VMALLOC_HUGE:
		return "vmalloc hugepage";
	default:
		return "unknown";
	}
}

int hd_table_line(const struct hd_rules *rules, const char *name, const struct hd_table *table,
		  char *out, size_t size)
{
	struct text_out text = { out, size, 0 };
	enum hd_mapping mapping = table->mapping;
	int order, len;

	if (rules->value[HD_RULE_ORDER_PRINT] == HD_ORDER_CEIL)
		order = (int)hd_order(rules, table->bytes);
	else
		order = (int)log2_floor(table->bytes) - rules->value[HD_RULE_PAGE_SHIFT];
	if (rules->value[HD_RULE_KIND_WORDS] == HD_WORDS_VMALLOC && mapping == HD_MAP_VMALLOC_HUGE)
		mapping = HD_MAP_VMALLOC;
	text_put(&text, name);
	text_put(&text, " hash table entries: ");
	text_put_number(&text, (int64_t)table->entries);
	text_put(&text, " (order: ");
	text_put_number(&text, order);
	text_put(&text, ", ");
	text_put_number(&text, (int64_t)table->bytes);
	text_put(&text, " bytes");
	if (rules->value[HD_RULE_KIND_WORDS] != HD_WORDS_NONE) {
		text_put(&text, ", ");
		text_put(&text, hd_mapping_name(mapping));
	}
	text_put(&text, ")");
	len = text_finish(&text);
	return len < 0 ? HD_ERANGE : len;
}

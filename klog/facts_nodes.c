/* SPDX-License-Identifier: MIT */
/*
 * facts_nodes.c - lines about memory nodes and the ranges of memory they have
 *
 * Nodes with an id below KLOG_NODES_MAX are kept one by one, others are only counted.
 */
#include "facts.h"

/** Eight hexadecimal digits at once. Return: whether that is what they are. */
static inline bool hex8(const char *p, uint64_t *out)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const uint64_t ones = 0x0101010101010101u;
	uint64_t x = klog__load8(p), letter = (x >> 6) & ones, value;

	x |= letter << 5; /* lower case */
	value = (x & (ones * 0x0f)) + letter * 9;
	/* written back it must be what was read; letters from ten up, digits below, none above 15 */
	if (unlikely((x ^ (value + ones * '0' + letter * ('a' - '0' - 10))) |
		     (((value + ones * 6) ^ letter << 4) & (ones << 4)) | (value & (ones << 4))))
		return false;
	value = (value << 4 | value >> 8) & 0x00ff00ff00ff00ffu;
	value = (value << 8 | value >> 16) & 0x0000ffff0000ffffu;
	*out = (value << 16 | value >> 32) & 0xffffffffu;
	return true;
#else
	(void)p;
	(void)out;
	return false;
#endif
}

const char *klog__hex(const char *p, const char *e, uint64_t *out)
{
	uint64_t value = 0;
	const char *start;

	if (STARTS(p, e, "0x"))
		p += 2;
	start = p;
	while (e - p >= 8 && p - start < 16) {
		uint64_t part;

		if (!hex8(p, &part))
			break;
		value = value << 32 | part;
		p += 8;
	}
	while (p < e && klog__is_hex(*p)) {
		unsigned c = (unsigned char)*p++;

		value = value << 4 | ((c & 15) + (c >> 6) * 9);
	}
	*out = value;
	return p - start > 16 || p == start ? NULL : p;
}

/** Return: whether node @id has a place in the arrays. */
static bool node(struct klog *log, uint64_t id)
{
	if (likely(id < KLOG_NODES_MAX)) {
		if (id >= log->boot.node_max)
			log->boot.node_max = (uint32_t)id + 1;
		return true;
	}
	if (id > log->high_nodes && id < 1u << 20) {
		log->high_nodes = id;
		log->boot.nodes_beyond++;
	}
	return false;
}

static void node_range(struct klog *log, uint64_t id, uint64_t start, uint64_t end)
{
	struct klog_boot *boot = &log->boot;
	uint64_t low = start > boot->highmem_start ? start : boot->highmem_start;
	uint64_t high = end < boot->highmem_end ? end : boot->highmem_end;

	klog__boot_touch(log);
	boot->has |= KLOG_HAS_NODE_RANGES;
	if (!node(log, id) || end <= start)
		return;
	boot->node_bytes[id] += end - start;
	if (unlikely(high > low))
		boot->highmem_range_bytes += high - low;
}

/** "[mem 0x1-0x2]" or "1-2". Sets the end exclusive. Return: TAKEN, MORE, BAD. */
static enum taken mem_range(const char *p, const char *e, bool brackets, uint64_t *start,
			    uint64_t *end)
{
	if (e - p < 5)
		return brackets ? MORE : BAD;
	if (brackets) {
		if (!STARTS(p, e, "[mem "))
			return STARTS(p, e, "[mem") ? MORE : BAD;
		p += 5;
	}
	p = klog__hex(p, e, start);
	if (!p)
		return brackets ? MORE : BAD;
	if (p == e)
		return MORE;
	if (*p != '-')
		return BAD;
	p = klog__hex(p + 1, e, end);
	if (!p || (brackets && p == e))
		return MORE;
	if (!brackets)
		return TAKEN;
	*end += 1;
	return *p == ']' ? TAKEN : BAD;
}

/** "  node   0: [mem 0x1000-0x9efff]" */
enum taken klog__early_range(struct klog *log, struct line *line, bool last)
{
	const char *p = klog__blanks(line->figures, line->end), *e = line->end;
	uint64_t id, start, end;
	enum taken got;

	p = klog__figure(p, e, &id);
	if (!p || p == e || *p != ':')
		return BAD;
	p = klog__blanks(p + 1, e);
	got = mem_range(p, e, true, &start, &end);
	if (got != TAKEN)
		return last ? BAD : got;
	node_range(log, id, start, end);
	return TAKEN;
}

/** "    0: 0x00000010 -> 0x0000009f": page frames, end exclusive, under its heading only */
enum taken klog__pfn_range(struct klog *log, struct line *line)
{
	const char *p = line->text, *e = line->end;
	uint64_t id, start, end;

	if (!log->node_map_number || log->number - log->node_map_number > 2)
		return BAD;
	p = klog__figure(p, e, &id);
	if (!p || e - p < 2)
		return BAD;
	p = klog__hex(p + 2, e, &start);
	if (!p || !STARTS(p, e, " -> ") || !klog__hex(p + 4, e, &end) || end >> 40)
		return BAD;
	log->node_map_number = log->number;
	log->node_pfns = true;
	node_range(log, id, start << 12, end << 12);
	return TAKEN;
}

enum taken klog__node_total(struct klog *log, struct line *line)
{
	const char *p = line->figures, *e = line->end;
	uint64_t id, pages;

	p = klog__figure(p, e, &id);
	if (!p || !STARTS(p, e, " totalpages: ") || !klog__figure(p + 13, e, &pages))
		return BAD;
	klog__boot_touch(log);
	log->boot.has |= KLOG_HAS_NODE_TOTALS;
	if (node(log, id))
		log->boot.node_pages[id] = pages;
	return TAKEN;
}

enum taken klog__initmem(struct klog *log, struct line *line, bool last)
{
	const char *p = line->figures, *e = line->end;
	uint64_t id, start, end;
	uint8_t what = 2;

	p = klog__figure(p, e, &id);
	if (!p)
		return BAD;
	p = klog__blanks(p, e);
	if (line->word == W_INITMEM && p == e)
		return last ? BAD : MORE;
	if (line->word == W_INITMEM && !STARTS(p, e, "as memoryless")) {
		enum taken got = mem_range(p, e, *p == '[', &start, &end);

		if (got != TAKEN)
			return last ? BAD : got;
		/* kernels before 5.17 print an empty node like this */
		what = start == 0 && end <= 1 ? 2 : 1;
	}
	klog__boot_touch(log);
	if (line->word == W_INITMEM)
		log->boot.has |= KLOG_HAS_INITMEM;
	if (node(log, id) && (line->word != W_NO_START_PFN || !log->boot.initmem_node[id]))
		log->boot.initmem_node[id] = what;
	return TAKEN;
}

/** "HighMem  [mem a-b]", "HighMem  empty", "HighMem  0x000377fe -> 0x00040000" */
enum taken klog__highmem_zone(struct klog *log, struct line *line)
{
	struct klog_boot *boot = &log->boot;
	const char *p = klog__blanks(line->figures, line->end), *e = line->end;
	uint64_t start = 0, end = 0;

	if (STARTS(p, e, "0x")) {
		p = klog__hex(p, e, &start);
		if (!p || !STARTS(p, e, " -> ") || !klog__hex(p + 4, e, &end) || end >> 40)
			return BAD;
		start <<= 12;
		end <<= 12;
	} else if (!STARTS(p, e, "empty") && mem_range(p, e, true, &start, &end) != TAKEN) {
		return BAD;
	}
	klog__boot_touch(log);
	if (end <= start)
		start = end = 0;
	boot->highmem_start = start;
	boot->highmem_end = end;
	boot->has |= KLOG_HAS_HIGHMEM_RANGE;
	return TAKEN;
}

enum taken klog__faking(struct klog *log, struct line *line)
{
	uint64_t id;

	if (!klog__figure(line->figures, line->end, &id) || id >= 1024)
		return BAD;
	klog__boot_touch(log);
	if (id >= log->boot.emulated_nodes)
		log->boot.emulated_nodes = (uint32_t)id + 1;
	return TAKEN;
}

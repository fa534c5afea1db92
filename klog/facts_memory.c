/* SPDX-License-Identifier: MIT */
/*
 * facts_memory.c - lines about memory as a whole: zonelists, "Memory:", reservations
 */
#include "facts.h"

enum taken klog__zonelists(struct klog *log, struct line *line, bool last)
{
	struct klog_boot *boot = &log->boot;
	const char *p = line->figures, *e = line->end, *q;
	uint32_t lists;
	uint64_t pages = 0;

	if (!klog__count32(p, e, &lists))
		return BAD;
	p = klog__number(p, e, &pages);
	if (likely(STARTS(p, e, " zonelists, mobility grouping on.  Total pages: ")))
		q = p + 47;
	else if (STARTS(p, e, " zonelists in Zone order, mobility grouping on.  Total pages: "))
		q = p + 61;
	else if (!(q = AFTER(p, e, "zonelists")))
		return last ? BAD : MORE;
	else
		q = AFTER(q, e, "Total pages:");
	if (q)
		q = klog__figure(klog__blanks(q, e), e, &pages);
	/* a figure at the very end may go on in the next line */
	if ((!q || q == e) && !last)
		return MORE;
	klog__boot_touch(log);
	boot->zonelists = lists;
	boot->has |= KLOG_HAS_ZONELISTS;
	if (q) {
		boot->zonelist_pages = pages;
		boot->has |= KLOG_HAS_ZONELIST_PAGES;
	}
	return TAKEN;
}

/** What the kernel calls a figure of the Memory: line, maybe cut, spaces at odd places. */
static void memory_item(struct klog_boot *boot, const char *p, const char *e, uint64_t kib)
{
	char word[16];
	size_t n = 0;

	for (; p < e && n < sizeof(word); p++)
		if (!klog__is_blank(*p))
			word[n++] = *p;
#define ITEM(literal, min, field, bit)                                                             \
	if (n >= min && n <= sizeof(literal) - 1 && memcmp(word, literal, n) == 0) {               \
		boot->field = kib;                                                                 \
		boot->has |= bit;                                                                  \
		return;                                                                            \
	}
	ITEM("reserved", 2, reserved_kib, KLOG_HAS_RESERVED);
	ITEM("kernelcode", 2, kernel_code_kib, 0);
	ITEM("code", 2, kernel_code_kib, 0);
	ITEM("rwdata", 2, rwdata_kib, 0);
	ITEM("rodata", 2, rodata_kib, 0);
	ITEM("init", 2, init_kib, 0);
	ITEM("bss", 2, bss_kib, 0);
	ITEM("cma-reserved", 2, cma_kib, KLOG_HAS_CMA);
	ITEM("highmem", 2, highmem_kib, KLOG_HAS_HIGHMEM);
	ITEM("absent", 2, absent_kib, 0);
#undef ITEM
}

/** The same for a name that is whole. Return: false if it is not. */
static inline bool memory_word(struct klog_boot *boot, const char *p, const char *e, uint64_t kib)
{
	size_t n = (size_t)(e - p);

	if (n == 4 && klog__same(p, "init", 4))
		boot->init_kib = kib;
	else if (n == 3 && klog__same(p, "bss", 3))
		boot->bss_kib = kib;
	else if (n == 6 && klog__same(p, "rwdata", 6))
		boot->rwdata_kib = kib;
	else if (n == 6 && klog__same(p, "rodata", 6))
		boot->rodata_kib = kib;
	else if (n == 11 && klog__same(p, "kernel code", 11))
		boot->kernel_code_kib = kib;
	else if (n == 8 && klog__same(p, "reserved", 8)) {
		boot->reserved_kib = kib;
		boot->has |= KLOG_HAS_RESERVED;
	} else if (n == 12 && klog__same(p, "cma-reserved", 12)) {
		boot->cma_kib = kib;
		boot->has |= KLOG_HAS_CMA;
	} else
		return false;
	return true;
}

static inline bool kib_unit(const char *p, const char *e)
{
	return p < e && (*p | 0x20) == 'k';
}

enum taken klog__memory(struct klog *log, struct line *line, bool last)
{
	struct klog_boot *boot = &log->boot;
	const char *p = line->figures, *e = line->end, *q;
	uint64_t available, total, kib;

	p = klog__figure(klog__blanks(p, e), e, &available);
	if (!p || !kib_unit(p, e) || ++p == e || *p != '/')
		return p == e && !last ? MORE : BAD;
	p = klog__figure(p + 1, e, &total);
	if (!p)
		return last ? BAD : MORE;
	if (!kib_unit(p, e))
		return p == e && !last ? MORE : BAD;
	/* a closing bracket, or the old form without brackets, which ends in a word */
	if (!last && e[-1] != ')' && !memchr(p, ')', (size_t)(e - p)) &&
	    (memchr(p, '(', (size_t)(e - p)) || !memchr(p, ',', (size_t)(e - p))))
		return MORE;
	klog__boot_touch(log);
	boot->available_kib = available;
	boot->total_kib = total;
	boot->has |= KLOG_HAS_MEMORY;
	for (p++; p < e && *p != ')'; p = q) {
		while (p < e && !klog__is_digit(*p) && *p != ')')
			p++;
		q = klog__number(p, e, &kib);
		if (q == p)
			break;
		if (!kib_unit(q, e))
			continue;
		p = klog__blanks(q + 1, e);
		for (q = p; q < e && *q != ',' && *q != ')'; q++)
			;
		if (!memory_word(boot, p, q, kib))
			memory_item(boot, p, q, kib);
	}
	return TAKEN;
}

enum taken klog__percpu(struct klog *log, struct line *line)
{
	uint64_t pages;
	const char *q = klog__figure(line->figures, line->end, &pages);

	if (!q || !STARTS(q, line->end, " pages/cpu"))
		return BAD;
	klog__boot_touch(log);
	log->boot.percpu_pages = pages;
	log->boot.has |= KLOG_HAS_PERCPU;
	return TAKEN;
}

enum taken klog__memmap(struct klog *log, struct line *line)
{
	uint64_t pages;
	const char *q = klog__figure(line->figures, line->end, &pages);

	if (!q || !STARTS(q, line->end, " pages used for memmap"))
		return BAD;
	klog__boot_touch(log);
	log->boot.memmap_pages += pages;
	log->boot.has |= KLOG_HAS_MEMMAP;
	return TAKEN;
}

/** The last "123MB" or "123 MiB" of a line, in bytes; 0: none. */
static uint64_t last_megabytes(const char *p, const char *e)
{
	uint64_t found = 0, value;

	while (p < e) {
		const char *q = klog__number(p, e, &value);

		if (q == p) {
			p += klog__is_digit(*p) ? 20 : 1;
			continue;
		}
		p = klog__blanks(q, e);
		if (p < e && *p == 'M' && value < 1u << 30)
			found = value << 20;
	}
	return found;
}

enum taken klog__crashkernel(struct klog *log, struct line *line)
{
	const char *p = line->figures, *e = line->end;
	uint64_t start, end;

	if (line->word == W_RESERVING) {
		const char *q = klog__figure(p, e, &start);

		if (line->text[0] == 's')
			log->boot.hints |= KLOG_HINT_S390;
		if (!q || !STARTS(q, e, "MB of ") || !AFTER(q, e, "for crashkernel") ||
		    start >= 1u << 30)
			return BAD;
		end = start << 20;
		start = 0;
	} else {
		p = klog__hex(p, e, &start);
		if (!p || !STARTS(p, e, " - ") || !klog__hex(p + 3, e, &end) || end < start)
			return BAD;
	}
	klog__boot_touch(log);
	log->boot.crashkernel_bytes += end - start;
	return TAKEN;
}

enum taken klog__swiotlb(struct klog *log, struct line *line)
{
	const char *p = line->figures, *e = line->end, *q = AFTER(p, e, "MB)");
	uint64_t bytes;

	if (!q)
		return BAD;
	bytes = last_megabytes(p, q);
	if (!bytes)
		return BAD;
	klog__boot_touch(log);
	log->boot.swiotlb_bytes = bytes;
	return TAKEN;
}

enum taken klog__kfence(struct klog *log, struct line *line)
{
	uint64_t bytes;

	if (!klog__figure(line->figures, line->end, &bytes))
		return BAD;
	klog__boot_touch(log);
	log->boot.kfence_bytes = bytes;
	return TAKEN;
}

enum taken klog__cma(struct klog *log, struct line *line)
{
	uint64_t mib;
	const char *q = klog__figure(line->figures, line->end, &mib);

	if (!q || !STARTS(q, line->end, " MiB at") || mib >= 1u << 30)
		return BAD;
	klog__boot_touch(log);
	log->boot.cma_default_bytes += mib << 20;
	return TAKEN;
}

/* SPDX-License-Identifier: MIT */
/*
 * pages.c - how many pages a kernel thinks it has when it sizes its tables
 *
 * Three eras, three answers for the same machine:
 *
 *   A  to 2.6.18     present pages of the directly mapped zones
 *   B  to 6.9        the same, less an estimate of the memory map (struct page
 *                    of every page), less what is reserved below 16 MiB on x86-64
 *   C  6.10 onwards  what the boot allocator has neither given away nor reserved
 *
 * Era B kernels print the sum as "Total pages" of the zonelists line, so a log
 * gives it exactly. Era C kernels print nothing of the kind; it is worked back
 * from the Memory: line, which is printed later, when more is reserved.
 */
#include "hashdist/core.h"

static uint64_t pages_of_kib(const struct hd_rules *rules, uint64_t kib)
{
	return kib >> (rules->value[HD_RULE_PAGE_SHIFT] - 10);
}

static uint64_t pages_of_bytes(const struct hd_rules *rules, uint64_t bytes)
{
	return bytes >> rules->value[HD_RULE_PAGE_SHIFT];
}

static uint64_t minus(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

static uint64_t memmap_pages(const struct hd_rules *rules, uint64_t pages, unsigned struct_bytes)
{
	uint64_t page = 1ULL << rules->value[HD_RULE_PAGE_SHIFT];

	return (pages * struct_bytes + page - 1) / page;
}

static unsigned usual_page_struct(const struct hd_rules *rules)
{
	return rules->value[HD_RULE_WORD_BYTES] == 8 ? 64 : 32;
}

void hd_pages_from_zones(const struct hd_rules *rules, const struct hd_zone *zones, size_t count,
			 unsigned page_struct_bytes, uint64_t dma_reserve, struct hd_pages *out)
{
	bool less_memmap = rules->value[HD_RULE_COUNT_ERA] != HD_ERA_A;

	*out = (struct hd_pages){ 0 };
	for (size_t i = 0; i < count; i++) {
		/* A zone with large holes keeps no struct page for them. */
		bool holes = zones[i].spanned > zones[i].present + zones[i].present / 16;
		uint64_t mapped = holes ? zones[i].present : zones[i].spanned;
		uint64_t memmap = memmap_pages(rules, mapped, page_struct_bytes);
		uint64_t free = zones[i].present;

		if (less_memmap && !zones[i].highmem && free >= memmap)
			free -= memmap;
		if (less_memmap && i == 0 && free > dma_reserve)
			free -= dma_reserve;
		if (!zones[i].highmem)
			out->kernel += free;
		else if (less_memmap && out->kernel > 2 * memmap)
			out->kernel -= memmap;
		out->all += free;
	}
}

static int from_zonelists(const struct hd_rules *rules, const struct hd_log_totals *log,
			  struct hd_pages *out)
{
	unsigned struct_bytes =
	    log->page_struct_bytes ? log->page_struct_bytes : usual_page_struct(rules);

	if (!log->has_zonelist_pages)
		return HD_ENOENT;
	out->all = log->zonelist_pages;
	out->kernel = minus(log->zonelist_pages, log->highmem_pages);
	if (log->highmem_pages) {
		uint64_t memmap = memmap_pages(rules, log->highmem_pages, struct_bytes);

		if (out->kernel > 2 * memmap)
			out->kernel -= memmap;
		/* sizeof(struct page) is 32 to 44 there. */
		out->slack = log->page_struct_bytes ? 0 : memmap / 2;
	}
	return 0;
}

/**
 * What was still free at the count and is reserved by the time Memory: is printed.
 * x86 has put crashkernel and CMA aside before the count; others did so after it,
 * until 7.0 moved the count behind all of the architecture's reservations.
 */
static int from_memory_line(const struct hd_rules *rules, const struct hd_log_totals *log,
			    struct hd_pages *out)
{
	bool x86 = rules->arch == HD_ARCH_X86_64 || rules->arch == HD_ARCH_I386;
	bool reserved_first = x86 || !rules->version || rules->version >= HD_VERSION(7, 0, 0);
	uint64_t cma = pages_of_kib(rules, log->cma_kib);
	uint64_t crash = pages_of_bytes(rules, log->crashkernel_bytes);
	uint64_t low, slack = 64;

	if (!log->has_memory || !log->has_reserved)
		return HD_ENOENT;
	low = minus(pages_of_kib(rules, log->total_kib), pages_of_kib(rules, log->reserved_kib));
	low += pages_of_bytes(rules, log->early_bytes + log->late_reserved_bytes);
	low += log->percpu_pages * log->possible_cpus;
	if (!log->percpu_pages) { /* 50 to 130 pages a processor have been seen */
		low += 80ULL * log->possible_cpus;
		slack += 50ULL * log->possible_cpus;
	}
	if (!log->late_complete && x86) { /* a bounce buffer of 64 MiB, if it is there */
		low += pages_of_bytes(rules, 32ULL << 20);
		slack += pages_of_bytes(rules, 32ULL << 20);
	}
	if (reserved_first) {
		low = minus(low, cma);
	} else if (rules->arch == HD_ARCH_ARM64) {
		low += crash;
	} else { /* not known which come first: cover both */
		low += crash / 2;
		low = minus(low, cma / 2);
		slack += crash / 2 + cma / 2;
	}
	out->all = low;
	out->kernel = minus(low, log->highmem_pages);
	out->slack = slack;
	return 0;
}

int hd_pages_from_log(const struct hd_rules *rules, const struct hd_log_totals *log,
		      struct hd_pages *out)
{
	*out = (struct hd_pages){ 0 };
	if (rules->value[HD_RULE_COUNT_ERA] == HD_ERA_C)
		return from_memory_line(rules, log, out);
	return from_zonelists(rules, log, out);
}

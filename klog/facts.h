/* SPDX-License-Identifier: MIT */
/*
 * facts.h - what the readers of figures have in common
 *
 * Each reads one kind of line. @last: there is no more text to come, make do with this.
 */
#ifndef HASHDIST_KLOG_FACTS_H
#define HASHDIST_KLOG_FACTS_H

#include "internal.h"

/* facts_text.c */
enum taken klog__banner(struct klog *log, struct line *line, bool last);
enum taken klog__cmdline(struct klog *log, struct line *line, bool last);
enum taken klog__refused(struct klog *log, struct line *line, bool last);

/* facts_memory.c */
enum taken klog__zonelists(struct klog *log, struct line *line, bool last);
enum taken klog__memory(struct klog *log, struct line *line, bool last);
enum taken klog__percpu(struct klog *log, struct line *line);
enum taken klog__memmap(struct klog *log, struct line *line);
enum taken klog__crashkernel(struct klog *log, struct line *line);
enum taken klog__swiotlb(struct klog *log, struct line *line);
enum taken klog__kfence(struct klog *log, struct line *line);
enum taken klog__cma(struct klog *log, struct line *line);

/* facts_cpus.c */
enum taken klog__allowing(struct klog *log, struct line *line);
enum taken klog__setup_percpu(struct klog *log, struct line *line, bool last);
enum taken klog__slub(struct klog *log, struct line *line, bool last);
enum taken klog__rcu_cpus(struct klog *log, struct line *line, bool last);
enum taken klog__brought_up(struct klog *log, struct line *line);

/* facts_nodes.c */
enum taken klog__early_range(struct klog *log, struct line *line, bool last);
enum taken klog__pfn_range(struct klog *log, struct line *line);
enum taken klog__node_total(struct klog *log, struct line *line);
enum taken klog__initmem(struct klog *log, struct line *line, bool last);
enum taken klog__highmem_zone(struct klog *log, struct line *line);
enum taken klog__faking(struct klog *log, struct line *line);
/** Hexadecimal digits, "0x" in front or not. Return: behind them; NULL: none, or over 16. */
const char *klog__hex(const char *p, const char *e, uint64_t *out);

/** A number that is followed by something, or ends the line for good. NULL: none, or cut. */
static inline const char *klog__figure(const char *p, const char *e, uint64_t *out)
{
	const char *q = klog__number(p, e, out);

	return q == p ? NULL : q;
}

static inline bool klog__count32(const char *p, const char *e, uint32_t *out)
{
	uint64_t value;

	if (!p)
		return false;
	if (STARTS(p, e, "3D")) /* quoted-printable '=' */
		p += 2;
	if (!klog__figure(p, e, &value) || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

#endif

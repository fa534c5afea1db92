/* SPDX-License-Identifier: MIT */
/*
 * facts_cpus.c - lines about processors: allowed, possible, online
 *
 * Where two lines tell the same (SLUB and setup_percpu), the one nearer to the source wins.
 */
#include "facts.h"

enum taken klog__allowing(struct klog *log, struct line *line)
{
	const char *p = line->figures, *e = line->end;
	uint32_t cpus, more = 0;

	if (!klog__count32(p, e, &cpus))
		return BAD;
	log->boot.hints |= *line->text == 's' ? KLOG_HINT_X86 : 0;
	if (line->word == W_ALLOWING_SUM && !klog__count32(AFTER(p, e, "plus "), e, &more))
		return BAD;
	klog__boot_touch(log);
	log->boot.possible_cpus = cpus + more;
	log->boot.has |= KLOG_HAS_POSSIBLE_CPUS;
	return TAKEN;
}

enum taken klog__setup_percpu(struct klog *log, struct line *line, bool last)
{
	struct klog_boot *boot = &log->boot;
	const char *p = line->figures, *e = line->end, *q;
	uint32_t cpus, nodes;
	uint64_t skipped;
	const char *at = memrchr(p, ':', (size_t)(e - p));

	if (at && at - p > 11 && klog__same(at - 11, "nr_node_ids", 11) &&
	    klog__count32(at + 1, e, &nodes)) {
		boot->node_ids = nodes;
		boot->has |= KLOG_HAS_NODE_IDS;
	} else if (!last) {
		return MORE;
	}
	klog__boot_touch(log);
	boot->hints |= KLOG_HINT_X86;
	/* "NR_CPUS:8192 nr_cpumask_bits:16 nr_cpu_ids:16 nr_node_ids:1" */
	if (STARTS(p, e, "NR_CPUS:") && (q = klog__figure(p + 8, e, &skipped)) &&
	    STARTS(q, e, " nr_cpumask_bits:") && (q = klog__figure(q + 17, e, &skipped)) &&
	    STARTS(q, e, " nr_cpu_ids:"))
		q += 12;
	else
		q = AFTER(p, e, "nr_cpu_ids:");
	if (klog__count32(q, e, &cpus)) {
		boot->cpu_ids = cpus;
		boot->has |= KLOG_HAS_CPU_IDS;
	}
	return TAKEN;
}

enum taken klog__slub(struct klog *log, struct line *line, bool last)
{
	struct klog_boot *boot = &log->boot;
	const char *p = line->figures, *e = line->end;
	uint32_t cpus = 0, nodes = 0;
	const char *at = memrchr(p, '=', (size_t)(e - p));
	bool has_nodes;

	/* the last figure of the line, "=3D" where '=' is written so */
	has_nodes =
	    at && at - p > 5 && klog__same(at - 5, "Nodes", 5) && klog__count32(at + 1, e, &nodes);

	if (!has_nodes && !last)
		return MORE;
	klog__boot_touch(log);
	if (!(boot->has & KLOG_HAS_CPU_IDS) && klog__count32(AFTER(p, e, "CPUs="), e, &cpus)) {
		boot->cpu_ids = cpus;
		boot->has |= KLOG_HAS_CPU_IDS;
	}
	if (!(boot->has & KLOG_HAS_NODE_IDS) && has_nodes) {
		boot->node_ids = nodes;
		boot->has |= KLOG_HAS_NODE_IDS;
	}
	return TAKEN;
}

enum taken klog__rcu_cpus(struct klog *log, struct line *line, bool last)
{
	struct klog_boot *boot = &log->boot;
	const char *at = memrchr(line->figures, '=', (size_t)(line->end - line->figures));
	uint32_t cpus;

	if (!at || at - line->text < 10 || !klog__same(at - 10, "nr_cpu_ids", 10) ||
	    !klog__count32(at + 1, line->end, &cpus))
		return last ? BAD : MORE;
	if (boot->has & KLOG_HAS_CPU_IDS)
		return TAKEN;
	klog__boot_touch(log);
	boot->cpu_ids = cpus;
	boot->has |= KLOG_HAS_CPU_IDS;
	return TAKEN;
}

/** "2 nodes, 8 CPUs", "16 CPUs" */
enum taken klog__brought_up(struct klog *log, struct line *line)
{
	struct klog_boot *boot = &log->boot;
	const char *p = line->figures, *e = line->end, *q;
	uint64_t first, second = 0;

	q = klog__figure(p, e, &first);
	if (!q || first > UINT32_MAX)
		return BAD;
	if (STARTS(q, e, " node")) {
		p = memchr(q, ',', (size_t)(e - q));
		if (!p || e - p < 3 || !klog__figure(p + 2, e, &second) || second > UINT32_MAX)
			return BAD;
		boot->brought_up_nodes = (uint32_t)first;
		boot->has |= KLOG_HAS_BROUGHT_UP_NODES;
		first = second;
	} else if (!STARTS(q, e, " CPU")) {
		return BAD;
	}
	klog__boot_touch(log);
	boot->online_cpus = (uint32_t)first;
	boot->has |= KLOG_HAS_ONLINE_CPUS;
	return TAKEN;
}

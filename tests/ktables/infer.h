/* SPDX-License-Identifier: MIT */
/*
 * infer.h - what is concluded from a log and from a machine's books, for tests that ask it
 *
 * Versions that lie, kernels whose lines show more than their version tells, and who is
 * believed where log and books disagree: the log for what boot decided.
 */
#ifndef HASHDIST_TESTS_KTABLES_INFER_H
#define HASHDIST_TESTS_KTABLES_INFER_H

#include "help.h"

static struct klog_boot boot;
static struct desk desk;
static struct ktables_facts facts;

static inline void infer(void)
{
	ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_RULES, &facts);
}

static inline void infer_both(void)
{
	ktables_infer(&boot, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
}

static inline void infer_given(const char *rule)
{
	const struct ktables_given given = { &rule, 1 };

	ktables_infer(&boot, NULL, &given, KTABLES_DETECT_RULES, &facts);
}

static inline int32_t rule(enum hd_rule which)
{
	return facts.machine.rules.value[which];
}

static inline enum hd_rule_origin origin(enum hd_rule which)
{
	return (enum hd_rule_origin)facts.machine.rules.origin[which];
}

/*
 *   4.18.0-513.el8.x86_64, one node, 2 GiB:
 *
 *   Dentry cache  ...  2097152 bytes, linear)
 *   Inode-cache   ...  1048576 bytes, linear)
 *
 * Upstream's 4.18 says neither "linear" nor clears hashdist; this one took the
 * change of 2019.
 */
static inline void el8(void)
{
	boot_init(&boot, "4.18.0-513.el8.x86_64", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515000);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Inode-cache", 131072, 8, MIB, HD_MAP_LINEAR);
	boot_table(&boot, "VFS: Dquot-cache", 512, 0, 4096, HD_MAP_UNKNOWN);
}

#endif

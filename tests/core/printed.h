/* SPDX-License-Identifier: MIT */
/*
 * printed.h - what a kernel printed of its tables, as real-boots.tsv has it
 *
 * "D262144v I131072l": a letter for the table, its entries, a letter for the mapping. Bytes
 * are not there: a bucket's size is known for each of those kernels.
 */
#ifndef HASHDIST_TESTS_PRINTED_H
#define HASHDIST_TESTS_PRINTED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hashdist/core.h"

static const struct printed_letter {
	char letter;
	enum hd_table_id id;
	unsigned wide, narrow, rt; /* bytes of a bucket: 64 bits, 32 bits, 64 bits with RT */
} printed_letters[] = {
	{ 'Q', HD_TABLE_PV_QSPINLOCK, 16, 0, 16 },
	{ 'D', HD_TABLE_DENTRY, 8, 4, 8 },
	{ 'I', HD_TABLE_INODE, 8, 4, 8 },
	{ 'M', HD_TABLE_MOUNT, 8, 4, 8 },
	{ 'P', HD_TABLE_MOUNTPOINT, 8, 4, 8 },
	{ 'F', HD_TABLE_FUTEX, 64, 64, 64 }, /* ppc64: 128 */
	{ 'G', HD_TABLE_IP_IDENTS, 8, 8, 8 },
	{ 'L', HD_TABLE_TCP_LISTEN, 16, 8, 40 },
	{ 'X', HD_TABLE_TABLE_PERTURB, 4, 4, 4 },
	{ 'E', HD_TABLE_TCP_ESTABLISHED, 8, 4, 8 },
	{ 'B', HD_TABLE_TCP_BIND, 32, 16, 80 },
	{ 'K', HD_TABLE_MPTCP_TOKEN, 24, 16, 56 },
	{ 'U', HD_TABLE_UDP, 32, 32, 96 },
	{ 'V', HD_TABLE_UDP_LITE, 32, 32, 96 },
};

static inline const struct printed_letter *printed_letter_of(enum hd_table_id id)
{
	for (size_t i = 0; i < sizeof(printed_letters) / sizeof(printed_letters[0]); i++)
		if (printed_letters[i].id == id)
			return &printed_letters[i];
	return NULL;
}

static inline unsigned printed_bucket(const struct printed_letter *letter, enum hd_arch arch,
				      bool rt)
{
	if (arch == HD_ARCH_I386)
		return letter->narrow;
	if (arch == HD_ARCH_PPC64 && letter->id == HD_TABLE_FUTEX)
		return 128;
	return rt ? letter->rt : letter->wide;
}

/**
 * printed_table() - one table of a boot
 * @tables: the field of the file
 * @rt: a PREEMPT_RT kernel, whose locks are larger
 * Return: false if it printed nothing of that table.
 */
static inline bool printed_table(const char *tables, enum hd_table_id id, enum hd_arch arch,
				 bool rt, struct hd_table *out)
{
	const struct printed_letter *letter = printed_letter_of(id);
	const char *at = tables;
	char *end;

	while (letter && *at && *at != letter->letter)
		at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ');
	if (!letter || !*at)
		return false;
	*out = (struct hd_table){ .entries = strtoull(at + 1, &end, 10) };
	out->bytes = out->entries * printed_bucket(letter, arch, rt);
	out->mapping = *end == 'l'   ? HD_MAP_LINEAR
		       : *end == 'v' ? HD_MAP_VMALLOC
		       : *end == 'h' ? HD_MAP_VMALLOC_HUGE
				     : HD_MAP_UNKNOWN;
	return true;
}

/** Its line, empty without one: all these kernels round the order up and name the mapping. */
static inline void printed_text(const char *tables, enum hd_table_id id, enum hd_arch arch, bool rt,
				uint64_t page_bytes, char *out, size_t size)
{
	struct hd_table table;
	unsigned order = 0;

	*out = '\0';
	if (!printed_table(tables, id, arch, rt, &table))
		return;
	while (page_bytes << order < table.bytes)
		order++;
	snprintf(out, size, "%s hash table entries: %llu (order: %u, %llu bytes, %s)",
		 hd_table_info(id)->name, (unsigned long long)table.entries, order,
		 (unsigned long long)table.bytes,
		 table.mapping == HD_MAP_LINEAR    ? "linear"
		 : table.mapping == HD_MAP_VMALLOC ? "vmalloc"
		 : table.mapping == HD_MAP_UNKNOWN ? "?"
						   : "vmalloc hugepage");
}

#endif

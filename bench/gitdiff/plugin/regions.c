/* SPDX-License-Identifier: MIT */
/*
 * regions.c - where the tables and maps are, and in which of them an address is
 */
#include "regions.h"

#include <string.h>

#include "symbols.h"

/* All three kinds of table have buckets of one pointer. */
enum { BUCKET_BYTES = 8, MAX_SHIFT = 40 };

static const uint64_t LINEAR_4_LEVELS = 0xffff888000000000, VMALLOC_4_LEVELS = 0xffffc90000000000,
		      MEMMAP_4_LEVELS = 0xffffea0000000000;

const char *const region_names[REGIONS] = {
	[REGION_DENTRY] = "dentry hash", [REGION_INODE] = "inode hash",
	[REGION_TCP] = "tcp hash",       [REGION_USER] = "user",
	[REGION_LINEAR] = "linear map",  [REGION_VMALLOC] = "vmalloc",
	[REGION_OTHER] = "other kernel",
};

enum region region_of(const struct regions *regions, uint64_t address)
{
	if (!(address >> 63))
		return REGION_USER;
	for (enum region i = 0; i < REGION_TABLES; i++)
		if (address - regions->tables[i].start < regions->tables[i].bytes)
			return i;
	if (address < regions->linear || address >= regions->memmap)
		return REGION_OTHER;
	return address < regions->vmalloc ? REGION_LINEAR : REGION_VMALLOC;
}

struct source {
	const char *text;
	size_t bytes;
	region_read_fn *read;
	void *context;
};

/* A variable, or a field of one, of at most 8 bytes. */
static bool variable(const struct source *from, const char *name, size_t offset, size_t bytes,
		     uint64_t *out)
{
	uint64_t address = symbols_find(from->text, from->bytes, name), value = 0;

	if (!address || !from->read(from->context, address + offset, &value, bytes))
		return false;
	*out = value;
	return true;
}

static void found(struct regions *out, enum region table, uint64_t start, uint64_t entries)
{
	out->tables[table].start = start;
	out->tables[table].bytes = entries * BUCKET_BYTES;
}

static void find_tables(struct regions *out, const struct source *from)
{
	uint64_t start, value;

	/* A shift of 32-bit hash values here, the logarithm of the entries there. */
	if (variable(from, "dentry_hashtable", 0, 8, &start) &&
	    variable(from, "d_hash_shift", 0, 4, &value) && value <= 32)
		found(out, REGION_DENTRY, start, UINT64_C(1) << (32 - value));
	if (variable(from, "inode_hashtable", 0, 8, &start) &&
	    variable(from, "i_hash_shift", 0, 4, &value) && value <= MAX_SHIFT)
		found(out, REGION_INODE, start, UINT64_C(1) << value);
	/* struct inet_hashinfo: two pointers, then the mask. */
	if (variable(from, "tcp_hashinfo", 0, 8, &start) &&
	    variable(from, "tcp_hashinfo", 16, 4, &value))
		found(out, REGION_TCP, start, value + 1);
}

void regions_find(struct regions *out, const char *symbols, size_t bytes, region_read_fn *read,
		  void *context)
{
	struct source from = { symbols, bytes, read, context };

	memset(out, 0, sizeof(*out));
	if (!variable(&from, "page_offset_base", 0, 8, &out->linear))
		out->linear = LINEAR_4_LEVELS;
	if (!variable(&from, "vmalloc_base", 0, 8, &out->vmalloc))
		out->vmalloc = VMALLOC_4_LEVELS;
	if (!variable(&from, "vmemmap_base", 0, 8, &out->memmap))
		out->memmap = MEMMAP_4_LEVELS;
	find_tables(out, &from);
}

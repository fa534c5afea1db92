/* SPDX-License-Identifier: MIT */
/* mask.h - sets of NUMA nodes, as system calls take them */
#ifndef HASHDIST_LINUX_MASK_H
#define HASHDIST_LINUX_MASK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	HDL_NODES_MAX = 1024, /* largest NODES_SHIFT of any architecture: 10 */
	HDL_WORD_BITS = sizeof(unsigned long) * CHAR_BIT,
};

struct hdl_mask {
	unsigned long word[HDL_NODES_MAX / HDL_WORD_BITS];
};

static inline bool hdl_mask_has(const struct hdl_mask *mask, uint32_t node)
{
	return node < HDL_NODES_MAX && mask->word[node / HDL_WORD_BITS] >> node % HDL_WORD_BITS & 1;
}

static inline void hdl_mask_add(struct hdl_mask *mask, uint32_t node)
{
	if (node < HDL_NODES_MAX)
		mask->word[node / HDL_WORD_BITS] |= 1UL << node % HDL_WORD_BITS;
}

static inline void hdl_mask_and(struct hdl_mask *mask, const struct hdl_mask *other)
{
	for (uint32_t i = 0; i < HDL_NODES_MAX / HDL_WORD_BITS; i++)
		mask->word[i] &= other->word[i];
}

static inline uint32_t hdl_mask_count(const struct hdl_mask *mask)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < HDL_NODES_MAX / HDL_WORD_BITS; i++)
		count += (uint32_t)__builtin_popcountl(mask->word[i]);
	return count;
}

/** The first node at or after @from, or HDL_NODES_MAX. */
static inline uint32_t hdl_mask_next(const struct hdl_mask *mask, uint32_t from)
{
	while (from < HDL_NODES_MAX && !hdl_mask_has(mask, from))
		from++;
	return from;
}

#define HDL_FOR_EACH_NODE(node, mask)                                                              \
	for (uint32_t node = hdl_mask_next(mask, 0); node < HDL_NODES_MAX;                         \
	     node = hdl_mask_next(mask, node + 1))

/** "0-3,5" as the kernel prints it. Return: false when it is something else. */
bool hdl_mask_parse(struct hdl_mask *mask, const char *text);

#endif

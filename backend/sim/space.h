/* SPDX-License-Identifier: MIT */
/*
 * space.h - a set of free address ranges
 *
 * Sorted, merged, in bytes. Used once per node, so a set stays small however
 * large the machine is.
 */
#ifndef HASHDIST_SIM_SPACE_H
#define HASHDIST_SIM_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct space_range {
	uint64_t start, end; /* end exclusive */
};

struct space {
	struct space_range *range;
	size_t count, room;
	size_t taken;   /* pieces that may come back: room for them is kept */
	uint64_t bytes; /* sum of all ranges */
};

void space_fini(struct space *space);
/**
 * Adds [start, end). What space_take() took comes back in one piece without fail.
 * Return: 0, -ENOMEM, -EEXIST when part of it is free already.
 */
int space_add(struct space *space, uint64_t start, uint64_t end);
/** Takes [start, end) out. Return: 0, -ENOMEM, -ENOENT when it is not all free. */
int space_take(struct space *space, uint64_t start, uint64_t end);
/**
 * Finds @bytes at a multiple of @align (a power of two), from the top or the bottom.
 * Return: whether there is such a place; *@start is it. Nothing is taken.
 */
bool space_find(const struct space *space, uint64_t bytes, uint64_t align, bool top_down,
		uint64_t *start);

#endif

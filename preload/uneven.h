/* SPDX-License-Identifier: MIT */
/* uneven.h - do the huge pages of a stretch lie where they should? */
#ifndef HASHDIST_PRELOAD_UNEVEN_H
#define HASHDIST_PRELOAD_UNEVEN_H

#include "preload/blocks.h"

/**
 * uneven_explain() - with --explain, a line for each node that lacks a whole huge page or more
 * @start, @end: multiples of the huge page. Once for each lack.
 * Context: one thread.
 */
void uneven_explain(uint64_t start, uint64_t end, const struct blocks *blocks);

#endif

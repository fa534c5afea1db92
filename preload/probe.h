/* SPDX-License-Identifier: MIT */
/* probe.h - is it worth, and right, to collapse this block? */
#ifndef HASHDIST_PRELOAD_PROBE_H
#define HASHDIST_PRELOAD_PROBE_H

#include "preload/blocks.h"

/**
 * probe_worth_it() - look at one block, right before it is collapsed
 * @at: a multiple of the huge page. What has become a file's meanwhile is refused.
 * Context: one thread.
 */
bool probe_worth_it(const struct blocks *blocks, uint64_t at);

#endif

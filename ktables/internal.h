/* SPDX-License-Identifier: MIT */
/* internal.h - between the files of ktables/ */
#ifndef HASHDIST_KTABLES_INTERNAL_H
#define HASHDIST_KTABLES_INTERNAL_H

#include "ktables/ktables.h"

/** match.c: finds each scattered row's area and takes its pages by node. */
int ktables_match_areas(struct ktables_survey *survey, const struct machine *books);
/** usage.c: how many objects each table holds, where the kernel tells. */
void ktables_fill_usage(struct ktables_survey *survey, const struct machine *books);
/** usage.c: log2 bytes of the pages that make up most of the linear map; 0 not told. */
unsigned ktables_linear_shift(const struct machine *books);

#endif

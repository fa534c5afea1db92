/* SPDX-License-Identifier: MIT */
/*
 * output.h - the counts as lines of JSON
 *
 * The first line says where the tables are; then comes one for each repetition. Each is
 * written when it is known, so that a guest that hangs loses only what it did not reach.
 */
#ifndef GITDIFF_OUTPUT_H
#define GITDIFF_OUTPUT_H

#include <stdint.h>

#include "regions.h"

/** Return: 0, or a negative errno. */
int output_open(const char *path);
void output_regions(const struct regions *regions);
/** @number, @status: of the repetition, as the guest said. */
void output_repetition(uint64_t number, uint64_t status);

#endif

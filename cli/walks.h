/* SPDX-License-Identifier: MIT */
/*
 * walks.h - page walks per lookup of a table, as the TLB model expects them
 */
#ifndef HASHDIST_CLI_WALKS_H
#define HASHDIST_CLI_WALKS_H

#include "machine/machine.h"
#include "tlb/tlb.h"

struct walks {
	const struct hd_tlb_geometry
	    *processor; /* NULL: none known to fit; all figures are unknown */
	void *memory;
	size_t bytes;
};

/**
 * walks_open() - of which processor the figures are
 * @preset: the name the user gave, which is one; NULL: @machine's own
 * @machine: NULL: not known
 *
 * Return: false when out of memory. Close in either case.
 */
bool walks_open(struct walks *walks, const char *preset, const struct machine *machine);
void walks_close(struct walks *walks);

/** Walks per lookup at random buckets, 0 to 1. Return: false: not known. */
bool walks_expected(const struct walks *walks, const struct hd_tlb_table *table, double *out);
/** The same as text, "0.25", into a cell; "?" when not known. */
void walks_cell(const struct walks *walks, const struct hd_tlb_table *table, char *out,
		size_t size);

/** One line: whose figures these are, or what would show them. */
void walks_print_note(const struct walks *walks);

/** Of an option's value. Return: CLI_OK; CLI_USAGE after having said so; -1: 'help' was printed. */
int walks_check_preset(const char *option, const char *value);

#endif

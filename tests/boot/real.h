/* SPDX-License-Identifier: MIT */
/*
 * real.h - the boots of tests/core/real-boots.tsv, as descriptions and as lines
 *
 * The file says how many nodes were online and had memory, not how the RAM was
 * split among them. It was split evenly but for the few guests that are named
 * in real.c.
 */
#ifndef HASHDIST_TESTS_BOOT_REAL_H
#define HASHDIST_TESTS_BOOT_REAL_H

#include "tests/core/help.h"

#include "boot/boot.h"

enum { REAL_BOOTS = 172, REAL_LINE_MAX = 160 };

struct real_boot {
	char id[32], version[32], cmdline[160], tables[256];
	enum hd_arch arch;
	uint64_t page_kib, ram_kib, ram_max_kib, total, present_kib, reserved_kib, cma_kib;
	uint32_t online_nodes, memory_nodes, cpus;
	char description[256]; /* what machine_describe_parse() reads */
	struct hd_rules rules;
};

extern struct real_boot real_boots[REAL_BOOTS];

/** Group setup: reads the file given as the program's argument. Return: 0, -1. */
int real_setup(void **state);
/** Takes the path of the file out of the program's arguments. */
void real_arguments(int argc, char **argv);

/** By id; fails the test when there is none. */
const struct real_boot *real_find(const char *id);

/** The line of one table; empty when this kernel printed none. */
void real_line(const struct real_boot *boot, enum hd_table_id id, char *out, size_t size);

/** Pages the kernel had when it sized its tables, worked back from its log. */
void real_pages(const struct real_boot *boot, struct hd_pages *out);

/** A boot's description parsed and laid out; fini both. */
void real_lay_out(const struct real_boot *boot, struct description *machine,
		  struct boot_layout *layout);

/* ---- boots that nobody recorded --------------------------------------------------- */

/** A boot of a described machine, from its description on. */
struct booted {
	struct description description;
	struct hd_rules rules;
	struct boot_layout layout;
	struct hd_pages pages; /* with slack, as boot_pages() gave them */
	struct boot_result result;
};

/** Lays out, counts and boots with @rules; fails the test where that fails. */
struct booted booted_with(const char *description, const struct hd_rules *rules,
			  const char *cmdline, const struct boot_options *options);
/** With the rules of an unpatched kernel @version, and no options. */
struct booted booted(const char *description, const char *version, const char *cmdline);
/** And nothing must be left behind: the last line of each test. */
void booted_fini(struct booted *b);
/** NULL when the kernel has no such table. */
const struct boot_row *row_of(const struct booted *b, enum hd_table_id id);

#endif

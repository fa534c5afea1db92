/* SPDX-License-Identifier: MIT */
/*
 * boot.h - a boot that does not happen: from a described machine to its tables
 *
 * Puts the machine's memory where firmware would, brings its nodes up, decides
 * the flag, and allocates every table in the kernel's order on the pretend
 * machine of backend/sim/. All decisions are core/'s; this room knows the order
 * of events and what a described machine looks like to a kernel.
 */
#ifndef HASHDIST_BOOT_H
#define HASHDIST_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/sim/sim.h"
#include "hashdist/core.h"
#include "machine/describe.h"

/* ---- layout: where memory lies ------------------------------------------------------- */

/** Memory of a described machine, as its kernel sees it after the command line. */
struct boot_layout {
	struct sim_ram *ram; /* node: position in node_id */
	size_t rams;
	uint32_t *node_id; /* online nodes, memoryless ones with them */
	uint32_t nodes;
	uint32_t memory_nodes;
	bool emulated;
	uint64_t present_pages, highmem_pages;
	uint64_t highmem_start; /* address from which memory is not mapped directly; 0: all is */
};

/**
 * boot_layout() - lay out @machine's memory under @cmdline
 *
 * numa=off, numa=fake= and mem= are obeyed. The map is that of a plain machine:
 * x86 with a hole below 4 GiB and the usual gaps below 1 MiB, others in one
 * stretch. Real firmware punches more holes; that is what the slack is for.
 *
 * Return: 0; -EINVAL when the command line leaves no memory; -ENOMEM.
 * Release with boot_layout_fini().
 */
int boot_layout(const struct description *machine, const struct hd_rules *rules,
		const char *cmdline, struct boot_layout *out);
void boot_layout_fini(struct boot_layout *layout);

/** The pages sizing starts from, by the era of @rules, with slack. */
void boot_pages(const struct description *machine, const struct boot_layout *layout,
		const struct hd_rules *rules, const char *cmdline, struct hd_pages *out);

/* ---- the boot --------------------------------------------------------------------------- */

enum { BOOT_LINE_MAX = 160 };

/** One table after the boot. */
struct boot_row {
	enum hd_table_id id;
	struct hd_request request;
	struct hd_table table;      /* at the low end of the page count */
	struct hd_table table_high; /* at the high end */
	bool exact;                 /* both ends agree */
	bool failed;                /* nothing fitted: a kernel panics here */
	char line[BOOT_LINE_MAX];   /* as the kernel prints it, without a time stamp */
	struct sim_got got;         /* node_bytes: see boot_result.node_bytes */
	uint64_t *node_bytes;       /* by position in layout.node_id */
};

struct boot_options {
	bool early_all;      /* every table early when not distributed: what 2019 left for later */
	uint32_t first_node; /* where interleaving stands; shares are right up to rotation */
};

struct boot_result {
	struct hd_machine machine; /* facts and flag as boot found them */
	enum hd_hashdist_reason reason;
	struct boot_row row[HD_TABLE_COUNT];
	uint32_t rows;
	uint64_t *node_store;
	uint64_t bytes_total, bytes_in_use;
	bool leaked; /* the machine was not empty after all was released: a bug */
};

/**
 * boot_run() - boot @layout's machine
 * @machine: rules, params and facts.pages filled in; nodes are taken from @layout
 * Return: 0, -ENOMEM, -EINVAL. Release with boot_result_fini().
 */
int boot_run(const struct boot_layout *layout, const struct hd_machine *machine,
	     const struct boot_options *options, struct boot_result *out);
void boot_result_fini(struct boot_result *result);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * plan.h - what will a kernel do on a machine that is not here?
 *
 * Puts together what is known of the machine (a description, a saved machine, a
 * boot log, or this machine), of the kernel (a version, rules) and of the
 * command line, boots it in boot/, and keeps the result. It knows where inputs
 * come from and which of them to believe; how the result is shown is cli/'s.
 */
#ifndef HASHDIST_PLAN_H
#define HASHDIST_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "boot/boot.h"
#include "ktables/ktables.h"

enum { PLAN_CMDLINE_MAX = 4096 };

/** Where the machine comes from: exactly one of the first, or books and boot. */
struct plan_source {
	const struct description *description; /* --machine */
	const struct machine *books;           /* this machine or a saved one; NULL */
	const struct klog_boot *boot;          /* a log; NULL */
};

struct plan_wish {
	const char *kernel;  /* version; NULL: the source's */
	enum hd_arch arch;   /* of a log that does not tell it; HD_ARCH_UNKNOWN: the source's */
	const char *cmdline; /* whole command line; NULL: the source's */
	const char *more;    /* words behind it; NULL none */
	struct ktables_given given;
	bool early_all;
};

/** Where the count of pages comes from, best first. */
enum plan_pages { PLAN_PAGES_LOG, PLAN_PAGES_BOOKS, PLAN_PAGES_DESCRIPTION };

struct plan {
	struct description description;
	char cmdline[PLAN_CMDLINE_MAX];
	struct boot_layout layout;
	struct boot_result result;
	enum plan_pages pages_from;
};

/**
 * plan_make() - boot that machine
 * Return: 0; -ENODATA: the source does not tell enough, *@lack says what;
 * -EINVAL: the command line leaves no memory; -ENOMEM. Release with plan_fini().
 */
int plan_make(const struct plan_source *source, const struct plan_wish *wish, struct plan *out,
	      const char **lack);
void plan_fini(struct plan *plan);

/**
 * plan_describe() - the source's machine as a description
 * Return: 0; -ENODATA: its memory and nodes are not known; -ENOMEM. Release with
 * machine_describe_free().
 */
int plan_describe(const struct plan_source *source, struct description *out);

/** One line of a log beside the plan's. */
struct plan_difference {
	enum hd_table_id id;
	const struct boot_row *planned;   /* NULL: the log has it, the plan has not */
	const struct klog_table *printed; /* NULL: the other way round */
	bool within;                      /* not exact, but one of both ends is what was printed */
};

enum { PLAN_DIFFERENCES_MAX = KLOG_TABLES_MAX + HD_TABLE_COUNT };

/**
 * plan_check() - compare with a boot's log
 * @same: how many lines agree
 * Return: number of differences written to @out; @within ones are among them.
 */
uint32_t plan_check(const struct plan *plan, const struct klog_boot *boot,
		    struct plan_difference *out, uint32_t *same);

#endif

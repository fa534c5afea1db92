/* SPDX-License-Identifier: MIT */
/* plan.h - between the files of the verb plan */
#ifndef HASHDIST_CLI_PLAN_H
#define HASHDIST_CLI_PLAN_H

#include "cli/walks.h"
#include "plan/plan.h"

/** A log that a plan was held against. */
struct plan_checked {
	struct plan_difference difference[PLAN_DIFFERENCES_MAX];
	uint32_t differences, same;
	bool done; /* a log was given */
};

/** The lines the kernel would print. */
void plan_print_lines(const struct plan *plan);
/** Placement per table. Return: false when out of memory. */
bool plan_print_table(const struct plan *plan, const struct walks *walks);
/** Each table's steps, with their numbers. */
void plan_print_explain(const struct plan *plan);
/** Two settings side by side; @added: what @b has more. Return: false when out of memory. */
bool plan_print_compare(const struct plan *a, const struct plan *b, const char *added);
void plan_print_check(const struct plan *plan, const struct plan_checked *checked);
/** @b: the other setting, or NULL. Return: false when out of memory. */
bool plan_print_json(const struct plan *plan, const struct plan *b,
		     const struct plan_checked *checked, const struct walks *walks);

/** A machine in one line, in memory of its own; NULL when out of memory. */
char *plan_description_text(const struct description *description);
/** Lines that differ from the log and lie outside the stated range. */
uint32_t plan_wrong(const struct plan_checked *checked);
/** What translates a table, for the model. Return: false: it has no memory. */
bool plan_translated(const struct boot_row *row, struct hd_tlb_table *out);
/** Translations of all sizes that cover a table. */
uint64_t plan_translations(const struct boot_row *row);

#endif

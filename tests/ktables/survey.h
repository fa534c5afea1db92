/* SPDX-License-Identifier: MIT */
/*
 * survey.h - a survey of a log and a machine by hand, for tests that look at its rows
 */
#ifndef HASHDIST_TESTS_KTABLES_SURVEY_H
#define HASHDIST_TESTS_KTABLES_SURVEY_H

#include "help.h"

static struct klog_boot boot;
static struct desk desk;
static struct ktables_survey survey;

static inline void look(void)
{
	assert_int_equal(ktables_survey(&survey, &boot, &desk.books, NULL), 0);
}

static inline void look_at_log(void)
{
	assert_int_equal(ktables_survey(&survey, &boot, NULL, NULL), 0);
}

static inline void look_at_books(void)
{
	assert_int_equal(ktables_survey(&survey, NULL, &desk.books, NULL), 0);
}

static inline const struct ktables_row *row(const char *name)
{
	for (uint32_t r = 0; r < survey.rows; r++)
		if (!strcmp(survey.row[r].name, name))
			return &survey.row[r];
	return NULL;
}

static inline bool lies(const char *name, uint64_t bytes0, uint64_t bytes1)
{
	const struct ktables_row *got = row(name);

	return got && got->node_bytes && got->node_bytes[0] == bytes0 &&
	       got->node_bytes[1] == bytes1;
}

static inline enum hd_verdict_code verdict(const char *name)
{
	const struct ktables_row *got = row(name);

	assert_non_null(got);
	return got->judgement.count ? got->judgement.verdict[0].code : HD_OK;
}

static inline int fini(void **state)
{
	(void)state;
	ktables_survey_fini(&survey);
	return 0;
}

/*
 *   node 0  |################|  2 GiB
 *   node 1  |################|  2 GiB      6.1: distributed, huge by a node's share
 */
static inline void two_nodes(void)
{
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 2, 1015000);
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk_node(&desk, 0, true);
	desk_node(&desk, 1, true);
}

#endif

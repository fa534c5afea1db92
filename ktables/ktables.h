/* SPDX-License-Identifier: MIT */
/*
 * ktables.h - the kernel's own tables on one machine, from all its books together
 *
 * The log says how large each table became and how it was mapped, vmallocinfo
 * on which nodes it lies, the counters how full it is; core/ says what it should
 * have been. This room lays them side by side and has core/ judge. It knows
 * nothing of how the result is shown.
 */
#ifndef HASHDIST_KTABLES_H
#define HASHDIST_KTABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "hashdist/core.h"
#include "klog/klog.h"
#include "machine/machine.h"

/* ---- facts -------------------------------------------------------------------------- */

/** Rules that the user gives, "name=value" each. */
struct ktables_given {
	const char *const *rule;
	uint32_t rules;
};

struct ktables_facts {
	struct hd_machine machine;
	enum hd_hashdist_reason reason;
	/* Which of the inputs are known. */
	bool has_version, has_arch, has_pages, has_nodes, has_cmdline;
	bool has_sizes;          /* of a page and a pointer: by architecture, or seen in the log */
	uint32_t emulated_nodes; /* memory nodes made by numa=fake; 0 none */
	bool pages_from_log;     /* else from zoneinfo */
};

/** How far the log's own table lines may teach us the rules of its kernel. */
enum ktables_detect {
	KTABLES_DETECT_NOTHING, /* page size and pointer size only, for honest predictions */
	KTABLES_DETECT_RULES,   /* backports too: kinds printed, lock sizes, rounding */
};

/**
 * ktables_infer() - a machine as core/ wants it, from a log and this machine's books
 * @boot: NULL when there is no log
 * @books: NULL when there is only a log
 *
 * Where both tell, the log wins for what was decided at boot.
 */
void ktables_infer(const struct klog_boot *boot, const struct machine *books,
		   const struct ktables_given *given, enum ktables_detect detect,
		   struct ktables_facts *out);

/** Both ends of a prediction whose page count is uncertain. */
struct ktables_range {
	struct hd_table low, high;
	bool exact;         /* as many entries at both */
	bool mapping_known; /* the facts suffice for how it is mapped, too */
};

/**
 * ktables_predict() - what this kernel should have made of one table
 * Return: 0; HD_ENOENT when the facts do not suffice or this kernel has no such table.
 */
int ktables_predict(const struct ktables_facts *facts, enum hd_table_id id, uint64_t established,
		    struct ktables_range *out);

/* ---- the survey ----------------------------------------------------------------------- */

enum ktables_source {
	KTABLES_FROM_LOG,
	KTABLES_PREDICTED, /* the log has lost it: computed, and checked where books allow */
};

enum { KTABLES_ROWS_MAX = KLOG_TABLES_MAX + HD_TABLE_COUNT };

struct ktables_row {
	enum hd_table_id id; /* HD_TABLE_COUNT: not in the catalogue */
	char name[KLOG_NAME_MAX];
	enum ktables_source source;
	uint64_t entries, bytes; /* of one table; 0 unknown */
	uint32_t copies;         /* futex from 6.16: one table per node; else 1 */
	enum hd_mapping mapping;
	bool mapping_computed; /* the log does not tell it */
	bool early;            /* linear, and taken from the boot allocator */
	unsigned shift;        /* log2 bytes of its translations; 0 unknown */
	uint64_t *node_bytes;  /* by position in books->node; NULL unknown */
	bool spread_assumed;   /* several areas of this size: told apart by their order */
	bool used_known;
	uint64_t used;
	bool want_known;
	struct ktables_range want;
	struct hd_judgement judgement;
};

struct ktables_survey {
	struct ktables_facts facts;
	struct hd_judge_env env;
	struct ktables_row row[KTABLES_ROWS_MAX];
	uint32_t rows;
	bool log_seen, log_complete; /* complete: from its first line on */
	uint32_t worst;              /* enum hd_verdict_code, HD_OK when nothing is wrong */
	uint64_t *node_store;        /* all rows' node_bytes, and room for one more */
};

/**
 * ktables_survey() - all tables of one boot
 * Return: 0 or -ENOMEM. Release with ktables_survey_fini(); the struct may be used again.
 */
int ktables_survey(struct ktables_survey *survey, const struct klog_boot *boot,
		   const struct machine *books, const struct ktables_given *given);
void ktables_survey_fini(struct ktables_survey *survey);

/* ---- advice --------------------------------------------------------------------------- */

enum ktables_advice_kind {
	KTABLES_ADVICE_TABLE,    /* a verdict of one or several tables, in @verdict */
	KTABLES_ADVICE_IGNORED,  /* @verdict.param was given, the kernel does not take it */
	KTABLES_ADVICE_MISSPELT, /* a word that is nearly @verdict.param */
	KTABLES_ADVICE_LOG_LOST, /* the log does not reach back to the boot */
};

/** One thing worth saying; figures in @verdict are of @row, the table that gains most. */
struct ktables_advice {
	enum ktables_advice_kind kind;
	struct hd_verdict verdict;
	uint32_t row;     /* index into survey->row */
	uint32_t tables;  /* how many tables share it */
	uint32_t at, len; /* the word in the command line */
};

enum { KTABLES_ADVICE_MAX = 32 };

/** Is anything not as it should be: a verdict, or a parameter that the kernel did not take? */
bool ktables_wants_attention(const struct ktables_survey *survey);

/** Return: how many were written to @out. */
uint32_t ktables_advise(const struct ktables_survey *survey, struct ktables_advice *out,
			uint32_t max);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * place.h - between the files of place.c
 */
#ifndef HASHDIST_TESTS_KERNELS_PLACE_H
#define HASHDIST_TESTS_KERNELS_PLACE_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "hashdist/hashdist.h"

enum { PAGE = 4096, NODES = 64, BLOCK_PAGES = 512 };

/** All that words change. */
extern struct place_now {
	struct hd_want want;
	unsigned long set;
	char name[80];
	char *start;
	uint64_t bytes;   /* that may be used, as the library said */
	uint64_t written; /* from the start on, our pattern; behind it zeroes */
	pid_t child;
} now;

/* ---- place.c ------------------------------------------------------------------------- */

struct place_word {
	const char *word;
	void (*call)(const char *text); /* behind its "=" */
};

/* Each ends with a word NULL. */
extern const struct place_word place_circumstances[], place_wanted[], place_done[];

/* ---- text.c -------------------------------------------------------------------------- */

/** Says it, with errno, and ends the program. */
__attribute__((noreturn)) void die(const char *what, const char *which);
/** "64M" */
uint64_t size_of(const char *text);
/** "0,2-3" to bits. */
unsigned long nodes_of(const char *text);
/** The number behind @key in a file; 0: there is none. */
uint64_t file_number(const char *path, const char *key);
/** Address space of this process, KiB. */
uint64_t vm_kib(void);
/** Free bytes of a node. */
uint64_t node_free(int node);

/* ---- books.c ------------------------------------------------------------------------- */

struct books {
	uint64_t rss, huge, hugetlb; /* smaps */
	uint64_t maps, outside;      /* mappings; bytes of them beyond the table */
	char flags[256];             /* VmFlags of the first */
	uint64_t numa[NODES];        /* numa_maps */
	uint64_t present, frame_huge, frame_node[NODES], frame_lost; /* pagemap */
	uint64_t asked[NODES], unanswered;                           /* move_pages */
	int answer;                                                  /* the first odd one */
};

/** Opens what only root may open. */
void books_open(void);
/** Of the table that there is. */
void books_read(struct books *books);

/* ---- event.c ------------------------------------------------------------------------- */

void begin_event(const char *word, int rc);
void end_event(void);
/** What the library said, and if there is a table, all that can be seen of it. */
void event(const char *word, int rc, const struct hd_got *got, uint64_t asked);

/** The contents that a table is given. */
uint64_t pattern(uint64_t word);
/** Offset of the first byte that is not what it should be, or -1. */
int64_t wrong_at(const char *start, uint64_t bytes, uint64_t written);

/** Page faults so far. */
uint64_t faults(void);

/* ---- filler.c ------------------------------------------------------------------------ */

/** "NODE:LEAVE": another process takes all but so much; @fragment: and gives most back. */
void filler_start(const char *text, bool fragment);
/** They must still be there: what the library did may not have had them killed. */
void filler_end(void);

/* ---- done.c -------------------------------------------------------------------------- */

/** Frees what there still is. */
void done_end(void);

#endif

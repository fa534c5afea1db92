/* SPDX-License-Identifier: MIT */
/*
 * memory.h - what a test holds against the library's word
 *
 * Read by plain system calls of the test's own: the contents of a table, and
 * what /proc/self/smaps says of its range.
 */
#ifndef TESTS_LIB_MEMORY_H
#define TESTS_LIB_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "hashdist/hashdist.h"

struct truth {
	uint64_t populated, huge; /* bytes; huge: transparent ones and those of a pool */
	uint64_t mappings;
	bool dump_off, no_fork, wipe; /* VmFlags dd, dc, wf of all of them */
	bool locked;                  /* lo */
	char name[96];                /* [anon:...] */
};

/** Of the mappings that begin in [@start, @start + @bytes). Return: false: not readable. */
bool memory_truth(const void *start, uint64_t bytes, struct truth *out);
bool memory_is_zero(const void *start, uint64_t bytes);
/** Every byte, other for every @seed. */
void memory_fill(void *start, uint64_t bytes, uint32_t seed);
bool memory_is_filled(const void *start, uint64_t bytes, uint32_t seed);
/** Lines of /proc/self/maps that are neither heap nor stack; 0 unreadable. */
unsigned memory_mappings(void);
unsigned memory_descriptors(void);
/** Bytes the process may still be said to hold that lie at @at. */
bool memory_is_mapped(const void *at);

/** A number in a file; UINT64_MAX unreadable. */
uint64_t memory_read_number(const char *path);
bool memory_write_text(const char *path, const char *text);

/**
 * lacks() - skip a test that cannot run here, saying why
 * @must: every machine for tests has it: a failure when HASHDIST_REQUIRE_ALL=1
 */
void lacks(const char *what, bool must);

/* ---- in a child, so that limits do not spread -------------------------------------- */

/** Run @body in a child; its failed CHECK() is the test's, and so is its CHILD_LACKS(). */
void in_child(void (*body)(void));
void child_failed(const char *file, int line, const char *what) __attribute__((noreturn));
void child_lacks(const char *what, bool must) __attribute__((noreturn));

#define CHECK(claim)                                                                               \
	do {                                                                                       \
		if (!(claim))                                                                      \
			child_failed(__FILE__, __LINE__, #claim);                                  \
	} while (0)

/** In a child: whole, zero, writable, and @got says what smaps says. */
void memory_check_table(char *start, const struct hd_got *got);

/** In a build with a sanitizer, which has mappings and allocations of its own. */
bool memory_sanitized(void);

#endif

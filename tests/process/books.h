/* SPDX-License-Identifier: MIT */
/* books.h - what the tests of this room share: a process whose books are files of ours */
#ifndef HASHDIST_TESTS_PROCESS_BOOKS_H
#define HASHDIST_TESTS_PROCESS_BOOKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "process/internal.h"

#define MIB UINT64_C(1048576)

/** Of a machine with two nodes and huge pages of 2 MiB where advised; books in @directory. */
void books_open(struct process *process, const char *directory);
/** An empty directory of our own in process->books. */
void books_make(struct process *process);
void books_write(const struct process *process, const char *name, const char *text);
void books_remove(struct process *process);

/** maps, with rows ready for the other books. */
void books_read_maps(struct process *process, uint64_t min_bytes);
/** The row that begins at or around @at, or NULL. */
struct process_mapping *books_row(const struct process *process, uint64_t at);

#endif

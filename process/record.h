/* SPDX-License-Identifier: MIT */
/* record.h - where the blocks of a process were before they were placed */
#ifndef HASHDIST_PROCESS_RECORD_H
#define HASHDIST_PROCESS_RECORD_H

#include <stdio.h>

#include "process/process.h"

struct record_block {
	uint64_t address;
	int16_t node; /* -1 unknown */
	bool huge;
};

struct place_record {
	pid_t pid;
	uint64_t start_time;
	unsigned shift;
	struct record_block *block; /* by address, each once */
	uint64_t count, room;
	struct record_stretch {
		uint64_t start, end; /* was given a policy */
	} * stretch;
	uint32_t stretches;
};

void record_init(struct place_record *record, const struct process *process);
void record_free(struct place_record *record);
/** The first word about a block stands. Return: 0 or -ENOMEM. */
int record_block(struct place_record *record, uint64_t address, int node, bool huge);
/** The node a block was on; -1: not recorded, or not known. */
int record_node(const struct place_record *record, uint64_t address);
int record_stretch(struct place_record *record, uint64_t start, uint64_t end);

/**
 * record_path() - where the record of a process is kept between two commands
 * /run/hashdist for root, $XDG_RUNTIME_DIR/hashdist for others.
 * Return: 0; -ENOENT: no such place; -ERANGE.
 */
int record_path(const struct process *process, char *path, size_t size);
/** Written to a neighbour and renamed. @path NULL: record_path(). Return: 0 or -errno. */
int record_save(const struct place_record *record, const struct process *process, const char *path);
/** Return: 0; -ENOENT: none; -EPROTO: damaged; -ESTALE: of another process; -errno. */
int record_load(struct place_record *record, const struct process *process, const char *path);
void record_remove(const struct process *process, const char *path);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * describe.h - a machine in one line of text
 *
 *   x86-64 node:0=8G node:1=8G cpus=16
 *
 *   DESCRIPTION  ARCH ITEM...
 *   ARCH         x86-64, arm64, ppc64, ...: any name that hd_arch_parse() takes
 *   ITEM         node:ID=SIZE        a node and its memory; 0: a memoryless node
 *                node:ID=SIZE/nocpu  a node without processors
 *                ram=SIZE            short for node:0=SIZE
 *                cpus=N              possible processors; 1 unless given
 *                possible-nodes=N    with nodes that are not there yet
 *                page=SIZE           page size, where the architecture has a choice
 *                highmem=SIZE        of the memory, what is not mapped directly (32-bit)
 *                reserved=SIZE       what crashkernel=, CMA and firmware keep at boot
 *                emulated            the nodes are made by numa=fake
 *   SIZE         digits, then K, M, G, T or P (1024-based) or nothing (bytes)
 *
 * Words are separated by blanks; items come in any order. machine_describe_print()
 * writes what machine_describe_parse() reads.
 */
#ifndef HASHDIST_DESCRIBE_H
#define HASHDIST_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hashdist/core.h"

struct describe_node {
	uint32_t id;
	uint64_t bytes; /* 0: memoryless */
	bool no_cpu;
};

struct description {
	enum hd_arch arch;
	uint64_t page_bytes;     /* 0: the architecture's usual */
	uint32_t cpus;           /* possible; at least 1 */
	uint32_t possible_nodes; /* at least the nodes that are there */
	uint64_t highmem_bytes;
	uint64_t reserved_bytes;
	bool emulated;
	struct describe_node *node; /* by id, ascending */
	uint32_t nodes;
};

/** What is wrong with a description, and where. */
struct describe_error {
	size_t column;      /* from 1 */
	const char *wanted; /* "expected ..." */
};

/**
 * machine_describe_parse() - read a description
 * @out: filled on success only; release with machine_describe_free()
 * Return: 0; -EINVAL with *@error set; -ENOMEM.
 */
int machine_describe_parse(const char *text, struct description *out, struct describe_error *error);
void machine_describe_free(struct description *description);

/** Return: length of the text, as snprintf() counts. */
size_t machine_describe_print(const struct description *description, char *out, size_t size);

struct machine;
/** A machine whose books were read, as a description. Return: 0, -ENODATA, -ENOMEM. */
int machine_describe_books(const struct machine *machine, struct description *out);

#endif

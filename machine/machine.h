/* SPDX-License-Identifier: MIT */
/*
 * machine.h - facts of this machine, or of one saved in a directory
 *
 * Reads /proc and /sys, below "/" or below a directory that holds a copy of
 * them. It knows files, not policy: what the figures mean is decided above.
 * A saved directory is hostile input: no link leads out of it, only regular
 * files are read, each up to a limit.
 */
#ifndef HASHDIST_MACHINE_H
#define HASHDIST_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hashdist/core.h"

/** A figure that may be unknown. */
struct machine_count {
	bool known;
	uint64_t value;
};

struct machine_node {
	uint32_t id;
	bool online, has_memory, has_cpu;
	struct machine_count total_kib, free_kib;
};

/** One zone of /proc/zoneinfo; pages. */
struct machine_zone {
	uint32_t node;
	char name[16];
	uint64_t spanned, present, managed;
};

/** One area of /proc/vmallocinfo that alloc_large_system_hash made. */
struct machine_area {
	uint64_t bytes;       /* without the guard page */
	uint64_t pages;       /* as printed; 0 not said */
	uint64_t *node_pages; /* by position in machine.node; NULL where the kernel does not tell */
};

/** How many objects the kernel says it has; each where the books tell. */
struct machine_usage {
	struct machine_count dentries, dentries_unused, dentries_negative;
	struct machine_count inodes, inodes_free;
	struct machine_count tcp_inuse, tcp_time_wait; /* of this network namespace */
	struct machine_count udp_inuse, udplite_inuse, mptcp_inuse;
	struct machine_count tcp_bind_buckets, posix_timers, mounts; /* slab books; mountinfo */
};

/** A book that could not be read, and why. */
struct machine_blind {
	char path[96];
	int error;          /* errno */
	const char *lost;   /* what is unknown because of it */
	const char *remedy; /* what would show it; NULL nothing would */
};

enum { MACHINE_BLIND_MAX = 16 };

/** The first processor, as it names itself; what does not apply is 0. */
struct machine_processor {
	char vendor[16]; /* x86: "GenuineIntel"; else empty */
	uint32_t family, model;
	uint32_t implementer, part; /* arm64 */
};

/** Did the books name it? */
bool machine_processor_known(const struct machine_processor *processor);

struct machine {
	bool live; /* this machine, not a saved one */
	enum hd_arch arch;
	uint32_t page_bytes;    /* 0 unknown */
	char release[128];      /* "6.1.0-44-amd64" */
	char banner[512];       /* /proc/version without builder's name and host */
	char distribution[128]; /* PRETTY_NAME */
	char cmdline[4096];     /* complete; may hold private words: never saved as it is */
	bool has_cmdline;
	bool container; /* we seem to run inside one */
	struct machine_processor processor;
	struct machine_count mem_total_kib, vmalloc_total_kib, uptime_seconds;
	struct machine_count direct_4k_kib, direct_2m_kib, direct_4m_kib, direct_1g_kib;
	struct machine_count possible_cpus, online_cpus;
	struct machine_count huge_page_kib; /* Hugepagesize */

	bool numa_books; /* /sys/devices/system/node exists; else there is no NUMA to see */
	struct machine_node *node; /* online or possible nodes, by id */
	uint32_t nodes;
	uint32_t possible_nodes, online_nodes, memory_nodes; /* 0 unknown */
	uint32_t memory_only_nodes;                          /* memory and no CPU */

	struct machine_zone *zone;
	uint32_t zones;
	bool has_areas;            /* vmallocinfo was readable */
	struct machine_area *area; /* in the order the file lists them */
	uint32_t areas;

	bool has_config;
	struct hd_config config; /* HD_UNKNOWN where not readable; page_shift is set when known */
	struct machine_usage usage;

	struct machine_blind blind[MACHINE_BLIND_MAX];
	uint32_t blinds;
};

/**
 * machine_read() - gather all of it
 * @sysroot: NULL for this machine, or a directory with proc/ and sys/ below it
 *
 * What cannot be read is left unknown and named in blind[].
 * Return: 0; -ENOENT or -ENOTDIR: no such directory; -ENODATA: it has neither proc/ nor
 * sys/; -ENOMEM; another -errno. *@out is set on success only; release with machine_free().
 */
int machine_read(const char *sysroot, struct machine **out);
void machine_free(struct machine *machine);

/** Bytes of a kernel log that is kept, or believed to be one. */
#define MACHINE_LOG_MAX (UINT64_C(1) << 30)

/**
 * machine_open_log() - the kernel log kept in a saved machine
 * Looks for proc/../var/log/dmesg, dmesg, sos_commands/kernel/dmesg below @sysroot.
 * Return: a file descriptor, -ENOENT when there is none, -EFBIG when it has more than
 * MACHINE_LOG_MAX bytes, another -errno.
 */
int machine_open_log(const char *sysroot);

/** Who is told, of each book that is there and could not be read. @error: an errno */
struct machine_left_out {
	void (*tell)(void *arg, const char *path, int error);
	void *arg;
};

/**
 * machine_save() - write a copy that machine_read() understands, without personal details
 * @dir: is made; must not exist, or be empty
 * @log_fd: kernel log to filter and store as var/log/dmesg; -1 none
 * @left_out: NULL nobody
 *
 * Keeps only figures and words about memory, nodes and hash tables: host and
 * user names, addresses, identifiers and other boot parameters stay out.
 * Written to a temporary neighbour and renamed, so that a failure leaves nothing half done.
 * Return: 0; -EEXIST: @dir exists and is not empty; another -errno.
 */
int machine_save(const char *dir, int log_fd, const struct machine_left_out *left_out);

#endif

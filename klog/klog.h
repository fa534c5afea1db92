/* SPDX-License-Identifier: MIT */
/*
 * klog.h - what a kernel log says about large hash tables and the machine
 *
 * A streaming reader: bytes go in, boots come out. It knows how logs look, not
 * what their figures mean. Fixed memory, no allocation while it reads.
 */
#ifndef HASHDIST_KLOG_H
#define HASHDIST_KLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hashdist/core.h"

enum {
	KLOG_TABLES_MAX = 48, /* tables kept of one boot; more are counted, not kept */
	KLOG_NODES_MAX = 256, /* nodes with an id below this are kept one by one */
	KLOG_NAME_MAX = 48,
	KLOG_TEXT_MAX = 512,
	KLOG_CMDLINE_MAX = 4096,
	KLOG_LINE_MAX = 8192, /* longer lines are cut here and counted */
};

/** One "hash table entries" line. A line without a readable count is damaged, not a table. */
struct klog_table {
	char name[KLOG_NAME_MAX]; /* without "VFS: " and " hash table entries" */
	uint64_t entries;         /* as printed, 1 or more */
	uint64_t bytes;
	int order;
	uint32_t nodes;  /* "on N NUMA nodes": that many tables of @bytes; 0 not said */
	uint8_t mapping; /* enum hd_mapping; HD_MAP_UNKNOWN where the line does not say */
	uint8_t id;      /* enum hd_table_id; HD_TABLE_COUNT when the catalogue lacks the name */
	bool has_bytes, has_order;
	bool mended; /* joined from several lines, or a cut word was completed */
};

/** Bits of klog_boot.has: which figures the log gave. */
enum {
	KLOG_HAS_ZONELISTS = 1u << 0, /* zonelists (and zonelist_pages if bit 1) */
	KLOG_HAS_ZONELIST_PAGES = 1u << 1,
	KLOG_HAS_MEMORY = 1u << 2, /* available_kib, total_kib */
	KLOG_HAS_RESERVED = 1u << 3,
	KLOG_HAS_CMA = 1u << 4,
	KLOG_HAS_HIGHMEM = 1u << 5, /* highmem_kib of the Memory: line */
	KLOG_HAS_PERCPU = 1u << 6,
	KLOG_HAS_POSSIBLE_CPUS = 1u << 7, /* "Allowing ..." */
	KLOG_HAS_CPU_IDS = 1u << 8,       /* nr_cpu_ids */
	KLOG_HAS_ONLINE_CPUS = 1u << 9,   /* "Brought up ..." */
	KLOG_HAS_NODE_IDS = 1u << 10,     /* nr_node_ids */
	KLOG_HAS_BROUGHT_UP_NODES = 1u << 11,
	KLOG_HAS_CMDLINE = 1u << 12,
	KLOG_HAS_HIGHMEM_RANGE = 1u << 13, /* a HighMem zone range was printed, may be empty */
	KLOG_HAS_NODE_RANGES = 1u << 14,   /* node_bytes come from memory ranges */
	KLOG_HAS_NODE_TOTALS = 1u << 15,   /* node_pages come from "On node N totalpages" */
	KLOG_HAS_INITMEM = 1u << 16,       /* "Initmem setup node N": initmem_* */
	KLOG_HAS_MEMMAP = 1u << 17,        /* memmap_pages: sum of "N pages used for memmap" */
};

/** Bits of klog_boot.hints: lines only some architectures print. */
enum {
	KLOG_HINT_E820 = 1u << 0,
	KLOG_HINT_ARM_CPU = 1u << 1,    /* "CPU: ARMv7 Processor" and older */
	KLOG_HINT_ARM64_CPU = 1u << 2,  /* "Booting Linux on physical CPU 0x0000000000 [0x" */
	KLOG_HINT_TOP_OF_RAM = 1u << 3, /* powerpc: "Top of RAM:", "radix-mmu:", ... */
	KLOG_HINT_LOWMEM = 1u << 4,     /* 32-bit: "LOWMEM available", "lowmem  :" */
	KLOG_HINT_DMA32 = 1u << 5,      /* a DMA32 zone */
	KLOG_HINT_X86 = 1u << 6,        /* "smpboot:", "setup_percpu:", "LOWMEM available" */
	KLOG_HINT_RISCV = 1u << 7,      /* "lowmem :" at a 64-bit address */
	KLOG_HINT_MIPS = 1u << 8,       /* "CPU0 revision is:" */
	KLOG_HINT_SPARC = 1u << 9,      /* "PROMLIB:" */
	KLOG_HINT_PARISC = 1u << 10,    /* "Kernel default page size is" */
	KLOG_HINT_S390 = 1u << 11,      /* "setup: Reserving" */
	KLOG_HINT_HASH_MMU = 1u << 12,  /* powerpc: "HugeTLB registered 16.0 MiB", "hash-mmu:" */
};

/**
 * One boot. Figures are as printed; valid only where the bit in @has is set.
 *
 * Texts are terminated; look no further than that, nor beyond @node_max entries of the
 * arrays by node and @tables of the tables: klog_boot_copy() copies no more.
 */
struct klog_boot {
	uint64_t first_line; /* line number in the stream where it starts, from 1 */
	enum hd_arch arch;   /* told by banner and hints; HD_ARCH_UNKNOWN */
	uint32_t has, hints;
	bool head_seen; /* the "Linux version" line is there */
	bool cmdline_cut;
	bool ring_wrapped;        /* read from the ring buffer, and its start is gone */
	bool numa_not_found;      /* "No NUMA configuration found" or "NUMA turned off" */
	bool kvm_guest, pv_guest; /* paravirtual: "Hypervisor detected: KVM"; any hypervisor */
	uint32_t emulated_nodes;  /* "Faking node N" */
	uint32_t damaged;         /* lines that look like a table's and could not be understood */
	uint32_t tables;          /* kept in @table */
	uint32_t tables_dropped;  /* beyond KLOG_TABLES_MAX */
	uint32_t node_max;     /* leading entries of node_*[], initmem_node[] that may not be 0 */
	uint32_t nodes_beyond; /* nodes with an id of KLOG_NODES_MAX or more: only counted */
	uint32_t nodes_with_memory, memoryless_nodes;

	uint32_t zonelists;
	uint32_t possible_cpus, cpu_ids, online_cpus, node_ids, brought_up_nodes;
	uint64_t zonelist_pages;
	uint64_t available_kib, total_kib, reserved_kib, cma_kib, highmem_kib;
	uint64_t absent_kib, kernel_code_kib, rwdata_kib, rodata_kib, init_kib, bss_kib;
	uint64_t percpu_pages; /* pages per CPU of "percpu: Embedded" */
	uint64_t swiotlb_bytes, kfence_bytes, crashkernel_bytes, cma_default_bytes;
	uint64_t highmem_start, highmem_end; /* bytes, end exclusive; both 0: empty */
	uint64_t highmem_range_bytes;        /* node memory inside it */
	uint64_t memmap_pages;

	char version[64];            /* "6.1.0-44-amd64"; empty: unknown */
	char banner[KLOG_TEXT_MAX];  /* the whole "Linux version" message, cut to fit */
	char refused[KLOG_TEXT_MAX]; /* "Unknown kernel command line parameters": the words */
	char cmdline[KLOG_CMDLINE_MAX];

	uint64_t node_bytes[KLOG_NODES_MAX];
	uint64_t node_pages[KLOG_NODES_MAX];
	uint8_t initmem_node[KLOG_NODES_MAX]; /* 1 has a range, 2 memoryless, 0 not printed */
	struct klog_table table[KLOG_TABLES_MAX];
};

/**
 * klog_boot_copy() - copy all of a boot that may be looked at, and no more
 *
 * A boot has room for the longest texts and the most tables; most use a tenth of it. What
 * lies behind the used part in @to stays as it is, and so is undefined in a new object.
 */
void klog_boot_copy(struct klog_boot *to, const struct klog_boot *from);

/** Called while reading. Pointers are valid during the call only. */
struct klog_sink {
	void *ctx;
	/** A boot is complete. Only boots that have a table line or a "Linux version" line. */
	void (*boot)(void *ctx, const struct klog_boot *boot);
	/** A line that looks like a table's and could not be understood; may be NULL. */
	void (*damaged)(void *ctx, const char *line, size_t len, uint64_t number);
};

struct klog_stats {
	uint64_t bytes, lines, boots;
	uint64_t table_lines; /* understood */
	uint64_t damaged;     /* looked like one, not understood */
	uint64_t long_lines;  /* cut at KLOG_LINE_MAX */
	bool binary;          /* NUL bytes in the first 4 KiB: no text, most likely */
};

struct klog; /* one reader */

/** Return: a reader, NULL when out of memory. Release with klog_free(). */
struct klog *klog_new(const struct klog_sink *sink);
void klog_free(struct klog *log);

/** Feed any piece of the stream; lines may straddle pieces. */
void klog_feed(struct klog *log, const char *data, size_t len);
/** End of stream: the last boot is handed out. The reader is then ready for another stream. */
void klog_finish(struct klog *log);
/** Since klog_new() or the last klog_finish() but one, whichever is later. */
const struct klog_stats *klog_stats(const struct klog *log);

/* ---- cutting a file of many boots ---- */

enum { KLOG_EDGE_BEHIND = 16 << 10, KLOG_EDGE_AHEAD = 16 << 10 };
#define KLOG_NO_EDGE ((size_t)-1)

/**
 * klog_edge() - the first line start in [@from, @to) of @data that begins another boot
 *
 * KLOG_EDGE_BEHIND bytes before @from and KLOG_EDGE_AHEAD behind @to must be in @data,
 * unless the file does not have them. A guess, but always the same; see klog_at_edge().
 * Return: its offset; KLOG_NO_EDGE when there is none.
 */
size_t klog_edge(const char *data, size_t len, size_t from, size_t to);
/**
 * klog_at_edge() - all up to an edge was fed: does a new boot begin there, for sure?
 * Then klog_finish() and a new reader give what this reader would have given.
 */
bool klog_at_edge(struct klog *log);

/**
 * klog_read_fd() - feed a file or pipe to its end, then klog_finish()
 * gzip is unpacked. Return: 0 or -errno of read(); -EISDIR for a directory; -EBADMSG for
 * damaged gzip, of which all that could be unpacked was fed.
 */
int klog_read_fd(struct klog *log, int fd);

/**
 * klog_read_ring() - feed this machine's kernel ring buffer, then klog_finish()
 *
 * /dev/kmsg first, then syslog(2). Sets ring_wrapped when the first records are gone.
 * Return: 0 or -errno; -EPERM or -EACCES: dmesg_restrict, CAP_SYSLOG would show it;
 * -ENOENT, -ENOSYS: there is none here (a container).
 */
int klog_read_ring(struct klog *log);

/**
 * klog_read_journal() - feed what the journal kept of this boot, then klog_finish()
 * Runs journalctl. Return: 0; -ENOENT when it is not installed or has nothing; -errno.
 */
int klog_read_journal(struct klog *log);

#endif

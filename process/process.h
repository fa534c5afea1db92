/* SPDX-License-Identifier: MIT */
/*
 * process.h - another process: where its large mappings are
 *
 * All from the kernel's books, none of it asked of the process. Reading needs
 * the right to trace it (same user, or CAP_SYS_PTRACE); what a missing right or
 * an old kernel hides is unknown, and said.
 *
 * A row here is one or more mappings of the kernel: neighbours that touch and
 * differ in nothing that /proc/PID/maps shows are one. A table placed by
 * policies for each of its 2 MiB has a mapping for each, and is one table.
 */
#ifndef HASHDIST_PROCESS_PROCESS_H
#define HASHDIST_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend/linux/facts.h"

enum process_kind {
	PROCESS_HEAP, /* brk */
	PROCESS_ANON, /* private anonymous */
	PROCESS_SHMEM,
	PROCESS_HUGETLB,
	PROCESS_FILE,
	PROCESS_STACK, /* of a thread or the process */
	PROCESS_OTHER, /* devices, the kernel's own: vdso, vvar */
	PROCESS_KINDS,
};

/** What stands in the way of large pages or of a spread; one bit each. */
enum process_hinder {
	HINDER_THP_NEVER = 1 << 0,   /* the administrator's setting, or a kernel without */
	HINDER_THP_OFF = 1 << 1,     /* off for this process (PR_SET_THP_DISABLE) */
	HINDER_NOT_ADVISED = 1 << 2, /* the setting is "madvise" and nobody advised */
	HINDER_REFUSED = 1 << 3,     /* advised against (MADV_NOHUGEPAGE) */
	HINDER_TOO_SMALL = 1 << 4,   /* holds no whole aligned huge page */
	HINDER_PINNED = 1 << 5,      /* the process has pinned pages (VmPin) */
	HINDER_SHARED = 1 << 6,      /* pages shared with another process since a fork */
	HINDER_POLICY = 1 << 7,      /* its memory policy keeps it on one node */
	HINDER_CPUSET = 1 << 8,      /* its cpuset leaves one node */
	HINDER_NODE_FULL = 1 << 9,   /* a node has no room for its share */
	HINDER_KIND = 1 << 10,       /* no memory of a kind that can be placed */
	HINDER_SPARSE = 1 << 11,     /* less than half of it has memory yet */
	HINDER_ALL = (1 << 12) - 1,
};

struct process_mapping {
	uint64_t start, end;
	uint32_t parts; /* mappings of the kernel that it consists of */
	enum process_kind kind;
	bool kind_guessed; /* a thread's stack has no mark of its own */
	bool readable, writable, executable, shared;
	char name[96]; /* path, or the name it was given; "" none. A long one has lost its head */
	uint8_t thp;   /* enum hdl_thp: the administrator's setting for its kind */

	bool pages_known;  /* these two; bytes */
	uint64_t resident; /* hugetlb pages too */
	uint64_t huge;     /* of these on huge pages */

	bool details_known; /* these four, from smaps; bytes */
	uint64_t advised;   /* huge pages were advised for */
	uint64_t refused;   /* and against */
	uint64_t twice;     /* of the resident ones mapped by another process too */
	uint64_t swapped;

	unsigned huge_shift;       /* log2 bytes of its huge pages; 0: this kernel has none */
	uint64_t page_table_bytes; /* last level, computed: the books have no figure */
	bool page_tables_least;    /* at least so many: what is touched is not known page by page */
	uint64_t spans;            /* huge pages' worth of addresses that need a page table */
	bool spans_known;

	bool nodes_known;
	bool sampled;         /* the shares come from some of its pages */
	uint64_t *node_bytes; /* by position in process.node */
	char policy[48];      /* as numa_maps prints it; "" unknown; "several": its parts differ */

	uint32_t hinders;  /* enum process_hinder, or-ed */
	uint32_t verdicts; /* 1 << enum hd_verdict_code, or-ed; 0 ok, or not judged (HINDER_KIND) */
	uint8_t verdict;   /* the worst of them; HD_OK */
};

struct process {
	pid_t pid;
	pid_t tgid;          /* not pid: the number is a thread's */
	int pidfd;           /* -1: this kernel has none, or does not let us */
	uint64_t start_time; /* as /proc/PID/stat: tells a reused pid */
	char comm[64];
	uid_t uid;
	bool ours; /* same user as we are */
	bool kernel_thread, zombie;

	bool thp_off_known, thp_off;
	uint64_t page_tables;    /* bytes: VmPTE */
	uint64_t resident;       /* VmRSS and HugetlbPages */
	uint64_t pinned;         /* VmPin */
	struct hdl_mask allowed; /* its cpuset */
	bool allowed_known;

	struct hdl_pages pages;       /* of this machine */
	uint8_t thp_shmem;            /* enum hdl_thp, for shared memory without a mount */
	struct hdl_mask memory;       /* memory nodes of this machine */
	uint32_t node[HDL_NODES_MAX]; /* the same, by number */
	uint32_t nodes;
	uint64_t *node_room; /* bytes each could still give; NULL with one node */

	struct process_mapping *mapping; /* the large ones, by address */
	uint32_t mappings;
	uint64_t seen;               /* the kernel's mappings of any size */
	uint64_t *node_bytes;        /* of all rows, one behind another */
	bool cut;                    /* the time limit ended the reading of details */
	int smaps_error, numa_error; /* -errno of a book that could not be read; 0 */

	char books[256]; /* "/proc/PID" */
};

/**
 * process_open() - find a process and hold on to it
 * Close it after success only.
 * Return: 0; -ESRCH: there is none; -EINVAL: the number of a thread, out->tgid is its process;
 * -EACCES: it exists, but /proc hides it; another -errno.
 */
int process_open(pid_t pid, struct process *out);
void process_close(struct process *process);
/** Keep the reading, but hold on to the process no longer: many may be kept. */
void process_let_go(struct process *process);
/** Is it still the same process, and alive? */
bool process_alive(const struct process *process);

/**
 * process_list() - all there are, by number
 * @pids: free() it. Return: 0 or -errno.
 */
int process_list(pid_t **pids, uint32_t *count);

struct process_limits {
	uint64_t min_bytes; /* smaller mappings are only counted */
	uint32_t budget_ms; /* for details; 0 none: only addresses and names */
};

/**
 * process_read() - its large mappings; may be called again for a fresh reading
 * Memory without access (PROT_NONE) is counted, but makes no row.
 * Return: 0; -ESRCH: it is gone; -EACCES or -EPERM: no right to look; -ENOMEM; another -errno.
 */
int process_read(struct process *process, const struct process_limits *limits);

/** Of a kind that can be placed, and is judged? */
bool process_placeable(const struct process_mapping *mapping);
/**
 * process_mapping_gain() - bytes on base pages where huge ones would fit
 * Resident ones within whole, aligned huge pages; 0 where pages are unknown or nothing can be placed.
 */
uint64_t process_mapping_gain(const struct process_mapping *mapping);
/** The same of all rows. */
uint64_t process_gain(const struct process *process);
/** Are the pages of all placeable rows known? Else process_gain() is at least so much. */
bool process_gain_known(const struct process *process);

/** "heap", "anonymous", ... */
const char *process_kind_name(enum process_kind kind);
/** "thp-never", ... for one bit. */
const char *process_hinder_name(enum process_hinder hinder);

#endif

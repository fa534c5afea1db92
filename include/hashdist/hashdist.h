/* SPDX-License-Identifier: MIT */
/*
 * hashdist.h - memory for one large table, placed right, for programs on Linux
 *
 *	void *table;
 *	struct hd_got got;
 *	int error = hd_alloc(bytes, NULL, &table, &got);
 *
 * One memory node: few large translations. Several: spread over them, on large
 * translations too. What could not be had is made up for by the next best, and
 * @got tells what the kernel's own books say came of it.
 *
 * Every function returns 0 or a negative errno. Nothing is printed, nothing
 * exits, and nothing runs before the first call. All functions may be called
 * from any thread at any time; but one table is resized or freed by one thread
 * while no other uses it. None may be called from a signal handler.
 *
 * The environment (ignored in set-user-ID programs):
 *   HASHDIST=0|1        never or always spread tables that leave it to the
 *                       library; the words are those of the kernel's hashdist=
 *   HASHDIST_PAGES=base|large|hugetlb|1g
 *                       pages of tables that leave them to the library
 */
#ifndef HASHDIST_HASHDIST_H
#define HASHDIST_HASHDIST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HASHDIST_VERSION_MAJOR 0
#define HASHDIST_VERSION_MINOR 1
#define HASHDIST_VERSION_PATCH 0

/* ---- what is wanted ------------------------------------------------------------- */

/** Where the ladder of translations begins; what fails goes to the next below it. */
enum hd_want_pages {
	HD_PAGES_AUTO,    /* as HASHDIST_PAGES says, else HD_PAGES_LARGE */
	HD_PAGES_BASE,    /* base pages only, huge ones refused */
	HD_PAGES_LARGE,   /* transparent huge pages, then base pages */
	HD_PAGES_HUGETLB, /* the pool of the default huge page size, then as HD_PAGES_LARGE */
	HD_PAGES_1G,      /* the pool of 1 GiB pages, then as HD_PAGES_HUGETLB */
};

enum hd_want_nodes {
	HD_NODES_AUTO,   /* as HASHDIST says, else spread when several nodes may be used */
	HD_NODES_ONE,    /* on one: the calling thread's if it has room */
	HD_NODES_SPREAD, /* evenly, or by the weights the administrator has set */
};

/** When both cannot be had. */
enum hd_want_prefer {
	HD_PREFER_LARGE,  /* large translations, be the shares uneven */
	HD_PREFER_SPREAD, /* even shares, be some of it on base pages */
};

/** What a child of fork() finds there. */
enum hd_want_fork {
	HD_FORK_COPY, /* its own copy, as usual: writes after fork() split large pages */
	HD_FORK_DROP, /* nothing: an access is a fault, hd_free() of it -EINVAL */
	HD_FORK_WIPE, /* zeroes */
};

enum hd_want_flags {
	HD_MEMORY_ONLY_NODES = 1 << 0, /* nodes without CPUs take part too */
	HD_IGNORE_POLICY = 1 << 1,     /* the task's memory policy (numactl) does not bind us */
	HD_NO_DUMP = 1 << 2,           /* leave the whole of it out of core dumps */
	HD_LOCK = 1 << 3,  /* mlock(2); where the limit forbids it: unlocked, and said */
	HD_EXACT = 1 << 4, /* hd_alloc_table(): fail rather than halve */
};

/** What is asked. All zero, or NULL in its place, is a good choice. */
struct hd_want {
	uint8_t pages;          /* enum hd_want_pages */
	uint8_t nodes;          /* enum hd_want_nodes */
	uint8_t prefer;         /* enum hd_want_prefer */
	uint8_t fork;           /* enum hd_want_fork */
	uint32_t flags;         /* enum hd_want_flags */
	uint32_t threads;       /* that populate, up to 256; 0 and 1: the calling one */
	uint32_t node_set_bits; /* length of node_set, bits, up to 1024 */
	const unsigned long
	    *node_set;        /* only these nodes; NULL all. A bit per node, as libnuma's */
	const char *name;     /* shown in /proc/PID/maps; NULL none. Printable, below 80 bytes, no
			     one of [ ] \ $ ` */
	uint64_t reserved[4]; /* 0 */
};

/** One hash table, as the kernel's own are asked for. */
struct hd_table_want {
	uint64_t bucket_bytes; /* not 0 */
	uint64_t entries;      /* rounded up to a power of two; 0: from memory */
	uint64_t low, high;    /* limits, entries; high 0: a sixteenth of memory */
	uint32_t scale;        /* from memory: one entry for every 2^scale bytes of it */
	uint32_t reserved32;   /* 0 */
	uint64_t reserved[4];  /* 0 */
};

/* ---- what came of it ------------------------------------------------------------ */

/** Steps of placing, in their order. */
enum hd_step {
	HD_STEP_NONE,
	HD_STEP_LIMITS,   /* is there room: nodes, control groups, hugetlb pools */
	HD_STEP_RESERVE,  /* mmap(2) */
	HD_STEP_POLICY,   /* mbind(2) */
	HD_STEP_OPTIONS,  /* fork and dump advice */
	HD_STEP_ADVICE,   /* huge page advice */
	HD_STEP_POPULATE, /* its pages */
	HD_STEP_COLLAPSE, /* blocks onto huge pages */
	HD_STEP_MOVE,     /* pages to other nodes */
	HD_STEP_LOCK,     /* mlock(2) */
	HD_STEP_VERIFY,   /* the kernel's books could not be read */
};

/** Why a want was not met, or met only in part. */
enum hd_why {
	HD_WHY_MET,            /* it was */
	HD_WHY_UNKNOWN,        /* it was not, or the books do not tell, and we know no more */
	HD_WHY_TOO_SMALL,      /* smaller than a page of the size that was wanted */
	HD_WHY_NO_SUPPORT,     /* this kernel has no such pages, or no such call */
	HD_WHY_THP_NEVER,      /* the administrator set transparent huge pages to "never" */
	HD_WHY_THP_OFF,        /* transparent huge pages are off for this process */
	HD_WHY_FRAGMENTED,     /* too few free huge blocks */
	HD_WHY_POOL_EMPTY,     /* too few free pages in the hugetlb pool */
	HD_WHY_POOL_UNEVEN,    /* enough in the hugetlb pool, but not on every node */
	HD_WHY_HUGETLB_LIMIT,  /* a control group limits hugetlb pages */
	HD_WHY_MEMORY_LIMIT,   /* a control group limits memory */
	HD_WHY_MEMORY_SHORT,   /* the nodes that may be used have too little left */
	HD_WHY_ADDRESS_LIMIT,  /* RLIMIT_AS, or RLIMIT_DATA */
	HD_WHY_OVERCOMMIT,     /* vm.overcommit_memory=2 */
	HD_WHY_ONE_NODE,       /* this machine has one memory node, or one that may take part */
	HD_WHY_CPUSET,         /* a cpuset leaves one node */
	HD_WHY_TASK_POLICY,    /* the task's memory policy leaves one node */
	HD_WHY_NO_NODE,        /* none of the nodes asked for may be used */
	HD_WHY_CALL_FORBIDDEN, /* a memory policy call was refused (seccomp, no NUMA) */
	HD_WHY_NODE_FULL,      /* a node had too little memory for its share */
	HD_WHY_SHARED,         /* pages are shared with a child of fork() */
	HD_WHY_PREFERENCE,     /* could be had only at the price of what was preferred */
};

enum { HD_GOT_PAGES_MAX = 8, HD_GOT_NODES_MAX = 64 };

struct hd_got_pages {
	uint64_t page_bytes; /* size of these translations */
	uint64_t bytes;      /* of the table on them */
};

struct hd_got_node {
	uint64_t bytes; /* of the table on this node */
	uint32_t node;
	uint32_t aimed; /* 1: the table was to have a share here */
};

/** Read back from the kernel, never assumed. Bytes. */
struct hd_got {
	uint64_t bytes;     /* that may be used: as asked for, rounded up */
	uint64_t entries;   /* of a table; 0 otherwise */
	uint64_t populated; /* has memory behind it */
	uint64_t unit;      /* the translation it was laid out for */

	uint32_t page_sizes;                        /* in use in page[] */
	uint32_t nodes;                             /* in use in node[] */
	struct hd_got_pages page[HD_GOT_PAGES_MAX]; /* largest first */
	struct hd_got_node node[HD_GOT_NODES_MAX];  /* by number; aimed at, or holding some */
	uint64_t pages_unknown; /* populated, but the books do not tell the translation */
	uint64_t nodes_unknown; /* populated, but the books do not tell the node */

	uint32_t spread;    /* 1: several nodes were aimed at */
	uint32_t halvings;  /* of a table, until it fitted */
	uint32_t collapsed; /* blocks that had to be mended onto huge pages */
	uint32_t moved;     /* pieces that had to be moved to their node */
	uint32_t locked;    /* 1: by mlock(2) */

	uint32_t pages_why; /* enum hd_why: the pages that were wanted */
	uint32_t nodes_why; /* enum hd_why: the spread that was wanted */
	uint32_t why_node;  /* the node it is about, for HD_WHY_NODE_FULL and _POOL_UNEVEN */
	uint32_t step;      /* enum hd_step: the first that failed; HD_STEP_NONE: none */
	int32_t error;      /* its errno, positive; 0: it failed without one */
	uint64_t reserved[6];
};

/* ---- tables ---------------------------------------------------------------------- */

/**
 * hd_alloc() - zeroed memory for one table, placed as @want asks
 * @bytes: not 0; rounded up to whole pages, by at most an eighth to whole large ones
 * @want:  read only, not kept; NULL: large pages, spread if there are several nodes
 * @start: set on success only; begins on a page, on a large one where it has any;
 *         release with hd_free()
 * @got:   filled on success and on failure; may be NULL
 *
 * All of it is populated: no page fault is left for later. Smaller pages or other
 * shares than wanted are a success: look at @got. Room is looked for before memory
 * is taken, so that a limit is an error here and not the end of the program.
 *
 * Return: 0; -EINVAL: @bytes is 0, @want holds a value out of range or a bad name;
 * -ENOMEM: it does not fit (got->pages_why tells which limit); -ENODEV: none of
 * the nodes asked for may be used; another -errno of a step that could not be done
 * without, got->step: fork and dump advice.
 */
int hd_alloc(size_t bytes, const struct hd_want *want, void **start, struct hd_got *got);

/**
 * hd_alloc_table() - a hash table as alloc_large_system_hash() of the kernel makes one
 * @table:   its buckets; read only, not kept
 * @entries: the count that was had, a power of two; set on success only
 *
 * The rest as for hd_alloc(). From memory means: from the smaller of the machine's
 * memory, the allowed nodes' and the control groups' limits. A table that does not
 * fit is halved until it does, unless @want says HD_EXACT.
 *
 * Return: as hd_alloc(); -EINVAL also for a bucket of 0 bytes; -ERANGE beyond 2^63 bytes.
 * Source of the sizing: alloc_large_system_hash(), Linux 7.1, mm/mm_init.c.
 */
int hd_alloc_table(const struct hd_table_want *table, const struct hd_want *want, void **start,
		   uint64_t *entries, struct hd_got *got);

/**
 * hd_free() - give a table back
 * @start: as hd_alloc(), hd_alloc_table() or hd_resize() gave it; NULL does nothing
 * Return: 0; -EINVAL: no table begins there (freed already, or not ours).
 */
int hd_free(void *start);

/**
 * hd_resize() - let a table grow or shrink; it may move
 * @start: in: the table; out: where it is now
 * @bytes: not 0. What is added is zeroed and populated; what stays keeps its contents.
 * @got:   of the whole table, filled on success; may be NULL
 *
 * Pages are moved, not copied, where the kernel can. On failure the table is as before.
 * Return: 0; -EINVAL: no table begins there, or @bytes is 0; -ENOMEM; another -errno.
 */
int hd_resize(void **start, size_t bytes, struct hd_got *got);

/**
 * hd_repair() - bring a table back to what was wanted of it
 *
 * After fork() has split its large pages, or when memory has become free again.
 * The table may be in use meanwhile: contents are never at risk.
 * Return: 0 when it was tried (see @got for how it went); -EINVAL: no table begins there.
 */
int hd_repair(void *start, struct hd_got *got);

/**
 * hd_read_got() - where a table is now
 * Return: 0; -EINVAL: no table begins there.
 */
int hd_read_got(const void *start, struct hd_got *got);

/**
 * hd_got_text() - one sentence for a log
 * Return: its length, as snprintf(3): cut when that is @size or more.
 */
int hd_got_text(const struct hd_got *got, char *out, size_t size);

/** "populate", ...; "?" for a number that is none. */
const char *hd_step_name(unsigned step);
/** "fragmented", ... for scripts; "?" for a number that is none. */
const char *hd_why_name(unsigned why);
/** "0.1.0": the library that runs, which may be newer than this header. */
const char *hd_library_version(void);

#ifdef __cplusplus
}
#endif

#endif

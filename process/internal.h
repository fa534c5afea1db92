/* SPDX-License-Identifier: MIT */
/* internal.h - between the files of this room */
#ifndef HASHDIST_PROCESS_INTERNAL_H
#define HASHDIST_PROCESS_INTERNAL_H

#include "backend/linux/sys.h"
#include "process/process.h"

enum { PROCESS_PATH_MAX = sizeof(((struct process *)0)->books) + 16 };

/** "/proc/PID/FILE" into @path, which has PROCESS_PATH_MAX bytes; returns it. */
const char *process_path(const struct process *process, const char *file, char *path);
/** The number behind "key:" in a line of /proc, in bytes. */
bool process_kib(const char *line, const char *key, uint64_t *bytes);

/* ---- clock.c: the time limit ----------------------------------------------------------- */

/** Nanoseconds until when details may be read. */
struct process_clock {
	uint64_t end_ns;
};

struct process_clock process_clock_start(uint32_t budget_ms);
uint64_t process_clock_left(const struct process_clock *clock);
/** May a book be read that walks all page tables, as smaps does? */
bool process_affords_walk(const struct process *process, const struct process_clock *clock);

/* ---- open.c ------------------------------------------------------------------------------ */

/** What /proc/PID/status tells, afresh. Return: 0 or -errno. */
int process_status_read(struct process *process);
/** Name, state, flags and start out of the text of /proc/PID/stat. */
bool process_stat_parse(const char *text, struct process *out);

/* ---- read.c ------------------------------------------------------------------------------ */

/** Room for the nodes' shares, and the huge page of each row's kind. Return: 0 or -ENOMEM. */
int process_rows_prepare(struct process *process);

/* ---- maps.c: which mappings there are ------------------------------------------------------ */

/** A line of maps, or the head of one of smaps. */
struct process_line {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	bool readable, writable, executable, shared;
	const char *name; /* in the line */
};

bool process_line_parse(const char *line, struct process_line *out);
int process_maps_read(struct process *process, uint64_t min_bytes);

/* ---- kind.c: what a mapping is --------------------------------------------------------------- */

enum process_kind process_kind_of(const struct process_line *line);
/** What the file system and its options tell of mapped files. @device: major:minor of each row. */
void process_kinds_by_mount(struct process *process, const uint64_t *device);
/** After the pages were read: a stack that is mostly full was none. */
void process_kinds_by_pages(struct process *process);
static inline uint64_t process_device(uint32_t major, uint32_t minor)
{
	return (uint64_t)major << 32 | minor;
}

/* ---- touched.c: which pages there are, by scanning -------------------------------------------- */

/** Return: 0; -ENOTTY: this kernel cannot; -ETIME: the time is over; another -errno. */
int process_touched_read(struct process *process, const struct process_clock *clock);
void process_page_tables(const struct process *process, struct process_mapping *mapping);

/* ---- smaps.c: pages and advice ----------------------------------------------------------------- */

/** Return: 0; -ETIME: the time is over, rows from there on are unknown; another -errno. */
int process_smaps_read(struct process *process, const struct process_clock *clock);

/* ---- shares.c, sample.c: which node holds how much ----------------------------------------------- */

int process_numa_read(struct process *process, const struct process_clock *clock);
/** Huge pages that smaps has left out while NUMA balancing looked at them; see shares.c. */
void process_add_hidden(const struct process *process, struct process_mapping *mapping);
/** Return: 0; -ETIME; another -errno: no node could be asked for. */
int process_sample(const struct process *process, struct process_mapping *mapping,
		   const struct process_clock *clock);
void process_shares_read(struct process *process, const struct process_clock *clock,
			 uint32_t budget_ms);
/** Nodes that a policy of numa_maps confines memory to; false: to none. */
bool process_policy_nodes(const char *policy, struct hdl_mask *out);

/* ---- judge.c, hinder.c ----------------------------------------------------------------------------- */

/** Nodes it may lie on: memory, cpuset, policy. */
void process_nodes_allowed(const struct process *process, const struct process_mapping *mapping,
			   struct hdl_mask *out);
void process_judge(const struct process *process, struct process_mapping *mapping);
/** After process_judge(). */
void process_hinders(const struct process *process, struct process_mapping *mapping);

#endif

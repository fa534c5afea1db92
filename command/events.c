/* SPDX-License-Identifier: MIT */
/*
 * events.c - which hardware events this machine's processors have
 *
 * Misses and cycles come from the kernel's own table: every processor that Linux
 * drives has an entry there, or says it has none, and the figure is the one that
 * perf(1) prints under the same name. It does not mean the same on all of them;
 * docs/measure-figures.md tells what. Walks have no entry in that table: they go by the
 * names of the processors' manuals.
 *
 * A hybrid processor has a PMU for each kind of core. A program wanders between them,
 * so each event is opened on every one, and the counts are added.
 *
 * Source: perf_event_open(2); PERF_PMU_CAP_EXTENDED_HW_TYPE and
 * Documentation/ABI/testing/sysfs-bus-event_source-devices, Linux 6.12; names: the
 * vendors' event lists as libpfm4 has them.
 */
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/linux/sys.h"
#include "command/internal.h"

const char *command_figure_key(enum command_figure figure)
{
	static const char *const keys[COMMAND_FIGURES] = {
		[COMMAND_WALL] = "wall",
		[COMMAND_CPU] = "cpu",
		[COMMAND_USER] = "user",
		[COMMAND_SYSTEM] = "system",
		[COMMAND_PLACING] = "placing",
		[COMMAND_FAULT_TIME] = "fault_time",
		[COMMAND_MINOR_FAULTS] = "minor_faults",
		[COMMAND_MAJOR_FAULTS] = "major_faults",
		[COMMAND_RESIDENT] = "resident",
		[COMMAND_TREE_RESIDENT] = "tree_resident",
		[COMMAND_TABLES] = "page_tables",
		[COMMAND_HUGE] = "huge_share",
		[COMMAND_HUGE_MEAN] = "huge_share_mean",
		[COMMAND_LOAD_MISSES] = "load_misses",
		[COMMAND_STORE_MISSES] = "store_misses",
		[COMMAND_WALKS] = "walks",
		[COMMAND_WALK_CYCLES] = "walk_cycles",
		[COMMAND_CYCLES] = "cycles",
	};

	return keys[figure];
}

/* ---- PMUs ---------------------------------------------------------------------------- */

static bool read_type(const char *devices, const char *name, uint32_t *type)
{
	char path[1024], text[32], *end;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s/type", devices, name) >= sizeof(path) ||
	    hdl_read_text(path, text, sizeof(text)) <= 0)
		return false;
	*type = (uint32_t)strtoul(text, &end, 10);
	return end != text;
}

static bool has_cpus(const char *devices, const char *name)
{
	char path[1024];

	return (size_t)snprintf(path, sizeof(path), "%s/%s/cpus", devices, name) < sizeof(path) &&
	       !access(path, F_OK);
}

/* Directories come in any order. */
static int by_type(const void *a, const void *b)
{
	const struct command_pmu *x = a, *y = b;

	return (x->type > y->type) - (x->type < y->type);
}

/**
 * Cores' PMUs that there are several of tell their "cpus"; others tell a "cpumask", as
 * they count for a package. The only one of an ordinary machine is called "cpu".
 */
uint32_t command_pmus(const char *root, struct command_pmu *out)
{
	char devices[512];
	struct dirent *entry;
	uint32_t count = 0;
	DIR *dir;

	snprintf(devices, sizeof(devices), "%s/bus/event_source/devices", root);
	dir = opendir(devices);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)) && count < COMMAND_PMUS_MAX) {
		struct command_pmu *pmu = &out[count];

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(pmu->name) ||
		    !has_cpus(devices, entry->d_name) ||
		    !read_type(devices, entry->d_name, &pmu->type))
			continue;
		strcpy(pmu->name, entry->d_name);
		count++;
	}
	closedir(dir);
	if (!count && read_type(devices, "cpu", &out->type)) {
		strcpy(out->name, "cpu");
		count = 1;
	}
	qsort(out, count, sizeof(*out), by_type);
	for (uint32_t p = 0; p < count; p++)
		out[p].several = count > 1;
	return count;
}

/* ---- events -------------------------------------------------------------------------- */

static void add(struct command_events *out, const struct command_event *event)
{
	if (out->events < COMMAND_EVENTS_MAX)
		out->event[out->events++] = *event;
}

#define DTLB_MISS(op)                                                                              \
	(PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_##op << 8 |                             \
	 PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static const struct command_event generic[] = {
	{ COMMAND_LOAD_MISSES, "dTLB-load-misses", PERF_TYPE_HW_CACHE, DTLB_MISS(READ), 0, 0 },
	{ COMMAND_STORE_MISSES, "dTLB-store-misses", PERF_TYPE_HW_CACHE, DTLB_MISS(WRITE), 0, 0 },
	{ COMMAND_CYCLES, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0 },
};

void command_select_generic(const struct command_pmu *pmu, uint32_t pmus,
			    struct command_events *out)
{
	for (size_t e = 0; e < sizeof(generic) / sizeof(generic[0]); e++)
		/* Without any PMU: once, to learn from the kernel why. */
		for (uint32_t p = 0; p < (pmus ? pmus : 1); p++) {
			struct command_event event = generic[e];

			/* Which PMU is meant stands above the event's own bits, from 5.13 on. */
			if (pmus && pmu[p].several)
				event.config |= (uint64_t)pmu[p].type << 32;
			add(out, &event);
		}
}

enum { PARTS_MAX = 2 };

/** Events that add up to a figure, on processors that have all of these names. */
struct names {
	enum command_figure figure;
	const char *part[PARTS_MAX];
};

static const struct names names[] = {
	/* Intel from Sandy Bridge on: loads and stores have walks of their own. */
	{ COMMAND_WALKS,
	  { "DTLB_LOAD_MISSES:WALK_COMPLETED", "DTLB_STORE_MISSES:WALK_COMPLETED" } },
	/* AMD from Zen on: what missed the second level, loads and stores in one. */
	{ COMMAND_WALKS,
	  { "L1_DTLB_MISS:TLB_RELOAD_1G_L2_MISS:TLB_RELOAD_2M_L2_MISS:"
	    "TLB_RELOAD_COALESCED_PAGE_MISS:TLB_RELOAD_4K_L2_MISS" } },
	/* Arm, likewise. */
	{ COMMAND_WALKS, { "DTLB_WALK" } },
	/* Intel from Skylake on: each cycle, the walkers at work. Before: of the one. */
	{ COMMAND_WALK_CYCLES,
	  { "DTLB_LOAD_MISSES:WALK_PENDING", "DTLB_STORE_MISSES:WALK_PENDING" } },
	{ COMMAND_WALK_CYCLES,
	  { "DTLB_LOAD_MISSES:WALK_DURATION", "DTLB_STORE_MISSES:WALK_DURATION" } },
};

/** All parts on one PMU, or nothing. */
static bool encode_all(const struct names *row, const struct command_pmu *pmu,
		       command_encode encode, void *ctx, struct command_events *out)
{
	struct command_event event[PARTS_MAX];
	int parts = 0;

	for (; parts < PARTS_MAX && row->part[parts]; parts++) {
		event[parts] = (struct command_event){ .figure = row->figure };
		if (!encode(ctx, pmu, row->part[parts], &event[parts]))
			return false;
	}
	for (int part = 0; part < parts; part++)
		add(out, &event[part]);
	return true;
}

void command_select_named(const struct command_pmu *pmu, uint32_t pmus, command_encode encode,
			  void *ctx, struct command_events *out)
{
	for (uint32_t p = 0; p < pmus; p++) {
		bool had[COMMAND_FIGURES] = { false };

		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			if (!had[names[n].figure])
				had[names[n].figure] =
				    encode_all(&names[n], &pmu[p], encode, ctx, out);
	}
}

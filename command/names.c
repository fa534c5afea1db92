/* SPDX-License-Identifier: MIT */
/*
 * names.c - events by the names of the processors' manuals, with libpfm4 if it is there
 *
 * libpfm4 knows which processor this is and how its events are encoded; nothing here
 * depends on what it says being right but the figure itself, since the kernel checks
 * each event as it is opened. Built without the library there are no such events.
 *
 * Source: pfm_get_os_event_encoding(3), pfm_get_pmu_info(3).
 */
#include <stdio.h>
#include <string.h>

#include "command/internal.h"

#ifdef HASHDIST_HAS_PFM

#include <perfmon/pfmlib_perf_event.h>

bool command_names_begin(void)
{
	return pfm_initialize() == PFM_SUCCESS;
}

void command_names_end(void)
{
	pfm_terminate();
}

bool command_has_names(void)
{
	return true;
}

bool command_encode_name(void *ctx, const struct command_pmu *pmu, const char *name,
			 struct command_event *out)
{
	struct perf_event_attr attr = { .size = 0 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };

	(void)ctx;
	if ((size_t)snprintf(out->name, sizeof(out->name), "%s::%s", pmu->name, name) >=
	    sizeof(out->name))
		return false;
	if (pfm_get_os_event_encoding(out->name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) !=
	    PFM_SUCCESS)
		return false;
	out->type = attr.type;
	out->config = attr.config;
	out->config1 = attr.config1;
	out->config2 = attr.config2;
	return true;
}

/** PMUs of this machine's cores as the library calls them. */
static uint32_t own_pmus(struct command_pmu *out)
{
	uint32_t count = 0;

	for (int p = PFM_PMU_NONE; p < PFM_PMU_MAX && count < COMMAND_PMUS_MAX; p++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (pfm_get_pmu_info((pfm_pmu_t)p, &info) != PFM_SUCCESS || !info.is_present ||
		    info.type != PFM_PMU_TYPE_CORE)
			continue;
		snprintf(out[count].name, sizeof(out[count].name), "%s", info.name);
		count++;
	}
	return count;
}

static void select_names(struct command_events *out)
{
	struct command_pmu pmu[COMMAND_PMUS_MAX] = { { .type = 0 } };

	if (!command_names_begin())
		return;
	command_select_named(pmu, own_pmus(pmu), command_encode_name, NULL, out);
	command_names_end();
}

#else

bool command_names_begin(void)
{
	return false;
}

void command_names_end(void)
{
}

bool command_encode_name(void *ctx, const struct command_pmu *pmu, const char *name,
			 struct command_event *out)
{
	(void)ctx;
	(void)pmu;
	(void)name;
	(void)out;
	return false;
}

bool command_has_names(void)
{
	return false;
}

static void select_names(struct command_events *out)
{
	(void)out;
}

#endif

/* Asked once: a machine keeps its processor, and the names take some ms. */
const struct command_events *command_select(void)
{
	static struct command_events events;
	struct command_pmu pmu[COMMAND_PMUS_MAX] = { { .type = 0 } };
	uint32_t pmus;

	if (events.events)
		return &events;
	pmus = command_pmus("/sys", pmu);
	command_select_generic(pmu, pmus, &events);
	/* Which processor it is tells nothing where the kernel drives none of its counters. */
	if (pmus)
		select_names(&events);
	return &events;
}

/* SPDX-License-Identifier: MIT */
/*
 * counters.c - hardware counters on a process that has not begun, read when it is over
 *
 * They begin with its execve() and are inherited by all it starts. What the kernel does
 * on its account is counted where we may (perf_event_paranoid up to 1, or CAP_PERFMON):
 * first touch walks page tables there. A processor has few counters: where more are
 * wanted the kernel gives each a share of the time, and what it would have counted is
 * an estimate.
 *
 * Each event is opened for itself, as only then it may be inherited and read with its
 * children's counts on all kernels. On a hybrid processor an event has a counter on each
 * kind of core, and each lacks the time that the program was on another: their times are
 * added before anything is scaled.
 *
 * Source: perf_event_open(2); Documentation/admin-guide/perf-security.rst, Linux 6.12.
 */
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/linux/sys.h"
#include "command/internal.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

double command_scale(uint64_t value, uint64_t enabled, uint64_t running)
{
	if (!running)
		return enabled ? -1 : (double)value;
	/* Exact where it had all the time: no rounding of a count. */
	if (running >= enabled)
		return (double)value;
	return (double)value * ((double)enabled / (double)running);
}

/** What /proc/cpuinfo calls "hypervisor" is all that x86 tells; elsewhere it stays unknown. */
static bool is_guest(void)
{
	char line[8192];
	FILE *file = fopen("/proc/cpuinfo", "re");
	bool guest = false;

	while (file && !guest && fgets(line, sizeof(line), file))
		guest = !strncmp(line, "flags", 5) && strstr(line, " hypervisor");
	if (file)
		fclose(file);
	return guest;
}

static void learn(struct command_hardware *hardware)
{
	/* Asked once: for /proc/cpuinfo the kernel asks every processor. */
	static bool asked, guest, has_pmu;
	struct command_pmu pmu[COMMAND_PMUS_MAX];
	char text[32];

	if (!asked) {
		guest = is_guest();
		has_pmu = command_pmus("/sys", pmu) > 0;
		asked = true;
	}
	*hardware = (struct command_hardware){
		.paranoid = INT_MIN,
		.guest = guest,
		.has_pmu = has_pmu,
	};
	if (hdl_read_text(PARANOID, text, sizeof(text)) > 0)
		hardware->paranoid = atoi(text);
}

/** Return: a file, or a negative errno. */
static int open_one(const struct command_event *event, pid_t pid, bool user_only)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_hv = 1,
		.exclude_kernel = user_only,
	};
	long fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void note(struct command_hardware *hardware, const struct command_event *event, int fd)
{
	int f = (int)event->figure - COMMAND_HARDWARE;

	if (!hardware->has_event[f])
		strcpy(hardware->name[f], event->name);
	hardware->has_event[f] = true;
	if (fd < 0 && !hardware->error[f])
		hardware->error[f] = fd;
}

/** The event without its PMU: the same on all kinds of core. */
static const char *part_of(const char *name)
{
	const char *colons = strstr(name, "::");

	return colons ? colons + 2 : name;
}

/** How many PMUs a figure is the sum of: as many as have its first event. */
static void count_pmus(const struct command_counters *counters, struct command_hardware *hardware)
{
	for (uint32_t e = 0; e < counters->events.events; e++) {
		const struct command_event *event = &counters->events.event[e];
		int f = (int)event->figure - COMMAND_HARDWARE;

		hardware->pmus[f] += !strcmp(part_of(hardware->name[f]), part_of(event->name));
	}
}

/** A sum that lacks a part is no figure. */
static void drop_partial(struct command_counters *counters, struct command_hardware *hardware)
{
	for (uint32_t e = 0; e < counters->events.events; e++) {
		int f = (int)counters->events.event[e].figure - COMMAND_HARDWARE;

		hardware->counted[f] = !hardware->error[f];
		if (counters->fd[e] >= 0 && hardware->error[f]) {
			close(counters->fd[e]);
			counters->fd[e] = -1;
		}
	}
}

void command_open(struct command_counters *counters, pid_t pid, struct command_hardware *hardware)
{
	bool user_only = false;

	learn(hardware);
	for (uint32_t e = 0; e < counters->events.events; e++) {
		const struct command_event *event = &counters->events.event[e];
		int fd = open_one(event, pid, user_only);

		/* Once refused the kernel's part is refused for all: figures must be alike. */
		if ((fd == -EACCES || fd == -EPERM) && !user_only) {
			fd = open_one(event, pid, true);
			user_only = fd >= 0;
		}
		counters->fd[e] = fd;
		note(hardware, event, fd);
	}
	hardware->user_only = user_only;
	count_pmus(counters, hardware);
	drop_partial(counters, hardware);
}

/** One event, over all kinds of core: a program runs on one of them at a time. */
struct sum {
	uint64_t value, enabled, running;
};

static bool add_up(const struct command_counters *counters, uint32_t first, struct sum *sum)
{
	const struct command_event *event = counters->events.event;

	*sum = (struct sum){ 0 };
	for (uint32_t e = first; e < counters->events.events; e++) {
		uint64_t found[3]; /* value, ns enabled, ns running */

		if (event[e].figure != event[first].figure ||
		    strcmp(part_of(event[e].name), part_of(event[first].name)) != 0)
			continue;
		if (read(counters->fd[e], found, sizeof(found)) != (ssize_t)sizeof(found))
			return false;
		sum->value += found[0];
		sum->enabled = found[1] > sum->enabled ? found[1] : sum->enabled;
		sum->running += found[2];
	}
	return true;
}

/** Is this the first of its name? The others are in its sum. */
static bool is_first(const struct command_counters *counters, uint32_t at)
{
	const struct command_event *event = counters->events.event;

	for (uint32_t e = 0; e < at; e++)
		if (event[e].figure == event[at].figure &&
		    !strcmp(part_of(event[e].name), part_of(event[at].name)))
			return false;
	return true;
}

double command_read(struct command_counters *counters, double *value)
{
	bool lacks[COMMAND_FIGURES] = { false };
	double least = 1;

	for (uint32_t e = 0; e < counters->events.events; e++) {
		enum command_figure figure = counters->events.event[e].figure;
		double scaled = -1;
		struct sum sum;

		if (counters->fd[e] < 0 || !is_first(counters, e))
			continue;
		if (add_up(counters, e, &sum))
			scaled = command_scale(sum.value, sum.enabled, sum.running);
		lacks[figure] |= scaled < 0;
		value[figure] = value[figure] < 0 ? scaled : value[figure] + scaled;
		if (scaled >= 0 && sum.running < sum.enabled)
			least = fmin(least, (double)sum.running / (double)sum.enabled);
	}
	for (int f = COMMAND_HARDWARE; f < COMMAND_FIGURES; f++)
		value[f] = lacks[f] ? -1 : value[f];
	return least;
}

void command_close(struct command_counters *counters)
{
	for (uint32_t e = 0; e < counters->events.events; e++)
		if (counters->fd[e] >= 0)
			close(counters->fd[e]);
	counters->events.events = 0;
}

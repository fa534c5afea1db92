/* SPDX-License-Identifier: MIT */
/*
 * measure_words.c - sentences that stand below the table: how, at what cost, what is missing
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/measure.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/** The confidence that the intervals have; 0: none has one. */
static double confidence_of(const struct ab *m)
{
	return m->comparison[COMMAND_WALL].confidence;
}

void ab_say_method(const struct ab *m, struct bench_words *out)
{
	uint32_t runs = m->result.runs;

	bench_say(out, "medians of %u run%s of each, A B and B A in turn", runs, plural(runs));
	if (m->opt->want.warmups)
		bench_say(out, ", after %u to warm up", m->opt->want.warmups);
	if (m->result.fault_runs)
		bench_say(out, "; page faults timed in %u more of each", m->result.fault_runs);
	bench_say(out, "; spread: 10th to 90th percentile, by the median; ratio: median of "
		       "those of B to A in a round");
	if (confidence_of(m) > 0)
		bench_say(out, "; interval: of that median, with %.1f %% confidence",
			  100 * confidence_of(m));
	else
		bench_say(out, "; no interval: that takes %d runs at least", COMMAND_PAIRS_LEAST);
}

void ab_say_overhead(const struct ab *m, struct bench_words *out)
{
	const struct command_overhead *o = &m->overhead;
	char bare[32], inside[32], all[32];

	if (o->runs)
		bench_say(out,
			  "true(1) took %s bare and %s as measured, with all around it %s "
			  "(medians of %u)",
			  ab_value(bare, sizeof(bare), AB_NS, o->bare_ns),
			  ab_value(inside, sizeof(inside), AB_NS, o->inside_ns),
			  ab_value(all, sizeof(all), AB_NS, o->all_ns), o->runs);
	else
		bench_say(out, "not known: true(1) could not be run");
	if (m->opt->want.interval_ms)
		bench_say(
		    out, "; looks at its memory took a processor for up to %.1f %% of a run's time",
		    100 * fmax(m->result.look_share[0], m->result.look_share[1]));
}

/* ---- what is missing -------------------------------------------------------------------- */

/** Why the processor does not count figure @f; the same text for the same reason. */
static void why_not_counted(const struct command_hardware *hw, int f, char *out, size_t size)
{
	int error = hw->error[f];

	if (hw->has_pmu && !hw->has_event[f]) {
		snprintf(out, size, "%s",
			 command_has_names()
			     ? "libpfm4 knows no such event of this processor"
			     : "events of that kind have names, and this program was built "
			       "without libpfm4");
		return;
	}
	/* Where there is no PMU, what its processor would have is no news. */
	for (int other = 0; !error && other < COMMAND_COUNTED; other++)
		error = hw->error[other];
	if (error == -EACCES || error == -EPERM)
		snprintf(out, size,
			 "perf_event_open: %s; perf_event_paranoid is %d, and 2 is needed, or the "
			 "capability CAP_PERFMON",
			 strerror(-error), hw->paranoid);
	else if (!hw->has_pmu)
		snprintf(out, size, "perf_event_open: %s; %s", strerror(-error),
			 hw->guest ? "this guest has no PMU: its host must give it one"
				   : "this kernel drives no PMU here");
	else if (error == -ENOENT || error == -EOPNOTSUPP)
		snprintf(out, size, "perf_event_open: %s; this processor has no such event",
			 strerror(-error));
	else
		snprintf(out, size, "perf_event_open: %s", strerror(-error));
}

static void say_not_counted(const struct command_hardware *hw, struct bench_words *out)
{
	bool said[COMMAND_COUNTED] = { false };

	for (int f = 0; f < COMMAND_COUNTED; f++) {
		char why[256], other[256];

		if (hw->counted[f] || said[f])
			continue;
		why_not_counted(hw, f, why, sizeof(why));
		bench_say(out, "%s%s", out->len ? ". " : "", ab_figures[f + COMMAND_HARDWARE].name);
		for (int g = f + 1; g < COMMAND_COUNTED; g++) {
			if (hw->counted[g])
				continue;
			why_not_counted(hw, g, other, sizeof(other));
			if (strcmp(why, other) != 0)
				continue;
			said[g] = true;
			bench_say(out, ", %s", ab_figures[g + COMMAND_HARDWARE].name);
		}
		bench_say(out, ": %s", why);
	}
}

static void say_not_timed(const struct ab *m, struct bench_words *out)
{
	int error = m->result.faults.error;

	if (m->result.fault_runs)
		return;
	bench_say(out, "%sfault time: ", out->len ? ". " : "");
	if (!m->opt->want.fault_runs)
		bench_say(out, "not timed (--fault-runs 0)");
	else if (error == -EACCES || error == -EPERM)
		bench_say(out, "perf_event_open: %s; perf_event_paranoid is %d", strerror(-error),
			  m->result.hardware.paranoid);
	else if (error)
		bench_say(out, "perf_event_open: %s", strerror(-error));
	else
		bench_say(out, "it ended before");
}

void ab_say_missing(const struct ab *m, struct bench_words *out)
{
	const struct measure_stat *a = m->stat[0], *b = m->stat[1];

	say_not_counted(&m->result.hardware, out);
	say_not_timed(m, out);
	if (!a[COMMAND_TABLES].samples || !b[COMMAND_TABLES].samples)
		bench_say(out, "%speak page tables, huge pages: %s", out->len ? ". " : "",
			  m->opt->want.interval_ms
			      ? "runs were over before their memory was looked at"
			      : "not looked at (--interval 0)");
}

/* ---- what to know --------------------------------------------------------------------------- */

static void between(struct bench_words *out)
{
	bench_say(out, "%s", out->len ? "; " : "");
}

static void say_looks(const struct ab *m, struct bench_words *out)
{
	const uint32_t *looks = m->result.least_looks;
	uint32_t least = looks[0] < looks[1] ? looks[0] : looks[1];

	if (!m->opt->want.interval_ms || least == UINT32_MAX)
		return;
	between(out);
	bench_say(out,
		  "memory was looked at %u time%s a run or more: peaks between two looks, and "
		  "after the last, are missed",
		  least, plural(least));
}

static void say_counting(const struct ab *m, struct bench_words *out)
{
	const struct command_hardware *hw = &m->result.hardware;
	bool any = false;

	for (int f = 0; f < COMMAND_COUNTED; f++)
		any |= hw->counted[f];
	if (any && m->result.share < 1) {
		between(out);
		bench_say(out,
			  "the processor has fewer counters than there are events: one counted "
			  "for %.0f %% of the time, and is scaled",
			  100 * m->result.share);
	}
	if (any && hw->user_only) {
		between(out);
		bench_say(out,
			  "what the kernel does is not in the processor's counts: "
			  "perf_event_paranoid is %d",
			  hw->paranoid);
	}
}

static void say_timing(const struct command_fault_time *faults, struct bench_words *out)
{
	if (faults->share < 1) {
		between(out);
		bench_say(out,
			  "%.1f %% of the page faults were timed, and their time is scaled: there "
			  "were more than could be written down",
			  100 * faults->share);
	}
	if (faults->user_only) {
		between(out);
		bench_say(out, "page faults that the kernel causes on CMD's account are not timed");
	}
}

void ab_say_notes(const struct ab *m, struct bench_words *out)
{
	const struct command_result *r = &m->result;

	say_counting(m, out);
	say_timing(&r->faults, out);
	say_looks(m, out);
	if (r->left) {
		between(out);
		bench_say(out, "%u process%s went on when CMD had ended, and count up to then only",
			  r->left, r->left == 1 ? "" : "es");
	}
	for (int s = 0; s < 2; s++)
		if (r->failures[s]) {
			between(out);
			bench_say(out, "%c failed in %u run%s, which count all the same", 'A' + s,
				  r->failures[s], plural(r->failures[s]));
		}
}

void ab_say_outcome(const struct ab *m, struct bench_words *out)
{
	const struct command_comparison *c = &m->comparison[COMMAND_WALL];

	bench_say(out, "A: %s. B: %s. ", m->opt->setting[0].name, m->opt->setting[1].name);
	if (!c->pairs || !c->ratio_known)
		return;
	bench_say(out, "Wall time of B to A: %.3f", c->ratio);
	if (c->confidence > 0)
		bench_say(out, " (%.3f to %.3f)", c->low, c->high);
	bench_say(out, ", %s", command_verdict_name(c->verdict));
}

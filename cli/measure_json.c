/* SPDX-License-Identifier: MIT */
/*
 * measure_json.c - both settings for programs: stable keys, units in them, null for unknown
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/measure.h"
#include "cli/report.h"

/** Counts, times and sizes are whole; shares are not. */
static json_t *value_json(enum command_figure figure, double value)
{
	return ab_figures[figure].unit == AB_SHARE ? json_real(value)
						   : json_integer((json_int_t)value);
}

static json_t *side_json(const struct ab *m, int side, enum command_figure figure)
{
	const struct measure_stat *stat = &m->stat[side][figure];
	json_t *values;

	if (!stat->samples)
		return json_null();
	values = json_array();
	for (uint32_t r = 0; r < command_samples(&m->result, figure); r++) {
		double value = command_sample(&m->result, side, figure, r);

		json_array_append_new(values, value < 0 ? json_null() : value_json(figure, value));
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "median", value_json(figure, stat->median), "low",
			 value_json(figure, stat->low), "high", value_json(figure, stat->high),
			 "runs", values);
}

static json_t *real_or_null(bool known, double value)
{
	return known ? json_real(value) : json_null();
}

static json_t *comparison_json(const struct command_comparison *c)
{
	bool interval = c->pairs && c->confidence > 0, ratio = c->pairs && c->ratio_known;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "ratio",
			 real_or_null(ratio, c->ratio), "ratio_low",
			 real_or_null(ratio && interval, c->low), "ratio_high",
			 real_or_null(ratio && interval, c->high), "difference",
			 real_or_null(c->pairs, c->difference), "difference_low",
			 real_or_null(interval, c->difference_low), "difference_high",
			 real_or_null(interval, c->difference_high), "confidence",
			 real_or_null(interval, c->confidence), "rounds", (int)c->pairs);
}

static json_t *figure_json(const struct ab *m, enum command_figure figure)
{
	const struct command_comparison *c = &m->comparison[figure];
	int f = (int)figure - COMMAND_HARDWARE, error = 0;
	char source[CLI_CELL_MAX];
	json_t *json = comparison_json(c);

	if (f >= 0)
		error = m->result.hardware.error[f];
	else if (figure == COMMAND_FAULT_TIME)
		error = m->result.faults.error;

	ab_source(m, figure, source, sizeof(source));
	json_object_set_new(json, "a", side_json(m, 0, figure));
	json_object_set_new(json, "b", side_json(m, 1, figure));
	json_object_set_new(json, "verdict",
			    c->pairs ? json_string(command_verdict_name(c->verdict)) : json_null());
	json_object_set_new(json, "source", json_string(source));
	json_object_set_new(json, "errno", error ? json_integer(-error) : json_null());
	return json;
}

static json_t *figures_json(const struct ab *m)
{
	json_t *json = json_object();

	for (int f = 0; f < COMMAND_FIGURES; f++) {
		char key[64];

		snprintf(key, sizeof(key), "%s%s", command_figure_key((enum command_figure)f),
			 ab_figures[f].key_unit);
		json_object_set_new(json, key, figure_json(m, (enum command_figure)f));
	}
	return json;
}

static json_t *text_json(const struct ab *m, void (*say)(const struct ab *, struct bench_words *))
{
	struct bench_words words = { .len = 0 };

	say(m, &words);
	return words.len ? report_json_text(words.text) : json_null();
}

static json_t *overhead_json(const struct command_overhead *o)
{
	return json_pack(
	    "{s:o, s:o, s:o, s:i}", "true_bare_ns",
	    o->runs ? json_integer((json_int_t)o->bare_ns) : json_null(), "true_measured_ns",
	    o->runs ? json_integer((json_int_t)o->inside_ns) : json_null(),
	    "true_with_all_around_ns", o->runs ? json_integer((json_int_t)o->all_ns) : json_null(),
	    "runs", (int)o->runs);
}

static json_t *counting_json(const struct ab *m)
{
	const struct command_hardware *hw = &m->result.hardware;

	return json_pack("{s:b, s:b, s:o, s:f, s:f, s:o}", "has_pmu", hw->has_pmu, "user_mode_only",
			 hw->user_only, "perf_event_paranoid",
			 hw->paranoid == INT_MIN ? json_null() : json_integer(hw->paranoid),
			 "least_share_of_time", m->result.share, "least_share_of_faults_timed",
			 m->result.faults.share, "missing", text_json(m, ab_say_missing));
}

static json_t *looks_json(const struct command_result *r, int side)
{
	return json_pack("{s:o, s:f}", "least",
			 r->least_looks[side] == UINT32_MAX ? json_null()
							    : json_integer(r->least_looks[side]),
			 "most_share_of_time", r->look_share[side]);
}

static json_t *setting_json(const struct ab *m, int side)
{
	return json_pack("{s:o, s:i, s:o}", "setting", report_json_text(m->opt->setting[side].name),
			 "failures", (int)m->result.failures[side], "looks",
			 looks_json(&m->result, side));
}

static json_t *options_json(const struct ab *m)
{
	const struct command_want *want = &m->opt->want;

	return json_pack("{s:i, s:i, s:i, s:i}", "runs", (int)want->runs, "warmup",
			 (int)want->warmups, "fault_runs", (int)want->fault_runs, "interval_ms",
			 (int)want->interval_ms);
}

int ab_print_json(const struct ab *m)
{
	json_t *json =
	    json_pack("{s:s, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:i, s:o}", "version",
		      HASHDIST_VERSION, "machine", bench_machine_json(&m->facts), "command",
		      report_json_text(m->command), "options", options_json(m), "rounds",
		      (int)m->result.runs, "a", setting_json(m, 0), "b", setting_json(m, 1),
		      "counting", counting_json(m), "overhead", overhead_json(&m->overhead),
		      "processes_left", (int)m->result.left, "figures", figures_json(m));

	return cli_json_print(json, JSON_REAL_PRECISION(12));
}

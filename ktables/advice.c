/* SPDX-License-Identifier: MIT */
/*
 * advice.c - from verdicts to the few things worth saying
 *
 * Tables that one parameter would mend share one piece of advice; it carries the
 * figures of the one that gains most.
 */
#include "ktables/internal.h"

static bool same_remedy(const struct hd_verdict *a, const struct hd_verdict *b)
{
	if (a->code != b->code || a->param != b->param)
		return false;
	/* hashdist=0 mends all at once; each *_entries= is a matter of its own. */
	return a->param == HD_PARAM_HASHDIST || a->param == HD_PARAM_NONE;
}

static uint64_t gain(const struct hd_verdict *verdict)
{
	return verdict->now > verdict->then ? verdict->now - verdict->then
					    : verdict->then - verdict->now;
}

static uint32_t add_verdict(struct ktables_advice *out, uint32_t count, uint32_t max,
			    const struct hd_verdict *verdict, uint32_t row)
{
	for (uint32_t a = 0; a < count; a++) {
		if (out[a].kind != KTABLES_ADVICE_TABLE || !same_remedy(&out[a].verdict, verdict))
			continue;
		out[a].tables++;
		if (gain(verdict) > gain(&out[a].verdict)) {
			out[a].verdict = *verdict;
			out[a].row = row;
		}
		return count;
	}
	if (count == max)
		return count;
	out[count] = (struct ktables_advice){
		.kind = KTABLES_ADVICE_TABLE, .verdict = *verdict, .row = row, .tables = 1
	};
	return count + 1;
}

static uint32_t add_params(const struct hd_params *params, struct ktables_advice *out,
			   uint32_t count, uint32_t max)
{
	for (int p = 0; p < HD_PARAM_COUNT && count < max; p++) {
		uint8_t state = params->param[p].state;

		if (state != HD_PARAM_IGNORED && state != HD_PARAM_MISSPELT)
			continue;
		out[count++] = (struct ktables_advice){
			.kind = state == HD_PARAM_IGNORED ? KTABLES_ADVICE_IGNORED
							  : KTABLES_ADVICE_MISSPELT,
			.verdict.param = p,
			.at = params->param[p].at,
			.len = params->param[p].len,
		};
	}
	return count;
}

uint32_t ktables_advise(const struct ktables_survey *survey, struct ktables_advice *out,
			uint32_t max)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < survey->rows; r++) {
		const struct hd_judgement *judgement = &survey->row[r].judgement;

		for (unsigned v = 0; v < judgement->count; v++)
			if (judgement->verdict[v].code != HD_V_UNKNOWN)
				count = add_verdict(out, count, max, &judgement->verdict[v], r);
	}
	count = add_params(&survey->facts.machine.params, out, count, max);
	if (!survey->log_complete && count < max)
		out[count++] = (struct ktables_advice){ .kind = KTABLES_ADVICE_LOG_LOST };
	return count;
}

bool ktables_wants_attention(const struct ktables_survey *survey)
{
	const struct hd_params *params = &survey->facts.machine.params;

	for (int p = 0; p < HD_PARAM_COUNT; p++)
		if (params->param[p].state == HD_PARAM_IGNORED ||
		    params->param[p].state == HD_PARAM_MISSPELT)
			return true;
	return survey->worst != HD_OK;
}

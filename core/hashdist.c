/* SPDX-License-Identifier: MIT */
/*
 * hashdist.c - the flag that the project is named after
 *
 * Are large tables distributed over the nodes? By default where there are nodes
 * to distribute over; cleared when exactly one node has memory (5.3 onwards),
 * which happens before parameters are read: an explicit value wins, both ways.
 *
 * Source: hashdist, fixup_hashdist(), set_hashdist(), Linux 2.6.11 to 7.1.
 */
#include "hashdist/core.h"

bool hd_hashdist(const struct hd_rules *rules, const struct hd_facts *facts,
		 const struct hd_params *params, enum hd_hashdist_reason *reason)
{
	enum hd_hashdist_reason why = HD_REASON_DEFAULT;
	bool on = rules->value[HD_RULE_HASHDIST_DEFAULT];

	if (!rules->value[HD_RULE_HASHDIST_PARAM]) {
		on = false;
		why = HD_REASON_NO_NUMA;
	} else if (params->param[HD_PARAM_HASHDIST].in_force) {
		on = params->param[HD_PARAM_HASHDIST].value;
		why = HD_REASON_PARAMETER;
	} else if (on && facts->memory_nodes == 1) {
		on = !rules->value[HD_RULE_HASHDIST_CLEARS];
		why = on ? HD_REASON_NEVER_CLEARED : HD_REASON_ONE_NODE;
	}
	if (reason)
		*reason = why;
	return on;
}

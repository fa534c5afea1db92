/* SPDX-License-Identifier: MIT */
/*
 * report_advice.c - verdicts as sentences: what, why, the figure, what to do
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report.h"

/** What most sentences are made of. */
struct words {
	const struct report *report;
	const struct ktables_advice *advice;
	const struct hd_verdict *verdict;
	const char *table;      /* "dentry" */
	char others[32];        /* " and 4 others" */
	char now[48], then[48]; /* "2048 translations of 4K", "4 of 2M" */
	char param[64];         /* "dhash_entries=524288" */
};

void report_advice_param(const struct ktables_advice *advice, char *out, size_t size)
{
	const char *name = hd_param_name(advice->verdict.param);

	out[0] = '\0';
	if (advice->kind == KTABLES_ADVICE_TABLE && name)
		snprintf(out, size, "%s=%" PRIu64, name, advice->verdict.value);
}

const char *report_reason(enum hd_hashdist_reason reason)
{
	switch (reason) {
	case HD_REASON_ONE_NODE:
		return "only one node has memory";
	case HD_REASON_PARAMETER:
		return "the command line says so";
	case HD_REASON_NO_NUMA:
		return "this kernel has no NUMA, nor the parameter";
	case HD_REASON_NEVER_CLEARED:
		return "the default; this kernel does not look at the nodes, as later ones do from "
		       "5.3 on";
	default:
		return "the default of this kernel";
	}
}

static void start(struct words *w, const struct report *report, const struct ktables_advice *advice)
{
	const struct ktables_row *row = &report->survey->row[advice->row];
	char page[16];

	*w = (struct words){ .report = report, .advice = advice, .verdict = &advice->verdict };
	w->table = report_key(row);
	if (advice->tables > 1)
		snprintf(w->others, sizeof(w->others), " and %u more", advice->tables - 1);
	snprintf(w->now, sizeof(w->now), "%" PRIu64 " translations of %s", w->verdict->now,
		 cli_page(page, sizeof(page), row->shift));
	snprintf(w->then, sizeof(w->then), "%" PRIu64 " of %s", w->verdict->then,
		 cli_page(page, sizeof(page), w->verdict->then_shift));
	report_advice_param(advice, w->param, sizeof(w->param));
}

static void say_pages(const struct words *w, const char *why, char *out, size_t size)
{
	if (w->param[0])
		snprintf(out, size, "%s%s: %s; boot with %s: from %s to %s", w->table, w->others,
			 why, w->param, w->now, w->then);
	else
		snprintf(out, size, "%s%s: %s, %s; no boot parameter of this kernel mends it",
			 w->table, w->others, why, w->now);
}

static void say_one_node(const struct words *w, char *out, size_t size)
{
	uint32_t id = w->report->books->node[w->verdict->node].id;
	char tail[224] = "only a larger table would reach further nodes";

	if (w->param[0] && w->verdict->param != HD_PARAM_HASHDIST)
		snprintf(tail, sizeof(tail), "%s would reach every node", w->param);
	else if (w->param[0])
		snprintf(tail, sizeof(tail), "%s would at least bring it from %s to %s", w->param,
			 w->now, w->then);
	snprintf(out, size,
		 "%s%s: called distributed, but all of it lies on node %u (vmalloc takes chunks "
		 "of the largest order from one node at a time, from 6.19 on); %s",
		 w->table, w->others, id, tail);
}

static void say_under_huge(const struct words *w, char *out, size_t size)
{
	const struct hd_machine *machine = &w->report->survey->facts.machine;

	if (w->param[0])
		snprintf(out, size,
			 "%s: %s, for this kernel compares each node's share (table / %u nodes) "
			 "with the huge page; %s gives %s",
			 w->table, w->now, machine->facts.online_nodes, w->param, w->then);
	else if (machine->params.nohugevmalloc)
		snprintf(out, size, "%s%s: %s, because the command line says nohugevmalloc",
			 w->table, w->others, w->now);
	else if (machine->rules.value[HD_RULE_HUGE_VMALLOC] == HD_HUGE_NEVER)
		snprintf(out, size,
			 "%s%s: %s; this kernel has no huge vmalloc (x86-64 has it from 5.18, "
			 "arm64 from 6.1), so tables are spread or on large pages, not both",
			 w->table, w->others, w->now);
	else if (machine->rules.value[HD_RULE_HUGE_VMALLOC] == HD_HUGE_NODE_SHARE)
		snprintf(out, size,
			 "%s%s: %s, for this kernel compares each node's share (table / %u nodes) "
			 "with the huge page, and no parameter makes it large enough; kernels from "
			 "6.13 on compare the whole table",
			 w->table, w->others, w->now, machine->facts.online_nodes);
	else
		snprintf(out, size,
			 "%s%s: %s, although this kernel would use huge pages; there were too few "
			 "free when it was made",
			 w->table, w->others, w->now);
}

static void say_fill(const struct words *w, char *out, size_t size)
{
	bool small = w->verdict->code == HD_V_TOO_SMALL;
	char remedy[96] = "no boot parameter sizes it";

	if (w->param[0])
		snprintf(remedy, sizeof(remedy), "%s would fit", w->param);
	snprintf(out, size, "%s: holds %" PRIu64 " objects in %" PRIu64 " buckets, %s; %s",
		 w->table, w->verdict->now, w->verdict->then,
		 small ? "so lookups walk long chains" : "so it takes cache and TLB for nothing",
		 remedy);
}

static void say_table(const struct words *w, char *out, size_t size)
{
	const struct hd_verdict *v = w->verdict;
	char page[16];

	switch (v->code) {
	case HD_V_SMALL_PAGES:
		say_pages(w, "one memory node, yet scattered over small pages", out, size);
		break;
	case HD_V_EMULATED:
		say_pages(w, "spread over emulated nodes, where there is nothing to spread over",
			  out, size);
		break;
	case HD_V_ONE_NODE:
		say_one_node(w, out, size);
		break;
	case HD_V_LOPSIDED:
		snprintf(out, size,
			 "%s%s: called distributed, but node %u holds far more than its "
			 "share",
			 w->table, w->others, w->report->books->node[v->node].id);
		break;
	case HD_V_NOT_SPREAD:
		snprintf(out, size,
			 "%s%s: one block in the linear map although %u nodes have memory; boot "
			 "without hashdist=0 to spread it",
			 w->table, w->others, w->report->survey->facts.machine.facts.memory_nodes);
		break;
	case HD_V_UNDER_HUGE:
		say_under_huge(w, out, size);
		break;
	case HD_V_HALVED:
		snprintf(out, size,
			 "%s: %" PRIu64 " buckets where this kernel would compute %" PRIu64
			 "; the first attempt found no memory (pages of %s)",
			 w->table, v->now, v->then,
			 cli_page(page, sizeof(page),
				  (unsigned)w->report->survey->facts.machine.rules
				      .value[HD_RULE_PAGE_SHIFT]));
		break;
	case HD_V_CLAMPED:
		snprintf(out, size,
			 "%s: the command line asks for %" PRIu64 " buckets; the kernel's limit "
			 "left %" PRIu64,
			 w->table, v->then, v->now);
		break;
	default:
		say_fill(w, out, size);
		break;
	}
}

void report_advice_text(const struct report *report, const struct ktables_advice *advice, char *out,
			size_t size)
{
	const char *cmdline = report->books && report->books->has_cmdline ? report->books->cmdline
			      : report->boot                              ? report->boot->cmdline
									  : "";
	const char *name = hd_param_name(advice->verdict.param);
	struct words w;

	switch (advice->kind) {
	case KTABLES_ADVICE_IGNORED:
		snprintf(out, size, "%.*s: this kernel does not take it%s", (int)advice->len,
			 cmdline + advice->at,
			 report->survey->facts.reason == HD_REASON_NO_NUMA &&
				 advice->verdict.param == HD_PARAM_HASHDIST
			     ? "; it was built without NUMA"
			     : "; the value is not one it can read, and the default stays");
		break;
	case KTABLES_ADVICE_MISSPELT:
		snprintf(out, size, "%.*s: no parameter of the kernel; %s= is meant, perhaps",
			 (int)advice->len, cmdline + advice->at, name);
		break;
	case KTABLES_ADVICE_LOG_LOST:
		snprintf(out, size, "%s",
			 report->log_note ? report->log_note
					  : "the log does not reach back to the start of the boot");
		break;
	default:
		start(&w, report, advice);
		say_table(&w, out, size);
		break;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * judge.c - is a table where it belongs?
 *
 * The rule the project stands for: with one memory node a large table belongs
 * on few, large translations; with several it belongs spread over them, on large
 * translations too. A table is large here when it covers at least one huge page;
 * below that nothing can be gained from larger pages, and little from a spread.
 *
 * Figures only; the sentences are written by whoever prints them.
 */
#include "core/bits.h"
#include "hashdist/core.h"

static const char *const names[HD_V_COUNT] = {
	[HD_OK] = "ok",
	[HD_V_UNKNOWN] = "unknown",
	[HD_V_SMALL_PAGES] = "small-pages",
	[HD_V_EMULATED] = "emulated-nodes",
	[HD_V_ONE_NODE] = "one-node",
	[HD_V_LOPSIDED] = "lopsided",
	[HD_V_NOT_SPREAD] = "not-spread",
	[HD_V_UNDER_HUGE] = "under-huge",
	[HD_V_HALVED] = "halved",
	[HD_V_CLAMPED] = "clamped",
	[HD_V_TOO_SMALL] = "too-small",
	[HD_V_TOO_LARGE] = "too-large",
};

const char *hd_verdict_name(enum hd_verdict_code code)
{
	return code < HD_V_COUNT ? names[code] : "unknown";
}

enum {
	CROWDED = 2,         /* objects per bucket from which chains cost more than misses */
	EMPTY = 256,         /* buckets per object above which a table is nearly empty */
	SETTLED = 24 * 3600, /* seconds of uptime before emptiness means something */
	SPACIOUS = 8 << 20,  /* bytes below which emptiness costs nothing worth a word */
	FEW = 8,             /* translations too few to save on */
};

/** What hd_judge() works with; page and huge are log2 bytes. */
struct bench {
	const struct hd_machine *machine;
	const struct hd_judge_env *env;
	const struct hd_seen *seen;
	unsigned page, huge;
	struct hd_judgement *out;
};

static struct hd_verdict *add(const struct bench *b, enum hd_verdict_code code)
{
	struct hd_verdict *verdict;

	if (b->out->count == HD_VERDICTS_MAX)
		return NULL;
	verdict = &b->out->verdict[b->out->count++];
	*verdict = (struct hd_verdict){ .code = code, .param = HD_PARAM_NONE };
	return verdict;
}

static bool scattered(const struct hd_seen *seen)
{
	return seen->mapping == HD_MAP_VMALLOC || seen->mapping == HD_MAP_VMALLOC_HUGE;
}

/** Would it be linear with hashdist=0? Early tables always, others up to the largest order. */
static bool fits_linear(const struct bench *b)
{
	struct hd_request request;

	if (hd_order(&b->machine->rules, b->seen->bytes) <=
	    (unsigned)b->machine->rules.value[HD_RULE_TOP_ORDER])
		return true;
	return hd_table_request(b->machine, b->seen->id, 1, &request) == 0 &&
	       request.when != HD_WHEN_LATE;
}

/** Where the linear map uses large pages, hashdist=0 saves translations. */
static void offer_linear(const struct bench *b, struct hd_verdict *verdict)
{
	if (!verdict)
		return;
	verdict->now = hd_translations(b->seen->bytes, b->seen->shift);
	if (!b->machine->hashdist || !fits_linear(b) || b->env->linear_shift <= b->seen->shift)
		return;
	verdict->then_shift = b->env->linear_shift;
	verdict->then = hd_translations(b->seen->bytes, b->env->linear_shift);
	verdict->param = HD_PARAM_HASHDIST;
	verdict->value = 0;
}

static bool gains_from_large_pages(const struct bench *b)
{
	return b->seen->mapping == HD_MAP_VMALLOC && b->seen->bytes >> b->page >= FEW &&
	       b->env->linear_shift > b->page;
}

static void judge_one_node(const struct bench *b)
{
	if (!scattered(b->seen) || !gains_from_large_pages(b))
		return;
	if (!b->machine->hashdist && b->seen->bytes >> b->huge == 0)
		return;
	offer_linear(b, add(b, b->env->emulated_nodes > 1 ? HD_V_EMULATED : HD_V_SMALL_PAGES));
}

static uint32_t fullest(const struct hd_seen *seen)
{
	uint32_t most = 0;

	for (uint32_t n = 1; n < seen->nodes; n++)
		if (seen->node_bytes[n] > seen->node_bytes[most])
			most = n;
	return most;
}

/** Would @param=@entries put the table on huge pages on this machine? */
static bool mends(const struct bench *b, enum hd_param param, uint64_t entries)
{
	struct hd_machine changed = *b->machine;
	struct hd_table table;

	changed.params.param[param].in_force = true;
	changed.params.param[param].value = entries;
	return !hd_predict(&changed, b->seen->id, entries, &table) && table.entries == entries &&
	       table.mapping == HD_MAP_VMALLOC_HUGE;
}

/** Dealt in chunks: a table of as many chunks as there are nodes reaches all of them. */
static void offer_chunks(const struct bench *b, struct hd_verdict *verdict)
{
	const struct hd_rules *rules = &b->machine->rules;
	const struct hd_table_info *info = hd_table_info(b->seen->id);
	uint64_t chunk =
	    1ULL << (rules->value[HD_RULE_PAGE_SHIFT] + rules->value[HD_RULE_TOP_ORDER]);
	uint64_t entries;

	if (!verdict || rules->value[HD_RULE_DEAL] != HD_DEAL_CHUNKS || !info ||
	    info->param >= HD_PARAM_COUNT || !b->seen->entries || b->seen->entries > b->seen->bytes)
		return;
	entries = power_of_two_up(b->machine->facts.memory_nodes * chunk /
				  (b->seen->bytes / b->seen->entries));
	if (entries <= b->seen->entries || !mends(b, info->param, entries))
		return;
	verdict->param = info->param;
	verdict->value = entries;
}

/** A distributed table whose bytes are known by node. */
static void judge_spread(const struct bench *b)
{
	const struct hd_seen *seen = b->seen;
	uint32_t most = fullest(seen);
	uint64_t total = 0, unit = 1ULL << (seen->shift ? seen->shift : b->page);
	struct hd_verdict *verdict;

	for (uint32_t n = 0; n < seen->nodes; n++)
		total += seen->node_bytes[n];
	/* Fewer pieces than nodes cannot go round; a few pieces cannot be fair. */
	if (total / unit < seen->nodes)
		return;
	if (seen->node_bytes[most] == total) {
		verdict = add(b, HD_V_ONE_NODE);
		if (seen->mapping == HD_MAP_VMALLOC)
			offer_linear(b, verdict);
		else
			offer_chunks(b, verdict);
	} else if (total / unit >= 4ULL * seen->nodes &&
		   seen->node_bytes[most] / 3 * 2 > total / seen->nodes) {
		verdict = add(b, HD_V_LOPSIDED);
	} else {
		return;
	}
	if (verdict)
		verdict->node = most;
}

/** Distributed, large, and yet on base pages: because of the rule, or for want of one. */
static void judge_pages(const struct bench *b)
{
	const struct hd_seen *seen = b->seen;
	const struct hd_table_info *info = hd_table_info(seen->id);
	uint64_t bucket, entries;
	struct hd_verdict *verdict;

	if (seen->mapping != HD_MAP_VMALLOC || !b->huge || seen->bytes >> b->huge == 0)
		return;
	verdict = add(b, HD_V_UNDER_HUGE);
	if (!verdict)
		return;
	verdict->now = hd_translations(seen->bytes, b->page);
	if (!info || info->param >= HD_PARAM_COUNT || !seen->entries || seen->entries > seen->bytes)
		return;
	/* Large enough by the rule: there was no free huge page, and a count mends nothing. */
	if (hd_vmalloc_shift(&b->machine->rules, &b->machine->facts,
			     b->machine->params.nohugevmalloc, seen->bytes) > b->page)
		return;
	bucket = seen->bytes / seen->entries;
	entries = power_of_two_up(((uint64_t)b->machine->facts.online_nodes << b->huge) / bucket);
	if (!mends(b, info->param, entries))
		return;
	verdict->param = info->param;
	verdict->value = entries;
	verdict->then_shift = b->huge;
	verdict->then = hd_translations(entries * bucket, b->huge);
}

static void judge_many_nodes(const struct bench *b)
{
	const struct hd_seen *seen = b->seen;
	struct hd_verdict *verdict;

	if (seen->mapping == HD_MAP_LINEAR) {
		struct hd_request request;
		int known = hd_table_request(b->machine, seen->id, 1, &request);

		if (b->machine->hashdist || seen->bytes >> b->huge < 2 || known ||
		    request.when == HD_WHEN_EARLY)
			return;
		verdict = add(b, HD_V_NOT_SPREAD);
		if (verdict && b->machine->rules.value[HD_RULE_HASHDIST_PARAM]) {
			verdict->param = HD_PARAM_HASHDIST;
			verdict->value = 1;
		}
		return;
	}
	if (!scattered(seen))
		return;
	if (seen->node_bytes && seen->nodes > 1)
		judge_spread(b);
	judge_pages(b);
}

static void judge_count(const struct bench *b, const struct hd_table *want)
{
	const struct hd_seen *seen = b->seen;
	const struct hd_table_info *info = hd_table_info(seen->id);
	struct hd_verdict *verdict = NULL;
	uint64_t asked = 0;

	if (!want || !seen->entries)
		return;
	if (info && info->param < HD_PARAM_COUNT && info->param != HD_PARAM_HASHDIST &&
	    b->machine->params.param[info->param].in_force)
		asked = b->machine->params.param[info->param].value;
	if (seen->entries < want->entries)
		verdict = add(b, HD_V_HALVED);
	else if (asked && want->sizing.capped && seen->entries < asked &&
		 seen->id != HD_TABLE_TCP_LISTEN && seen->id != HD_TABLE_TCP_BIND)
		verdict = add(b, HD_V_CLAMPED);
	if (!verdict)
		return;
	verdict->now = seen->entries;
	verdict->then = verdict->code == HD_V_CLAMPED ? asked : want->entries;
}

static void judge_fill(const struct bench *b)
{
	const struct hd_seen *seen = b->seen;
	const struct hd_table_info *info = hd_table_info(seen->id);
	struct hd_verdict *verdict = NULL;

	if (!seen->used_known || !info || !info->hashed || !seen->entries)
		return;
	if (seen->used / CROWDED >= seen->entries && seen->used > CROWDED) {
		verdict = add(b, HD_V_TOO_SMALL);
		if (verdict)
			verdict->value = power_of_two_up(seen->used);
	} else if (seen->used < seen->entries / EMPTY && seen->bytes >= SPACIOUS &&
		   b->env->uptime_seconds >= SETTLED) {
		verdict = add(b, HD_V_TOO_LARGE);
		if (verdict)
			verdict->value =
			    power_of_two_up(seen->used * 16 < 1024 ? 1024 : seen->used * 16);
	}
	if (!verdict)
		return;
	verdict->param = info->param;
	verdict->now = seen->used;
	verdict->then = seen->entries;
}

void hd_judge(const struct hd_machine *machine, const struct hd_judge_env *env,
	      const struct hd_seen *seen, const struct hd_table *want, struct hd_judgement *out)
{
	const struct hd_rules *rules = &machine->rules;
	struct bench b = { machine,
			   env,
			   seen,
			   (unsigned)rules->value[HD_RULE_PAGE_SHIFT],
			   env->huge_shift ? env->huge_shift
					   : (unsigned)rules->value[HD_RULE_PMD_SHIFT],
			   out };
	uint32_t nodes = env->emulated_nodes > 1 ? 1 : machine->facts.memory_nodes;

	out->count = 0;
	judge_count(&b, want);
	if (seen->mapping == HD_MAP_UNKNOWN || !seen->bytes || !nodes)
		add(&b, HD_V_UNKNOWN);
	else if (nodes == 1)
		judge_one_node(&b);
	else
		judge_many_nodes(&b);
	judge_fill(&b);
}

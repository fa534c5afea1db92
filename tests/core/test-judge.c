/* SPDX-License-Identifier: MIT */
/*
 * test-judge.c - each verdict once with the figures that bring it about, and once
 * with figures that just do not
 */
#include "help.h"

/** Figures that a test changes one at a time. */
struct bench {
	struct hd_machine machine;
	struct hd_judge_env env;
	struct hd_seen seen;
	struct hd_table want;
	bool has_want;
};

/** The machine's own prediction, lying as predicted: nothing to say about it. */
static struct bench bench_of(struct hd_machine machine, enum hd_table_id id)
{
	struct bench b = { .machine = machine, .has_want = true };

	b.want = predicted(&machine, id);
	b.env.linear_shift = 21;
	b.seen = (struct hd_seen){ .id = id,
				   .entries = b.want.entries,
				   .bytes = b.want.bytes,
				   .mapping = b.want.mapping,
				   .shift = b.want.shift };
	return b;
}

static struct hd_judgement judged(const struct bench *b)
{
	struct hd_judgement out;

	memset(&out, 0xa5, sizeof(out));
	hd_judge(&b->machine, &b->env, &b->seen, b->has_want ? &b->want : NULL, &out);
	assert_in_range(out.count, 0, HD_VERDICTS_MAX);
	for (unsigned i = 0; i < out.count; i++) {
		assert_in_range(out.verdict[i].code, HD_V_UNKNOWN, HD_V_COUNT - 1);
		assert_in_range(out.verdict[i].param, 0, HD_PARAM_NONE);
	}
	return out;
}

/** The only verdict there is. */
static struct hd_verdict only(const struct bench *b, enum hd_verdict_code code)
{
	struct hd_judgement out = judged(b);

	if (out.count != 1 || out.verdict[0].code != code)
		fail_msg("%u verdicts, first %s, not %s", out.count,
			 hd_verdict_name(out.count ? out.verdict[0].code : HD_OK),
			 hd_verdict_name(code));
	return out.verdict[0];
}

static void nothing(const struct bench *b)
{
	struct hd_judgement out = judged(b);

	if (out.count)
		fail_msg("%s, where nothing is wrong", hd_verdict_name(out.verdict[0].code));
}

static void lies_on(struct bench *b, const uint64_t *node_bytes, uint32_t nodes)
{
	b->seen.node_bytes = node_bytes;
	b->seen.nodes = nodes;
}

/* ---- one memory node ------------------------------------------------------------------ */

/*
 *   node 0  |########|  8 GiB, a kernel that never clears hashdist
 *
 * Its Dentry table of 8 MiB takes 2048 translations of 4 KiB; linear, it would
 * take 4 of 2 MiB.
 */
static void one_node_on_small_pages(void **state)
{
	struct bench b =
	    bench_of(machine_of("5.2.1", HD_ARCH_X86_64, 8 * GIB, 1, ""), HD_TABLE_DENTRY);
	struct hd_verdict v;

	(void)state;
	assert_int_equal(b.seen.bytes, 8 * MIB);
	v = only(&b, HD_V_SMALL_PAGES);
	assert_int_equal(v.now, 2048);
	assert_int_equal(v.then, 4);
	assert_int_equal(v.then_shift, 21);
	assert_int_equal(v.param, HD_PARAM_HASHDIST);
	assert_int_equal(v.value, 0);

	/* The linear map itself is on 4 KiB pages (stock arm64): nothing to gain. */
	b.env.linear_shift = 12;
	nothing(&b);
	b.env.linear_shift = 0;
	nothing(&b);
	b.env.linear_shift = 21;
	/* In the linear map it would lie on no larger ones than it does. */
	b.seen.shift = 21;
	assert_int_equal(only(&b, HD_V_SMALL_PAGES).param, HD_PARAM_NONE);
	b.seen.mapping = HD_MAP_VMALLOC_HUGE;
	nothing(&b);
	b.seen.mapping = HD_MAP_LINEAR;
	nothing(&b);
}

static void a_few_translations_are_not_worth_a_word(void **state)
{
	struct bench b =
	    bench_of(machine_of("5.2.1", HD_ARCH_X86_64, 8 * GIB, 1, ""), HD_TABLE_MOUNT);

	(void)state;
	b.has_want = false;
	b.seen.bytes = 8 * 4096;
	only(&b, HD_V_SMALL_PAGES);
	b.seen.bytes = 8 * 4096 - 1;
	nothing(&b);
}

static void no_parameter_is_named_that_would_not_help(void **state)
{
	/* Late, and beyond the largest order: scattered, whatever hashdist says. */
	struct bench b = bench_of(machine_of("6.1", HD_ARCH_X86_64, 8 * GIB, 1,
					     "hashdist=1 nohugevmalloc thash_entries=4194304"),
				  HD_TABLE_TCP_ESTABLISHED);
	struct hd_verdict v = only(&b, HD_V_SMALL_PAGES);

	(void)state;
	assert_int_equal(v.param, HD_PARAM_NONE);
	assert_int_equal(v.now, 8192);
	assert_int_equal(v.then, 0);
	boot_with(&b.machine, "nohugevmalloc thash_entries=4194304");
	assert_int_equal(only(&b, HD_V_SMALL_PAGES).param, HD_PARAM_NONE);
	/* Without hashdist, what is smaller than a huge page is not spoken of. */
	b.has_want = false;
	b.seen.bytes = 2 * MIB;
	only(&b, HD_V_SMALL_PAGES);
	b.seen.bytes = 2 * MIB - 1;
	nothing(&b);
	/* Dentry is early without hashdist, at any size. */
	b = bench_of(machine_of("6.1", HD_ARCH_X86_64, 64 * GIB, 1, "hashdist=1 nohugevmalloc"),
		     HD_TABLE_DENTRY);
	assert_int_equal(b.seen.bytes, 64 * MIB);
	assert_int_equal(only(&b, HD_V_SMALL_PAGES).param, HD_PARAM_HASHDIST);
}

/*
 *   one board, cut into 8 nodes by numa=fake
 *   |#|#|#|#|#|#|#|#|
 */
static void emulated_nodes_are_one_node(void **state)
{
	struct bench b =
	    bench_of(machine_of("6.6", HD_ARCH_ARM64, 8 * GIB, 8, "numa=fake=8"), HD_TABLE_DENTRY);
	struct hd_verdict v;

	(void)state;
	b.env.emulated_nodes = 8;
	assert_int_equal(b.seen.mapping, HD_MAP_VMALLOC);
	v = only(&b, HD_V_EMULATED);
	assert_int_equal(v.param, HD_PARAM_HASHDIST);
	assert_int_equal(v.value, 0);
	assert_int_equal(v.now, 2048);
	assert_int_equal(v.then, 4);
	b.env.linear_shift = 12;
	nothing(&b);
	/* Real nodes are something else. */
	b.env.linear_shift = 21;
	b.env.emulated_nodes = 1;
	only(&b, HD_V_UNDER_HUGE);
}

/* ---- several memory nodes --------------------------------------------------------------- */

/*
 *   node 0  |########|                       1 GiB
 *   node 1  |########|  all 512 pages of it  1 GiB
 *
 * From 6.19 on, chunks of up to 4 MiB go to one node each.
 */
static void distributed_in_name_on_one_node(void **state)
{
	static const uint64_t all[] = { 0, 2 * MIB }, even[] = { MIB, MIB };
	static const uint64_t one[] = { 0, 4096 }, two[] = { 0, 2 * 4096 };
	struct bench b = bench_of(machine_of("7.2", HD_ARCH_X86_64, 2 * GIB, 2, "nohugevmalloc"),
				  HD_TABLE_DENTRY);
	struct hd_judgement out;

	(void)state;
	lies_on(&b, all, 2);
	out = judged(&b);
	assert_int_equal(out.count, 2);
	assert_int_equal(out.verdict[0].code, HD_V_ONE_NODE);
	assert_int_equal(out.verdict[0].node, 1);
	assert_int_equal(out.verdict[0].now, 512);
	assert_int_equal(out.verdict[0].then, 1);
	assert_int_equal(out.verdict[0].param, HD_PARAM_HASHDIST);
	assert_int_equal(out.verdict[1].code, HD_V_UNDER_HUGE);
	lies_on(&b, even, 2);
	only(&b, HD_V_UNDER_HUGE);

	/* One page does not go round. */
	b.has_want = false;
	b.seen.bytes = 4096;
	lies_on(&b, one, 2);
	nothing(&b);
	b.seen.bytes = 2 * 4096;
	lies_on(&b, two, 2);
	only(&b, HD_V_ONE_NODE);
	/* Where the bytes are not known by node, nothing is said. */
	lies_on(&b, NULL, 2);
	nothing(&b);
}

static void huge_pieces_are_dealt_as_a_whole(void **state)
{
	static const uint64_t one[] = { 2 * MIB, 0 }, two[] = { 4 * MIB, 0 };
	struct bench b =
	    bench_of(machine_of("6.12.117", HD_ARCH_X86_64, 4 * GIB, 2, ""), HD_TABLE_DENTRY);

	(void)state;
	assert_int_equal(b.seen.mapping, HD_MAP_VMALLOC_HUGE);
	lies_on(&b, two, 2);
	assert_int_equal(only(&b, HD_V_ONE_NODE).param, HD_PARAM_NONE);
	b.has_want = false;
	b.seen.bytes = 2 * MIB; /* one piece */
	lies_on(&b, one, 2);
	nothing(&b);
}

/*
 *   7.1 deals chunks of 4 MiB
 *   node 0  |####|    node 1  |    |    the table is one chunk: two would go round
 */
static void a_second_chunk_would_reach_the_second_node(void **state)
{
	static const uint64_t four[] = { 4 * MIB, 0 }, eight[] = { 8 * MIB, 0 };
	struct bench b =
	    bench_of(machine_of("7.1", HD_ARCH_X86_64, 4 * GIB, 2, ""), HD_TABLE_DENTRY);
	struct hd_verdict v;

	(void)state;
	lies_on(&b, four, 2);
	v = only(&b, HD_V_ONE_NODE);
	assert_int_equal(v.param, HD_PARAM_DHASH_ENTRIES);
	assert_int_equal(v.value, 1048576);
	/* Large enough already: the same number of entries is no advice. */
	b = bench_of(machine_of("7.1", HD_ARCH_X86_64, 8 * GIB, 2, ""), HD_TABLE_DENTRY);
	lies_on(&b, eight, 2);
	assert_int_equal(only(&b, HD_V_ONE_NODE).param, HD_PARAM_NONE);
	/* IP idents cannot be told. */
	b = bench_of(machine_of("7.1", HD_ARCH_X86_64, 16 * GIB, 2, ""), HD_TABLE_IP_IDENTS);
	b.seen.bytes = 4 * MIB;
	lies_on(&b, four, 2);
	assert_int_equal(only(&b, HD_V_ONE_NODE).param, HD_PARAM_NONE);
}

static void a_table_that_leans_to_one_node(void **state)
{
	static const uint64_t leans[] = { 2 * MIB, 6 * MIB + 4096 }, edge[] = { 2 * MIB, 6 * MIB };
	static const uint64_t of_three[] = { 4 * MIB, 2 * MIB, 2 * MIB };
	static const uint64_t of_eight[] = { 7 * 4096, 4096 }, of_seven[] = { 6 * 4096, 4096 };
	static const uint64_t of_three_more[] = { 4 * MIB + 4096, 2 * MIB, 2 * MIB - 4096 };
	struct bench b = bench_of(machine_of("6.1", HD_ARCH_X86_64, 8 * GIB, 2, "nohugevmalloc"),
				  HD_TABLE_DENTRY);
	struct hd_judgement out;

	(void)state;
	lies_on(&b, leans, 2);
	out = judged(&b);
	assert_int_equal(out.count, 2);
	assert_int_equal(out.verdict[0].code, HD_V_LOPSIDED);
	assert_int_equal(out.verdict[0].node, 1);
	/* One and a half times its share is the most that passes. */
	lies_on(&b, edge, 2);
	only(&b, HD_V_UNDER_HUGE);
	lies_on(&b, of_three, 3);
	only(&b, HD_V_UNDER_HUGE);
	lies_on(&b, of_three_more, 3);
	assert_int_equal(judged(&b).verdict[0].code, HD_V_LOPSIDED);
	assert_int_equal(judged(&b).verdict[0].node, 0);
	/* A few pieces cannot be fair: four a node are asked for. */
	b.has_want = false;
	b.seen.bytes = 8 * 4096;
	lies_on(&b, of_eight, 2);
	only(&b, HD_V_LOPSIDED);
	b.seen.bytes = 7 * 4096;
	lies_on(&b, of_seven, 2);
	nothing(&b);
}

static void one_block_where_there_are_several_nodes(void **state)
{
	struct bench b =
	    bench_of(machine_of("6.1", HD_ARCH_X86_64, 4 * GIB, 2, "hashdist=0"), HD_TABLE_DENTRY);
	struct hd_verdict v;

	(void)state;
	assert_int_equal(b.seen.bytes, 4 * MIB);
	v = only(&b, HD_V_NOT_SPREAD);
	assert_int_equal(v.param, HD_PARAM_HASHDIST);
	assert_int_equal(v.value, 1);
	/* Nothing to spread in one huge page. */
	b.has_want = false;
	b.seen.bytes = 4 * MIB - 1;
	nothing(&b);
	b.seen.bytes = 4 * MIB;
	b.machine.hashdist = true;
	nothing(&b);
	/* A kernel without the parameter cannot be told. */
	b.machine.hashdist = false;
	b.machine.rules.value[HD_RULE_HASHDIST_PARAM] = 0;
	assert_int_equal(only(&b, HD_V_NOT_SPREAD).param, HD_PARAM_NONE);
	/* What is early by nature stays where it is. */
	b.machine.facts.pv_spinlocks = true;
	b.seen.id = HD_TABLE_PV_QSPINLOCK;
	nothing(&b);
}

/*
 *   node 0  |####|  node 1  |####|   2 GiB, 6.1: each node's share is 1 MiB
 */
static void a_share_below_a_huge_page(void **state)
{
	struct bench b =
	    bench_of(machine_of("6.1.192", HD_ARCH_X86_64, 2 * GIB, 2, ""), HD_TABLE_DENTRY);
	struct hd_verdict v = only(&b, HD_V_UNDER_HUGE);

	(void)state;
	assert_int_equal(v.param, HD_PARAM_DHASH_ENTRIES);
	assert_int_equal(v.value, 524288);
	assert_int_equal(v.now, 512);
	assert_int_equal(v.then, 2);
	assert_int_equal(v.then_shift, 21);
	/* It does as it says. */
	boot_with(&b.machine, "dhash_entries=524288");
	assert_int_equal(predicted(&b.machine, HD_TABLE_DENTRY).mapping, HD_MAP_VMALLOC_HUGE);

	b = bench_of(machine_of("6.1.192", HD_ARCH_X86_64, 4 * GIB, 4, ""), HD_TABLE_DENTRY);
	assert_int_equal(only(&b, HD_V_UNDER_HUGE).value, 1048576);
	/* Below a huge page no parameter is worth it. */
	b = bench_of(machine_of("6.1.192", HD_ARCH_X86_64, 2 * GIB, 2, ""), HD_TABLE_INODE);
	nothing(&b);
	/* From 6.13 on the whole counts. */
	b = bench_of(machine_of("6.13", HD_ARCH_X86_64, 2 * GIB, 2, ""), HD_TABLE_DENTRY);
	assert_int_equal(b.seen.mapping, HD_MAP_VMALLOC_HUGE);
	nothing(&b);
}

static void base_pages_that_no_parameter_mends(void **state)
{
	struct bench b = bench_of(machine_of("6.1", HD_ARCH_X86_64, 16 * GIB, 2, "nohugevmalloc"),
				  HD_TABLE_DENTRY);

	(void)state;
	assert_int_equal(only(&b, HD_V_UNDER_HUGE).param, HD_PARAM_NONE);
	/* IP idents have no parameter. */
	b = bench_of(machine_of("6.1", HD_ARCH_X86_64, 16 * GIB, 2, ""), HD_TABLE_IP_IDENTS);
	assert_int_equal(only(&b, HD_V_UNDER_HUGE).param, HD_PARAM_NONE);
	/* The kernel has no huge vmalloc. */
	b = bench_of(machine_of("5.10", HD_ARCH_X86_64, 16 * GIB, 2, ""), HD_TABLE_DENTRY);
	assert_int_equal(only(&b, HD_V_UNDER_HUGE).param, HD_PARAM_NONE);
	/* Large enough by the rule: there was no free huge page. A smaller table is no cure. */
	b = bench_of(machine_of("6.1", HD_ARCH_X86_64, 16 * GIB, 2, ""), HD_TABLE_DENTRY);
	b.seen.mapping = HD_MAP_VMALLOC;
	b.seen.shift = 12;
	assert_int_equal(only(&b, HD_V_UNDER_HUGE).param, HD_PARAM_NONE);
	assert_int_equal(only(&b, HD_V_UNDER_HUGE).then, 0);
	b = bench_of(machine_of("7.1", HD_ARCH_X86_64, 2 * GIB, 2, ""), HD_TABLE_DENTRY);
	b.seen.mapping = HD_MAP_VMALLOC;
	b.seen.shift = 12;
	assert_int_equal(only(&b, HD_V_UNDER_HUGE).param, HD_PARAM_NONE);
}

/* ---- size ------------------------------------------------------------------------------ */

static void smaller_than_computed(void **state)
{
	struct bench b =
	    bench_of(machine_of("6.1", HD_ARCH_X86_64, 2 * GIB, 1, ""), HD_TABLE_DENTRY);
	struct hd_verdict v;

	(void)state;
	nothing(&b);
	b.seen.entries = 131072;
	b.seen.bytes = MIB;
	v = only(&b, HD_V_HALVED);
	assert_int_equal(v.now, 131072);
	assert_int_equal(v.then, 262144);
	assert_int_equal(v.param, HD_PARAM_NONE);
	b.has_want = false; /* nothing to compare with */
	nothing(&b);
	b.has_want = true;
	b.seen.entries = 0; /* the books do not say how many */
	nothing(&b);
	b.seen.entries = 524288;
	nothing(&b);
}

static void a_parameter_asked_for_more_than_a_sixteenth(void **state)
{
	struct bench b =
	    bench_of(machine_of("6.1.192", HD_ARCH_X86_64, 2 * GIB, 1, "dhash_entries=999999999"),
		     HD_TABLE_DENTRY);
	struct hd_verdict v;

	(void)state;
	v = only(&b, HD_V_CLAMPED);
	assert_int_equal(v.now, 16777216);
	assert_int_equal(v.then, 999999999);
	/* With what a 2 GiB guest counts, no power of two: down. */
	b.machine.facts.pages.kernel = b.machine.facts.pages.all = 515808;
	b = bench_of(b.machine, HD_TABLE_DENTRY);
	assert_int_equal(only(&b, HD_V_CLAMPED).now, 8388608);
	/* Just what fits is not clamped. */
	boot_with(&b.machine, "dhash_entries=8388608");
	b = bench_of(b.machine, HD_TABLE_DENTRY);
	nothing(&b);
	/* Another table's parameter has no part in it. */
	boot_with(&b.machine, "ihash_entries=999999999");
	b = bench_of(b.machine, HD_TABLE_DENTRY);
	nothing(&b);
	/* thash_entries is meant for established; the others have limits of their own. */
	boot_with(&b.machine, "thash_entries=100000");
	b = bench_of(b.machine, HD_TABLE_TCP_LISTEN);
	nothing(&b);
	b = bench_of(b.machine, HD_TABLE_TCP_BIND);
	nothing(&b);
	boot_with(&b.machine, "uhash_entries=100000");
	b = bench_of(b.machine, HD_TABLE_UDP);
	assert_int_equal(only(&b, HD_V_CLAMPED).then, 100000);
}

static void many_objects_in_a_bucket(void **state)
{
	struct bench b =
	    bench_of(machine_of("6.1", HD_ARCH_X86_64, 2 * GIB, 1, ""), HD_TABLE_DENTRY);
	struct hd_verdict v;

	(void)state;
	b.seen.used = 2 * 262144;
	nothing(&b); /* not known, whatever stands there */
	b.seen.used_known = true;
	v = only(&b, HD_V_TOO_SMALL);
	assert_int_equal(v.param, HD_PARAM_DHASH_ENTRIES);
	assert_int_equal(v.value, 524288);
	assert_int_equal(v.now, 524288);
	assert_int_equal(v.then, 262144);
	b.seen.used = 2 * 262144 - 1;
	nothing(&b);
	b.seen.used = 600000;
	assert_int_equal(only(&b, HD_V_TOO_SMALL).value, 1048576);
	/* An array is not filled. */
	b = bench_of(b.machine, HD_TABLE_IP_IDENTS);
	b.seen.used_known = true;
	b.seen.used = UINT64_MAX;
	nothing(&b);
	b = bench_of(b.machine, HD_TABLE_DENTRY);
	b.seen.used_known = true;
	b.seen.used = UINT64_MAX;
	only(&b, HD_V_TOO_SMALL);
}

static void nearly_empty_after_a_day(void **state)
{
	struct bench b =
	    bench_of(machine_of("6.1", HD_ARCH_X86_64, 8 * GIB, 1, ""), HD_TABLE_DENTRY);
	struct hd_verdict v;

	(void)state;
	b.env.uptime_seconds = 24 * 3600;
	b.seen.used_known = true;
	b.seen.used = 4095; /* of 1048576, in 8 MiB */
	v = only(&b, HD_V_TOO_LARGE);
	assert_int_equal(v.param, HD_PARAM_DHASH_ENTRIES);
	assert_int_equal(v.value, 65536);
	assert_int_equal(v.now, 4095);
	assert_int_equal(v.then, 1048576);
	b.seen.used = 4096;
	nothing(&b);
	b.seen.used = 0;
	assert_int_equal(only(&b, HD_V_TOO_LARGE).value, 1024);
	b.env.uptime_seconds--;
	nothing(&b);
	b.env.uptime_seconds = 0; /* unknown */
	nothing(&b);
	b.env.uptime_seconds = 24 * 3600;
	b.seen.bytes--;
	nothing(&b);
}

/* ---- ok, unknown, names ------------------------------------------------------------------- */

static void a_fresh_machine_of_each_kind_is_in_order(void **state)
{
	static const enum hd_table_id ids[] = { HD_TABLE_DENTRY, HD_TABLE_INODE, HD_TABLE_MOUNT,
						HD_TABLE_TCP_ESTABLISHED, HD_TABLE_UDP };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		for (uint32_t nodes = 1; nodes <= 4; nodes++) {
			struct bench b = bench_of(
			    machine_of("6.13", HD_ARCH_X86_64, 64 * GIB, nodes, ""), ids[i]);

			nothing(&b);
		}
}

static void books_that_tell_too_little(void **state)
{
	struct bench b =
	    bench_of(machine_of("6.1", HD_ARCH_X86_64, 2 * GIB, 2, ""), HD_TABLE_INODE);

	(void)state;
	b.seen.mapping = HD_MAP_UNKNOWN;
	assert_int_equal(only(&b, HD_V_UNKNOWN).param, HD_PARAM_NONE);
	b.seen.mapping = HD_MAP_VMALLOC;
	nothing(&b);
	b.seen.bytes = 0;
	only(&b, HD_V_UNKNOWN);
	b.seen.bytes = MIB;
	b.machine.facts.memory_nodes = 0;
	only(&b, HD_V_UNKNOWN);
}

static void the_size_comes_before_the_place_and_the_filling_last(void **state)
{
	static const uint64_t all[] = { 0, 2 * MIB };
	struct bench b = bench_of(machine_of("6.1", HD_ARCH_X86_64, 8 * GIB, 2, "nohugevmalloc"),
				  HD_TABLE_DENTRY);
	struct hd_judgement out;

	(void)state;
	b.seen.entries = 262144;
	b.seen.bytes = 2 * MIB;
	b.seen.used_known = true;
	b.seen.used = 1000000;
	lies_on(&b, all, 2);
	out = judged(&b);
	assert_int_equal(out.count, 4);
	assert_int_equal(out.verdict[0].code, HD_V_HALVED);
	assert_int_equal(out.verdict[1].code, HD_V_ONE_NODE);
	assert_int_equal(out.verdict[2].code, HD_V_UNDER_HUGE);
	assert_int_equal(out.verdict[3].code, HD_V_TOO_SMALL);
}

static void verdicts_have_names_for_scripts(void **state)
{
	(void)state;
	for (int code = 0; code < HD_V_COUNT; code++) {
		assert_non_null(hd_verdict_name(code));
		for (int other = 0; other < code; other++)
			assert_string_not_equal(hd_verdict_name(code), hd_verdict_name(other));
	}
	assert_string_equal(hd_verdict_name(HD_OK), "ok");
	assert_string_equal(hd_verdict_name(HD_V_SMALL_PAGES), "small-pages");
	assert_string_equal(hd_verdict_name(HD_V_COUNT), "unknown");
}

/** Any number at all, small ones and powers of two more often than others. */
static uint64_t any(uint64_t *random)
{
	switch (random_below(random, 4)) {
	case 0:
		return random_below(random, 20);
	case 1:
		return 1ULL << random_below(random, 64);
	case 2:
		return (1ULL << random_below(random, 64)) - 1;
	default:
		return random_next(random) >> random_below(random, 64);
	}
}

static void hostile_books_do_no_harm(void **state)
{
	static const char *const versions[] = { "2.6.32", "5.2", "6.1", "6.12", "7.1" };
	static const char *const cmdlines[] = { "", "hashdist=1", "hashdist=0 dhash_entries=1",
						"dhash_entries=999999999 thash_entries=99999" };
	uint64_t random = seed_of("test-judge", 19);

	(void)state;
	for (int round = 0; round < 100000; round++) {
		struct hd_machine m = machine_of(
		    versions[random_below(&random, 5)], HD_ARCH_X86_64, any(&random) >> 10,
		    (uint32_t)random_below(&random, 5), cmdlines[random_below(&random, 4)]);
		uint64_t node_bytes[4] = { any(&random), any(&random), any(&random) };
		struct bench b = { .machine = m };

		b.env.emulated_nodes = (uint32_t)random_below(&random, 3);
		b.env.uptime_seconds = any(&random);
		b.env.linear_shift = (unsigned)random_below(&random, 40);
		b.env.huge_shift = (unsigned)random_below(&random, 40);
		b.seen.id = (enum hd_table_id)random_below(&random, HD_TABLE_COUNT + 1);
		b.seen.entries = any(&random);
		b.seen.bytes = any(&random);
		b.seen.mapping = (enum hd_mapping)random_below(&random, HD_MAP_VMALLOC_HUGE + 1);
		b.seen.shift = (unsigned)random_below(&random, 40);
		lies_on(&b, random_below(&random, 2) ? node_bytes : NULL,
			(uint32_t)random_below(&random, 5));
		b.seen.used_known = random_below(&random, 2);
		b.seen.used = any(&random);
		b.want.entries = any(&random);
		b.want.sizing.capped = random_below(&random, 2);
		b.has_want = random_below(&random, 2);
		judged(&b);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_node_on_small_pages),
		cmocka_unit_test(a_few_translations_are_not_worth_a_word),
		cmocka_unit_test(no_parameter_is_named_that_would_not_help),
		cmocka_unit_test(emulated_nodes_are_one_node),
		cmocka_unit_test(distributed_in_name_on_one_node),
		cmocka_unit_test(huge_pieces_are_dealt_as_a_whole),
		cmocka_unit_test(a_second_chunk_would_reach_the_second_node),
		cmocka_unit_test(a_table_that_leans_to_one_node),
		cmocka_unit_test(one_block_where_there_are_several_nodes),
		cmocka_unit_test(a_share_below_a_huge_page),
		cmocka_unit_test(base_pages_that_no_parameter_mends),
		cmocka_unit_test(smaller_than_computed),
		cmocka_unit_test(a_parameter_asked_for_more_than_a_sixteenth),
		cmocka_unit_test(many_objects_in_a_bucket),
		cmocka_unit_test(nearly_empty_after_a_day),
		cmocka_unit_test(a_fresh_machine_of_each_kind_is_in_order),
		cmocka_unit_test(books_that_tell_too_little),
		cmocka_unit_test(the_size_comes_before_the_place_and_the_filling_last),
		cmocka_unit_test(verdicts_have_names_for_scripts),
		cmocka_unit_test(hostile_books_do_no_harm),
	};

	return cmocka_run_group_tests_name("core: verdicts", tests, NULL, NULL);
}

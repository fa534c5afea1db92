/* SPDX-License-Identifier: MIT */
/*
 * test-alloc.c - the engine, with providers that write down what is asked of them
 *
 * A tape records every call. It says no to the first so many calls, or to
 * whatever is larger than it has room for, and counts the blocks it handed out:
 * a table is one block, a failure none.
 */
#include "help.h"

struct call {
	char who; /* 'e'arly, 'c'ontiguous, 's'cattered */
	uint64_t bytes;
	unsigned order, shift;
	bool zero;
};

struct tape {
	struct call call[64];
	unsigned count;
	unsigned refuse;         /* calls to say no to first */
	uint64_t room;           /* largest block, bytes; 0 no limit */
	unsigned scattered_only; /* scattered: largest shift it has pages of; 0 any */
	unsigned given;          /* blocks handed out */
};

static char block;

static void *played(struct tape *tape, struct call call)
{
	assert_true(tape->count < ARRAY_SIZE(tape->call));
	tape->call[tape->count++] = call;
	if (tape->refuse) {
		tape->refuse--;
		return NULL;
	}
	if (tape->room && call.bytes > tape->room)
		return NULL;
	tape->given++;
	return &block;
}

static void *early(void *ctx, uint64_t bytes, bool zero)
{
	return played(ctx, (struct call){ .who = 'e', .bytes = bytes, .zero = zero });
}

static void *contiguous(void *ctx, uint64_t bytes, unsigned order, bool zero)
{
	return played(ctx,
		      (struct call){ .who = 'c', .bytes = bytes, .order = order, .zero = zero });
}

static void *scattered(void *ctx, uint64_t bytes, unsigned shift, unsigned *got_shift, bool zero)
{
	struct tape *tape = ctx;

	*got_shift =
	    tape->scattered_only && tape->scattered_only < shift ? tape->scattered_only : shift;
	return played(tape,
		      (struct call){ .who = 's', .bytes = bytes, .shift = shift, .zero = zero });
}

static int alloc_on(struct tape *tape, const struct hd_machine *machine, struct hd_request request,
		    struct hd_table *out)
{
	struct hd_providers providers = { tape, early, contiguous, scattered };

	return hd_table_alloc(machine, &request, &providers, out);
}

/** One table of pointers, of so many bytes, on a tape without limits. */
static struct hd_table got(const struct hd_machine *machine, uint64_t bytes, enum hd_when when,
			   char who)
{
	struct tape tape = { .count = 0 };
	struct hd_table table;
	struct hd_request request = {
		.bucket_bytes = 8, .entries = bytes / 8, .high = 1ULL << 31, .when = when
	};

	assert_int_equal(alloc_on(&tape, machine, request, &table), 0);
	assert_int_equal(tape.count, 1);
	assert_int_equal(tape.given, 1);
	assert_int_equal(tape.call[0].who, who);
	assert_int_equal(tape.call[0].bytes, bytes);
	assert_int_equal(table.bytes, bytes);
	assert_int_equal(table.halvings, 0);
	assert_ptr_equal(table.start, &block);
	assert_int_equal(table.early, who == 'e');
	if (who != 's') {
		assert_int_equal(table.mapping, HD_MAP_LINEAR);
		assert_int_equal(table.shift, 0);
	}
	if (who == 'c')
		assert_int_equal(tape.call[0].order, hd_order(&machine->rules, bytes));
	return table;
}

/* ---- which provider ---------------------------------------------------------------- */

/*
 *   node 0  |########|         hashdist is clear
 *
 * Early tables early, the others in one piece, up to the largest order (4 MiB).
 */
static void one_node_has_linear_tables(void **state)
{
	struct hd_machine m = machine_of("6.1.192", HD_ARCH_X86_64, 16 * GIB, 1, "");

	(void)state;
	got(&m, 8 * MIB, HD_WHEN_EARLY, 'e');
	got(&m, 8 * MIB, HD_WHEN_EARLY_UNLESS, 'e');
	got(&m, 4096, HD_WHEN_LATE, 'c');
	got(&m, 4 * MIB, HD_WHEN_LATE, 'c');
	got(&m, 8, HD_WHEN_LATE, 'c');
	assert_int_equal(got(&m, 8 * MIB, HD_WHEN_LATE, 's').mapping, HD_MAP_VMALLOC_HUGE);
}

/*
 *   node 0  |####|   node 1  |####|         hashdist is set
 */
static void several_nodes_have_scattered_tables(void **state)
{
	struct hd_machine m = machine_of("6.1.192", HD_ARCH_X86_64, 16 * GIB, 2, "");

	(void)state;
	got(&m, 8 * MIB, HD_WHEN_EARLY, 'e'); /* always early: PV qspinlock, PID */
	assert_int_equal(got(&m, 8, HD_WHEN_LATE, 's').mapping, HD_MAP_VMALLOC);
	assert_int_equal(got(&m, 8, HD_WHEN_EARLY_UNLESS, 's').mapping, HD_MAP_VMALLOC);
	assert_int_equal(got(&m, 2 * MIB, HD_WHEN_LATE, 's').mapping, HD_MAP_VMALLOC);
	assert_int_equal(got(&m, 4 * MIB, HD_WHEN_LATE, 's').mapping, HD_MAP_VMALLOC_HUGE);
	assert_int_equal(got(&m, 16 * MIB, HD_WHEN_EARLY_UNLESS, 's').mapping, HD_MAP_VMALLOC_HUGE);
}

static void the_flag_decides_not_the_nodes(void **state)
{
	struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, GIB, 2, "hashdist=0");

	(void)state;
	got(&m, MIB, HD_WHEN_LATE, 'c');
	got(&m, MIB, HD_WHEN_EARLY_UNLESS, 'e');
	m = machine_of("6.1", HD_ARCH_X86_64, GIB, 1, "hashdist=1");
	got(&m, MIB, HD_WHEN_LATE, 's');
	got(&m, MIB, HD_WHEN_EARLY_UNLESS, 's');
	m.hashdist = false; /* the caller may overrule it */
	got(&m, MIB, HD_WHEN_LATE, 'c');
}

static void the_largest_order_is_of_the_page_size(void **state)
{
	static const struct {
		enum hd_arch arch;
		int shift;
		uint64_t top;
	} cells[] = {
		{ HD_ARCH_X86_64, 12, 4 * MIB }, { HD_ARCH_ARM64, 12, 4 * MIB },
		{ HD_ARCH_ARM64, 14, 32 * MIB }, { HD_ARCH_ARM64, 16, 512 * MIB },
		{ HD_ARCH_PPC64, 12, 16 * MIB }, { HD_ARCH_PPC64, 16, 16 * MIB },
		{ HD_ARCH_I386, 12, 4 * MIB },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct hd_machine m = machine_of("6.1", cells[i].arch, TIB, 1, "");

		hd_rules_set(&m.rules, HD_RULE_PAGE_SHIFT, cells[i].shift, HD_ORIGIN_GIVEN);
		m.facts.pages.kernel = m.facts.pages.all = TIB >> cells[i].shift;
		got(&m, cells[i].top, HD_WHEN_LATE, 'c');
		got(&m, 2 * cells[i].top, HD_WHEN_LATE, 's');
	}
}

static void zeroing_is_passed_on(void **state)
{
	static const char *const cmdlines[] = { "hashdist=0", "hashdist=1" };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (int when = HD_WHEN_EARLY; when <= HD_WHEN_LATE; when++)
			for (int zero = 0; zero < 2; zero++) {
				struct hd_machine m =
				    machine_of("6.1", HD_ARCH_X86_64, GIB, 1, cmdlines[i]);
				struct tape tape = { .count = 0 };
				struct hd_table table;
				struct hd_request request = { .bucket_bytes = 8,
							      .entries = 512,
							      .when = when,
							      .zero = zero };

				assert_int_equal(alloc_on(&tape, &m, request, &table), 0);
				assert_int_equal(tape.call[0].zero, zero);
			}
}

/* ---- halving ------------------------------------------------------------------------ */

static void a_table_is_halved_once_for_every_refusal(void **state)
{
	static const char whos[] = "ecs";

	(void)state;
	for (unsigned w = 0; w < 3; w++)
		for (unsigned k = 0; k <= 9; k++) { /* 2 MiB to a page */
			struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, GIB, 1,
							 w == 2 ? "hashdist=1" : "hashdist=0");
			struct tape tape = { .refuse = k };
			struct hd_table table;
			struct hd_request request = { .bucket_bytes = 8,
						      .entries = 262144,
						      .when = w ? HD_WHEN_LATE : HD_WHEN_EARLY };

			assert_int_equal(alloc_on(&tape, &m, request, &table), 0);
			assert_int_equal(tape.count, k + 1);
			assert_int_equal(table.halvings, k);
			assert_int_equal(table.entries, 262144 >> k);
			assert_int_equal(table.bytes, (2 * MIB) >> k);
			assert_int_equal(table.sizing.entries, 262144);
			for (unsigned c = 0; c < tape.count; c++) {
				assert_int_equal(tape.call[c].who, whos[w]);
				assert_int_equal(tape.call[c].bytes, (2 * MIB) >> c);
			}
			assert_int_equal(tape.given, 1);
		}
}

static void nothing_below_a_page_is_tried(void **state)
{
	struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, GIB, 1, "");
	struct tape tape = { .refuse = 64 };
	struct hd_table table = { .entries = 12345 };
	struct hd_request request = { .bucket_bytes = 8, .entries = 4096, .when = HD_WHEN_LATE };

	(void)state;
	assert_int_equal(alloc_on(&tape, &m, request, &table), HD_ENOMEM);
	assert_int_equal(tape.count, 4); /* 32, 16, 8 and 4 KiB */
	assert_int_equal(tape.call[3].bytes, 4096);
	assert_int_equal(tape.given, 0);
	assert_int_equal(table.entries, 12345); /* filled on success only */

	/* One that starts below a page is tried once. */
	tape = (struct tape){ .refuse = 64 };
	request.entries = 4;
	assert_int_equal(alloc_on(&tape, &m, request, &table), HD_ENOMEM);
	assert_int_equal(tape.count, 1);

	/* 128 x 48 bytes are a page and a half: the half of it is the last. */
	tape = (struct tape){ .refuse = 64 };
	request = (struct hd_request){ .bucket_bytes = 48, .entries = 128, .when = HD_WHEN_LATE };
	assert_int_equal(alloc_on(&tape, &m, request, &table), HD_ENOMEM);
	assert_int_equal(tape.count, 2);
	assert_int_equal(tape.call[1].bytes, 3072);
}

static void one_entry_is_never_halved(void **state)
{
	struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, GIB, 1, "");
	struct hd_table table;

	(void)state;
	for (uint64_t entries = 1; entries <= 4; entries *= 2) {
		struct tape tape = { .refuse = 64 };
		struct hd_request request = { .bucket_bytes = 1 * MIB,
					      .entries = entries,
					      .when = HD_WHEN_EARLY };

		assert_int_equal(alloc_on(&tape, &m, request, &table), HD_ENOMEM);
		/* The kernel's loop ends when the logarithm reaches 0: 2 is the least tried. */
		assert_int_equal(tape.count, entries == 4 ? 2 : 1);
	}
}

/*
 *   page allocator  |##|##|##|##|   no block above 1 MiB is whole
 */
static void halving_ends_where_memory_has_room(void **state)
{
	struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, 16 * GIB, 1, "");
	struct tape tape = { .room = MIB };
	struct hd_table table;
	struct hd_request request = { .bucket_bytes = 24, .entries = 131072, .when = HD_WHEN_LATE };

	(void)state;
	assert_int_equal(alloc_on(&tape, &m, request, &table), 0);
	assert_int_equal(table.bytes, 768 * KIB);
	assert_int_equal(table.entries, 32768);
	assert_int_equal(table.halvings, 2); /* 3 MiB, 1.5 MiB, 768 KiB */
	assert_int_equal(tape.call[2].order, 8);
	assert_int_equal(tape.given, 1);
}

static void kernels_to_5_2_halve_what_exceeds_the_largest_order(void **state)
{
	struct hd_machine m = machine_of("5.2.1", HD_ARCH_X86_64, 16 * GIB, 2, "hashdist=0");
	struct hd_machine after = machine_of("5.3.1", HD_ARCH_X86_64, 16 * GIB, 2, "hashdist=0");
	struct tape tape = { .count = 0 };
	struct hd_table table;
	struct hd_request request = { .bucket_bytes = 8, .entries = 4194304, .when = HD_WHEN_LATE };

	(void)state;
	assert_int_equal(alloc_on(&tape, &m, request, &table), 0);
	assert_int_equal(table.bytes, 4 * MIB);
	assert_int_equal(table.halvings, 3); /* 32, 16, 8: not even asked for */
	assert_int_equal(tape.count, 1);
	assert_int_equal(tape.call[0].who, 'c');
	assert_int_equal(tape.call[0].order, 10);

	tape = (struct tape){ .count = 0 };
	assert_int_equal(alloc_on(&tape, &after, request, &table), 0);
	assert_int_equal(table.bytes, 32 * MIB);
	assert_int_equal(table.mapping, HD_MAP_VMALLOC);

	/* Early ones, and distributed ones, have no such limit. */
	got(&m, 32 * MIB, HD_WHEN_EARLY_UNLESS, 'e');
	m.hashdist = true;
	got(&m, 32 * MIB, HD_WHEN_LATE, 's');
}

static void a_halved_table_may_change_its_provider(void **state)
{
	struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, 16 * GIB, 1, "");
	struct tape tape = { .refuse = 2 };
	struct hd_table table;
	struct hd_request request = { .bucket_bytes = 8, .entries = 1048576, .when = HD_WHEN_LATE };

	(void)state;
	assert_int_equal(alloc_on(&tape, &m, request, &table), 0);
	assert_int_equal(tape.call[0].who, 's'); /* 8 MiB: beyond the largest order */
	assert_int_equal(tape.call[1].who, 'c'); /* 4 MiB */
	assert_int_equal(tape.call[2].who, 'c');
	assert_int_equal(table.mapping, HD_MAP_LINEAR);
	assert_int_equal(table.shift, 0);
	assert_int_equal(table.bytes, 2 * MIB);
}

static void the_engine_hands_on_errors_of_sizing(void **state)
{
	struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, GIB, 1, "");
	struct tape tape = { .count = 0 };
	struct hd_table table;

	(void)state;
	assert_int_equal(alloc_on(&tape, &m, (struct hd_request){ .entries = 1 }, &table),
			 HD_EINVAL);
	assert_int_equal(
	    alloc_on(&tape, &m,
		     (struct hd_request){ .bucket_bytes = 1ULL << 62, .entries = 2, .high = 2 },
		     &table),
	    HD_ERANGE);
	assert_int_equal(tape.count, 0);
}

/* ---- huge vmalloc --------------------------------------------------------------------- */

static unsigned shift_on(const char *version, enum hd_arch arch, uint32_t online, uint64_t bytes)
{
	struct hd_machine m = machine_of(version, arch, 16 * GIB, 1, "hashdist=1");

	give_nodes(&m, online, 1);
	return hd_vmalloc_shift(&m.rules, &m.facts, false, bytes);
}

static void huge_vmalloc_judges_a_nodes_share_up_to_6_12(void **state)
{
	static const char *const share[] = { "5.18", "6.1.192", "6.12.117" };
	static const char *const whole[] = { "6.13", "6.19.9", "7.1.5" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(shift_on(share[i], HD_ARCH_X86_64, 1, 2 * MIB), 21);
		assert_int_equal(shift_on(share[i], HD_ARCH_X86_64, 1, 2 * MIB - 1), 12);
		assert_int_equal(shift_on(share[i], HD_ARCH_X86_64, 2, 2 * MIB), 12);
		assert_int_equal(shift_on(share[i], HD_ARCH_X86_64, 2, 4 * MIB), 21);
		assert_int_equal(shift_on(share[i], HD_ARCH_X86_64, 4, 4 * MIB), 12);
		assert_int_equal(shift_on(share[i], HD_ARCH_X86_64, 4, 8 * MIB), 21);
		assert_int_equal(shift_on(share[i], HD_ARCH_X86_64, 3, 4 * MIB), 12);
		for (uint32_t nodes = 1; nodes < 9; nodes++) {
			assert_int_equal(shift_on(whole[i], HD_ARCH_X86_64, nodes, 2 * MIB), 21);
			assert_int_equal(shift_on(whole[i], HD_ARCH_X86_64, nodes, 2 * MIB - 1),
					 12);
		}
	}
	/* No node known: the whole. */
	assert_int_equal(shift_on("6.1", HD_ARCH_X86_64, 0, 2 * MIB), 21);
}

/*
 *   node 0  |####################|  2 GiB
 *   node 1  |                    |  online, no memory: it counts all the same
 *   node 2  .                    .  possible, not online: it does not
 */
static void memoryless_online_nodes_count_possible_ones_do_not(void **state)
{
	struct hd_machine m = machine_of("6.1.192", HD_ARCH_X86_64, 2 * GIB, 1, "hashdist=1");

	(void)state;
	m.facts.possible_nodes = 2;
	assert_int_equal(got(&m, 2 * MIB, HD_WHEN_LATE, 's').mapping, HD_MAP_VMALLOC_HUGE);
	give_nodes(&m, 2, 1);
	m.facts.possible_nodes = 3;
	assert_int_equal(got(&m, 2 * MIB, HD_WHEN_LATE, 's').mapping, HD_MAP_VMALLOC);
	assert_int_equal(got(&m, 4 * MIB, HD_WHEN_LATE, 's').mapping, HD_MAP_VMALLOC_HUGE);
}

static void huge_vmalloc_came_to_one_architecture_after_the_other(void **state)
{
	static const struct {
		enum hd_arch arch;
		const char *before, *at;
	} cells[] = {
		{ HD_ARCH_PPC64, "5.12", "5.13" },
		{ HD_ARCH_X86_64, "5.17", "5.18" },
		{ HD_ARCH_ARM64, "6.0", "6.1" },
		{ HD_ARCH_RISCV64, "6.1", "6.2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		unsigned page = cells[i].arch == HD_ARCH_PPC64 ? 16 : 12;

		assert_int_equal(shift_on(cells[i].before, cells[i].arch, 1, GIB), page);
		assert_int_equal(shift_on(cells[i].at, cells[i].arch, 1, GIB), 21);
	}
	assert_int_equal(shift_on("7.1.5", HD_ARCH_S390X, 1, GIB), 12);
	assert_int_equal(shift_on("7.1.5", HD_ARCH_I386, 1, GIB), 12);
	assert_int_equal(shift_on("7.1.5", HD_ARCH_LOONGARCH64, 1, GIB), 14);
}

static void nohugevmalloc_leaves_base_pages(void **state)
{
	struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, 16 * GIB, 2, "nohugevmalloc");
	struct hd_table t;

	(void)state;
	t = got(&m, 16 * MIB, HD_WHEN_LATE, 's');
	assert_int_equal(t.mapping, HD_MAP_VMALLOC);
	assert_int_equal(t.shift, 12);
	boot_with(&m, "nohugeiomap"); /* has no part in this */
	t = got(&m, 16 * MIB, HD_WHEN_LATE, 's');
	assert_int_equal(t.mapping, HD_MAP_VMALLOC_HUGE);
	assert_int_equal(t.shift, 21);
}

static void huge_pages_of_16k_and_64k_kernels_are_out_of_reach(void **state)
{
	struct hd_config config;
	struct hd_facts facts = { .online_nodes = 1, .memory_nodes = 1 };
	struct hd_rules rules;

	(void)state;
	hd_config_init(&config);
	config.page_shift = 14;
	hd_rules_init(&rules, HD_VERSION(6, 12, 117), HD_ARCH_ARM64, &config);
	assert_int_equal(hd_vmalloc_shift(&rules, &facts, false, 16 * MIB), 14);
	assert_int_equal(hd_vmalloc_shift(&rules, &facts, false, 32 * MIB), 25);
	config.page_shift = 16;
	hd_rules_init(&rules, HD_VERSION(6, 12, 117), HD_ARCH_ARM64, &config);
	assert_int_equal(hd_vmalloc_shift(&rules, &facts, false, 256 * MIB), 16);
	assert_int_equal(hd_vmalloc_shift(&rules, &facts, false, 512 * MIB), 29);
}

static void arm64_maps_contiguous_blocks_from_6_16(void **state)
{
	static const struct {
		uint8_t page;
		uint64_t from;
		unsigned pte, pmd;
	} cells[] = {
		{ 12, 64 * KIB, 16, 21 },
		{ 14, 2 * MIB, 21, 25 },
		{ 16, 2 * MIB, 21, 29 },
	};
	struct hd_facts facts = { .online_nodes = 2, .memory_nodes = 2 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct hd_config config;
		struct hd_rules rules;

		hd_config_init(&config);
		config.page_shift = cells[i].page;
		hd_rules_init(&rules, HD_VERSION(6, 15, 9), HD_ARCH_ARM64, &config);
		assert_int_equal(hd_vmalloc_shift(&rules, &facts, false, cells[i].from),
				 cells[i].page);
		hd_rules_init(&rules, HD_VERSION(6, 16, 0), HD_ARCH_ARM64, &config);
		assert_int_equal(hd_vmalloc_shift(&rules, &facts, false, cells[i].from),
				 cells[i].pte);
		assert_int_equal(hd_vmalloc_shift(&rules, &facts, false, cells[i].from - 1),
				 cells[i].page);
		assert_int_equal(hd_vmalloc_shift(&rules, &facts, false, 1ULL << cells[i].pmd),
				 cells[i].pmd);
		assert_int_equal(hd_vmalloc_shift(&rules, &facts, true, cells[i].from),
				 cells[i].page);
	}
}

/* A Raspberry Pi 5 with 16K pages: Dentry 8 MiB, Inode 4 MiB, Mount 128 KiB. */
static void what_got_pages_is_named_by_the_pages_it_got(void **state)
{
	struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, 16 * GIB, 2, "");
	struct tape tape = { .scattered_only = 12 };
	struct hd_table table;
	struct hd_request request = { .bucket_bytes = 8, .entries = 2097152, .when = HD_WHEN_LATE };

	(void)state;
	/* No free 2 MiB page: vmalloc redoes it on small ones and does not halve. */
	assert_int_equal(alloc_on(&tape, &m, request, &table), 0);
	assert_int_equal(tape.call[0].shift, 21);
	assert_int_equal(table.shift, 12);
	assert_int_equal(table.mapping, HD_MAP_VMALLOC);
	assert_int_equal(table.bytes, 16 * MIB);
	assert_int_equal(table.halvings, 0);

	m = machine_of("6.16", HD_ARCH_ARM64, 8 * GIB, 8, "");
	assert_int_equal(hd_rules_parse(&m.rules, "page-shift=14", 13), 0);
	assert_int_equal(got(&m, 8 * MIB, HD_WHEN_EARLY_UNLESS, 's').mapping, HD_MAP_VMALLOC_HUGE);
	assert_int_equal(got(&m, 4 * MIB, HD_WHEN_EARLY_UNLESS, 's').shift, 21);
	assert_int_equal(got(&m, 128 * KIB, HD_WHEN_LATE, 's').mapping, HD_MAP_VMALLOC);
}

/* ---- the line ------------------------------------------------------------------------- */

static const char *line_of(const char *version, uint64_t entries, uint64_t bucket,
			   enum hd_mapping mapping)
{
	static char line[160];
	struct hd_rules rules = rules_of(version, HD_ARCH_X86_64);
	struct hd_table table = { .entries = entries,
				  .bytes = entries * bucket,
				  .mapping = mapping };
	int len = hd_table_line(&rules, "MPTCP token", &table, line, sizeof(line));

	assert_int_equal(len, strlen(line));
	return line;
}

static void the_order_printed_is_floor_and_from_6_18_ceil(void **state)
{
	(void)state;
	assert_string_equal(line_of("6.1.158", 2048, 24, HD_MAP_LINEAR),
			    "MPTCP token hash table entries: 2048 (order: 3, 49152 bytes, linear)");
	assert_string_equal(line_of("6.1.159", 2048, 24, HD_MAP_LINEAR),
			    "MPTCP token hash table entries: 2048 (order: 4, 49152 bytes, linear)");
	assert_string_equal(line_of("6.17.8", 16, 12, HD_MAP_LINEAR),
			    "MPTCP token hash table entries: 16 (order: -5, 192 bytes, linear)");
	assert_string_equal(line_of("6.18", 16, 12, HD_MAP_LINEAR),
			    "MPTCP token hash table entries: 16 (order: 0, 192 bytes, linear)");
	assert_string_equal(line_of("6.17.8", 1, 8, HD_MAP_LINEAR),
			    "MPTCP token hash table entries: 1 (order: -9, 8 bytes, linear)");
	/* Powers of two are the same on both sides. */
	assert_string_equal(line_of("6.17.8", 1048576, 8, HD_MAP_LINEAR),
			    line_of("6.18", 1048576, 8, HD_MAP_LINEAR));
}

static void the_mapping_is_named_from_5_3_and_in_full_from_5_13(void **state)
{
	(void)state;
	assert_string_equal(line_of("5.2.1", 1048576, 8, HD_MAP_VMALLOC),
			    "MPTCP token hash table entries: 1048576 (order: 11, 8388608 bytes)");
	assert_string_equal(
	    line_of("5.3", 1048576, 8, HD_MAP_VMALLOC),
	    "MPTCP token hash table entries: 1048576 (order: 11, 8388608 bytes, vmalloc)");
	assert_string_equal(
	    line_of("5.12.9", 1048576, 8, HD_MAP_VMALLOC_HUGE),
	    "MPTCP token hash table entries: 1048576 (order: 11, 8388608 bytes, vmalloc)");
	assert_string_equal(line_of("5.13", 1048576, 8, HD_MAP_VMALLOC_HUGE),
			    "MPTCP token hash table entries: 1048576 (order: 11, 8388608 bytes, "
			    "vmalloc hugepage)");
	assert_string_equal(line_of("7.1", 512, 8, HD_MAP_LINEAR),
			    "MPTCP token hash table entries: 512 (order: 0, 4096 bytes, linear)");
}

static void a_line_that_does_not_fit_is_an_error_and_ends_in_zero(void **state)
{
	struct hd_rules rules = rules_of("7.1", HD_ARCH_X86_64);
	struct hd_table table = { .entries = 512, .bytes = 4096, .mapping = HD_MAP_LINEAR };
	char line[80];
	int len = hd_table_line(&rules, "UDP", &table, line, sizeof(line));

	(void)state;
	assert_int_equal(len, 58);
	for (size_t size = 0; size <= (size_t)len; size++) {
		char *exact = malloc(size ? size : 1);

		assert_non_null(exact);
		assert_int_equal(hd_table_line(&rules, "UDP", &table, exact, size), HD_ERANGE);
		if (size) {
			assert_int_equal(exact[size - 1], '\0');
			assert_memory_equal(exact, line, size - 1);
		}
		free(exact);
	}
	assert_int_equal(hd_table_line(&rules, "UDP", &table, line, (size_t)len + 1), len);
}

static void mappings_have_the_kernels_names(void **state)
{
	(void)state;
	assert_string_equal(hd_mapping_name(HD_MAP_LINEAR), "linear");
	assert_string_equal(hd_mapping_name(HD_MAP_VMALLOC), "vmalloc");
	assert_string_equal(hd_mapping_name(HD_MAP_VMALLOC_HUGE), "vmalloc hugepage");
	assert_string_equal(hd_mapping_name(HD_MAP_UNKNOWN), "unknown");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_node_has_linear_tables),
		cmocka_unit_test(several_nodes_have_scattered_tables),
		cmocka_unit_test(the_flag_decides_not_the_nodes),
		cmocka_unit_test(the_largest_order_is_of_the_page_size),
		cmocka_unit_test(zeroing_is_passed_on),
		cmocka_unit_test(a_table_is_halved_once_for_every_refusal),
		cmocka_unit_test(nothing_below_a_page_is_tried),
		cmocka_unit_test(one_entry_is_never_halved),
		cmocka_unit_test(halving_ends_where_memory_has_room),
		cmocka_unit_test(kernels_to_5_2_halve_what_exceeds_the_largest_order),
		cmocka_unit_test(a_halved_table_may_change_its_provider),
		cmocka_unit_test(the_engine_hands_on_errors_of_sizing),
		cmocka_unit_test(huge_vmalloc_judges_a_nodes_share_up_to_6_12),
		cmocka_unit_test(memoryless_online_nodes_count_possible_ones_do_not),
		cmocka_unit_test(huge_vmalloc_came_to_one_architecture_after_the_other),
		cmocka_unit_test(nohugevmalloc_leaves_base_pages),
		cmocka_unit_test(huge_pages_of_16k_and_64k_kernels_are_out_of_reach),
		cmocka_unit_test(arm64_maps_contiguous_blocks_from_6_16),
		cmocka_unit_test(what_got_pages_is_named_by_the_pages_it_got),
		cmocka_unit_test(the_order_printed_is_floor_and_from_6_18_ceil),
		cmocka_unit_test(the_mapping_is_named_from_5_3_and_in_full_from_5_13),
		cmocka_unit_test(a_line_that_does_not_fit_is_an_error_and_ends_in_zero),
		cmocka_unit_test(mappings_have_the_kernels_names),
	};

	return cmocka_run_group_tests_name("core: engine", tests, NULL, NULL);
}

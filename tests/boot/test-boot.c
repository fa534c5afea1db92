/* SPDX-License-Identifier: MIT */
/*
 * test-boot.c - the order of a boot, who allocates what, and what goes wrong
 */
#include <time.h>

#include "tests/boot/real.h"

static const struct boot_row *row(const struct booted *b, enum hd_table_id id)
{
	const struct boot_row *found = row_of(b, id);

	if (!found)
		fail_msg("%s is not there", hd_table_info(id)->name);
	return found;
}

static struct booted booted_early(const char *description, const char *version, const char *cmdline)
{
	const struct boot_options early_all = { .early_all = true };
	enum hd_arch arch = hd_arch_parse(description, strcspn(description, " "));
	struct hd_rules rules = rules_of(version, arch);

	return booted_with(description, &rules, cmdline, &early_all);
}

/* ---- order ------------------------------------------------------------------------ */

static void order_is(const struct booted *b, const char *keys)
{
	char got[512] = "";

	for (uint32_t r = 0; r < b->result.rows; r++) {
		strcat(got, r ? " " : "");
		strcat(got, hd_table_info(b->result.row[r].id)->key);
	}
	assert_string_equal(got, keys);
}

/* Each kernel has its tables; those that it has come in one order, distributed or not. */
static void lines_come_in_the_order_of_the_boot(void **state)
{
	static const struct {
		const char *version, *keys;
	} kernels[] = {
		{ "2.6.36", "pid dentry inode ip-route tcp-established tcp-bind udp udp-lite" },
		{ "4.4", "pid dentry inode mount mountpoint futex tcp-established tcp-bind udp "
			 "udp-lite" },
		{ "6.1", "dentry inode mount mountpoint futex ip-idents tcp-listen table-perturb "
			 "tcp-established tcp-bind mptcp-token udp udp-lite" },
		{ "6.15", "dentry inode mount mountpoint posixtimers futex ip-idents tcp-listen "
			  "table-perturb tcp-established tcp-bind mptcp-token udp udp-lite" },
		{ "7.1", "dentry inode mount mountpoint posixtimers ip-idents tcp-listen "
			 "table-perturb tcp-established tcp-bind mptcp-token udp" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		struct booted b = booted("x86-64 ram=2G cpus=2", kernels[i].version, "");

		order_is(&b, kernels[i].keys);
		booted_fini(&b);
		b = booted("x86-64 node:0=1G node:1=1G cpus=2", kernels[i].version, "");
		order_is(&b, kernels[i].keys);
		booted_fini(&b);
	}
}

/* Tables that come early anyway stay in front when dentry and inode do not. */
static void the_lock_table_is_first_and_early_on_any_machine(void **state)
{
	static const char *const machines[] = { "ppc64 ram=4G", "ppc64 node:0=2G node:1=2G" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct booted b = booted(machines[i], "6.1", "");

		assert_int_equal(b.result.row[0].id, HD_TABLE_PV_QSPINLOCK);
		assert_true(b.result.row[0].table.early);
		assert_int_equal(row(&b, HD_TABLE_DENTRY)->table.early, i == 0);
		booted_fini(&b);
	}
}

/* ---- who allocates ---------------------------------------------------------------- */

/*
 *   node 0  |.....EPMID|        early: D, I from the top; the others in one piece each
 */
static void one_node_has_its_caches_early_and_all_linear(void **state)
{
	struct booted b = booted("x86-64 ram=8G cpus=2", "6.1", "");

	(void)state;
	assert_int_equal(b.result.reason, HD_REASON_ONE_NODE);
	assert_false(b.result.machine.hashdist);
	for (uint32_t r = 0; r < b.result.rows; r++) {
		const struct boot_row *at = &b.result.row[r];

		assert_int_equal(at->table.mapping, HD_MAP_LINEAR);
		assert_int_equal(at->table.early,
				 at->id == HD_TABLE_DENTRY || at->id == HD_TABLE_INODE);
	}
	booted_fini(&b);
}

static void several_nodes_have_nothing_early(void **state)
{
	struct booted b = booted("x86-64 node:0=4G node:1=4G cpus=2", "6.1", "");

	(void)state;
	assert_int_equal(b.result.reason, HD_REASON_DEFAULT);
	assert_true(b.result.machine.hashdist);
	for (uint32_t r = 0; r < b.result.rows; r++) {
		assert_false(b.result.row[r].table.early);
		assert_true(b.result.row[r].table.mapping != HD_MAP_LINEAR);
	}
	booted_fini(&b);
}

/*
 *   node 0  |M  F  ... |   node 1  |P ...        I D|     hashdist=0 on two nodes
 *
 * The early ones high up, on the last node; the others each on the node whose
 * turn it is.
 */
static void without_distribution_each_table_is_on_one_node(void **state)
{
	struct booted b = booted("x86-64 node:0=4G node:1=4G cpus=2", "6.1", "hashdist=0");

	(void)state;
	assert_int_equal(b.result.reason, HD_REASON_PARAMETER);
	assert_int_equal(row(&b, HD_TABLE_DENTRY)->node_bytes[0], 0);
	assert_int_equal(row(&b, HD_TABLE_DENTRY)->node_bytes[1], 8 * MIB);
	assert_int_equal(row(&b, HD_TABLE_INODE)->node_bytes[1], 4 * MIB);
	for (uint32_t r = 2; r < b.result.rows; r++) {
		const struct boot_row *at = &b.result.row[r];

		assert_int_equal(at->table.mapping, HD_MAP_LINEAR);
		assert_int_equal(at->node_bytes[r % 2], at->got.bytes);
		assert_int_equal(at->node_bytes[1 - r % 2], 0);
	}
	booted_fini(&b);
}

/* Before the change of 2019 one node was enough. */
static void kernels_before_5_3_distribute_over_one_node(void **state)
{
	struct booted b = booted("x86-64 ram=2G", "5.2", "");

	(void)state;
	assert_int_equal(b.result.reason, HD_REASON_NEVER_CLEARED);
	assert_int_equal(row(&b, HD_TABLE_DENTRY)->table.mapping, HD_MAP_VMALLOC);
	assert_string_equal(row(&b, HD_TABLE_DENTRY)->line,
			    "Dentry cache hash table entries: 262144 (order: 9, 2097152 bytes)");
	booted_fini(&b);
	b = booted("x86-64 ram=2G", "5.3", "");
	assert_string_equal(
	    row(&b, HD_TABLE_DENTRY)->line,
	    "Dentry cache hash table entries: 262144 (order: 9, 2097152 bytes, linear)");
	booted_fini(&b);
}

/*
 *   node 0  |[2M]|   node 1  |[2M][2M]|   node 2  |[2M]|      8 MiB, and the turn at node 1
 */
static void the_first_node_only_rotates(void **state)
{
	static const char text[] = "x86-64 node:0=2G node:1=2G node:2=2G cpus=2";
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);

	(void)state;
	for (uint32_t first = 0; first < 5; first++) {
		struct boot_options options = { .first_node = first };
		struct booted b = booted_with(text, &rules, "", &options);
		const struct boot_row *dentry = row(&b, HD_TABLE_DENTRY);

		for (uint32_t n = 0; n < 3; n++)
			assert_int_equal(dentry->node_bytes[n], n == first % 3 ? 4 * MIB : 2 * MIB);
		booted_fini(&b);
	}
}

/*
 *   |####|hhhhhhhhhhhhhhhhhhhhh|      h: highmem, where no table can be
 */
static void tables_are_not_in_highmem(void **state)
{
	struct booted b = booted("i386 ram=8G highmem=7312M cpus=2", "6.1", "");

	(void)state;
	assert_true(b.result.bytes_total < 880 * MIB);
	assert_true(b.result.bytes_total > 870 * MIB);
	booted_fini(&b);
}

/*
 *   x86-64  |2M|2M|2M|2M|     arm64  |4K|4K|4K|...     the same table in the linear map
 */
static void a_linear_table_is_mapped_as_its_architecture_does(void **state)
{
	struct booted x86 = booted("x86-64 ram=2G", "6.1", "");
	struct booted large = booted("x86-64 ram=16G", "6.1", "");
	struct booted arm = booted("arm64 ram=2G", "6.1", "");

	(void)state;
	/* 2 MiB at the very top; the last 2 MiB of RAM are ragged, so base pages there */
	assert_int_equal(row(&x86, HD_TABLE_DENTRY)->got.shift_bytes[21], 128 * KIB);
	assert_int_equal(row(&x86, HD_TABLE_DENTRY)->got.translations[12], 480);
	assert_int_equal(row(&x86, HD_TABLE_INODE)->got.translations[21], 1);
	assert_int_equal(row(&large, HD_TABLE_DENTRY)->got.translations[30], 1);
	assert_int_equal(row(&arm, HD_TABLE_DENTRY)->got.translations[12], 512);
	booted_fini(&x86);
	booted_fini(&large);
	booted_fini(&arm);
}

/* ---- early_all: what was left for later in 2019 ----------------------------------- */

/*
 * thash_entries=4194304: 32 MiB, beyond the largest order. Late it must be
 * vmalloc although nothing is distributed; early it is in the linear map.
 */
static void early_all_keeps_large_tables_in_the_linear_map(void **state)
{
	static const char cmdline[] = "thash_entries=4194304";
	struct booted late = booted("x86-64 ram=8G cpus=2", "6.1", cmdline);
	struct booted early = booted_early("x86-64 ram=8G cpus=2", "6.1", cmdline);

	(void)state;
	assert_int_equal(row(&late, HD_TABLE_TCP_ESTABLISHED)->table.mapping, HD_MAP_VMALLOC_HUGE);
	assert_int_equal(late.result.rows, early.result.rows);
	for (uint32_t r = 0; r < early.result.rows; r++) {
		const struct boot_row *at = &early.result.row[r];

		assert_int_equal(at->id, late.result.row[r].id);
		assert_int_equal(at->table.entries, late.result.row[r].table.entries);
		assert_true(at->table.early);
		assert_int_equal(at->table.mapping, HD_MAP_LINEAR);
		assert_int_equal(at->table_high.mapping, HD_MAP_LINEAR);
		assert_int_equal(at->got.bytes, at->table.bytes); /* not rounded up to pages */
	}
	booted_fini(&late);
	booted_fini(&early);
}

static void early_all_changes_nothing_where_tables_are_distributed(void **state)
{
	static const char text[] = "x86-64 node:0=4G node:1=4G cpus=2";
	struct booted late = booted(text, "6.12", "");
	struct booted early = booted_early(text, "6.12", "");

	(void)state;
	assert_int_equal(late.result.rows, early.result.rows);
	for (uint32_t r = 0; r < late.result.rows; r++) {
		const struct boot_row *a = &late.result.row[r], *b = &early.result.row[r];

		assert_string_equal(a->line, b->line);
		assert_int_equal(a->table.early, b->table.early);
		assert_memory_equal(a->node_bytes, b->node_bytes, 2 * sizeof(*a->node_bytes));
	}
	booted_fini(&late);
	booted_fini(&early);
}

/* ---- two ends of a count ---------------------------------------------------------- */

/*
 *   pages counted   low end |-----------2^18-----------| high end
 *
 * Between the ends tables double: what they have at the low end is allocated,
 * what they would have at the high end is told. TCP bind follows TCP established
 * at either end.
 */
static void an_uncertain_table_has_two_sizes(void **state)
{
	struct booted b = booted("x86-64 ram=1116672K cpus=2", "6.12.117", "");
	uint64_t center = b.pages.kernel;

	(void)state;
	assert_true(b.pages.slack > 0);
	assert_true(center - b.pages.slack < 262144 && center + b.pages.slack > 262144);
	assert_int_equal(b.result.machine.facts.pages.kernel, center - b.pages.slack);
	for (uint32_t r = 0; r < b.result.rows; r++) {
		const struct boot_row *at = &b.result.row[r];
		bool fixed = at->id == HD_TABLE_FUTEX || at->id == HD_TABLE_TABLE_PERTURB;

		assert_int_equal(at->exact, fixed);
		assert_int_equal(at->table_high.entries, at->table.entries << !fixed);
	}
	booted_fini(&b);
	b = booted("x86-64 ram=2G cpus=2", "6.12.117", "");
	for (uint32_t r = 0; r < b.result.rows; r++) {
		assert_true(b.result.row[r].exact);
		assert_int_equal(b.result.row[r].table_high.entries, b.result.row[r].table.entries);
	}
	booted_fini(&b);
}

/* The ends are the count less and plus its slack, even where that is more than all. */
static void a_slack_beyond_the_count_leaves_a_page(void **state)
{
	struct booted b = booted("x86-64 ram=64M", "6.12", "");

	(void)state;
	assert_true(b.pages.slack > b.pages.kernel);
	assert_int_equal(b.result.machine.facts.pages.kernel, 1);
	assert_int_equal(b.result.machine.facts.pages.all, 1);
	booted_fini(&b);
}

/* ---- too little memory ------------------------------------------------------------ */

/*
 *   node 0  |####|  128 KiB       the first tables take it all
 *
 * A kernel panics there; here the row says so, and the boot goes on to look at
 * the others.
 */
static void what_does_not_fit_is_told_as_failed(void **state)
{
	struct booted b = booted("arm64 ram=128K cpus=2", "6.1", "");
	unsigned failed = 0;

	(void)state;
	for (uint32_t r = 0; r < b.result.rows; r++) {
		const struct boot_row *at = &b.result.row[r];

		if (!at->failed) {
			assert_true(at->table.entries > 0);
			continue;
		}
		failed++;
		assert_int_equal(at->table.entries, 0);
		assert_null(at->table.start);
		assert_null(at->node_bytes);
		assert_false(at->exact);
		assert_string_equal(at->line, "");
	}
	assert_true(failed > 0);
	assert_true(b.result.bytes_in_use <= b.result.bytes_total);
	booted_fini(&b);
}

/*
 *   node 0  |....####|  256 KiB      Table-perturb wants all of it in one piece
 */
static void a_table_that_does_not_fit_is_halved(void **state)
{
	struct booted b = booted("arm64 ram=256K cpus=1", "6.1", "");
	const struct boot_row *perturb = row(&b, HD_TABLE_TABLE_PERTURB);

	(void)state;
	assert_int_equal(perturb->table.sizing.entries, 65536);
	assert_true(perturb->table.halvings > 0);
	assert_int_equal(perturb->table.entries, 65536 >> perturb->table.halvings);
	assert_int_equal(perturb->table.bytes, perturb->table.entries * 4);
	booted_fini(&b);
}

/* ---- a large machine -------------------------------------------------------------- */

/*
 *   1024 nodes of 64 GiB: 64 TiB
 *
 * Dentry and Inode would have 2^33 and 2^32 entries; adaptive scaling takes five
 * powers of two off. Dentry is on huge pages, one on each node. Inode's share
 * is too small for that, and base pages are asked for by the hundred: each
 * hundred goes to the same hundred nodes.
 */
static void a_machine_of_64_tib_and_1024_nodes_boots(void **state)
{
	char *text = malloc(64 * 1024);
	struct booted b;
	unsigned with_inode = 0;
	size_t len;

	(void)state;
	assert_non_null(text);
	len = (size_t)sprintf(text, "x86-64 cpus=8192");
	for (int n = 0; n < 1024; n++)
		len += (size_t)sprintf(text + len, " node:%d=64G", n);
	b = booted(text, "6.12", "");
	free(text);
	assert_int_equal(b.layout.nodes, 1024);
	assert_int_equal(b.layout.memory_nodes, 1024);
	assert_int_equal(b.result.bytes_total >> 20, (64 * TIB >> 20) - 1);
	assert_int_equal(row(&b, HD_TABLE_DENTRY)->table.sizing.scale, 13 + 5);
	assert_int_equal(row(&b, HD_TABLE_DENTRY)->table.entries, 1ULL << 28);
	assert_int_equal(row(&b, HD_TABLE_INODE)->table.entries, 1ULL << 27);
	assert_int_equal(row(&b, HD_TABLE_FUTEX)->table.entries, 256 * 8192);
	for (uint32_t n = 0; n < 1024; n++) {
		assert_int_equal(row(&b, HD_TABLE_DENTRY)->node_bytes[n], 2 * MIB);
		with_inode += row(&b, HD_TABLE_INODE)->node_bytes[n] > 0;
	}
	assert_int_equal(with_inode, 100);
	for (uint32_t r = 0; r < b.result.rows; r++)
		assert_false(b.result.row[r].failed);
	booted_fini(&b);
}

/* ---- random machines -------------------------------------------------------------- */

enum { SECONDS = 3, ROUNDS = 20000, ROUNDS_AT_LEAST = 100 };

static char current[1024]; /* what is booted, for whoever must look into a failure */

static const char *one_of(uint64_t *random, const char *const *words, size_t count)
{
	return words[random_below(random, count)];
}

/** A description in words, from 128 KiB to 1 TiB. */
static void random_machine(uint64_t *random, char *out, size_t size)
{
	static const char *const arches[] = { "x86-64", "x86-64", "arm64",   "arm64",   "ppc64",
					      "s390x",  "i386",   "riscv64", "sparc64", "mips" };
	const char *arch = one_of(random, arches, ARRAY_SIZE(arches));
	uint64_t nodes = 1 + random_below(random, 6), most = 17 + random_below(random, 21);
	int len = snprintf(out, size, "%s cpus=%llu", arch,
			   (unsigned long long)(1ULL << random_below(random, 8)));

	for (uint64_t n = 0; n < nodes; n++) {
		uint64_t bytes = (1ULL << most) + random_below(random, 1ULL << most);

		if (n && !random_below(random, 4))
			bytes = 0;
		bytes &= ~0ULL << random_below(random, 20);
		len += snprintf(out + len, size - (size_t)len, " node:%llu=%llu",
				(unsigned long long)(n * 3), (unsigned long long)bytes);
	}
	if (strcmp(arch, "arm64") == 0 && random_below(random, 2))
		snprintf(out + len, size - (size_t)len, " page=64K");
	else if (strcmp(arch, "i386") == 0)
		snprintf(out + len, size - (size_t)len, " highmem=%lluK",
			 (unsigned long long)random_below(random, 1ULL << (most - 10)));
}

static void random_cmdline(uint64_t *random, char *out, size_t size)
{
	static const char *const words[] = {
		"hashdist=0",
		"hashdist=1",
		"hashdist=2",
		"nohugevmalloc",
		"numa=off",
		"numa=fake=4",
		"numa=fake=9",
		"dhash_entries=1",
		"dhash_entries=999999999",
		"ihash_entries=3000",
		"mhash_entries=10000000",
		"thash_entries=4194304",
		"uhash_entries=1",
		"crashkernel=256M",
		"crashkernel=1G-:64M",
		"log_buf_len=4M",
		"mem=100M",
		"mem=3G",
		"mem=6G",
	};
	int len = 0;

	*out = '\0';
	for (uint64_t n = random_below(random, 4); n; n--)
		len += snprintf(out + len, size - (size_t)len, "%s%s", len ? " " : "",
				one_of(random, words, ARRAY_SIZE(words)));
}

static void row_is_sound(const struct booted *b, const struct boot_row *at)
{
	const struct hd_table *table = &at->table;
	uint64_t page = 1ULL << b->rules.value[HD_RULE_PAGE_SHIFT], bytes = 0, mapped = 0;
	uint64_t unit = table->early ? 1 : table->shift ? 1ULL << table->shift : page;
	char line[BOOT_LINE_MAX];

	if (at->failed) {
		assert_null(at->node_bytes);
		return;
	}
	assert_true(table->entries > 0);
	assert_int_equal(table->entries & (table->entries - 1), 0);
	assert_int_equal(table->bytes, table->entries * at->request.bucket_bytes);
	assert_int_equal(table->entries, table->sizing.entries >> table->halvings);
	for (uint32_t n = 0; n < b->layout.nodes; n++)
		bytes += at->node_bytes[n];
	for (unsigned shift = 0; shift < SIM_SHIFTS; shift++) {
		mapped += at->got.shift_bytes[shift];
		assert_true(!at->got.shift_bytes[shift] == !at->got.translations[shift]);
	}
	assert_int_equal(bytes, at->got.bytes);
	assert_int_equal(mapped, at->got.bytes);
	assert_true(at->got.bytes >= table->bytes);
	assert_true(at->got.bytes - table->bytes < unit);
	if (table->mapping != HD_MAP_LINEAR)
		assert_int_equal(at->got.shift_bytes[table->shift], bytes);
	if (b->result.machine.hashdist && at->request.when != HD_WHEN_EARLY)
		assert_true(table->mapping != HD_MAP_LINEAR);
	assert_true(at->table_high.sizing.entries >= table->sizing.entries);
	assert_int_equal(at->exact, at->table_high.sizing.entries == table->sizing.entries);
	assert_true(
	    hd_table_line(&b->rules, hd_table_info(at->id)->name, table, line, sizeof(line)) > 0);
	assert_string_equal(at->line, line);
}

static void boot_is_sound(const struct booted *b)
{
	uint64_t in_use = 0, present = 0;

	for (size_t r = 0; r < b->layout.rams; r++) {
		const struct sim_ram *ram = &b->layout.ram[r];

		assert_true(ram->start < ram->end && ram->node < b->layout.nodes);
		assert_true(!r || ram->start >= ram[-1].end);
		assert_true(!r || ram->node >= ram[-1].node);
		present += ram->end - ram->start;
	}
	assert_true(b->layout.memory_nodes >= 1 && b->layout.memory_nodes <= b->layout.nodes);
	assert_true(b->result.bytes_total <= present);
	assert_true(b->result.rows > 0);
	for (uint32_t r = 0; r < b->result.rows; r++) {
		row_is_sound(b, &b->result.row[r]);
		in_use += b->result.row[r].got.bytes;
	}
	assert_int_equal(in_use, b->result.bytes_in_use);
	assert_true(in_use <= b->result.bytes_total);
}

/** One machine; all of it hangs on the seed. Return: whether it was a machine at all. */
static bool boots_soundly(uint64_t seed)
{
	static const char *const versions[] = { "2.6.32", "3.10", "4.4",  "4.19", "5.3",
						"5.14",   "5.15", "6.1",  "6.9",  "6.10",
						"6.12",   "6.18", "6.19", "7.0",  "newest" };
	uint64_t random = seed * 2654435761u + 1;
	char text[400], cmdline[200];
	const char *version = one_of(&random, versions, ARRAY_SIZE(versions));
	struct boot_options options = { .early_all = random_below(&random, 4) == 0 };
	struct hd_rules rules;
	struct description machine;
	struct describe_error error;
	struct boot_layout layout;
	struct booted b;

	random_machine(&random, text, sizeof(text));
	random_cmdline(&random, cmdline, sizeof(cmdline));
	options.first_node = (uint32_t)random_below(&random, 10);
	snprintf(current, sizeof(current),
		 "HASHDIST_SEED=%llu test-boot-boot: \"%s\", Linux %s, \"%s\"",
		 (unsigned long long)seed, text, version, cmdline);
	rules = rules_of(version, hd_arch_parse(text, strcspn(text, " ")));
	if (machine_describe_parse(text, &machine, &error))
		return false; /* all of it highmem */
	if (boot_layout(&machine, &rules, cmdline, &layout)) {
		machine_describe_free(&machine);
		return false; /* mem= leaves nothing */
	}
	boot_layout_fini(&layout);
	machine_describe_free(&machine);
	b = booted_with(text, &rules, cmdline, &options);
	boot_is_sound(&b);
	booted_fini(&b);
	return true;
}

static void random_machines_boot_soundly(void **state)
{
	uint64_t seed = seed_of("test-boot-boot", 1);
	time_t end = time(NULL) + SECONDS;
	unsigned rounds = 0, boots = 0;

	(void)state;
	do
		boots += boots_soundly(seed + rounds);
	while (++rounds < ROUNDS && (rounds < ROUNDS_AT_LEAST || time(NULL) < end));
	current[0] = '\0';
	print_message("%u machines\n", boots);
	assert_true(boots > rounds / 2);
}

static int tell_of_failure(void **state)
{
	(void)state;
	if (*current)
		print_message("it was %s\n", current);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_in_the_order_of_the_boot),
		cmocka_unit_test(the_lock_table_is_first_and_early_on_any_machine),
		cmocka_unit_test(one_node_has_its_caches_early_and_all_linear),
		cmocka_unit_test(several_nodes_have_nothing_early),
		cmocka_unit_test(without_distribution_each_table_is_on_one_node),
		cmocka_unit_test(kernels_before_5_3_distribute_over_one_node),
		cmocka_unit_test(the_first_node_only_rotates),
		cmocka_unit_test(tables_are_not_in_highmem),
		cmocka_unit_test(a_linear_table_is_mapped_as_its_architecture_does),
		cmocka_unit_test(early_all_keeps_large_tables_in_the_linear_map),
		cmocka_unit_test(early_all_changes_nothing_where_tables_are_distributed),
		cmocka_unit_test(an_uncertain_table_has_two_sizes),
		cmocka_unit_test(a_slack_beyond_the_count_leaves_a_page),
		cmocka_unit_test(what_does_not_fit_is_told_as_failed),
		cmocka_unit_test(a_table_that_does_not_fit_is_halved),
		cmocka_unit_test(a_machine_of_64_tib_and_1024_nodes_boots),
		cmocka_unit_test_teardown(random_machines_boot_soundly, tell_of_failure),
	};

	return cmocka_run_group_tests_name("boot", tests, NULL, NULL);
}

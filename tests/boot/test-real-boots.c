/* SPDX-License-Identifier: MIT */
/*
 * test-real-boots.c - 172 real boots, booted again on pretend machines
 *
 * From what the guest was (RAM, nodes, processors, page size), its kernel and
 * its command line alone: the layout, the pages, the flag, every table where the
 * providers put it, and the line. Nothing of what the kernel printed goes in, so
 * from 6.10 on the page count is an estimate with slack, and a table whose size
 * hangs on that slack (row.exact is false) must be right at one end of it.
 *
 * Boots with such tables are listed below with their reason; a boot that is
 * listed but exact fails too. The argument is the path of real-boots.tsv.
 */
#include "tests/boot/real.h"

/* ---- what is known not to be exact ------------------------------------------------ */

#define NEAR_2_18 "pages counted may lie on either side of 2^18, where tables double"
#define BISECTED  "RAM chosen so that the pages counted lie next to 2^18"

static const struct {
	const char *id, *reason;
} listed[] = {
	{ "61-T266598", BISECTED ": the last below" }, /* and the count is exact */
	{ "61-T266600", BISECTED ": the first above" },
	{ "612-B279104", BISECTED },
	{ "612-B279120", BISECTED },
	{ "612-B279128", BISECTED },
	{ "612-B279132", BISECTED ": the last below" },
	{ "612-B279136", BISECTED ": the first above" },
	{ "612-B279168", BISECTED },
	{ "612-m1084", NEAR_2_18 },
	{ "612-m1086", NEAR_2_18 },
	{ "612-m1088", NEAR_2_18 },
	{ "612-m1090", NEAR_2_18 },
	{ "612-m1092", NEAR_2_18 },
	{ "612-1100", NEAR_2_18 },
	{ "a612-1100", NEAR_2_18 },
	{ "a612-1100-cma", NEAR_2_18 },
	{ "a612-1100-crash", NEAR_2_18 },
};

static const char *reason_of(const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		if (strcmp(listed[i].id, id) == 0)
			return listed[i].reason;
	return NULL;
}

/* ---- the lines -------------------------------------------------------------------- */

enum outcome { EXACT, ONE_OF_TWO, MISSED };

static struct booted boot_again(const struct real_boot *boot)
{
	const struct boot_options none = { .first_node = 0 };

	return booted_with(boot->description, &boot->rules, boot->cmdline, &none);
}

/** One table of one boot. @row is NULL when it is not among the pretended ones. */
static enum outcome compare(const struct real_boot *boot, const struct booted *b,
			    enum hd_table_id id)
{
	const struct boot_row *row = row_of(b, id);
	char real[REAL_LINE_MAX], high[BOOT_LINE_MAX] = "";

	real_line(boot, id, real, sizeof(real));
	if (!row && !*real)
		return EXACT;
	if (row && row->exact && strcmp(row->line, real) == 0)
		return EXACT;
	if (row && !row->exact) {
		hd_table_line(&b->rules, hd_table_info(id)->name, &row->table_high, high,
			      sizeof(high));
		if (strcmp(row->line, real) == 0 || strcmp(high, real) == 0)
			return ONE_OF_TWO;
	}
	print_message("%s: %s\n  booted %s\n      or %s\n", boot->id,
		      *real ? real : hd_table_info(id)->name, row ? row->line : "(no such table)",
		      high);
	return MISSED;
}

static void every_line_of_every_boot_is_printed_again(void **state)
{
	unsigned boots_by[3] = { 0 }, tables_by[3] = { 0 }, unlisted = 0;

	(void)state;
	for (size_t i = 0; i < REAL_BOOTS; i++) {
		const struct real_boot *boot = &real_boots[i];
		const char *reason = reason_of(boot->id);
		struct booted b = boot_again(boot);
		enum outcome worst = EXACT;

		for (int id = 0; id < HD_TABLE_COUNT; id++) {
			enum outcome outcome = compare(boot, &b, id);

			if (outcome != EXACT || row_of(&b, id))
				tables_by[outcome]++;
			worst = outcome > worst ? outcome : worst;
		}
		boots_by[worst]++;
		if ((worst != EXACT) != (reason != NULL)) {
			unlisted++;
			print_message("%s: %s, %llu pages +- %llu\n", boot->id,
				      reason ? "listed, but exact" : "not exact, and not listed",
				      (unsigned long long)b.pages.kernel,
				      (unsigned long long)b.pages.slack);
		}
		booted_fini(&b);
	}
	print_message("boots  %u: %u exact, %u one of two, %u missed\n", REAL_BOOTS,
		      boots_by[EXACT], boots_by[ONE_OF_TWO], boots_by[MISSED]);
	print_message("tables %u: %u exact, %u one of two, %u missed\n",
		      tables_by[EXACT] + tables_by[ONE_OF_TWO] + tables_by[MISSED],
		      tables_by[EXACT], tables_by[ONE_OF_TWO], tables_by[MISSED]);
	assert_int_equal(unlisted, 0);
	assert_int_equal(boots_by[MISSED], 0);
}

/** The pretended machines have room for all: nothing is halved, nothing fails. */
static void no_table_of_a_real_boot_is_halved(void **state)
{
	(void)state;
	for (size_t i = 0; i < REAL_BOOTS; i++) {
		struct booted b = boot_again(&real_boots[i]);

		for (uint32_t r = 0; r < b.result.rows; r++) {
			assert_false(b.result.row[r].failed);
			assert_int_equal(b.result.row[r].table.halvings, 0);
			assert_int_equal(b.result.row[r].table.early,
					 b.result.row[r].table.mapping == HD_MAP_LINEAR &&
					     b.result.row[r].request.when != HD_WHEN_LATE);
		}
		booted_fini(&b);
	}
}

/* The column of tables is in the order of the log. */
static void lines_come_in_the_order_of_real_logs(void **state)
{
	static const char letters[] = "QDIMPFGLXEBKUV";
	static const enum hd_table_id ids[] = {
		HD_TABLE_PV_QSPINLOCK,  HD_TABLE_DENTRY,
		HD_TABLE_INODE,         HD_TABLE_MOUNT,
		HD_TABLE_MOUNTPOINT,    HD_TABLE_FUTEX,
		HD_TABLE_IP_IDENTS,     HD_TABLE_TCP_LISTEN,
		HD_TABLE_TABLE_PERTURB, HD_TABLE_TCP_ESTABLISHED,
		HD_TABLE_TCP_BIND,      HD_TABLE_MPTCP_TOKEN,
		HD_TABLE_UDP,           HD_TABLE_UDP_LITE,
	};

	(void)state;
	for (size_t i = 0; i < REAL_BOOTS; i++) {
		const struct real_boot *boot = &real_boots[i];
		struct booted b = boot_again(boot);
		const char *at = boot->tables;

		for (uint32_t r = 0; r < b.result.rows; r++) {
			const char *letter = strchr(letters, *at);

			assert_true(*at && letter);
			assert_int_equal(b.result.row[r].id, ids[letter - letters]);
			at += strcspn(at, " ");
			at += *at == ' ';
		}
		assert_int_equal(*at, '\0');
		booted_fini(&b);
	}
}

/* ---- where they lie --------------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/** Pages by node, largest first: which node is which hangs on where the turn stood. */
static void pages_are(const struct booted *b, enum hd_table_id id, uint64_t first, uint64_t second,
		      uint64_t third, uint64_t fourth)
{
	const struct boot_row *row = row_of(b, id);
	uint64_t want[4] = { first, second, third, fourth }, got[4] = { 0 };

	assert_non_null(row);
	assert_true(b->layout.nodes <= 4);
	for (uint32_t n = 0; n < b->layout.nodes; n++)
		got[n] = row->node_bytes[n] / 4096;
	qsort(got, 4, sizeof(got[0]), descending);
	for (int n = 0; n < 4; n++)
		if (got[n] != want[n])
			fail_msg("%s has %llu %llu %llu %llu", hd_table_info(id)->name,
				 (unsigned long long)got[0], (unsigned long long)got[1],
				 (unsigned long long)got[2], (unsigned long long)got[3]);
}

/*
 *   node 0  |D I M P ...|   node 1  |D I M P ...|     as vmallocinfo told
 *
 * 16 GiB on two nodes, in 6.1 and 6.12, on huge pages or not.
 */
static void two_nodes_have_half_of_each_table(void **state)
{
	static const char *const ids[] = { "61-2n-16G", "612-2n-16G", "61-2n-16G-nohuge",
					   "612-2n-16G-nohuge" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct booted b = boot_again(real_find(ids[i]));

		pages_are(&b, HD_TABLE_DENTRY, 2048, 2048, 0, 0);
		pages_are(&b, HD_TABLE_INODE, 1024, 1024, 0, 0);
		pages_are(&b, HD_TABLE_IP_IDENTS, 256, 256, 0, 0);
		pages_are(&b, HD_TABLE_MOUNT, 32, 32, 0, 0);
		booted_fini(&b);
	}
}

static void four_nodes_have_a_quarter(void **state)
{
	static const char *const ids[] = { "61-4n-2G", "612-4n-2G", "61-fake4-2G", "612-fake4-2G" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct booted b = boot_again(real_find(ids[i]));

		pages_are(&b, HD_TABLE_DENTRY, 128, 128, 128, 128);
		pages_are(&b, HD_TABLE_INODE, 64, 64, 64, 64);
		booted_fini(&b);
	}
}

/*
 *   node 0  |D I M P ...|   node 1  (no memory)      hashdist=1
 */
static void a_memoryless_node_has_nothing(void **state)
{
	static const char *const ids[] = { "61-ml-2G-hd1", "612-ml-2G-hd1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct booted b = boot_again(real_find(ids[i]));

		for (uint32_t r = 0; r < b.result.rows; r++) {
			assert_true(b.result.row[r].table.mapping != HD_MAP_LINEAR);
			assert_int_equal(b.result.row[r].node_bytes[1], 0);
		}
		pages_are(&b, HD_TABLE_DENTRY, 512, 0, 0, 0);
		booted_fini(&b);
	}
}

/* ---- a kernel of 2026 ------------------------------------------------------------- */

static void line_is(const struct booted *b, enum hd_table_id id, const char *want)
{
	const struct boot_row *row = row_of(b, id);

	assert_non_null(row);
	assert_true(row->exact);
	assert_string_equal(row->line, want);
}

/*
 *   node 0  |I         |   node 1  |D         |      2 GiB: each table on one node
 *
 * 7.2.13: chunks of up to 4 MiB come from one node. "vmalloc", and yet not spread.
 */
static void kernel_7_2_distributes_without_spreading(void **state)
{
	struct booted b = booted("x86-64 node:0=1G node:1=1G cpus=2", "7.2.13", "");

	(void)state;
	line_is(&b, HD_TABLE_DENTRY,
		"Dentry cache hash table entries: 262144 (order: 9, 2097152 bytes, "
		"vmalloc hugepage)");
	line_is(&b, HD_TABLE_INODE,
		"Inode-cache hash table entries: 131072 (order: 8, 1048576 bytes, vmalloc)");
	line_is(&b, HD_TABLE_UDP, "UDP hash table entries: 1024 (order: 4, 65536 bytes, vmalloc)");
	assert_null(row_of(&b, HD_TABLE_UDP_LITE));
	assert_null(row_of(&b, HD_TABLE_FUTEX)); /* no longer allocated this way */
	pages_are(&b, HD_TABLE_DENTRY, 512, 0, 0, 0);
	pages_are(&b, HD_TABLE_INODE, 256, 0, 0, 0);
	booted_fini(&b);
	b = booted("x86-64 node:0=1G node:1=1G cpus=2", "6.1.192", "");
	pages_are(&b, HD_TABLE_DENTRY, 256, 256, 0, 0);
	booted_fini(&b);
}

/*
 *   node 0  |D1  |   node 1  |D2 I|      8 GiB: a chunk of 4 MiB each, and Inode in one
 */
static void kernel_7_2_spreads_what_is_more_than_a_chunk(void **state)
{
	struct booted b = booted("x86-64 node:0=4G node:1=4G cpus=2", "7.2.13", "");

	(void)state;
	pages_are(&b, HD_TABLE_DENTRY, 1024, 1024, 0, 0);
	pages_are(&b, HD_TABLE_INODE, 1024, 0, 0, 0);
	booted_fini(&b);
	b = booted("x86-64 node:0=2G node:1=2G node:2=2G node:3=2G cpus=4", "7.2.13",
		   "nohugevmalloc");
	pages_are(&b, HD_TABLE_DENTRY, 1024, 1024, 0, 0);
	pages_are(&b, HD_TABLE_INODE, 1024, 0, 0, 0);
	assert_int_equal(row_of(&b, HD_TABLE_INODE)->table.mapping, HD_MAP_VMALLOC);
	booted_fini(&b);
}

static void kernel_7_2_takes_a_flag_only(void **state)
{
	struct booted b = booted("x86-64 node:0=1G node:1=1G", "7.2.13", "hashdist=2");

	(void)state;
	assert_int_equal(b.result.reason, HD_REASON_DEFAULT);
	assert_true(b.result.machine.hashdist);
	booted_fini(&b);
	b = booted("x86-64 ram=2G", "7.2.13", "hashdist=1");
	assert_int_equal(b.result.reason, HD_REASON_PARAMETER);
	line_is(&b, HD_TABLE_DENTRY,
		"Dentry cache hash table entries: 262144 (order: 9, 2097152 bytes, "
		"vmalloc hugepage)");
	pages_are(&b, HD_TABLE_DENTRY, 512, 0, 0, 0);
	booted_fini(&b);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_of_every_boot_is_printed_again),
		cmocka_unit_test(no_table_of_a_real_boot_is_halved),
		cmocka_unit_test(lines_come_in_the_order_of_real_logs),
		cmocka_unit_test(two_nodes_have_half_of_each_table),
		cmocka_unit_test(four_nodes_have_a_quarter),
		cmocka_unit_test(a_memoryless_node_has_nothing),
		cmocka_unit_test(kernel_7_2_distributes_without_spreading),
		cmocka_unit_test(kernel_7_2_spreads_what_is_more_than_a_chunk),
		cmocka_unit_test(kernel_7_2_takes_a_flag_only),
	};

	real_arguments(argc, argv);
	return cmocka_run_group_tests_name("boot: real boots", tests, real_setup, NULL);
}

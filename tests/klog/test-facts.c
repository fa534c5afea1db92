/* SPDX-License-Identifier: MIT */
/* test-facts.c - where a boot begins, what it tells of the machine, and hostile input */
#include "expect.h"

/* ---- boots -------------------------------------------------------------------------- */

#define BANNER "Linux version 6.1.0-44-amd64 (a@b) (gcc) #1 SMP"

static void a_banner_starts_a_boot(void **state)
{
	(void)state;
	collect(&got,
		"noise\n[    0.000000] " BANNER "\n[    0.000000] " FIGURES
		"\n[    9.000000] x\n[    0.000000] " BANNER "\n[    0.000000] " FIGURES "\n");
	assert_int_equal(got.boots, 2);
	assert_int_equal(got.boot[0].tables, 1);
	assert_int_equal(got.boot[1].tables, 1);
	assert_int_equal(got.boot[0].first_line, 2);
	assert_int_equal(got.boot[1].first_line, 5);
	assert_string_equal(got.boot[1].version, "6.1.0-44-amd64");
}

static void the_same_banner_once_more_starts_none(void **state)
{
	(void)state;
	collect(&got,
		"[    0.000000] " BANNER "\n[    0.000000] Command line: ro\n[    0.000000] " BANNER
		"\n[    0.000000] Command line: ro\n[    0.000000] " FIGURES "\n");
	assert_int_equal(got.boots, 1);
	assert_true(got.boot[0].head_seen);
	assert_int_equal(got.boot[0].tables, 1);
}

static void a_replayed_table_line_is_one_table(void **state)
{
	(void)state;
	expect_dentry("[    0.000000] " FIGURES "\n[    0.000000] " FIGURES "\n");
	expect_dentry(FIGURES "\n" FIGURES "\n");
}

static void the_first_table_again_at_another_time_starts_a_boot(void **state)
{
	(void)state;
	collect(&got, "[    0.100000] " FIGURES "\n[    0.200000] UDP hash table entries: 64 "
		      "(order: 0, 4096 bytes, linear)\n[    0.090000] " FIGURES "\n");
	assert_int_equal(got.boots, 2);
	assert_int_equal(got.boot[0].tables, 2);
	assert_int_equal(got.boot[1].tables, 1);
}

static void a_clock_that_falls_back_at_a_boot_line_starts_a_boot(void **state)
{
	(void)state;
	collect(&got, "[    0.100000] " FIGURES "\n[   12.000000] UDP hash table entries: 64 "
		      "(order: 0, 4096 bytes, linear)\n[    0.000000] Command line: quiet\n"
		      "[    0.000000] Memory: 100K/200K available (1K kernel code)\n"
		      "[    0.100000] " FIGURES "\n");
	assert_int_equal(got.boots, 2);
	assert_string_equal(got.boot[0].cmdline, "");
	assert_string_equal(got.boot[1].cmdline, "quiet");
	assert_int_equal(got.boot[1].total_kib, 200);
	assert_int_equal(got.boot[1].tables, 1);
}

static void lines_before_the_banner_belong_to_its_boot(void **state)
{
	(void)state;
	collect(&got, "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd083]\n"
		      "[    0.000000] " BANNER "\n[    0.000000] " FIGURES "\n"
		      "[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x410fd083]\n"
		      "[    0.000000] " BANNER "\n[    0.000000] " FIGURES "\n");
	assert_int_equal(got.boots, 2);
	assert_int_equal(got.boot[0].first_line, 1);
	assert_int_equal(got.boot[1].first_line, 4);
	assert_true(got.boot[1].hints & KLOG_HINT_ARM64_CPU);
}

static void nothing_of_a_boot_stays_behind_for_the_next(void **state)
{
	(void)state;
	collect(&got,
		"[    0.000000] Linux version 6.1.0 (a@b) #1 SMP\n"
		"[    0.000000]   node   5: [mem 0x1000-0x1fff]\n"
		"[    0.000000] Initmem setup node 3 as memoryless\n"
		"[    0.000000] On node 7 totalpages: 9\n"
		"[    0.000000] Kernel command line: foo\n"
		"[    0.000000] Unknown kernel command line parameters \"hashdist=2\", will be "
		"passed to user space.\n"
		"[    0.000000] Hypervisor detected: KVM\n"
		"[    0.000000] " FIGURES "\n"
		"[    0.000000] Linux version 6.2.0 (a@b) #1 SMP\n");
	assert_int_equal(got.boots, 2);
	assert_int_equal(got.boot[0].node_bytes[5], 4096);
	assert_int_equal(got.boot[1].node_bytes[5], 0);
	assert_int_equal(got.boot[1].initmem_node[3], 0);
	assert_int_equal(got.boot[1].node_pages[7], 0);
	assert_int_equal(got.boot[1].has, 0);
	assert_int_equal(got.boot[1].hints, 0);
	assert_string_equal(got.boot[1].cmdline, "");
	assert_string_equal(got.boot[1].refused, "");
	assert_false(got.boot[1].kvm_guest);
	assert_int_equal(got.boot[1].tables, 0);
}

/* ---- facts --------------------------------------------------------------------------- */

#define HEAD "[    0.000000] Linux version 6.1.0 (a@b) (gcc) #1 SMP\n"

/** The facts of a boot whose log holds @lines besides its banner. */
static const struct klog_boot *facts(const char *lines)
{
	char text[4096];

	snprintf(text, sizeof(text), HEAD "%s[    1.000000] end\n", lines);
	collect(&got, text);
	assert_int_equal(got.boots, 1);
	return &got.boot[0];
}

static void the_memory_line_is_read_figure_by_figure(void **state)
{
	const struct klog_boot *b = facts(
	    "[    0.000000] Memory: 1841892K/2080768K available (5198K kernel code, 388K rwdata, "
	    "2404K rodata, 477K init, 377K bss, 238876K reserved, 4K cma-reserved, 270336K "
	    "highmem)\n");

	(void)state;
	assert_int_equal(b->available_kib, 1841892);
	assert_int_equal(b->total_kib, 2080768);
	assert_int_equal(b->kernel_code_kib, 5198);
	assert_int_equal(b->rwdata_kib, 388);
	assert_int_equal(b->rodata_kib, 2404);
	assert_int_equal(b->init_kib, 477);
	assert_int_equal(b->bss_kib, 377);
	assert_int_equal(b->reserved_kib, 238876);
	assert_int_equal(b->cma_kib, 4);
	assert_int_equal(b->highmem_kib, 270336);
	assert_int_equal(b->has,
			 KLOG_HAS_MEMORY | KLOG_HAS_RESERVED | KLOG_HAS_CMA | KLOG_HAS_HIGHMEM);
	b = facts("[    0.000000] Memory: 12302572k/15728640k available (5701k kernel\n"
		  "code, 3154868k absent, 271200k reserved, 5388k data, 908k\ninit)\n");
	assert_int_equal(b->kernel_code_kib, 5701);
	assert_int_equal(b->absent_kib, 3154868);
	assert_int_equal(b->reserved_kib, 271200);
	assert_int_equal(b->init_kib, 908);
	b = facts("[    0.000000] Memory: 994320k/994320k available, 52208k reserved, 240632K "
		  "highmem\n");
	assert_int_equal(b->total_kib, 994320);
	assert_int_equal(b->highmem_kib, 240632);
	b = facts("[    0.000000] Memory: 1813596K/2078720K available (10240K kernel code, 35748K "
		  "reserved, 2\n29376K cma-reserved, 1228800K highmem)\n");
	assert_int_equal(b->cma_kib, 229376);
}

static void zonelists_are_read_in_every_spelling(void **state)
{
	const struct klog_boot *b;

	(void)state;
	b = facts("[    0.000000] Built 2 zonelists, mobility grouping on.  Total pages: 12345\n");
	assert_int_equal(b->zonelists, 2);
	assert_int_equal(b->zonelist_pages, 12345);
	b = facts("[    0.000000] Built 4 zonelists in Node order, mobility grouping off.  Total\n"
		  "pages: 12345\n");
	assert_int_equal(b->zonelists, 4);
	assert_int_equal(b->zonelist_pages, 12345);
	b = facts("[    0.000000] Built 1 zonelists.  Total pages: 77\n");
	assert_int_equal(b->zonelist_pages, 77);
	b = facts("[    0.000000] Built 8 zonelists\n");
	assert_int_equal(b->has, KLOG_HAS_ZONELISTS);
	assert_int_equal(b->zonelists, 8);
}

static void cpus_and_nodes_are_counted_in_every_spelling(void **state)
{
	const struct klog_boot *b;

	(void)state;
	b = facts("[    0.000000] smpboot: Allowing 4 CPUs, 2 hotplug CPUs\n"
		  "[    0.000000] setup_percpu: NR_CPUS:8192 nr_cpumask_bits:4 nr_cpu_ids:6 "
		  "nr_node_ids:2\n"
		  "[    0.000000] SLUB: HWalign=64, Order=0-3, MinObjects=0, CPUs=9, Nodes=9\n"
		  "[    0.000000] percpu: Embedded 62 pages/cpu s217088 r8192 d28672 u524288\n"
		  "[    0.100000] smp: Brought up 2 nodes, 4 CPUs\n");
	assert_int_equal(b->possible_cpus, 4);
	assert_int_equal(b->cpu_ids, 6);
	assert_int_equal(b->node_ids, 2);
	assert_int_equal(b->percpu_pages, 62);
	assert_int_equal(b->brought_up_nodes, 2);
	assert_int_equal(b->online_cpus, 4);
	b = facts("[    0.000000] CPU topo: Allowing 32 present CPUs plus 8 hotplug CPUs\n"
		  "[    0.000000] rcu: \tRCU restricting CPUs from NR_CPUS=8 to nr_cpu_ids=6.\n"
		  "[    0.100000] Brought up 16 CPUs\n");
	assert_int_equal(b->possible_cpus, 40);
	assert_int_equal(b->cpu_ids, 6);
	assert_int_equal(b->online_cpus, 16);
	assert_false(b->has & KLOG_HAS_BROUGHT_UP_NODES);
}

/*
 *   node 0  |####....########|   node 1  memoryless   node 2  |########|
 */
static void node_ranges_are_summed(void **state)
{
	const struct klog_boot *b;

	(void)state;
	b = facts(
	    "[    0.000000]   node   0: [mem 0x0000000000001000-0x0000000000001fff]\n"
	    "[    0.000000]   node   0: [mem 0x0000000000100000-0x00000000001fffff]\n"
	    "[    0.000000]   node   2: [mem\n0x0000000000200000-0x00000000\n002fffff]\n"
	    "[    0.000000] Initmem setup node 0 [mem 0x0000000000001000-0x00000000001fffff]\n"
	    "[    0.000000] Initmem setup node 1 as memoryless\n"
	    "[    0.000000] node 0 deferred pages initialised in 4ms\n");
	assert_int_equal(b->node_bytes[0], 0x101000);
	assert_int_equal(b->node_bytes[2], 0x100000);
	assert_int_equal(b->nodes_with_memory, 2);
	assert_int_equal(b->memoryless_nodes, 1);
	b = facts("[    0.000000] Initmem setup node 0 0000000000000000-0000000240000000\n"
		  "[    0.000000] On node 0 totalpages: 100\n[    0.000000] On node 1 totalpages: "
		  "0\n");
	assert_int_equal(b->initmem_node[0], 1);
	assert_int_equal(b->nodes_with_memory, 1);
	b = facts("[    0.000000]     0: 0x00000010 -> 0x00000093\n");
	assert_int_equal(b->nodes_with_memory, 0);
	b = facts("[    0.000000] BIOS-provided physical RAM map:\n"
		  "[    0.000000] early_node_map[2] active PFN ranges\n"
		  "[    0.000000]     0: 0x00000010 -> 0x00000093\n"
		  "[    0.000000]     1: 0x00000100 -> 0x00000200\n");
	assert_int_equal(b->node_bytes[0], 0x83 * 4096);
	assert_int_equal(b->nodes_with_memory, 2);
	/* of frames whose size is not known only the count is */
	b = facts("[    0.000000] Top of RAM: 0x100000000, Total RAM: 0x100000000\n"
		  "[    0.000000] early_node_map[2] active PFN ranges\n"
		  "[    0.000000]     0: 0x00000010 -> 0x00000093\n"
		  "[    0.000000]     1: 0x00000100 -> 0x00000200\n");
	assert_int_equal(b->node_bytes[0], 0);
	assert_int_equal(b->node_pages[0], 0x83);
	assert_int_equal(b->node_pages[1], 0x100);
	assert_true(b->has & KLOG_HAS_NODE_TOTALS);
	assert_false(b->has & KLOG_HAS_NODE_RANGES);
}

static void highmem_is_measured(void **state)
{
	const struct klog_boot *b;

	(void)state;
	b = facts("[    0.000000]   HighMem  [mem 0x0000000030000000-0x000000003fffffff]\n"
		  "[    0.000000]   node   0: [mem 0x0000000000000000-0x0000000037ffffff]\n"
		  "[    0.000000]   Normal zone: 100 pages used for memmap\n"
		  "[    0.000000]   HighMem zone: 11 pages used for memmap\n");
	assert_int_equal(b->highmem_start, 0x30000000);
	assert_int_equal(b->highmem_end, 0x40000000);
	assert_int_equal(b->highmem_range_bytes, 0x8000000);
	assert_int_equal(b->memmap_pages, 111);
	b = facts("[    0.000000]   HighMem  empty\n");
	assert_true(b->has & KLOG_HAS_HIGHMEM_RANGE);
	assert_int_equal(b->highmem_end, 0);
	b = facts("[    0.000000]   HighMem  0x000377fe -> 0x00040000\n");
	assert_int_equal(b->highmem_start, 0x377fe000);
	assert_int_equal(b->highmem_end, 0x40000000);
}

static void the_rest_of_the_facts_is_read(void **state)
{
	const struct klog_boot *b;

	(void)state;
	b = facts(
	    "[    0.000000] Command line: quiet\n"
	    "[    0.000000] crashkernel reserved: 0x0000000060000000 - 0x0000000070000000 (256 "
	    "MB)\n"
	    "[    0.000000] software IO TLB: mapped [mem 0x00000000b9a00000-0x00000000bda00000] "
	    "(64MB)\n"
	    "[    0.000000] kfence: initialized - using 2097152 bytes for 255 objects at x\n"
	    "[    0.000000] cma: Reserved 64 MiB at 0x00000000bc000000 on node -1\n"
	    "[    0.000000] Hypervisor detected: KVM\n"
	    "[    0.000000] Booting paravirtualized kernel on KVM\n"
	    "[    0.000000] Faking node 0 at [mem 0x0-0x1] (512MB)\n"
	    "[    0.000000] Faking node 1 at [mem 0x0-0x1] (512MB)\n"
	    "[    0.000000] Faking a node at [mem 0x0-0x1]\n"
	    "[    0.000000] No NUMA configuration found\n"
	    "[    0.000000] Unknown kernel command line parameters \"hashdist=2 foo\", will be "
	    "passed to user space.\n"
	    "[    0.000000] Kernel command line: quiet hashdist=2 foo\nbar\n");
	assert_int_equal(b->crashkernel_bytes, 256 << 20);
	assert_int_equal(b->swiotlb_bytes, 64 << 20);
	assert_int_equal(b->kfence_bytes, 2097152);
	assert_int_equal(b->cma_default_bytes, 64 << 20);
	assert_true(b->kvm_guest);
	assert_true(b->pv_guest);
	assert_int_equal(b->emulated_nodes, 2);
	assert_true(b->numa_not_found);
	assert_string_equal(b->refused, "hashdist=2 foo");
	assert_string_equal(b->cmdline, "quiet hashdist=2 foo bar");
	b = facts("[    0.000000] Booting paravirtualized kernel on bare hardware\n"
		  "[    0.000000] Reserving 256MB of memory at 640MB for crashkernel (System RAM: "
		  "16349MB)\n"
		  "[    0.000000] NUMA turned off\n");
	assert_false(b->pv_guest);
	assert_int_equal(b->crashkernel_bytes, 256 << 20);
	assert_true(b->numa_not_found);
}

/* ---- hostile input ---------------------------------------------------------------------- */

static void an_endless_line_costs_no_memory_and_is_counted(void **state)
{
	struct klog_sink sink = { &got, collect_boot, collect_damaged };
	struct klog *log = klog_new(&sink);
	static char junk[1 << 16];

	(void)state;
	got.boots = got.damaged = 0;
	memset(junk, 'h', sizeof(junk));
	klog_feed(log, "[    0.000000] " FIGURES " ", 15 + sizeof(FIGURES));
	for (int i = 0; i < 4096; i++)
		klog_feed(log, junk, sizeof(junk));
	klog_feed(log, "\n[    0.100000] UDP hash table entries: 64\n", 43);
	klog_finish(log);
	assert_int_equal(klog_stats(log)->long_lines, 1);
	assert_int_equal(klog_stats(log)->lines, 2);
	assert_int_equal(got.boots, 1);
	assert_int_equal(got.boot[0].tables, 2);
	klog_free(log);
}

static void a_long_line_in_one_piece_is_cut_and_the_next_is_read(void **state)
{
	static char text[1 << 16];
	size_t len = (size_t)snprintf(text, sizeof(text), "[    0.000000] " FIGURES " ");

	(void)state;
	memset(text + len, 'h', 60000);
	snprintf(text + len + 60000, sizeof(text) - len - 60000,
		 "\n[    0.100000] UDP hash table entries: 64\n");
	collect_bytes(&got, text, strlen(text), strlen(text));
	assert_int_equal(got.stats.long_lines, 1);
	assert_int_equal(got.stats.lines, 2);
	assert_int_equal(got.boots, 1);
	assert_int_equal(got.boot[0].tables, 2);
}

static void more_tables_than_fit_are_counted(void **state)
{
	char *text = malloc(200 * 80), *p = text;

	(void)state;
	for (int i = 0; i < 200; i++)
		p += sprintf(p, "Table %d hash table entries: 16 (order: 0, 128 bytes)\n", i);
	collect(&got, text);
	free(text);
	assert_int_equal(got.boots, 1);
	assert_int_equal(got.boot[0].tables, KLOG_TABLES_MAX);
	assert_int_equal(got.boot[0].tables_dropped, 200 - KLOG_TABLES_MAX);
	assert_int_equal(got.stats.table_lines, 200);
}

static void node_ids_out_of_range_are_counted(void **state)
{
	const struct klog_boot *b =
	    facts("[    0.000000]   node 300: [mem 0x1000-0x1fff]\n"
		  "[    0.000000]   node 300: [mem 0x3000-0x3fff]\n"
		  "[    0.000000]   node 301: [mem 0x5000-0x5fff]\n"
		  "[    0.000000]   node 18446744073709551615: [mem 0x5000-0x5fff]\n"
		  "[    0.000000]   node   0: [mem 0x1fff-0x1000]\n"
		  "[    0.000000]   node   1: [mem 0x11111111111111111-0x2]\n");

	(void)state;
	assert_int_equal(b->nodes_beyond, 2);
	assert_true(b->node_max <= KLOG_NODES_MAX);
	assert_int_equal(b->node_bytes[0], 0);
	assert_int_equal(b->node_bytes[1], 0);
}

static void a_long_command_line_is_cut_and_says_so(void **state)
{
	char *text = malloc(16384);
	int n = sprintf(text, HEAD "[    0.000000] Kernel command line: ");

	(void)state;
	memset(text + n, 'x', 6000);
	strcpy(text + n + 6000, "\n[    0.000000] end\n");
	collect(&got, text);
	free(text);
	assert_true(got.boot[0].cmdline_cut);
	assert_int_equal(strlen(got.boot[0].cmdline), KLOG_CMDLINE_MAX - 1);
}

static void binary_input_is_noticed(void **state)
{
	(void)state;
	collect_bytes(&got, "\0\1\2\n\xff\xfe\n", 7, 7);
	assert_true(got.stats.binary);
	assert_int_equal(got.boots, 0);
	collect(&got, "text\n");
	assert_false(got.stats.binary);
}

static void a_log_in_pieces_reads_like_a_whole_one(void **state)
{
	static const size_t pieces[] = { 1, 2, 3, 7, 4096 };
	static const char text[] =
	    "Booting from ROM..\033c\x1b[?7l\x1b[2J[    0.000000] " BANNER "\r\n"
	    "> [    0.000000] Command line: foo\n> bar\n"
	    "> > > [    0.000000] Dentry cache hash table entries: 262144 (order: 9, 20=\n"
	    "97152 bytes, linear)\n"
	    "[    0.000000] Inode-cache hash table\nentries: 131072\n(order: 8, 1048576\nbytes, l\n"
	    "[    0.1] Memory: 100K/200K available (1K kernel code, 7K rwdata,\n8K reserved)\n"
	    "UDP hash table entries: 64[    0.2] Mount-cache hash table entries: 17";
	struct collected whole = { 0 };

	(void)state;
	collect(&whole, text);
	assert_int_equal(whole.boots, 1);
	assert_int_equal(whole.boot[0].tables, 3);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		collect_bytes(&got, text, sizeof(text) - 1, pieces[i]);
		assert_int_equal(got.boots, whole.boots);
		assert_int_equal(got.damaged, whole.damaged);
		assert_memory_equal(&got.stats, &whole.stats, sizeof(got.stats));
		same_tables(&got.boot[0], &whole.boot[0]);
		assert_string_equal(got.boot[0].cmdline, whole.boot[0].cmdline);
		assert_int_equal(got.boot[0].reserved_kib, whole.boot[0].reserved_kib);
	}
	collect_free(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_banner_starts_a_boot),
		cmocka_unit_test(the_same_banner_once_more_starts_none),
		cmocka_unit_test(a_replayed_table_line_is_one_table),
		cmocka_unit_test(the_first_table_again_at_another_time_starts_a_boot),
		cmocka_unit_test(a_clock_that_falls_back_at_a_boot_line_starts_a_boot),
		cmocka_unit_test(lines_before_the_banner_belong_to_its_boot),
		cmocka_unit_test(nothing_of_a_boot_stays_behind_for_the_next),
		cmocka_unit_test(the_memory_line_is_read_figure_by_figure),
		cmocka_unit_test(zonelists_are_read_in_every_spelling),
		cmocka_unit_test(cpus_and_nodes_are_counted_in_every_spelling),
		cmocka_unit_test(node_ranges_are_summed),
		cmocka_unit_test(highmem_is_measured),
		cmocka_unit_test(the_rest_of_the_facts_is_read),
		cmocka_unit_test(an_endless_line_costs_no_memory_and_is_counted),
		cmocka_unit_test(a_long_line_in_one_piece_is_cut_and_the_next_is_read),
		cmocka_unit_test(more_tables_than_fit_are_counted),
		cmocka_unit_test(node_ids_out_of_range_are_counted),
		cmocka_unit_test(a_long_command_line_is_cut_and_says_so),
		cmocka_unit_test(binary_input_is_noticed),
		cmocka_unit_test(a_log_in_pieces_reads_like_a_whole_one),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}

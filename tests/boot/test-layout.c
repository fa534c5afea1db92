/* SPDX-License-Identifier: MIT */
/*
 * test-layout.c - where memory lies, and how many pages the kernel counts of it
 *
 * The real boots of tests/core/real-boots.tsv say what "Memory:" and "Total
 * pages:" must be; the argument is the path of that file.
 */
#include <errno.h>

#include "tests/boot/real.h"

static struct boot_layout laid_out(const char *text, const char *version, const char *cmdline)
{
	enum hd_arch arch = hd_arch_parse(text, strcspn(text, " "));
	struct hd_rules rules = rules_of(version, arch);
	struct description machine;
	struct describe_error error;
	struct boot_layout layout;

	if (machine_describe_parse(text, &machine, &error))
		fail_msg("\"%s\", column %zu: expected %s", text, error.column, error.wanted);
	assert_int_equal(boot_layout(&machine, &rules, cmdline, &layout), 0);
	machine_describe_free(&machine);
	return layout;
}

/** Compares, and releases. */
static void ranges_are(struct boot_layout layout, const struct sim_ram *want, size_t count)
{
	assert_int_equal(layout.rams, count);
	for (size_t r = 0; r < count; r++) {
		assert_int_equal(layout.ram[r].start, want[r].start);
		assert_int_equal(layout.ram[r].end, want[r].end);
		assert_int_equal(layout.ram[r].node, want[r].node);
	}
	boot_layout_fini(&layout);
}

#define RANGES(...)                                                                                \
	(const struct sim_ram[]){ __VA_ARGS__ },                                                   \
	    sizeof((const struct sim_ram[]){ __VA_ARGS__ }) / sizeof(struct sim_ram)

enum { LOW_END = 0x9f000, FIRMWARE = 128 << 10 };

/* ---- where memory lies ------------------------------------------------------------ */

/*
 *   4K  636K  1M                      2G-128K
 *   |####|....|##########################|t|      t: the firmware's tables
 */
static void a_pc_has_gaps_below_1_mib_and_tables_at_the_top(void **state)
{
	(void)state;
	ranges_are(laid_out("x86-64 ram=2G", "6.1", ""),
		   RANGES({ 4096, LOW_END, 0 }, { MIB, 2 * GIB - FIRMWARE, 0 }));
	ranges_are(laid_out("i386 ram=512M", "6.1", ""),
		   RANGES({ 4096, LOW_END, 0 }, { MIB, 512 * MIB - FIRMWARE, 0 }));
}

/*
 *   |##########################|t|....hole....|####################|
 *   0                             3G          4G                   9G
 */
static void a_larger_pc_has_a_hole_below_4_gib(void **state)
{
	(void)state;
	ranges_are(
	    laid_out("x86-64 ram=8G", "6.1", ""),
	    RANGES({ 4096, LOW_END, 0 }, { MIB, 3 * GIB - FIRMWARE, 0 }, { 4 * GIB, 9 * GIB, 0 }));
	ranges_are(laid_out("x86-64 ram=3584M", "6.1", ""),
		   RANGES({ 4096, LOW_END, 0 }, { MIB, 3 * GIB - FIRMWARE, 0 },
			  { 4 * GIB, 4 * GIB + 512 * MIB, 0 }));
	ranges_are(laid_out("x86-64 ram=3583M", "6.1", ""),
		   RANGES({ 4096, LOW_END, 0 }, { MIB, 3583 * MIB - FIRMWARE, 0 }));
}

/*
 *   node 0 |#########|....hole....|###|     node 1 |############|
 */
static void nodes_lie_one_behind_the_other_around_the_hole(void **state)
{
	struct boot_layout layout = laid_out("x86-64 node:0=4G node:1=4G", "6.1", "");

	(void)state;
	assert_int_equal(layout.nodes, 2);
	assert_int_equal(layout.memory_nodes, 2);
	assert_false(layout.emulated);
	ranges_are(layout, RANGES({ 4096, LOW_END, 0 }, { MIB, 3 * GIB - FIRMWARE, 0 },
				  { 4 * GIB, 5 * GIB, 0 }, { 5 * GIB, 9 * GIB, 1 }));
	ranges_are(laid_out("x86-64 node:0=1G node:1=1G node:2=6G", "6.1", ""),
		   RANGES({ 4096, LOW_END, 0 }, { MIB, GIB, 0 }, { GIB, 2 * GIB, 1 },
			  { 2 * GIB, 3 * GIB - FIRMWARE, 2 }, { 4 * GIB, 9 * GIB, 2 }));
}

/*
 *   node 3  | |   node 5  |####|   node 9  | |      numbers with gaps, no memory in two
 */
static void memoryless_nodes_are_there_without_ranges(void **state)
{
	struct boot_layout layout = laid_out("arm64 node:3=0 node:5=2G node:9=0", "6.1", "");

	(void)state;
	assert_int_equal(layout.nodes, 3);
	assert_int_equal(layout.memory_nodes, 1);
	assert_int_equal(layout.node_id[0], 3);
	assert_int_equal(layout.node_id[1], 5);
	assert_int_equal(layout.node_id[2], 9);
	ranges_are(layout, RANGES({ GIB, 3 * GIB, 1 }));
}

/* Others have it in one piece: arm64 from 1 GiB on, the rest from 0. */
static void others_have_no_holes(void **state)
{
	(void)state;
	ranges_are(laid_out("arm64 node:0=8G node:1=8G", "6.1", ""),
		   RANGES({ GIB, 9 * GIB, 0 }, { 9 * GIB, 17 * GIB, 1 }));
	ranges_are(laid_out("ppc64 node:0=2G node:1=2G", "6.1", ""),
		   RANGES({ 0, 2 * GIB, 0 }, { 2 * GIB, 4 * GIB, 1 }));
	ranges_are(laid_out("s390x ram=4G", "6.1", ""), RANGES({ 0, 4 * GIB, 0 }));
}

/* Firmware tells of each 16 GiB in its tables; beyond 64 GiB real boots lack a page more. */
static void a_large_pc_has_larger_tables(void **state)
{
	struct boot_layout small = laid_out("x86-64 ram=64G", "6.1", "");
	struct boot_layout large = laid_out("x86-64 ram=66G", "6.1", "");

	(void)state;
	assert_int_equal(small.ram[1].end, 3 * GIB - FIRMWARE);
	assert_int_equal(large.ram[1].end, 3 * GIB - FIRMWARE - 4096);
	boot_layout_fini(&small);
	boot_layout_fini(&large);
}

/*
 *          880 MiB
 *   |#########|hhhhhhhhhhhh|t|      h: not mapped directly
 */
static void highmem_is_the_upper_end_of_memory(void **state)
{
	struct boot_layout layout = laid_out("i386 ram=2G highmem=1168M", "6.1", "");

	(void)state;
	assert_int_equal(layout.highmem_start, 880 * MIB);
	assert_int_equal(layout.highmem_pages, (1168 * MIB - FIRMWARE) / 4096);
	boot_layout_fini(&layout);
	/* with memory above 4 GiB it starts in the first stretch all the same */
	layout = laid_out("i386 ram=8G highmem=7312M", "6.1", "");
	assert_int_equal(layout.highmem_start, 880 * MIB);
	assert_int_equal(layout.highmem_pages, (7312 * MIB - FIRMWARE) / 4096);
	boot_layout_fini(&layout);
	layout = laid_out("i386 ram=8G highmem=4G", "6.1", "");
	assert_int_equal(layout.highmem_start, 5 * GIB);
	assert_int_equal(layout.highmem_pages, 4 * GIB / 4096);
	boot_layout_fini(&layout);
	layout = laid_out("i386 ram=512M", "6.1", "");
	assert_int_equal(layout.highmem_start, 0);
	assert_int_equal(layout.highmem_pages, 0);
	boot_layout_fini(&layout);
}

/* ---- the command line ------------------------------------------------------------- */

/*
 *   installed  |##############|t|....|########|
 *   mem=1000M  |#######|                          an address on x86, so no tables in it
 *   mem=5G     |##############|t|....|##|
 */
static void mem_is_an_address_on_x86(void **state)
{
	struct boot_layout layout = laid_out("x86-64 node:0=1G node:1=1G", "6.1", "mem=1000M");

	(void)state;
	assert_int_equal(layout.nodes, 2);
	assert_int_equal(layout.memory_nodes, 1);
	ranges_are(layout, RANGES({ 4096, LOW_END, 0 }, { MIB, 1000 * MIB, 0 }));
	ranges_are(
	    laid_out("x86-64 ram=8G", "6.1", "quiet mem=5G"),
	    RANGES({ 4096, LOW_END, 0 }, { MIB, 3 * GIB - FIRMWARE, 0 }, { 4 * GIB, 5 * GIB, 0 }));
	ranges_are(laid_out("x86-64 ram=8G", "6.1", "mem=3500M"),
		   RANGES({ 4096, LOW_END, 0 }, { MIB, 3 * GIB - FIRMWARE, 0 }));
	ranges_are(laid_out("x86-64 ram=2G", "6.1", "mem=64G"),
		   RANGES({ 4096, LOW_END, 0 }, { MIB, 2 * GIB - FIRMWARE, 0 }));
}

static void mem_is_an_amount_elsewhere(void **state)
{
	struct boot_layout layout = laid_out("arm64 node:0=1G node:1=1G", "6.1", "mem=1500m");

	(void)state;
	assert_int_equal(layout.memory_nodes, 2);
	ranges_are(layout, RANGES({ GIB, 2 * GIB, 0 }, { 2 * GIB, 2 * GIB + 476 * MIB, 1 }));
	ranges_are(laid_out("arm64 ram=1G", "6.1", "mem=2G"), RANGES({ GIB, 2 * GIB, 0 }));
	ranges_are(laid_out("arm64 ram=1G", "6.1", "mem=2G numa=off"), RANGES({ GIB, 2 * GIB, 0 }));
	/* The last one wins, and other words that end alike are other words. */
	ranges_are(laid_out("arm64 ram=1G", "6.1", "mem=1K mem=0x20000000 xmem=1M member=1M"),
		   RANGES({ GIB, GIB + 512 * MIB, 0 }));
	ranges_are(laid_out("arm64 ram=1G", "6.1", "mem=nopentium"), RANGES({ GIB, 2 * GIB, 0 }));
}

static void a_machine_without_memory_does_not_boot(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
	struct describe_node node = { .bytes = GIB };
	struct description machine = {
		.arch = HD_ARCH_X86_64, .cpus = 1, .possible_nodes = 1, .node = &node, .nodes = 1
	};
	struct boot_layout layout;

	(void)state;
	assert_int_equal(boot_layout(&machine, &rules, "mem=4K", &layout), -EINVAL);
	assert_null(layout.ram);
	assert_null(layout.node_id);
	node.bytes = 4096; /* page 0 belongs to firmware */
	assert_int_equal(boot_layout(&machine, &rules, "", &layout), -EINVAL);
}

/*
 *   node 0 |####|   node 1 |####|     numa=off: node 0 |########|
 */
static void numa_off_leaves_one_node(void **state)
{
	struct boot_layout layout = laid_out("x86-64 node:0=4G node:1=4G", "6.1", "numa=off");

	(void)state;
	assert_int_equal(layout.nodes, 1);
	assert_int_equal(layout.memory_nodes, 1);
	assert_int_equal(layout.node_id[0], 0);
	ranges_are(layout, RANGES({ 4096, LOW_END, 0 }, { MIB, 3 * GIB - FIRMWARE, 0 },
				  { 4 * GIB, 9 * GIB, 0 }));
	/* A kernel without NUMA sees one node, too. */
	layout = laid_out("i386 node:0=1G node:1=1G", "6.1", "");
	assert_int_equal(layout.nodes, 1);
	boot_layout_fini(&layout);
	/* The last one wins. */
	layout = laid_out("x86-64 ram=2G", "6.1", "numa=fake=2 numa=off");
	assert_int_equal(layout.nodes, 1);
	assert_false(layout.emulated);
	boot_layout_fini(&layout);
}

/*
 *   node 0 |################|     numa=fake=4: |####|####|####|####|
 */
static void emulated_nodes_are_of_one_size(void **state)
{
	struct boot_layout layout = laid_out("x86-64 ram=2G", "6.1", "numa=fake=4");

	(void)state;
	assert_true(layout.emulated);
	assert_int_equal(layout.nodes, 4);
	assert_int_equal(layout.memory_nodes, 4);
	ranges_are(layout,
		   RANGES({ 4096, LOW_END, 0 }, { MIB, 512 * MIB, 0 }, { 512 * MIB, GIB, 1 },
			  { GIB, 1536 * MIB, 2 }, { 1536 * MIB, 2 * GIB - FIRMWARE, 3 }));
	/* in steps of 32 MiB; the last has the rest */
	ranges_are(laid_out("x86-64 ram=1000M", "6.1", "numa=fake=3"),
		   RANGES({ 4096, LOW_END, 0 }, { MIB, 320 * MIB, 0 }, { 320 * MIB, 640 * MIB, 1 },
			  { 640 * MIB, 1000 * MIB - FIRMWARE, 2 }));
}

static void numa_fake_is_not_known_everywhere(void **state)
{
	static const struct {
		const char *machine, *cmdline;
		uint32_t nodes;
	} cases[] = {
		{ "arm64 ram=2G", "numa=fake=4", 1 },
		{ "ppc64 ram=2G", "numa=fake=4", 1 },
		{ "x86-64 ram=2G", "numa=fake=1", 1 },
		{ "x86-64 ram=2G", "numa=fake=65", 1 },
		{ "x86-64 ram=2G", "numa=fake=32M", 1 }, /* of a size: not modelled */
		{ "x86-64 ram=2G", "numa=fake=", 1 },
		{ "x86-64 ram=2G", "xnuma=fake=4", 1 },
		{ "x86-64 ram=2G", "numa=fake=8 quiet", 8 },
		{ "x86-64 node:0=1G node:1=1G", "numa=fake=4", 2 }, /* has real ones */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct boot_layout layout = laid_out(cases[i].machine, "6.1", cases[i].cmdline);

		assert_int_equal(layout.nodes, cases[i].nodes);
		assert_int_equal(layout.emulated, cases[i].nodes == 8);
		boot_layout_fini(&layout);
	}
}

static void a_description_may_say_that_its_nodes_are_emulated(void **state)
{
	struct boot_layout layout = laid_out("arm64 node:0=1G node:1=1G emulated", "6.6", "");

	(void)state;
	assert_true(layout.emulated);
	assert_int_equal(layout.nodes, 2);
	boot_layout_fini(&layout);
}

/* ---- what sizing counts ----------------------------------------------------------- */

static struct hd_pages counted(const char *text, const char *version, const char *cmdline)
{
	enum hd_arch arch = hd_arch_parse(text, strcspn(text, " "));
	struct hd_rules rules = rules_of(version, arch);
	struct description machine;
	struct describe_error error;
	struct boot_layout layout;
	struct hd_pages pages;

	assert_int_equal(machine_describe_parse(text, &machine, &error), 0);
	assert_int_equal(boot_layout(&machine, &rules, cmdline, &layout), 0);
	boot_pages(&machine, &layout, &rules, cmdline, &pages);
	boot_layout_fini(&layout);
	machine_describe_free(&machine);
	return pages;
}

/*
 * 2 GiB: 3998 pages below 16 MiB, 520160 above; 63 and 8130 for their struct pages
 * (the second zone's span has the missing tables behind it, not in it), 158 reserved.
 */
static void era_b_subtracts_the_memory_map_of_each_zone(void **state)
{
	struct hd_pages pages = counted("x86-64 ram=2G", "6.1", "");

	(void)state;
	assert_int_equal(pages.kernel, 515808); /* the real boot's "Total pages" */
	assert_int_equal(pages.all, 515808);
	assert_int_equal(counted("x86-64 ram=2G", "6.1", "crashkernel=256M").all, 515808);
	assert_int_equal(counted("x86-64 ram=2G reserved=1G", "6.1", "").all, 515808);
	/* Era A subtracts nothing. */
	assert_int_equal(counted("x86-64 ram=2G", "2.6.11", "").all, 524158);
}

/** How many pages @cmdline takes from the count of a machine. */
static uint64_t taken_by(const char *machine, const char *version, const char *cmdline)
{
	return counted(machine, version, "").kernel - counted(machine, version, cmdline).kernel;
}

static void era_c_counts_without_the_crash_kernel_where_it_is_put_aside_first(void **state)
{
	static const char *const pc = "x86-64 ram=8G", *const arm = "arm64 ram=8G";
	uint64_t pages = 256 * MIB / 4096;

	(void)state;
	assert_int_equal(taken_by(pc, "6.9", "crashkernel=256M"), 0);
	assert_int_equal(taken_by(pc, "6.10", "crashkernel=256M"), pages);
	assert_int_equal(taken_by(pc, "7.1", "crashkernel=256M@64M"), pages);
	assert_int_equal(taken_by(arm, "6.19", "crashkernel=256M"), 0);
	assert_int_equal(taken_by(arm, "7.0", "crashkernel=256M"), pages);
	assert_int_equal(taken_by(arm, "newest", "crashkernel=256M"), pages);
	assert_int_equal(counted(pc, "6.12", "").kernel -
			     counted("x86-64 ram=8G reserved=256M", "6.12", "").kernel,
			 pages);
}

/* What distributions write: the size hangs on how much memory there is. */
static void the_crash_kernel_may_depend_on_memory(void **state)
{
	static const char ranges[] = "crashkernel=1G-4G:192M,4G-64G:256M,64G-:512M quiet";
	static const char one[] = "crashkernel=2G-:128M@16M";
	uint64_t pages = MIB / 4096;

	(void)state;
	assert_int_equal(taken_by("x86-64 ram=512M", "6.12", ranges), 0);
	assert_int_equal(taken_by("x86-64 ram=2G", "6.12", ranges), 192 * pages);
	assert_int_equal(taken_by("x86-64 ram=8G", "6.12", ranges), 256 * pages);
	assert_int_equal(taken_by("x86-64 ram=128G", "6.12", ranges), 512 * pages);
	assert_int_equal(taken_by("x86-64 ram=1G", "6.12", one), 0);
	assert_int_equal(taken_by("x86-64 ram=8G", "6.12", one), 128 * pages);
	assert_int_equal(taken_by("x86-64 ram=8G", "6.12", "crashkernel=1G-4G"), GIB / 4096);
	assert_int_equal(taken_by("x86-64 ram=8G", "6.12", "crashkernel=auto"), 0);
	assert_int_equal(taken_by("x86-64 ram=8G", "6.12", "crashkernel=:"), 0);
	assert_int_equal(taken_by("x86-64 ram=8G", "6.12", "crashkernel=1G-2G:,"), 0);
}

/* 8 MiB of text and 112 bytes of books for each 32 of them: 36 MiB. */
static void a_larger_log_buffer_is_not_counted_on_x86(void **state)
{
	(void)state;
	assert_int_equal(taken_by("x86-64 ram=2G", "6.12", "log_buf_len=8M"), 36 * MIB / 4096);
	assert_int_equal(taken_by("x86-64 ram=2G", "6.1", "log_buf_len=8M"), 0);
	assert_int_equal(taken_by("arm64 ram=2G", "6.12", "log_buf_len=8M"), 0);
}

static void a_count_is_never_less_than_a_page(void **state)
{
	struct hd_pages pages = counted("x86-64 ram=16M", "6.12", "");

	(void)state;
	assert_int_equal(pages.kernel, 1);
	pages = counted("x86-64 ram=1G", "6.12", "crashkernel=2G");
	assert_int_equal(pages.kernel, 1);
	pages = counted("i386 ram=128M highmem=127M", "6.12", "");
	assert_int_equal(pages.kernel, 1);
}

/* ---- real boots ------------------------------------------------------------------- */

static bool in_era_b(const struct real_boot *boot)
{
	return boot->rules.value[HD_RULE_COUNT_ERA] == HD_ERA_B;
}

static void present_pages_and_nodes_are_those_of_real_boots(void **state)
{
	(void)state;
	for (size_t i = 0; i < REAL_BOOTS; i++) {
		const struct real_boot *boot = &real_boots[i];
		struct description machine;
		struct boot_layout layout;

		real_lay_out(boot, &machine, &layout);
		if (layout.present_pages * boot->page_kib != boot->present_kib ||
		    layout.nodes != boot->online_nodes || layout.memory_nodes != boot->memory_nodes)
			fail_msg("%s: %llu KiB on %u of %u nodes, it had %llu on %u of %u",
				 boot->id,
				 (unsigned long long)(layout.present_pages * boot->page_kib),
				 layout.memory_nodes, layout.nodes,
				 (unsigned long long)boot->present_kib, boot->memory_nodes,
				 boot->online_nodes);
		boot_layout_fini(&layout);
		machine_describe_free(&machine);
	}
}

/* i386 too: its kernels have 40 bytes of struct page and map 880 MiB. */
static void era_b_counts_are_exact(void **state)
{
	unsigned count = 0;

	(void)state;
	for (size_t i = 0; i < REAL_BOOTS; i++) {
		const struct real_boot *boot = &real_boots[i];
		struct description machine;
		struct boot_layout layout;
		struct hd_pages pages, real;

		if (!in_era_b(boot))
			continue;
		real_lay_out(boot, &machine, &layout);
		boot_pages(&machine, &layout, &boot->rules, boot->cmdline, &pages);
		real_pages(boot, &real);
		if (pages.all != boot->total || pages.kernel != real.kernel)
			fail_msg("%s: %llu pages, %llu of them mapped; it had %llu, %llu", boot->id,
				 (unsigned long long)pages.all, (unsigned long long)pages.kernel,
				 (unsigned long long)boot->total, (unsigned long long)real.kernel);
		boot_layout_fini(&layout);
		machine_describe_free(&machine);
		count++;
	}
	assert_int_equal(count, 85);
}

static void era_c_estimates_are_right_within_their_slack(void **state)
{
	uint64_t worst = 0;
	unsigned count = 0;

	(void)state;
	for (size_t i = 0; i < REAL_BOOTS; i++) {
		const struct real_boot *boot = &real_boots[i];
		struct description machine;
		struct boot_layout layout;
		struct hd_pages pages, real;
		uint64_t off;

		if (in_era_b(boot))
			continue;
		real_lay_out(boot, &machine, &layout);
		boot_pages(&machine, &layout, &boot->rules, boot->cmdline, &pages);
		real_pages(boot, &real);
		off = pages.kernel > real.kernel ? pages.kernel - real.kernel
						 : real.kernel - pages.kernel;
		if (off + real.slack > pages.slack)
			fail_msg("%s: %llu pages +- %llu, it had %llu +- %llu", boot->id,
				 (unsigned long long)pages.kernel, (unsigned long long)pages.slack,
				 (unsigned long long)real.kernel, (unsigned long long)real.slack);
		if (off * boot->page_kib > worst)
			worst = off * boot->page_kib;
		boot_layout_fini(&layout);
		machine_describe_free(&machine);
		count++;
	}
	print_message("%u estimates, the worst %llu KiB off\n", count, (unsigned long long)worst);
	assert_int_equal(count, 87);
	assert_true(worst < 8 * KIB);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pc_has_gaps_below_1_mib_and_tables_at_the_top),
		cmocka_unit_test(a_larger_pc_has_a_hole_below_4_gib),
		cmocka_unit_test(nodes_lie_one_behind_the_other_around_the_hole),
		cmocka_unit_test(memoryless_nodes_are_there_without_ranges),
		cmocka_unit_test(others_have_no_holes),
		cmocka_unit_test(a_large_pc_has_larger_tables),
		cmocka_unit_test(highmem_is_the_upper_end_of_memory),
		cmocka_unit_test(mem_is_an_address_on_x86),
		cmocka_unit_test(mem_is_an_amount_elsewhere),
		cmocka_unit_test(a_machine_without_memory_does_not_boot),
		cmocka_unit_test(numa_off_leaves_one_node),
		cmocka_unit_test(emulated_nodes_are_of_one_size),
		cmocka_unit_test(numa_fake_is_not_known_everywhere),
		cmocka_unit_test(a_description_may_say_that_its_nodes_are_emulated),
		cmocka_unit_test(era_b_subtracts_the_memory_map_of_each_zone),
		cmocka_unit_test(era_c_counts_without_the_crash_kernel_where_it_is_put_aside_first),
		cmocka_unit_test(the_crash_kernel_may_depend_on_memory),
		cmocka_unit_test(a_larger_log_buffer_is_not_counted_on_x86),
		cmocka_unit_test(a_count_is_never_less_than_a_page),
		cmocka_unit_test(present_pages_and_nodes_are_those_of_real_boots),
		cmocka_unit_test(era_b_counts_are_exact),
		cmocka_unit_test(era_c_estimates_are_right_within_their_slack),
	};

	real_arguments(argc, argv);
	return cmocka_run_group_tests_name("boot: layout", tests, real_setup, NULL);
}

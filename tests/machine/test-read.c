/* SPDX-License-Identifier: MIT */
/*
 * test-read.c - what machine_read() understands, of saved machines and of this one
 *
 * Small trees are made by each test; two whole ones lie in recorded/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "machine/machine.h"
#include "tree.h"

#define NODES "sys/devices/system/node/"

static void assert_count(struct machine_count count, uint64_t want)
{
	assert_true(count.known);
	assert_int_equal(count.value, want);
}

static struct machine *read_tree(const char *tree)
{
	struct machine *m;

	assert_int_equal(machine_read(tree, &m), 0);
	return m;
}

/* With proc/ and sys/, and nothing in them. */
static char *bare_tree(void)
{
	char *tree = tree_new();

	tree_dir(tree, "proc");
	tree_dir(tree, "sys");
	return tree;
}

static const struct machine_blind *blind_for(const struct machine *m, const char *path)
{
	for (uint32_t i = 0; i < m->blinds; i++)
		if (strcmp(m->blind[i].path, path) == 0)
			return &m->blind[i];
	return NULL;
}

/* ---- recorded machines ------------------------------------------------------------ */

static struct machine *recorded(const char *name)
{
	return read_tree(tree_at(RECORDED_DIR, name));
}

static void two_node_debian_is_read_whole(void **state)
{
	struct machine *m = recorded("debian-6.1-two-nodes");

	(void)state;
	assert_false(m->live);
	assert_int_equal(m->arch, HD_ARCH_X86_64);
	assert_int_equal(m->page_bytes, 4096);
	assert_string_equal(m->release, "6.1.0-44-amd64");
	assert_string_equal(m->distribution, "Debian GNU/Linux 12 (bookworm)");
	assert_non_null(strstr(m->cmdline, "crashkernel=512M"));
	assert_count(m->mem_total_kib, 16464700);
	assert_count(m->direct_1g_kib, 10485760);
	assert_false(m->direct_4m_kib.known);
	assert_count(m->huge_page_kib, 2048);
	assert_count(m->possible_cpus, 32);
	assert_count(m->uptime_seconds, 1209600);
	assert_int_equal(m->nodes, 2);
	assert_int_equal(m->memory_nodes, 2);
	assert_int_equal(m->memory_only_nodes, 0);
	assert_count(m->node[1].total_kib, 8251960);
	assert_int_equal(m->zones, 10);
	assert_string_equal(m->zone[2].name, "Normal");
	assert_int_equal(m->zone[7].node, 1);
	assert_int_equal(m->zone[7].managed, 2062990);
	assert_int_equal(m->config.numa, HD_YES);
	assert_int_equal(m->config.huge_vmalloc, HD_YES);
	assert_int_equal(m->config.base_small, HD_NO);
	assert_int_equal(m->config.page_shift, 12);
	assert_int_equal(m->blinds, 0);
	machine_free(m);
}

static void two_node_debian_tells_the_nodes_shares(void **state)
{
	struct machine *m = recorded("debian-6.1-two-nodes");

	(void)state;
	assert_true(m->has_areas);
	assert_int_equal(m->areas, 13);
	assert_int_equal(m->area[0].bytes, 16 << 20);
	assert_int_equal(m->area[0].pages, 4096);
	assert_int_equal(m->area[0].node_pages[0], 2048);
	assert_int_equal(m->area[0].node_pages[1], 2048);
	assert_int_equal(m->area[10].bytes, 384 << 10);
	machine_free(m);
}

static void two_node_debian_counts_its_objects(void **state)
{
	struct machine *m = recorded("debian-6.1-two-nodes");
	struct machine_usage *u = &m->usage;

	(void)state;
	assert_count(u->dentries, 1824417);
	assert_count(u->dentries_unused, 1790226);
	assert_count(u->dentries_negative, 622014);
	assert_count(u->inodes, 1183308);
	assert_count(u->inodes_free, 214477);
	assert_count(u->tcp_inuse, 612 + 95);
	assert_count(u->tcp_time_wait, 187);
	assert_count(u->udp_inuse, 14 + 9);
	assert_count(u->udplite_inuse, 0);
	assert_count(u->mptcp_inuse, 7);
	assert_count(u->tcp_bind_buckets, 320);
	assert_count(u->posix_timers, 48);
	assert_count(u->mounts, 3);
	machine_free(m);
}

static void arm64_with_16k_pages_is_inferred(void **state)
{
	struct machine *m = recorded("arm64-6.6-16k-pages");

	(void)state;
	assert_int_equal(m->arch, HD_ARCH_ARM64);
	assert_int_equal(m->page_bytes, 16384);
	assert_int_equal(m->config.page_shift, 14);
	assert_string_equal(m->release, "6.6.31+rpt-rpi-2712");
	assert_false(m->has_config);
	assert_int_equal(m->config.numa, HD_UNKNOWN);
	assert_false(m->has_areas);
	assert_non_null(blind_for(m, "/proc/vmallocinfo"));
	assert_int_equal(m->memory_nodes, 1);
	assert_count(m->usage.tcp_inuse, 4);
	machine_free(m);
}

/* ---- nodes ------------------------------------------------------------------------ */

/*
 *   node 0  CPUs, memory      node 1  CPUs, no memory
 *   node 4  memory, no CPUs   node 2, 3 possible only
 */
static void nodes_are_told_apart(void **state)
{
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, NODES "possible", "0-4\n");
	tree_put(tree, NODES "online", "0-1,4\n");
	tree_put(tree, NODES "has_memory", "0,4\n");
	tree_put(tree, NODES "has_cpu", "0-1\n");
	tree_put(tree, NODES "node4/meminfo", "Node 4 MemTotal:   1024 kB\nNode 4 MemFree: 7 kB\n");
	m = read_tree(tree);
	assert_true(m->numa_books);
	assert_int_equal(m->nodes, 5);
	assert_int_equal(m->possible_nodes, 5);
	assert_int_equal(m->online_nodes, 3);
	assert_int_equal(m->memory_nodes, 2);
	assert_int_equal(m->memory_only_nodes, 1);
	assert_false(m->node[2].online);
	assert_false(m->node[1].has_memory);
	assert_int_equal(m->node[4].id, 4);
	assert_count(m->node[4].total_kib, 1024);
	assert_count(m->node[4].free_kib, 7);
	assert_false(m->node[0].total_kib.known);
	machine_free(m);
	tree_free(tree);
}

static void without_has_memory_the_nodes_own_books_tell(void **state)
{
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, NODES "possible", "0-1\n");
	tree_put(tree, NODES "online", "0-1\n");
	tree_put(tree, NODES "node0/meminfo", "Node 0 MemTotal: 0 kB\n");
	tree_put(tree, NODES "node0/cpulist", "0-3\n");
	tree_put(tree, NODES "node1/meminfo", "Node 1 MemTotal: 4096 kB\n");
	tree_put(tree, NODES "node1/cpulist", "\n");
	m = read_tree(tree);
	assert_int_equal(m->memory_nodes, 1);
	assert_true(m->node[1].has_memory);
	assert_true(m->node[0].has_cpu);
	assert_int_equal(m->memory_only_nodes, 1);
	machine_free(m);
	tree_free(tree);
}

static void a_kernel_without_numa_is_not_a_blind_spot(void **state)
{
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, "sys/devices/system/cpu/possible", "0\n");
	tree_put(tree, "sys/devices/system/cpu/online", "0\n");
	m = read_tree(tree);
	assert_false(m->numa_books);
	assert_null(blind_for(m, "/sys/devices/system/node"));
	assert_null(blind_for(m, "/sys/devices/system/node/online"));
	machine_free(m);
	tree_free(tree);
}

/* What is named is the place that holds it and cannot be read, if the other does not tell either. */
static void either_place_tells_the_distribution(void **state)
{
	static const struct {
		bool etc_bad, lib_good, lib_bad;
		const char *named;
	} cases[] = {
		{ true, true, false, NULL },
		{ true, false, false, "/etc/os-release" },
		{ false, false, true, "/usr/lib/os-release" },
		{ false, false, false, NULL },
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		static const char *const paths[] = { "/etc/os-release", "/usr/lib/os-release" };
		char *tree = tree_new();
		struct machine *m;

		tree_dir(tree, "proc");
		if (cases[c].etc_bad)
			tree_dir(tree, "etc/os-release");
		if (cases[c].lib_bad)
			tree_dir(tree, "usr/lib/os-release");
		if (cases[c].lib_good)
			tree_put(tree, "usr/lib/os-release", "PRETTY_NAME=inside\n");
		m = read_tree(tree);
		assert_string_equal(m->distribution, cases[c].lib_good ? "inside" : "");
		for (size_t p = 0; p < 2; p++) {
			bool named = cases[c].named && strcmp(cases[c].named, paths[p]) == 0;

			assert_true(named == (blind_for(m, paths[p]) != NULL));
		}
		machine_free(m);
		tree_free(tree);
	}
}

static void a_copy_without_sys_is_blind_for_nodes(void **state)
{
	char *tree = tree_new();
	struct machine *m;

	(void)state;
	tree_put(tree, "proc/version", "Linux version 6.1.0 (a@b) #1\n");
	m = read_tree(tree);
	assert_non_null(blind_for(m, "/sys/devices/system/node"));
	machine_free(m);
	tree_free(tree);
}

/* ---- vmallocinfo ------------------------------------------------------------------ */

static struct machine *read_areas(const char *page_note, const char *online, const char *text)
{
	char *tree = bare_tree();
	struct machine *m;

	if (page_note)
		tree_put(tree, "hashdist-saved", page_note);
	if (online)
		tree_put(tree, NODES "online", online);
	tree_put(tree, "proc/vmallocinfo", text);
	m = read_tree(tree);
	tree_free(tree);
	return m;
}

#define A64K "0x000000001-0x00000002 131072 alloc_large_system_hash+0x1a8/0x35b"

static void the_guard_page_has_the_machines_size(void **state)
{
	struct machine *m = read_areas("format 1\npage_bytes 65536\n", NULL, A64K " vmalloc\n");

	(void)state;
	assert_int_equal(m->areas, 1);
	assert_int_equal(m->area[0].bytes, 65536);
	machine_free(m);
}

static void the_guard_page_follows_from_the_page_count(void **state)
{
	struct machine *m = read_areas(NULL, NULL, A64K " pages=1 vmalloc\n" A64K " pages=31\n");

	(void)state;
	assert_int_equal(m->area[0].bytes, 65536);
	assert_int_equal(m->area[1].bytes, 131072 - 4096);
	machine_free(m);
}

static void hidden_addresses_do_not_matter(void **state)
{
	struct machine *m = read_areas(
	    "format 1\npage_bytes 4096\n", "0\n",
	    "0x(____ptrval____)-0x(____ptrval____) 2101248 alloc_large_system_hash+0x1/0x2 "
	    "pages=512 vmalloc vpages N0=512\n"
	    "0x  (ptrval)-0x  (ptrval)    8192 alloc_large_system_hash+0x1/0x2 pages=1 N0=1\n"
	    "0x0000000000000000-0x0000000000000000  12288 alloc_large_system_hash+0x1/0x2 "
	    "pages=2 vmalloc N0=2\n"
	    "0xffffc90000000000-0xffffc90000005000 20480 irq_init_percpu_irqstack+0x1/0x2\n");

	(void)state;
	assert_int_equal(m->areas, 3);
	assert_int_equal(m->area[0].bytes, 2 << 20);
	assert_int_equal(m->area[0].node_pages[0], 512);
	assert_int_equal(m->area[1].bytes, 4096);
	assert_int_equal(m->area[2].bytes, 8192);
	machine_free(m);
}

static void shares_are_unknown_where_the_kernel_does_not_tell(void **state)
{
	struct machine *m = read_areas("format 1\npage_bytes 4096\n", "0-1\n",
				       A64K " pages=31 vmalloc\n" A64K " pages=31 N7=31\n");

	(void)state;
	assert_int_equal(m->areas, 2);
	assert_null(m->area[0].node_pages);
	assert_null(m->area[1].node_pages);
	machine_free(m);
}

static void shares_go_by_position_not_by_node_id(void **state)
{
	struct machine *m = read_areas("format 1\npage_bytes 4096\n", "0,8\n",
				       A64K " pages=31 vmalloc N8=30 N0=1\n");

	(void)state;
	assert_int_equal(m->nodes, 2);
	assert_int_equal(m->area[0].node_pages[0], 1);
	assert_int_equal(m->area[0].node_pages[1], 30);
	machine_free(m);
}

static void two_hundred_thousand_other_areas_are_passed_over(void **state)
{
	static const char other[] = "0x1-0x2 20480 dup_task_struct+0x46/0x590 pages=4 vmalloc\n";
	size_t len = sizeof(other) - 1, lines = 200000;
	char *text = malloc(len * lines + 200), *p = text;
	struct machine *m;

	(void)state;
	for (size_t i = 0; i < lines; i++)
		p = mempcpy(p, other, len);
	strcpy(p, A64K " pages=31 vmalloc\n");
	m = read_areas(NULL, NULL, text);
	assert_true(m->has_areas);
	assert_int_equal(m->areas, 1);
	machine_free(m);
	free(text);
}

/* ---- configuration ---------------------------------------------------------------- */

static struct hd_config config_of(const char *release, const char *text)
{
	char *tree = bare_tree(), path[128];
	struct hd_config config;
	struct machine *m;

	tree_put(tree, "proc/sys/kernel/osrelease", release);
	snprintf(path, sizeof(path), "boot/config-%s", release);
	tree_put(tree, path, text);
	m = read_tree(tree);
	assert_true(m->has_config);
	config = m->config;
	machine_free(m);
	tree_free(tree);
	return config;
}

static void options_not_mentioned_are_off(void **state)
{
	struct hd_config config = config_of("6.1.0", "CONFIG_SMP=y\n# CONFIG_NUMA is not set\n");

	(void)state;
	assert_int_equal(config.smp, HD_YES);
	assert_int_equal(config.numa, HD_NO);
	assert_int_equal(config.fa_dump, HD_NO);
	assert_int_equal(config.base_small, HD_NO);
	assert_int_equal(config.page_shift, 0);
	assert_int_equal(config.top_order, 0);
}

static void base_small_was_a_number_once(void **state)
{
	(void)state;
	assert_int_equal(config_of("5.10.0", "CONFIG_BASE_SMALL=0\n").base_small, HD_NO);
	assert_int_equal(config_of("5.10.0", "CONFIG_BASE_SMALL=1\n").base_small, HD_YES);
	assert_int_equal(config_of("6.12.0", "CONFIG_BASE_SMALL=y\n").base_small, HD_YES);
	assert_int_equal(config_of("6.12.0", "# CONFIG_BASE_SMALL is not set\n").base_small, HD_NO);
	assert_int_equal(config_of("5.10.0", "# CONFIG_BASE_FULL is not set\n").base_small, HD_YES);
	assert_int_equal(config_of("5.10.0", "CONFIG_BASE_FULL=y\n").base_small, HD_NO);
}

static void the_largest_order_became_inclusive_in_6_4(void **state)
{
	static const char arch[] = "CONFIG_ARCH_FORCE_MAX_ORDER=14\n";
	static const char force[] = "CONFIG_FORCE_MAX_ZONEORDER=14\n";

	(void)state;
	assert_int_equal(config_of("6.3.9", arch).top_order, 13);
	assert_int_equal(config_of("6.4.0", arch).top_order, 14);
	assert_int_equal(config_of("5.10.0", force).top_order, 13);
	assert_int_equal(config_of("6.4.0", force).top_order, 13);
	assert_int_equal(config_of("6.4.0", "CONFIG_ARCH_FORCE_MAX_ORDER=99\n").top_order, 0);
	assert_int_equal(config_of("5.10.0", "CONFIG_FORCE_MAX_ZONEORDER=0\n").top_order, 0);
}

static void page_size_is_spelt_in_many_ways(void **state)
{
	(void)state;
	assert_int_equal(config_of("6.1.0", "CONFIG_ARM64_16K_PAGES=y\n").page_shift, 14);
	assert_int_equal(config_of("6.1.0", "CONFIG_PPC_64K_PAGES=y\n").page_shift, 16);
	assert_int_equal(config_of("6.1.0", "CONFIG_PAGE_SIZE_16KB=y\n").page_shift, 14);
	assert_int_equal(config_of("6.9.0", "CONFIG_PAGE_SHIFT=16\n").page_shift, 16);
	assert_int_equal(config_of("6.9.0", "CONFIG_PAGE_SHIFT=200\n").page_shift, 0);
}

static void a_compressed_configuration_comes_first(void **state)
{
	char *tree = bare_tree();
	struct machine *m;
	gzFile file;

	(void)state;
	tree_put(tree, "proc/sys/kernel/osrelease", "6.1.0\n");
	tree_put(tree, "boot/config-6.1.0", "CONFIG_SMP=y\n");
	file = gzopen(tree_at(tree, "proc/config.gz"), "wb");
	assert_non_null(file);
	assert_true(gzputs(file, "CONFIG_NUMA=y\nCONFIG_LOCK_STAT=y\n") > 0);
	assert_int_equal(gzclose(file), Z_OK);
	m = read_tree(tree);
	assert_int_equal(m->config.numa, HD_YES);
	assert_int_equal(m->config.lock_stat, HD_YES);
	assert_int_equal(m->config.smp, HD_NO);
	machine_free(m);
	tree_free(tree);
}

static void a_damaged_configuration_gives_way_to_the_next(void **state)
{
	static const char cut[] = { 0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b };
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, "proc/sys/kernel/osrelease", "6.1.0\n");
	tree_put_bytes(tree, "proc/config.gz", cut, sizeof(cut));
	tree_put(tree, "boot/config-6.1.0", "nothing to see\n");
	tree_put(tree, "lib/modules/6.1.0/config", "CONFIG_SMP=y\n");
	m = read_tree(tree);
	assert_true(m->has_config);
	assert_int_equal(m->config.smp, HD_YES);
	machine_free(m);
	tree_free(tree);
}

/* ---- identity --------------------------------------------------------------------- */

static enum hd_arch arch_of(const char *release, const char *cpuinfo)
{
	char *tree = bare_tree();
	enum hd_arch arch;
	struct machine *m;

	tree_put(tree, "proc/sys/kernel/osrelease", release);
	if (cpuinfo)
		tree_put(tree, "proc/cpuinfo", cpuinfo);
	m = read_tree(tree);
	arch = m->arch;
	machine_free(m);
	tree_free(tree);
	return arch;
}

static void the_release_names_the_architecture(void **state)
{
	(void)state;
	assert_int_equal(arch_of("6.1.0-44-amd64", NULL), HD_ARCH_X86_64);
	assert_int_equal(arch_of("5.14.0-427.13.1.el9_4.x86_64", NULL), HD_ARCH_X86_64);
	assert_int_equal(arch_of("5.14.0-427.el9.aarch64", NULL), HD_ARCH_ARM64);
	assert_int_equal(arch_of("6.12.9+deb13-arm64-16k", NULL), HD_ARCH_ARM64);
	assert_int_equal(arch_of("6.1.0-44-686-pae", NULL), HD_ARCH_I386);
	assert_int_equal(arch_of("6.1.0-44-powerpc64le", NULL), HD_ARCH_PPC64);
	assert_int_equal(arch_of("6.1.0-44-s390x", NULL), HD_ARCH_S390X);
	assert_int_equal(arch_of("6.8.0-31-generic", NULL), HD_ARCH_UNKNOWN);
}

static void the_processors_shape_tells_when_the_release_does_not(void **state)
{
	(void)state;
	assert_int_equal(arch_of("6.8.0-31-generic", "processor\t: 0\nvendor_id\t: GenuineIntel\n"
						     "flags\t\t: fpu vme lm constant_tsc\n"),
			 HD_ARCH_X86_64);
	assert_int_equal(arch_of("6.8.0-31-generic", "flags\t\t: fpu vme de pse\n"), HD_ARCH_I386);
	assert_int_equal(arch_of("6.8.0-31-generic", "processor : 0\ncpu\t\t: POWER9\n"),
			 HD_ARCH_PPC64);
	assert_int_equal(arch_of("6.8.0", "hart\t: 0\nisa\t: rv64imafdc\n"), HD_ARCH_RISCV64);
}

static struct machine_processor processor_of(const char *path, const char *text)
{
	char *tree = bare_tree();
	struct machine_processor processor;
	struct machine *m;

	tree_put(tree, path, text);
	m = read_tree(tree);
	processor = m->processor;
	machine_free(m);
	tree_free(tree);
	return processor;
}

static void the_first_processor_names_itself(void **state)
{
	struct machine_processor p;

	(void)state;
	p = processor_of("proc/cpuinfo",
			 "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
			 "model\t\t: 158\nmodel name\t: Some words\n\n"
			 "processor\t: 1\nvendor_id\t: Other\nmodel\t\t: 7\n");
	assert_string_equal(p.vendor, "GenuineIntel");
	assert_int_equal(p.family, 6);
	assert_int_equal(p.model, 158);
	assert_true(machine_processor_known(&p));

	p = processor_of("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n"
					 "CPU architecture: 8\nCPU part\t: 0xd0c\n");
	assert_int_equal(p.implementer, 0x41);
	assert_int_equal(p.part, 0xd0c);
	assert_true(machine_processor_known(&p));

	p = processor_of("proc/cpuinfo", "processor : 0\ncpu\t\t: POWER9\n");
	assert_false(machine_processor_known(&p));
	p = processor_of("proc/cpuinfo", "vendor_id\t: \033[31mGenuineIntel\ncpu family\t: 6\n");
	assert_string_equal(p.vendor, "");
}

static void a_saved_copy_names_the_processor_too(void **state)
{
	struct machine_processor p =
	    processor_of("hashdist-saved", "format 1\nprocessor AuthenticAMD 25 17\n");

	(void)state;
	assert_string_equal(p.vendor, "AuthenticAMD");
	assert_int_equal(p.family, 25);
	assert_int_equal(p.model, 17);
	p = processor_of("hashdist-saved", "format 1\nprocessor arm64 65 3392\n");
	assert_int_equal(p.implementer, 65);
	assert_int_equal(p.part, 3392);
}

static void the_builders_name_is_left_out_at_once(void **state)
{
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, "proc/version",
		 "Linux version 6.6.0 (jane@workstation) (gcc (Debian) 12) #1 SMP\n");
	m = read_tree(tree);
	assert_string_equal(m->banner,
			    "Linux version 6.6.0 (builder@localhost) (gcc (Debian) 12) #1 SMP");
	assert_string_equal(m->release, "6.6.0");
	machine_free(m);
	tree_free(tree);
}

static void a_boot_line_that_is_too_long_loses_whole_words(void **state)
{
	char *tree = bare_tree(), text[6000];
	struct machine *m;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = "word1234 "[i % 9];
	text[sizeof(text) - 1] = '\0';
	tree_put(tree, "proc/cmdline", text);
	m = read_tree(tree);
	assert_true(m->has_cmdline);
	len = strlen(m->cmdline);
	assert_true(len > 4000 && len < sizeof(m->cmdline));
	assert_string_equal(m->cmdline + len - 8, "word1234");
	assert_int_equal(blind_for(m, "/proc/cmdline")->error, EFBIG);
	machine_free(m);
	tree_free(tree);
}

static void negative_dentries_are_known_since_5_0(void **state)
{
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, "proc/sys/fs/dentry-state", "10\t9\t45\t0\t0\t0\n");
	tree_put(tree, "proc/sys/kernel/osrelease", "4.19.0-27-amd64\n");
	m = read_tree(tree);
	assert_count(m->usage.dentries, 10);
	assert_false(m->usage.dentries_negative.known);
	machine_free(m);
	tree_put(tree, "proc/sys/kernel/osrelease", "5.0.0\n");
	m = read_tree(tree);
	assert_count(m->usage.dentries_negative, 0);
	machine_free(m);
	tree_free(tree);
}

static void counters_below_zero_are_unknown(void **state)
{
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, "proc/sys/fs/dentry-state", "-3\t9\t45\t0\t0\t0\n");
	tree_put(tree, "proc/sys/fs/inode-state", "7\t-1\t0\n");
	m = read_tree(tree);
	assert_false(m->usage.dentries.known);
	assert_count(m->usage.dentries_unused, 9);
	assert_count(m->usage.inodes, 7);
	assert_false(m->usage.inodes_free.known);
	machine_free(m);
	tree_free(tree);
}

/* ---- directories ------------------------------------------------------------------ */

static void directories_that_hold_no_machine_are_told_apart(void **state)
{
	char *tree = tree_new();
	struct machine *m = NULL;

	(void)state;
	tree_put(tree, "file", "");
	assert_int_equal(machine_read(tree_at(tree, "missing"), &m), -ENOENT);
	assert_int_equal(machine_read(tree_at(tree, "file"), &m), -ENOTDIR);
	assert_int_equal(machine_read(tree, &m), -ENODATA);
	assert_null(m);
	tree_free(tree);
}

static void the_log_is_found_in_three_places(void **state)
{
	static const char *const places[] = { "sos_commands/kernel/dmesg", "dmesg",
					      "var/log/dmesg" };
	char *tree = tree_new();

	(void)state;
	assert_int_equal(machine_open_log(tree), -ENOENT);
	assert_int_equal(machine_open_log(tree_at(tree, "missing")), -ENOENT);
	for (int i = 0; i < 3; i++) {
		char c = 0, text[2] = { (char)('a' + i), 0 };
		int fd;

		tree_put(tree, places[i], text);
		fd = machine_open_log(tree);
		assert_true(fd >= 0);
		assert_int_equal(read(fd, &c, 1), 1);
		assert_int_equal(c, text[0]);
		close(fd);
	}
	tree_free(tree);
}

/* ---- this machine ----------------------------------------------------------------- */

static void this_machine_agrees_with_libc(void **state)
{
	struct utsname system;
	struct sysinfo info;
	struct machine *m;

	(void)state;
	assert_int_equal(machine_read(NULL, &m), 0);
	assert_int_equal(uname(&system), 0);
	assert_int_equal(sysinfo(&info), 0);
	assert_true(m->live);
	assert_int_equal(m->page_bytes, sysconf(_SC_PAGESIZE));
	assert_int_equal(1 << m->config.page_shift, m->page_bytes);
	assert_string_equal(m->release, system.release);
	assert_int_equal(m->arch, hd_arch_parse(system.machine, strlen(system.machine)));
	if (m->mem_total_kib.known) {
		uint64_t kib = (uint64_t)info.totalram * info.mem_unit / 1024;

		/* Balloons move it, containers' file systems hide it: same order of magnitude. */
		assert_true(m->mem_total_kib.value < 4 * kib);
	}
	if (m->online_cpus.known)
		assert_int_equal(m->online_cpus.value, sysconf(_SC_NPROCESSORS_ONLN));
	machine_free(m);
}

static void this_machine_is_read_in_a_moment(void **state)
{
	uint64_t best = UINT64_MAX;

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct timespec before, after;
		struct machine *m;
		uint64_t took;

		clock_gettime(CLOCK_MONOTONIC, &before);
		assert_int_equal(machine_read(NULL, &m), 0);
		clock_gettime(CLOCK_MONOTONIC, &after);
		machine_free(m);
		took = (uint64_t)(after.tv_sec - before.tv_sec) * 1000000000 +
		       (uint64_t)after.tv_nsec - (uint64_t)before.tv_nsec;
		best = took < best ? took : best;
	}
	/* Some milliseconds; the limit leaves room for sanitizers and busy machines. */
	assert_true(best < 250000000);
}

/* Child process as nobody: what it cannot read it must name, with the way out. */
static int read_as_nobody(const char *tree, const char *path)
{
	const struct machine_blind *blind;
	struct machine *m;

	if (geteuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
		return 77;
	if (machine_read(tree, &m))
		return 1;
	blind = blind_for(m, path);
	if (!blind)
		return 2;
	if (blind->error != EACCES)
		return 3;
	if (!blind->lost || !blind->remedy)
		return 4;
	machine_free(m);
	return 0;
}

static int in_child(const char *tree, const char *path)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(read_as_nobody(tree, path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_file_that_may_not_be_read_is_named(void **state)
{
	char *tree = bare_tree();
	int ret;

	(void)state;
	tree_put(tree, "proc/meminfo", "MemTotal: 1 kB\n");
	assert_int_equal(chmod(tree, 0755), 0);
	assert_int_equal(chmod(tree_at(tree, "proc/meminfo"), 0000), 0);
	ret = in_child(tree, "/proc/meminfo");
	tree_free(tree);
	if (ret == 77)
		skip();
	assert_int_equal(ret, 0);
}

static void this_machines_private_books_ask_for_root(void **state)
{
	int ret;

	(void)state;
	if (access("/proc/vmallocinfo", F_OK))
		skip();
	ret = in_child(NULL, "/proc/vmallocinfo");
	if (ret == 77)
		skip();
	assert_int_equal(ret, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_node_debian_is_read_whole),
		cmocka_unit_test(two_node_debian_tells_the_nodes_shares),
		cmocka_unit_test(two_node_debian_counts_its_objects),
		cmocka_unit_test(arm64_with_16k_pages_is_inferred),
		cmocka_unit_test(nodes_are_told_apart),
		cmocka_unit_test(without_has_memory_the_nodes_own_books_tell),
		cmocka_unit_test(a_kernel_without_numa_is_not_a_blind_spot),
		cmocka_unit_test(either_place_tells_the_distribution),
		cmocka_unit_test(a_copy_without_sys_is_blind_for_nodes),
		cmocka_unit_test(the_guard_page_has_the_machines_size),
		cmocka_unit_test(the_guard_page_follows_from_the_page_count),
		cmocka_unit_test(hidden_addresses_do_not_matter),
		cmocka_unit_test(shares_are_unknown_where_the_kernel_does_not_tell),
		cmocka_unit_test(shares_go_by_position_not_by_node_id),
		cmocka_unit_test(two_hundred_thousand_other_areas_are_passed_over),
		cmocka_unit_test(options_not_mentioned_are_off),
		cmocka_unit_test(base_small_was_a_number_once),
		cmocka_unit_test(the_largest_order_became_inclusive_in_6_4),
		cmocka_unit_test(page_size_is_spelt_in_many_ways),
		cmocka_unit_test(a_compressed_configuration_comes_first),
		cmocka_unit_test(a_damaged_configuration_gives_way_to_the_next),
		cmocka_unit_test(the_release_names_the_architecture),
		cmocka_unit_test(the_processors_shape_tells_when_the_release_does_not),
		cmocka_unit_test(the_first_processor_names_itself),
		cmocka_unit_test(a_saved_copy_names_the_processor_too),
		cmocka_unit_test(the_builders_name_is_left_out_at_once),
		cmocka_unit_test(a_boot_line_that_is_too_long_loses_whole_words),
		cmocka_unit_test(negative_dentries_are_known_since_5_0),
		cmocka_unit_test(counters_below_zero_are_unknown),
		cmocka_unit_test(directories_that_hold_no_machine_are_told_apart),
		cmocka_unit_test(the_log_is_found_in_three_places),
		cmocka_unit_test(this_machine_agrees_with_libc),
		cmocka_unit_test(this_machine_is_read_in_a_moment),
		cmocka_unit_test(a_file_that_may_not_be_read_is_named),
		cmocka_unit_test(this_machines_private_books_ask_for_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

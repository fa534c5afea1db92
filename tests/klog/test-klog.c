/* SPDX-License-Identifier: MIT */
/*
 * test-klog.c - wordings, prefixes, wraps, cuts, boots and hostile input, one by one
 */
#include "collect.h"

#include <unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

static struct collected got;

#define FIGURES "Dentry cache hash table entries: 262144 (order: 9, 2097152 bytes, linear)"

/** @text holds one table and nothing else of note. */
static const struct klog_table *only_table(const char *text)
{
	collect(&got, text);
	if (got.boots != 1 || got.boot[0].tables != 1 || got.damaged != 0)
		fail_msg("%u boots, %u tables, %u damaged in: %s", got.boots,
			 got.boots ? got.boot[0].tables : 0, got.damaged, text);
	return &got.boot[0].table[0];
}

static void expect_dentry(const char *text)
{
	const struct klog_table *t = only_table(text);

	if (strcmp(t->name, "Dentry cache") != 0 || t->entries != 262144 || t->order != 9 ||
	    t->bytes != 2097152 || t->mapping != HD_MAP_LINEAR)
		fail_msg("'%s' %d entries, order %d, %d bytes, mapping %d in: %s", t->name,
			 (int)t->entries, t->order, (int)t->bytes, t->mapping, text);
}

/* ---- prefixes ------------------------------------------------------------------- */

static void every_prefix_is_taken_off(void **state)
{
	static const char *const prefixes[] = {
		"",
		"[    0.000000] ",
		"[    0.123456][    T0] ",
		"[    0.123456] [      T0] ",
		"[    T0] ",
		"[  123.456789][T12345@C17] ",
		"<6>[    0.000000] ",
		"<6>",
		"[0.039306] ",
		"[123456.789012] ",
		"Jul 27 14:41:57 host kernel: [    0.000000] ",
		"Jul 27 14:41:57 host kernel: ",
		"Jul  7 14:41:57 host user.info kernel: ",
		"Jan  7 20:38:48 kernel: [    0.000000] ",
		"2024-01-05T12:03:46+01:00 host kernel: ",
		"2026-05-22T03:19:10.398720Z host kernel: [    0.076169] ",
		"2024-01-05T12:03:46.123456+0100 host kernel: ",
		"2023-01-13T04:30:53 [    0.062285] ",
		"2024-12-17 14:39:28,478 DEBUG:\t",
		"03:09:07,531 NOTICE kernel:",
		"kern  :info  : [Wed Dec 14 20:00:04 2022] ",
		"kern  :info  : [    0.000000] ",
		"[Wed Dec 14 20:00:04 2022] ",
		"[Jul27 14:41] ",
		"[Aug 5 17:00] ",
		"[  +0.000000] ",
		"[    0.000000 <    0.000000>] ",
		"[    0.000000] host kernel: ",
		"6,123,456,-;",
		"6,123,456,-,caller=T1;",
		"> ",
		">> [    0.000000] ",
		"> > > [    0.000000] ",
		">>>[    0.000000] ",
		"&gt; [    0.000000] ",
		"| [    0.000000] ",
		"+[    0.000000] ",
		"-[    0.000000] ",
		"> +",
		" [    0.000000] ",
		"\t[    0.000000] ",
		"    [    0.000000] ",
		"* [    0.000000] ",
		"12:[    0.000000] ",
		"12:",
		"  12  [    0.000000] ",
		"\r",
		"\x1b[32m[    0.000000] \x1b[0m",
		"kern  :info  : \x1b[32m[  +0.000000] \x1b[0m\x1b[33m",
		"Booting from ROM..\033c\033[?7l\033[2J[    0.000000] ",
		"[    0.000000]  (0)[0:swapper]",
		"[    0.000000] [0:      swapper:    0] ",
		"[    0.000000@0] ",
		"kern.log:Jul 27 14:41:57 host kernel: [    0.000000] ",
		"console | [    0.000000] ",
		"[\xc2\xa0 \xc2\xa0 0.000000] ",
		"\"[    0.000000] ",
		"<pre>[    0.000000] ",
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		snprintf(text, sizeof(text), "%s" FIGURES "\n", prefixes[i]);
		expect_dentry(text);
		snprintf(text, sizeof(text), "%s" FIGURES "\r\n", prefixes[i]);
		expect_dentry(text);
		snprintf(text, sizeof(text), "%s" FIGURES, prefixes[i]);
		expect_dentry(text);
	}
}

static void colours_anywhere_do_not_matter(void **state)
{
	(void)state;
	expect_dentry("\x1b[33mDentry cache hash table entries\x1b[0m: 262144 (order: 9, 2097152 "
		      "bytes, linear)\n");
	expect_dentry("[    0.000000] Dentry cache \x1b[1mhash table entries: 262144 (order: 9, "
		      "2097152 bytes, \x1b[31mlinear\x1b[m)\n");
	/* a terminal's title is no text either */
	expect_dentry("\x1b]0;a title\aDentry cache hash table entries: 262144 (order: 9, 2097152 "
		      "bytes, linear)\n");
}

static void colour_may_eat_the_colon_of_the_command_line(void **state)
{
	(void)state;
	collect(&got, "\x1b[32m[    0.000000] \x1b[0mLinux version 4.19.62 (a@b) #1 SMP\n"
		      "\x1b[32m[  +0.000000] \x1b[0m\x1b[33mCommand linedebug console=tty0 rw\n"
		      "\x1b[32m[  +0.000000] \x1b[0mZone ranges:\n");
	assert_int_equal(got.boots, 1);
	assert_string_equal(got.boot[0].cmdline, "debug console=tty0 rw");
}

/* ---- wordings -------------------------------------------------------------------- */

struct wording {
	const char *text, *name;
	uint64_t entries, bytes;
	int order;
	int mapping;
	bool has_order, has_bytes, mended;
	unsigned nodes;
};

static void every_wording_through_the_years_is_read(void **state)
{
	static const struct wording wordings[] = {
		{ "Mount-cache hash table entries: 512", "Mount-cache", 512, 0, 0, 0, 0, 0, 0, 0 },
		{ "PID hash table entries: 256 (order: -2, 1024 bytes)", "PID", 256, 1024, -2, 0, 1,
		  1, 0, 0 },
		{ "PID hash table entries: 512 (order 9: 4096 bytes)", "PID", 512, 4096, 9, 0, 1, 1,
		  0, 0 },
		{ "VFS: Dquot-cache hash table entries: 512 (order 0, 4096 bytes)", "Dquot-cache",
		  512, 4096, 0, 0, 1, 1, 0, 0 },
		{ "Dquot-cache hash table entries: 512 (order 0, 4096 bytes)", "Dquot-cache", 512,
		  4096, 0, 0, 1, 1, 0, 0 },
		{ "VFS: Dquot-cache hash table entries: 512 (4096 bytes)", "Dquot-cache", 512, 4096,
		  0, 0, 0, 1, 0, 0 },
		{ "futex hash table entries: 512 (32768 bytes on 1 NUMA nodes, total 32 KiB, "
		  "linear).",
		  "futex", 512, 32768, 0, HD_MAP_LINEAR, 0, 1, 0, 1 },
		{ "futex hash table entries: 512 (32768 bytes on 8 NUMA nodes, total 256 KiB, "
		  "vmalloc).",
		  "futex", 512, 32768, 0, HD_MAP_VMALLOC, 0, 1, 0, 8 },
		{ "TCP established hash table entries: 1048576 (order: 11, 8388608 bytes, vmalloc "
		  "hugepage)",
		  "TCP established", 1048576, 8388608, 11, HD_MAP_VMALLOC_HUGE, 1, 1, 0, 0 },
		{ "IP route cache hash table entries: 4096 (order: 2, 32768 bytes)",
		  "IP route cache", 4096, 32768, 2, 0, 1, 1, 0, 0 },
		{ "Dentry-cache hash table entries: 2048 (order: 2, 16384 bytes)", "Dentry-cache",
		  2048, 16384, 2, 0, 1, 1, 0, 0 },
		{ "Buffer-cache hash table entries: 1024 (order: 0, 4096 bytes)", "Buffer-cache",
		  1024, 4096, 0, 0, 1, 1, 0, 0 },
		{ "Page-cache hash table entries: 4096 (order: 2, 16384 bytes)", "Page-cache", 4096,
		  16384, 2, 0, 1, 1, 0, 0 },
		{ "Page cache hash table entries: 4096 (order: 2, 16384 bytes)", "Page cache", 4096,
		  16384, 2, 0, 1, 1, 0, 0 },
		{ "TCP bind bhash tables hash table entries: 65536 (order: 8, 1572864 bytes, "
		  "linear)",
		  "TCP bind bhash tables", 65536, 1572864, 8, HD_MAP_LINEAR, 1, 1, 0, 0 },
		{ "Frobnicator hash table entries: 64 (order: 0, 512 bytes, linear)", "Frobnicator",
		  64, 512, 0, HD_MAP_LINEAR, 1, 1, 0, 0 },
		/* a kind word of the future is not guessed */
		{ "UDP hash table entries: 64 (order: 0, 512 bytes, quantum)", "UDP", 64, 512, 0, 0,
		  1, 1, 0, 0 },
		/* cut lines */
		{ "UDP hash table entries: 64 (order: 0, 512 bytes, l", "UDP", 64, 512, 0,
		  HD_MAP_LINEAR, 1, 1, 1, 0 },
		{ "UDP hash table entries: 64 (order: 0, 512 bytes, linea)", "UDP", 64, 512, 0,
		  HD_MAP_LINEAR, 1, 1, 1, 0 },
		{ "UDP hash table entries: 64 (order: 0, 512 bytes, vmalloc h", "UDP", 64, 512, 0,
		  HD_MAP_VMALLOC_HUGE, 1, 1, 1, 0 },
		{ "UDP hash table entries: 64 (order: 0, 512 bytes, vmal", "UDP", 64, 512, 0, 0, 1,
		  1, 0, 0 },
		{ "UDP hash table entries: 64 (order: 0, 512 bytes,)", "UDP", 64, 512, 0, 0, 1, 1,
		  0, 0 },
		{ "UDP hash table entries: 64 (order: 0, 512 by", "UDP", 64, 512, 0, 0, 1, 1, 0,
		  0 },
		{ "UDP hash table entries: 64 (order: 0, 51", "UDP", 64, 0, 0, 0, 1, 0, 0, 0 },
		{ "UDP hash table entries: 64 (order: 1, 1228)", "UDP", 64, 0, 1, 0, 1, 0, 0, 0 },
		{ "UDP hash table entries: 64 (order: 1", "UDP", 64, 0, 0, 0, 0, 0, 0, 0 },
		{ "UDP hash table entries: 64 (ord", "UDP", 64, 0, 0, 0, 0, 0, 0, 0 },
		{ "UDP hash table entries: 64 (", "UDP", 64, 0, 0, 0, 0, 0, 0, 0 },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(wordings) / sizeof(*wordings); i++) {
		const struct wording *w = &wordings[i];
		const struct klog_table *t;

		snprintf(text, sizeof(text), "[    0.000000] %s\n", w->text);
		t = only_table(text);
		if (strcmp(t->name, w->name) != 0 || t->entries != w->entries ||
		    t->bytes != w->bytes || t->order != w->order || t->mapping != w->mapping ||
		    t->has_bytes != w->has_bytes || t->has_order != w->has_order ||
		    t->mended != w->mended || t->nodes != w->nodes)
			fail_msg("%s: name '%s' entries %d bytes %d%s order %d%s mapping %d nodes "
				 "%u%s",
				 w->text, t->name, (int)t->entries, (int)t->bytes,
				 t->has_bytes ? "" : "?", t->order, t->has_order ? "" : "?",
				 t->mapping, t->nodes, t->mended ? " mended" : "");
	}
}

static void other_lines_with_such_words_are_no_tables(void **state)
{
	(void)state;
	collect(&got,
		"[    0.000000] Linux version 6.1.0 (a@b) #1 SMP\n"
		"[    0.100000] TCP: Hash tables configured (established 8192 bind 8192)\n"
		"[    0.100000] stackdepot: allocating hash table via alloc_large_system_hash\n"
		"[    0.100000] Stack Depot early init allocating hash table with "
		"memblock_alloc, 8388608 bytes\n"
		"[    0.100000] NetLabel:  domain hash size = 128\n"
		"[    0.100000] ftrace: allocating 20414 entries in 40 pages\n"
		"[    0.100000] IPVS: Connection hash table configured (size=4096, "
		"memory=64Kbytes)\n"
		"[    0.100000] TCP reno registered\n"
		"[    0.100000] UDP\n");
	assert_int_equal(got.boots, 1);
	assert_int_equal(got.boot[0].tables, 0);
	assert_int_equal(got.damaged, 0);
}

static void what_cannot_be_understood_is_counted(void **state)
{
	static const char *const lines[] = {
		"Dentry cache hash table entries: -2147483648 (order: -13, 0 bytes, linear)",
		"Dentry cache hash table entries: 131", /* no power of two at the cut end */
		"Dentry cache hash table entries:",
		"Dentry cache hash table ent",
		"Dentry cache hash",
		"Dentry cache hash table entries: x",
		"Dentry cache hash table entries: 12x34 (order: 0, 1 bytes)",
		"Dentry cache hash table entries: 0 (order: 0, 0 bytes)",
		"Dentry cache hash table entries: 99999999999999999999999 (order: 0, 1 bytes)",
		" hash table entries: 16 (order: 0, 1 bytes)",
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(text, sizeof(text),
			 "[    0.000000] Linux version 6.1.0 (a@b) #1 SMP\n[    0.000000] %s\n"
			 "[    0.000001] Zone ranges:\n",
			 lines[i]);
		collect(&got, text);
		assert_int_equal(got.boots, 1);
		if (got.boot[0].tables != 0 || got.damaged != 1 || got.damaged_line != 2 ||
		    got.boot[0].damaged != 1 || got.stats.damaged != 1)
			fail_msg("%u tables, %u damaged, line %d: %s", got.boot[0].tables,
				 got.damaged, (int)got.damaged_line, lines[i]);
	}
}

/* ---- wraps ------------------------------------------------------------------------- */

static void a_line_wrapped_at_any_space_is_joined(void **state)
{
	const char *line = "[    0.000000] " FIGURES;
	char text[512];

	(void)state;
	for (size_t i = 29; line[i]; i++) {
		if (line[i] != ' ')
			continue;
		snprintf(text, sizeof(text), "%.*s\n%s\n[    0.100000] Zone ranges:\n", (int)i,
			 line, line + i + 1);
		expect_dentry(text);
		snprintf(text, sizeof(text), "> > %.*s \r\n> > %s\r\n> > [    0.1] x\r\n", (int)i,
			 line, line + i + 1);
		expect_dentry(text);
		snprintf(text, sizeof(text), "%.*s\n    %s\n", (int)i, line, line + i + 1);
		expect_dentry(text);
		assert_true(got.boot[0].table[0].mended);
	}
}

static void a_line_broken_by_a_terminal_anywhere_is_joined(void **state)
{
	const char *line = "[    0.000000] " FIGURES;
	char text[512];

	(void)state;
	/* from behind the first word of the anchor on; before that nothing tells what it is */
	for (size_t i = 33; i < strlen(line); i++) {
		snprintf(text, sizeof(text), "%.*s\n%s\n[    0.100000] Zone ranges:\n", (int)i,
			 line, line + i);
		expect_dentry(text);
	}
}

static void quoted_printable_is_undone(void **state)
{
	(void)state;
	expect_dentry(
	    "> > > [    0.000000] Dentry cache hash table entries: 262144 (order: 9, 20=\n"
	    "97152 bytes, linear)\n");
	expect_dentry(
	    "> > > [    0.000000] Dentry cache hash table entries: 262144 (order: 9, 20=\r\n"
	    "97152 bytes, linear)=20\r\n");
	collect(&got,
		"[    0.000000] Linux version 6.1.0 (a@b) #1 SMP\n"
		"[    0.000000] Kernel command line: console=3DttyS0 root=3D/dev/sda\n"
		"[    0.000000] SLUB: HWalign=3D64, Order=3D0-3, MinObjects=3D0, CPUs=3D2, =\n"
		"Nodes=3D1\n");
	assert_string_equal(got.boot[0].cmdline, "console=ttyS0 root=/dev/sda");
	assert_int_equal(got.boot[0].cpu_ids, 2);
	assert_int_equal(got.boot[0].node_ids, 1);
}

static void a_bare_count_is_not_joined_to_what_follows(void **state)
{
	(void)state;
	collect(&got, "Mount-cache hash table entries: 512\nBrought up 1 CPUs\n"
		      "Inode-cache hash table entries: 256\n(none of this is ours)\n");
	assert_int_equal(got.boot[0].tables, 2);
	assert_int_equal(got.boot[0].online_cpus, 1);
	assert_int_equal(got.boot[0].table[0].entries, 512);
	assert_int_equal(got.boot[0].table[1].entries, 256);
	assert_false(got.boot[0].table[1].has_bytes);
}

static void two_messages_glued_together_are_both_read(void **state)
{
	(void)state;
	collect(&got, "[    0.000000] " FIGURES "[    0.000100] Inode-cache hash table entries: "
		      "131072 (order: 8, 1048576 bytes, linear)\n"
		      "[    0.000200] foo bar[    0.000300] UDP hash table entries: 64 (order: 0, "
		      "4096 bytes, linear)\n");
	assert_int_equal(got.boots, 1);
	assert_int_equal(got.boot[0].tables, 3);
	assert_string_equal(got.boot[0].table[2].name, "UDP");
}

static void a_torn_line_is_damaged_and_its_neighbour_is_read(void **state)
{
	(void)state;
	collect(&got,
		"[    0.000000] Dentry cache hash table entries: [    0.000100] UDP hash table "
		"entries: 64 (order: 0, 4096 bytes, linear)\n");
	assert_int_equal(got.damaged, 1);
	assert_int_equal(got.boot[0].tables, 1);
	assert_string_equal(got.boot[0].table[0].name, "UDP");
}

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

/* ---- sources -------------------------------------------------------------------------------- */

static void a_reader_can_be_used_again(void **state)
{
	struct klog_sink sink = { &got, collect_boot, NULL };
	struct klog *log = klog_new(&sink);

	(void)state;
	got.boots = 0;
	klog_feed(log, FIGURES "\n", sizeof(FIGURES));
	klog_finish(log);
	assert_int_equal(klog_stats(log)->table_lines, 1);
	klog_feed(log, "x hash table entries: y\n", 24);
	klog_finish(log);
	assert_int_equal(klog_stats(log)->table_lines, 0);
	assert_int_equal(klog_stats(log)->damaged, 1);
	assert_int_equal(got.boots, 1);
	klog_free(log);
}

/** What klog_read_fd() says to a file that holds @len bytes of @data. */
static int read_file(const char *data, size_t len)
{
	struct klog_sink sink = { &got, collect_boot, NULL };
	struct klog *log = klog_new(&sink);
	FILE *file = tmpfile();
	int rc;

	got.boots = 0;
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	rewind(file);
	rc = klog_read_fd(log, fileno(file));
	fclose(file);
	klog_free(log);
	return rc;
}

static void gzip_is_unpacked(void **state)
{
	static const char text[] = "[    0.000000] " FIGURES "\n";
	char packed[512];
	z_stream z = { .next_in = (Bytef *)(uintptr_t)text,
		       .avail_in = sizeof(text) - 1,
		       .next_out = (Bytef *)packed,
		       .avail_out = sizeof(packed) };
	size_t len;

	(void)state;
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	len = z.total_out;
	deflateEnd(&z);
	assert_int_equal(read_file(text, sizeof(text) - 1), 0);
	assert_int_equal(got.boots, 1);
	assert_int_equal(read_file(packed, len), 0);
	assert_int_equal(got.boots, 1);
	assert_int_equal(got.boot[0].table[0].entries, 262144);
	/* cut short, it is damaged; one byte is no gzip yet */
	for (size_t n = 0; n < len; n++)
		assert_int_equal(read_file(packed, n), n < 2 ? 0 : -EBADMSG);
	/* two members in a row; then what is none, which gzip passes over, too */
	memcpy(packed + len, packed, len);
	assert_int_equal(read_file(packed, 2 * len), 0);
	assert_int_equal(got.boot[0].tables, 1);
	memset(packed + len, 0, 32);
	assert_int_equal(read_file(packed, len + 32), 0);
	assert_int_equal(got.boots, 1);
}

static void a_directory_is_refused(void **state)
{
	struct klog_sink sink = { &got, collect_boot, NULL };
	struct klog *log = klog_new(&sink);
	int fd = open("/", O_RDONLY);

	(void)state;
	assert_int_equal(klog_read_fd(log, fd), -EISDIR);
	close(fd);
	assert_int_equal(klog_read_fd(log, -1), -EBADF);
	klog_free(log);
}

/** A program of that name in a directory of its own, the only one of PATH; NULL text: none. */
static int read_journal(const char *text)
{
	struct klog_sink sink = { &got, collect_boot, NULL };
	struct klog *log = klog_new(&sink);
	char dir[] = "/tmp/test-klog-XXXXXX", path[64], before[4096];
	int rc;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/journalctl", dir);
	snprintf(before, sizeof(before), "%s", getenv("PATH"));
	if (text) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fprintf(file, "#!/bin/sh\n%s\n", text);
		assert_int_equal(fchmod(fileno(file), 0700), 0);
		fclose(file);
	}
	setenv("PATH", dir, 1);
	got.boots = 0;
	rc = klog_read_journal(log);
	setenv("PATH", before, 1);
	unlink(path);
	rmdir(dir);
	klog_free(log);
	return rc;
}

static void the_journal_is_asked_through_its_program(void **state)
{
	(void)state;
	assert_int_equal(read_journal("[ \"$1 $2 $3 $4 $5\" = '-k -b 0 -o short-monotonic' ] &&\n"
				      "echo '[    0.000000] host kernel: " FIGURES "'"),
			 0);
	assert_int_equal(got.boots, 1);
	assert_int_equal(got.boot[0].table[0].entries, 262144);
	/* complaints are kept from the user */
	assert_int_equal(read_journal("echo no journal >&2; exit 1"), -ENOENT);
	assert_int_equal(read_journal(NULL), -ENOENT);
	assert_int_equal(got.boots, 0);
}

/* ---- the catalogue, copies ------------------------------------------------------------- */

static void a_table_has_its_id_where_the_catalogue_knows_it(void **state)
{
	static const struct {
		const char *name;
		enum hd_table_id id;
	} names[] = {
		{ "PID", HD_TABLE_PID },
		{ "Dentry cache", HD_TABLE_DENTRY },
		{ "Dentry-cache", HD_TABLE_DENTRY },
		{ "Inode-cache", HD_TABLE_INODE },
		{ "VFS: Dquot-cache", HD_TABLE_DQUOT },
		{ "tcp_listen_portaddr_hash", HD_TABLE_TCP_LISTEN },
		{ "UDP", HD_TABLE_UDP },
		{ "UDP-Lite", HD_TABLE_UDP_LITE },
		{ "UDP-Heavy", HD_TABLE_COUNT },
		{ "Frobnicate cache", HD_TABLE_COUNT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char line[128];

		snprintf(line, sizeof(line), "%s hash table entries: 512 (order: 0, 4096 bytes)\n",
			 names[i].name);
		assert_int_equal(only_table(line)->id, names[i].id);
		snprintf(line, sizeof(line), "%s hash\ntable entries: 512 (order: 0, 4096 bytes)\n",
			 names[i].name);
		assert_int_equal(only_table(line)->id, names[i].id);
		snprintf(line, sizeof(line), "[    0.1] foo: %s hash table entries: 512\n",
			 names[i].name);
		assert_int_equal(only_table(line)->id, names[i].id);
	}
}

static struct klog_boot copied;

static void copy_boot(void *ctx, const struct klog_boot *boot)
{
	(void)ctx;
	collect_boot(&got, boot);
	memset(&copied, 0xa5, sizeof(copied));
	klog_boot_copy(&copied, boot);
}

static bool untouched(const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((const unsigned char *)from)[i] != 0xa5)
			return false;
	return true;
}

static void a_copy_has_all_that_counts_and_no_more(void **state)
{
	static const char text[] =
	    "[    0.000000] Linux version 6.1.0 (a@b) #1 SMP\n"
	    "[    0.000000] Command line: root=/dev/vda1 quiet\n"
	    "[    0.000000]   node   2: [mem 0x1000-0x1fff]\n"
	    "[    0.000000] On node 1 totalpages: 9\n"
	    "[    0.000000] Initmem setup node 4 as memoryless\n"
	    "[    0.000000] Unknown kernel command line parameters \"foo\", will be passed to "
	    "user space.\n"
	    "[    0.000000] PID hash table entries: 4096 (order: 3, 32768 bytes, linear)\n"
	    "[    0.000000] " FIGURES "\n";
	struct klog_sink sink = { NULL, copy_boot, NULL };
	struct klog *log = klog_new(&sink);
	const struct klog_boot *a, *b = &copied;

	(void)state;
	assert_non_null(log);
	collect(&got, ""); /* makes room */
	klog_feed(log, text, sizeof(text) - 1);
	klog_finish(log);
	klog_free(log);
	a = got.boot;
	assert_int_equal(got.boots, 1);
	assert_int_equal(a->node_max, 5);
	assert_int_equal(a->nodes_beyond, 0);
	assert_memory_equal(a, b, offsetof(struct klog_boot, version));
	assert_string_equal(a->version, b->version);
	assert_string_equal(a->banner, b->banner);
	assert_string_equal(a->refused, "foo");
	assert_string_equal(b->refused, "foo");
	assert_string_equal(a->cmdline, b->cmdline);
	assert_memory_equal(a->node_bytes, b->node_bytes, 5 * sizeof(*b->node_bytes));
	assert_memory_equal(a->node_pages, b->node_pages, 5 * sizeof(*b->node_pages));
	assert_memory_equal(a->initmem_node, b->initmem_node, 5);
	assert_int_equal(b->node_pages[1], 9);
	assert_int_equal(b->initmem_node[4], 2);
	same_tables(a, b);
	assert_int_equal(b->table[1].id, HD_TABLE_DENTRY);
	/* the rest was not written */
	assert_true(untouched(b->banner + strlen(b->banner) + 1,
			      sizeof(b->banner) - strlen(b->banner) - 1));
	assert_true(untouched(b->cmdline + strlen(b->cmdline) + 1,
			      sizeof(b->cmdline) - strlen(b->cmdline) - 1));
	assert_true(untouched(b->node_bytes + 5, sizeof(b->node_bytes) - 5 * sizeof(uint64_t)));
	assert_true(untouched(b->node_pages + 5, sizeof(b->node_pages) - 5 * sizeof(uint64_t)));
	assert_true(untouched(b->initmem_node + 5, sizeof(b->initmem_node) - 5));
	assert_true(untouched(b->table + 2, sizeof(b->table) - 2 * sizeof(*b->table)));
}

/*
 * Most lines are passed by after a quick look. What is hidden in such a line must be found
 * wherever it stands: on a border of what is looked at together, or at the very end.
 */
static void what_is_hidden_in_a_line_is_found_at_any_place(void **state)
{
	static const char *const hidden[] = {
		FIGURES,           "[    0.000000] " FIGURES, "dentry\r" FIGURES,
		"\x1b[1m" FIGURES, "host kernel: " FIGURES,   "x Linux version 6.1.0 (a@b) #1 SMP",
	};
	char *text = malloc(1 << 16);

	(void)state;
	assert_non_null(text);
	for (size_t h = 0; h < sizeof(hidden) / sizeof(*hidden); h++)
		for (size_t before = 0; before < 140; before++) {
			const bool first = strncmp(hidden[h], "host", 4) == 0;
			/* near a multiple of all block sizes, and near the end of the text */
			size_t at = 16384 - 70 + before, len = 0;

			for (int lines = 0; len + 60 < at; lines++)
				len += (size_t)sprintf(
				    text + len, "[    0.%06d] pci 0000:00:1f.0: BAR 0\n", lines);
			len += (size_t)sprintf(text + len, "[    0.5%05zu] %*s", before,
					       first ? 0 : (int)(before % 70), "");
			len +=
			    (size_t)sprintf(text + len, "%s%s\n", first ? "" : "quux: ", hidden[h]);
			collect_bytes(&got, text, len, len);
			assert_int_equal(got.boots, 1);
			assert_int_equal(got.boot[0].tables, h < 5);
			assert_int_equal(got.damaged, 0);
		}
	free(text);
}

static int release(void **state)
{
	(void)state;
	collect_free(&got);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_prefix_is_taken_off),
		cmocka_unit_test(colours_anywhere_do_not_matter),
		cmocka_unit_test(colour_may_eat_the_colon_of_the_command_line),
		cmocka_unit_test(every_wording_through_the_years_is_read),
		cmocka_unit_test(other_lines_with_such_words_are_no_tables),
		cmocka_unit_test(what_cannot_be_understood_is_counted),
		cmocka_unit_test(a_line_wrapped_at_any_space_is_joined),
		cmocka_unit_test(a_line_broken_by_a_terminal_anywhere_is_joined),
		cmocka_unit_test(quoted_printable_is_undone),
		cmocka_unit_test(a_bare_count_is_not_joined_to_what_follows),
		cmocka_unit_test(two_messages_glued_together_are_both_read),
		cmocka_unit_test(a_torn_line_is_damaged_and_its_neighbour_is_read),
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
		cmocka_unit_test(a_reader_can_be_used_again),
		cmocka_unit_test(gzip_is_unpacked),
		cmocka_unit_test(a_directory_is_refused),
		cmocka_unit_test(the_journal_is_asked_through_its_program),
		cmocka_unit_test(a_table_has_its_id_where_the_catalogue_knows_it),
		cmocka_unit_test(a_copy_has_all_that_counts_and_no_more),
		cmocka_unit_test(what_is_hidden_in_a_line_is_found_at_any_place),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}

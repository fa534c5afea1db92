/* SPDX-License-Identifier: MIT */
/* test-lines.c - what stands in front of a message, its wordings, lines that were wrapped */
#include "expect.h"

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
	};

	return cmocka_run_group_tests(tests, NULL, release);
}

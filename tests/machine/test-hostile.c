/* SPDX-License-Identifier: MIT */
/*
 * test-hostile.c - saved machines that somebody made to do harm
 *
 * No link leads out, nothing blocks, nothing grows without bound, no number
 * wraps. Each test runs with openat2(2) and without. An alarm ends a test
 * that hangs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

#include "machine/internal.h"
#include "tree.h"

#define NODES "sys/devices/system/node/"

static bool simple; /* without openat2(2) */

static void open_root(const char *tree, struct mach_root *root)
{
	assert_int_equal(mach_root_open(tree, root), 0);
	root->simple = root->simple || simple;
}

static struct machine *read_tree(const char *tree)
{
	struct mach_root root;
	struct machine *m = NULL;

	open_root(tree, &root);
	assert_int_equal(mach_read(&root, &m), 0);
	mach_root_close(&root);
	return m;
}

static int open_file(const char *tree, const char *path)
{
	struct mach_root root;
	int fd;

	open_root(tree, &root);
	fd = mach_root_file(&root, path);
	mach_root_close(&root);
	return fd;
}

static char *bare_tree(void)
{
	char *tree = tree_new();

	tree_dir(tree, "proc");
	tree_dir(tree, "sys");
	return tree;
}

/*
 *   outside        SECRET=1
 *   inside/proc    links to it, in every way a path can be written
 */
static void no_link_leads_out(void **state)
{
	char *outside = bare_tree();
	const char *tree;
	char up[256] = "";

	(void)state;
	tree_put(outside, "secret", "SECRET");
	tree_dir(outside, "inside");
	tree_dir(outside, "inside/proc");
	tree = strdup(tree_at(outside, "inside"));
	for (int i = 0; i < 20; i++)
		strcat(up, "../");
	strcat(up, outside + 1);
	strcat(up, "/secret");
	tree_link(tree, "proc/a", "/etc/passwd");
	tree_link(tree, "proc/b", "../../secret");
	tree_link(tree, "proc/c", up);
	tree_link(tree, "proc/d", tree_at(outside, "secret"));
	tree_link(tree, "proc/e", "../..");
	tree_link(tree, "proc/loop", "loop");
	tree_link(tree, "proc/fd", "/proc/self/exe");
	assert_true(open_file(tree, "proc/a") < 0);
	assert_true(open_file(tree, "proc/b") < 0);
	assert_true(open_file(tree, "proc/c") < 0);
	assert_true(open_file(tree, "proc/d") < 0);
	assert_true(open_file(tree, "proc/e/secret") < 0);
	assert_true(open_file(tree, "proc/fd") < 0);
	assert_true(open_file(tree, "proc/../../secret") < 0);
	assert_int_equal(open_file(tree, "proc/loop"), -ELOOP);
	free((char *)tree);
	tree_free(outside);
}

static void a_link_that_stays_inside_is_followed_by_openat2(void **state)
{
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, "usr/lib/os-release", "PRETTY_NAME=inside\n");
	tree_link(tree, "etc/os-release", "/usr/lib/os-release");
	m = read_tree(tree);
	/* Without openat2 the link is refused, and the second place is tried. */
	assert_string_equal(m->distribution, "inside");
	machine_free(m);
	tree_free(tree);
}

static void only_regular_files_are_opened(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char *tree = bare_tree();
	int sock = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	tree_fifo(tree, "proc/fifo");
	tree_dir(tree, "proc/dir");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", tree_at(tree, "proc/sock"));
	assert_int_equal(bind(sock, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(open_file(tree, "proc/fifo"), -EINVAL);
	assert_int_equal(open_file(tree, "proc/dir"), -EISDIR);
	assert_int_equal(open_file(tree, "proc/sock"), -EINVAL);
	if (mknod(tree_at(tree, "proc/dev"), S_IFCHR | 0666, 1 << 8 | 3) == 0)
		assert_int_equal(open_file(tree, "proc/dev"), -EINVAL);
	close(sock);
	tree_free(tree);
}

static const char *const every_file[] = {
	"proc/version",
	"proc/sys/kernel/osrelease",
	"etc/os-release",
	"usr/lib/os-release",
	"proc/cmdline",
	"proc/meminfo",
	"proc/zoneinfo",
	"proc/uptime",
	"proc/vmallocinfo",
	"proc/cpuinfo",
	"proc/config.gz",
	"boot/config-6.1.0",
	NODES "possible",
	NODES "online",
	NODES "has_memory",
	NODES "has_normal_memory",
	NODES "has_cpu",
	NODES "node0/meminfo",
	NODES "node0/cpulist",
	"sys/devices/system/cpu/possible",
	"sys/devices/system/cpu/online",
	"proc/sys/fs/dentry-state",
	"proc/sys/fs/inode-state",
	"proc/net/sockstat",
	"proc/net/sockstat6",
	"proc/net/protocols",
	"proc/self/mountinfo",
	"proc/slabinfo",
	"hashdist-saved",
};

enum { FILES = sizeof(every_file) / sizeof(every_file[0]) };

static void fifos_everywhere_do_not_stall(void **state)
{
	char *tree = tree_new();
	struct machine *m;

	(void)state;
	for (int i = 0; i < FILES; i++)
		tree_fifo(tree, every_file[i]);
	m = read_tree(tree);
	assert_int_equal(m->areas, 0);
	assert_false(m->has_areas);
	assert_false(m->has_config);
	assert_false(m->mem_total_kib.known);
	assert_int_equal(machine_open_log(tree), -ENOENT);
	machine_free(m);
	tree_free(tree);
}

static void directories_everywhere_are_no_files(void **state)
{
	char *tree = tree_new();
	struct machine *m;

	(void)state;
	for (int i = 0; i < FILES; i++)
		tree_dir(tree, every_file[i]);
	m = read_tree(tree);
	assert_false(m->has_areas);
	assert_int_equal(m->zones, 0);
	machine_free(m);
	tree_free(tree);
}

static void three_gib_of_nothing_cost_neither_memory_nor_time(void **state)
{
	struct rusage before, after;
	char *tree = tree_new();
	struct machine *m;

	(void)state;
	for (int i = 0; i < FILES; i++)
		tree_sparse(tree, every_file[i], 3ull << 30);
	getrusage(RUSAGE_SELF, &before);
	m = read_tree(tree);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 32 * 1024);
	assert_false(m->has_areas);
	assert_false(m->mem_total_kib.known);
	assert_false(m->usage.mounts.known);
	machine_free(m);
	tree_free(tree);
}

static void garbage_gives_no_figures(void **state)
{
	char *tree = tree_new(), *noise = malloc(100000);
	struct machine *m;
	uint32_t seed = 12345;

	(void)state;
	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 100000; i++) {
			seed = seed * 1664525 + 1013904223;
			noise[i] = (char)(seed >> 24);
			if (round & 1 && i % 7 == 0)
				noise[i] = "\n,-0 =N:"[seed >> 20 & 7];
		}
		for (int i = 0; i < FILES; i++)
			tree_put_bytes(tree, every_file[i], noise, 100000);
		m = read_tree(tree);
		assert_int_equal(m->areas, 0);
		assert_false(m->mem_total_kib.known);
		assert_false(m->has_config);
		for (const char *p = m->cmdline; *p; p++)
			assert_true((unsigned char)*p >= ' ' || *p == '\t');
		machine_free(m);
	}
	free(noise);
	tree_free(tree);
}

static void nul_bytes_end_no_file(void **state)
{
	static const char text[] = "a\0b\nMemTotal:\0 5 kB\nVmallocTotal: 7 kB\n";
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put_bytes(tree, "proc/meminfo", text, sizeof(text) - 1);
	m = read_tree(tree);
	assert_false(m->mem_total_kib.known);
	assert_true(m->vmalloc_total_kib.known);
	assert_int_equal(m->vmalloc_total_kib.value, 7);
	machine_free(m);
	tree_free(tree);
}

#define TOO_LARGE "18446744073709551616"
#define LARGEST   "18446744073709551615"

static void numbers_that_do_not_fit_are_unknown(void **state)
{
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, "proc/meminfo",
		 "MemTotal: " TOO_LARGE " kB\nVmallocTotal: " LARGEST " kB\n"
		 "Hugepagesize: 99999999999999999999999999999999999999999 kB\n");
	tree_put(tree, "proc/zoneinfo",
		 "Node 0, zone Normal\n managed " LARGEST "\n present " TOO_LARGE "\n"
		 "Node 0, zone DMA\n managed " LARGEST "\nNode " TOO_LARGE ", zone DMA\n"
		 "Node 4294967296, zone Normal\n");
	tree_put(tree, "proc/net/sockstat", "TCP: inuse " LARGEST " tw " TOO_LARGE "\n");
	tree_put(tree, "proc/net/sockstat6", "TCP6: inuse 1\n");
	tree_put(tree, "proc/uptime", TOO_LARGE ".0 1\n");
	tree_put(tree, "proc/vmallocinfo",
		 "0x1-0x2 " TOO_LARGE " alloc_large_system_hash+0x1/0x2 pages=1 N0=1\n"
		 "0x1-0x2 " LARGEST " alloc_large_system_hash+0x1/0x2 pages=" LARGEST
		 " N0=" TOO_LARGE " N" TOO_LARGE "=1\n");
	tree_put(tree, NODES "online", "0\n");
	tree_put(tree, NODES "node0/meminfo", "Node 0 MemTotal: " LARGEST " kB\n");
	m = read_tree(tree);
	assert_false(m->mem_total_kib.known);
	assert_true(m->vmalloc_total_kib.known);
	assert_int_equal(m->vmalloc_total_kib.value, UINT64_MAX);
	assert_false(m->huge_page_kib.known);
	assert_false(m->uptime_seconds.known);
	assert_false(m->usage.tcp_inuse.known);
	assert_false(m->usage.tcp_time_wait.known);
	assert_int_equal(m->zones, 2);
	assert_int_equal(m->zone[0].present, 0);
	assert_int_equal(m->page_bytes, 0);
	assert_int_equal(m->areas, 1);
	assert_null(m->area[0].node_pages);
	machine_free(m);
	tree_free(tree);
}

static struct machine *with_nodes(const char *possible, const char *online)
{
	char *tree = bare_tree();
	struct machine *m;

	tree_put(tree, NODES "possible", possible);
	tree_put(tree, NODES "online", online);
	m = read_tree(tree);
	tree_free(tree);
	return m;
}

static void node_lists_are_bounded(void **state)
{
	static const char *const beyond[] = { "0-4294967295\n", "0-18446744073709551615\n",
					      "4294967296\n",   "0-" TOO_LARGE "\n",
					      "5-3\n",          "0-\n",
					      "-1\n",           "0;1\n" };
	struct machine *m = with_nodes("0-4096\n", "0,4096\n");

	(void)state;
	assert_int_equal(m->possible_nodes, 4097);
	assert_int_equal(m->nodes, 4097);
	assert_int_equal(m->online_nodes, 2);
	assert_true(m->node[4096].online);
	assert_true(m->blinds < MACHINE_BLIND_MAX);
	machine_free(m);
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		m = with_nodes(beyond[i], "0\n");
		assert_int_equal(m->possible_nodes, 0);
		assert_int_equal(m->nodes, 1);
		machine_free(m);
	}
}

static void thousands_of_tables_are_a_forgery(void **state)
{
	static const char line[] = "0x1-0x2 8192 alloc_large_system_hash+0x1/0x2 pages=1 N0=1\n";
	size_t len = sizeof(line) - 1, lines = 100000;
	char *tree = bare_tree(), *text = malloc(len * lines);
	struct machine *m;

	(void)state;
	for (size_t i = 0; i < lines; i++)
		memcpy(text + i * len, line, len);
	tree_put_bytes(tree, "proc/vmallocinfo", text, len * lines);
	tree_put(tree, NODES "online", "0-4095\n");
	m = read_tree(tree);
	assert_false(m->has_areas);
	assert_int_equal(m->areas, 0);
	machine_free(m);
	free(text);
	tree_free(tree);
}

static void a_line_without_end_is_cut(void **state)
{
	size_t len = 5 << 20;
	char *tree = bare_tree(), *text = malloc(len);
	struct machine *m;

	(void)state;
	memset(text, 'x', len);
	memcpy(text + len - 60, "\n0x1-0x2 8192 alloc_large_system_hash+0x1/0x2 pages=1\n", 54);
	tree_put_bytes(tree, "proc/vmallocinfo", text, len);
	tree_put_bytes(tree, "proc/cmdline", text, len);
	m = read_tree(tree);
	assert_int_equal(m->areas, 1);
	assert_false(m->has_cmdline);
	machine_free(m);
	free(text);
	tree_free(tree);
}

static void a_compressed_bomb_is_defused(void **state)
{
	char *tree = bare_tree(), *zeros = calloc(1, 1 << 20);
	struct machine *m;
	gzFile file = gzopen(tree_at(tree, "proc/config.gz"), "wb9");

	(void)state;
	assert_non_null(file);
	gzputs(file, "CONFIG_NUMA=y\n");
	for (int i = 0; i < 200; i++)
		assert_int_equal(gzwrite(file, zeros, 1 << 20), 1 << 20);
	gzclose(file);
	m = read_tree(tree);
	assert_false(m->has_config);
	machine_free(m);
	free(zeros);
	tree_free(tree);
}

static void a_release_is_no_path(void **state)
{
	char *tree = bare_tree();
	struct machine *m;

	(void)state;
	tree_put(tree, "proc/sys/kernel/osrelease", "x/../../proc/fake");
	tree_dir(tree, "boot");
	tree_dir(tree, "boot/config-x");
	tree_put(tree, "proc/fake", "CONFIG_NUMA=y\n");
	m = read_tree(tree);
	assert_false(m->has_config);
	machine_free(m);
	tree_free(tree);
}

static void a_deep_tree_is_not_walked(void **state)
{
	char *tree = bare_tree();
	struct machine *m;
	int at = open(tree_at(tree, "sys"), O_RDONLY | O_DIRECTORY), next;

	(void)state;
	for (int i = 0; i < 200; i++) {
		assert_int_equal(mkdirat(at, "d", 0755), 0);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		close(at);
		at = next;
	}
	close(at);
	m = read_tree(tree);
	assert_false(m->numa_books);
	machine_free(m);
	tree_free(tree);
}

static mach_scrub *const rules[] = {
	mach_scrub_banner, mach_scrub_release,  mach_scrub_cmdline,   mach_scrub_os_release,
	mach_scrub_kib,    mach_scrub_zone,     mach_scrub_list,      mach_scrub_figures,
	mach_scrub_area,   mach_scrub_sockstat, mach_scrub_protocols, mach_scrub_slab,
	mach_scrub_mount,  mach_scrub_config,   mach_scrub_log,
};

static const char *const samples[] = {
	"Linux version 6.1.0 (a@b) (gcc (x) 1) #1 SMP",
	"<6>[    0.100000][    T0] Inode-cache hash table entries: 8192 (order: 4, 65536 bytes)",
	"6,12,100000,-;Kernel command line: mem=1G a=\"b c\" hashdist=1 -- x",
	"Nov  5 12:00:00 host kernel: Unknown kernel command line parameters \"hashdist=2 a\", w",
	"kern  :info  : [Wed Dec 14 20:00:04 2022] Memory: 10.0.0.1 52:54:00:12:34:56",
	"0x1-0x2 2101248 alloc_large_system_hash+0x1/0x2 pages=512 vmalloc N0=256 N1=256",
	"Node 0 MemTotal:  4417312 kB",
	"# CONFIG_NUMA is not set",
	"  spanned  4095",
	"\033[32m[    0.0] \033[0mmem=5f3c2b1a-1234-4abc-9def-0123456789ab",
};

/* Each line lies in a block of its own, so that a sanitizer sees a step beyond its end. */
static void scrub_all(const char *text, size_t len)
{
	char *out = malloc(MACH_SCRUB_MAX);

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		char *line = strndup(text, len);

		if (rules[i](line, out))
			assert_null(strchr(out, '\n'));
		free(line);
	}
	free(out);
}

static void every_rule_survives_damaged_lines(void **state)
{
	static const char odd[] = "\"()[];:=-@ 0N,.<\033\x80\t";
	uint32_t seed = 2024;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		const char *sample = samples[round % 10];
		size_t len = strlen(sample);
		char text[256];

		strcpy(text, sample);
		for (int change = 0; change <= round % 5; change++) {
			seed = seed * 1664525 + 1013904223;
			text[(seed >> 8) % len] = odd[(seed >> 20) % (sizeof(odd) - 1)];
		}
		scrub_all(text, (seed >> 16) % (len + 1));
		scrub_all(text, len);
	}
}

static void every_rule_survives_the_longest_lines(void **state)
{
	static const char *const bricks[] = { "(@", "(a@b) ", "N0=1 ", "mem=1 ",    "[",      "\"",
					      "(",  "[0.0] ", "1,",    "hashdist ", "\033[1m" };
	char *text = malloc(MACH_LINE_MAX + 1);

	(void)state;
	for (size_t i = 0; i < 10; i++) {
		for (size_t b = 0; b < sizeof(bricks) / sizeof(bricks[0]); b++) {
			size_t at = (size_t)snprintf(text, MACH_LINE_MAX, "%s ", samples[i]);

			for (size_t step = 0; at < MACH_LINE_MAX; step++, at++)
				text[at] = bricks[b][step % strlen(bricks[b])];
			text[MACH_LINE_MAX] = '\0';
			scrub_all(text, MACH_LINE_MAX);
		}
	}
	free(text);
}

static int arm(void **state)
{
	(void)state;
	alarm(60);
	return 0;
}

static int disarm(void **state)
{
	(void)state;
	alarm(0);
	return 0;
}

#define HOSTILE(test) cmocka_unit_test_setup_teardown(test, arm, disarm)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOSTILE(no_link_leads_out),
		HOSTILE(a_link_that_stays_inside_is_followed_by_openat2),
		HOSTILE(only_regular_files_are_opened),
		HOSTILE(fifos_everywhere_do_not_stall),
		HOSTILE(directories_everywhere_are_no_files),
		HOSTILE(three_gib_of_nothing_cost_neither_memory_nor_time),
		HOSTILE(garbage_gives_no_figures),
		HOSTILE(nul_bytes_end_no_file),
		HOSTILE(numbers_that_do_not_fit_are_unknown),
		HOSTILE(node_lists_are_bounded),
		HOSTILE(thousands_of_tables_are_a_forgery),
		HOSTILE(a_line_without_end_is_cut),
		HOSTILE(a_compressed_bomb_is_defused),
		HOSTILE(a_release_is_no_path),
		HOSTILE(a_deep_tree_is_not_walked),
		HOSTILE(every_rule_survives_damaged_lines),
		HOSTILE(every_rule_survives_the_longest_lines),
	};
	int failed;

	failed = cmocka_run_group_tests_name("with openat2", tests, NULL, NULL);
	simple = true;
	return failed + cmocka_run_group_tests_name("without openat2", tests, NULL, NULL);
}

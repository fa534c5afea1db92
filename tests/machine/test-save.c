/* SPDX-License-Identifier: MIT */
/*
 * test-save.c - what machine_save() keeps, and above all what it does not
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "machine/internal.h"
#include "tree.h"

#define NODES "sys/devices/system/node/"

/* Saves the machine below @tree as @dir. */
static int save_and_tell(const char *tree, const char *dir, int log_fd,
			 const struct machine_left_out *left_out)
{
	struct mach_root root;
	int ret;

	assert_int_equal(mach_root_open(tree, &root), 0);
	ret = mach_save(&root, dir, log_fd, left_out);
	mach_root_close(&root);
	return ret;
}

static int save_tree(const char *tree, const char *dir, int log_fd)
{
	return save_and_tell(tree, dir, log_fd, NULL);
}

static void assert_same_count(struct machine_count a, struct machine_count b)
{
	assert_int_equal(a.known, b.known);
	assert_int_equal(a.value, b.value);
}

static void assert_same_machine(const struct machine *a, const struct machine *b)
{
	assert_int_equal(a->arch, b->arch);
	assert_int_equal(a->page_bytes, b->page_bytes);
	assert_string_equal(a->release, b->release);
	assert_string_equal(a->banner, b->banner);
	assert_string_equal(a->distribution, b->distribution);
	assert_int_equal(a->has_cmdline, b->has_cmdline);
	assert_int_equal(a->container, b->container);
	assert_same_count(a->mem_total_kib, b->mem_total_kib);
	assert_same_count(a->vmalloc_total_kib, b->vmalloc_total_kib);
	assert_same_count(a->huge_page_kib, b->huge_page_kib);
	assert_same_count(a->possible_cpus, b->possible_cpus);
	assert_same_count(a->online_cpus, b->online_cpus);
	assert_int_equal(a->numa_books, b->numa_books);
	assert_int_equal(a->nodes, b->nodes);
	assert_int_equal(a->possible_nodes, b->possible_nodes);
	assert_int_equal(a->online_nodes, b->online_nodes);
	assert_int_equal(a->memory_nodes, b->memory_nodes);
	assert_int_equal(a->memory_only_nodes, b->memory_only_nodes);
	for (uint32_t i = 0; i < a->nodes; i++) {
		assert_int_equal(a->node[i].id, b->node[i].id);
		assert_int_equal(a->node[i].has_memory, b->node[i].has_memory);
		assert_int_equal(a->node[i].has_cpu, b->node[i].has_cpu);
		assert_int_equal(a->node[i].total_kib.known, b->node[i].total_kib.known);
	}
	assert_int_equal(a->zones, b->zones);
	for (uint32_t i = 0; i < a->zones; i++) {
		assert_int_equal(a->zone[i].node, b->zone[i].node);
		assert_string_equal(a->zone[i].name, b->zone[i].name);
		assert_int_equal(a->zone[i].spanned, b->zone[i].spanned);
		assert_int_equal(a->zone[i].present, b->zone[i].present);
	}
	assert_int_equal(a->has_areas, b->has_areas);
	assert_int_equal(a->areas, b->areas);
	for (uint32_t i = 0; i < a->areas; i++) {
		assert_int_equal(a->area[i].bytes, b->area[i].bytes);
		assert_int_equal(a->area[i].pages, b->area[i].pages);
		assert_int_equal(!a->area[i].node_pages, !b->area[i].node_pages);
		for (uint32_t n = 0; a->area[i].node_pages && n < a->nodes; n++)
			assert_int_equal(a->area[i].node_pages[n], b->area[i].node_pages[n]);
	}
	assert_int_equal(a->has_config, b->has_config);
	assert_memory_equal(&a->config, &b->config, sizeof(a->config));
}

/* ---- there and back ---------------------------------------------------------------- */

static void this_machine_survives_the_round_trip(void **state)
{
	char *tree = tree_new();
	const char *dir = tree_at(tree, "saved");
	struct machine *here, *there;

	(void)state;
	assert_int_equal(machine_save(dir, -1, NULL), 0);
	assert_int_equal(machine_read(NULL, &here), 0);
	assert_int_equal(machine_read(dir, &there), 0);
	assert_false(there->live);
	assert_same_machine(here, there);
	assert_int_equal(here->usage.mounts.known, there->usage.mounts.known);
	assert_int_equal(here->usage.dentries.known, there->usage.dentries.known);
	assert_int_equal(here->usage.tcp_inuse.known, there->usage.tcp_inuse.known);
	assert_int_equal(here->usage.mptcp_inuse.known, there->usage.mptcp_inuse.known);
	machine_free(here);
	machine_free(there);
	tree_free(tree);
}

static void recorded_machines_survive_the_round_trip(void **state)
{
	static const char *const names[] = { "debian-6.1-two-nodes", "arm64-6.6-16k-pages" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *from = strdup(tree_at(RECORDED_DIR, names[i])), *tree = tree_new();
		const char *dir = tree_at(tree, "saved");
		struct machine *a, *b;

		assert_int_equal(save_tree(from, dir, -1), 0);
		assert_int_equal(machine_read(from, &a), 0);
		assert_int_equal(machine_read(dir, &b), 0);
		assert_same_machine(a, b);
		assert_memory_equal(&a->usage, &b->usage, sizeof(a->usage));
		assert_int_equal(a->node[0].total_kib.value, b->node[0].total_kib.value);
		machine_free(a);
		machine_free(b);
		tree_free(tree);
		free(from);
	}
}

static void a_copy_of_a_copy_is_the_same_copy(void **state)
{
	char *tree = tree_new(), *once, *twice;
	static const char *const files[] = { "one/proc/vmallocinfo", "two/proc/vmallocinfo",
					     "one/proc/zoneinfo",    "two/proc/zoneinfo",
					     "one/proc/cmdline",     "two/proc/cmdline",
					     "one/proc/version",     "two/proc/version" };

	(void)state;
	assert_int_equal(
	    save_tree(tree_at(RECORDED_DIR, "debian-6.1-two-nodes"), tree_at(tree, "one"), -1), 0);
	assert_int_equal(save_tree(tree_at(tree, "one"), tree_at(tree, "two"), -1), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i += 2) {
		once = tree_read(tree, files[i]);
		twice = tree_read(tree, files[i + 1]);
		assert_string_equal(once, twice);
		free(once);
		free(twice);
	}
	tree_free(tree);
}

static void a_compressed_configuration_is_kept_as_text(void **state)
{
	char *tree = tree_new(), *text;
	gzFile file;

	(void)state;
	tree_put(tree, "from/proc/sys/kernel/osrelease", "6.1.0\n");
	file = gzopen(tree_at(tree, "from/proc/config.gz"), "wb");
	gzputs(file, "CONFIG_NUMA=y\nCONFIG_DEFAULT_HOSTNAME=\"alpha\"\n");
	gzclose(file);
	assert_int_equal(save_tree(tree_at(tree, "from"), tree_at(tree, "to"), -1), 0);
	text = tree_read(tree, "to/boot/config-6.1.0");
	assert_string_equal(text, "CONFIG_NUMA=y\n");
	free(text);
	tree_free(tree);
}

/* ---- private details --------------------------------------------------------------- */

static const char *const private_words[] = {
	"alpha-host",
	"jdoe",
	"UUID=",
	"5f3c2b1a-1234-4abc-9def-0123456789ab",
	"192.168.17.4",
	"10.20.30.40",
	"52:54:00:12:34:56",
	"fe80::",
	"hunter2",
	"/home/",
	"nfsroot",
	"S/N-12345",
	"workstation.example.org",
	"ffff9c5a",
	"secret-module",
	"vg-private",
};

static const char private_log[] =
    "Nov  5 12:00:00 alpha-host kernel: [    0.000000] Linux version 6.1.0-44-amd64 "
    "(jdoe@workstation.example.org) (gcc-12) #1 SMP\n"
    "Nov  5 12:00:00 alpha-host kernel: [    0.000000] Command line: "
    "BOOT_IMAGE=/boot/vmlinuz root=UUID=5f3c2b1a-1234-4abc-9def-0123456789ab ro hashdist=1 "
    "ip=192.168.17.4:::255.255.255.0:alpha-host:eth0 password=hunter2\n"
    "Nov  5 12:00:00 alpha-host kernel: [    0.000000] DMI: Vendor Box S/N-12345\n"
    "Nov  5 12:00:00 alpha-host sshd[99]: Memory: Accepted for jdoe from 10.20.30.40\n"
    "Nov  5 12:00:00 alpha-host kernel: [    0.100000] Dentry cache hash table entries: "
    "1048576 (order: 11, 8388608 bytes, vmalloc)\n"
    "Nov  5 12:00:00 alpha-host kernel: [    0.200000] Memory: 10.20.30.40 jdoe@alpha-host\n"
    "Nov  5 12:00:00 alpha-host kernel: [    0.300000] Unknown kernel command line parameters "
    "\"BOOT_IMAGE=/boot/vmlinuz hashdist=2 user=jdoe\", will be passed to user space.\n"
    "Nov  5 12:00:00 alpha-host kernel: [    1.000000] e1000: eth0 52:54:00:12:34:56\n"
    "Nov  5 12:00:01 alpha-host kernel: [    1.000000] smp: node 52:54:00:12:34:56 joined\n"
    "Nov  5 12:00:01 alpha-host kernel: [    2.000000] hash table entries: jdoe was here\n"
    "[    3.000000] systemd[1]: Hostname set to <alpha-host>.\n"
    "Table hash table entries: 1 (order: 0, 1 bytes, alpha-host)\n";

static void plant(const char *tree)
{
	tree_put(tree, "proc/version",
		 "Linux version 6.1.0-44-amd64 (jdoe@workstation.example.org) (gcc-12) #1 SMP\n");
	tree_put(tree, "proc/sys/kernel/osrelease", "6.1.0-44-amd64\n");
	tree_put(tree, "proc/sys/kernel/hostname", "alpha-host\n");
	tree_put(tree, "proc/cmdline",
		 "BOOT_IMAGE=/boot/vmlinuz root=UUID=5f3c2b1a-1234-4abc-9def-0123456789ab ro "
		 "ip=192.168.17.4:::255.255.255.0:alpha-host:eth0 dhash_entries=1048576 "
		 "nfsroot=10.20.30.40:/home/jdoe crashkernel=512M numa_balancing=disable "
		 "dyndbg=\"file x.c mem=hunter2 \" roothash=5f3c2b1a12344abc "
		 "mem=5f3c2b1a-1234-4abc-9def-0123456789ab -- hashdist=0 --user jdoe\n");
	tree_put(
	    tree, "etc/os-release",
	    "PRETTY_NAME=\"Debian\"\nID=debian\nHOME_URL=\"https://workstation.example.org\"\n");
	tree_put(tree, "proc/meminfo",
		 "MemTotal: 16464700 kB\nJdoe: alpha-host\njdoe hunter2: 1 kB\nalpha-host 5 kB\n");
	tree_put(
	    tree, "proc/vmallocinfo",
	    "0xffff9c5a00001000-0xffff9c5a00203000 2101248 alloc_large_system_hash+0x1a8/0x35b "
	    "pages=512 vmalloc phys=0xffff9c5a N0=512 jdoe vhunter2 Njdoe=1\n"
	    "0xffff9c5b00001000-0xffff9c5b00003000 8192 init+0x1/0x2 [secret-module] vmalloc\n");
	tree_put(tree, "proc/zoneinfo",
		 "Node 0, zone   Normal\n  managed  4116175\n  managed  alpha-host@jdoe\n");
	tree_put(tree, "proc/self/mountinfo",
		 "27 1 254:0 / / rw - ext4 /dev/mapper/vg-private rw\n"
		 "28 1 0:9 / /home/jdoe rw - nfs 10.20.30.40:/home/jdoe rw\n");
	tree_put(tree, "proc/net/sockstat", "TCP: inuse 5 tw 1\nTCP: alpha@host inuse\n");
	tree_put(tree, "proc/net/protocols", "secret-module 1 1\nMPTCP 1936 2 0\n");
	tree_put(tree, "proc/slabinfo", "secret-module 1 1 1\ntcp_bind_bucket 5 5 128\n");
	tree_put(tree, "proc/uptime", "5.0 alpha-host\n5.00 6.00\n");
	tree_put(tree, NODES "online", "0\n");
	tree_put(tree, NODES "node0/meminfo", "Node 0 MemTotal: 16464700 kB\nNode jdoe: hunter2\n");
	tree_put(tree, NODES "node0/cpulist", "0-3\njdoe\n");
	tree_put(tree, "boot/config-6.1.0-44-amd64",
		 "CONFIG_NUMA=y\nCONFIG_DEFAULT_HOSTNAME=\"alpha-host\"\n"
		 "CONFIG_CMDLINE=\"password=hunter2\"\n");
	tree_put(tree, "etc/hostname", "alpha-host\n");
	tree_put(tree, "log", private_log);
}

static void private_details_stay_at_home(void **state)
{
	char *tree = tree_new(), *dir = strdup(tree_at(tree, "saved")), *text;
	struct machine *m;
	int log_fd;

	(void)state;
	plant(tree);
	log_fd = open(tree_at(tree, "log"), O_RDONLY);
	assert_true(log_fd >= 0);
	assert_int_equal(save_tree(tree, dir, log_fd), 0);
	close(log_fd);
	for (size_t i = 0; i < sizeof(private_words) / sizeof(private_words[0]); i++)
		assert_false(tree_contains(dir, private_words[i]));
	/* And what is wanted is still there. */
	text = tree_read(tree, "saved/proc/cmdline");
	assert_string_equal(text,
			    "dhash_entries=1048576 crashkernel=512M numa_balancing=disable\n");
	free(text);
	text = tree_read(tree, "saved/proc/vmallocinfo");
	assert_string_equal(text, "0x0000000000000000-0x0000000000000000 2101248 "
				  "alloc_large_system_hash pages=512 vmalloc N0=512\n");
	free(text);
	text = tree_read(tree, "saved/var/log/dmesg");
	assert_string_equal(
	    text,
	    "[    0.000000] Linux version 6.1.0-44-amd64 (builder@localhost) (gcc-12) #1 SMP\n"
	    "[    0.000000] Command line: hashdist=1\n"
	    "[    0.100000] Dentry cache hash table entries: 1048576 (order: 11, 8388608 "
	    "bytes, vmalloc)\n"
	    "[    0.300000] Unknown kernel command line parameters \"hashdist=2\", will be "
	    "passed to user space.\n");
	free(text);
	assert_int_equal(machine_read(dir, &m), 0);
	assert_int_equal(m->mem_total_kib.value, 16464700);
	assert_int_equal(m->usage.mounts.value, 2);
	assert_int_equal(m->usage.mptcp_inuse.value, 2);
	assert_int_equal(m->usage.tcp_bind_buckets.value, 5);
	assert_int_equal(m->config.numa, HD_YES);
	assert_string_equal(m->distribution, "Debian");
	machine_free(m);
	free(dir);
	tree_free(tree);
}

static void assert_cmdline(const char *from, const char *want)
{
	char line[512], *out = malloc(MACH_SCRUB_MAX);

	snprintf(line, sizeof(line), "%s", from);
	assert_true(mach_scrub_cmdline(line, out));
	assert_string_equal(out, want);
	free(out);
}

static void boot_parameters_about_memory_are_kept(void **state)
{
	(void)state;
	assert_cmdline("hashdist=0 numa=fake=4 quiet", "hashdist=0 numa=fake=4");
	assert_cmdline("thash-entries=5 mphash_entries=010", "thash-entries=5 mphash_entries=010");
	assert_cmdline("efi=nosoftreserve efi=runtime", "efi=nosoftreserve");
	assert_cmdline("memmap=64M$0x1000 mem=4G@16M", "memmap=64M$0x1000 mem=4G@16M");
	assert_cmdline("a=\"b mem=1 c\" nokaslr", "nokaslr");
	assert_cmdline("mem=1G -- mem=2G", "mem=1G");
	assert_cmdline("hugepagesz=1G hugepages=4\tnopti", "hugepagesz=1G hugepages=4 nopti");
	assert_cmdline("", "");
}

static void misspelt_hash_parameters_are_kept(void **state)
{
	(void)state;
	assert_cmdline("hash_dist=1 dhash_entires=1024 HASHDIST=0",
		       "hash_dist=1 dhash_entires=1024 HASHDIST=0");
	assert_cmdline("roothash=1234 usrhash=1 hash.key=abcdef", "");
}

static void assert_log(const char *from, const char *want)
{
	char line[1024], *out = malloc(MACH_SCRUB_MAX);

	snprintf(line, sizeof(line), "%s", from);
	if (!want) {
		assert_false(mach_scrub_log(line, out));
	} else {
		assert_true(mach_scrub_log(line, out));
		assert_string_equal(out, want);
	}
	free(out);
}

#define TABLE "Inode-cache hash table entries: 8192 (order: 4, 65536 bytes, linear)"

static void log_lines_lose_what_stood_before_them(void **state)
{
	static const char stamped[] = "[    0.100000] " TABLE;

	(void)state;
	assert_log(TABLE, TABLE);
	assert_log("[    0.100000] " TABLE, stamped);
	assert_log("[    0.100000][    T0] " TABLE, stamped);
	assert_log("[    0.100000] [    T0] " TABLE, stamped);
	assert_log("<6>[    0.100000] " TABLE, stamped);
	assert_log("6,12,100000,-;" TABLE, stamped);
	assert_log("6,12,100000,-,caller=T0;" TABLE, stamped);
	assert_log("6,12,100000,-;rcu: \\x09RCU restricting CPUs from NR_CPUS=8 to nr_cpu_ids=2.",
		   "[    0.100000] rcu: \tRCU restricting CPUs from NR_CPUS=8 to nr_cpu_ids=2.");
	assert_log("kern  :info  : [    0.100000] " TABLE, stamped);
	assert_log("kern  :info  : [Wed Dec 14 20:00:04 2022] " TABLE, TABLE);
	assert_log("[Wed Dec 14 20:00:04 2022] " TABLE, TABLE);
	assert_log("Nov  5 12:00:00 host kernel: [    0.100000] " TABLE, stamped);
	assert_log("Nov 05 12:00:00 host kernel: " TABLE, TABLE);
	assert_log("2022-11-05T12:00:00+00:00 host kernel: [    0.100000] " TABLE, stamped);
	assert_log("\033[32m[    0.100000] \033[0m" TABLE "\r", stamped);
	assert_log("[    0.000000]   node   0: [mem 0x1000-0x2fff]",
		   "[    0.000000]   node   0: [mem 0x1000-0x2fff]");
	assert_log("[    0.000000]   Normal   empty", "[    0.000000]   Normal   empty");
	assert_log("[    0.000000] rcu: \tRCU restricting CPUs from NR_CPUS=64 to nr_cpu_ids=8.",
		   "[    0.000000] rcu: \tRCU restricting CPUs from NR_CPUS=64 to nr_cpu_ids=8.");
}

static void other_log_lines_are_dropped(void **state)
{
	(void)state;
	assert_log("[    0.000000] DMI: Vendor Box, BIOS 1.0", NULL);
	assert_log("[    1.000000] usb 1-1: SerialNumber: 1234", NULL);
	assert_log("[    1.000000] systemd[1]: Memory: 5", NULL);
	assert_log("Nov  5 12:00:00 host su: Memory: 5", NULL);
	assert_log("[    1.000000] my hash table entries: x@y (order: 1)", NULL);
	assert_log("[    1.000000] Unknown kernel command line parameters \"splash x=y\", will be",
		   NULL);
	assert_log("", NULL);
	assert_log("[[[[", NULL);
	assert_log("6,1,2,-", NULL);
	assert_log("\033[", NULL);
}

/* ---- the directory ----------------------------------------------------------------- */

static void a_directory_with_something_in_it_is_left_alone(void **state)
{
	char *tree = tree_new();

	(void)state;
	tree_put(tree, "mine/thesis.txt", "years of work\n");
	tree_put(tree, "file", "");
	tree_link(tree, "link", "mine");
	assert_int_equal(machine_save(tree_at(tree, "mine"), -1, NULL), -EEXIST);
	assert_int_equal(machine_save(tree_at(tree, "file"), -1, NULL), -ENOTDIR);
	assert_int_equal(machine_save(tree_at(tree, "link"), -1, NULL), -ENOTDIR);
	assert_int_equal(machine_save(tree_at(tree, "no/where"), -1, NULL), -ENOENT);
	assert_int_equal(machine_save(tree_at(tree, "."), -1, NULL), -EINVAL);
	assert_int_equal(machine_save("/", -1, NULL), -EINVAL);
	assert_int_equal(machine_save("", -1, NULL), -EINVAL);
	assert_int_equal(tree_count(tree), 4);
	tree_free(tree);
}

static void an_empty_directory_is_filled(void **state)
{
	char *tree = tree_new();

	(void)state;
	tree_dir(tree, "empty");
	assert_int_equal(machine_save(tree_at(tree, "empty///"), -1, NULL), 0);
	assert_true(tree_count(tree_at(tree, "empty")) > 5);
	/* The second time it is not empty any more. */
	assert_int_equal(machine_save(tree_at(tree, "empty"), -1, NULL), -EEXIST);
	tree_free(tree);
}

static void others_may_read_it_whatever_the_umask(void **state)
{
	char *tree = tree_new();
	mode_t before = umask(0077);
	struct stat st;

	(void)state;
	assert_int_equal(machine_save(tree_at(tree, "saved"), -1, NULL), 0);
	umask(before);
	assert_int_equal(stat(tree_at(tree, "saved"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(stat(tree_at(tree, "saved/proc/sys/kernel"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(stat(tree_at(tree, "saved/hashdist-saved"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	tree_free(tree);
}

/* A disk that is full after @bytes of any file. */
static int save_on_a_full_disk(const char *dir, unsigned bytes)
{
	struct rlimit limit = { bytes, bytes };
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(-machine_save(dir, -1, NULL));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_full_disk_leaves_nothing_behind(void **state)
{
	static const unsigned room[] = { 0, 1, 30, 100, 200 };
	char *tree = tree_new();

	(void)state;
	for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++) {
		int error = save_on_a_full_disk(tree_at(tree, "saved"), room[i]);

		assert_true(error == EFBIG || error == EIO);
		assert_int_equal(tree_count(tree), 0);
	}
	tree_free(tree);
}

static void running_out_of_descriptors_leaves_nothing_behind(void **state)
{
	char *tree = tree_new();

	(void)state;
	for (unsigned most = 3; most < 12; most++) {
		struct rlimit limit = { most, most };
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			struct machine *m = NULL;
			int ret;

			setrlimit(RLIMIT_NOFILE, &limit);
			ret = machine_save(tree_at(tree, "saved"), -1, NULL);
			/* Too few: an error. Enough: all of it. */
			if (ret == 0)
				ret = machine_read(tree_at(tree, "saved"), &m);
			_exit(ret == 0 || ret == -EMFILE ? 0 : 1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		if (access(tree_at(tree, "saved"), F_OK) == 0) {
			tree_free(strdup(tree_at(tree, "saved")));
		}
		assert_int_equal(tree_count(tree), 0);
	}
	tree_free(tree);
}

/* Into a text of 1,024 bytes: "path error", a line each. */
static void keep_left_out(void *arg, const char *path, int error)
{
	size_t len = strlen(arg);

	snprintf((char *)arg + len, 1024 - len, "%s %d\n", path, error);
}

/* A directory in its place keeps even root from reading it. What is not there is not missed. */
static void what_cannot_be_read_is_left_out_and_told(void **state)
{
	static const char *const paths[] = {
		"etc/os-release",      "proc/version",
		"proc/meminfo",        "proc/uptime",
		"proc/vmallocinfo",    "proc/sys/fs/inode-state",
		"proc/net/sockstat6",  "sys/devices/system/node/online",
		"proc/slabinfo",       "proc/net/protocols",
		"proc/self/mountinfo",
	};
	char *tree = tree_new();

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char from[64], path[96], wanted[96], told[1024] = "";
		const struct machine_left_out left_out = { keep_left_out, told };

		snprintf(from, sizeof(from), "from-%zu", i);
		snprintf(path, sizeof(path), "%s/proc/cmdline", from);
		tree_put(tree, path, "quiet\n");
		snprintf(path, sizeof(path), "%s/%s", from, paths[i]);
		tree_dir(tree, path);
		assert_int_equal(
		    save_and_tell(tree_at(tree, from), tree_at(tree, "saved"), -1, &left_out), 0);
		snprintf(wanted, sizeof(wanted), "%s %d\n", paths[i], EISDIR);
		assert_string_equal(told, wanted);
		snprintf(path, sizeof(path), "saved/%s", paths[i]);
		assert_int_equal(access(tree_at(tree, path), F_OK), -1);
		tree_free(strdup(tree_at(tree, "saved")));
	}
	tree_free(tree);
}

/* Whether there are nodes to copy is known from a directory, which is a link to itself here. */
static void nodes_that_cannot_be_seen_are_told(void **state)
{
	char *tree = tree_new(), told[1024] = "";
	const struct machine_left_out left_out = { keep_left_out, told };

	(void)state;
	tree_put(tree, "from/proc/cmdline", "quiet\n");
	tree_link(tree, "from/sys/devices/system/node", "node");
	assert_int_equal(
	    save_and_tell(tree_at(tree, "from"), tree_at(tree, "saved"), -1, &left_out), 0);
	assert_non_null(strstr(told, "sys/devices/system/node 40\n"));
	tree_free(tree);
}

static void a_log_that_cannot_be_read_is_an_error_or_left_out(void **state)
{
	char told[1024] = "";
	const struct machine_left_out left_out = { keep_left_out, told };
	char *tree = tree_new();
	int dir = open(tree, O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_int_equal(machine_save(tree_at(tree, "one"), 999, NULL), -EBADF);
	assert_int_equal(machine_save(tree_at(tree, "two"), dir, &left_out), 0);
	assert_non_null(strstr(told, "dev/kmsg 21\n"));
	assert_int_equal(machine_open_log(tree_at(tree, "two")), -ENOENT);
	assert_int_equal(access(tree_at(tree, "one"), F_OK), -1);
	close(dir);
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_machine_survives_the_round_trip),
		cmocka_unit_test(recorded_machines_survive_the_round_trip),
		cmocka_unit_test(a_copy_of_a_copy_is_the_same_copy),
		cmocka_unit_test(a_compressed_configuration_is_kept_as_text),
		cmocka_unit_test(private_details_stay_at_home),
		cmocka_unit_test(boot_parameters_about_memory_are_kept),
		cmocka_unit_test(misspelt_hash_parameters_are_kept),
		cmocka_unit_test(log_lines_lose_what_stood_before_them),
		cmocka_unit_test(other_log_lines_are_dropped),
		cmocka_unit_test(a_directory_with_something_in_it_is_left_alone),
		cmocka_unit_test(an_empty_directory_is_filled),
		cmocka_unit_test(others_may_read_it_whatever_the_umask),
		cmocka_unit_test(a_full_disk_leaves_nothing_behind),
		cmocka_unit_test(running_out_of_descriptors_leaves_nothing_behind),
		cmocka_unit_test(what_cannot_be_read_is_left_out_and_told),
		cmocka_unit_test(nodes_that_cannot_be_seen_are_told),
		cmocka_unit_test(a_log_that_cannot_be_read_is_an_error_or_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

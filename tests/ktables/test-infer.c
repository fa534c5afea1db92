/* SPDX-License-Identifier: MIT */
/*
 * test-infer.c - what is concluded from a log and from a machine's books
 *
 * Versions that lie, kernels whose lines show more than their version tells, and
 * who is believed where log and books disagree: the log for what boot decided.
 */
#include "help.h"

static struct klog_boot boot;
static struct desk desk;
static struct ktables_facts facts;

static void infer(void)
{
	ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_RULES, &facts);
}

static void infer_both(void)
{
	ktables_infer(&boot, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
}

static void infer_given(const char *rule)
{
	const struct ktables_given given = { &rule, 1 };

	ktables_infer(&boot, NULL, &given, KTABLES_DETECT_RULES, &facts);
}

static int32_t rule(enum hd_rule which)
{
	return facts.machine.rules.value[which];
}

static enum hd_rule_origin origin(enum hd_rule which)
{
	return (enum hd_rule_origin)facts.machine.rules.origin[which];
}

/* ---- versions ---------------------------------------------------------------------------- */

static uint32_t version_of(const char *release, const char *banner)
{
	boot_init(&boot, release, HD_ARCH_X86_64);
	snprintf(boot.banner, sizeof(boot.banner), "%s", banner);
	infer();
	return facts.has_version ? facts.machine.rules.version : 0;
}

#define V(major, minor, patch) HD_VERSION(major, minor, patch)

struct version_case {
	const char *release, *banner;
	uint32_t version;
};

static void check_versions(const struct version_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t got = version_of(cases[i].release, cases[i].banner);

		if (got != cases[i].version)
			fail_msg("%s: %u.%u.%u", cases[i].release, HD_VERSION_MAJOR(got),
				 HD_VERSION_MINOR(got), HD_VERSION_PATCH(got));
	}
}

static void the_stable_release_behind_a_distributions_number_is_found(void **state)
{
	static const struct version_case cases[] = {
		{ "6.1.0-44-amd64",
		  "Linux version 6.1.0-44-amd64 (debian-kernel@example.org) (gcc-12 (Debian "
		  "12.2.0-14+deb12u1) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP "
		  "PREEMPT_DYNAMIC Debian 6.1.164-1 (2026-03-09)",
		  V(6, 1, 164) },
		{ "4.19.0-27-amd64",
		  "Linux version 4.19.0-27-amd64 (gcc version 8.3.0 (Debian 8.3.0-6)) #1 SMP "
		  "Debian 4.19.316-1 (2024-06-25)",
		  V(4, 19, 316) },
		{ "6.8.0-51-generic",
		  "Linux version 6.8.0-51-generic (x86_64-linux-gnu-gcc-13 (Ubuntu "
		  "13.3.0-6ubuntu2~24.04) 13.3.0, GNU ld 2.42) #52-Ubuntu SMP PREEMPT_DYNAMIC "
		  "(Ubuntu 6.8.0-51.52-generic 6.8.12)",
		  V(6, 8, 12) },
		{ "4.15.0-136-generic",
		  "Linux version 4.15.0-136-generic (gcc version 7.5.0 (Ubuntu "
		  "7.5.0-3ubuntu1~18.04)) #140-Ubuntu SMP (Ubuntu 4.15.0-136.140-generic 4.15.18)",
		  V(4, 15, 18) },
	};

	(void)state;
	check_versions(cases, ARRAY_SIZE(cases));
}

/** Not only "-generic": the clouds' kernels and the small boards' are Ubuntu's as well. */
static void every_flavour_of_ubuntu_names_its_stable_release(void **state)
{
	static const struct version_case cases[] = {
		{ "5.15.0-1084-aws",
		  "Linux version 5.15.0-1084-aws (gcc (Ubuntu 9.4.0-1ubuntu1~20.04.2) 9.4.0, GNU "
		  "ld 2.34) #91~20.04.1-Ubuntu SMP (Ubuntu 5.15.0-1084.91~20.04.1-aws 5.15.179)",
		  V(5, 15, 179) },
		{ "6.8.0-1010-raspi",
		  "Linux version 6.8.0-1010-raspi (aarch64-linux-gnu-gcc-13 (Ubuntu "
		  "13.2.0-23ubuntu4) 13.2.0) #11-Ubuntu SMP (Ubuntu 6.8.0-1010.11-raspi 6.8.12)",
		  V(6, 8, 12) },
		{ "6.8.0-51-lowlatency",
		  "Linux version 6.8.0-51-lowlatency (gcc (Ubuntu 13.3.0-6ubuntu2) 13.3.0) "
		  "#52-Ubuntu SMP (Ubuntu 6.8.0-51.52.1-lowlatency 6.8.12)",
		  V(6, 8, 12) },
	};

	(void)state;
	check_versions(cases, ARRAY_SIZE(cases));
}

static void a_compilers_version_is_not_the_kernels(void **state)
{
	static const struct version_case cases[] = {
		{ "6.12.0-custom",
		  "Linux version 6.12.0-custom (gcc (Debian 14.2.0-19) 14.2.0, GNU ld (GNU "
		  "Binutils for Debian) 2.44) #1 SMP",
		  V(6, 12, 0) },
		{ "6.2.0-custom",
		  "Linux version 6.2.0-custom (gcc (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0) #1 SMP",
		  V(6, 2, 0) },
		{ "5.4.190-1233-rockchip-ayufan-gd3f1be0ed310",
		  "Linux version 5.4.190-1233-rockchip-ayufan-gd3f1be0ed310 (gcc version 7.4.0 "
		  "(Ubuntu/Linaro 7.4.0-1ubuntu1~18.04.1) ) #1 SMP",
		  V(5, 4, 190) },
	};

	(void)state;
	check_versions(cases, ARRAY_SIZE(cases));
}

static void a_tree_ahead_of_its_number_counts_as_the_next_release(void **state)
{
	static const struct version_case cases[] = {
		{ "6.4.0-rc2-next-20230517", "", V(6, 5, 0) },
		{ "5.11.0-next-20210226-00003-g89069e0f4a28", "", V(5, 12, 0) },
		{ "5.7.0-03841-gfa3354e4ea39", "", V(5, 8, 0) },
		{ "5.7.0-03841-gfa3354e4ea39-dirty", "", V(5, 8, 0) },
		{ "6.16.0-02450-g1c11a8599f68", "", V(6, 17, 0) },
		/* Not ahead: */
		{ "6.14.0-061400-generic", "", V(6, 14, 0) }, /* Ubuntu's mainline builds */
		{ "6.5.0-1024-gcp", "", V(6, 5, 0) },
		{ "5.7.0-00030-gabe0e1dab0a2-dirty", "", V(5, 7, 0) }, /* somebody's own thirty */
		{ "6.17.0-rc1-00008-g4660e50cf818-dirty", "", V(6, 17, 0) },
		{ "6.1.0-rc3-02496-g07380f726920", "", V(6, 1, 0) },
		{ "6.12.48-01234-gabcdef012345", "", V(6, 12, 48) },
		{ "5.15.0-3841", "", V(5, 15, 0) },
	};

	(void)state;
	check_versions(cases, ARRAY_SIZE(cases));
}

/** 5.20 would be older than 6.0, and 6.20 would read hashdist= as 6.19 did. */
static void the_release_after_the_last_of_a_series_is_the_next_series_first(void **state)
{
	static const struct version_case cases[] = {
		{ "3.19.0-05133-gc33d6c06f60f", "", V(4, 0, 0) },
		{ "4.19.0-05133-gc33d6c06f60f", "", V(4, 20, 0) },
		{ "4.20.0-05133-gc33d6c06f60f", "", V(5, 0, 0) },
		{ "5.19.0-rc4-next-20220629", "", V(6, 0, 0) },
		{ "6.19.0-rc6-next-20260122", "", V(7, 0, 0) },
	};

	(void)state;
	check_versions(cases, ARRAY_SIZE(cases));
	assert_int_equal(rule(HD_RULE_HASHDIST_SYNTAX), HD_SYNTAX_BOOL);
}

static void a_name_that_is_no_version_stays_unknown(void **state)
{
	static const struct version_case cases[] = {
		{ "custom", "", 0 },
		{ "tree-next-20230517", "", 0 },
	};

	(void)state;
	check_versions(cases, ARRAY_SIZE(cases));
}

static void debians_stable_release_decides_how_the_order_is_printed(void **state)
{
	(void)state;
	version_of("6.1.0-44-amd64", "#1 SMP Debian 6.1.164-1 (2026-03-09)");
	assert_int_equal(rule(HD_RULE_ORDER_PRINT), HD_ORDER_CEIL);
	version_of("6.1.0-40-amd64", "#1 SMP Debian 6.1.158-1 (2025-11-09)");
	assert_int_equal(rule(HD_RULE_ORDER_PRINT), HD_ORDER_FLOOR);
}

static void a_log_without_a_head_takes_the_version_of_its_boot_image(void **state)
{
	static const struct {
		const char *cmdline;
		uint32_t version;
	} cases[] = {
		{ "BOOT_IMAGE=/boot/vmlinuz-6.1.0-44-amd64 root=/dev/vda1 ro", V(6, 1, 0) },
		{ "ro BOOT_IMAGE=(hd0,gpt2)/vmlinuz-5.14.0-362.8.1.el9_3.x86_64 quiet",
		  V(5, 14, 0) },
		{ "BOOT_IMAGE=/boot/vmlinux-5.10.0-8-powerpc64le", V(5, 10, 0) },
		{ "BOOT_IMAGE=/vmlinuz root=/dev/disk-6.1.0", 0 },
		{ "BOOT_IMAGE=/vmlinuz", 0 },
		{ "BOOT_IMAGE=/boot/vmlinuz-linux quiet", 0 },
		{ "BOOT_IMAGE=linux initrd=vmlinuz-6.1.0", 0 },
		{ "root=/dev/vda1 quiet", 0 },
		{ "BOOT_IMAGE=", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		boot_init(&boot, "", HD_ARCH_X86_64);
		lose_head(&boot);
		boot_cmdline(&boot, cases[i].cmdline);
		infer();
		if (facts.machine.rules.version != cases[i].version)
			fail_msg("%s", cases[i].cmdline);
		assert_int_equal(facts.has_version, cases[i].version != 0);
	}
}

static void the_logs_version_wins_then_the_books_then_the_boot_image(void **state)
{
	(void)state;
	desk_init(&desk, "6.12.41", HD_ARCH_ARM64);
	boot_init(&boot, "5.10.0", HD_ARCH_X86_64);
	boot_cmdline(&boot, "BOOT_IMAGE=/vmlinuz-4.19.0");
	infer_both();
	assert_int_equal(facts.machine.rules.version, V(5, 10, 0));
	assert_int_equal(facts.machine.rules.arch, HD_ARCH_X86_64);
	lose_head(&boot);
	infer_both();
	assert_int_equal(facts.machine.rules.version, V(6, 12, 41));
	assert_int_equal(facts.machine.rules.arch, HD_ARCH_ARM64);
	desk.books.release[0] = '\0';
	infer_both();
	assert_int_equal(facts.machine.rules.version, V(4, 19, 0));
}

static void the_books_banner_tells_the_stable_release_too(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0-44-amd64", HD_ARCH_X86_64);
	snprintf(desk.books.banner, sizeof(desk.books.banner), "%s",
		 "Linux version 6.1.0-44-amd64 #1 SMP Debian 6.1.164-1 (2026-03-09)");
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_int_equal(facts.machine.rules.version, V(6, 1, 164));
	assert_true(facts.has_version);
	assert_true(facts.has_arch);
}

static void with_neither_log_nor_books_nothing_is_known(void **state)
{
	struct ktables_range want;

	(void)state;
	ktables_infer(NULL, NULL, NULL, KTABLES_DETECT_RULES, &facts);
	assert_false(facts.has_version || facts.has_arch || facts.has_pages || facts.has_nodes ||
		     facts.has_cmdline || facts.has_sizes || facts.pages_from_log);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), HD_ENOENT);
}

/* ---- what the lines show ----------------------------------------------------------------- */

/*
 *   4.18.0-513.el8.x86_64, one node, 2 GiB:
 *
 *   Dentry cache  ...  2097152 bytes, linear)
 *   Inode-cache   ...  1048576 bytes, linear)
 *
 * Upstream's 4.18 says neither "linear" nor clears hashdist; this one took the
 * change of 2019.
 */
static void el8(void)
{
	boot_init(&boot, "4.18.0-513.el8.x86_64", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515000);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Inode-cache", 131072, 8, MIB, HD_MAP_LINEAR);
	boot_table(&boot, "VFS: Dquot-cache", 512, 0, 4096, HD_MAP_UNKNOWN);
}

static void lines_that_name_the_mapping_show_that_hashdist_clears(void **state)
{
	(void)state;
	el8();
	infer();
	assert_int_equal(rule(HD_RULE_KIND_WORDS), HD_WORDS_VMALLOC);
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1);
	assert_int_equal(origin(HD_RULE_HASHDIST_CLEARS), HD_ORIGIN_DETECTED);
	assert_int_equal(rule(HD_RULE_FALLBACK_VMALLOC), 1);
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_NEVER);
	assert_false(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_ONE_NODE);
}

static void a_given_rule_beats_what_was_detected(void **state)
{
	(void)state;
	el8();
	infer_given("hashdist-clears=no");
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 0);
	assert_int_equal(origin(HD_RULE_HASHDIST_CLEARS), HD_ORIGIN_GIVEN);
	assert_int_equal(rule(HD_RULE_FALLBACK_VMALLOC), 1);
	assert_true(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_NEVER_CLEARED);
}

static void a_given_rule_that_makes_no_sense_changes_nothing(void **state)
{
	static const char *const given[] = { "hashdist-clears=perhaps", "no-such-rule=1", "=", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		el8();
		infer_given(given[i]);
		assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1);
		assert_int_equal(origin(HD_RULE_HASHDIST_CLEARS), HD_ORIGIN_DETECTED);
	}
}

/** A 5.3 whose lines end at the bytes is not what its version says. */
static void three_lines_that_name_no_mapping_show_that_it_is_not_cleared(void **state)
{
	(void)state;
	boot_init(&boot, "5.3.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515000);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_UNKNOWN);
	boot_table(&boot, "Inode-cache", 131072, 8, MIB, HD_MAP_UNKNOWN);
	boot_table(&boot, "VFS: Dquot-cache", 512, 0, 4096, HD_MAP_UNKNOWN);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1); /* two may be chance */
	boot_table(&boot, "Mount-cache", 4096, 3, 32 * KIB, HD_MAP_UNKNOWN);
	boot.table[3].mended = true;
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1); /* its end may be what was torn off */
	boot.table[3].mended = false;
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 0);
	assert_int_equal(rule(HD_RULE_FALLBACK_VMALLOC), 0);
	assert_int_equal(rule(HD_RULE_KIND_WORDS), HD_WORDS_NONE);
	assert_true(facts.machine.hashdist);
}

static void one_line_with_a_mapping_outweighs_many_without(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_X86_64);
	for (int i = 0; i < 4; i++)
		boot_table(&boot, "Mount-cache", 4096, 3, 32 * KIB, HD_MAP_UNKNOWN);
	boot_table(&boot, "UDP", 1024, 3, 32 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_CLEARS), 1);
	assert_int_equal(rule(HD_RULE_KIND_WORDS), HD_WORDS_VMALLOC);
}

/*
 *   5.14.0-362.el9.x86_64, two nodes:
 *
 *   Dentry cache  ...  134217728 bytes, vmalloc hugepage)
 *
 * Upstream's 5.14 has huge vmalloc on powerpc only.
 */
static void a_hugepage_line_shows_huge_vmalloc(void **state)
{
	(void)state;
	boot_init(&boot, "5.14.0-362.el9.x86_64", HD_ARCH_X86_64);
	boot_table(&boot, "Dentry cache", 16777216, 15, 128 * MIB, HD_MAP_VMALLOC);
	infer();
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_NEVER);
	boot.table[0].mapping = HD_MAP_VMALLOC_HUGE;
	infer();
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_NODE_SHARE);
	assert_int_equal(origin(HD_RULE_HUGE_VMALLOC), HD_ORIGIN_DETECTED);
	assert_int_equal(rule(HD_RULE_KIND_WORDS), HD_WORDS_HUGEPAGE);
	infer_given("huge-vmalloc=whole");
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_WHOLE);
}

static void a_hugepage_line_leaves_the_newer_rule_alone(void **state)
{
	(void)state;
	boot_init(&boot, "6.13.7", HD_ARCH_X86_64);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC_HUGE);
	infer();
	assert_int_equal(rule(HD_RULE_HUGE_VMALLOC), HD_HUGE_WHOLE);
}

/*
 * TCP bind's bucket is a lock and a pointer, from 6.1 on twice:
 *
 *            plain  DEBUG_SPINLOCK  lockdep  RT   UP
 *   lock     4      24              64       32   0
 *   64-bit   16     32              72       40   8
 */
static void the_size_of_a_lock_is_read_off_tcp_bind(void **state)
{
	static const struct {
		const char *release;
		enum hd_arch arch;
		uint64_t bucket;
		int32_t lock;
	} cases[] = {
		{ "5.10.0", HD_ARCH_X86_64, 16, 4 },  { "5.10.0", HD_ARCH_X86_64, 32, 24 },
		{ "5.10.0", HD_ARCH_X86_64, 72, 64 }, { "5.10.0", HD_ARCH_X86_64, 40, 32 },
		{ "5.10.0", HD_ARCH_X86_64, 8, 0 },   { "6.1.0", HD_ARCH_X86_64, 32, 4 },
		{ "6.1.0", HD_ARCH_X86_64, 64, 24 },  { "6.1.0", HD_ARCH_X86_64, 144, 64 },
		{ "6.1.0", HD_ARCH_X86_64, 80, 32 },  { "6.1.0", HD_ARCH_X86_64, 16, 0 },
		{ "7.0.0", HD_ARCH_X86_64, 32, 4 },   { "5.10.0", HD_ARCH_ARM, 8, 4 },
		{ "5.10.0", HD_ARCH_ARM, 4, 0 },      { "5.10.0", HD_ARCH_ARM, 24, 20 },
		{ "6.1.0", HD_ARCH_ARM, 16, 4 },      { "6.1.0", HD_ARCH_ARM, 8, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		boot_init(&boot, cases[i].release, cases[i].arch);
		boot_table(&boot, "TCP bind", 4096, 0, 4096 * cases[i].bucket, HD_MAP_LINEAR)
		    ->has_order = false;
		infer();
		if (rule(HD_RULE_SPINLOCK_BYTES) != cases[i].lock ||
		    origin(HD_RULE_SPINLOCK_BYTES) != HD_ORIGIN_DETECTED)
			fail_msg("%s, bucket of %d: lock of %d", cases[i].release,
				 (int)cases[i].bucket, rule(HD_RULE_SPINLOCK_BYTES));
	}
}

static void a_tcp_bind_line_without_figures_tells_nothing_of_locks(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_table(&boot, "TCP bind", 0, 0, 131072, HD_MAP_LINEAR); /* cut in the number */
	infer();
	assert_int_equal(origin(HD_RULE_SPINLOCK_BYTES), HD_ORIGIN_VERSION);
	boot.table[0] = (struct klog_table){ .name = "TCP bind", .entries = 4096 };
	infer();
	assert_int_equal(origin(HD_RULE_SPINLOCK_BYTES), HD_ORIGIN_VERSION);
	boot.tables = 0;
	boot_table(&boot, "TCP bind", 4096, 0, 4096 * 4000, HD_MAP_LINEAR); /* what a lock */
	infer();
	assert_int_equal(rule(HD_RULE_SPINLOCK_BYTES), 4);
}

static void a_lockdep_kernels_tables_are_predicted_with_its_locks(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515000);
	boot_table(&boot, "TCP bind", 16384, 9, 16384 * 144, HD_MAP_LINEAR);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_UDP, 0, &want), 0);
	assert_int_equal(want.low.bytes / want.low.entries, 160);
}

static void the_cache_line_is_read_off_the_futex_table(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_ARM64);
	boot_table(&boot, "futex", 1024, 5, 128 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_CACHE_LINE), 128);
	assert_int_equal(origin(HD_RULE_CACHE_LINE), HD_ORIGIN_DETECTED);
}

/** Without SMP a futex bucket is not aligned: 24 bytes, 12 on 32-bit. */
static void a_futex_bucket_that_fills_no_cache_line_is_not_aligned(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_RISCV64);
	boot_zonelists(&boot, 1, 1, 125000);
	boot.possible_cpus = 1;
	boot.has |= KLOG_HAS_POSSIBLE_CPUS;
	boot_table(&boot, "futex", 256, 0, 256 * 24, HD_MAP_LINEAR)->has_order = false;
	boot_table(&boot, "TCP bind", 4096, 4, 4096 * 16, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_SPINLOCK_BYTES), 0);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_FUTEX, 0, &want), 0);
	assert_int_equal(want.low.entries, 256);
	assert_int_equal(want.low.bytes, 256 * 24);
}

static void the_rounding_of_the_order_is_read_off_an_odd_size(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(origin(HD_RULE_ORDER_PRINT), HD_ORIGIN_VERSION); /* even sizes tell not */
	boot_table(&boot, "MPTCP token", 2048, 4, 49152, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_ORDER_PRINT), HD_ORDER_CEIL);
	assert_int_equal(origin(HD_RULE_ORDER_PRINT), HD_ORIGIN_DETECTED);
	boot_init(&boot, "6.18.2", HD_ARCH_X86_64);
	boot_table(&boot, "MPTCP token", 2048, 3, 49152, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_ORDER_PRINT), HD_ORDER_FLOOR);
	boot.table[0].order = 7; /* neither: a torn figure */
	infer();
	assert_int_equal(origin(HD_RULE_ORDER_PRINT), HD_ORIGIN_VERSION);
}

static void the_rounding_of_the_order_goes_by_the_page_that_the_lines_show(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_ARM64);
	boot_table(&boot, "Dentry cache", 1048576, 7, 8 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Inode-cache", 524288, 6, 4 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "MPTCP token", 8192, 2, 192 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 16);
	assert_int_equal(rule(HD_RULE_ORDER_PRINT), HD_ORDER_CEIL);
}

static void equal_totals_show_a_kernel_that_counts_free_memory(void **state)
{
	static const struct {
		const char *release;
		uint64_t zonelist_pages, total_kib;
		enum hd_count_era era;
	} cases[] = {
		{ "6.12.0", 524158, 524158 * 4, HD_ERA_C },
		{ "6.12.0", 515000, 524158 * 4, HD_ERA_B }, /* the change is not in this tree */
		{ "6.9.0", 524158, 524158 * 4, HD_ERA_C },  /* or came early */
		{ "6.9.0", 515000, 524158 * 4, HD_ERA_B },
		{ "6.8.0", 524158, 524158 * 4, HD_ERA_B }, /* before it: by chance */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		boot_init(&boot, cases[i].release, HD_ARCH_X86_64);
		boot_zonelists(&boot, 1, 1, cases[i].zonelist_pages);
		boot_memory(&boot, cases[i].total_kib, 100000);
		ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_NOTHING, &facts);
		if (rule(HD_RULE_COUNT_ERA) != (int32_t)cases[i].era)
			fail_msg("case %d: era %d", (int)i, rule(HD_RULE_COUNT_ERA));
	}
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot_memory(&boot, 524158 * 4, 100000);
	infer();
	assert_int_equal(rule(HD_RULE_COUNT_ERA), HD_ERA_C); /* one of the two alone: by version */
	assert_int_equal(origin(HD_RULE_COUNT_ERA), HD_ORIGIN_VERSION);
}

static void size_and_order_show_the_size_of_a_page(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_PPC64); /* usually 64 KiB there */
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 16);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 12);
	assert_int_equal(rule(HD_RULE_TOP_ORDER), 12); /* follows the page */
}

static void most_lines_decide_the_size_of_a_page(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_ARM64);
	boot_table(&boot, "Dentry cache", 262144, 7, 2 * MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Inode-cache", 131072, 6, MIB, HD_MAP_LINEAR);
	boot_table(&boot, "Mount-cache", 4096, 3, 32 * KIB, HD_MAP_LINEAR); /* torn */
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 14);
}

/** Order 0 covers all that fits a page; an odd size does not say how it was rounded. */
static void small_and_odd_tables_do_not_show_the_size_of_a_page(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_ARM64);
	boot_table(&boot, "UDP", 512, 0, 16 * KIB, HD_MAP_LINEAR);
	boot_table(&boot, "MPTCP token", 2048, 4, 49152, HD_MAP_LINEAR);
	boot_table(&boot, "Mount-cache", 1 << 20, 1, 8 * MIB, HD_MAP_LINEAR); /* pages of 4 MiB? */
	infer();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 12);
	assert_int_equal(origin(HD_RULE_PAGE_SHIFT), HD_ORIGIN_VERSION);
}

static void the_books_size_of_a_page_is_exact(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_ARM64);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	desk_init(&desk, "6.1.0", HD_ARCH_ARM64);
	desk.books.page_bytes = 65536;
	infer_both();
	assert_int_equal(rule(HD_RULE_PAGE_SHIFT), 16);
	assert_int_equal(origin(HD_RULE_PAGE_SHIFT), HD_ORIGIN_CONFIG);
}

static void bytes_per_entry_show_the_size_of_a_pointer(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_UNKNOWN);
	boot_table(&boot, "Dentry cache", 131072, 7, 512 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_WORD_BYTES), 4);
	assert_true(facts.has_sizes);
	assert_false(facts.has_arch);
	boot.table[0] = (struct klog_table){ .name = "Dentry cache", .entries = 131072 };
	boot_table(&boot, "Inode-cache", 65536, 6, 256 * KIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_WORD_BYTES), 4); /* the inode table tells as well */
	boot.tables = 0;
	boot_table(&boot, "Dentry cache", 131072, 8, MIB, HD_MAP_LINEAR);
	infer();
	assert_int_equal(rule(HD_RULE_WORD_BYTES), 8);
	boot.table[0].bytes = 3 * MIB; /* neither 4 nor 8 */
	infer();
	assert_false(facts.has_sizes);
}

static void sizes_need_an_architecture_or_both_figures(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_UNKNOWN);
	boot_table(&boot, "Dentry cache", 131072, 0, MIB, HD_MAP_LINEAR)->has_order = false;
	infer();
	assert_false(facts.has_sizes); /* the pointer, but not the page */
	desk_init(&desk, "", HD_ARCH_UNKNOWN);
	desk.books.page_bytes = 4096;
	infer_both();
	assert_true(facts.has_sizes);
	boot_init(&boot, "5.10.0", HD_ARCH_S390X);
	infer();
	assert_true(facts.has_sizes);
}

/*
 * All backports in one log: kinds, hugepage, locks, order. An honest prediction
 * may look at none of them.
 */
static void without_detection_no_backport_is_taken_from_the_lines(void **state)
{
	const char *text = "spinlock-bytes=64";
	const struct ktables_given given = { &text, 1 };
	struct hd_rules plain;

	(void)state;
	el8();
	boot_table(&boot, "TCP established", 16384, 5, 128 * KIB, HD_MAP_VMALLOC_HUGE);
	boot_table(&boot, "TCP bind", 16384, 9, 16384 * 72, HD_MAP_VMALLOC);
	boot_table(&boot, "futex", 512, 4, 64 * KIB, HD_MAP_VMALLOC);
	ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_NOTHING, &facts);
	hd_rules_init(&plain, HD_VERSION(4, 18, 0), HD_ARCH_X86_64, NULL);
	assert_memory_equal(facts.machine.rules.value, plain.value, sizeof(plain.value));
	assert_true(facts.machine.hashdist);
	infer();
	assert_memory_not_equal(facts.machine.rules.value, plain.value, sizeof(plain.value));
	ktables_infer(&boot, NULL, &given, KTABLES_DETECT_NOTHING, &facts);
	assert_int_equal(rule(HD_RULE_SPINLOCK_BYTES), 64); /* what is given is taken */
}

static void the_books_configuration_is_used(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	hd_config_init(&desk.books.config);
	desk.books.config.numa = HD_NO;
	desk.books.config.debug_spinlock = HD_YES;
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 1); /* not told that it is readable */
	desk.books.has_config = true;
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 0);
	assert_int_equal(rule(HD_RULE_SPINLOCK_BYTES), 24);
	assert_int_equal(facts.reason, HD_REASON_NO_NUMA);
}

/* ---- nodes ------------------------------------------------------------------------------- */

static void check_nodes(uint32_t memory, uint32_t online, uint32_t possible)
{
	assert_int_equal(facts.machine.facts.memory_nodes, memory);
	assert_int_equal(facts.machine.facts.online_nodes, online);
	assert_int_equal(facts.machine.facts.possible_nodes, possible);
	assert_int_equal(facts.has_nodes, memory != 0);
}

static void zonelists_count_the_online_nodes(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 2, 1000000);
	boot.brought_up_nodes = 1;
	boot.has |= KLOG_HAS_BROUGHT_UP_NODES;
	infer();
	check_nodes(2, 2, 2);
	assert_true(facts.machine.hashdist);
	boot.has &= ~(uint32_t)KLOG_HAS_ZONELISTS;
	infer();
	check_nodes(2, 1, 1); /* "Brought up" is second best */
}

/*
 *   node 0  |################|  all memory
 *   node 1  |                |  processors only
 *   node 2                      possible, not there
 */
static void a_memoryless_node_is_online_and_clears_nothing(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 1, 1000000);
	boot.memoryless_nodes = 1;
	boot.node_ids = 3;
	boot.has |= KLOG_HAS_NODE_IDS;
	infer();
	check_nodes(1, 2, 3);
	assert_false(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_ONE_NODE);
}

static void one_online_node_must_have_the_memory(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 0, 500000);
	infer();
	check_nodes(1, 1, 1);
	boot_zonelists(&boot, 2, 0, 500000);
	infer();
	check_nodes(0, 2, 2); /* both, or one: not told */
}

/** CXL memory that came online after boot: the tables had only two nodes to lie on. */
static void the_log_wins_over_the_books_for_nodes_at_boot(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk_node(&desk, 0, true);
	desk_node(&desk, 1, true);
	desk_node(&desk, 2, true);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	infer_both();
	check_nodes(3, 3, 3); /* a log that does not tell */
	boot_zonelists(&boot, 2, 2, 1000000);
	infer_both();
	check_nodes(2, 2, 3);
	boot.node_ids = 4;
	boot.has |= KLOG_HAS_NODE_IDS;
	infer_both();
	check_nodes(2, 2, 4);
}

static void a_live_machine_without_node_books_has_one_node(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	check_nodes(0, 0, 0); /* saved: somebody may have left them out */
	desk.books.live = true;
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	check_nodes(1, 1, 1);
}

static void several_nodes_show_that_a_64_bit_kernel_knows_numa(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_UNKNOWN);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_VMALLOC);
	boot_zonelists(&boot, 1, 1, 1000000);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 0);
	boot_zonelists(&boot, 2, 2, 1000000);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 1);
	assert_int_equal(rule(HD_RULE_HASHDIST_DEFAULT), 1);
	assert_true(facts.machine.hashdist);
	infer_given("hashdist-default=no");
	assert_false(facts.machine.hashdist);
	boot.table[0].bytes = MIB; /* pointers of four bytes */
	boot.table[0].order = 8;
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_PARAM), 0);
	boot_init(&boot, "2.6.20", HD_ARCH_PPC64); /* NUMA, but not distributed yet */
	boot_zonelists(&boot, 2, 2, 100000);
	infer();
	assert_int_equal(rule(HD_RULE_HASHDIST_DEFAULT), 0);
}

static void emulated_nodes_are_told_by_the_log(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_ARM64);
	boot_zonelists(&boot, 8, 8, 0);
	boot.emulated_nodes = 8;
	infer();
	assert_int_equal(facts.emulated_nodes, 8);
	boot.emulated_nodes = 1; /* "Faking a node": no NUMA found, nothing divided */
	infer();
	assert_int_equal(facts.emulated_nodes, 0);
}

static void emulated_nodes_are_told_by_the_command_line(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_ARM64);
	boot_zonelists(&boot, 4, 4, 0);
	boot_cmdline(&boot, "root=/dev/vda numa=fake=4 quiet");
	infer();
	assert_int_equal(facts.emulated_nodes, 4);
	boot_zonelists(&boot, 1, 1, 0); /* asked for, not done */
	infer();
	assert_int_equal(facts.emulated_nodes, 0);
	boot_zonelists(&boot, 4, 4, 0);
	boot_cmdline(&boot, "root=/dev/vda numa=off quiet");
	infer();
	assert_int_equal(facts.emulated_nodes, 0);
}

/* ---- processors, command line ------------------------------------------------------------ */

static void possible_processors_come_from_the_best_that_tells(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk.books.possible_cpus = known(16);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot.possible_cpus = 12;
	boot.cpu_ids = 10;
	boot.online_cpus = 8;
	infer_both();
	assert_int_equal(facts.machine.facts.possible_cpus, 16);
	infer();
	assert_int_equal(facts.machine.facts.possible_cpus, 0); /* nothing of it was printed */
	boot.has = KLOG_HAS_ONLINE_CPUS;
	infer();
	assert_int_equal(facts.machine.facts.possible_cpus, 8);
	boot.has |= KLOG_HAS_CPU_IDS;
	infer();
	assert_int_equal(facts.machine.facts.possible_cpus, 10);
	boot.has |= KLOG_HAS_POSSIBLE_CPUS;
	infer();
	assert_int_equal(facts.machine.facts.possible_cpus, 12);
}

static void the_books_command_line_wins(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 2, 1000000);
	boot_cmdline(&boot, "hashdist=0");
	infer();
	assert_true(facts.has_cmdline);
	assert_false(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_PARAMETER);
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	infer_both(); /* books that lack it leave the log's */
	assert_false(facts.machine.hashdist);
	desk_cmdline(&desk, "quiet");
	infer_both();
	assert_true(facts.has_cmdline);
	assert_true(facts.machine.hashdist);
}

static void a_cut_command_line_is_used_but_not_trusted(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 2, 1000000);
	boot_cmdline(&boot, "hashdist=0 consol");
	boot.cmdline_cut = true;
	infer();
	assert_false(facts.has_cmdline);
	assert_false(facts.machine.hashdist);
}

static void a_pv_qspinlock_line_shows_paravirtual_spinlocks(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	infer();
	assert_false(facts.machine.facts.pv_spinlocks);
	boot_table(&boot, "PV qspinlock", 256, 0, 4096, HD_MAP_LINEAR);
	infer();
	assert_true(facts.machine.facts.pv_spinlocks);
}

/* ---- pages ------------------------------------------------------------------------------- */

static const struct hd_pages *pages(void)
{
	return &facts.machine.facts.pages;
}

static void zonelists_print_the_very_count_up_to_6_9(void **state)
{
	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_memory(&boot, 2096632, 100000);
	infer();
	assert_true(facts.has_pages);
	assert_true(facts.pages_from_log);
	assert_int_equal(pages()->kernel, 515921);
	assert_int_equal(pages()->all, 515921);
	assert_int_equal(pages()->slack, 0);
}

static void kernels_to_2_6_18_print_their_pages_by_node(void **state)
{
	(void)state;
	boot_init(&boot, "2.6.16", HD_ARCH_X86_64);
	boot.node_pages[0] = 100000;
	boot.node_pages[1] = 30000;
	boot.node_max = 2;
	boot_memory(&boot, 519000, 4000);
	infer();
	assert_int_equal(pages()->kernel, 519000 / 4); /* not printed: the Memory: line */
	boot.has |= KLOG_HAS_NODE_TOTALS;
	infer();
	assert_int_equal(pages()->kernel, 130000);
	assert_true(facts.pages_from_log);
}

/*
 *   Memory: .../2096632K available (... 150000K reserved, 16384K cma-reserved)
 *
 *   486658  (2096632 - 150000) / 4
 *     +768  dentry 2 MiB and inode 1 MiB, taken after the count
 *     +108  54 pages for each of 2 processors
 *   +16384  the bounce buffer
 *    -4096  CMA was set aside before the count
 */
static void the_memory_line_is_worked_back_to_the_count(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot_memory(&boot, 2096632, 150000);
	boot.nodes_with_memory = 1;
	boot.cma_kib = 16384;
	boot.percpu_pages = 54;
	boot.possible_cpus = 2;
	boot.swiotlb_bytes = 64 * MIB;
	boot.has |= KLOG_HAS_CMA | KLOG_HAS_PERCPU | KLOG_HAS_POSSIBLE_CPUS;
	infer();
	assert_true(facts.has_pages);
	assert_true(facts.pages_from_log);
	assert_int_equal(pages()->kernel, 486658 + 768 + 108 + 16384 - 4096);
	assert_int_equal(pages()->all, pages()->kernel);
	assert_int_equal(pages()->slack, 64);
	boot.nodes_with_memory = 2; /* then they are not taken early */
	infer();
	assert_int_equal(pages()->kernel, 486658 + 108 + 16384 - 4096);
	boot.has &= ~(uint32_t)KLOG_HAS_CMA;
	infer();
	assert_int_equal(pages()->kernel, 486658 + 108 + 16384);
}

static void a_log_that_may_lack_lines_widens_the_slack(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot_memory(&boot, 2096632, 150000);
	boot.possible_cpus = 2;
	boot.has |= KLOG_HAS_POSSIBLE_CPUS;
	infer();
	assert_true(pages()->slack > 64);
	boot.percpu_pages = 54;
	boot.has |= KLOG_HAS_PERCPU;
	infer();
	assert_int_equal(pages()->slack, 64);
	boot.head_seen = false; /* was there a bounce buffer? */
	infer();
	assert_true(pages()->slack > 64);
}

static void node_ranges_bound_the_count_where_the_memory_line_is_lost(void **state)
{
	const uint64_t high = (8 * GIB - 8 * GIB / 64) / 4096, low = high - 8 * GIB / 10 / 4096;

	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot.node_bytes[0] = 5 * GIB;
	boot.node_bytes[3] = 3 * GIB;
	boot.node_max = 4;
	infer();
	assert_false(facts.has_pages);
	boot.has |= KLOG_HAS_NODE_RANGES;
	infer();
	assert_true(facts.has_pages);
	assert_true(facts.pages_from_log);
	assert_in_range(pages()->kernel + pages()->slack, high - 2, high);
	assert_in_range(pages()->kernel - pages()->slack, low, low + 2);
	boot.arch = HD_ARCH_ARM; /* how much of it is highmem? */
	infer();
	assert_false(facts.has_pages);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64); /* counts otherwise */
	boot.node_bytes[0] = 8 * GIB;
	boot.node_max = 1;
	boot.has |= KLOG_HAS_NODE_RANGES;
	infer();
	assert_false(facts.has_pages);
}

static void empty_ranges_are_no_count(void **state)
{
	(void)state;
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot.has |= KLOG_HAS_NODE_RANGES;
	infer();
	assert_false(facts.has_pages);
	assert_false(facts.pages_from_log);
}

/*
 *   |<- lowmem 760 MiB ->|<- HighMem 264 MiB ->|
 */
static void highmem_does_not_count_but_caps(void **state)
{
	(void)state;
	boot_init(&boot, "5.10.0", HD_ARCH_ARM);
	boot_zonelists(&boot, 1, 1, 260000);
	boot.highmem_kib = 264 * 1024;
	infer();
	assert_int_equal(pages()->kernel, 260000); /* not printed */
	boot.has |= KLOG_HAS_HIGHMEM;
	infer();
	assert_int_equal(pages()->all, 260000);
	/* less 264 MiB and 32 bytes for each of its pages */
	assert_int_equal(pages()->kernel, 260000 - 67584 - 528);
	assert_int_equal(pages()->slack, 264);
	boot.highmem_range_bytes = 128 * MIB; /* the zone's own range knows better */
	infer();
	assert_int_equal(pages()->kernel, 260000 - 32768 - 256);
	boot.arch = HD_ARCH_ARM64; /* no such thing on 64 bits */
	infer();
	assert_int_equal(pages()->kernel, 260000);
}

static void zoneinfo_stands_in_for_a_lost_count(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	desk_zone(&desk, "DMA", 3998, 3840);
	desk_zone(&desk, "DMA32", 520160, 498000);
	desk_zone(&desk, "Movable", 0, 0);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.has_pages);
	assert_false(facts.pages_from_log);
	/* present, less 64 bytes a page, rounded up for each zone */
	assert_int_equal(pages()->kernel, 3998 - 63 + 520160 - 8128);
	assert_int_equal(pages()->slack, 512);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	infer_both();
	assert_false(facts.pages_from_log); /* a log that does not tell */
	assert_int_equal(pages()->slack, 512);
	boot_zonelists(&boot, 1, 1, 515921);
	infer_both();
	assert_true(facts.pages_from_log);
	assert_int_equal(pages()->kernel, 515921);
	assert_int_equal(pages()->slack, 0);
}

/** What of it was free at the count is between nine tenths and all but the memory map. */
static void zoneinfo_of_a_newer_kernel_only_bounds_the_count(void **state)
{
	const uint64_t present = 620160, high = present - present / 64, low = high - present / 10;

	(void)state;
	desk_init(&desk, "6.12.0", HD_ARCH_X86_64);
	desk_zone(&desk, "DMA32", 520160, 498000);
	desk_zone(&desk, "Normal", 100000, 90000);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.has_pages);
	assert_false(facts.pages_from_log);
	assert_in_range(pages()->kernel + pages()->slack, high - 2, high);
	assert_in_range(pages()->kernel - pages()->slack, low, low + 2);
}

/*
 * 6.12 on a 32-bit board, from zoneinfo alone:
 *
 *   |<- Normal 760 MiB ->|<- HighMem 264 MiB ->|
 *
 * Only the first counts; both cap.
 */
static void highmem_of_zoneinfo_does_not_count_on_newer_kernels_either(void **state)
{
	(void)state;
	desk_init(&desk, "6.12.0", HD_ARCH_ARM);
	desk_zone(&desk, "Normal", 194560, 188000);
	desk_zone(&desk, "HighMem", 67584, 67584);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.has_pages);
	assert_in_range(pages()->kernel + pages()->slack, 1, 194560);
	assert_true(pages()->all >= pages()->kernel + 67584);
}

static void books_without_zones_or_with_too_many_give_no_count(void **state)
{
	(void)state;
	desk_init(&desk, "6.1.0", HD_ARCH_X86_64);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_false(facts.has_pages);
	desk_zone(&desk, "Normal", 0, 0);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_false(facts.has_pages);
	for (int i = 0; i < 64; i++)
		desk_zone(&desk, "Normal", 10000, 9000);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.has_pages); /* an empty one takes no place */
	desk_zone(&desk, "Normal", 10000, 9000);
	ktables_infer(NULL, &desk.books, NULL, KTABLES_DETECT_RULES, &facts);
	assert_false(facts.has_pages); /* part of the memory would be wrong, not near */
}

/* ---- predictions ------------------------------------------------------------------------- */

static void an_exact_count_gives_one_answer(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_true(want.exact);
	assert_true(want.mapping_known);
	assert_int_equal(want.low.entries, 262144);
	assert_int_equal(want.high.entries, 262144);
	assert_int_equal(want.low.mapping, HD_MAP_LINEAR);
	assert_true(want.low.early);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_TCP_BIND, 16384, &want), 0);
	assert_int_equal(want.low.bytes, 16384 * 32);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_TCP_BIND, 0, &want), HD_ENOENT);
}

/** A count of @pages, give or take 64, on a 6.12 with @nodes. */
static void near(uint64_t kernel_pages, uint32_t nodes)
{
	boot_init(&boot, "6.12.0", HD_ARCH_X86_64);
	boot_memory(&boot, 64 * MIB, 0);
	boot.nodes_with_memory = nodes;
	boot_cmdline(&boot, nodes == 1 ? "hashdist=1" : ""); /* no early tables to work back */
	boot.percpu_pages = 1;
	boot.has |= KLOG_HAS_PERCPU;
	boot.total_kib = kernel_pages * 4;
	infer();
	assert_int_equal(pages()->kernel, kernel_pages);
	assert_int_equal(pages()->slack, 64);
}

/*
 *         262144 pages
 *   -------|--x-------
 *         (...)         x: the count, 64 pages either way
 *
 * Up to the border the dentry table has 131072 entries, beyond it twice as many.
 */
static void a_count_near_a_border_gives_both_answers(void **state)
{
	struct ktables_range want;

	(void)state;
	near(262144 + 32, 1);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_false(want.exact);
	assert_int_equal(want.low.entries, 131072);
	assert_int_equal(want.high.entries, 262144);
	near(262144 + 65, 1);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_true(want.exact);
	assert_int_equal(want.low.entries, 262144);
	near(262144 - 64, 1);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_true(want.exact);
	assert_int_equal(want.low.entries, 131072);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_TABLE_PERTURB, 0, &want), 0);
	assert_true(want.exact); /* does not look at memory */
}

/** Two nodes: 2 MiB are 1 MiB for each and on base pages, 4 MiB are on huge ones. */
static void a_border_of_sizes_may_be_one_of_mappings_too(void **state)
{
	struct ktables_range want;

	(void)state;
	near(524288 + 32, 2);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_int_equal(want.low.mapping, HD_MAP_VMALLOC);
	assert_int_equal(want.high.mapping, HD_MAP_VMALLOC_HUGE);
	assert_false(want.mapping_known);
	near(524288 + 65, 2);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_int_equal(want.low.mapping, HD_MAP_VMALLOC_HUGE);
	assert_true(want.mapping_known);
}

static void the_mapping_needs_the_nodes(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 2, 0, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), 0);
	assert_true(want.exact); /* the size does not */
	assert_false(want.mapping_known);
}

static void the_mapping_needs_the_architecture_unless_one_node_clears_all(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_UNKNOWN);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_LINEAR);
	infer();
	assert_false(facts.has_arch);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_INODE, 0, &want), 0);
	assert_true(want.mapping_known);
	assert_int_equal(want.low.mapping, HD_MAP_LINEAR);
	boot_cmdline(&boot, "hashdist=1"); /* does this kernel take it? */
	infer_given("hashdist-param=yes");
	assert_int_equal(ktables_predict(&facts, HD_TABLE_INODE, 0, &want), 0);
	assert_false(want.mapping_known);
	boot_cmdline(&boot, "quiet");
	infer_given("hashdist-clears=no");
	assert_int_equal(ktables_predict(&facts, HD_TABLE_INODE, 0, &want), 0);
	assert_false(want.mapping_known);
	boot_zonelists(&boot, 2, 2, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_INODE, 0, &want), 0);
	assert_false(want.mapping_known);
}

static void what_lacks_a_fact_is_not_predicted(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), HD_ENOENT);
	boot_init(&boot, "custom", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), HD_ENOENT);
	boot_init(&boot, "6.1.0", HD_ARCH_UNKNOWN);
	boot_zonelists(&boot, 1, 1, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), HD_ENOENT);
	boot_init(&boot, "2.6.5", HD_ARCH_I386); /* before there was one allocator for all */
	boot_zonelists(&boot, 1, 1, 32000);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_DENTRY, 0, &want), HD_ENOENT);
	boot_init(&boot, "6.1.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_IP_ROUTE, 0, &want), HD_ENOENT);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_COUNT, 0, &want), HD_ENOENT);
}

/** 256 buckets for each of an unknown number of processors are not one bucket. */
static void tables_by_processor_are_not_predicted_without_processors(void **state)
{
	struct ktables_range want;

	(void)state;
	boot_init(&boot, "6.15.0", HD_ARCH_X86_64);
	boot_memory(&boot, 2096632, 150000);
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_FUTEX, 0, &want), HD_ENOENT);
	assert_int_equal(ktables_predict(&facts, HD_TABLE_POSIXTIMERS, 0, &want), HD_ENOENT);
	boot.possible_cpus = 3;
	boot.has |= KLOG_HAS_POSSIBLE_CPUS;
	infer();
	assert_int_equal(ktables_predict(&facts, HD_TABLE_FUTEX, 0, &want), 0);
	assert_int_equal(want.low.entries, 1024);
}

static void a_scattered_dentry_table_on_one_node_says_that_the_flag_is_set(void **state)
{
	(void)state;
	memset(&boot, 0, sizeof(boot));
	boot.head_seen = true;
	boot.arch = HD_ARCH_X86_64;
	strcpy(boot.version, "4.18.0-80.el8.x86_64");
	boot_zonelists(&boot, 1, 1, 4128480);
	boot_table(&boot, "Dentry cache", 2097152, 12, 16777216, HD_MAP_VMALLOC);
	ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_RULES, &facts);
	assert_true(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_NEVER_CLEARED);
	boot.table[0].mapping = HD_MAP_LINEAR;
	ktables_infer(&boot, NULL, NULL, KTABLES_DETECT_RULES, &facts);
	assert_false(facts.machine.hashdist);
	assert_int_equal(facts.reason, HD_REASON_ONE_NODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scattered_dentry_table_on_one_node_says_that_the_flag_is_set),
		cmocka_unit_test(the_stable_release_behind_a_distributions_number_is_found),
		cmocka_unit_test(every_flavour_of_ubuntu_names_its_stable_release),
		cmocka_unit_test(a_compilers_version_is_not_the_kernels),
		cmocka_unit_test(a_tree_ahead_of_its_number_counts_as_the_next_release),
		cmocka_unit_test(the_release_after_the_last_of_a_series_is_the_next_series_first),
		cmocka_unit_test(a_name_that_is_no_version_stays_unknown),
		cmocka_unit_test(debians_stable_release_decides_how_the_order_is_printed),
		cmocka_unit_test(a_log_without_a_head_takes_the_version_of_its_boot_image),
		cmocka_unit_test(the_logs_version_wins_then_the_books_then_the_boot_image),
		cmocka_unit_test(the_books_banner_tells_the_stable_release_too),
		cmocka_unit_test(with_neither_log_nor_books_nothing_is_known),
		cmocka_unit_test(lines_that_name_the_mapping_show_that_hashdist_clears),
		cmocka_unit_test(a_given_rule_beats_what_was_detected),
		cmocka_unit_test(a_given_rule_that_makes_no_sense_changes_nothing),
		cmocka_unit_test(three_lines_that_name_no_mapping_show_that_it_is_not_cleared),
		cmocka_unit_test(one_line_with_a_mapping_outweighs_many_without),
		cmocka_unit_test(a_hugepage_line_shows_huge_vmalloc),
		cmocka_unit_test(a_hugepage_line_leaves_the_newer_rule_alone),
		cmocka_unit_test(the_size_of_a_lock_is_read_off_tcp_bind),
		cmocka_unit_test(a_tcp_bind_line_without_figures_tells_nothing_of_locks),
		cmocka_unit_test(a_lockdep_kernels_tables_are_predicted_with_its_locks),
		cmocka_unit_test(the_cache_line_is_read_off_the_futex_table),
		cmocka_unit_test(a_futex_bucket_that_fills_no_cache_line_is_not_aligned),
		cmocka_unit_test(the_rounding_of_the_order_is_read_off_an_odd_size),
		cmocka_unit_test(the_rounding_of_the_order_goes_by_the_page_that_the_lines_show),
		cmocka_unit_test(equal_totals_show_a_kernel_that_counts_free_memory),
		cmocka_unit_test(size_and_order_show_the_size_of_a_page),
		cmocka_unit_test(most_lines_decide_the_size_of_a_page),
		cmocka_unit_test(small_and_odd_tables_do_not_show_the_size_of_a_page),
		cmocka_unit_test(the_books_size_of_a_page_is_exact),
		cmocka_unit_test(bytes_per_entry_show_the_size_of_a_pointer),
		cmocka_unit_test(sizes_need_an_architecture_or_both_figures),
		cmocka_unit_test(without_detection_no_backport_is_taken_from_the_lines),
		cmocka_unit_test(the_books_configuration_is_used),
		cmocka_unit_test(zonelists_count_the_online_nodes),
		cmocka_unit_test(a_memoryless_node_is_online_and_clears_nothing),
		cmocka_unit_test(one_online_node_must_have_the_memory),
		cmocka_unit_test(the_log_wins_over_the_books_for_nodes_at_boot),
		cmocka_unit_test(a_live_machine_without_node_books_has_one_node),
		cmocka_unit_test(several_nodes_show_that_a_64_bit_kernel_knows_numa),
		cmocka_unit_test(emulated_nodes_are_told_by_the_log),
		cmocka_unit_test(emulated_nodes_are_told_by_the_command_line),
		cmocka_unit_test(possible_processors_come_from_the_best_that_tells),
		cmocka_unit_test(the_books_command_line_wins),
		cmocka_unit_test(a_cut_command_line_is_used_but_not_trusted),
		cmocka_unit_test(a_pv_qspinlock_line_shows_paravirtual_spinlocks),
		cmocka_unit_test(zonelists_print_the_very_count_up_to_6_9),
		cmocka_unit_test(kernels_to_2_6_18_print_their_pages_by_node),
		cmocka_unit_test(the_memory_line_is_worked_back_to_the_count),
		cmocka_unit_test(a_log_that_may_lack_lines_widens_the_slack),
		cmocka_unit_test(node_ranges_bound_the_count_where_the_memory_line_is_lost),
		cmocka_unit_test(empty_ranges_are_no_count),
		cmocka_unit_test(highmem_does_not_count_but_caps),
		cmocka_unit_test(zoneinfo_stands_in_for_a_lost_count),
		cmocka_unit_test(zoneinfo_of_a_newer_kernel_only_bounds_the_count),
		cmocka_unit_test(highmem_of_zoneinfo_does_not_count_on_newer_kernels_either),
		cmocka_unit_test(books_without_zones_or_with_too_many_give_no_count),
		cmocka_unit_test(an_exact_count_gives_one_answer),
		cmocka_unit_test(a_count_near_a_border_gives_both_answers),
		cmocka_unit_test(a_border_of_sizes_may_be_one_of_mappings_too),
		cmocka_unit_test(the_mapping_needs_the_nodes),
		cmocka_unit_test(the_mapping_needs_the_architecture_unless_one_node_clears_all),
		cmocka_unit_test(what_lacks_a_fact_is_not_predicted),
		cmocka_unit_test(tables_by_processor_are_not_predicted_without_processors),
	};

	return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}

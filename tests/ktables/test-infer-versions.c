/* SPDX-License-Identifier: MIT */
/* test-infer-versions.c - the version of a kernel, behind the names of distributions */
#include "infer.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests_name("infer-versions", tests, NULL, NULL);
}

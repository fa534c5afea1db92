/* SPDX-License-Identifier: MIT */
/*
 * test-logs.c - forms that logs have out there and no recorded one has: one line each
 *
 * The files in tests/klog-logs are made up, in the shape their names tell.
 */
#include "collect.h"

#include <errno.h>

struct expect {
	const char *file;
	unsigned boots;
	const char *version; /* of the first boot */
	enum hd_arch arch;
	unsigned tables; /* of all boots */
	uint64_t dentry;
	int mapping;
	unsigned damaged;
	const char *cmdline; /* how it begins */
};

static const struct expect expects[] = {
	{ "serial-no-stamps.log", 1, "4.14.98-yocto", HD_ARCH_ARM, 5, 65536, 0, 0,
	  "console=ttymxc0" },
	{ "netconsole.log", 1, "5.4.0-66-generic", HD_ARCH_UNKNOWN, 3, 4194304, 1, 0,
	  "netconsole=+" },
	{ "rhel8-journal.log", 2, "4.18.0-425.19.2.el8_7.x86_64", HD_ARCH_X86_64, 3, 8388608, 2, 0,
	  "BOOT_IMAGE=(hd0,msdos1)" },
	{ "rhel9-monotonic.log", 1, "5.14.0-362.8.1.el9_3.x86_64", HD_ARCH_X86_64, 2, 524288, 1, 0,
	  "ro rhgb quiet" },
	{ "android.log", 1, "4.4.95+", HD_ARCH_ARM64, 2, 524288, 0, 0, "console=tty0 androidboot" },
	{ "centos5.log", 1, "2.6.18-398.el5", HD_ARCH_X86_64, 7, 524288, 0, 0, "ro root=/dev/Vol" },
	{ "proxmox-short-precise.log", 1, "6.5.11-7-pve", HD_ARCH_X86_64, 2, 8388608, 1, 0,
	  "initrd=\\EFI\\proxmox" },
	{ "short-iso.log", 1, "6.6.13-1-lts", HD_ARCH_X86_64, 2, 2097152, 1, 0, "quiet" },
	{ "dmesg-human.log", 1, "6.6.13", HD_ARCH_X86_64, 3, 2097152, 1, 0, "quiet" },
	{ "dmesg-x.log", 1, "6.6.13", HD_ARCH_X86_64, 2, 2097152, 1, 0, "quiet" },
	{ "markdown.md.log", 1, "5.15.0-91-generic", HD_ARCH_X86_64, 4, 1048576, 1, 0, "quiet" },
	{ "html-quotes.log", 1, "5.10.0-26-amd64", HD_ARCH_X86_64, 2, 1048576, 2, 0, "quiet" },
	{ "line-numbers.log", 1, "5.10.0-26-amd64", HD_ARCH_X86_64, 2, 1048576, 1, 0, "quiet" },
	{ "grep-over-files.log", 2, "", HD_ARCH_UNKNOWN, 4, 1048576, 1, 0, "" },
};

static void every_form_is_understood(void **state)
{
	const char *dir = getenv("HASHDIST_KLOG_LOGS");
	struct collected got = { 0 };
	unsigned wrong = 0;

	(void)state;
	if (!dir) {
		print_message("HASHDIST_KLOG_LOGS is not set\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(expects) / sizeof(*expects); i++) {
		const struct expect *x = &expects[i];
		const struct klog_boot *b;
		const struct klog_table *t;
		static char text[1 << 16];
		char path[4096];
		unsigned tables = 0;
		FILE *file;
		size_t len;

		snprintf(path, sizeof(path), "%s/%s", dir, x->file);
		file = fopen(path, "rb");
		if (!file)
			fail_msg("%s: %s", path, strerror(errno));
		len = fread(text, 1, sizeof(text), file);
		fclose(file);
		collect_bytes(&got, text, len, 4096);
		assert_true(got.boots > 0);
		b = got.boot;
		for (unsigned j = 0; j < got.boots; j++)
			tables += got.boot[j].tables;
		t = table_named(b, "Dentry cache");
		if (got.boots == x->boots && strcmp(b->version, x->version) == 0 &&
		    b->arch == x->arch && tables == x->tables && t && t->entries == x->dentry &&
		    t->mapping == x->mapping && got.damaged == x->damaged &&
		    strncmp(b->cmdline, x->cmdline, strlen(x->cmdline)) == 0)
			continue;
		print_error("%s: %u boots, version '%s', arch %d, %u tables, dentry %d mapping %d, "
			    "%u damaged, cmdline '%s'\n",
			    x->file, got.boots, b->version, b->arch, tables,
			    t ? (int)t->entries : -1, t ? t->mapping : -1, got.damaged, b->cmdline);
		wrong++;
	}
	collect_free(&got);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_form_is_understood) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

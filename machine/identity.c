/* SPDX-License-Identifier: MIT */
/*
 * identity.c - which kernel, distribution, architecture and page size
 *
 * A running machine tells all of it by uname(2) and sysconf(3). A saved one
 * does not: our own copies carry a file "hashdist-saved", for others (an
 * sosreport, a disk image) the release's last words, the shape of
 * /proc/cpuinfo, the configuration and the ratio of KiB to pages have to do.
 * What none of them settles stays unknown.
 *
 * /proc/version names who built the kernel and where: left out at once.
 */
#include "machine/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- hashdist-saved ---------------------------------------------------------- */

/*
 * format 1
 * arch x86_64
 * page_bytes 4096
 * container 0
 */
static void read_saved_notes(const struct mach_root *root, struct machine *m)
{
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, "hashdist-saved", 4096);
	bool ours = false;
	char *line;

	while (!ret && (line = mach_lines_next(&lines))) {
		struct machine_count format = mach_field(line, "format");
		struct machine_count page = mach_field(line, "page_bytes");
		const char *arch = mach_after(line, "arch ");

		if (format.known)
			ours = format.value == 1;
		if (!ours)
			continue;
		if (arch)
			m->arch = hd_arch_parse(arch, strcspn(arch, " "));
		if (page.known && page.value >= 1024 && page.value <= 1u << 20 &&
		    (page.value & (page.value - 1)) == 0)
			m->page_bytes = (uint32_t)page.value;
		if (mach_field(line, "container").value == 1)
			m->container = true;
	}
	if (!ret)
		ret = mach_lines_close(&lines);
	mach_blind_if_there(m, "hashdist-saved", ret, "what was noted when it was saved");
}

/* ---- architecture ------------------------------------------------------------ */

/* Words of distributions' releases that uname -m does not use. */
static const struct {
	const char *word;
	enum hd_arch arch;
} release_words[] = {
	{ "amd64", HD_ARCH_X86_64 },
	{ "686", HD_ARCH_I386 },
	{ "586", HD_ARCH_I386 },
	{ "486", HD_ARCH_I386 },
	{ "armmp", HD_ARCH_ARM },
	{ "armhf", HD_ARCH_ARM },
	{ "v7l", HD_ARCH_ARM },
	{ "powerpc64le", HD_ARCH_PPC64 },
	{ "powerpc64", HD_ARCH_PPC64 },
	{ "ppc64el", HD_ARCH_PPC64 },
	{ "loong64", HD_ARCH_LOONGARCH64 },
	{ "5kc", HD_ARCH_MIPS64 },
	{ "octeon", HD_ARCH_MIPS64 },
	{ "4kc", HD_ARCH_MIPS },
	{ "mckinley", HD_ARCH_IA64 },
	{ "sparc64", HD_ARCH_SPARC64 },
};

static enum hd_arch arch_of_word(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(release_words) / sizeof(release_words[0]); i++)
		if (strlen(release_words[i].word) == len &&
		    memcmp(release_words[i].word, word, len) == 0)
			return release_words[i].arch;
	return hd_arch_parse(word, len);
}

/* "6.1.0-44-amd64", "5.14.0-427.13.1.el9_4.x86_64", "6.8.0-rt8-arm64-16k": the last that fits. */
static enum hd_arch arch_of_release(const char *release)
{
	enum hd_arch found = HD_ARCH_UNKNOWN;

	while (*release) {
		size_t len = strcspn(release, "-.+");
		enum hd_arch arch = arch_of_word(release, len);

		if (arch != HD_ARCH_UNKNOWN)
			found = arch;
		release += len;
		release += strspn(release, "-.+");
	}
	return found;
}

/* Lines of /proc/cpuinfo that only one architecture prints; the first that fits counts. */
static const struct {
	const char *key, *value; /* value: "" any, else contained in the line */
	enum hd_arch arch;
} cpuinfo_shapes[] = {
	{ "flags", " lm ", HD_ARCH_X86_64 },
	{ "flags", " fpu ", HD_ARCH_I386 },
	{ "vendor_id", "IBM/S390", HD_ARCH_S390X },
	{ "model name", "ARMv", HD_ARCH_ARM }, /* also printed for 32-bit readers on arm64 */
	{ "Processor", "AArch64", HD_ARCH_ARM64 },
	{ "Processor", "ARM", HD_ARCH_ARM },
	{ "CPU architecture", ": 8", HD_ARCH_ARM64 },
	{ "CPU architecture", ": AArch64", HD_ARCH_ARM64 },
	{ "CPU architecture", ": 7", HD_ARCH_ARM },
	{ "CPU architecture", ": 6", HD_ARCH_ARM },
	{ "isa", "rv64", HD_ARCH_RISCV64 },
	{ "isa", "rv32", HD_ARCH_RISCV32 },
	{ "cpu", "POWER", HD_ARCH_PPC64 },
	{ "CPU Family", "Loongson-64bit", HD_ARCH_LOONGARCH64 },
	{ "arch", "IA-64", HD_ARCH_IA64 },
	{ "type", "sun4u", HD_ARCH_SPARC64 },
	{ "type", "sun4v", HD_ARCH_SPARC64 },
	{ "cpu", "Alpha", HD_ARCH_ALPHA },
};

static enum hd_arch arch_of_cpuinfo(const struct mach_root *root)
{
	enum hd_arch arch = HD_ARCH_UNKNOWN;
	struct mach_lines lines;
	char *line;

	if (mach_lines_open(&lines, root, "proc/cpuinfo", MACH_SMALL))
		return arch;
	/* One processor is enough. */
	while (arch == HD_ARCH_UNKNOWN && (line = mach_lines_next(&lines))) {
		for (size_t i = 0; i < sizeof(cpuinfo_shapes) / sizeof(cpuinfo_shapes[0]); i++) {
			const char *rest = mach_after(line, cpuinfo_shapes[i].key);

			if (!rest || rest[strspn(rest, " \t")] != ':' ||
			    !strstr(rest, cpuinfo_shapes[i].value))
				continue;
			arch = cpuinfo_shapes[i].arch;
			break;
		}
	}
	mach_lines_close(&lines);
	return arch;
}

/* ---- release, banner, distribution ------------------------------------------- */

static void read_banner(const struct mach_root *root, struct machine *m)
{
	static const char lost[] = "which kernel this is";
	char *text = malloc(2 * MACH_SCRUB_MAX);
	char *scrubbed = text + MACH_SCRUB_MAX;
	int ret;

	if (!text)
		return;
	ret = mach_root_text(root, "proc/version", text, MACH_LINE_MAX);
	if (ret < 0)
		mach_blind(m, "/proc/version", ret, lost, "mount /proc");
	else if (mach_scrub_banner(text, scrubbed))
		snprintf(m->banner, sizeof(m->banner), "%s", scrubbed);
	free(text);
}

static void read_release(const struct mach_root *root, struct machine *m)
{
	const char *rest;

	if (mach_root_text(root, "proc/sys/kernel/osrelease", m->release, sizeof(m->release)) > 0)
		return;
	m->release[0] = '\0';
	rest = mach_after(m->banner, "Linux version ");
	if (rest)
		snprintf(m->release, sizeof(m->release), "%.*s", (int)strcspn(rest, " "), rest);
}

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)", as a shell would read it. */
static void unquote(const char *text, char *out, size_t size)
{
	char quote = *text == '"' || *text == '\'' ? *text++ : '\0';
	size_t at = 0;

	for (; *text && *text != quote && at + 1 < size; text++) {
		if (*text == '\\' && quote != '\'' && text[1])
			text++;
		out[at++] = *text;
	}
	out[at] = '\0';
	mach_plain(out);
}

static void read_distribution(const struct mach_root *root, struct machine *m)
{
	static const char *const paths[] = { "etc/os-release", "usr/lib/os-release" };
	struct mach_lines lines;
	int errors[2] = { 0 };

	for (size_t i = 0; i < 2 && !m->distribution[0]; i++) {
		int ret = mach_lines_open(&lines, root, paths[i], MACH_SMALL);
		char *line;

		while (!ret && (line = mach_lines_next(&lines))) {
			const char *value = mach_after(line, "PRETTY_NAME=");

			if (value)
				unquote(value, m->distribution, sizeof(m->distribution));
		}
		if (!ret)
			ret = mach_lines_close(&lines);
		errors[i] = ret;
	}
	for (size_t i = 0; i < 2 && !m->distribution[0]; i++)
		mach_blind_if_there(m, paths[i], errors[i], "which distribution this is");
}

/* Kept complete; a line that is longer than ours loses whole words at its end. */
static int read_cmdline(const struct mach_root *root, struct machine *m)
{
	static const char lost[] = "which boot parameters were given";
	char *text = malloc(MACH_LINE_MAX);
	size_t cut;
	int ret;

	if (!text)
		return -ENOMEM;
	ret = mach_root_text(root, "proc/cmdline", text, MACH_LINE_MAX);
	if (ret >= (int)sizeof(m->cmdline)) {
		for (cut = sizeof(m->cmdline) - 1; cut > 0 && text[cut] != ' ';)
			cut--;
		text[cut] = '\0';
		mach_blind(m, "/proc/cmdline", -EFBIG, "the boot parameters at its end", NULL);
		ret = (int)cut;
	}
	m->has_cmdline = ret >= 0;
	if (ret >= 0)
		memcpy(m->cmdline, text, (size_t)ret + 1);
	else
		mach_blind(m, "/proc/cmdline", ret, lost, "mount /proc");
	free(text);
	return 0;
}

/* A container shows the host's kernel and memory, but its own network and mounts. */
static bool in_container(const struct mach_root *root)
{
	return mach_root_has(root, "run/.containerenv") || mach_root_has(root, ".dockerenv") ||
	       getenv("container");
}

int mach_read_identity(const struct mach_root *root, struct machine *m)
{
	struct utsname system;
	int ret;

	read_banner(root, m);
	read_release(root, m);
	read_distribution(root, m);
	ret = read_cmdline(root, m);
	if (ret)
		return ret;
	if (m->live) {
		if (uname(&system) == 0) {
			m->arch = hd_arch_parse(system.machine, strlen(system.machine));
			if (!m->release[0])
				snprintf(m->release, sizeof(m->release), "%s", system.release);
		}
		m->container = in_container(root);
		return 0;
	}
	read_saved_notes(root, m);
	if (m->arch == HD_ARCH_UNKNOWN)
		m->arch = arch_of_release(m->release);
	if (m->arch == HD_ARCH_UNKNOWN)
		m->arch = arch_of_cpuinfo(root);
	return 0;
}

/* ---- page size --------------------------------------------------------------- */

/* A zone's managed pages and a node's MemTotal are the same memory, counted in pages and KiB. */
static uint32_t page_bytes_of_memory(const struct machine *m)
{
	struct machine_count kib = { .known = m->nodes > 0 };
	uint64_t pages = 0, bytes;

	for (uint32_t i = 0; i < m->nodes; i++)
		if (m->node[i].has_memory)
			kib = mach_count_add(kib, m->node[i].total_kib);
	if (!kib.known || !kib.value)
		kib = m->mem_total_kib;
	for (uint32_t i = 0; i < m->zones; i++)
		if (__builtin_add_overflow(pages, m->zone[i].managed, &pages))
			return 0;
	if (!kib.known || !pages || __builtin_mul_overflow(kib.value, UINT64_C(1024), &bytes))
		return 0;
	/* The two are read one after the other: allow an eighth. */
	for (uint32_t size = 4096; size <= 256 * 1024; size *= 2)
		if (bytes / pages >= size - size / 8 && bytes / pages <= size + size / 8)
			return size;
	return 0;
}

int mach_read_page_size(const struct mach_root *root, struct machine *m)
{
	(void)root;
	if (m->live) {
		long size = sysconf(_SC_PAGESIZE);

		if (size > 0)
			m->page_bytes = (uint32_t)size;
	}
	if (!m->page_bytes && m->config.page_shift)
		m->page_bytes = UINT32_C(1) << m->config.page_shift;
	if (!m->page_bytes)
		m->page_bytes = page_bytes_of_memory(m);
	if (m->page_bytes)
		m->config.page_shift = (uint8_t)__builtin_ctz(m->page_bytes);
	return 0;
}

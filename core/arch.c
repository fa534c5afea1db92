/* SPDX-License-Identifier: MIT */
/*
 * arch.c - names of architectures and kernel versions
 */
#include "core/text.h"
#include "hashdist/core.h"

static const struct {
	const char *name;
	const char *machine[4]; /* what uname -m and packages call it */
	uint8_t word_bytes;
} arches[HD_ARCH_COUNT] = {
	[HD_ARCH_UNKNOWN] = { "unknown", { 0 }, 0 },
	[HD_ARCH_X86_64] = { "x86-64", { "x86_64", "amd64" }, 8 },
	[HD_ARCH_I386] = { "i386", { "i486", "i586", "i686" }, 4 },
	[HD_ARCH_ARM64] = { "arm64", { "aarch64" }, 8 },
	[HD_ARCH_ARM] = { "arm", { "armv7l", "armv6l", "armhf", "armv5tel" }, 4 },
	[HD_ARCH_PPC64] = { "ppc64", { "ppc64le", "ppc64el", "powerpc64", "powerpc64le" }, 8 },
	[HD_ARCH_PPC] = { "ppc", { "powerpc" }, 4 },
	[HD_ARCH_S390X] = { "s390x", { "s390" }, 8 },
	[HD_ARCH_RISCV64] = { "riscv64", { 0 }, 8 },
	[HD_ARCH_RISCV32] = { "riscv32", { 0 }, 4 },
	[HD_ARCH_LOONGARCH64] = { "loongarch64", { "loong64" }, 8 },
	[HD_ARCH_MIPS64] = { "mips64", { "mips64el" }, 8 },
	[HD_ARCH_MIPS] = { "mips", { "mipsel" }, 4 },
	[HD_ARCH_IA64] = { "ia64", { 0 }, 8 },
	[HD_ARCH_ALPHA] = { "alpha", { 0 }, 8 },
	[HD_ARCH_SPARC64] = { "sparc64", { 0 }, 8 },
	[HD_ARCH_SPARC] = { "sparc", { 0 }, 4 },
	[HD_ARCH_PARISC64] = { "parisc64", { "hppa64" }, 8 },
	[HD_ARCH_PARISC] = { "parisc", { "hppa" }, 4 },
	[HD_ARCH_M68K] = { "m68k", { 0 }, 4 },
	[HD_ARCH_SH] = { "sh", { "sh4", "sh4a" }, 4 },
	[HD_ARCH_OPENRISC] = { "openrisc", { "or1k" }, 4 },
	[HD_ARCH_MICROBLAZE] = { "microblaze", { 0 }, 4 },
};

const char *hd_arch_name(enum hd_arch arch)
{
	return arches[arch < HD_ARCH_COUNT ? arch : HD_ARCH_UNKNOWN].name;
}

unsigned hd_arch_word_bytes(enum hd_arch arch)
{
	return arches[arch < HD_ARCH_COUNT ? arch : HD_ARCH_UNKNOWN].word_bytes;
}

enum hd_arch hd_arch_parse(const char *name, size_t len)
{
	for (int arch = HD_ARCH_UNKNOWN + 1; arch < HD_ARCH_COUNT; arch++) {
		if (text_is(name, len, arches[arch].name))
			return arch;
		for (size_t i = 0; i < 4 && arches[arch].machine[i]; i++)
			if (text_is(name, len, arches[arch].machine[i]))
				return arch;
	}
	return HD_ARCH_UNKNOWN;
}

uint32_t hd_version_parse(const char *text, size_t len)
{
	uint64_t part[3] = { 0 };
	size_t at = 0;
	int n;

	for (n = 0; n < 3; n++) {
		size_t start = at;

		for (; at < len && text_digit(text[at]) && part[n] < 100000; at++)
			part[n] = part[n] * 10 + (uint64_t)(text[at] - '0');
		if (at == start)
			break;
		if (at >= len || text[at] != '.') {
			n++;
			break;
		}
		at++;
	}
	if (n < 2 || part[0] > 254 || part[1] > 255)
		return 0;
	return HD_VERSION(part[0], part[1], part[2] > 65535 ? 65535 : part[2]);
}

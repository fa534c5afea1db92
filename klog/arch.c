/* SPDX-License-Identifier: MIT */
/*
 * arch.c - guess the architecture a log comes from
 *
 * No line says it outright. The banner names the compiler ("aarch64-linux-gnu-gcc"), or
 * the release does (".x86_64", "-amd64", "-686-pae"); distributions' own compilers are
 * just "gcc". Then lines that only some architectures print decide, and figures that
 * tell 32 from 64 bits. Where nothing tells, the answer is HD_ARCH_UNKNOWN.
 */
#include "internal.h"

struct mark {
	const char *word;
	enum hd_arch arch;
};

/* By first letter; longer words stand before those they contain. */
static const struct mark of_a[] = { { "aarch64", HD_ARCH_ARM64 }, { "amd64", HD_ARCH_X86_64 },
				    { "arm64", HD_ARCH_ARM64 },   { "alpha", HD_ARCH_ALPHA },
				    { "armv", HD_ARCH_ARM },      { "arm-", HD_ARCH_ARM },
				    { "atari", HD_ARCH_M68K },    { "amiga", HD_ARCH_M68K },
				    { NULL, HD_ARCH_UNKNOWN } };
static const struct mark of_h[] = { { "hppa64", HD_ARCH_PARISC64 },
				    { "hppa", HD_ARCH_PARISC },
				    { NULL, HD_ARCH_UNKNOWN } };
static const struct mark of_i[] = { { "ia64", HD_ARCH_IA64 }, { "i386", HD_ARCH_I386 },
				    { "i486", HD_ARCH_I386 }, { "i586", HD_ARCH_I386 },
				    { "i686", HD_ARCH_I386 }, { NULL, HD_ARCH_UNKNOWN } };
static const struct mark of_l[] = { { "loongarch", HD_ARCH_LOONGARCH64 },
				    { NULL, HD_ARCH_UNKNOWN } };
static const struct mark of_m[] = { { "mips64", HD_ARCH_MIPS64 },
				    { "mips", HD_ARCH_MIPS },
				    { "m68k", HD_ARCH_M68K },
				    { "microblaze", HD_ARCH_MICROBLAZE },
				    { NULL, HD_ARCH_UNKNOWN } };
static const struct mark of_o[] = { { "or1k", HD_ARCH_OPENRISC },
				    { "openrisc", HD_ARCH_OPENRISC },
				    { NULL, HD_ARCH_UNKNOWN } };
static const struct mark of_p[] = {
	{ "powerpc64", HD_ARCH_PPC64 },   { "ppc64", HD_ARCH_PPC64 },   { "powerpc", HD_ARCH_PPC },
	{ "parisc64", HD_ARCH_PARISC64 }, { "parisc", HD_ARCH_PARISC }, { NULL, HD_ARCH_UNKNOWN }
};
static const struct mark of_r[] = { { "riscv64", HD_ARCH_RISCV64 },
				    { "riscv32", HD_ARCH_RISCV32 },
				    { NULL, HD_ARCH_UNKNOWN } };
static const struct mark of_s[] = { { "s390", HD_ARCH_S390X },
				    { "sparc64", HD_ARCH_SPARC64 },
				    { "sparc", HD_ARCH_SPARC },
				    { "sh4", HD_ARCH_SH },
				    { NULL, HD_ARCH_UNKNOWN } };
static const struct mark of_x[] = { { "x86_64", HD_ARCH_X86_64 },
				    { "x86-64", HD_ARCH_X86_64 },
				    { NULL, HD_ARCH_UNKNOWN } };
static const struct mark of_dash[] = { { "-686", HD_ARCH_I386 },
				       { "-486", HD_ARCH_I386 },
				       { NULL, HD_ARCH_UNKNOWN } };

/** Bytes per entry of the dentry or inode table: a pointer. 0 unknown. */
static unsigned pointer_bytes(const struct klog_boot *boot)
{
	for (uint32_t i = 0; i < boot->tables; i++) {
		const struct klog_table *t = &boot->table[i];

		if (t->has_bytes && t->entries &&
		    (strcmp(t->name, "Dentry cache") == 0 || strcmp(t->name, "Inode-cache") == 0) &&
		    (t->bytes == t->entries * 4 || t->bytes == t->entries * 8))
			return (unsigned)(t->bytes / t->entries);
	}
	return 0;
}

static const struct mark *marks_of(char c)
{
	switch (c) {
	case '-':
		return of_dash;
	case 'a':
		return of_a;
	case 'h':
		return of_h;
	case 'i':
		return of_i;
	case 'l':
		return of_l;
	case 'm':
		return of_m;
	case 'o':
		return of_o;
	case 'p':
		return of_p;
	case 'r':
		return of_r;
	case 's':
		return of_s;
	case 'x':
		return of_x;
	default:
		return NULL;
	}
}

/** Second letters of the marks, by the first: most of a banner is done with so. */
#define L(c) (1u << ((c)&31))
static const uint32_t second[256] = {
	['-'] = L('4') | L('6'), ['a'] = L('a') | L('m') | L('r') | L('l') | L('t'),
	['h'] = L('p'),          ['i'] = L('a') | L('3') | L('4') | L('5') | L('6'),
	['l'] = L('o'),          ['m'] = L('i') | L('6'),
	['o'] = L('r') | L('p'), ['p'] = L('o') | L('p') | L('a'),
	['r'] = L('i'),          ['s'] = L('3') | L('p') | L('h'),
	['x'] = L('8'),
};
#undef L

/** The first mark in the banner, between "Linux version" and "#1". */
static enum hd_arch from_banner(const struct klog_boot *boot)
{
	const char *p = boot->banner, *q;

	for (p += p[0] ? 5 : 0; *p && *p != '#'; p++) {
		/* who built it where is no evidence */
		if (*p == '(' && (q = strpbrk(p, "@)")) && *q == '@' && (q = strchr(q, ')')))
			p = q;
		if (!(second[(unsigned char)*p] >> (p[1] & 31) & 1))
			continue;
		for (const struct mark *mark = marks_of(*p); mark && mark->word; mark++)
			if (p[1] == mark->word[1] && p[2] == mark->word[2] &&
			    strncmp(p, mark->word, strlen(mark->word)) == 0)
				return mark->arch;
	}
	return HD_ARCH_UNKNOWN;
}

/** A word that is used for both widths of an architecture: the tables tell which. */
static enum hd_arch widen(enum hd_arch arch, unsigned pointer)
{
	if (pointer == 8)
		switch (arch) {
		case HD_ARCH_PPC:
			return HD_ARCH_PPC64;
		case HD_ARCH_I386:
			return HD_ARCH_X86_64;
		case HD_ARCH_MIPS:
			return HD_ARCH_MIPS64;
		case HD_ARCH_SPARC:
			return HD_ARCH_SPARC64;
		case HD_ARCH_PARISC:
			return HD_ARCH_PARISC64;
		default:
			return arch;
		}
	if (pointer == 4)
		switch (arch) {
		case HD_ARCH_PPC64:
			return HD_ARCH_PPC;
		case HD_ARCH_X86_64:
			return HD_ARCH_I386;
		case HD_ARCH_MIPS64:
			return HD_ARCH_MIPS;
		case HD_ARCH_SPARC64:
			return HD_ARCH_SPARC;
		case HD_ARCH_PARISC64:
			return HD_ARCH_PARISC;
		default:
			return arch;
		}
	return arch;
}

enum hd_arch klog__arch(const struct klog_boot *boot)
{
	unsigned pointer = pointer_bytes(boot);
	bool narrow = pointer == 4 || boot->hints & KLOG_HINT_LOWMEM ||
		      (boot->has & KLOG_HAS_HIGHMEM && boot->highmem_kib);
	enum hd_arch arch;

	if (boot->hints & (KLOG_HINT_E820 | KLOG_HINT_X86))
		return narrow ? HD_ARCH_I386 : HD_ARCH_X86_64;
	arch = from_banner(boot);
	if (arch != HD_ARCH_UNKNOWN)
		return widen(arch, pointer ? pointer : narrow ? 4 : 0);
	if (boot->hints & KLOG_HINT_ARM_CPU)
		return HD_ARCH_ARM;
	if (boot->hints & KLOG_HINT_ARM64_CPU)
		return narrow ? HD_ARCH_ARM : HD_ARCH_ARM64;
	if (boot->hints & KLOG_HINT_TOP_OF_RAM)
		return widen(HD_ARCH_PPC, pointer);
	if (boot->hints & KLOG_HINT_RISCV)
		return pointer == 4 ? HD_ARCH_RISCV32 : HD_ARCH_RISCV64;
	if (boot->hints & KLOG_HINT_MIPS)
		return widen(HD_ARCH_MIPS, pointer);
	if (boot->hints & KLOG_HINT_SPARC)
		return widen(HD_ARCH_SPARC, pointer);
	if (boot->hints & KLOG_HINT_PARISC)
		return widen(HD_ARCH_PARISC, pointer);
	if (boot->hints & KLOG_HINT_S390)
		return HD_ARCH_S390X;
	if (strstr(boot->cmdline, "earlycon=sbi") || strstr(boot->cmdline, "console=ttySIF"))
		return pointer == 4 ? HD_ARCH_RISCV32 : HD_ARCH_RISCV64;
	if (strstr(boot->cmdline, "console=srm"))
		return HD_ARCH_ALPHA;
	if (boot->kvm_guest)
		return narrow ? HD_ARCH_I386 : pointer == 8 ? HD_ARCH_X86_64 : HD_ARCH_UNKNOWN;
	return HD_ARCH_UNKNOWN;
}
